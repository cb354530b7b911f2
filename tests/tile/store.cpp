#include "support/backend.hpp"
#include "support/layouts.hpp"
#include "support/oracle.hpp"

namespace {

using namespace tessera;
using testing_support::array_layout;
using testing_support::comparable;
using testing_support::coordinates;

// Stores a tile of values that stand in a dense array; from shared memory where asked.
template <class Shape>
struct store_tile;
template <int... Extents>
struct store_tile<tile_shape<Extents...>> {
  template <class Block, class Destination, class T>
  TESSERA_TILE void operator()(Block& block, T const* values, std::int64_t const* offsets, bool in_shared,
                               Destination const& destination) const {
    using shape = tile_shape<Extents...>;
    auto const at = testing_support::offsets_at<shape::rank>(offsets, block.tile_id());
    index64 const extents[] = {Extents...};
    auto const dense = make_view(values, extents);
    if (in_shared) {
      auto const tile = tile_load<Extents...>(block, shared, dense, {});
      tile_store(block, destination, tile, at);
    } else {
      tile_store(block, destination, tile_load<Extents...>(block, dense, {}), at);
    }
  }
};

template <class T, class Shape, class Place>
void expect_stores(Place const& place, coordinates<Shape::rank> const& extents) {
  constexpr int rank = Shape::rank;
  auto const tile = testing_support::extents_of(Shape{});
  auto const values = testing_support::rounding_values<T>(Shape::size, 11);
  auto const source = place.array(values);
  int turn = 0;
  for (array_layout<rank> const& layout : testing_support::layouts<rank>(extents)) {
    auto const before = testing_support::rounding_values<T>(layout.size, 7);
    for (auto const& at : testing_support::edge_offsets<rank>(tile, extents)) {
      auto const offsets = place.array(std::vector<std::int64_t>(at.begin(), at.end()));
      auto const destination = place.array(before, layout.shift);
      place.template launch<16384>(tile_grid(1), store_tile<Shape>{}, static_cast<T const*>(source.data()),
                                   static_cast<std::int64_t const*>(offsets.data()), ++turn % 2 == 0, layout.of(destination.data()));
      std::vector<T> expected = before;
      std::size_t k = 0;
      testing_support::for_each_coordinate<rank>(tile, [&](coordinates<rank> const& c) {
        auto const i = testing_support::saturating_sum<rank>(at, c);
        if (layout.has(i)) expected[layout.place(i)] = values[k];
        ++k;
      });
      ASSERT_EQ(comparable(destination.values()), comparable(expected)) << layout.name << ", offset " << at[0] << " ...";
    }
  }
}

template <class Place>
class tile_store_test : public testing::Test {};
TYPED_TEST_SUITE(tile_store_test, testing_support::all_places);

TYPED_TEST(tile_store_test, edges_and_layouts) { expect_stores<float, tile_shape<6, 8>>(TypeParam{}, {13, 21}); }

template <class Place>
class tile_store_all : public testing::Test {};
TYPED_TEST_SUITE(tile_store_all, testing_support::main_places);

TYPED_TEST(tile_store_all, types_and_ranks) {
  expect_stores<std::int32_t, tile_shape<20>>(TypeParam{}, {45});
  expect_stores<double, tile_shape<6, 8>>(TypeParam{}, {13, 21});
  expect_stores<std::int64_t, tile_shape<3, 2, 8>>(TypeParam{}, {5, 4, 17});
  expect_stores<float, tile_shape<2, 3, 2, 4>>(TypeParam{}, {3, 5, 3, 9});
}

TYPED_TEST(tile_store_all, odd_inner_extents) {
  expect_stores<float, tile_shape<5, 1>>(TypeParam{}, {9, 3});
  expect_stores<float, tile_shape<2, 257>>(TypeParam{}, {3, 300});
}

TYPED_TEST(tile_store_all, nothing_is_stored_into_arrays_without_rows_or_columns) {
  TypeParam const place;
  auto const source = place.array(testing_support::rounding_values<float>(48, 1));
  auto const offsets = place.array(std::vector<std::int64_t>{0, 0});
  for (coordinates<2> const extents : {coordinates<2>{0, 0}, coordinates<2>{0, 8}, coordinates<2>{6, 0}}) {
    std::vector<float> const before(64, 3.0f);
    auto const destination = place.array(before);
    place.template launch<16384>(tile_grid(1), store_tile<tile_shape<6, 8>>{}, static_cast<float const*>(source.data()),
                                 static_cast<std::int64_t const*>(offsets.data()), false,
                                 make_view(destination.data(), {extents[0], extents[1]}));
    EXPECT_EQ(destination.values(), before);
  }
}

}  // namespace
