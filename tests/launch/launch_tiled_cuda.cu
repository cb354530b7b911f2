// What only CUDA launches have: block sizes up to 1,024, shared memory that a device may lack, streams and pending errors.
#include <string>

#include "support/backend.hpp"
#include "support/oracle.hpp"

namespace {

using namespace tessera;
using testing_support::bits;

// Loads a ragged tile by either path, keeps it, and sums it.
struct load_and_reduce {
  template <class Block>
  TESSERA_TILE void operator()(Block& block, view<float const, 2> values, view<float, 2> copy, float* sums) const {
    auto const first = block.tile_index(0) * 8;
    auto const tile = tile_load<8, 20>(block, values, {first, 0});
    tile_store(block, copy, tile, {first, 0});
    float const sum = tile_reduce(block, tile);
    if (block.rank() == 0) sums[block.tile_id()] = sum;
  }
};

template <class Place>
class launch_tiled_cuda : public testing::Test {};
using block_sizes = testing::Types<testing_support::cuda_place<1>, testing_support::cuda_place<2>, testing_support::cuda_place<31>,
                                   testing_support::cuda_place<32>, testing_support::cuda_place<33>, testing_support::cuda_place<96>,
                                   testing_support::cuda_place<100>, testing_support::cuda_place<128>, testing_support::cuda_place<255>,
                                   testing_support::cuda_place<1000>, testing_support::cuda_place<1024>>;
TYPED_TEST_SUITE(launch_tiled_cuda, block_sizes);

TYPED_TEST(launch_tiled_cuda, every_block_size_gives_the_same) {
  TypeParam const place;
  std::int64_t const rows = 163;
  auto const values = testing_support::rounding_values<float>(static_cast<std::size_t>(rows) * 20, 1);
  std::vector<float> sums;
  for (std::size_t begin = 0; begin < values.size(); begin += 8 * 20) {
    std::vector<float> tile(8 * 20, 0.0f);
    std::copy(values.begin() + static_cast<std::ptrdiff_t>(begin),
              values.begin() + static_cast<std::ptrdiff_t>(std::min(begin + 8 * 20, values.size())), tile.begin());
    sums.push_back(testing_support::dyadic_sum(tile));
  }
  for (std::int64_t cap : {0, 1, 5}) {
    for (std::size_t shift : {std::size_t{0}, std::size_t{1}}) {
      auto const source = place.array(values, shift);
      auto const copy = place.array(std::vector<float>(values.size()), shift);
      auto const results = place.array(std::vector<float>(sums.size()));
      place.launch(tile_grid(ceil_div(rows, 8)).capped(cap), load_and_reduce{},
                   make_view(static_cast<float const*>(source.data()), {rows, 20}), make_view(copy.data(), {rows, 20}), results.data());
      EXPECT_EQ(bits(copy.values()), bits(values));
      EXPECT_EQ(bits(results.values()), bits(sums));
    }
  }
}

struct nothing {
  template <class Block>
  TESSERA_TILE void operator()(Block&) const {}
};

TEST(launch_tiled_cuda_errors, too_much_scratch_names_what_was_asked_and_what_there_is) {
  cuda_backend const backend{cudaStreamPerThread};
  int device = 0, most = 0;
  testing_support::require_cuda(cudaGetDevice(&device));
  testing_support::require_cuda(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  try {
    launch_tiled<32, 1 << 20>(backend, tile_grid(1), nothing{});
    FAIL() << "a block with 1 MiB of shared memory was launched";
  } catch (usage_error const& error) {
    std::string const message = error.what();
    EXPECT_NE(message.find("1048576"), std::string::npos) << message;
    EXPECT_NE(message.find(std::to_string(most)), std::string::npos) << message;
  }
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(launch_tiled_cuda_errors, a_pending_error_is_thrown_as_what_it_is_and_stays) {
  cuda_backend const backend{cudaStreamPerThread};
  ASSERT_EQ(cudaGetLastError(), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
  try {
    launch_tiled<32>(backend, tile_grid(1), nothing{});
    ADD_FAILURE() << "nothing was thrown";
  } catch (cuda_error const& error) {
    EXPECT_EQ(error.code(), static_cast<int>(cudaErrorInvalidDevice)) << error.what();
    EXPECT_NE(std::string(error.what()).find("earlier"), std::string::npos) << error.what();
  }
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice) << "the error was swallowed";
  launch_tiled<32>(backend, tile_grid(1), nothing{});
  EXPECT_EQ(cudaStreamSynchronize(backend.stream), cudaSuccess);
}

// Work of one stream runs in its order; a launch waits for nothing.
struct add_one {
  template <class Block>
  TESSERA_TILE void operator()(Block& block, int* value) const {
    if (block.rank() == 0) *value = *value + 1;
  }
};

TEST(launch_tiled_cuda_streams, launches_of_a_stream_run_in_order) {
  testing_support::cuda_place<32> const place;
  auto const value = place.array(std::vector<int>{0});
  for (int k = 0; k < 100; ++k) place.launch(tile_grid(1), add_one{}, value.data());
  EXPECT_EQ(value.values(), std::vector<int>{100});
}

// Blocks of any shape rank their threads with x fastest.
__global__ void rank_of_each_thread(int* ranks) {
  __shared__ alignas(16) cuda::std::byte scratch[256];
  cuda_block<96, 256> block(scratch, tile_grid(1), 0);
  int const linear = static_cast<int>(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
  ranks[linear] = block.rank();
}

TEST(launch_tiled_cuda_streams, ranks_of_a_block_of_three_dimensions) {
  testing_support::cuda_place<32> const place;
  auto const ranks = place.array(std::vector<int>(96, -1));
  rank_of_each_thread<<<1, dim3(4, 8, 3), 0, place.backend.stream>>>(ranks.data());
  std::vector<int> expected(96);
  for (int i = 0; i < 96; ++i) expected[static_cast<std::size_t>(i)] = i;
  EXPECT_EQ(ranks.values(), expected);
}

}  // namespace
