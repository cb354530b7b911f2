// D over the lanes of a CUDA block: exchange inside warps, then the warps' nodes through scratch.
#pragma once

#include <cuda/std/bit>
#include <nv/target>

#include <tessera/config.hpp>
#include <tessera/group/cuda_block.cuh>
#include <tessera/group/lane_reduce.hpp>
#include <tessera/group/scratch.hpp>
#include <tessera/group/shuffle.cuh>
#include <tessera/group/warp_rows.cuh>

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

namespace detail {

template <int Slots, int Threads, class Block, class T, class Combine>
__device__ __forceinline__ T reduce_cuda_slots(Block& block, T const* nodes, Combine const& combine) {
  constexpr int warps = Threads / 32;
  int const lane = block.rank() % 32, warp = block.rank() / 32;
  T node[Slots];
#pragma unroll
  for (int i = 0; i < Slots; ++i) node[i] = nodes[i];
  exchange_rows<Slots, 0>(node, lane, combine);
  // Lane l has joined as many lanes as there are slots, of slot l % Slots.
  T mine = node[0];
#pragma unroll
  for (int d = Slots; d < 32; d *= 2) mine = join_beside(mine, lane, d, combine);
  scratch_array<T, Slots * warps, Block> warp_nodes(block);
  block.sync();
  if (lane < Slots) warp_nodes[lane * warps + warp] = mine;
  block.sync();
  return join_lanes<Slots * warps>(T(warp_nodes[lane % (Slots * warps)]), lane % (Slots * warps), combine, [](int, T const&) {});
}

}  // namespace detail

// D of the nodes of all lanes' slots, slot by slot: node i of a lane belongs to slot i. Few enough of them meet in one warp.
template <int Slots, int Threads, int Scratch, class T, class Combine>
  requires(Threads >= 32 && cuda::std::has_single_bit(static_cast<unsigned>(Threads)) &&
           cuda::std::has_single_bit(static_cast<unsigned>(Slots)) && Slots <= 32 && Slots * (Threads / 32) <= 32)
TESSERA_TILE T reduce_slots(cuda_block<Threads, Scratch>& block, T const* nodes, Combine const& combine) {
  T whole = nodes[0];
  NV_IF_TARGET(NV_IS_DEVICE, (whole = detail::reduce_cuda_slots<Slots, Threads>(block, nodes, combine);))
  return whole;
}

}  // namespace tessera::inline v0_1
