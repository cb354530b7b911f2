// The nodes of D in front of each lane's piece, on a CUDA block of a power of two of lanes: by exchange inside warps, through scratch
// between them, in registers between a lane's own slots.
#pragma once

#include <cuda/std/bit>
#include <nv/target>

#include <tessera/config.hpp>
#include <tessera/dyadic.hpp>
#include <tessera/group/cuda_block.cuh>
#include <tessera/group/lane_scan.hpp>
#include <tessera/group/scratch.hpp>

namespace tessera::inline v0_1 {

namespace detail {

// Joins the blocks of 1, 2, 4, ... neighbours; before(j, node) is given the block of size 2^j beside the caller's. `position` counts in the
// scan's direction. Gives the whole. All lanes of the mask.
template <int Width, class T, class Combine, class Before>
TESSERA_TILE T join_neighbours(T node, int position, unsigned mask, Combine const& combine, Before const& before) {
  NV_IF_TARGET(NV_IS_DEVICE, (for (int j = 0; (1 << j) < Width; ++j) {
                 T const beside = __shfl_xor_sync(mask, node, 1 << j);
                 bool const is_before = ((position >> j) & 1) != 0;
                 before(j, beside);
                 node = is_before ? combine(beside, node) : combine(node, beside);
               }))
  return node;
}

}  // namespace detail

// Forward for any number of pieces, backward where they fill the lanes; other cases take the general form.
template <int Pieces, bool Backward, int Threads, int Scratch, class T, class Combine, class Apply>
  requires(Threads > 1 && cuda::std::has_single_bit(static_cast<unsigned>(Threads)) && (!Backward || Pieces % Threads == 0))
TESSERA_TILE void scan_lanes(cuda_block<Threads, Scratch>& block, T const* totals, Combine const& combine, Apply const& apply) {
  using block_type = cuda_block<Threads, Scratch>;
  constexpr int slots = (Pieces + Threads - 1) / Threads;
  constexpr int width = Threads < 32 ? Threads : 32, warps = Threads / width;
  constexpr unsigned mask = block_type::lane_mask();
  int const position = Backward ? Threads - 1 - block.rank() : block.rank();
  int const lane = block.rank() % 32, warp = position / 32;
  T slot_total[static_cast<unsigned>(slots)];
  TESSERA_UNROLL
  for (int slot = 0; slot < slots; ++slot) {
    slot_total[slot] = detail::join_neighbours<width>(totals[slot], position, mask, combine, [&](int j, T const& beside) {
      if (((position >> j) & 1) != 0) apply(slot, beside);
    });
  }
  if constexpr (warps > 1) {
    scratch_array<T, slots * warps, block_type> warp_totals(block);
    block.sync();
    TESSERA_UNROLL
    for (int slot = 0; slot < slots; ++slot) {
      if (lane == 0) warp_totals[slot * warps + warp] = slot_total[slot];
    }
    block.sync();
    TESSERA_UNROLL
    for (int slot = 0; slot < slots; ++slot) {
      T const mine = warp_totals[slot * warps + lane % warps];
      slot_total[slot] = detail::join_neighbours<warps>(mine, lane % warps, mask, combine, [&](int j, T const& beside) {
        T node = beside;
        NV_IF_TARGET(NV_IS_DEVICE, (node = __shfl_sync(mask, beside, warp);))
        if (((warp >> j) & 1) != 0) apply(slot, node);
      });
      NV_IF_TARGET(NV_IS_DEVICE, (slot_total[slot] = __shfl_sync(mask, slot_total[slot], 0);))
    }
  }
  // Slots in the scan's order: slot k of it is piece block k of the tile, counted from the end when backward.
  auto const in_order = [&](int k) { return slot_total[Backward ? slots - 1 - k : k]; };
  TESSERA_UNROLL
  for (int k = 1; k < slots; ++k) {
    TESSERA_UNROLL
    for (int j = 0; (1 << j) <= k; ++j) {
      if (((k >> j) & 1) == 0) continue;
      int const first = ((k >> j) - 1) << j;
      T node = in_order(first);
      if (j > 0) node = dyadic_reduce([&](cuda::std::int64_t i) { return in_order(static_cast<int>(i)); }, combine, first, 1 << j);
      apply(Backward ? slots - 1 - k : k, node);
    }
  }
}

}  // namespace tessera::inline v0_1
