#include "support/backend.hpp"
#include "support/layouts.hpp"
#include "support/oracle.hpp"

namespace {

using namespace tessera;
using testing_support::array_layout;
using testing_support::comparable;
using testing_support::coordinates;

// Gathers at each of many offsets: tile and indices in registers with a fill value, then both in shared memory without.
template <int Axis, class Shape>
struct gather;
template <int Axis, int... Extents>
struct gather<Axis, tile_shape<Extents...>> {
  template <class Block, class Source, class T, class I>
  TESSERA_TILE void operator()(Block& block, Source const& source, I const* indices, std::int64_t const* offsets, T fill,
                               T* gathered) const {
    using shape = tile_shape<Extents...>;
    constexpr int length = shape::extent(Axis);
    auto const at = testing_support::offsets_at<shape::rank>(offsets, block.tile_id());
    auto const all_rows = make_view(indices, {length});
    T* const to = gathered + block.tile_id() * 2 * shape::size;
    {
      auto const rows = tile_load<length>(block, all_rows, {});
      testing_support::dump(block, tile_load_indexed<Axis, Extents...>(block, source, rows, at, fill), to);
    }
    auto const rows = tile_load<length>(block, shared, all_rows, {});
    auto const kept = tile_load_indexed<Axis, Extents...>(block, shared, source, rows, at);
    testing_support::dump(block, kept, to + shape::size);
  }
};

// Where an index with an offset meets an axis of `extent` elements, or -1: in 128 bits, where nothing wraps.
template <class I>
std::int64_t row_at(I index, std::int64_t offset, std::int64_t extent) {
  if (index == skip_index<I>) return -1;
  __extension__ using wide = __int128;
  wide const row = static_cast<wide>(index) + static_cast<wide>(offset);
  return row >= 0 && row < extent ? static_cast<std::int64_t>(row) : -1;
}

template <class T, class I, int Axis, class Shape, class Place>
void expect_gathers(Place const& place, coordinates<Shape::rank> const& extents, std::vector<I> const& indices,
                    std::vector<coordinates<Shape::rank>> const& all_offsets) {
  constexpr int rank = Shape::rank;
  constexpr auto axis = static_cast<std::size_t>(Axis);
  ASSERT_EQ(indices.size(), static_cast<std::size_t>(Shape::extent(Axis)));
  auto const tile = testing_support::extents_of(Shape{});
  auto const offsets = place.array(testing_support::flattened<rank>(all_offsets));
  auto const rows = place.array(indices);
  T const fill = static_cast<T>(999);
  for (array_layout<rank> const& layout : testing_support::layouts<rank>(extents)) {
    auto const memory = testing_support::rounding_values<T>(layout.size, 7);
    auto const source = place.array(memory, layout.shift);
    auto const gathered = place.array(std::vector<T>(all_offsets.size() * 2 * Shape::size, T{77}));
    place.template launch<16384>(tile_grid(all_offsets.size()), gather<Axis, Shape>{}, layout.of(static_cast<T const*>(source.data())),
                                 static_cast<I const*>(rows.data()), static_cast<std::int64_t const*>(offsets.data()), fill,
                                 gathered.data());
    std::vector<T> expected;
    for (auto const& at : all_offsets) {
      for (T const outside : {fill, T{}}) {
        testing_support::for_each_coordinate<rank>(tile, [&](coordinates<rank> const& c) {
          auto i = testing_support::saturating_sum<rank>(at, c);
          i[axis] = row_at(indices[static_cast<std::size_t>(c[axis])], at[axis], extents[axis]);
          expected.push_back(layout.has(i) ? memory[layout.place(i)] : outside);
        });
      }
    }
    EXPECT_EQ(comparable(gathered.values()), comparable(expected)) << layout.name;
  }
}

template <class Place>
class tile_load_indexed_test : public testing::Test {};
TYPED_TEST_SUITE(tile_load_indexed_test, testing_support::all_places);

template <class Place>
class tile_load_indexed_all : public testing::Test {};
TYPED_TEST_SUITE(tile_load_indexed_all, testing_support::main_places);

// The rows before and behind the array hold 999.
struct gather_rows {
  template <class Block>
  TESSERA_TILE void operator()(Block& block, view<float const, 2> source, view<std::int32_t const, 1> rows, view<float, 2> gathered) const {
    auto const i = tile_load<4>(block, rows, {});
    tile_store(block, gathered, tile_load_indexed<0, 4, 2>(block, source, i));
  }
};

TYPED_TEST(tile_load_indexed_test, an_index_outside_gives_zero_and_not_the_neighbour) {
  TypeParam const place;
  auto const source = place.array(std::vector<float>{999, 999, 1, 2, 3, 4, 5, 6, 999, 999});
  for (std::int32_t const outside : {-1, 3, INT32_MIN, INT32_MAX}) {
    auto const rows = place.array(std::vector<std::int32_t>{0, outside, 2, 1});
    auto const gathered = place.array(std::vector<float>(8, 77.0f));
    place.launch(tile_grid(1), gather_rows{}, make_view(static_cast<float const*>(source.data()) + 2, {3, 2}),
                 make_view(static_cast<std::int32_t const*>(rows.data()), {4}), make_view(gathered.data(), {4, 2}));
    EXPECT_EQ(gathered.values(), (std::vector<float>{1, 2, 0, 0, 5, 6, 3, 4})) << outside;
  }
}

TYPED_TEST(tile_load_indexed_test, indices_on_both_sides_of_the_axis) {
  std::vector<std::int32_t> const rows = {12, -1, 0, 13, 5, INT32_MIN, INT32_MAX, 4, -13, 26, -2, 7};
  expect_gathers<float, std::int32_t, 0, tile_shape<12, 8>>(TypeParam{}, {13, 21}, rows,
                                                            testing_support::edge_offsets<2>({12, 8}, {13, 21}));
}

TYPED_TEST(tile_load_indexed_all, types_and_axes) {
  std::vector<std::int32_t> const rows = {4, -1, 0, 5, 3, INT32_MIN, 3, 2};
  expect_gathers<double, std::int32_t, 0, tile_shape<8, 4>>(TypeParam{}, {5, 6}, rows, testing_support::edge_offsets<2>({8, 4}, {5, 6}));
  expect_gathers<std::int32_t, std::int32_t, 1, tile_shape<4, 8>>(TypeParam{}, {6, 5}, rows,
                                                                  testing_support::edge_offsets<2>({4, 8}, {6, 5}));
  expect_gathers<std::int64_t, std::int32_t, 1, tile_shape<2, 8, 4>>(TypeParam{}, {3, 5, 6}, rows,
                                                                     testing_support::edge_offsets<3>({2, 8, 4}, {3, 5, 6}));
  expect_gathers<float, std::int32_t, 2, tile_shape<2, 3, 8, 4>>(TypeParam{}, {3, 4, 5, 8}, rows,
                                                                 testing_support::edge_offsets<4>({2, 3, 8, 4}, {3, 4, 5, 8}));
  expect_gathers<float, std::int32_t, 0, tile_shape<8>>(TypeParam{}, {5}, rows, testing_support::edge_offsets<1>({8}, {5}));
  expect_gathers<float, std::int32_t, 0, tile_shape<8, 257>>(TypeParam{}, {5, 300}, rows, {{0, 0}, {0, 43}, {1, 44}, {-1, -1}});
}

TYPED_TEST(tile_load_indexed_all, index_types_do_not_wrap) {
  constexpr auto least = INT64_MIN, most = INT64_MAX;
  TypeParam const place;
  using shape = tile_shape<4, 4>;
  coordinates<2> const extents = {6, 4};
  std::vector<coordinates<2>> offsets;
  for (std::int64_t at : {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, std::int64_t{3}, least, least + 1, least + 2, most, most - 1,
                          std::int64_t{1} << 32, -(std::int64_t{1} << 32), std::int64_t{256}, std::int64_t{-256}, std::int64_t{-253},
                          std::int64_t{128}, std::int64_t{130}}) {
    offsets.push_back({at, 0});
  }
  expect_gathers<float, std::int8_t, 0, shape>(place, extents, {-128, -127, 127, 0}, offsets);
  expect_gathers<float, std::uint8_t, 0, shape>(place, extents, {0, 255, 254, 128}, offsets);
  expect_gathers<float, std::uint16_t, 0, shape>(place, extents, {0, UINT16_MAX, 2, 1}, offsets);
  expect_gathers<float, std::int64_t, 0, shape>(place, extents, {least, most, least + 1, 1}, offsets);
  expect_gathers<float, std::int64_t, 0, shape>(place, extents,
                                                {std::int64_t{1} << 32, -(std::int64_t{1} << 32), (std::int64_t{1} << 32) + 1, 3}, offsets);
  expect_gathers<float, std::uint64_t, 0, shape>(place, extents, {UINT64_MAX, UINT64_MAX - 1, (std::uint64_t{1} << 63) + 2, 0}, offsets);
}

TYPED_TEST(tile_load_indexed_all, arrays_without_rows_or_columns_are_all_fill) {
  for (coordinates<2> const extents : {coordinates<2>{0, 0}, coordinates<2>{0, 4}, coordinates<2>{4, 0}, coordinates<2>{1, 1}}) {
    expect_gathers<float, std::int32_t, 0, tile_shape<8, 4>>(TypeParam{}, extents, {0, 1, -1, 2, 0, 0, 3, 4},
                                                             {{0, 0}, {-1, 0}, {0, 1}, {1, -1}});
  }
}

}  // namespace
