#include "support/backend.hpp"
#include "support/layouts.hpp"
#include "support/oracle.hpp"

namespace {

using namespace tessera;
using testing_support::array_layout;
using testing_support::comparable;
using testing_support::coordinates;

// Adds a tile and gives the previous values: 0: both in registers, 1: both in shared memory, 2: previous values dropped.
template <class Shape>
struct add_tile;
template <int... Extents>
struct add_tile<tile_shape<Extents...>> {
  template <class Block, class Destination, class T>
  TESSERA_TILE void operator()(Block& block, T const* values, std::int64_t const* offsets, int form, Destination const& destination,
                               T* previous) const {
    using shape = tile_shape<Extents...>;
    auto const at = testing_support::offsets_at<shape::rank>(offsets, block.tile_id());
    index64 const extents[] = {Extents...};
    auto const dense = make_view(values, extents);
    if (form == 1) {
      auto const tile = tile_load<Extents...>(block, shared, dense, {});
      auto const before = tile_atomic_add(block, shared, destination, tile, at);
      testing_support::dump(block, before, previous);
    } else {
      auto const tile = tile_load<Extents...>(block, dense, {});
      if (form == 0) {
        testing_support::dump(block, tile_atomic_add(block, destination, tile, at), previous);
      } else {
        tile_atomic_add(block, destination, tile, at);
      }
    }
  }
};

template <class T, class Shape, class Place>
void expect_adds(Place const& place, coordinates<Shape::rank> const& extents) {
  constexpr int rank = Shape::rank;
  auto const tile = testing_support::extents_of(Shape{});
  auto const values = testing_support::rounding_values<T>(Shape::size, 11);
  auto const source = place.array(values);
  int form = 0;
  for (array_layout<rank> const& layout : testing_support::layouts<rank>(extents)) {
    auto const before = testing_support::rounding_values<T>(layout.size, 7);
    for (auto const& at : testing_support::edge_offsets<rank>(tile, extents)) {
      form = (form + 1) % 3;
      auto const offsets = place.array(std::vector<std::int64_t>(at.begin(), at.end()));
      auto const destination = place.array(before, layout.shift);
      auto const previous = place.array(std::vector<T>(Shape::size, T{77}));
      place.template launch<16384>(tile_grid(1), add_tile<Shape>{}, static_cast<T const*>(source.data()),
                                   static_cast<std::int64_t const*>(offsets.data()), form, layout.of(destination.data()), previous.data());
      std::vector<T> expected = before, expected_previous;
      testing_support::for_each_coordinate<rank>(tile, [&](coordinates<rank> const& c) {
        auto const i = testing_support::saturating_sum<rank>(at, c);
        T const value = values[expected_previous.size()];
        if (!layout.has(i)) {
          expected_previous.push_back(T{});
          return;
        }
        expected_previous.push_back(before[layout.place(i)]);
        expected[layout.place(i)] = testing_support::dyadic_counter<T>::sum(before[layout.place(i)], value);
      });
      if (form == 2) expected_previous.assign(Shape::size, T{77});
      ASSERT_EQ(comparable(destination.values()), comparable(expected)) << layout.name << ", offset " << at[0] << " ...";
      ASSERT_EQ(comparable(previous.values()), comparable(expected_previous)) << layout.name << ", offset " << at[0] << " ...";
    }
  }
}

template <class Place>
class tile_atomic_add_test : public testing::Test {};
TYPED_TEST_SUITE(tile_atomic_add_test, testing_support::all_places);

TYPED_TEST(tile_atomic_add_test, edges_and_layouts) { expect_adds<float, tile_shape<6, 8>>(TypeParam{}, {13, 21}); }

template <class Place>
class tile_atomic_add_all : public testing::Test {};
TYPED_TEST_SUITE(tile_atomic_add_all, testing_support::main_places);

TYPED_TEST(tile_atomic_add_all, types_and_ranks) {
  expect_adds<std::int32_t, tile_shape<20>>(TypeParam{}, {45});
  expect_adds<double, tile_shape<6, 8>>(TypeParam{}, {13, 21});
  expect_adds<std::int64_t, tile_shape<3, 2, 8>>(TypeParam{}, {5, 4, 17});
  expect_adds<std::uint32_t, tile_shape<6, 8>>(TypeParam{}, {13, 21});
  expect_adds<std::uint64_t, tile_shape<2, 3, 2, 4>>(TypeParam{}, {3, 5, 3, 9});
}

TYPED_TEST(tile_atomic_add_all, odd_inner_extents) {
  expect_adds<float, tile_shape<5, 1>>(TypeParam{}, {9, 3});
  expect_adds<float, tile_shape<2, 257>>(TypeParam{}, {3, 300});
}

// Every tile adds to the same elements: nothing is lost, and the previous values are one history of the sums.
TYPED_TEST(tile_atomic_add_all, many_blocks_on_one_element) {
  TypeParam const place;
  auto const ones = place.array(std::vector<std::int64_t>(48, 1));
  auto const offsets = place.array(std::vector<std::int64_t>(2 * 1000, 0));
  auto const destination = place.array(std::vector<std::int64_t>(48, 5'000'000'000));
  auto const previous = place.array(std::vector<std::int64_t>(48));
  place.template launch<16384>(tile_grid(1000), add_tile<tile_shape<6, 8>>{}, static_cast<std::int64_t const*>(ones.data()),
                               static_cast<std::int64_t const*>(offsets.data()), 2, make_view(destination.data(), {6, 8}), previous.data());
  EXPECT_EQ(destination.values(), std::vector<std::int64_t>(48, 5'000'001'000));
}

}  // namespace
