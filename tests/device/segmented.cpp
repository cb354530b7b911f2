// Scans and reductions of segments: each is what it would be alone.
#include "support/arrays.hpp"

namespace {

using namespace testing_support;
using tessera::accumulate_as;
using tessera::minimum;
using tessera::segments_at;
using tessera::segments_by_key;
using tessera::segments_from_flags;
using tessera::segments_of_length;

using offsets_list = std::vector<std::int64_t>;

// --- Oracles: cut, do each segment alone, put together

template <class T>
std::vector<T> part(std::vector<T> const& values, std::int64_t begin, std::int64_t end) {
  return {values.begin() + begin, values.begin() + end};
}

// `before` with the scan of every segment in its place; scan(values) is the scan of one list.
template <class T, class A, class Scan>
std::vector<T> each_segment(std::vector<T> before, std::vector<A> const& values, offsets_list const& offsets, bool back, Scan const& scan) {
  for (std::size_t k = 0; k + 1 < offsets.size(); ++k) {
    auto const list = part(values, offsets[k], offsets[k + 1]);
    auto const scanned = back ? reversed(scan(reversed(list))) : scan(list);
    std::copy(scanned.begin(), scanned.end(), before.begin() + offsets[k]);
  }
  return before;
}

// Offsets from 0 to `count` of segments with lengths in turn.
offsets_list offsets_of_lengths(std::vector<std::int64_t> const& lengths, std::int64_t count) {
  offsets_list offsets{0};
  for (std::size_t k = 0; offsets.back() < count; ++k) offsets.push_back(std::min(count, offsets.back() + lengths[k % lengths.size()]));
  return offsets;
}

template <class F>
std::vector<F> flags_of(offsets_list const& offsets) {
  std::vector<F> flags(static_cast<std::size_t>(offsets.back()));
  for (std::int64_t offset : offsets) {
    if (offset < offsets.back()) flags[static_cast<std::size_t>(offset)] = static_cast<F>(offset % 3 + 1);
  }
  return flags;
}

// The number of its segment for each element; `step` apart.
template <class K>
std::vector<K> keys_of(offsets_list const& offsets, K first, K step) {
  std::vector<K> keys;
  for (std::size_t k = 0; k + 1 < offsets.size(); ++k) {
    for (std::int64_t i = offsets[k]; i < offsets[k + 1]; ++i) keys.push_back(first);
    first = static_cast<K>(first + step);
  }
  return keys;
}

template <class Place>
class segmented : public testing::Test {};
TYPED_TEST_SUITE(segmented, main_places);

// What the scans of some segments give: both kinds, both directions.
template <class T>
struct segment_scans {
  std::vector<T> inclusive, exclusive, inclusive_backward, exclusive_backward;
};
template <class T, class A, class Join>
segment_scans<T> expected_scans(std::vector<T> const& elements, offsets_list const& offsets, A const& initial, Join const& join) {
  std::vector<T> const before(elements.size(), T{});
  std::vector<A> const values = widened<A>(elements);
  auto const inclusive = [&](std::vector<A> const& list) { return expected_inclusive<T>(list, join); };
  auto const exclusive = [&](std::vector<A> const& list) { return expected_exclusive<T>(list, initial, join); };
  return {each_segment(before, values, offsets, false, inclusive), each_segment(before, values, offsets, false, exclusive),
          each_segment(before, values, offsets, true, inclusive), each_segment(before, values, offsets, true, exclusive)};
}

// Scans by this description of segments that cover the array.
template <class A, class Place, class T, class Segments, class Operation>
void expect_scans(arrays<Place> const& on, std::vector<T> const& elements, Segments const& segments, segment_scans<T> const& expected,
                  A const& initial, std::string const& what, Operation const& operation) {
  auto const in = on.array(elements, 1);
  auto const out = on.array(std::vector<T>(elements.size()), 2);
  on.segmented_inclusive_scan(on.source(in), segments, on.destination(out), operation);
  expect_same(out.values(), expected.inclusive, what + ", inclusive");
  on.template segmented_exclusive_scan<backward>(on.source(in), segments, on.destination(out), initial, operation);
  expect_same(out.values(), expected.exclusive_backward, what + ", exclusive, backward");
  if constexpr (!Place::on_gpu) {
    on.template segmented_inclusive_scan<backward>(on.source(in), segments, on.destination(out), operation);
    expect_same(out.values(), expected.inclusive_backward, what + ", inclusive, backward");
    on.segmented_exclusive_scan(on.source(in), segments, on.destination(out), initial, operation);
    expect_same(out.values(), expected.exclusive, what + ", exclusive");
  }
  on.segmented_inclusive_scan(on.source(in), segments, on.destination(in), operation);
  expect_same(in.values(), expected.inclusive, what + ", in place");
}
template <class A, class Place, class T, class Segments, class Operation, class Join>
void expect_scans(arrays<Place> const& on, std::vector<T> const& elements, Segments const& segments, offsets_list const& offsets,
                  A const& initial, std::string const& what, Operation const& operation, Join const& join) {
  expect_scans(on, elements, segments, expected_scans(elements, offsets, initial, join), initial, what, operation);
}

// What the lengths of segments can be: short, long, longer than what a core or a block takes at a time, mixed.
std::vector<offsets_list> shapes(std::int64_t count) {
  std::vector<offsets_list> all;
  all.push_back(offsets_of_lengths({1}, count));
  all.push_back(offsets_of_lengths({2}, count));
  all.push_back(offsets_of_lengths({1, 3, 2, 5, 7, 8, 9, 31, 33, 64}, count));
  all.push_back(offsets_of_lengths({1023, 1, 1025, 1024}, count));
  all.push_back(offsets_of_lengths({count}, count));
  all.push_back(offsets_of_lengths({5, count / 2 - 10, 1, 1, 1, count / 4, 3}, count));
  all.push_back(offsets_of_lengths({32768, 32769, 32767, 1, 65536, 65537, 2}, count));
  return all;
}

TYPED_TEST(segmented, scans_by_every_description) {
  arrays<TypeParam> const on;
  for (std::int64_t count : {1, 100, 5001, 200003}) {
    auto const values = rounding_values<float>(static_cast<std::size_t>(count), 3);
    int number = 0;
    for (offsets_list const& offsets : shapes(count)) {
      std::string const what = "shape " + std::to_string(number++) + " of " + std::to_string(count);
      auto const at = on.array(offsets, 1);
      auto const flags = on.array(flags_of<int>(offsets), 1);
      auto const keys = on.array(keys_of<int>(offsets, 1 << 20, -3), 1);
      auto const expected = expected_scans(values, offsets, 0.75f, rounded_sum{});
      expect_scans(on, values, segments_at(on.source(at)), expected, 0.75f, what + ", offsets", plus{});
      expect_scans(on, values, segments_from_flags(on.source(flags)), expected, 0.75f, what + ", flags", plus{});
      expect_scans(on, values, segments_by_key(on.source(keys)), expected, 0.75f, what + ", keys", plus{});
    }
  }
}

// All kinds and directions. Segments of a part of an array are those of the array, cut off.
template <class Place>
void expect_segments_of_all_sizes(arrays<Place> const& on, std::vector<std::size_t> const& sizes,
                                  std::vector<std::int64_t> const& lengths) {
  std::size_t const most = sizes.back();
  auto const offsets = offsets_of_lengths(lengths, static_cast<std::int64_t>(most));
  auto const values = rounding_values<float>(most, 23);
  auto const expected = expected_scans(values, offsets, 0.75f, rounded_sum{});
  auto const in = on.array(values, 1);
  auto const keys = on.array(keys_of<int>(offsets, 7, -1), 2);
  float const* const data = in.data();
  int const* const first_key = keys.data();
  auto const from = [=](std::size_t first, auto const& to) { return tessera::make_view(data + first, {to.extent(0)}); };
  auto const by_key = [=](std::size_t first, auto const& to) {
    return segments_by_key(tessera::make_view(first_key + first, {to.extent(0)}));
  };
  expect_scans_of_parts(
      on, part_of_array::first, sizes, 3, expected.inclusive, expected.exclusive,
      [&](std::size_t first, auto const& to) { on.segmented_inclusive_scan(from(first, to), by_key(first, to), to); },
      [&](std::size_t first, auto const& to) { on.segmented_exclusive_scan(from(first, to), by_key(first, to), to, 0.75f); });
  expect_scans_of_parts(
      on, part_of_array::last, sizes, 0, expected.inclusive_backward, expected.exclusive_backward,
      [&](std::size_t first, auto const& to) { on.template segmented_inclusive_scan<backward>(from(first, to), by_key(first, to), to); },
      [&](std::size_t first, auto const& to) {
        on.template segmented_exclusive_scan<backward>(from(first, to), by_key(first, to), to, 0.75f);
      });
}

TYPED_TEST(segmented, all_sizes_up_to_4097_Long) {
  expect_segments_of_all_sizes(arrays<TypeParam>{}, sizes_up_to(4097), {1, 3, 2, 5, 7, 8, 9, 31, 33, 64, 700, 1500});
}

TYPED_TEST(segmented, multiples_of_a_window_and_their_neighbours) {
  arrays<TypeParam> const on;
  std::vector<std::size_t> sizes{1, 100};
  for (std::size_t windows : {1u, 2u, 3u, 5u, 8u, 16u, 31u}) {
    for (std::size_t n : {windows * 4096 - 1, windows * 4096, windows * 4096 + 1}) sizes.push_back(n);
  }
  for (auto const& lengths : std::vector<std::vector<std::int64_t>>{{1}, {1 << 20}, {5, 4096, 1, 4095, 8192, 64, 64}, {64}}) {
    expect_segments_of_all_sizes(on, sizes, lengths);
  }
}

TYPED_TEST(segmented, scans_of_equal_lengths) {
  arrays<TypeParam> const on;
  for (std::int64_t length : {1, 7, 32, 1000, 40000}) {
    std::int64_t const number = 120000 / length;
    auto const values = rounding_values<float>(static_cast<std::size_t>(length * number), 4);
    expect_scans(on, values, segments_of_length(length, number), offsets_of_lengths({length}, length * number), -2.0f,
                 "length " + std::to_string(length), plus{}, rounded_sum{});
  }
  auto const nothing = on.array(std::vector<float>());
  on.segmented_inclusive_scan(on.source(nothing), segments_of_length(0, 5), on.destination(nothing));
  on.segmented_inclusive_scan(on.source(nothing), segments_of_length(5, 0), on.destination(nothing));
}

// Empty segments, elements of no segment, offsets beyond the array.
TYPED_TEST(segmented, scans_of_segments_that_do_not_cover_the_array) {
  arrays<TypeParam> const on;
  std::size_t const n = 70000;
  auto const values = rounding_values<float>(n, 5);
  offsets_list offsets{17, 17, 17, 20, 20, 35000, 35000, 69000, 69000};
  for (int i = 0; i < 50000; ++i) offsets.push_back(69000);
  offsets.push_back(69999);
  auto const at = on.array(offsets);
  auto const in = on.array(values), out = on.array(std::vector<float>(n, 77.0f));
  auto const inclusive = [](std::vector<float> const& list) { return expected_inclusive<float>(list, rounded_sum{}); };
  on.segmented_inclusive_scan(on.source(in), segments_at(on.source(at)), on.destination(out));
  expect_same(out.values(), each_segment(std::vector<float>(n, 77.0f), values, offsets, false, inclusive), "inside");
  // Narrow and unsigned offsets, and some that lie outside.
  std::vector<std::int32_t> const outside{-5, -1, 10, 100000, 100000};
  offsets_list const clipped{0, 0, 10, 70000, 70000};
  auto const at_outside = on.array(outside);
  auto const again = on.array(std::vector<float>(n, 77.0f));
  on.template segmented_inclusive_scan<backward>(on.source(in), segments_at(on.source(at_outside)), on.destination(again));
  expect_same(again.values(), each_segment(std::vector<float>(n, 77.0f), values, clipped, true, inclusive), "outside");
  if constexpr (!TypeParam::on_gpu) {
    std::vector<std::uint64_t> const huge{5, 6, std::uint64_t{1} << 63, ~std::uint64_t{0}};
    offsets_list const huge_clipped{5, 6, 70000, 70000};
    auto const at_huge = on.array(huge);
    auto const third = on.array(std::vector<float>(n, 77.0f));
    on.segmented_inclusive_scan(on.source(in), segments_at(on.source(at_huge)), on.destination(third));
    expect_same(third.values(), each_segment(std::vector<float>(n, 77.0f), values, huge_clipped, false, inclusive), "unsigned");
  }
  // One offset: no segments.
  auto const one = on.array(offsets_list{3});
  auto const untouched = on.array(std::vector<float>(n, 77.0f));
  on.segmented_inclusive_scan(on.source(in), segments_at(on.source(one)), on.destination(untouched));
  expect_same(untouched.values(), std::vector<float>(n, 77.0f), "no segments");
}

TYPED_TEST(segmented, scans_with_other_operators_and_types) {
  arrays<TypeParam> const on;
  std::int64_t const count = 100001;
  auto const offsets = offsets_of_lengths({3, 40000, 1, 17, 1, 30, 1000}, count);
  auto const at = on.array(offsets);
  auto const segments = segments_at(on.source(at));
  auto const size = static_cast<std::size_t>(count);
  expect_scans(on, affine_values(size, 6), segments, offsets, affine{3, 4}, "affine", compose{}, compose{});
  if constexpr (takes_all_types<TypeParam>) {
    auto const flags = on.array(flags_of<unsigned char>(offsets));
    auto const by_flags = segments_from_flags(on.source(flags));
    expect_scans(on, rounding_values<float>(size, 7), by_flags, offsets, 0.5f, "tree", twice_the_left{}, twice_the_left_oracle{});
    expect_scans(on, rounding_values<double>(size, 8), segments, offsets, 0.5, "f64", plus{}, rounded_sum{});
    expect_scans(on, rounding_values<std::int64_t>(size, 9), by_flags, offsets, std::int64_t{7}, "i64", plus{}, rounded_sum{});
    expect_scans(on, rounding_elements<__half>(size, 10), segments, offsets, 0.5f, "f16", plus{}, rounded_sum{});
    expect_scans(on, rounding_values<float>(size, 11), by_flags, offsets, 0.1, "in double", accumulate_as<double>{}, rounded_sum{});
    expect_scans(on, rounding_values<float>(size, 12), segments, offsets, 5.0f, "least", minimum{}, least_oracle{});
    auto const keys = on.array(keys_of<std::uint64_t>(offsets, ~std::uint64_t{0}, std::uint64_t{1} << 62));
    expect_scans(on, rounding_values<std::uint32_t>(size, 13), segments_by_key(on.source(keys)), offsets, 5u, "u32", plus{}, rounded_sum{});
  }
}

TYPED_TEST(segmented, special_values_stay_in_their_segment) {
  arrays<TypeParam> const on;
  std::vector<float> values(1000, 1.0f);
  values[100] = float_of(0xFF812345u);
  values[300] = std::numeric_limits<float>::infinity();
  values[301] = -std::numeric_limits<float>::infinity();
  values[500] = -0.0f;
  values[700] = float_of(1);
  auto const offsets = offsets_of_lengths({100}, 1000);
  expect_scans(on, values, segments_of_length(100, 10), offsets, -0.0f, "special values", plus{}, rounded_sum{});
}

// --- Reductions

// By this description of the segments, with and without an initial value; empty segments stay or become the initial value.
template <class A, class Place, class T, class Segments, class Operation, class Join>
void expect_reductions(arrays<Place> const& on, std::vector<T> const& elements, Segments const& segments, offsets_list const& offsets,
                       A const& initial, std::string const& what, Operation const& operation, Join const& join) {
  std::size_t const number = offsets.size() - 1;
  auto const in = on.array(elements, 3);
  auto const out = on.array(std::vector<T>(number, narrowed<T>(initial)), 1);
  std::vector<A> const values = widened<A>(elements);
  std::vector<T> expected(number, narrowed<T>(initial)), expected_from = expected;
  for (std::size_t k = 0; k < number; ++k) {
    if (offsets[k] == offsets[k + 1]) continue;
    A const sum = dyadic_prefixes(part(values, offsets[k], offsets[k + 1]), join).back();
    expected[k] = narrowed<T>(canonical_nan(sum));
    expected_from[k] = narrowed<T>(canonical_nan(join(initial, sum)));
  }
  on.segmented_reduce(on.source(in), segments, on.destination(out), operation);
  expect_same(out.values(), expected, what);
  if constexpr (!Place::on_gpu) {
    auto const from = on.array(std::vector<T>(number), 1);
    on.segmented_reduce_from(on.source(in), segments, on.destination(from), initial, operation);
    expect_same(from.values(), expected_from, what + ", with an initial value");
  }
}

TYPED_TEST(segmented, reductions_by_every_description) {
  arrays<TypeParam> const on;
  for (std::int64_t count : {1, 100, 5001, 200003}) {
    auto const values = rounding_values<float>(static_cast<std::size_t>(count), 3);
    int shape = 0;
    for (offsets_list const& offsets : shapes(count)) {
      std::string const what = "shape " + std::to_string(shape++) + " of " + std::to_string(count);
      auto const at = on.array(offsets, 1);
      auto const keys = on.array(keys_of<int>(offsets, 0, 1), 1);
      expect_reductions(on, values, segments_at(on.source(at)), offsets, 0.75f, what + ", offsets", plus{}, rounded_sum{});
      expect_reductions(on, values, segments_by_key(on.source(keys), offsets.size() - 1), offsets, 0.75f, what + ", keys", plus{},
                        rounded_sum{});
    }
  }
  for (std::int64_t length : {0, 1, 7, 32, 1000, 40000}) {
    std::int64_t const number = length == 0 ? 9 : 120000 / length;
    auto const values = rounding_values<float>(static_cast<std::size_t>(length * number), 4);
    offsets_list offsets;
    for (std::int64_t k = 0; k <= number; ++k) offsets.push_back(k * length);
    expect_reductions(on, values, segments_of_length(length, number), offsets, -2.0f, "length " + std::to_string(length), plus{},
                      rounded_sum{});
  }
}

TYPED_TEST(segmented, reductions_with_gaps_and_empty_segments) {
  arrays<TypeParam> const on;
  auto const values = rounding_values<float>(90000, 5);
  offsets_list offsets{17, 17, 17, 20, 20, 35000, 35000, 69000, 69000};
  for (int i = 0; i < 100000; ++i) offsets.push_back(69000 + i / 10);
  auto const at = on.array(offsets);
  expect_reductions(on, values, segments_at(on.source(at)), offsets, 3.0f, "offsets", plus{}, rounded_sum{});
  // Keys below 0 and from the number on belong to no segment; keys that no element has are empty segments.
  std::vector<std::int64_t> keys;
  offsets_list key_offsets(1001, 0);
  for (std::int64_t i = 0; i < 90000; ++i) keys.push_back(i < 500 ? -7 : i < 60000 ? i / 1000 * 16 : i < 80000 ? 1000 : INT64_MAX);
  for (std::int64_t k = 0; k <= 1000; ++k) {
    key_offsets[static_cast<std::size_t>(k)] = std::lower_bound(keys.begin(), keys.end(), k) - keys.begin();
  }
  auto const by_key = on.array(keys);
  expect_reductions(on, values, segments_by_key(on.source(by_key), 1000), key_offsets, 3.0f, "keys", plus{}, rounded_sum{});
  auto const nothing = on.array(std::vector<std::int64_t>());
  expect_reductions(on, std::vector<float>(), segments_by_key(on.source(nothing), 5), offsets_list(6, 0), 3.0f, "no keys", plus{},
                    rounded_sum{});
}

// So many that they are passed at once: at the front, where a window begins, inside one, at the end; beside short and long segments.
TYPED_TEST(segmented, thousands_of_empty_segments_at_one_place) {
  arrays<TypeParam> const on;
  constexpr std::int64_t count = 20000;
  auto const values = rounding_values<float>(count, 29);
  for (std::int64_t place : {std::int64_t{0}, std::int64_t{1024}, std::int64_t{5000}, std::int64_t{8192}, count}) {
    for (std::size_t number : {31u, 33u, 1500u, 20'000u}) {
      offsets_list offsets = offsets_of_lengths({2500, 40, 1, 2}, place);
      offsets.insert(offsets.end(), number, place);
      for (std::int64_t const offset : offsets_of_lengths({1, 2, 40, 2500}, count - place)) offsets.push_back(place + offset);
      auto const at = on.array(offsets);
      std::string const what = std::to_string(number) + " at " + std::to_string(place);
      expect_scans(on, values, segments_at(on.source(at)), offsets, 0.75f, what, plus{}, rounded_sum{});
      expect_reductions(on, values, segments_at(on.source(at)), offsets, 0.75f, what, plus{}, rounded_sum{});
    }
  }
}

TYPED_TEST(segmented, reductions_with_other_operators_and_types) {
  arrays<TypeParam> const on;
  std::int64_t const count = 100001;
  auto const offsets = offsets_of_lengths({3, 40000, 1, 17, 1, 30, 1000}, count);
  auto const at = on.array(offsets);
  auto const segments = segments_at(on.source(at));
  auto const size = static_cast<std::size_t>(count);
  expect_reductions(on, affine_values(size, 6), segments, offsets, affine{3, 4}, "affine", compose{}, compose{});
  if constexpr (takes_all_types<TypeParam>) {
    expect_reductions(on, rounding_values<float>(size, 7), segments, offsets, 0.5f, "tree", twice_the_left{}, twice_the_left_oracle{});
    expect_reductions(on, rounding_values<double>(size, 8), segments, offsets, 0.5, "f64", plus{}, rounded_sum{});
    expect_reductions(on, rounding_elements<__nv_bfloat16>(size, 10), segments, offsets, 0.5f, "bf16", plus{}, rounded_sum{});
    expect_reductions(on, rounding_values<float>(size, 11), segments, offsets, 0.1, "in double", accumulate_as<double>{}, rounded_sum{});
    auto const keys = on.array(keys_of<std::uint8_t>(offsets_of_lengths({count / 200}, count), 0, 1));
    auto const key_offsets = offsets_of_lengths({count / 200}, count);
    expect_reductions(on, rounding_values<std::uint32_t>(size, 13), segments_by_key(on.source(keys), key_offsets.size() - 1), key_offsets,
                      5u, "u32, keys of 8 bits", minimum{}, least_oracle{});
  }
}

// Rows: the element of a column is D of its segment's elements there.
template <class A, class Place, class T, class Operation, class Join>
void expect_rows(arrays<Place> const& on, std::vector<T> const& elements, std::int64_t columns, offsets_list const& offsets,
                 A const& initial, std::string const& what, Operation const& operation, Join const& join) {
  auto const rows = static_cast<std::int64_t>(elements.size()) / columns;
  auto const number = static_cast<std::int64_t>(offsets.size()) - 1;
  auto const in = on.array(elements, 1);
  T const before = narrowed<T>(initial);
  auto const out = on.array(std::vector<T>(static_cast<std::size_t>(number * columns), before), 1);
  auto const from = on.array(std::vector<T>(static_cast<std::size_t>(number * columns), T{}), 2);
  std::vector<A> const values = widened<A>(elements);
  std::vector<T> expected(static_cast<std::size_t>(number * columns), before), expected_from = expected;
  for (std::int64_t c = 0; c < columns; ++c) {
    for (std::size_t k = 0; k + 1 < offsets.size(); ++k) {
      if (offsets[k] == offsets[k + 1]) continue;
      std::vector<A> list;
      for (std::int64_t row = offsets[k]; row < offsets[k + 1]; ++row) list.push_back(values[static_cast<std::size_t>(row * columns + c)]);
      A const sum = dyadic_prefixes(list, join).back();
      auto const place = static_cast<std::size_t>(static_cast<std::int64_t>(k) * columns + c);
      expected[place] = narrowed<T>(canonical_nan(sum));
      expected_from[place] = narrowed<T>(canonical_nan(join(initial, sum)));
    }
  }
  auto const at = on.array(offsets);
  T const* const data = in.data();
  on.segmented_reduce(tessera::make_view(data, {rows, columns}), segments_at(on.source(at)),
                      tessera::make_view(out.data(), {number, columns}), operation);
  expect_same(out.values(), expected, what);
  if constexpr (!Place::on_gpu) {
    on.segmented_reduce_from(tessera::make_view(data, {rows, columns}), segments_at(on.source(at)),
                             tessera::make_view(from.data(), {number, columns}), initial, operation);
    expect_same(from.values(), expected_from, what + ", with an initial value");
  }
}

TYPED_TEST(segmented, rows_are_added_column_by_column) {
  arrays<TypeParam> const on;
  for (std::int64_t columns : {1, 3, 4, 16, 37, 128, 600}) {
    std::int64_t const rows = 60000 / columns;
    auto const values = rounding_values<float>(static_cast<std::size_t>(rows * columns), 14);
    for (auto const& lengths : std::vector<std::vector<std::int64_t>>{{1}, {3, 1, 8, 33, 0, 7}, {rows}, {2, rows / 2, 0, 0, 5, rows}}) {
      offsets_list offsets{0};
      for (std::size_t k = 0; offsets.back() < rows; ++k) offsets.push_back(std::min(rows, offsets.back() + lengths[k % lengths.size()]));
      expect_rows(on, values, columns, offsets, 0.5f,
                  std::to_string(columns) + " columns in " + std::to_string(offsets.size() - 1) + " segments", plus{}, rounded_sum{});
    }
  }
  if constexpr (!TypeParam::on_gpu) {
    offsets_list const offsets{0, 3, 3, 1500, 2000};
    expect_rows(on, rounding_values<double>(2000 * 33, 15), 33, offsets, 0.5, "f64", plus{}, rounded_sum{});
    expect_rows(on, rounding_elements<__half>(2000 * 5, 16), 5, offsets, 0.5f, "f16", plus{}, rounded_sum{});
    expect_rows(on, affine_values(2000 * 18, 17), 18, offsets, affine{1, 2}, "affine", compose{}, compose{});
    expect_rows(on, rounding_values<std::int32_t>(2000 * 21, 18), 21, offsets, 5, "i32", plus{}, rounded_sum{});
  }
}

TYPED_TEST(segmented, rows_of_any_strides) {
  arrays<TypeParam> const on;
  std::int64_t const rows = 500, columns = 40;
  constexpr std::int64_t size = sizeof(float);
  auto const values = rounding_values<float>(static_cast<std::size_t>(rows * columns), 19);
  auto const in = on.array(values);
  float const* const data = in.data();
  // The transpose: 40 rows of 500, in two segments of 20; every second column of the result is written.
  auto const out = on.array(std::vector<float>(2 * 2 * static_cast<std::size_t>(rows), 77.0f));
  on.segmented_reduce(tessera::transposed(tessera::make_view(data, {rows, columns})), segments_of_length(20, 2),
                      tessera::make_view(out.data(), {2, rows}, {2 * rows * size, 2 * size}));
  std::vector<float> expected(2 * 2 * static_cast<std::size_t>(rows), 77.0f);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t k = 0; k < 2; ++k) {
      auto const list = part(values, row * columns + k * 20, row * columns + k * 20 + 20);
      expected[static_cast<std::size_t>(2 * (k * rows + row))] = dyadic_sum(list);
    }
  }
  expect_same(out.values(), expected, "transposed");
}

// As many cores as there are share one segment; nothing of the result depends on how many there are.
TYPED_TEST(segmented, any_number_of_cores) {
  if constexpr (!TypeParam::on_gpu) {
    std::int64_t const count = 500000;
    auto const values = rounding_values<float>(static_cast<std::size_t>(count), 20);
    auto const offsets = offsets_of_lengths({7, 300000, 100, 1, 1}, count);
    auto const expected = expected_scans(values, offsets, 0.5f, rounded_sum{});
    for (int cores : {1, 2, 3, 7}) {
      arrays<TypeParam> on;
      on.place.backend.cores = cores;
      auto const at = on.array(offsets);
      auto const flags = on.array(flags_of<char>(offsets));
      std::string const what = std::to_string(cores) + " cores";
      expect_scans(on, values, segments_at(on.source(at)), expected, 0.5f, what, plus{});
      expect_scans(on, values, segments_from_flags(on.source(flags)), expected, 0.5f, what + ", flags", plus{});
      expect_reductions(on, values, segments_at(on.source(at)), offsets, 0.5f, what, plus{}, rounded_sum{});
      expect_rows(on, values, 5, offsets_of_lengths({7, 70000, 100, 1, 1}, count / 5), 0.5f, what + ", rows", plus{}, rounded_sum{});
    }
  }
}

TYPED_TEST(segmented, huge_segments_Long) {
  arrays<TypeParam> const on;
  std::int64_t const count = 3000001;
  auto const values = rounding_values<float>(static_cast<std::size_t>(count), 22);
  auto const offsets = offsets_of_lengths({1, 1500000, 3, 10, 1200000, 2}, count);
  auto const at = on.array(offsets);
  expect_scans(on, values, segments_at(on.source(at)), offsets, 0.5f, "huge", plus{}, rounded_sum{});
  expect_reductions(on, values, segments_at(on.source(at)), offsets, 0.5f, "huge", plus{}, rounded_sum{});
}

// A flag is any value that is not zero; keys are other ones if they do not compare equal.
TYPED_TEST(segmented, flags_and_keys_of_floating_point) {
  arrays<TypeParam> const on;
  std::vector<float> const marks{0.0f, -0.0f, 1e-42f, 1e-42f, 0.0f, -1e-42f, float_of(0x7FC00000u), float_of(0x7FC00000u), 1.0f, 1.0f};
  auto const values = rounding_values<float>(marks.size(), 17);
  auto const in = on.array(values), of_float = on.array(marks), out = on.array(std::vector<float>(marks.size()));
  auto const expected = [&](offsets_list const& offsets) { return expected_scans(values, offsets, 0.0f, rounded_sum{}).inclusive; };
  on.segmented_inclusive_scan(on.source(in), segments_from_flags(on.source(of_float)), on.destination(out));
  expect_same(out.values(), expected({0, 2, 3, 5, 6, 7, 8, 9, 10}), "flags");
  on.segmented_inclusive_scan(on.source(in), segments_by_key(on.source(of_float)), on.destination(out));
  expect_same(out.values(), expected({0, 2, 4, 5, 6, 7, 8, 10}), "keys");
}

TYPED_TEST(segmented, errors_say_what_was_wrong) {
  arrays<TypeParam> const on;
  auto const in = on.array(std::vector<float>(10)), out = on.array(std::vector<float>(11)), same = on.array(std::vector<float>(10));
  auto const flags = on.array(std::vector<int>(9));
  auto const source = on.source(in);
  auto const to = on.destination(same);
  expect_usage_error([&] { on.segmented_inclusive_scan(source, segments_of_length(5, 2), on.destination(out)); },
                     {"segmented_inclusive_scan", "10", "11"});
  expect_usage_error([&] { on.segmented_inclusive_scan(source, segments_of_length(3, 3), to); }, {"segmented_inclusive_scan", "10", "3"});
  expect_usage_error([&] { on.segmented_inclusive_scan(source, segments_of_length(INT64_MAX, INT64_MAX), to); },
                     {"segmented_inclusive_scan", "10"});
  auto const nothing = tessera::make_view(static_cast<float const*>(nullptr), {0});
  auto const nowhere = tessera::make_view(static_cast<float*>(nullptr), {0});
  expect_usage_error(  // 2^64 elements in all, which is 0 to who multiplies without a look
      [&] { on.segmented_inclusive_scan(nothing, segments_of_length(std::int64_t{1} << 32, std::int64_t{1} << 32), nowhere); },
      {"segmented_inclusive_scan", "4294967296"});
  expect_usage_error([&] { on.segmented_inclusive_scan(source, segments_from_flags(on.source(flags)), to); },
                     {"segmented_inclusive_scan", "10", "9"});
  expect_usage_error([&] { on.segmented_exclusive_scan(source, segments_by_key(on.source(flags)), to, 0.0f); },
                     {"segmented_exclusive_scan", "10", "9"});
  expect_usage_error([&] { on.segmented_reduce(source, segments_of_length(5, 2), to); }, {"segmented_reduce", "2", "10"});
  expect_usage_error([&] { on.segmented_reduce(source, segments_by_key(on.source(flags), 10), to); }, {"segmented_reduce", "9", "10"});
  expect_usage_error([&] { on.segmented_reduce(source, segments_of_length(1, 10), tessera::make_view(same.data(), {10}, {0})); },
                     {"segmented_reduce", "stride 0"});
  auto const table = tessera::make_view(static_cast<float const*>(in.data()), {5, 2});
  expect_usage_error(
      [&] {
        on.segmented_reduce(table, segments_of_length(5, 1), tessera::make_view(same.data(), {1, 3}));
      },
      {"segmented_reduce", "2", "3"});
  expect_usage_error([] { segments_of_length(-1, 2); }, {"segments_of_length", "-1"});
  auto const none = tessera::make_view(static_cast<int const*>(nullptr), {0});
  expect_usage_error([&] { (void)segments_at(none); }, {"segments_at", "m + 1"});
  expect_usage_error([&] { (void)segments_by_key(none, -2); }, {"segments_by_key", "-2"});
  auto const missing = tessera::make_view(static_cast<int const*>(nullptr), {10});
  expect_usage_error([&] { on.segmented_inclusive_scan(source, segments_at(missing), to); },
                     {"segmented_inclusive_scan", "offsets is null"});
  expect_usage_error([&] { on.segmented_inclusive_scan(source, segments_from_flags(missing), to); },
                     {"segmented_inclusive_scan", "flags is null"});
  expect_usage_error([&] { on.segmented_reduce(source, segments_by_key(missing, 10), to); }, {"segmented_reduce", "keys is null"});
  if constexpr (!TypeParam::on_gpu) {  // the device does not look at them twice
    auto const descending = on.array(std::vector<int>{0, 5, 4, 10});
    expect_usage_error([&] { on.segmented_inclusive_scan(source, segments_at(on.source(descending)), to); },
                       {"segmented_inclusive_scan", "offset 2 is 4", "5"});
    auto const keys = on.array(std::vector<int>{0, 1, 1, 2, 3, 3, 2, 4, 4, 4});
    auto const five = on.array(std::vector<float>(5));
    expect_usage_error([&] { on.segmented_reduce(source, segments_by_key(on.source(keys), 5), on.destination(five)); },
                       {"segmented_reduce", "key 6 is 2", "3"});
  }
}

}  // namespace
