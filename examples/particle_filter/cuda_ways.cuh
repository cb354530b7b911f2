// The filter on the GPU: with tessera's scan, and with CUB's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <cub/device/device_scan.cuh>

#include <tessera/device/cuda_scan.cuh>
#include <tessera/tessera.cuh>

#include "../support/device_array.cuh"
#include "filter.hpp"
#include "way.hpp"

namespace particle_filter {

using examples::check_cuda;
using examples::device_array;

struct on_gpu {
  template <class T>
  using array = device_array<T>;

  tessera::cuda_backend backend;

  template <class T>
  void read(array<T> const& from, std::vector<T>& to) const {
    check_cuda(cudaStreamSynchronize(backend.stream), "cudaStreamSynchronize");
    from.copy_to(to);
  }
};

// Why there is no GPU; empty where there is one.
inline std::string no_gpu() {
  int devices = 0;
  auto const code = cudaGetDeviceCount(&devices);
  if (code != cudaSuccess) return cudaGetErrorString(code);
  return devices > 0 ? "" : "CUDA finds none";
}

inline way tessera_on_gpu(int runs) {
  return {.name = "tessera on the GPU",
          .runs = runs,
          .promises_one_history = true,
          .run = [](std::vector<float> const& observed, std::int64_t particles, int) {
            on_gpu const gpu{{cudaStreamPerThread}};
            // Zeroed once, and good for any number of scans.
            device_array<std::byte> const memory(std::vector<std::byte>(tessera::scan_workspace_bytes<float>(particles)));
            tessera::workspace_view const workspace{memory.data(), memory.bytes()};
            return run_filter(
                gpu, [&](auto in, auto out) { tessera::inclusive_scan(gpu.backend, in, out, workspace); }, observed, particles);
          }};
}

// Blocks add up what the blocks in front of them have by then, in whatever pieces: the sums round differently from run to run.
inline way cub_on_gpu(int runs) {
  return {.name = "CUB on the GPU",
          .runs = runs,
          .promises_one_history = false,
          .run = [](std::vector<float> const& observed, std::int64_t particles, int) {
            on_gpu const gpu{{cudaStreamPerThread}};
            auto const scan = [&](void* memory, std::size_t& bytes, float const* in, float* out) {
              check_cuda(cub::DeviceScan::InclusiveSum(memory, bytes, in, out, particles, gpu.backend.stream),
                         "cub::DeviceScan::InclusiveSum");
            };
            std::size_t bytes = 0;
            scan(nullptr, bytes, nullptr, nullptr);
            device_array<std::byte> const memory(static_cast<std::int64_t>(bytes));
            return run_filter(
                gpu, [&](auto in, auto out) { scan(memory.data(), bytes, in.data_handle(), out.data_handle()); }, observed, particles);
          }};
}

}  // namespace particle_filter
