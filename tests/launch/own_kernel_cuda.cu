// The primitives in a kernel of the user's own, launched with <<<>>>: static and dynamic shared memory, blocks of one and of more
// dimensions.
#include "support/backend.hpp"
#include "support/oracle.hpp"

namespace {

using namespace tessera;
using testing_support::bits;

constexpr int rows = 32, columns = 16;

// Rows summed by key, a copy of the tile, the tile's sum.
template <class Block>
__device__ void reduce_by_key(Block& block, view<float const, 2> values, view<int const, 1> keys, view<double, 2> counts,
                              view<float, 2> copy, float* sums) {
  auto const first = block.tile_index(0) * rows;
  auto const t = tile_load<rows, columns>(block, values, {first, 0});
  auto const i = tile_load<rows>(block, shared, keys, {first}, skip_index<int>);
  tile_atomic_add_indexed<0>(block, counts, i, tile_full<rows, columns>(block, 1.0));
  tile_store(block, copy, t, {first, 0});
  float const sum = tile_reduce(block, t);
  if (block.rank() == 0) sums[block.tile_id()] = sum;
}

__global__ void with_static_memory(view<float const, 2> values, view<int const, 1> keys, view<double, 2> counts, view<float, 2> copy,
                                   float* sums) {
  __shared__ alignas(16) cuda::std::byte scratch[4096];
  cuda_block<128> block(scratch, tile_grid(gridDim.x), blockIdx.x);
  reduce_by_key(block, values, keys, counts, copy, sums);
}

__global__ void with_dynamic_memory(std::int64_t tiles, view<float const, 2> values, view<int const, 1> keys, view<double, 2> counts,
                                    view<float, 2> copy, float* sums) {
  extern __shared__ __align__(16) unsigned char memory[];
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    cuda_block<96, 8192> block(reinterpret_cast<cuda::std::byte*>(memory), tile_grid(tiles), tile);
    reduce_by_key(block, values, keys, counts, copy, sums);
  }
}

template <class Launch>
void expect_reduces_by_key(Launch const& launch) {
  testing_support::cuda_place<128> const place;
  std::int64_t const n = 1003, keys = 7;
  std::int64_t const tiles = ceil_div(n, rows);
  auto const values = testing_support::rounding_values<float>(static_cast<std::size_t>(n * columns), 1);
  std::vector<int> key_of(static_cast<std::size_t>(n));
  std::vector<double> expected_counts(static_cast<std::size_t>(keys * columns), 0.0);
  testing_support::integers random(2);
  for (int& key : key_of) {
    key = static_cast<int>(random.below(keys + 2)) - 1;
    for (std::size_t c = 0; c < columns; ++c) {
      if (key >= 0 && key < keys) expected_counts[static_cast<std::size_t>(key) * columns + c] += 1;
    }
  }
  std::vector<float> expected_sums;
  for (std::int64_t t = 0; t < tiles; ++t) {
    std::vector<float> tile(rows * columns, 0.0f);
    for (std::size_t k = 0; k < tile.size(); ++k) {
      auto const at = static_cast<std::size_t>(t) * tile.size() + k;
      if (at < values.size()) tile[k] = values[at];
    }
    expected_sums.push_back(testing_support::dyadic_sum(tile));
  }
  auto const source = place.array(values);
  auto const key_array = place.array(key_of);
  auto const counts = place.array(std::vector<double>(expected_counts.size(), 0.0));
  auto const copy = place.array(std::vector<float>(values.size(), 0.0f));
  auto const sums = place.array(std::vector<float>(expected_sums.size(), 0.0f));
  launch(place.backend.stream, tiles, make_view(static_cast<float const*>(source.data()), {n, columns}),
         make_view(static_cast<int const*>(key_array.data()), {n}), make_view(counts.data(), {keys, columns}),
         make_view(copy.data(), {n, columns}), sums.data());
  ASSERT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(bits(counts.values()), bits(expected_counts));
  EXPECT_EQ(bits(copy.values()), bits(values));
  EXPECT_EQ(bits(sums.values()), bits(expected_sums));
}

TEST(own_kernel, static_shared_memory) {
  expect_reduces_by_key([](cudaStream_t stream, std::int64_t tiles, auto... arguments) {
    with_static_memory<<<static_cast<unsigned>(tiles), 128, 0, stream>>>(arguments...);
  });
}

TEST(own_kernel, dynamic_shared_memory_a_walk_and_a_block_of_three_dimensions) {
  expect_reduces_by_key([](cudaStream_t stream, std::int64_t tiles, auto... arguments) {
    with_dynamic_memory<<<5, dim3(8, 6, 2), 8192, stream>>>(tiles, arguments...);
  });
}

}  // namespace
