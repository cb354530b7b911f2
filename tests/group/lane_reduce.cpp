#include <tessera/group/lane_reduce.hpp>

#include "support/backend.hpp"
#include "support/oracle.hpp"

namespace {

using namespace tessera;
using testing_support::bits;

// Tile k sums the values of lanes 0 .. k; every lane says what it got. Twice in a row, over the same scratch.
struct reduce_each_count {
  template <class Block, class T>
  TESSERA_TILE void operator()(Block& block, T const* values, T* sums) const {
    int const count = static_cast<int>(block.tile_id()) + 1;
    T const value = values[block.rank()];
    T const first = reduce_lanes(block, value, count, plus{});
    T const second = reduce_lanes(block, first, 1, plus{});
    sums[block.tile_id() * Block::size + block.rank()] = bits_equal(first, second) ? first : T{77};
  }
  TESSERA_TILE static bool bits_equal(float a, float b) { return detail::bits_of(a) == detail::bits_of(b); }
  TESSERA_TILE static bool bits_equal(double a, double b) { return detail::bits_of(a) == detail::bits_of(b); }
};

template <class T, class Place>
void expect_sums(Place const& place) {
  constexpr auto lanes = static_cast<std::size_t>(Place::lanes);
  auto const values = testing_support::rounding_values<T>(lanes, 3);
  std::vector<T> expected;
  for (std::size_t count = 1; count <= lanes; ++count) {
    expected.insert(expected.end(), lanes,
                    testing_support::dyadic_sum(std::vector<T>(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count))));
  }
  auto const source = place.array(values);
  auto const sums = place.array(std::vector<T>(expected.size()));
  place.template launch<16384>(tile_grid(lanes), reduce_each_count{}, static_cast<T const*>(source.data()), sums.data());
  EXPECT_EQ(bits(sums.values()), bits(expected));
}

template <class Place>
class lane_reduce : public testing::Test {};
#if defined(__CUDACC__)
using reducing_places = testing::Types<testing_support::cuda_place<1>, testing_support::cuda_place<2>, testing_support::cuda_place<16>,
                                       testing_support::cuda_place<31>, testing_support::cuda_place<32>, testing_support::cuda_place<33>,
                                       testing_support::cuda_place<64>, testing_support::cuda_place<100>, testing_support::cuda_place<256>,
                                       testing_support::cuda_place<1000>, testing_support::cuda_place<1024>>;
#else
using reducing_places = testing::Types<testing_support::host_place<1>, testing_support::host_place<2>, testing_support::host_place<3>,
                                       testing_support::host_place<4>, testing_support::host_place<7>, testing_support::host_place<8>>;
#endif
TYPED_TEST_SUITE(lane_reduce, reducing_places);

TYPED_TEST(lane_reduce, every_count_of_lanes) {
  expect_sums<float>(TypeParam{});
  if constexpr (!testing_support::float_alone) expect_sums<double>(TypeParam{});
}

}  // namespace
