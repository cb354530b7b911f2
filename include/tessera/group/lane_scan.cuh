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
#include <tessera/group/warp_rows.cuh>

namespace tessera::inline v0_1 {

namespace detail {

template <int Pieces, bool Backward, class Block, class T, class Combine, class Apply>
__device__ __forceinline__ void scan_cuda_lanes(Block& block, T const* totals, Combine const& combine, Apply const& apply) {
  constexpr int threads = Block::size, slots = (Pieces + threads - 1) / threads;
  constexpr int width = threads < 32 ? threads : 32, warps = threads / width;
  constexpr unsigned mask = Block::lane_mask();
  int const position = Backward ? threads - 1 - block.rank() : block.rank();
  int const lane = block.rank() % 32, warp = position / 32;
  T slot_total[slots];
#pragma unroll
  for (int slot = 0; slot < slots; ++slot) {
    slot_total[slot] = join_lanes<width>(
        totals[slot], position, combine,
        [&](int j, T const& beside) {
          if ((position >> j & 1) != 0) apply(slot, beside);
        },
        mask);
  }
  if constexpr (warps > 1) {
    scratch_array<T, slots * warps, Block> warp_totals(block);
    block.sync();
#pragma unroll
    for (int slot = 0; slot < slots; ++slot) {
      if (lane == 0) warp_totals[slot * warps + warp] = slot_total[slot];
    }
    block.sync();
#pragma unroll
    for (int slot = 0; slot < slots; ++slot) {
      T const mine = warp_totals[slot * warps + lane % warps];
      slot_total[slot] = join_lanes<warps>(
          mine, lane % warps, combine,
          [&](int j, T const& beside) {
            T const node = shuffle(beside, warp, mask);
            if ((warp >> j & 1) != 0) apply(slot, node);
          },
          mask);
      slot_total[slot] = shuffle(slot_total[slot], 0, mask);
    }
  }
  // Slots in the scan's order: slot k of it is piece block k of the tile, counted from the end when backward.
  auto const in_order = [&](int k) { return slot_total[Backward ? slots - 1 - k : k]; };
#pragma unroll
  for (int k = 1; k < slots; ++k) {
#pragma unroll
    for (int j = 0; (1 << j) <= k; ++j) {
      if ((k >> j & 1) == 0) continue;
      int const first = ((k >> j) - 1) << j;
      T node = in_order(first);
      if (j > 0) node = dyadic_reduce([&](cuda::std::int64_t i) { return in_order(static_cast<int>(i)); }, combine, first, 1 << j);
      apply(Backward ? slots - 1 - k : k, node);
    }
  }
}

}  // namespace detail

// Forward for any number of pieces, backward where they fill the lanes; other cases take the general form.
template <int Pieces, bool Backward, int Threads, int Scratch, class T, class Combine, class Apply>
  requires(Threads > 1 && cuda::std::has_single_bit(static_cast<unsigned>(Threads)) && (!Backward || Pieces % Threads == 0))
TESSERA_TILE void scan_lanes(cuda_block<Threads, Scratch>& block, T const* totals, Combine const& combine, Apply const& apply) {
  NV_IF_TARGET(NV_IS_DEVICE, (detail::scan_cuda_lanes<Pieces, Backward>(block, totals, combine, apply);))
}

}  // namespace tessera::inline v0_1
