// Scans of whole arrays: every prefix is its own D.
#include <span>

#include <tessera/verify/hash.hpp>

#include "support/arrays.hpp"

namespace {

using namespace testing_support;
using tessera::accumulate_as;
using tessera::maximum;
using tessera::minimum;
using sizes = std::vector<std::size_t>;

constexpr float inf = std::numeric_limits<float>::infinity();

// Where the host joins in vectors, which no bit shows.
template <class A, class Operation>
inline constexpr bool in_vectors = tessera::detail::joined_as_vectors<A, Operation>;
static_assert(in_vectors<float, plus> && in_vectors<double, accumulate_as<double>> && in_vectors<std::int64_t, plus>);
static_assert(in_vectors<float, maximum> && in_vectors<std::int32_t, minimum> && in_vectors<float, accumulate_as<float, minimum>>);
static_assert(!in_vectors<double, maximum> && !in_vectors<float, tessera::times>);

// Each scan of each type takes long to compile. The main types take all; others take one half, which has both kinds and both directions,
// and the two operators whose sides show take one half each.
enum half_of_scans { all_scans, inclusive_forward_exclusive_backward, inclusive_backward_exclusive_forward };
template <class Place, half_of_scans Half>
inline constexpr half_of_scans all_or = takes_all_types<Place> ? all_scans : Half;

// Scans in both directions, with and without an initial value, of the whole of `elements`, which lie `shift` elements past an aligned
// address and are joined as A; then in place.
template <half_of_scans Half = all_scans, class A, class Operation, class Join, class Place, class T>
void expect_scans(arrays<Place> const& on, std::vector<T> const& elements, A const& initial, std::size_t shift, Operation const& operation,
                  Join const& join) {
  std::size_t const n = elements.size();
  std::string const of = " of " + std::to_string(n) + " elements";
  auto const in = on.array(elements, shift);
  auto const out = on.array(std::vector<T>(n), (shift * 3 + 1) % 5);
  auto const source = on.source(in);
  auto const to = on.destination(out);
  std::vector<A> const values = widened<A>(elements), back = reversed(values);
  if constexpr (Half != inclusive_backward_exclusive_forward) {
    on.inclusive_scan(source, to, operation);
    expect_same(out.values(), expected_inclusive<T>(values, join), "inclusive" + of);
    on.template exclusive_scan_from<backward>(source, to, initial, operation);
    expect_same(out.values(), reversed(expected_exclusive<T>(back, initial, join)), "exclusive, backward" + of);
    if constexpr (!Place::on_gpu) {
      on.template inclusive_scan_from<backward>(source, to, initial, operation);
      expect_same(out.values(), reversed(expected_inclusive<T>(back, initial, join)), "inclusive, backward, with an initial value" + of);
    }
  }
  if constexpr (Half != inclusive_forward_exclusive_backward) {
    on.template inclusive_scan<backward>(source, to, operation);
    expect_same(out.values(), reversed(expected_inclusive<T>(back, join)), "inclusive, backward" + of);
    on.exclusive_scan_from(source, to, initial, operation);
    expect_same(out.values(), expected_exclusive<T>(values, initial, join), "exclusive" + of);
    if constexpr (!Place::on_gpu) {
      on.inclusive_scan_from(source, to, initial, operation);
      expect_same(out.values(), expected_inclusive<T>(values, initial, join), "inclusive with an initial value" + of);
    }
    on.exclusive_scan_from(source, on.destination(in), initial, operation);
    expect_same(in.values(), expected_exclusive<T>(values, initial, join), "exclusive, in place" + of);
  } else {
    on.inclusive_scan(source, on.destination(in), operation);
    expect_same(in.values(), expected_inclusive<T>(values, join), "inclusive, in place" + of);
  }
}
template <half_of_scans Half = all_scans, class Place, class T>
void expect_sums(arrays<Place> const& on, std::vector<T> const& elements, tessera::accumulator_t<plus, T> initial, std::size_t shift) {
  expect_scans<Half>(on, elements, initial, shift, plus{}, rounded_sum{});
}

template <class Place>
class scan : public testing::Test {};
TYPED_TEST_SUITE(scan, main_places);

template <class T, class Place>
void expect_all_sizes(arrays<Place> const& on) {
  constexpr std::size_t most = 4097;
  std::vector<T> const values = rounding_values<T>(most, 1), back = reversed(values);
  T const initial{3};
  rounded_sum const sum;
  auto const in = on.array(values, 1);
  T const* const data = in.data();
  auto const from = [=](std::size_t first, auto const& to) { return tessera::make_view(data + first, {to.extent(0)}); };
  expect_scans_of_parts(
      on, part_of_array::first, sizes_up_to(most), 3, expected_inclusive<T>(values, sum), expected_exclusive<T>(values, initial, sum),
      [&](std::size_t first, auto const& to) { on.inclusive_scan(from(first, to), to); },
      [&](std::size_t first, auto const& to) { on.exclusive_scan_from(from(first, to), to, initial); });
  expect_scans_of_parts(
      on, part_of_array::last, sizes_up_to(most), 2, reversed(expected_inclusive<T>(back, sum)),
      reversed(expected_exclusive<T>(back, initial, sum)),
      [&](std::size_t first, auto const& to) { on.template inclusive_scan<backward>(from(first, to), to); },
      [&](std::size_t first, auto const& to) { on.template exclusive_scan_from<backward>(from(first, to), to, initial); });
}

TYPED_TEST(scan, all_sizes_up_to_4097_f32) { expect_all_sizes<float>(arrays<TypeParam>{}); }
TYPED_TEST(scan, all_sizes_up_to_4097_f64) {
  if constexpr (!TypeParam::on_gpu) expect_all_sizes<double>(arrays<TypeParam>{});
}
TYPED_TEST(scan, all_sizes_up_to_4097_i32) {
  if constexpr (!TypeParam::on_gpu) expect_all_sizes<std::int32_t>(arrays<TypeParam>{});
}

TYPED_TEST(scan, powers_of_two_and_their_neighbours) {
  arrays<TypeParam> const on;
  for (int k = 12; k <= 20; ++k) {
    for (std::size_t n : {(std::size_t{1} << k) - 1, std::size_t{1} << k, (std::size_t{1} << k) + 1}) {
      std::vector<float> const values = rounding_values<float>(n, n);
      auto const in = on.array(values, n % 4), out = on.array(std::vector<float>(n), n % 3);
      on.inclusive_scan(on.source(in), on.destination(out));
      expect_same(out.values(), expected_inclusive<float>(values, rounded_sum{}), "of " + std::to_string(n) + " elements");
    }
  }
}

TYPED_TEST(scan, many_pieces_Long) {
  arrays<TypeParam> const on;
  std::size_t shift = 0;
  for (std::size_t n : sizes{131072, 262143, 0x55555, 1000003, 4194305}) expect_sums(on, rounding_values<float>(n, n), 1.0f, ++shift % 4);
  if constexpr (!float_alone) expect_sums(on, rounding_values<double>(2100001, 4), 1.0, 0);
}

TYPED_TEST(scan, types) {
  constexpr auto first = inclusive_forward_exclusive_backward, second = inclusive_backward_exclusive_forward;
  arrays<TypeParam> const on;
  expect_sums(on, rounding_values<float>(5000, 1), 0.75f, 1);
  if constexpr (!float_alone) expect_sums(on, rounding_values<double>(5001, 2), -3.0, 0);
  expect_sums<first>(on, rounding_elements<__half>(4095, 3), 0.5f, 1);
  if constexpr (takes_all_types<TypeParam>) {
    expect_sums(on, rounding_values<std::int32_t>(4099, 4), std::int32_t{5}, 1);
    expect_sums<first>(on, rounding_values<std::uint32_t>(70001, 5), 5u, 2);
    expect_sums<second>(on, rounding_values<std::int64_t>(33, 6), std::int64_t{-5}, 3);
    expect_sums<first>(on, rounding_values<std::uint64_t>(2047, 7), std::uint64_t{1} << 63, 1);
    expect_sums<second>(on, rounding_elements<__half>(40001, 8), 100.0f, 3);
    expect_sums<second>(on, rounding_elements<__nv_bfloat16>(4096, 9), -0.1f, 3);
    expect_sums<second>(on, rounding_elements<__nv_bfloat16>(7, 10), 0.0f, 0);
  }
}

TYPED_TEST(scan, another_accumulator) {
  constexpr auto first = inclusive_forward_exclusive_backward, second = inclusive_backward_exclusive_forward;
  arrays<TypeParam> const on;
  expect_scans<second>(on, rounding_values<float>(5003, 11), 0.1, 1, accumulate_as<double>{}, rounded_sum{});
  if constexpr (takes_all_types<TypeParam>) {
    expect_scans<first>(on, rounding_elements<__half>(1025, 12), 0.1, 1, accumulate_as<double>{}, rounded_sum{});
    expect_scans<first>(on, rounding_values<float>(2049, 13), -1.5, 1, accumulate_as<double, minimum>{}, least_oracle{});
  }
}

TYPED_TEST(scan, without_an_initial_value_an_exclusive_sum_begins_at_zero) {
  arrays<TypeParam> const on;
  std::vector<float> const values(100, -0.0f);
  auto const in = on.array(values), out = on.array(std::vector<float>(values.size(), 1.0f));
  on.exclusive_scan(on.source(in), on.destination(out));
  expect_same(out.values(), std::vector<float>(values.size(), 0.0f), "forward");
  on.template exclusive_scan<backward>(on.source(in), on.destination(out));
  expect_same(out.values(), std::vector<float>(values.size(), 0.0f), "backward");
}

TYPED_TEST(scan, special_values) {
  arrays<TypeParam> const on;
  auto values = rounding_values<float>(5000, 9);
  values[0] = float_of(0x7FA12345u);
  expect_sums(on, values, 0.0f, 0);
  values[0] = -0.0f;
  values[1] = float_of(0x80000001u);
  values[2] = 1e-42f;
  values[2500] = inf;
  values[4500] = -inf;
  expect_sums(on, values, -0.0f, 1);
  std::vector<float> const zeros(3000, -0.0f);
  expect_sums(on, zeros, -0.0f, 2);
  expect_sums(on, subnormal_values(3000), float_of(1), 3);
  std::vector<float> most(1000, std::numeric_limits<float>::max());
  for (std::size_t i = 2; i < most.size(); i += 3) most[i] = -most[i];
  expect_sums(on, most, 0.0f, 0);
  if constexpr (!float_alone) {
    for_special_doubles([&](std::vector<double> const& doubles, std::size_t shift) { expect_sums(on, doubles, 0.0, shift); });
  }
}

// The bits of an initial value are kept where nothing is joined to it; everywhere else a NaN is the canonical one.
TYPED_TEST(scan, a_nan_as_initial_value) {
  arrays<TypeParam> const on;
  auto const in = on.array(std::vector<float>(100, 1.0f)), out = on.array(std::vector<float>(100));
  on.exclusive_scan_from(on.source(in), on.destination(out), float_of(0xFFC12345u));
  std::vector<float> expected(100, float_of(0x7FFFFFFFu));
  expected[0] = float_of(0xFFC12345u);
  expect_same(out.values(), expected, "exclusive");
}

TYPED_TEST(scan, views_of_any_stride_and_alignment) {
  arrays<TypeParam> const on;
  std::size_t const n = 3001;
  auto const values = rounding_values<float>(4 * n, 21);
  auto const memory = on.array(values, 1);
  float const* const data = memory.data();
  constexpr std::int64_t size = sizeof(float);
  struct layout {
    char const* name;
    std::int64_t first, step;
  };
  for (layout const from :
       {layout{"every third", 2, 3}, {"reversed", static_cast<std::int64_t>(n) - 1, -1}, {"repeated", 5, 0}, {"dense", 0, 1}}) {
    std::vector<float> elements;
    for (std::size_t i = 0; i < n; ++i) {
      elements.push_back(values[static_cast<std::size_t>(from.first + static_cast<std::int64_t>(i) * from.step)]);
    }
    auto const expected = expected_inclusive<float>(elements, rounded_sum{});
    auto const back = reversed(expected_exclusive<float>(reversed(elements), 0.25f, rounded_sum{}));
    auto const in = tessera::make_view(data + from.first, {n}, {from.step * size});
    for (layout const to : {layout{"dense", 3, 1}, {"every second", 0, 2}, {"reversed", static_cast<std::int64_t>(2 * n) - 1, -2}}) {
      auto const out = on.array(std::vector<float>(2 * n, 77.0f), 2);
      auto const destination = tessera::make_view(out.data() + to.first, {n}, {to.step * size});
      auto const spread = [&](std::vector<float> const& results) {
        std::vector<float> all(2 * n, 77.0f);
        for (std::size_t i = 0; i < n; ++i) all[static_cast<std::size_t>(to.first + static_cast<std::int64_t>(i) * to.step)] = results[i];
        return all;
      };
      std::string const name = std::string(from.name) + " to " + to.name;
      on.inclusive_scan(in, destination);
      expect_same(out.values(), spread(expected), name);
      on.template exclusive_scan_from<backward>(in, destination, 0.25f);
      expect_same(out.values(), spread(back), name + ", backward");
    }
  }
  // In place in every second element.
  auto const every_second = on.array(values);
  std::vector<float> elements, expected = values;
  for (std::size_t i = 0; i < n; ++i) elements.push_back(values[2 * i]);
  auto const prefixes = expected_inclusive<float>(elements, rounded_sum{});
  for (std::size_t i = 0; i < n; ++i) expected[2 * i] = prefixes[i];
  on.inclusive_scan(tessera::make_view(static_cast<float const*>(every_second.data()), {n}, {2 * size}),
                    tessera::make_view(every_second.data(), {n}, {2 * size}));
  expect_same(every_second.values(), expected, "in place, every second");
}

TYPED_TEST(scan, least_and_most) {
  constexpr auto first = inclusive_forward_exclusive_backward, second = inclusive_backward_exclusive_forward;
  arrays<TypeParam> const on;
  auto values = rounding_values<float>(5000, 31);
  for (std::size_t i = 0; i < values.size(); i += 7) values[i] = float_of(0xFFC00001u + static_cast<std::uint32_t>(i));
  for (std::size_t i = 1; i < 40; ++i) values[i] = i % 2 == 0 ? 0.0f : -0.0f;
  values[0] = float_of(0x7F812345u);
  expect_scans<all_or<TypeParam, first>>(on, values, inf, 1, minimum{}, least_oracle{});
  if constexpr (!TypeParam::on_gpu) {
    expect_scans<all_or<TypeParam, second>>(on, values, float_of(0x7FC00000u), 2, maximum{}, most_oracle{});
    std::vector<float> const nans(3000, float_of(0xFF800001u));
    expect_scans<all_or<TypeParam, second>>(on, nans, float_of(0xFFC00000u), 2, maximum{}, most_oracle{});
    expect_scans<all_or<TypeParam, first>>(on, rounding_values<double>(2000, 32), 1.0, 0, maximum{}, most_oracle{});
  }
  if constexpr (takes_all_types<TypeParam>) {
    expect_scans<first>(on, rounding_values<std::int64_t>(2000, 33), std::int64_t{0}, 0, minimum{}, least_oracle{});
    expect_scans<second>(on, rounding_values<std::uint32_t>(40000, 34), 7u, 0, maximum{}, most_oracle{});
    expect_scans<second>(on, rounding_elements<__half>(2000, 35), 3.0f, 1, minimum{}, least_oracle{});
  }
}

TYPED_TEST(scan, an_operator_that_does_not_commute) {
  if constexpr (!float_alone) {
    arrays<TypeParam> const on;
    for (std::size_t n : sizes{1, 2, 100, 5001, 70003}) {
      expect_scans<all_or<TypeParam, inclusive_forward_exclusive_backward>>(on, affine_values(n, n), affine{3, 5}, n % 2, compose{},
                                                                            compose{});
    }
  }
}

TYPED_TEST(scan, an_operator_that_is_not_associative_shows_the_tree) {
  arrays<TypeParam> const on;
  sizes const lengths = TypeParam::on_gpu ? sizes{4097, 40009} : sizes{1, 9, 1023, 4097, 70001};
  for (std::size_t n : lengths) {
    expect_scans<all_or<TypeParam, inclusive_backward_exclusive_forward>>(on, rounding_values<float>(n, n), 0.5f, n % 3, twice_the_left{},
                                                                          twice_the_left_oracle{});
  }
}

struct times_three {
  TESSERA_TILE float operator()(float x) const { return 3.0f * x; }
};
struct product_of {
  TESSERA_TILE float operator()(float x, float y) const { return x * y; }
};

TYPED_TEST(scan, functions_of_elements) {
  arrays<TypeParam> const on;
  std::size_t const n = 5005;
  auto const a = rounding_values<float>(n, 41), b = rounding_values<float>(n, 42);
  std::vector<float> products;
  for (std::size_t i = 0; i < n; ++i) products.push_back(rounded_product(a[i], b[i]));
  auto const in_a = on.array(a), in_b = on.array(b), out = on.array(std::vector<float>(n));
  on.inclusive_scan(tessera::transformed(product_of{}, on.source(in_a), on.source(in_b)), on.destination(out));
  expect_same(out.values(), expected_inclusive<float>(products, rounded_sum{}), "products");
  if constexpr (!TypeParam::on_gpu) {
    std::vector<float> thrice;
    for (float value : a) thrice.push_back(rounded_product(3.0f, value));
    on.template inclusive_scan<backward>(tessera::transformed(times_three{}, on.source(in_a)), on.destination(out));
    expect_same(out.values(), reversed(expected_inclusive<float>(reversed(thrice), rounded_sum{})), "thrice");
    std::vector<std::int64_t> counted;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(n); ++i) counted.push_back(i - 7);
    auto const sums = on.array(std::vector<std::int64_t>(n));
    on.inclusive_scan(tessera::counting(std::int64_t{-7}, n), on.destination(sums));
    expect_same(sums.values(), expected_inclusive<std::int64_t>(counted, rounded_sum{}), "counted");
  }
}

TYPED_TEST(scan, of_values_that_are_not_negative_never_decreases) {
  arrays<TypeParam> const on;
  auto values = rounding_values<float>(100000, 51);
  for (float& value : values) value = std::fabs(value);
  auto const in = on.array(values), out = on.array(values);
  on.inclusive_scan(on.source(in), on.destination(out));
  auto const prefixes = out.values();
  for (std::size_t i = 1; i < prefixes.size(); ++i) ASSERT_LE(prefixes[i - 1], prefixes[i]) << i;
}

TYPED_TEST(scan, errors_say_what_was_wrong) {
  arrays<TypeParam> const on;
  auto const in = on.array(std::vector<float>(10)), out = on.array(std::vector<float>(11));
  auto const source = on.source(in);
  expect_usage_error([&] { on.inclusive_scan(source, on.destination(out)); }, {"inclusive_scan", "10", "11"});
  expect_usage_error([&] { on.exclusive_scan_from(source, tessera::make_view(out.data(), {10}, {0}), 0.0f); },
                     {"exclusive_scan", "stride 0"});
  expect_usage_error([&] { on.inclusive_scan(source, tessera::make_view(static_cast<float*>(nullptr), {10})); },
                     {"inclusive_scan", "null"});
  on.inclusive_scan(tessera::make_view(static_cast<float const*>(nullptr), {0}), tessera::make_view(static_cast<float*>(nullptr), {0}));
}

TYPED_TEST(scan, an_exception_of_the_operator_arrives) {
  if constexpr (!TypeParam::on_gpu) {
    struct throws {
      float operator()(float a, float b) const {
        if (b == 7.0f) throw std::runtime_error("seven");
        return a + b;
      }
    };
    arrays<TypeParam> const on;
    std::vector<float> values(1000000, 1.0f);
    values[600000] = 7.0f;
    auto const in = on.array(values), out = on.array(values);
    for (int cores : {1, 2, 5}) {
      arrays<TypeParam> some = on;
      some.place.backend.cores = cores;
      EXPECT_THROW(some.inclusive_scan(on.source(in), on.destination(out), throws{}), std::runtime_error);
    }
  }
}

TYPED_TEST(scan, any_number_of_cores) {
  if constexpr (!TypeParam::on_gpu) {
    auto const values = rounding_values<float>(700001, 61);
    auto const expected = expected_inclusive<float>(values, rounded_sum{});
    for (int cores : {1, 2, 3, 7}) {
      arrays<TypeParam> on;
      on.place.backend.cores = cores;
      auto const in = on.array(values), out = on.array(values);
      on.inclusive_scan(on.source(in), on.destination(out));
      expect_same(out.values(), expected, std::to_string(cores) + " cores");
    }
  }
}

TYPED_TEST(scan, golden_hash) {
  std::vector<float> values(1000003);
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    std::uint32_t const a = i * 2654435761u;
    int const mantissa = static_cast<int>(a >> 8) - (1 << 23), exponent = static_cast<int>(((i * 40503u) >> 4) & 31u) - 39;
    values[i] = std::ldexp(static_cast<float>(mantissa), exponent);
  }
  arrays<TypeParam> const on;
  auto const in = on.array(values), out = on.array(std::vector<float>(values.size()));
  on.inclusive_scan(on.source(in), on.destination(out));
  auto const prefixes = out.values();
  EXPECT_EQ(bits(prefixes.back()), 0xC6AD2C68u);
  EXPECT_EQ(bits(on.reduce(on.source(in), 0.0f)), 0xC6AD2C68u);
  EXPECT_EQ(tessera::verify::hash_of(std::span<float const>(prefixes)), 0x52AE69B7298BD5EFull);
}

}  // namespace
