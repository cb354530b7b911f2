#include <tessera/tile/fill.hpp>

#include "support/backend.hpp"
#include "support/layouts.hpp"
#include "support/oracle.hpp"

namespace {

using namespace tessera;
using testing_support::comparable;

template <int... Extents>
struct fill_tiles {
  template <class Block, class T>
  TESSERA_TILE void operator()(Block& block, T value, T* to) const {
    constexpr int size = tile_shape<Extents...>::size;
    testing_support::dump(block, tile_full<Extents...>(block, value), to);
    auto const kept = tile_full<Extents...>(block, shared, value);
    testing_support::dump(block, kept, to + size);
  }
};

template <int Extent>
struct count_up {
  template <class Block, class T>
  TESSERA_TILE void operator()(Block& block, T first, T step, T* to) const {
    testing_support::dump(block, tile_arange<Extent>(block, first, step), to);
    auto const kept = tile_arange<Extent>(block, shared, first, step);
    testing_support::dump(block, kept, to + Extent);
    testing_support::dump(block, tile_arange<Extent>(block, first), to + 2 * Extent);
  }
};

template <class Place>
class tile_fill : public testing::Test {};
TYPED_TEST_SUITE(tile_fill, testing_support::all_places);

template <class T, int... Extents, class Place>
void expect_full(Place const& place, T value) {
  constexpr auto size = static_cast<std::size_t>(tile_shape<Extents...>::size);
  auto const filled = place.array(std::vector<T>(2 * size, T{77}));
  place.template launch<16384>(tile_grid(1), fill_tiles<Extents...>{}, value, filled.data());
  EXPECT_EQ(comparable(filled.values()), comparable(std::vector<T>(2 * size, value)));
}

TYPED_TEST(tile_fill, full) {
  expect_full<float, 6, 8>(TypeParam{}, testing_support::float_of(0x7FC12345u));
  expect_full<double, 3, 257>(TypeParam{}, -0.0);
  expect_full<std::int32_t, 5>(TypeParam{}, INT32_MIN);
  expect_full<std::int64_t, 2, 3, 2, 4>(TypeParam{}, INT64_MAX);
}

template <class T, int Extent, class Place>
void expect_arange(Place const& place, T first, T step) {
  auto const counted = place.array(std::vector<T>(3 * Extent, T{77}));
  place.template launch<16384>(tile_grid(1), count_up<Extent>{}, first, step, counted.data());
  std::vector<T> expected;
  for (T const s : {step, step, T{1}}) {
    for (int i = 0; i < Extent; ++i) {
      if constexpr (std::is_integral_v<T>) {
        using u = std::make_unsigned_t<T>;
        expected.push_back(static_cast<T>(static_cast<u>(first) + static_cast<u>(i) * static_cast<u>(s)));
      } else {
        T volatile const product = static_cast<T>(i) * s;
        T volatile const sum = first + product;
        expected.push_back(static_cast<T>(sum));
      }
    }
  }
  EXPECT_EQ(comparable(counted.values()), comparable(expected));
}

TYPED_TEST(tile_fill, arange) {
  expect_arange<std::int32_t, 32>(TypeParam{}, 7, 2);
  expect_arange<std::int32_t, 33>(TypeParam{}, INT32_MAX - 3, INT32_MAX / 2);
  expect_arange<std::int64_t, 32>(TypeParam{}, INT64_MIN, -1);
  expect_arange<float, 257>(TypeParam{}, 0.1f, 0.3f);  // a fused multiply-add would differ
  expect_arange<double, 32>(TypeParam{}, 0.1, 0.3);
}

}  // namespace
