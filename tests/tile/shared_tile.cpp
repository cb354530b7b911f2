#include <tessera/tile/shared_tile.hpp>

#include <thread>

#include "support/backend.hpp"
#include "support/oracle.hpp"

namespace {

using namespace tessera;
using testing_support::bits;

// Holds a lane up for a time that looks random and differs by lane and round: what a missing barrier needs to show itself.
template <class Block>
TESSERA_TILE void delay(Block const& block, int round) {
  unsigned h = static_cast<unsigned>(block.rank()) * 2654435761u + static_cast<unsigned>(round) * 40503u +
               static_cast<unsigned>(block.tile_id()) * 97u;
  h ^= h >> 15;
  h *= 2246822519u;
  h ^= h >> 13;
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (if (h % 4 == 0) __nanosleep(h % 1000);), (if (h % 4 == 0) std::this_thread::yield();))
}

// Rounds of every primitive that touches the scratch, one behind the other on the same bytes, with lanes held up in between. The results of
// each round are sums of integers that only the right values give.
struct primitives_in_a_row {
  template <class Block>
  TESSERA_TILE void operator()(Block& block, view<std::uint32_t const, 2> values, view<std::uint32_t, 2> sums, view<std::uint32_t, 2> copy,
                               std::uint32_t* results, int rounds) const {
    auto const id = block.tile_id();
    for (int round = 0; round < rounds; ++round) {
      delay(block, 8 * round);
      std::uint32_t found = 0;
      {
        auto const tile = tile_load<16, 8>(block, shared, values, {round, 0});
        delay(block, 8 * round + 1);
        // Every lane reads an element that another lane wrote.
        found = tile[(block.rank() * 37 + round) % 128];
        auto const rows = tile_arange<16>(block, shared, 15, -1);
        delay(block, 8 * round + 2);
        auto const turned = tile_load_indexed<0, 16, 8>(block, shared, values, rows, {round, 0});
        delay(block, 8 * round + 3);
        found += 3 * turned[(block.rank() * 41 + round) % 128];
        auto const before = tile_atomic_add_indexed<0>(block, shared, sums, rows, tile, {id * 16, 0});
        delay(block, 8 * round + 4);
        found += 5 * before[(block.rank() * 43 + round) % 128];
      }
      // Now over the bytes that were theirs, with the indices promoted from registers.
      auto const gathered = tile_load_indexed<0, 16, 8>(block, values, tile_arange<16>(block, 0), {round, 0});
      delay(block, 8 * round + 5);
      found += 7 * tile_reduce(block, gathered);
      delay(block, 8 * round + 6);
      auto const full = tile_full<16, 8>(block, shared, static_cast<std::uint32_t>(round));
      found += 11 * full[(block.rank() * 47 + round) % 128];
      delay(block, 8 * round + 7);
      found += 13 * tile_reduce(block, full);
      tile_store(block, copy, gathered, {id * 16, 0});
      results[(id * rounds + round) * Block::size + block.rank()] = found;
    }
  }
};

template <class Place>
void expect_barriers(Place const& place, int tiles, int rounds) {
  auto const values = testing_support::rounding_values<std::uint32_t>(static_cast<std::size_t>(rounds + 16) * 8, 1);
  auto const value = [&](int row, int k) { return values[static_cast<std::size_t>(row * 8 + k)]; };
  auto const element = [&](int row, int linear) { return value(row + linear / 8, linear % 8); };
  std::vector<std::uint32_t> expected_results, expected_sums(static_cast<std::size_t>(tiles) * 128);
  for (int tile = 0; tile < tiles; ++tile) {
    std::vector<std::uint32_t> sums(128, 0);
    for (int round = 0; round < rounds; ++round) {
      std::uint32_t total = 0;
      for (int k = 0; k < 128; ++k) total += element(round, k);
      // Row k of the tile is added to row 15 - k: what was there before.
      auto const turned = [](int linear) { return (15 - linear / 8) * 8 + linear % 8; };
      for (int lane = 0; lane < Place::lanes; ++lane) {
        std::uint32_t found = element(round, (lane * 37 + round) % 128);
        found += 3 * element(round, turned((lane * 41 + round) % 128));
        found += 5 * sums[static_cast<std::size_t>(turned((lane * 43 + round) % 128))];
        found += 7 * total + 11 * static_cast<std::uint32_t>(round) + 13 * 128 * static_cast<std::uint32_t>(round);
        expected_results.push_back(found);
      }
      for (int k = 0; k < 128; ++k) sums[static_cast<std::size_t>(turned(k))] += element(round, k);
    }
    for (int k = 0; k < 128; ++k) expected_sums[static_cast<std::size_t>(tile * 128 + k)] = sums[static_cast<std::size_t>(k)];
  }
  auto const source = place.array(values);
  auto const sums = place.array(std::vector<std::uint32_t>(expected_sums.size(), 0));
  auto const copy = place.array(std::vector<std::uint32_t>(expected_sums.size(), 0));
  auto const results = place.array(std::vector<std::uint32_t>(expected_results.size(), 0));
  place.launch(tile_grid(tiles).capped(2), primitives_in_a_row{},
               make_view(static_cast<std::uint32_t const*>(source.data()), {rounds + 16, 8}), make_view(sums.data(), {tiles * 16, 8}),
               make_view(copy.data(), {tiles * 16, 8}), results.data(), rounds);
  EXPECT_EQ(sums.values(), expected_sums);
  EXPECT_EQ(results.values(), expected_results);
}

template <class Place>
class shared_tile_test : public testing::Test {};
#if defined(__CUDACC__)
using barrier_places = testing::Types<testing_support::cuda_place<32>, testing_support::cuda_place<64>, testing_support::cuda_place<100>,
                                      testing_support::cuda_place<128>, testing_support::cuda_place<1024>>;
#else
using barrier_places = testing_support::all_places;
#endif
TYPED_TEST_SUITE(shared_tile_test, barrier_places);

TYPED_TEST(shared_tile_test, every_primitive_may_follow_every_other) { expect_barriers(TypeParam{}, TypeParam::on_gpu ? 4 : 1, 64); }

// Lanes of one warp write under a mask, and all read at once.
struct write_few_read_all {
  template <class Block>
  TESSERA_TILE void operator()(Block& block, float const* values, float* results) const {
    for (int round = 0; round < 64; ++round) {
      delay(block, round);
      auto const tile = tile_load<5>(block, shared, make_view(values + round, {5}), {});
      float sum = 0;
      for (int i = 0; i < 5; ++i) sum = add(sum, tile[i]);
      results[round * Block::size + block.rank()] = sum;
    }
  }
};

TYPED_TEST(shared_tile_test, a_tile_of_few_elements_is_read_by_all_lanes) {
  TypeParam const place;
  auto const values = testing_support::rounding_values<float>(70, 2);
  std::vector<float> expected;
  for (std::size_t round = 0; round < 64; ++round) {
    float volatile sum = 0;
    for (std::size_t i = 0; i < 5; ++i) sum = sum + values[round + i];
    expected.insert(expected.end(), static_cast<std::size_t>(TypeParam::lanes), static_cast<float>(sum));
  }
  auto const source = place.array(values);
  auto const results = place.array(std::vector<float>(expected.size()));
  place.launch(tile_grid(1), write_few_read_all{}, static_cast<float const*>(source.data()), results.data());
  EXPECT_EQ(bits(results.values()), bits(expected));
}

// Elements by position and by coordinates.
struct read_by_coordinates {
  template <class Block>
  TESSERA_TILE void operator()(Block& block, int* results) const {
    auto const line = tile_arange<24>(block, shared, 0, 1);
    auto const cube = tile_load<2, 3, 4>(block, shared, make_view(line.data(), {2, 3, 4}), {});
    if (block.rank() != 0) return;
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 3; ++j) {
        for (int k = 0; k < 4; ++k) *results++ = cube(i, j, k);
      }
    }
    *results++ = cube[23];
    *results = line(5);
  }
};

TYPED_TEST(shared_tile_test, elements_by_position_and_by_coordinates) {
  TypeParam const place;
  auto const results = place.array(std::vector<int>(26, -1));
  place.launch(tile_grid(1), read_by_coordinates{}, results.data());
  std::vector<int> expected;
  for (int i = 0; i < 24; ++i) expected.push_back(i);
  expected.push_back(23);
  expected.push_back(5);
  EXPECT_EQ(results.values(), expected);
}

}  // namespace
