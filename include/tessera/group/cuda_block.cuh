// The running CUDA block, seen as a group of lanes with a scratch and a logical tile.
#pragma once

#include <cstdio>

#include <cuda/std/cstddef>
#include <nv/target>

#include <tessera/config.hpp>
#include <tessera/group/block_position.hpp>
#include <tessera/group/scratch.hpp>

namespace tessera::inline v0_1 {

// `Threads` is the block's size as launched (any shape; ranks are row-major with x fastest), `ScratchBytes` what lies at `scratch` in
// shared memory. In a kernel of one's own:
//
//     __global__ void kernel(...) {
//       __shared__ alignas(16) cuda::std::byte scratch[4096];
//       tessera::cuda_block<128> block(scratch, tessera::tile_grid(gridDim.x), blockIdx.x);
template <int Threads, int ScratchBytes = default_scratch_bytes>
class cuda_block : public block_position {
  static_assert(Threads >= 1 && Threads <= 1024, "a CUDA block has 1 to 1,024 threads");

 public:
  static constexpr int size = Threads;
  static constexpr int scratch_bytes = ScratchBytes;

  TESSERA_TILE cuda_block(cuda::std::byte* scratch, tile_grid const& grid, cuda::std::int64_t tile_id)
      : block_position(grid, tile_id), scratch_(scratch) {}

  // Row-major rank of the calling thread in the block.
  TESSERA_TILE int rank() const {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE,
                      (return static_cast<int>(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));), (return 0;))
  }
  TESSERA_TILE scratch_stack& scratch() { return scratch_; }

  // All lanes reach it, and see each other's writes, before any goes on.
  TESSERA_TILE void sync() {
    NV_IF_TARGET(NV_IS_DEVICE, (if constexpr (Threads > 32) { __syncthreads(); } else { __syncwarp(lane_mask()); }))
  }

  TESSERA_TILE void scratch_overflow(int needed) const {
    NV_IF_TARGET(NV_IS_DEVICE, (printf("tessera: block scratch: the tiles alive at once need %d bytes, the block has %d: launch_tiled<threads, "
                                       "scratch_bytes>\n",
                                       needed, ScratchBytes);
                                __trap();))
  }

  // The lanes of a warp of this block that exist, for blocks of less than a warp.
  TESSERA_TILE static constexpr unsigned lane_mask() { return Threads >= 32 ? 0xFFFFFFFFu : (1u << (Threads % 32)) - 1u; }

 private:
  scratch_stack scratch_;
};

}  // namespace tessera::inline v0_1
