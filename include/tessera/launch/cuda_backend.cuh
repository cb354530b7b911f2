// The CUDA backend: launch_tiled on a stream.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

#include <cuda_runtime.h>

#include <tessera/config.hpp>
#include <tessera/group/atomic.cuh>
#include <tessera/group/cuda_block.cuh>
#include <tessera/group/lane_reduce.cuh>
#include <tessera/group/lane_scan.cuh>
#include <tessera/launch/cuda_error.cuh>
#include <tessera/launch/launch_argument.hpp>
#include <tessera/launch/walk.hpp>

namespace tessera::inline v0_1 {

// Runs tiles on the current device, in the order of a stream.
struct cuda_backend {
  cudaStream_t stream;
};

namespace detail {

// Blocks that shall fit on one multiprocessor, at least one; 16 is the most that every architecture has.
constexpr int resident_blocks(int resident_threads, int threads) {
  return std::max(std::min(std::min(resident_threads, TESSERA_RESIDENT_THREADS) / threads, 16), 1);
}

template <int Threads, int ScratchBytes, int ResidentThreads, class Walk, class Functor, class... Arguments>
__global__ __launch_bounds__(Threads, resident_blocks(ResidentThreads, Threads)) void tiled_kernel(Walk walk, Functor functor,
                                                                                                   tile_grid grid, Arguments... arguments) {
  extern __shared__ __align__(16) unsigned char tessera_scratch[];
  auto* const scratch = reinterpret_cast<cuda::std::byte*>(tessera_scratch);
  std::int64_t const tiles = grid.count(), blocks = gridDim.x;
  cuda_block<Threads, ScratchBytes> lanes(scratch, grid, -1);
  for (std::int64_t tile = walk.first(lanes, blockIdx.x, blocks); tile < tiles; tile = walk.next(lanes, tile, blocks)) {
    cuda_block<Threads, ScratchBytes> block(scratch, grid, tile);
    functor(block, arguments...);
  }
}

// Blocks that walk a grid that is not empty.
inline std::int64_t blocks_of(tile_grid const& grid) {
  std::int64_t const blocks = std::min<std::int64_t>(grid.count(), 0x7FFFFFFF);
  return grid.cap() > 0 ? std::min(blocks, grid.cap()) : blocks;
}

// The current device, and a property of it, in the name of `call`.
inline int current_device(char const* call) {
  int device = 0;
  check_cuda(cudaGetDevice(&device), std::string(call) + ": cudaGetDevice");
  return device;
}
inline int device_attribute(char const* call, cudaDeviceAttr which) {
  int value = 0;
  check_cuda(cudaDeviceGetAttribute(&value, which, current_device(call)), std::string(call) + ": cudaDeviceGetAttribute");
  return value;
}

// Lets `kernel` have `bytes` of shared memory; above 48 KiB the device must be asked. The value belongs to the kernel, so that calls from
// several threads set the same.
template <class Kernel>
void allow_shared_memory(char const* call, Kernel* kernel, int bytes) {
  if (bytes <= 48 * 1024) return;
  int const most = device_attribute(call, cudaDevAttrMaxSharedMemoryPerBlockOptin);
  if (bytes > most) {
    throw usage_error(std::string(call) + ": the block's scratch is " + std::to_string(bytes) + " bytes, but a block of device " +
                      std::to_string(current_device(call)) + " has at most " + std::to_string(most) + " bytes of shared memory");
  }
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
             std::string(call) + ": cudaFuncSetAttribute(shared memory, " + std::to_string(bytes) + ")");
}

// kernel<<<blocks, threads, shared_bytes, stream>>>(arguments...), or an exception in the name of `call`.
template <class Kernel, class... Arguments>
void launch_kernel(cuda_backend const& backend, char const* call, Kernel* kernel, std::int64_t blocks, int threads, int shared_bytes,
                   Arguments const&... arguments) {
  allow_shared_memory(call, kernel, shared_bytes);
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = static_cast<std::size_t>(shared_bytes);
  config.stream = backend.stream;
  cudaError_t const code = cudaLaunchKernelEx(&config, kernel, arguments...);
  if (code != cudaSuccess) {
    check_cuda(code,
               std::string(call) + ": kernel launch of " + std::to_string(blocks) + " blocks of " + std::to_string(threads) + " threads");
  }
}

// launch_tiled with a walk.
template <int Threads, int ScratchBytes, int ResidentThreads, class Walk, class Functor, class... Arguments>
void launch_walk(cuda_backend const& backend, tile_grid const& grid, Walk const& walk, Functor const& functor, Arguments&&... arguments) {
  check_grid(grid);
  check_nothing_pending("launch_tiled");
  auto kernel_arguments = begin_launches(backend, grid, std::forward<Arguments>(arguments)...);
  if (grid.count() > 0) {
    std::apply(
        [&](auto&... kernel_argument) {
          auto* const kernel =
              &tiled_kernel<Threads, ScratchBytes, ResidentThreads, Walk, Functor, std::remove_reference_t<decltype(kernel_argument)>...>;
          launch_kernel(backend, "launch_tiled", kernel, blocks_of(grid), Threads, ScratchBytes, walk, functor, grid, kernel_argument...);
        },
        kernel_arguments);
  }
  (end_launch(backend, arguments), ...);
}

}  // namespace detail

// Runs functor(block, arguments...) for each logical tile of the grid, with blocks of `Threads` threads and `ScratchBytes` of scratch, on
// the backend's stream; the compiler keeps room for `ResidentThreads` threads on a multiprocessor (640: up to 96 registers a thread; give
// less to a kernel that holds large tiles in registers). Returns at once; waits for nothing. Arguments are copied; a scatter target becomes
// its record writer, is opened if it is not, and its launch is numbered. An empty grid launches nothing. Throws usage_error, and cuda_error
// also for an error that was pending before.
template <int Threads = 128, int ScratchBytes = default_scratch_bytes, int ResidentThreads = default_resident_threads, class Functor,
          class... Arguments>
void launch_tiled(cuda_backend const& backend, tile_grid const& grid, Functor const& functor, Arguments&&... arguments) {
  detail::launch_walk<Threads, ScratchBytes, ResidentThreads>(backend, grid, static_stride{}, functor,
                                                              std::forward<Arguments>(arguments)...);
}

}  // namespace tessera::inline v0_1
