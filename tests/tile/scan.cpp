#include <tessera/tile/scan.hpp>

#include "support/backend.hpp"
#include "support/oracle.hpp"

namespace {

using namespace tessera;
using namespace testing_support;

// All four scans of a tile, each stored to its own plane of `out`.
template <class T, int... Extents>
struct all_scans {
  template <class Block>
  TESSERA_TILE void operator()(Block& block, view<T const, 1> in, view<T, 2> out, T initial) const {
    constexpr int size = (Extents * ...);
    auto const tile = tile_load<size>(block, in, {0});
    store(block, out, 0, tile_inclusive_scan(block, tile));
    store(block, out, 1, tile_exclusive_scan(block, tile, initial));
    store(block, out, 2, tile_inclusive_scan<backward>(block, tile));
    store(block, out, 3, tile_exclusive_scan<backward>(block, tile));
    auto const in_scratch = tile_load<size>(block, shared, in, {0});
    store(block, out, 4, tile_inclusive_scan(block, in_scratch));
  }
  template <class Block, class Tile>
  TESSERA_TILE void store(Block& block, view<T, 2> out, int plane, Tile const& tile) const {
    tile_store(block, row(out, plane), tile);
  }
};

// D of every prefix, by the oracle.
template <class T>
std::vector<T> prefixes(std::vector<T> const& values) {
  dyadic_counter<T> counter;
  std::vector<T> result;
  for (T value : values) {
    counter.push(value);
    result.push_back(canonical_nan(counter.collapse()));
  }
  return result;
}

template <class T>
std::vector<T> exclusive(std::vector<T> const& inclusive, T initial) {
  std::vector<T> result;
  for (std::size_t i = 0; i < inclusive.size(); ++i) {
    result.push_back(i == 0 ? initial : canonical_nan(dyadic_counter<T>::sum(initial, inclusive[i - 1])));
  }
  return result;
}

template <class T>
std::vector<T> reversed(std::vector<T> values) {
  return {values.rbegin(), values.rend()};
}

template <class Place, class T, int Size>
void expect_all_scans(std::vector<T> values, T initial) {
  Place place;
  auto in = place.array(values);
  auto out = place.array(std::vector<T>(5 * values.size()));
  place.template launch<16384>(tile_grid(1), all_scans<T, Size>{}, make_view(static_cast<T const*>(in.data()), {Size}),
                               make_view(out.data(), {5, Size}), initial);
  auto const forward_sums = prefixes(values), backward_sums = prefixes(reversed(values));
  std::vector<T> const expected[5] = {forward_sums, exclusive(forward_sums, initial), reversed(backward_sums),
                                      reversed(exclusive(backward_sums, T{})), forward_sums};
  auto const got = out.values();
  for (std::size_t plane = 0; plane < 5; ++plane) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(0, std::memcmp(&got[plane * values.size() + i], &expected[plane][i], sizeof(T)))
          << "plane " << plane << ", element " << i << " of " << Size << ": " << got[plane * values.size() + i] << " for "
          << expected[plane][i];
    }
  }
}

template <class Place>
class tile_scan : public testing::Test {};
TYPED_TEST_SUITE(tile_scan, all_places);

TYPED_TEST(tile_scan, every_prefix_is_its_own_dyadic_sum) {
  expect_all_scans<TypeParam, float, 1>(rounding_values<float>(1, 1), 0.5f);
  expect_all_scans<TypeParam, float, 131>(rounding_values<float>(131, 3), -2.0f);
  // Its elements of a lane are unrolled: many for each of few lanes would compile for long.
  constexpr int most = TypeParam::on_gpu && TypeParam::lanes < 96 ? 700 : 2048;
  expect_all_scans<TypeParam, float, most>(rounding_values<float>(most, 5), 3.0f);
  expect_all_scans<TypeParam, double, 514>(rounding_values<double>(514, 6), 7.0);
  // Each size is compiled for each block; the host affords more of them.
  if constexpr (!TypeParam::on_gpu) {
    expect_all_scans<TypeParam, float, 7>(rounding_values<float>(7, 2), 1e-3f);
    expect_all_scans<TypeParam, float, 1024>(rounding_values<float>(1024, 4), 1e6f);
    expect_all_scans<TypeParam, std::int32_t, 260>(rounding_values<std::int32_t>(260, 7), 11);
  }
}

TYPED_TEST(tile_scan, special_values) {
  auto values = rounding_values<float>(131, 8);
  values[0] = -0.0f;
  values[1] = -0.0f;
  values[2] = 1e-41f;
  values[64] = std::numeric_limits<float>::infinity();
  values[90] = float_of(0xFFC01234u);
  expect_all_scans<TypeParam, float, 131>(values, -0.0f);
  values[0] = float_of(0x7F801234u);
  expect_all_scans<TypeParam, float, 131>(values, 0.0f);
}

}  // namespace
