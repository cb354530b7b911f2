// All prefixes of a sequence that the lanes of a CUDA block hold in pieces, for a power of two of lanes: by exchange inside warps, through
// scratch between them, in registers between a lane's own slots.
#pragma once

#include <cuda/std/bit>
#include <nv/target>

#include <tessera/config.hpp>
#include <tessera/dyadic.hpp>
#include <tessera/group/cuda_block.cuh>
#include <tessera/group/lane_scan.hpp>
#include <tessera/group/scratch.hpp>
#include <tessera/group/shuffle.cuh>
#include <tessera/group/warp_rows.cuh>

namespace tessera::inline v0_1 {

namespace detail {

// Each of a warp's rows, one a slot, becomes its prefixes. `position` counts the block's lanes in the scan's order.
template <bool Backward, int Lanes, class T, int Slots, int Width, class Combine>
__device__ __forceinline__ void scan_rows(T (&values)[Slots][Width], int position, unsigned mask, Combine const& combine) {
#pragma unroll
  for (int slot = 0; slot < Slots; ++slot) scan_values<Width>(values[slot], combine);
#pragma unroll
  for (int j = 0; (1 << j) < Lanes; ++j) {
    // The last of 2^j lanes has the node that the 2^j lanes behind it need.
    bool const behind = (position >> j & 1) != 0;
#pragma unroll
    for (int slot = 0; slot < Slots; ++slot) {
      T const before = shuffle_within(values[slot][Width - 1], 2 << j, Backward ? 1 << j : (1 << j) - 1, mask);
      // So few instructions that they are predicated: a choice of the identity, or one branch for all slots, takes longer.
      if (behind) {
#pragma unroll
        for (int i = 0; i < Width; ++i) values[slot][i] = combine(before, values[slot][i]);
      }
    }
  }
}

// The nodes that a warp needs of those of all warps, node slot * Warps + w in shared memory: before[j][slot] becomes that of the 2^j warps
// in front (unspecified where it needs none of that size), total[slot] that of all.
template <int Warps, int Levels, class T, int Slots, class Combine>
__device__ __forceinline__ void join_warps(T const* nodes, int lane, int warp, Combine const& combine, T (&before)[Levels][Slots],
                                           T (&total)[Slots]) {
  if constexpr (Warps <= 8 && Slots * Warps <= 16) {
    // Every lane joins them itself: a shuffle takes longer than a few additions.
#pragma unroll
    for (int slot = 0; slot < Slots; ++slot) {
      T node[Warps];
#pragma unroll
      for (int w = 0; w < Warps; ++w) node[w] = nodes[slot * Warps + w];
      before[0][slot] = nodes[slot * Warps + (warp & ~1)];
#pragma unroll
      for (int j = 1; j <= Levels; ++j) {
#pragma unroll
        for (int w = 0; w < Warps; w += 1 << j) node[w] = combine(node[w], node[w + (1 << (j - 1))]);
        if (j < Levels) {
          before[j][slot] = node[0];
#pragma unroll
          for (int w = 2 << j; w < Warps; w += 2 << j) {
            T const other = node[w];
            before[j][slot] = (warp ^ w) >> (j + 1) == 0 ? T(other) : T(before[j][slot]);
          }
        }
      }
      total[slot] = node[0];
    }
  } else {
    constexpr int group = 32 / Warps < Slots ? 32 / Warps : Slots;  // slots that the lanes of a warp join at a time
#pragma unroll
    for (int first = 0; first < Slots; first += group) {
      int const at = first * Warps + lane;
      T const whole = join_lanes<Warps>(T(nodes[at < Slots * Warps ? at : 0]), lane, combine, [&](int j, T const& beside) {
#pragma unroll
        for (int i = 0; i < group; ++i) {
          if (first + i < Slots) before[j][first + i] = shuffle(beside, i * Warps + warp);
        }
      });
#pragma unroll
      for (int i = 0; i < group; ++i) {
        if (first + i < Slots) total[first + i] = shuffle(whole, i * Warps);
      }
    }
  }
}

// Each step puts larger nodes in front of values: those of lanes, of warps, of slots.
template <bool Backward, bool Exclusive, class Block, class T, int Slots, int Width, class Combine>
__device__ __forceinline__ void scan_cuda_lanes(Block& block, T (&values)[Slots][Width], Combine const& combine) {
  constexpr int threads = Block::size, lanes = threads < 32 ? threads : 32, warps = threads / lanes;
  constexpr unsigned mask = Block::lane_mask();
  constexpr bool padded = has_identity<Combine, T>;
  int const position = Backward ? threads - 1 - block.rank() : block.rank();

  scan_rows<Backward, lanes>(values, position, mask, combine);
  T total[Slots];  // of a warp, right on its last lane; then of the block
#pragma unroll
  for (int slot = 0; slot < Slots; ++slot) total[slot] = values[slot][Width - 1];

  bool empty = false;  // the lane's first value has no operands yet
  if constexpr (Exclusive) {
    empty = position % lanes == 0;
#pragma unroll
    for (int slot = 0; slot < Slots; ++slot) {
      T const arriving = shuffle_within(total[slot], lanes, block.rank() + (Backward ? 1 : lanes - 1), mask);
#pragma unroll
      for (int i = Width - 1; i > 0; --i) values[slot][i] = values[slot][i - 1];
      values[slot][0] = arriving;
      if constexpr (padded) {
        if (empty) values[slot][0] = combine.template identity<T>();
      }
    }
  }
  auto const prepend = [&](int slot, T const& node, bool first) {
    values[slot][0] = Exclusive && !padded && first ? node : combine(node, values[slot][0]);
#pragma unroll
    for (int i = 1; i < Width; ++i) values[slot][i] = combine(node, values[slot][i]);
  };

  if constexpr (warps > 1) {
    constexpr int levels = cuda::std::countr_zero(static_cast<unsigned>(warps));
    int const warp = position / lanes;
    scratch_array<T, Slots * warps, Block> nodes(block);
    block.sync();
    if (position % lanes == lanes - 1) {
#pragma unroll
      for (int slot = 0; slot < Slots; ++slot) nodes[slot * warps + warp] = total[slot];
    }
    block.sync();
    T before[levels][Slots];
    join_warps<warps>(nodes.data(), block.rank() % 32, warp, combine, before, total);
#pragma unroll
    for (int j = 0; j < levels; ++j) {
      if ((warp >> j & 1) != 0) {
#pragma unroll
        for (int slot = 0; slot < Slots; ++slot) prepend(slot, before[j][slot], empty);
        empty = false;
      }
    }
  } else if constexpr (Slots > 1) {
#pragma unroll
    for (int slot = 0; slot < Slots; ++slot) total[slot] = shuffle(total[slot], Backward ? 0 : lanes - 1, mask);
  }

  // Slot k of the scan's order is counted from the end when backward.
  auto const in_order = [](int k) { return Backward ? Slots - 1 - k : k; };
#pragma unroll
  for (int k = 1; k < Slots; k *= 2) {
#pragma unroll
    for (int g = 0; g + k < Slots; g += 2 * k) {
#pragma unroll
      for (int r = g + k; r < g + 2 * k; ++r) {
        if (r < Slots) prepend(in_order(r), total[in_order(g)], empty && r % k == 0);
      }
      if (g + 2 * k <= Slots) total[in_order(g)] = combine(total[in_order(g)], total[in_order(g + k)]);
    }
  }
}

}  // namespace detail

// Forward for any number of pieces, backward where they fill the lanes; other cases take the general form.
template <int Pieces, bool Backward, bool Exclusive, int Threads, int Scratch, class T, int Slots, int Width, class Combine>
  requires(Threads > 1 && cuda::std::has_single_bit(static_cast<unsigned>(Threads)) && (!Backward || Pieces % Threads == 0))
TESSERA_TILE void scan_lanes(cuda_block<Threads, Scratch>& block, T (&values)[Slots][Width], Combine const& combine) {
  NV_IF_TARGET(NV_IS_DEVICE, (detail::scan_cuda_lanes<Backward, Exclusive>(block, values, combine);))
}

}  // namespace tessera::inline v0_1
