#include "support/backend.hpp"
#include "support/layouts.hpp"
#include "support/oracle.hpp"

namespace {

using namespace tessera;
using testing_support::array_layout;
using testing_support::comparable;
using testing_support::coordinates;

// Loads the tile at each of many offsets, in registers and in shared memory, with a fill value and without.
template <class Shape>
struct load_tiles;
template <int... Extents>
struct load_tiles<tile_shape<Extents...>> {
  template <class Block, class Source, class T>
  TESSERA_TILE void operator()(Block& block, Source const& source, std::int64_t const* offsets, T fill, T* loaded) const {
    using shape = tile_shape<Extents...>;
    auto const at = testing_support::offsets_at<shape::rank>(offsets, block.tile_id());
    T* const to = loaded + block.tile_id() * 2 * shape::size;
    testing_support::dump(block, tile_load<Extents...>(block, source, at, fill), to);
    auto const kept = tile_load<Extents...>(block, shared, source, at);
    testing_support::dump(block, kept, to + shape::size);
  }
};

template <class T, class Shape, class Place>
void expect_loads(Place const& place, coordinates<Shape::rank> const& extents) {
  constexpr int rank = Shape::rank;
  auto const tile = testing_support::extents_of(Shape{});
  auto const all_offsets = testing_support::edge_offsets<rank>(tile, extents);
  auto const offsets = place.array(testing_support::flattened<rank>(all_offsets));
  T const fill = static_cast<T>(999);
  for (array_layout<rank> const& layout : testing_support::layouts<rank>(extents)) {
    auto const memory = testing_support::rounding_values<T>(layout.size, 7);
    auto const source = place.array(memory, layout.shift);
    auto const loaded = place.array(std::vector<T>(all_offsets.size() * 2 * Shape::size, T{77}));
    place.template launch<16384>(tile_grid(all_offsets.size()), load_tiles<Shape>{}, layout.of(static_cast<T const*>(source.data())),
                                 static_cast<std::int64_t const*>(offsets.data()), fill, loaded.data());
    std::vector<T> expected;
    for (auto const& at : all_offsets) {
      for (T const outside : {fill, T{}}) {
        testing_support::for_each_coordinate<rank>(tile, [&](coordinates<rank> const& c) {
          auto const i = testing_support::saturating_sum<rank>(at, c);
          expected.push_back(layout.has(i) ? memory[layout.place(i)] : outside);
        });
      }
    }
    EXPECT_EQ(comparable(loaded.values()), comparable(expected)) << layout.name;
    source.values();
  }
}

template <class Place>
class tile_load_test : public testing::Test {};
TYPED_TEST_SUITE(tile_load_test, testing_support::all_places);

TYPED_TEST(tile_load_test, edges_and_layouts) {
  expect_loads<float, tile_shape<6, 8>>(TypeParam{}, {13, 21});
  expect_loads<std::int64_t, tile_shape<20>>(TypeParam{}, {45});
}

template <class Place>
class tile_load_all : public testing::Test {};
TYPED_TEST_SUITE(tile_load_all, testing_support::main_places);

TYPED_TEST(tile_load_all, types) {
  expect_loads<double, tile_shape<6, 8>>(TypeParam{}, {13, 21});
  expect_loads<std::int32_t, tile_shape<6, 8>>(TypeParam{}, {13, 21});
  expect_loads<std::int64_t, tile_shape<6, 8>>(TypeParam{}, {13, 21});
}

TYPED_TEST(tile_load_all, ranks) {
  expect_loads<float, tile_shape<20>>(TypeParam{}, {45});
  expect_loads<double, tile_shape<3, 2, 8>>(TypeParam{}, {5, 4, 17});
  expect_loads<float, tile_shape<2, 3, 2, 4>>(TypeParam{}, {3, 5, 3, 9});
}

// Extents of the last dimension that no chunk divides, and those around a block's size.
TYPED_TEST(tile_load_all, odd_inner_extents) {
  expect_loads<float, tile_shape<5, 1>>(TypeParam{}, {9, 3});
  expect_loads<float, tile_shape<2, 255>>(TypeParam{}, {3, 300});
  expect_loads<float, tile_shape<2, 256>>(TypeParam{}, {3, 512});
  expect_loads<float, tile_shape<2, 257>>(TypeParam{}, {3, 300});
  expect_loads<float, tile_shape<2, 500>>(TypeParam{}, {3, 501});
}

TYPED_TEST(tile_load_all, arrays_without_rows_or_columns_are_all_fill) {
  for (coordinates<2> const extents : {coordinates<2>{0, 0}, coordinates<2>{0, 5}, coordinates<2>{5, 0}, coordinates<2>{1, 1}}) {
    TypeParam const place;
    auto const source = place.array(std::vector<float>(25, 999.0f));
    auto const offsets = place.array(std::vector<std::int64_t>{0, 0, -1, -1, 1, 1});
    auto const loaded = place.array(std::vector<float>(3 * 2 * 48, 77.0f));
    place.template launch<16384>(tile_grid(3), load_tiles<tile_shape<6, 8>>{},
                                 make_view(static_cast<float const*>(source.data()), {extents[0], extents[1]}),
                                 static_cast<std::int64_t const*>(offsets.data()), 5.0f, loaded.data());
    std::vector<float> expected;
    for (int tile = 0; tile < 3; ++tile) {
      for (float const outside : {5.0f, 0.0f}) {
        std::vector<float> one(48, outside);
        if (extents == coordinates<2>{1, 1} && tile < 2) one[tile == 0 ? 0 : 9] = 999.0f;
        expected.insert(expected.end(), one.begin(), one.end());
      }
    }
    EXPECT_EQ(loaded.values(), expected);
  }
}

// A source may repeat an element along a dimension: a stride of 0, also over more elements than memory could hold.
TYPED_TEST(tile_load_all, broadcast_sources) {
  TypeParam const place;
  auto const source = place.array(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
  std::int64_t const most = INT64_MAX;
  auto const offsets = place.array(std::vector<std::int64_t>{0, 0, most - 2, 1, -3, -1, most, 0, 12345678901234, 0});
  auto const loaded = place.array(std::vector<float>(5 * 2 * 48, 77.0f));
  place.template launch<16384>(tile_grid(5), load_tiles<tile_shape<6, 8>>{},
                               make_view(static_cast<float const*>(source.data()), {most, 8}, {0, sizeof(float)}),
                               static_cast<std::int64_t const*>(offsets.data()), -1.0f, loaded.data());
  std::vector<float> expected;
  for (int tile = 0; tile < 5; ++tile) {
    for (float const outside : {-1.0f, 0.0f}) {
      for (int r = 0; r < 6; ++r) {
        for (int c = 0; c < 8; ++c) {
          bool const row_inside = tile == 0 || tile == 4 || (tile == 1 && r < 2) || (tile == 2 && r >= 3);
          int const column = c + (tile == 1 ? 1 : tile == 2 ? -1 : 0);
          expected.push_back(row_inside && column >= 0 && column < 8 ? static_cast<float>(column + 1) : outside);
        }
      }
    }
  }
  EXPECT_EQ(loaded.values(), expected);
}

// A copy keeps bits that arithmetic would change.
TYPED_TEST(tile_load_all, keeps_nan_payloads_signed_zeros_and_subnormals) {
  TypeParam const place;
  std::vector<float> values;
  for (std::uint32_t b : {0x7FC00001u, 0xFFC12345u, 0x7F800001u, 0x80000000u, 0x00000001u, 0x807FFFFFu, 0x7F800000u, 0xFF800000u}) {
    values.push_back(testing_support::float_of(b));
  }
  std::vector<float> image;
  for (int r = 0; r < 6; ++r) image.insert(image.end(), values.begin(), values.end());
  auto const source = place.array(image);
  auto const offsets = place.array(std::vector<std::int64_t>{0, 0});
  auto const loaded = place.array(std::vector<float>(2 * 48));
  place.template launch<16384>(tile_grid(1), load_tiles<tile_shape<6, 8>>{}, make_view(static_cast<float const*>(source.data()), {6, 8}),
                               static_cast<std::int64_t const*>(offsets.data()), 0.0f, loaded.data());
  image.insert(image.end(), image.begin(), image.end());
  EXPECT_EQ(testing_support::bits(loaded.values()), testing_support::bits(image));
}

}  // namespace
