#include <algorithm>
#include <map>

#include "support/backend.hpp"
#include "support/layouts.hpp"
#include "support/oracle.hpp"

namespace {

using namespace tessera;
using testing_support::array_layout;
using testing_support::comparable;
using testing_support::coordinates;
using testing_support::dyadic_counter;

// Forms: 0: tile, indices and previous values in registers; 1: all in shared memory; 2: indices shared, previous values dropped.
template <int Axis, class Shape>
struct add_indexed;
template <int Axis, int... Extents>
struct add_indexed<Axis, tile_shape<Extents...>> {
  template <class Block, class Destination, class T, class I>
  TESSERA_TILE void operator()(Block& block, T const* values, I const* indices, std::int64_t const* offsets, int form,
                               Destination const& destination, T* previous) const {
    using shape = tile_shape<Extents...>;
    constexpr int length = shape::extent(Axis);
    auto const at = testing_support::offsets_at<shape::rank>(offsets, block.tile_id());
    index64 const extents[] = {Extents...};
    auto const dense = make_view(values + block.tile_id() * shape::size, extents);
    auto const all_rows = make_view(indices + block.tile_id() * length, {length});
    T* const to = previous + block.tile_id() * shape::size;
    if (form == 1) {
      auto const tile = tile_load<Extents...>(block, shared, dense, {});
      auto const rows = tile_load<length>(block, shared, all_rows, {});
      auto const before = tile_atomic_add_indexed<Axis>(block, shared, destination, rows, tile, at);
      testing_support::dump(block, before, to);
    } else if (form == 0) {
      auto const tile = tile_load<Extents...>(block, dense, {});
      auto const rows = tile_load<length>(block, all_rows, {});
      testing_support::dump(block, tile_atomic_add_indexed<Axis>(block, destination, rows, tile, at), to);
    } else {
      auto const tile = tile_load<Extents...>(block, dense, {});
      auto const rows = tile_load<length>(block, shared, all_rows, {});
      tile_atomic_add_indexed<Axis>(block, destination, rows, tile, at);
    }
  }
};

// Where index i with `offset` meets an axis of `extent` elements, or -1: in 128 bits, where nothing wraps.
template <class I>
std::int64_t row_of(I index, std::int64_t offset, std::int64_t extent) {
  if (index == skip_index<I>) return -1;
  __extension__ using wide = __int128;
  wide const row = static_cast<wide>(index) + static_cast<wide>(offset);
  return row >= 0 && row < extent ? static_cast<std::int64_t>(row) : -1;
}

// One tile, distinct rows: the sums and the previous values, bit for bit.
template <class T, class I, int Axis, class Shape, class Place>
void expect_adds(Place const& place, coordinates<Shape::rank> const& extents, std::vector<I> const& indices,
                 coordinates<Shape::rank> const& at) {
  constexpr int rank = Shape::rank;
  constexpr auto axis = static_cast<std::size_t>(Axis);
  ASSERT_EQ(indices.size(), static_cast<std::size_t>(Shape::extent(Axis)));
  auto const tile = testing_support::extents_of(Shape{});
  auto const values = testing_support::rounding_values<T>(Shape::size, 11);
  auto const source = place.array(values);
  auto const rows = place.array(indices);
  auto const offsets = place.array(std::vector<std::int64_t>(at.begin(), at.end()));
  int form = static_cast<int>(static_cast<std::uint64_t>(at[0]) % 3);
  for (array_layout<rank> const& layout : testing_support::layouts<rank>(extents)) {
    form = (form + 1) % 3;
    auto const before = testing_support::rounding_values<T>(layout.size, 7);
    auto const destination = place.array(before, layout.shift);
    auto const previous = place.array(std::vector<T>(Shape::size, T{77}));
    place.template launch<16384>(tile_grid(1), add_indexed<Axis, Shape>{}, static_cast<T const*>(source.data()),
                                 static_cast<I const*>(rows.data()), static_cast<std::int64_t const*>(offsets.data()), form,
                                 layout.of(destination.data()), previous.data());
    std::vector<T> expected = before, expected_previous;
    testing_support::for_each_coordinate<rank>(tile, [&](coordinates<rank> const& c) {
      auto i = testing_support::saturating_sum<rank>(at, c);
      i[axis] = row_of(indices[static_cast<std::size_t>(c[axis])], at[axis], extents[axis]);
      T const value = values[expected_previous.size()];
      if (!layout.has(i)) {
        expected_previous.push_back(T{});
        return;
      }
      expected_previous.push_back(before[layout.place(i)]);
      expected[layout.place(i)] = dyadic_counter<T>::sum(before[layout.place(i)], value);
    });
    if (form == 2) expected_previous.assign(Shape::size, T{77});
    ASSERT_EQ(comparable(destination.values()), comparable(expected)) << layout.name << ", offset " << at[0] << " ..., form " << form;
    ASSERT_EQ(comparable(previous.values()), comparable(expected_previous)) << layout.name << ", offset " << at[0] << " ..., form " << form;
  }
}

template <class Place>
class tile_atomic_add_indexed_test : public testing::Test {};
TYPED_TEST_SUITE(tile_atomic_add_indexed_test, testing_support::all_places);

template <class Place>
class tile_atomic_add_indexed_all : public testing::Test {};
TYPED_TEST_SUITE(tile_atomic_add_indexed_all, testing_support::main_places);

// Indices below, above and at the ends of the axis, at offsets that bring them in and out of range.
TYPED_TEST(tile_atomic_add_indexed_test, indices_on_both_sides_of_the_axis) {
  std::vector<std::int32_t> const rows = {12, -1, 0, 13, 5, INT32_MIN, INT32_MAX, 4, -13, 26, -2, 7};
  for (std::int64_t first : {0, 1, -1, 13, -13, 2, 1000}) {
    for (std::int64_t column : {0, 4, -4, 14, 3}) {
      expect_adds<float, std::int32_t, 0, tile_shape<12, 8>>(TypeParam{}, {13, 21}, rows, {first, column});
    }
  }
}

TYPED_TEST(tile_atomic_add_indexed_all, types_and_axes) {
  std::vector<std::int32_t> const rows = {4, -1, 0, 5, 3, INT32_MIN, INT32_MAX, 2};
  for (std::int64_t at : {0, 1, -1}) {
    expect_adds<double, std::int32_t, 0, tile_shape<8, 4>>(TypeParam{}, {5, 6}, rows, {at, at});
    expect_adds<std::int32_t, std::int32_t, 1, tile_shape<4, 8>>(TypeParam{}, {6, 5}, rows, {at, at});
    expect_adds<std::int64_t, std::int32_t, 1, tile_shape<2, 8, 4>>(TypeParam{}, {3, 5, 6}, rows, {at, at, 0});
    expect_adds<float, std::int32_t, 2, tile_shape<2, 3, 8, 4>>(TypeParam{}, {3, 4, 5, 8}, rows, {0, at, at, 0});
    expect_adds<float, std::int32_t, 0, tile_shape<8>>(TypeParam{}, {5}, rows, {at});
  }
}

// Every width of index, as if sums were exact: what wraps in 64 bits, or in the index type, names no row.
TYPED_TEST(tile_atomic_add_indexed_all, index_types_do_not_wrap) {
  constexpr auto least = INT64_MIN, most = INT64_MAX;
  TypeParam const place;
  using shape = tile_shape<4, 4>;
  coordinates<2> const extents = {6, 4};
  for (std::int64_t at : {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, std::int64_t{3}, least, least + 1, least + 2, most, most - 1,
                          std::int64_t{1} << 32, -(std::int64_t{1} << 32), std::int64_t{256}, std::int64_t{-256}, std::int64_t{-253},
                          std::int64_t{128}, std::int64_t{130}}) {
    expect_adds<float, std::int8_t, 0, shape>(place, extents, {-128, -127, 127, 0}, {at, 0});
    expect_adds<float, std::uint8_t, 0, shape>(place, extents, {0, 255, 254, 128}, {at, 0});
    expect_adds<float, std::int64_t, 0, shape>(place, extents, {least, most, least + 1, 1}, {at, 0});
    expect_adds<float, std::uint64_t, 0, shape>(place, extents, {UINT64_MAX, UINT64_MAX - 1, std::uint64_t{1} << 63, 0}, {at, 0});
    expect_adds<float, std::int64_t, 0, shape>(place, extents,
                                               {std::int64_t{1} << 32, -(std::int64_t{1} << 32), (std::int64_t{1} << 32) + 1, 3}, {at, 0});
  }
  // 2^63 + 2 with offset -2^63 is row 2, exactly; 2^63 - 1 with -2^63 + 1 is row 0.
  expect_adds<float, std::uint64_t, 0, shape>(place, extents, {(std::uint64_t{1} << 63) + 2, std::uint64_t{1} << 63, 5, 6}, {least, 0});
  EXPECT_EQ(row_of((std::uint64_t{1} << 63) + 2, least, 6), 2);
}

// Padding by skip_index stays out at every offset.
TYPED_TEST(tile_atomic_add_indexed_all, skip_index_names_no_row) {
  constexpr auto low = skip_index<std::int8_t>;
  constexpr auto high = skip_index<std::uint8_t>;
  for (std::int64_t at : {0, 128, 130, -250, -255}) {
    expect_adds<float, std::int8_t, 0, tile_shape<4, 4>>(TypeParam{}, {6, 4}, {low, 1, low, low}, {at, 0});
    expect_adds<float, std::uint8_t, 0, tile_shape<4, 4>>(TypeParam{}, {6, 4}, {high, 1, high, high}, {at, 0});
  }
}

// Rows 0 to 4, then padding of -1: the last row of the array, which -1 would name if it wrapped, gets nothing.
TYPED_TEST(tile_atomic_add_indexed_test, minus_one_is_not_the_last_row) {
  expect_adds<float, std::int32_t, 0, tile_shape<10, 4>>(TypeParam{}, {10, 4}, {0, 1, 2, 3, 4, -1, -1, -1, -1, -1}, {0, 0});
}

TYPED_TEST(tile_atomic_add_indexed_all, inner_extents) {
  std::vector<std::int32_t> const rows = {2, -1, 0};
  expect_adds<float, std::int32_t, 0, tile_shape<3, 1>>(TypeParam{}, {4, 1}, rows, {0, 0});
  expect_adds<float, std::int32_t, 0, tile_shape<3, 256>>(TypeParam{}, {4, 256}, rows, {0, 0});
  expect_adds<float, std::int32_t, 0, tile_shape<3, 257>>(TypeParam{}, {4, 257}, rows, {0, 0});
  expect_adds<float, std::int32_t, 0, tile_shape<3, 500>>(TypeParam{}, {4, 500}, rows, {0, 0});
}

TYPED_TEST(tile_atomic_add_indexed_all, arrays_without_rows_or_columns) {
  std::vector<std::int32_t> const rows = {2, -1, 0};
  for (coordinates<2> const extents : {coordinates<2>{0, 0}, coordinates<2>{0, 4}, coordinates<2>{4, 0}, coordinates<2>{1, 1}}) {
    expect_adds<float, std::int32_t, 0, tile_shape<3, 4>>(TypeParam{}, extents, rows, {0, 0});
  }
}

// What other tools show as the worked example: rows of a tile go to the even rows of an array.
struct accumulate_even_rows {
  template <class Block>
  TESSERA_TILE void operator()(Block& block, view<float const, 2> x, view<float, 2> y, view<float, 2> previous) const {
    auto const t = tile_load<2, 4>(block, x, {});
    auto const rows = tile_arange<2>(block, 0) * 2;
    auto const p = tile_atomic_add_indexed<0>(block, y, rows, t);
    tile_store(block, previous, p);
  }
};

TYPED_TEST(tile_atomic_add_indexed_test, worked_example) {
  TypeParam const place;
  auto const x = place.array(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
  auto const y = place.array(std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  auto const previous = place.array(std::vector<float>(8));
  place.launch(tile_grid(1), accumulate_even_rows{}, make_view(static_cast<float const*>(x.data()), {2, 4}), make_view(y.data(), {4, 4}),
               make_view(previous.data(), {2, 4}));
  EXPECT_EQ(y.values(), (std::vector<float>{1, 3, 5, 7, 4, 5, 6, 7, 13, 15, 17, 19, 12, 13, 14, 15}));
  EXPECT_EQ(previous.values(), (std::vector<float>{0, 1, 2, 3, 8, 9, 10, 11}));
}

// Rows that repeat, within a tile and between blocks: the previous values of each element are the steps of one history, in some order.
template <class T, class Place>
void expect_one_history(Place const& place, std::int64_t tiles, std::int64_t rows, bool hot) {
  using shape = tile_shape<16, 4>;
  testing_support::integers random(5);
  auto values = testing_support::rounding_values<T>(static_cast<std::size_t>(tiles) * 64, 3);
  // Odd numbers: no add leaves an element as it was.
  for (T& value : values) value = static_cast<T>(static_cast<std::uint64_t>(value) | 1u);
  std::vector<std::int32_t> indices(static_cast<std::size_t>(tiles) * 16);
  for (auto& index : indices) index = hot ? 0 : static_cast<std::int32_t>(random.below(rows + 2) - 1);
  std::vector<T> const start(static_cast<std::size_t>(rows) * 4, static_cast<T>(10));
  auto const source = place.array(values);
  auto const row_numbers = place.array(indices);
  auto const offsets = place.array(std::vector<std::int64_t>(static_cast<std::size_t>(tiles) * 2, 0));
  auto const destination = place.array(start);
  auto const previous = place.array(std::vector<T>(values.size(), T{77}));
  place.template launch<16384>(tile_grid(tiles), add_indexed<0, shape>{}, static_cast<T const*>(source.data()),
                               static_cast<std::int32_t const*>(row_numbers.data()), static_cast<std::int64_t const*>(offsets.data()), 0,
                               make_view(destination.data(), {rows, 4}), previous.data());
  auto const sums = destination.values();
  auto const before = previous.values();
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < 4; ++c) {
      std::multimap<T, T> steps;  // from the value before to what was added
      for (std::size_t record = 0; record < indices.size(); ++record) {
        auto const k = record * 4 + static_cast<std::size_t>(c);
        if (indices[record] == r) steps.emplace(before[k], values[k]);
      }
      T value = 10;
      while (!steps.empty()) {
        auto const step = steps.find(value);
        ASSERT_NE(step, steps.end()) << "no add found the element at " << value;
        value = dyadic_counter<T>::sum(value, step->second);
        steps.erase(step);
      }
      ASSERT_EQ(value, sums[static_cast<std::size_t>(r * 4 + c)]);
    }
  }
  for (std::size_t record = 0; record < indices.size(); ++record) {
    if (indices[record] >= 0 && indices[record] < rows) continue;
    for (std::size_t c = 0; c < 4; ++c) ASSERT_EQ(before[record * 4 + c], T{});
  }
}

TYPED_TEST(tile_atomic_add_indexed_test, previous_values_of_repeated_rows_are_one_history) {
  expect_one_history<std::int64_t>(TypeParam{}, 1, 3, false);
  expect_one_history<std::int64_t>(TypeParam{}, 50, 7, false);
  expect_one_history<std::int64_t>(TypeParam{}, 20, 2, true);
}
TYPED_TEST(tile_atomic_add_indexed_all, previous_values_of_repeated_rows_are_one_history) {
  expect_one_history<std::uint64_t>(TypeParam{}, 50, 7, false);
  expect_one_history<std::int32_t>(TypeParam{}, 20, 7, false);
}

// Integers: nothing is lost and nothing is counted twice, whatever the size; values over 2^32.
struct add_numbers {
  template <class Block, class T>
  TESSERA_TILE void operator()(Block& block, view<T const, 1> values, view<std::int32_t const, 1> rows, view<T, 1> sums) const {
    auto const first = block.tile_index(0) * 256;
    auto const t = tile_load<256>(block, values, {first});
    auto const i = tile_load<256>(block, shared, rows, {first}, skip_index<std::int32_t>);
    tile_atomic_add_indexed<0>(block, sums, i, t);
  }
};

template <class T, class Place>
void expect_conservation(Place const& place, std::int64_t n, std::int64_t rows, bool ones) {
  testing_support::integers random(static_cast<std::uint64_t>(n));
  std::vector<T> values(static_cast<std::size_t>(n));
  std::vector<std::int32_t> indices(values.size());
  std::vector<T> expected(static_cast<std::size_t>(rows), T{0});
  for (std::size_t k = 0; k < values.size(); ++k) {
    values[k] = ones ? T{1} : static_cast<T>(random.next());
    indices[k] = static_cast<std::int32_t>(random.below(rows));
    auto& sum = expected[static_cast<std::size_t>(indices[k])];
    sum = dyadic_counter<T>::sum(sum, values[k]);
  }
  auto const source = place.array(values);
  auto const row_numbers = place.array(indices);
  auto const sums = place.array(std::vector<T>(static_cast<std::size_t>(rows), T{0}));
  place.launch(tile_grid(ceil_div(n, 256)), add_numbers{}, make_view(static_cast<T const*>(source.data()), {n}),
               make_view(static_cast<std::int32_t const*>(row_numbers.data()), {n}), make_view(sums.data(), {rows}));
  ASSERT_EQ(sums.values(), expected) << n << " values";
}

TYPED_TEST(tile_atomic_add_indexed_all, integers_are_conserved) {
  expect_conservation<std::int64_t>(TypeParam{}, 1024, 1, true);
  expect_conservation<std::uint64_t>(TypeParam{}, 1024, 1, true);
  for (int k = 0; k <= 20; ++k) {
    for (int beside : {-1, 0, 1}) {
      std::int64_t const n = (std::int64_t{1} << k) + beside;
      expect_conservation<std::int64_t>(TypeParam{}, n, 1 + n / 100, false);
      if (k % 5 == 0) expect_conservation<std::uint64_t>(TypeParam{}, n, 17, false);
    }
  }
}

}  // namespace
