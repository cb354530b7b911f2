// Reductions of whole arrays: D of all elements.
#include "support/arrays.hpp"

namespace {

using namespace testing_support;
using tessera::accumulate_as;
using tessera::maximum;
using tessera::minimum;
using sizes = std::vector<std::size_t>;

constexpr float inf = std::numeric_limits<float>::infinity();

// The reduction of the whole of `elements` with and without an initial value.
template <class A, class Operation, class Join, class Place, class T>
void expect_reduction(arrays<Place> const& on, std::vector<T> const& elements, A const& initial, std::size_t shift,
                      Operation const& operation, Join const& join) {
  std::string const of = " of " + std::to_string(elements.size()) + " elements";
  auto const in = on.array(elements, shift);
  auto const source = on.source(in);
  std::vector<A> const values = widened<A>(elements);
  auto const expected = expected_inclusive<T>(values, join), expected_from = expected_inclusive<T>(values, initial, join);
  T const before = narrowed<T>(initial);
  expect_same(on.reduce(source, before, operation), expected.empty() ? before : expected.back(), "reduction" + of);
  if constexpr (!Place::on_gpu) {
    expect_same(on.reduce_from(source, T{}, initial, operation), expected_from.empty() ? before : expected_from.back(),
                "reduction with an initial value" + of);
  }
}
template <class Place, class T>
void expect_sum(arrays<Place> const& on, std::vector<T> const& elements, tessera::accumulator_t<plus, T> initial, std::size_t shift) {
  expect_reduction(on, elements, initial, shift, plus{}, rounded_sum{});
}

template <class Place>
class reduce : public testing::Test {};
TYPED_TEST_SUITE(reduce, main_places);

// The sum of the first n elements, for every n, is the prefix that a scan gives.
template <class T, class Place>
void expect_all_prefixes(arrays<Place> const& on, std::size_t most) {
  std::vector<T> const values = rounding_values<T>(most, 1);
  auto const expected = expected_inclusive<T>(values, rounded_sum{});
  auto const in = on.array(values, 1), scanned = on.array(std::vector<T>(most));
  on.inclusive_scan(on.source(in), on.destination(scanned));
  EXPECT_TRUE(expect_same(scanned.values(), expected, "the scan"));
  T const* const data = in.data();
  for (std::size_t n = 1; n <= most; ++n) {
    if (!expect_same(on.reduce(tessera::make_view(data, {n}), T{}), expected[n - 1], "of " + std::to_string(n))) return;
  }
}

TYPED_TEST(reduce, all_sizes_up_to_4097_f32) { expect_all_prefixes<float>(arrays<TypeParam>{}, 4097); }
TYPED_TEST(reduce, all_sizes_up_to_4097_f64) {
  if constexpr (!TypeParam::on_gpu) expect_all_prefixes<double>(arrays<TypeParam>{}, 4097);
}
TYPED_TEST(reduce, all_sizes_up_to_4097_i32) {
  if constexpr (!TypeParam::on_gpu) expect_all_prefixes<std::int32_t>(arrays<TypeParam>{}, 4097);
}

// And sizes that leave nodes of many sizes, whose association shows.
TYPED_TEST(reduce, powers_of_two_and_their_neighbours) {
  arrays<TypeParam> const on;
  std::size_t const most = 0x155555;
  auto const values = rounding_values<float>(most, 2);
  auto const expected = expected_inclusive<float>(values, rounded_sum{});
  auto const in = on.array(values, 3);
  float const* const data = in.data();
  sizes lengths{7001, 0x5555, 0xAAAA, 0xFEDC, 0x15555, 0x3DB6D, 0x55555, 0xDB6DB, most};
  for (int k = 12; k <= 20; ++k) {
    for (int beside : {-1, 0, 1}) lengths.push_back(static_cast<std::size_t>((1 << k) + beside));
  }
  for (std::size_t n : lengths) {
    expect_same(on.reduce(tessera::make_view(data, {n}), 0.0f), expected[n - 1], "of " + std::to_string(n));
  }
}

TYPED_TEST(reduce, many_pieces_Long) {
  arrays<TypeParam> const on;
  std::size_t shift = 0;
  for (std::size_t n : sizes{262143, 4194304, 8388001}) expect_sum(on, rounding_values<float>(n, n), 1.0f, ++shift % 4);
  if constexpr (!float_alone) expect_sum(on, rounding_values<double>(1000003, 4), 1.0, 0);
}

TYPED_TEST(reduce, types) {
  arrays<TypeParam> const on;
  expect_sum(on, rounding_values<float>(5000, 1), 0.75f, 1);
  if constexpr (!float_alone) expect_sum(on, rounding_values<double>(5001, 2), -3.0, 0);
  expect_sum(on, rounding_elements<__half>(4095, 3), 0.5f, 1);
  if constexpr (takes_all_types<TypeParam>) {
    expect_sum(on, rounding_values<std::int32_t>(4099, 4), std::int32_t{5}, 1);
    expect_sum(on, rounding_values<std::uint32_t>(70001, 5), 5u, 2);
    expect_sum(on, rounding_values<std::int64_t>(33, 6), std::int64_t{-5}, 3);
    expect_sum(on, rounding_values<std::uint64_t>(2047, 7), std::uint64_t{1} << 63, 1);
    expect_sum(on, rounding_elements<__nv_bfloat16>(40001, 9), -0.1f, 3);
    expect_sum(on, rounding_elements<__nv_bfloat16>(1, 10), 0.0f, 0);
  }
  expect_reduction(on, rounding_values<float>(5003, 11), 0.1, 1, accumulate_as<double>{}, rounded_sum{});
}

TYPED_TEST(reduce, of_nothing) {
  arrays<TypeParam> const on;
  auto const nothing = tessera::make_view(static_cast<float const*>(nullptr), {0});
  float const before = float_of(0xFFC12345u);
  expect_same(on.reduce(nothing, before), before, "is left alone");
  expect_same(on.reduce_from(nothing, 1.0f, before), before, "is the initial value");
  expect_same(on.mean(nothing, before), before, "mean");
  expect_same(on.dot(nothing, nothing, before), before, "dot");
  EXPECT_EQ(on.arg_min(nothing, 77), 77);
  EXPECT_EQ(on.arg_max(nothing, 77), 77);
}

TYPED_TEST(reduce, special_values) {
  arrays<TypeParam> const on;
  auto values = rounding_values<float>(5000, 9);
  values[4000] = float_of(0x7FA12345u);
  expect_sum(on, values, 0.0f, 0);
  values[4000] = inf;
  expect_sum(on, values, 0.0f, 1);
  values[1] = -inf;
  expect_sum(on, values, 0.0f, 1);
  expect_sum(on, std::vector<float>(3000, -0.0f), -0.0f, 2);
  expect_sum(on, std::vector<float>{float_of(0xFF812345u)}, 0.0f, 0);
  expect_sum(on, subnormal_values(3000), float_of(1), 3);
  if constexpr (!float_alone) {
    for_special_doubles([&](std::vector<double> const& doubles, std::size_t shift) { expect_sum(on, doubles, 0.0, shift); });
  }
}

TYPED_TEST(reduce, views_of_any_stride) {
  arrays<TypeParam> const on;
  std::size_t const n = 3001;
  auto const values = rounding_values<float>(3 * n, 21);
  auto const memory = on.array(values, 1);
  float const* const data = memory.data();
  constexpr std::int64_t size = sizeof(float);
  auto const taken = [&](std::int64_t first, std::int64_t step) {
    std::vector<float> elements;
    for (std::size_t i = 0; i < n; ++i) elements.push_back(values[static_cast<std::size_t>(first + static_cast<std::int64_t>(i) * step)]);
    return dyadic_sum(elements);
  };
  std::int64_t const last = static_cast<std::int64_t>(n) - 1;
  expect_same(on.reduce(tessera::make_view(data + 2, {n}, {3 * size}), 0.0f), taken(2, 3), "every third");
  expect_same(on.reduce(tessera::make_view(data + last, {n}, {-size}), 0.0f), taken(last, -1), "reversed");
  expect_same(on.reduce(tessera::make_view(data + 5, {n}, {0}), 0.0f), taken(5, 0), "repeated");
}

TYPED_TEST(reduce, least_and_most) {
  arrays<TypeParam> const on;
  auto values = rounding_values<float>(5000, 31);
  for (std::size_t i = 0; i < values.size(); i += 7) values[i] = float_of(0xFFC00001u + static_cast<std::uint32_t>(i));
  expect_reduction(on, values, inf, 1, minimum{}, least_oracle{});
  expect_reduction(on, values, -inf, 1, maximum{}, most_oracle{});
  expect_reduction(on, std::vector<float>{0.0f, -0.0f, 0.0f}, float_of(0x7FC00000u), 0, minimum{}, least_oracle{});
  expect_reduction(on, std::vector<float>{-0.0f, 0.0f, -0.0f}, float_of(0x7FC00000u), 0, maximum{}, most_oracle{});
  expect_reduction(on, std::vector<float>(3000, float_of(0xFF800001u)), float_of(0xFFC00000u), 2, maximum{}, most_oracle{});
  if constexpr (!TypeParam::on_gpu) {
    expect_reduction(on, rounding_values<double>(2000, 32), 1.0, 0, maximum{}, most_oracle{});
  }
  if constexpr (takes_all_types<TypeParam>) {
    expect_reduction(on, rounding_values<std::int64_t>(2000, 33), std::int64_t{0}, 0, minimum{}, least_oracle{});
    expect_reduction(on, rounding_values<std::uint32_t>(40000, 34), 7u, 0, maximum{}, most_oracle{});
    expect_reduction(on, rounding_elements<__nv_bfloat16>(2000, 35), 3.0f, 1, minimum{}, least_oracle{});
  }
}

TYPED_TEST(reduce, other_operators) {
  arrays<TypeParam> const on;
  for (std::size_t n : sizes{1, 2, 100, 5001, 70003}) {
    if constexpr (!float_alone) expect_reduction(on, affine_values(n, n), affine{3, 5}, n % 2, compose{}, compose{});
    expect_reduction(on, rounding_values<float>(n, n), 0.5f, n % 3, twice_the_left{}, twice_the_left_oracle{});
  }
}

TYPED_TEST(reduce, mean_divides_the_sum_once) {
  arrays<TypeParam> const on;
  for (std::size_t n : sizes{1, 3, 7, 4099}) {
    auto const values = rounding_values<float>(n, n);
    auto const in = on.array(values, 1);
    float volatile const quotient = dyadic_sum(values) / static_cast<float>(n);
    expect_same(on.mean(on.source(in), 77.0f), float{quotient}, "of " + std::to_string(n));
    if constexpr (!TypeParam::on_gpu) {
      double volatile const wide = dyadic_sum(widened<double>(values)) / static_cast<double>(n);
      expect_same(on.mean(on.source(in), 77.0f, accumulate_as<double>{}), narrowed<float>(double{wide}), "in double");
    }
  }
  // The quotient of halves is one of floats, rounded once more.
  auto const halves = rounding_elements<__half>(1000, 5);
  auto const in = on.array(halves);
  float volatile const quotient = dyadic_sum(widened<float>(halves)) / 1000.0f;
  expect_same(on.mean(on.source(in), __half{}), narrowed<__half>(float{quotient}), "of halves");
}

TYPED_TEST(reduce, dot_rounds_products_first) {
  arrays<TypeParam> const on;
  for (std::size_t n : sizes{1, 2, 100, 5001}) {
    auto const a = rounding_values<float>(n, n), b = rounding_values<float>(n, n + 1);
    std::vector<float> products;
    for (std::size_t i = 0; i < n; ++i) products.push_back(rounded_product(a[i], b[i]));
    auto const in_a = on.array(a, 1), in_b = on.array(b, 2);
    expect_same(on.dot(on.source(in_a), on.source(in_b), 77.0f), dyadic_sum(products), "of " + std::to_string(n));
    if constexpr (!TypeParam::on_gpu) {
      std::vector<double> wide;
      for (std::size_t i = 0; i < n; ++i) wide.push_back(static_cast<double>(a[i]) * static_cast<double>(b[i]));
      expect_same(on.dot(on.source(in_a), on.source(in_b), 77.0f, accumulate_as<double>{}), narrowed<float>(dyadic_sum(wide)), "in double");
    }
  }
  // (1 + 2^-12)^2 - (1 + 2^-11): 0 after rounding, 2^-24 by a fused multiply-add.
  std::vector<float> const a = {1.000244140625f, -1.00048828125f}, b = {1.000244140625f, 1.0f};
  auto const in_a = on.array(a), in_b = on.array(b);
  expect_same(on.dot(on.source(in_a), on.source(in_b), 77.0f), 0.0f, "not fused");
  if constexpr (!TypeParam::on_gpu) {
    auto const halves = rounding_elements<__half>(999, 5);
    std::vector<float> squares;
    for (float value : widened<float>(halves)) squares.push_back(rounded_product(value, value));
    auto const in = on.array(halves);
    expect_same(on.dot(on.source(in), on.source(in), __half{}), narrowed<__half>(dyadic_sum(squares)), "of halves");
    auto const numbers = rounding_values<std::int32_t>(3000, 6);
    std::uint32_t sum = 0;
    for (std::int32_t number : numbers) sum += static_cast<std::uint32_t>(number) * static_cast<std::uint32_t>(number);
    auto const integers_in = on.array(numbers);
    EXPECT_EQ(on.dot(on.source(integers_in), on.source(integers_in), 0), static_cast<std::int32_t>(sum));
  }
}

struct times_three {
  TESSERA_TILE float operator()(float x) const { return 3.0f * x; }
};

TYPED_TEST(reduce, functions_of_elements_and_counted_numbers) {
  arrays<TypeParam> const on;
  auto const values = rounding_values<float>(5005, 41);
  std::vector<float> thrice;
  for (float value : values) thrice.push_back(rounded_product(3.0f, value));
  auto const in = on.array(values);
  expect_same(on.reduce(tessera::transformed(times_three{}, on.source(in)), 0.0f), dyadic_sum(thrice), "thrice");
  EXPECT_EQ(on.reduce(tessera::counting(std::int64_t{5}, 100001), std::int64_t{0}), std::int64_t{5000550005});
  if constexpr (!TypeParam::on_gpu) {
    EXPECT_THROW(tessera::transformed(plus{}, on.source(in), tessera::counting(0.0f, 3)), tessera::usage_error);
  }
}

template <class Place, class T>
void expect_first(arrays<Place> const& on, std::vector<T> const& values, std::int64_t least, std::int64_t most) {
  auto const in = on.array(values, 1);
  EXPECT_EQ(on.arg_min(on.source(in), -1), least) << values.size() << " values";
  EXPECT_EQ(on.arg_max(on.source(in), -1), most) << values.size() << " values";
}

TYPED_TEST(reduce, index_of_the_least_and_the_most) {
  arrays<TypeParam> const on;
  float const nan = float_of(0x7FC00001u), minus_nan = float_of(0xFF800001u);
  expect_first(on, std::vector<float>{5}, 0, 0);
  expect_first(on, std::vector<float>{2, 1, 3, 1, 3}, 1, 2);
  expect_first(on, std::vector<float>{0.0f, -0.0f, 0.0f, -0.0f}, 1, 0);
  expect_first(on, std::vector<float>{nan, minus_nan, inf, 2, -inf, nan}, 4, 2);
  expect_first(on, std::vector<float>{nan, inf, inf, nan}, 1, 1);
  expect_first(on, std::vector<float>(5000, nan), 0, 0);
  expect_first(on, std::vector<float>(100000, 1.0f), 0, 0);
  for (std::size_t n : sizes{1000, 40000, 200001}) {
    std::vector<float> values = rounding_values<float>(n, n);
    for (float& value : values) value = std::floor(value / 512);  // many are equal
    auto const least = std::min_element(values.begin(), values.end()) - values.begin();
    auto const most = std::max_element(values.begin(), values.end()) - values.begin();
    expect_first(on, values, least, most);
  }
  if constexpr (!TypeParam::on_gpu) {
    expect_first(on, std::vector<std::uint64_t>{7, ~std::uint64_t{0}, 3, ~std::uint64_t{0}, 3}, 2, 1);
    expect_first(on, std::vector<std::int32_t>{7, -7, 8, -7, 8}, 1, 2);
    expect_first(on, std::vector<double>{0.5, -1e-320, 1e-320}, 1, 0);
    expect_first(on, std::vector<__half>{half_of_pattern<__half>(0x7E00), half_of_pattern<__half>(0xFC00), half_of_pattern<__half>(0x0001)},
                 1, 2);
  }
}

TYPED_TEST(reduce, errors_say_what_was_wrong) {
  arrays<TypeParam> const on;
  auto const a = on.array(std::vector<float>(10)), b = on.array(std::vector<float>(11));
  expect_usage_error([&] { (void)on.dot(on.source(a), on.source(b), 0.0f); }, {"dot", "10", "11"});
  if constexpr (!TypeParam::on_gpu) {
    float* const nowhere = nullptr;
    auto const backend = on.place.backend;
    auto const source = on.source(a);
    expect_usage_error([&] { tessera::reduce(backend, source, nowhere); }, {"reduce", "null"});
    expect_usage_error([&] { tessera::reduce(backend, source, nowhere, 1.0f); }, {"reduce", "null"});
    expect_usage_error([&] { tessera::mean(backend, source, nowhere); }, {"mean", "null"});
    expect_usage_error([&] { tessera::dot(backend, source, source, nowhere); }, {"dot", "null"});
    expect_usage_error([&] { tessera::arg_min(backend, source, nullptr); }, {"arg_min", "null"});
    expect_usage_error([&] { tessera::arg_max(backend, source, nullptr); }, {"arg_max", "null"});
  }
}

}  // namespace
