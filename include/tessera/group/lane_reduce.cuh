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

// D of each of `Slots` values of a lane over the lanes of its warp: that of value i goes to to[i * stride]. As many at a time as the powers
// of two in their number.
template <int Slots, class T, class Combine>
__device__ __forceinline__ void reduce_rows(T const* values, int lane, Combine const& combine, T* to, int stride) {
  if constexpr (Slots > 0) {
    constexpr int rows = Slots < 32 ? static_cast<int>(cuda::std::bit_floor(static_cast<unsigned>(Slots))) : 32;
    T node[rows];
#pragma unroll
    for (int i = 0; i < rows; ++i) node[i] = values[i];
    exchange_rows<rows, 0>(node, lane, combine);
    // Lane l has joined as many lanes as there are rows, of row l % rows. What follows is right on the first lanes.
    T mine = node[0];
#pragma unroll
    for (int d = rows; d < 32; d *= 2) mine = combine(mine, shuffle_down(mine, d));
    if (lane < rows) to[lane * stride] = mine;
    reduce_rows<Slots - rows>(values + rows, lane, combine, to + rows * stride, stride);
  }
}

// D of `Count` nodes in shared memory, on every lane of a warp. A few are joined by each lane: a shuffle takes longer than additions do.
template <int Count, class T, class Combine>
__device__ __forceinline__ T join_shared(T const* nodes, int lane, Combine const& combine) {
  constexpr int leaves = static_cast<int>(cuda::std::bit_ceil(static_cast<unsigned>(Count)));
  if constexpr (Count <= 8) {
    return dyadic_node<leaves, leaves>([&](int i) { return T(nodes[i < Count ? i : 0]); }, combine, 0, Count);
  } else {
    constexpr int run = leaves <= 32 ? 1 : leaves / 32, runs = (Count + run - 1) / run, width = leaves / run;
    int const position = lane % width, begin = position < runs ? position * run : 0;
    T const mine = dyadic_node<run, run>([&](int i) { return T(nodes[i]); }, combine, begin, Count % run == 0 ? begin + run : Count);
    if constexpr (width == runs) {
      return join_lanes<width>(mine, position, combine, [](int, T const&) {});
    } else {
      return shuffle(reduce_warp<width>(mine, position, runs, full_warp, combine), 0);
    }
  }
}

// D of `Pieces` nodes: of a slot's in each warp, then of all warps' and slots'.
template <int Pieces, class Block, class T, int Slots, class Combine>
__device__ __forceinline__ T reduce_cuda_slots(Block& block, T const (&nodes)[Slots], Combine const& combine) {
  constexpr int threads = Block::size, warps = threads / 32;
  // The last slot may lack pieces; it is then left out by the warps that have none.
  constexpr int last = Pieces - (Slots - 1) * threads, full = last == threads ? Slots : Slots - 1;
  constexpr int count = full * warps + (full < Slots ? (last + 31) / 32 : 0);
  int const lane = block.rank() % 32, warp = block.rank() / 32;
  scratch_array<T, count, Block> joined(block);
  block.sync();
  reduce_rows<full>(nodes, lane, combine, joined.data() + warp, warps);
  if constexpr (full < Slots) {
    T const mine = reduce_warp<32>(nodes[Slots - 1], lane, last - warp * 32, full_warp, combine);
    if (lane == 0 && warp * 32 < last) joined[full * warps + warp] = mine;
  }
  block.sync();
  return join_shared<count>(joined.data(), lane, combine);
}

}  // namespace detail

// Whole warps, and so few slots that what is left of all of them takes little scratch.
template <int Pieces, int Threads, int Scratch, class T, int Slots, class Combine>
  requires(Threads >= 32 && cuda::std::has_single_bit(static_cast<unsigned>(Threads)) && Slots * (Threads / 32) * sizeof(T) <= 512)
TESSERA_TILE T reduce_slots(cuda_block<Threads, Scratch>& block, T const (&nodes)[Slots], Combine const& combine) {
  T whole = nodes[0];
  NV_IF_TARGET(NV_IS_DEVICE, (whole = detail::reduce_cuda_slots<Pieces>(block, nodes, combine);))
  return whole;
}

}  // namespace tessera::inline v0_1
