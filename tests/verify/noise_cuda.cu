#include <tessera/verify/noise.cuh>

#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/error.hpp>
#include <tessera/verify/repeat.hpp>

namespace {

namespace verify = tessera::verify;

__global__ void spin(long long cycles) {
  auto const start = clock64();
  while (clock64() - start < cycles) {
  }
}

TEST(noise, overlaps_the_measured_windows_NotSanitized) {
  constexpr int launches = 100;
  verify::noise noise;
  for (int i = 0; i < launches; ++i) {
    noise.open(nullptr);
    spin<<<1, 1>>>(1'000'000);  // about half a millisecond
    noise.close(nullptr);
  }
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  noise.stop();
  auto const overlap = noise.overlap();
  EXPECT_EQ(overlap.windows, launches);
  EXPECT_LE(overlap.overlapped_windows, overlap.windows);
  EXPECT_LE(overlap.blocks, overlap.all_blocks);
  EXPECT_GE(overlap.overlapped_windows, launches / 2) << verify::to_string(overlap);
}

// Noise that ran between the windows is not claimed for them.
TEST(noise, no_overlap_after_it_stopped_NotSanitized) {
  verify::noise noise;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  noise.stop();
  for (int i = 0; i < 10; ++i) {
    noise.open(nullptr);
    noise.close(nullptr);
  }
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  auto const overlap = noise.overlap();
  EXPECT_EQ(overlap.windows, 10u);
  EXPECT_EQ(overlap.overlapped_windows, 0u);
  EXPECT_EQ(overlap.blocks, 0u);
  EXPECT_GT(overlap.all_blocks, 0u);
}

TEST(noise, falls_silent_by_itself_NotSanitized) {
  verify::noise noise({.seconds_at_most = 0.05});
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  auto const first = noise.overlap().all_blocks;
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(noise.overlap().all_blocks, first);
}

TEST(noise, refuses_senseless_options) {
  EXPECT_THROW(verify::noise({.memory_bytes = 0}), tessera::usage_error);
  EXPECT_THROW(verify::noise({.blocks_per_multiprocessor = 0}), tessera::usage_error);
}

__global__ void add_all(float const* values, int n, float* sum) {
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += static_cast<int>(gridDim.x * blockDim.x))
    atomicAdd(sum, values[i]);
}

// The canary: float atomics in order of arrival give several patterns under the noise.
TEST(noise, atomics_vary_under_it_NotSanitized) {
  constexpr int n = 1 << 16;
  std::vector<float> values(n);
  for (int i = 0; i < n; ++i) values[static_cast<std::size_t>(i)] = static_cast<float>((i * 7919) % 1000 + 1) * (i % 3 == 0 ? 1e-3f : 1.0f);
  float* device = nullptr;
  ASSERT_EQ(cudaMalloc(&device, (n + 1) * sizeof(float)), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(device, values.data(), n * sizeof(float), cudaMemcpyHostToDevice), cudaSuccess);
  verify::noise noise;
  std::vector<float> sum(1);
  auto const report = verify::repeat(
      100,
      [&] {
        cudaMemsetAsync(device + n, 0, sizeof(float), nullptr);
        noise.open(nullptr);
        add_all<<<64, 256>>>(device, n, device + n);
        noise.close(nullptr);
        cudaMemcpy(sum.data(), device + n, sizeof(float), cudaMemcpyDeviceToHost);
      },
      verify::bytes_of(sum));
  noise.stop();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_GT(report.pattern_count(), 1u) << report;
  EXPECT_GT(noise.overlap().overlapped_windows, 0u);
  cudaFree(device);
}

}  // namespace
