// D over the lanes of a CUDA block: exchange inside warps, then the warps' nodes through scratch.
#pragma once

#include <cuda/std/bit>
#include <nv/target>

#include <tessera/config.hpp>
#include <tessera/group/cuda_block.cuh>
#include <tessera/group/lane_reduce.hpp>
#include <tessera/group/shuffle.cuh>

namespace tessera::inline v0_1 {

// D of the values of lanes 0 .. count - 1 of the calling warp, right on lane 0. `width` <= 32 is a power of two.
template <int Width, class T, class Combine>
TESSERA_TILE T reduce_warp(T value, int lane, int count, unsigned mask, Combine const& combine) {
  NV_IF_TARGET(NV_IS_DEVICE, (TESSERA_UNROLL for (int distance = 1; distance < Width; distance *= 2) {
                 T const neighbour = detail::shuffle(value, (lane & ~(Width - 1)) | ((lane + distance) & (Width - 1)), mask);
                 if (lane + distance < count) value = combine(value, neighbour);
               }))
  return value;
}

// Any power of two of lanes; other sizes take the general form.
template <int Threads, int Scratch, class T, class Combine>
  requires(Threads > 1 && cuda::std::has_single_bit(static_cast<unsigned>(Threads)))
TESSERA_TILE T reduce_lanes(cuda_block<Threads, Scratch>& block, T value, int count, Combine const& combine) {
  using block_type = cuda_block<Threads, Scratch>;
  constexpr int width = Threads < 32 ? Threads : 32;
  constexpr unsigned mask = block_type::lane_mask();
  int const lane = block.rank() % 32, warp = block.rank() / 32;
  value = reduce_warp<width>(value, lane, count - warp * 32, mask, combine);
  if constexpr (Threads > 32) {
    constexpr int warps = Threads / 32;
    scratch_array<T, warps, block_type> nodes(block);
    block.sync();
    if (lane == 0) nodes[warp] = value;
    block.sync();
    value = nodes[lane < warps ? lane : 0];
    value = reduce_warp<warps>(value, lane % warps, (count + 31) / 32, mask, combine);
  }
  NV_IF_TARGET(NV_IS_DEVICE, (value = detail::shuffle(value, 0, mask);))
  return value;
}

}  // namespace tessera::inline v0_1
