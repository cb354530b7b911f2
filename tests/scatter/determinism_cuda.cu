// On the GPU: the host backend's bits for every block size, and one pattern in many runs under noise that makes atomics vary.
#include <iostream>

#include <tessera/verify/noise.cuh>
#include <tessera/verify/repeat.hpp>

#include "row_scatter.hpp"

namespace {

using namespace testing_support;
namespace verify = tessera::verify;

// Hot rows, cold rows and skipped records.
row_problem<float> mixed_problem(std::int64_t n, std::int64_t rows, std::int64_t columns) {
  auto indices = chosen_rows(choice::negative, n, rows, 51);
  integers random(52);
  for (int& index : indices) {
    if (index >= 0 && random.below(2) == 0) index = static_cast<int>(random.below(3));
  }
  return row_problem<float>(rows, columns, indices, 53);
}

template <class Place>
class scatter_block_sizes : public testing::Test {};
using block_sizes =
    testing::Types<cuda_place<1>, cuda_place<16>, cuda_place<32>, cuda_place<64>, cuda_place<256>, cuda_place<512>, cuda_place<1024>>;
TYPED_TEST_SUITE(scatter_block_sizes, block_sizes);

TYPED_TEST(scatter_block_sizes, have_the_bits_of_the_host) {
  auto const problem = mixed_problem(10'007, 500, 8);
  auto const on_host = scattered<add_rows<32, 8>>(host_place<1>{}, problem);
  EXPECT_TRUE(same_bits(problem.expected(), on_host));
  for (std::int64_t cap : {0, 1, 3, 100}) {
    for (std::size_t shift : {std::size_t{0}, std::size_t{1}}) {
      EXPECT_TRUE(same_bits(on_host, scattered<add_rows<32, 8>>(TypeParam{}, problem, {.cap = cap, .shift = shift})))
          << "cap " << cap << ", shift " << shift;
    }
  }
}

// --- Many runs under noise

template <tessera::determinism Level>
verify::repeat_report runs_under_noise(verify::noise& noise, int runs, row_problem<float> const& problem, std::vector<float>& result) {
  using kernel = add_rows<32, 8>;
  cuda_place<128> place;
  auto const stream = place.backend.stream;
  auto const values = place.array(problem.values);
  auto const indices = place.array(problem.indices);
  auto const start = place.array(problem.destination);
  auto const destination = place.array(problem.destination);
  auto const sums = tessera::make_view(destination.data(), {problem.rows, problem.columns});
  auto const tiles = tessera::ceil_div(problem.size(), kernel::rows_per_tile);
  tessera::records const declared{.tiles = tiles, .per_tile = kernel::rows_per_tile};
  auto const workspace = place.workspace(tessera::scatter_workspace_bytes<Level>(place.backend, sums, declared));
  auto target = tessera::scatter_target<Level>(place.backend, sums, declared, workspace);
  result.resize(problem.destination.size());
  std::size_t const bytes = result.size() * sizeof(float);
  std::int64_t const caps[] = {0, 40, 999};
  return verify::repeat(
      runs,
      [&](int run) {
        require_cuda(cudaMemcpyAsync(destination.data(), start.data(), bytes, cudaMemcpyDeviceToDevice, stream));
        noise.open(stream);
        place.launch(tessera::tile_grid(tiles).capped(caps[run % 3]), kernel{}, rows_of<float>(values, problem.size(), problem.columns),
                     list_of<int>(indices), target);
        target.resolve(place.backend);
        noise.close(stream);
        require_cuda(cudaMemcpyAsync(result.data(), destination.data(), bytes, cudaMemcpyDeviceToHost, stream));
        require_cuda(cudaStreamSynchronize(stream));
      },
      verify::bytes_of(result));
}

void check_under_noise(int runs) {
  auto const problem = mixed_problem(100'003, 3000, 8);
  auto const expected = problem.expected();
  verify::noise noise;
  std::vector<float> result;
  auto const sorted = runs_under_noise<tessera::gpu_to_gpu>(noise, runs, problem, result);
  EXPECT_EQ(sorted.pattern_count(), 1u) << sorted;
  EXPECT_TRUE(same_bits(expected, result));
  auto const between = noise.overlap();
  // The canary, under the same noise: atomics in order of arrival.
  auto const atomics = runs_under_noise<tessera::not_guaranteed>(noise, runs, problem, result);
  EXPECT_GT(atomics.pattern_count(), 1u) << atomics;
  noise.stop();
  auto const overlap = noise.overlap();
  EXPECT_GE(between.overlapped_windows, static_cast<std::uint64_t>(runs / 2)) << verify::to_string(between);
  EXPECT_GE(overlap.overlapped_windows - between.overlapped_windows, static_cast<std::uint64_t>(runs / 4)) << verify::to_string(overlap);
  std::cout << "gpu_to_gpu: " << sorted << "\natomics:    " << atomics << "\n            " << verify::to_string(overlap) << "\n";
}
TEST(scatter_under_noise, one_pattern_where_atomics_vary_NotSanitized) { check_under_noise(50); }
TEST(scatter_under_noise, one_pattern_in_a_thousand_runs_Long) { check_under_noise(1000); }

// One row for all: the longest climb of partial sums.
TEST(scatter_under_noise, one_hot_row_Long) {
  row_problem<float> const problem(3, 8, chosen_rows(choice::hot, 200'001, 3, 54));
  verify::noise noise;
  std::vector<float> result;
  auto const report = runs_under_noise<tessera::gpu_to_gpu>(noise, 300, problem, result);
  noise.stop();
  EXPECT_EQ(report.pattern_count(), 1u) << report;
  EXPECT_TRUE(same_bits(problem.expected(), result));
  EXPECT_GT(noise.overlap().overlapped_windows, 0u);
}

}  // namespace
