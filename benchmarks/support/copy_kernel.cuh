// A copy, the limit of everything that reads and writes an array once.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "device_array.cuh"

namespace benchmark {

inline constexpr int rival_threads = 256;

inline unsigned blocks_for(std::int64_t threads) { return static_cast<unsigned>((threads + rival_threads - 1) / rival_threads); }

// 16 bytes a thread, read and written.
template <int Threads>
__global__ void __launch_bounds__(Threads) copy_16_bytes_a_thread(uint4 const* from, uint4* to, std::int64_t count) {
  std::int64_t const i = std::int64_t{blockIdx.x} * Threads + threadIdx.x;
  if (i < count) to[i] = from[i];
}

// Copies `bytes` bytes, a multiple of 16.
inline void copy_by_kernel(cudaStream_t stream, void const* from, void* to, std::int64_t bytes) {
  copy_16_bytes_a_thread<rival_threads>
      <<<blocks_for(bytes / 16), rival_threads, 0, stream>>>(static_cast<uint4 const*>(from), static_cast<uint4*>(to), bytes / 16);
  check(cudaGetLastError(), "copy");
}

}  // namespace benchmark
