// The compile-time shape of a tile, and how its elements are dealt out.
#pragma once

#include <cuda/std/cstdint>

#include <tessera/config.hpp>

namespace tessera::inline v0_1 {

// One coordinate a dimension.
template <int Rank>
struct tile_coordinates {
  int at[Rank];
  TESSERA_TILE constexpr int operator[](int d) const { return at[d]; }
  // The coordinates of the i-th element behind, in the same row.
  TESSERA_TILE constexpr tile_coordinates along_row(int i) const {
    tile_coordinates behind = *this;
    behind.at[Rank - 1] += i;
    return behind;
  }
};

// Rank 1 to 4; row-major: the last extent is the innermost.
template <int... Extents>
struct tile_shape {
  static constexpr int rank = sizeof...(Extents);
  static_assert(rank >= 1 && rank <= 4, "a tile has 1 to 4 dimensions");
  static_assert(((Extents > 0) && ...), "the extents of a tile are positive");
  static_assert((static_cast<long long>(Extents) * ...) <= (1LL << 24), "a tile has at most 2^24 elements");
  static constexpr int size = (Extents * ...);

  TESSERA_TILE static constexpr int extent(int d) {
    constexpr int extents[] = {Extents...};
    return extents[d];
  }
  static constexpr int inner = extent(rank - 1);

  // The coordinates of the element at row-major position `linear`.
  TESSERA_TILE static constexpr tile_coordinates<rank> coordinates(int linear) {
    tile_coordinates<rank> c{};
    for (int d = rank - 1; d > 0; --d) {
      c.at[d] = linear % extent(d);
      linear /= extent(d);
    }
    c.at[0] = linear;
    return c;
  }
};

namespace detail {

// Elements of a chunk: as many as make 16 bytes, as far as they divide the innermost extent. A chunk never crosses a row.
template <class T, class Shape>
TESSERA_TILE constexpr int chunk_elements() {
  int chunk = 1;
  while (2 * chunk * static_cast<int>(sizeof(T)) <= 16 && Shape::inner % (2 * chunk) == 0) chunk *= 2;
  return chunk;
}

// A chunk as one access. May alias the elements it is made of.
template <class T, int N>
struct alignas(sizeof(T) * N) [[gnu::may_alias]] chunk_access {
  T values[N];
};

}  // namespace detail

}  // namespace tessera::inline v0_1
