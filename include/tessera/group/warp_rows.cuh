// A warp's aligned piece of a sequence in registers, and its prefixes by D: `Rows` rows of 32 lanes times `Width` values. Value v of lane l
// in row r is number (32 r + l) Width + v of the piece.
#pragma once

#include <cuda/std/bit>

#include <tessera/accumulate.hpp>
#include <tessera/config.hpp>
#include <tessera/dyadic.hpp>
#include <tessera/group/shuffle.cuh>

namespace tessera::inline v0_1::detail {

// Joins the nodes of 2, 4, .. 32 neighbouring lanes; before(j, node) is given the node of 2^j lanes beside the caller's own. `position`
// counts in the order of the operands. Gives the node of all `Width` lanes.
template <int Width, class T, class Combine, class Before>
__device__ __forceinline__ T join_lanes(T node, int position, Combine const& combine, Before const& before, unsigned mask = full_warp) {
#pragma unroll
  for (int j = 0; (1 << j) < Width; ++j) {
    T const beside = shuffle_xor(node, 1 << j, mask);
    before(j, beside);
    node = (position >> j & 1) != 0 ? combine(beside, node) : combine(node, beside);
  }
  return node;
}

// Joins a lane's node with that of the lane `distance` (a power of two) beside it, in the order of the lanes.
template <class T, class Combine>
__device__ __forceinline__ T join_beside(T const& node, int lane, int distance, Combine const& combine) {
  T const beside = shuffle_xor(node, distance);
  return (lane & distance) != 0 ? combine(beside, node) : combine(node, beside);
}

// D of a power of two of values of one lane; they are used up.
template <class T, int Count, class Combine>
__device__ __forceinline__ T join_values(T (&value)[Count], Combine const& combine) {
#pragma unroll
  for (int d = 1; d < Count; d *= 2) {
#pragma unroll
    for (int v = 0; v < Count; v += 2 * d) value[v] = combine(value[v], value[v + d]);
  }
  return value[0];
}

// From `Rows` values a lane, one of each row, to D of row l on lane l, by halves: Rows - 1 exchanges in place of 5 Rows. Rows is a power of
// two of at most 32; fewer than 32 rows join lanes that differ in as many bits, from `Bit` on, and repeat: lane l holds row
// (l >> Bit) % Rows.
template <int Rows, int Bit, class T, int Size, class Combine>
__device__ __forceinline__ void exchange_rows(T (&node)[Size], int lane, Combine const& combine) {
  if constexpr (Rows > 1) {
    bool const upper = (lane >> Bit & 1) != 0;
#pragma unroll
    for (int q = 0; q < Rows / 2; ++q) {
      // Values, not places: a choice between places would put the array into memory.
      T const low = node[2 * q], high = node[2 * q + 1];
      T const kept = upper ? T(high) : T(low);
      T const got = shuffle_xor(upper ? T(low) : T(high), 1 << Bit);
      node[q] = upper ? combine(got, kept) : combine(kept, got);
    }
    exchange_rows<Rows / 2, Bit + 1>(node, lane, combine);
  }
}

// D of `Rows` rows of 32 lanes, a power of two of at most 32, on every lane; the nodes are used up.
template <int Rows, class T, class Combine>
__device__ __forceinline__ T join_rows(T (&node)[Rows], int lane, Combine const& combine) {
  exchange_rows<Rows, 0>(node, lane, combine);
  // Lane l has joined as many lanes as there are rows, of row l % Rows.
  T mine = node[0];
#pragma unroll
  for (int d = Rows; d < 32; d *= 2) mine = join_beside(mine, lane, d, combine);
#pragma unroll
  for (int d = 1; d < Rows; d *= 2) mine = join_beside(mine, lane, d, combine);
  return mine;
}

template <class T, int Rows, int Width>
class warp_rows {
  static_assert(cuda::std::has_single_bit(static_cast<unsigned>(Rows)) && cuda::std::has_single_bit(static_cast<unsigned>(Width)));

 public:
  static constexpr int rows = Rows, width = Width, size = Rows * 32 * Width;
  T value[Rows][Width];

  // Every value becomes D of the piece up to and with it. `AtOnce` of the five steps over the lanes are written out: all where the rows are
  // few, one where more code would have to be fetched than is saved.
  template <int AtOnce = 5, class Combine>
  __device__ __forceinline__ void scan(int lane, Combine const& combine) {
#pragma unroll
    for (int r = 0; r < Rows; ++r) scan_values<Width>(value[r], combine);
#pragma unroll AtOnce
    for (int j = 0; j < 5; ++j) {
      bool const after = (lane >> j & 1) != 0;
      int const from = (lane & ~((2 << j) - 1)) | ((1 << j) - 1);
#pragma unroll
      for (int r = 0; r < Rows; ++r) {
        T before = shuffle(value[r][Width - 1], from);
        if constexpr (has_identity<Combine, T>) {
          // No branch, no selection per value.
          if (!after) before = combine.template identity<T>();
#pragma unroll
          for (int v = 0; v < Width; ++v) value[r][v] = combine(before, value[r][v]);
        } else if (after) {
#pragma unroll
          for (int v = 0; v < Width; ++v) value[r][v] = combine(before, value[r][v]);
        }
      }
    }
#pragma unroll
    for (int k = 1; k < Rows; k *= 2) {
#pragma unroll
      for (int g = 0; g < Rows; g += 2 * k) {
        T const before = shuffle(value[g + k - 1][Width - 1], 31);
#pragma unroll
        for (int r = g + k; r < g + 2 * k; ++r) {
#pragma unroll
          for (int v = 0; v < Width; ++v) value[r][v] = combine(before, value[r][v]);
        }
      }
    }
  }

  // D of the piece, right on the last lane, after scan().
  __device__ __forceinline__ T const& last() const { return value[Rows - 1][Width - 1]; }

  // Every value moves one place on; the first becomes `first`.
  __device__ __forceinline__ void shift(int lane, T first) {
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      T const turned = shuffle(value[r][Width - 1], (lane + 31) % 32);
      T const arriving = lane > 0 ? turned : first;
      first = turned;
#pragma unroll
      for (int v = Width - 1; v > 0; --v) value[r][v] = value[r][v - 1];
      value[r][0] = arriving;
    }
  }
};

// The prefixes of a warp's piece, inclusive or exclusive, to which nodes in front are added, nearer ones first; then they are settled.
template <bool Exclusive, class T, int Rows, int Width, class Combine>
class warp_prefixes {
 public:
  using piece = warp_rows<T, Rows, Width>;
  piece rows;

  // Gives D of the piece on the last lane.
  template <int AtOnce = 5>
  __device__ __forceinline__ T scan(int lane, Combine const& combine) {
    rows.template scan<AtOnce>(lane, combine);
    T const total = rows.last();
    if constexpr (Exclusive) {
      T none = total;
      if constexpr (padded) none = combine.template identity<T>();
      rows.shift(lane, none);
      empty_ = lane == 0;
    }
    if constexpr (joins_first) front_ = combine.template identity<T>();
    return total;
  }
  __device__ __forceinline__ void prepend(T const& node, Combine const& combine) {
    if constexpr (joins_first) {
      front_ = combine(node, front_);
    } else {
      join(node, combine);
    }
  }
  __device__ __forceinline__ void settle(Combine const& combine) {
    if constexpr (joins_first) join(front_, combine);
  }

 private:
  static constexpr bool padded = has_identity<Combine, T>, joins_first = order_is_free<Combine, T>;

  __device__ __forceinline__ void join(T const& node, Combine const& combine) {
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
#pragma unroll
      for (int v = 0; v < Width; ++v) rows.value[r][v] = combine(node, rows.value[r][v]);
    }
    if constexpr (Exclusive && !padded) {
      if (empty_) rows.value[0][0] = node;
      empty_ = false;
    }
  }

  T front_;             // of the nodes, where they are joined first
  bool empty_ = false;  // the first value is the prefix of nothing; where the operator has an identity, that stands for it
};

}  // namespace tessera::inline v0_1::detail
