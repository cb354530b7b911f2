#include <tessera/tile/reduce.hpp>

#include "support/backend.hpp"
#include "support/layouts.hpp"
#include "support/oracle.hpp"

namespace {

using namespace tessera;
using testing_support::comparable;

// An operator that is neither commutative nor associative, so that a swapped pair shows: a - 3 b in 32 bits.
struct lopsided {
  TESSERA_TILE std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return a - 3 * b; }
};

// What each lane got: the sum of a register tile and of a shared one.
template <class Shape, class Operation>
struct reduce_both;
template <class Operation, int... Extents>
struct reduce_both<tile_shape<Extents...>, Operation> {
  template <class Block, class T>
  TESSERA_TILE void operator()(Block& block, T const* values, T* sums) const {
    index64 const extents[] = {Extents...};
    auto const array = make_view(values + block.tile_id() * tile_shape<Extents...>::size, extents);
    T* const to = sums + block.tile_id() * 2 * Block::size;
    to[block.rank()] = tile_reduce(block, tile_load<Extents...>(block, array, {}), Operation{});
    auto const kept = tile_load<Extents...>(block, shared, array, {});
    to[Block::size + block.rank()] = tile_reduce(block, kept, Operation{});
  }
};

template <class T, class Shape, class Place>
void expect_reduces(Place const& place, std::vector<std::vector<T>> const& inputs) {
  constexpr auto size = static_cast<std::size_t>(Shape::size);
  std::vector<T> values, expected;
  for (auto const& input : inputs) {
    ASSERT_EQ(input.size(), size);
    values.insert(values.end(), input.begin(), input.end());
    expected.insert(expected.end(), 2 * static_cast<std::size_t>(Place::lanes), testing_support::dyadic_sum(input));
  }
  auto const source = place.array(values);
  auto const sums = place.array(std::vector<T>(expected.size(), T{77}));
  place.template launch<16384>(tile_grid(inputs.size()), reduce_both<Shape, plus>{}, static_cast<T const*>(source.data()), sums.data());
  EXPECT_EQ(comparable(sums.values()), comparable(expected)) << "tile of " << size << " elements, " << Place::lanes << " lanes";
}
template <class T, class Shape, class Place>
void expect_reduces(Place const& place) {
  constexpr auto size = static_cast<std::size_t>(Shape::size);
  expect_reduces<T, Shape>(place, {testing_support::rounding_values<T>(size, 3), testing_support::rounding_values<T>(size, 4)});
}

template <class Place>
class tile_reduce_test : public testing::Test {};
#if defined(__CUDACC__)
using reducing_places =
    testing::Types<testing_support::cuda_place<1>, testing_support::cuda_place<31>, testing_support::cuda_place<33>,
                   testing_support::cuda_place<100>, testing_support::cuda_place<255>, testing_support::cuda_place<1024>>;
#else
using reducing_places = testing::Types<testing_support::host_place<1>, testing_support::host_place<2>, testing_support::host_place<3>,
                                       testing_support::host_place<4>, testing_support::host_place<6>, testing_support::host_place<8>>;
#endif
TYPED_TEST_SUITE(tile_reduce_test, reducing_places);

TYPED_TEST(tile_reduce_test, every_block_size_gives_the_bits_of_d) {
  expect_reduces<float, tile_shape<13, 17>>(TypeParam{});
  if constexpr (!testing_support::float_alone) expect_reduces<double, tile_shape<7, 2, 10>>(TypeParam{});
  // Many chunks a lane; the loops over them are unrolled, so that few lanes would compile for long.
  if constexpr (TypeParam::lanes >= 100 || !TypeParam::on_gpu) expect_reduces<float, tile_shape<32, 64>>(TypeParam{});
}

template <class Place>
class tile_reduce_shapes : public testing::Test {};
TYPED_TEST_SUITE(tile_reduce_shapes, testing_support::all_places);

TYPED_TEST(tile_reduce_shapes, sizes_around_chunks_and_blocks) {
  expect_reduces<float, tile_shape<3>>(TypeParam{});
  expect_reduces<float, tile_shape<31>>(TypeParam{});
  expect_reduces<float, tile_shape<33>>(TypeParam{});
  expect_reduces<float, tile_shape<129>>(TypeParam{});
  expect_reduces<float, tile_shape<4 * 129>>(TypeParam{});
  if constexpr (!testing_support::float_alone) {
    expect_reduces<double, tile_shape<3, 2, 3, 5>>(TypeParam{});
    expect_reduces<std::int64_t, tile_shape<9, 40>>(TypeParam{});
  }
}

template <class Place>
class tile_reduce_values : public testing::Test {};
TYPED_TEST_SUITE(tile_reduce_values, testing_support::main_places);

TYPED_TEST(tile_reduce_values, what_ieee_and_d_say) {
  using testing_support::float_of;
  float const max = std::numeric_limits<float>::max(), inf = std::numeric_limits<float>::infinity(), denorm = float_of(1), x = 0.1f;
  float const nan = float_of(0x7FC12345u), negative_nan = float_of(0xFF800001u);
  using one = std::vector<std::vector<float>>;
  expect_reduces<float, tile_shape<1>>(TypeParam{}, one{{0.0f}, {-0.0f}, {denorm}, {-denorm}, {inf}, {-inf}, {nan}, {negative_nan}, {max}});
  expect_reduces<float, tile_shape<2>>(TypeParam{}, one{{0.0f, -0.0f},
                                                        {-0.0f, -0.0f},
                                                        {x, -x},
                                                        {inf, -inf},
                                                        {inf, inf},
                                                        {nan, 1},
                                                        {1, negative_nan},
                                                        {denorm, denorm},
                                                        {float_of(0x00800001u), -float_of(0x00800000u)}});
  expect_reduces<float, tile_shape<3>>(
      TypeParam{}, one{{max, max, -max}, {max, -max, max}, {-0.0f, -0.0f, -0.0f}, {inf, 1, -inf}, {denorm, -0.0f, denorm}});
  // Not the oracle's word alone.
  EXPECT_EQ(testing_support::bits(testing_support::dyadic_sum<float>({nan})), 0x7FFFFFFFu);
  EXPECT_EQ(testing_support::bits(testing_support::dyadic_sum<float>({inf, -inf})), 0x7FFFFFFFu);
  EXPECT_EQ(testing_support::bits(testing_support::dyadic_sum<float>({max, max, -max})), 0x7F800000u);
  EXPECT_EQ(testing_support::bits(testing_support::dyadic_sum<float>({-0.0f, -0.0f})), 0x80000000u);
  EXPECT_EQ(testing_support::bits(testing_support::dyadic_sum<float>({0.0f, -0.0f})), 0u);
  EXPECT_EQ(testing_support::bits(testing_support::dyadic_sum<float>({x, -x})), 0u);
}

// NaNs of different payloads and both zeros, in many orders: one NaN.
TYPED_TEST(tile_reduce_values, nan_payloads_and_zeros_in_any_order) {
  testing_support::integers random(1);
  std::vector<std::vector<float>> shuffles;
  std::vector<float> values = testing_support::rounding_values<float>(1024, 9);
  for (std::size_t i = 0; i < values.size(); i += 3)
    values[i] = testing_support::float_of(0x7F800001u + static_cast<std::uint32_t>(i) * 4099u);
  for (std::size_t i = 1; i < values.size(); i += 9) values[i] = i % 2 == 0 ? 0.0f : -0.0f;
  for (int k = 0; k < 100; ++k) {
    for (std::size_t i = values.size() - 1; i > 0; --i)
      std::swap(values[i], values[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i) + 1))]);
    shuffles.push_back(values);
  }
  expect_reduces<float, tile_shape<32, 32>>(TypeParam{}, shuffles);
  EXPECT_EQ(testing_support::bits(testing_support::dyadic_sum(values)), 0x7FFFFFFFu);
}

// Another operator is applied in the same tree, left operand first.
template <class Place>
class tile_reduce_operator : public testing::Test {};
TYPED_TEST_SUITE(tile_reduce_operator, testing_support::all_places);

std::uint32_t tree_of(std::vector<std::uint32_t> const& values, std::size_t begin, std::size_t count) {
  if (count == 1) return values[begin];
  std::size_t left = 1;
  while (2 * left < count) left *= 2;
  return lopsided{}(tree_of(values, begin, left), tree_of(values, begin + left, count - left));
}

TYPED_TEST(tile_reduce_operator, keeps_the_tree_and_the_sides) {
  if constexpr (!testing_support::float_alone) {
    TypeParam const place;
    constexpr std::size_t size = 7 * 9 * 10;
    auto const values = testing_support::rounding_values<std::uint32_t>(size, 5);
    auto const source = place.array(values);
    auto const sums = place.array(std::vector<std::uint32_t>(2 * TypeParam::lanes));
    place.template launch<16384>(tile_grid(1), reduce_both<tile_shape<7, 9, 10>, lopsided>{},
                                 static_cast<std::uint32_t const*>(source.data()), sums.data());
    EXPECT_EQ(sums.values(), std::vector<std::uint32_t>(2 * TypeParam::lanes, tree_of(values, 0, size)));
  }
}

}  // namespace
