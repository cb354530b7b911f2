// How a warp's rows come from memory and go there: 16 bytes a lane where the array is contiguous, whatever its alignment, and element by
// element elsewhere. Positions count in the scan's direction.
#pragma once

#include <cuda/std/bit>
#include <cuda/std/cstdint>
#include <cuda/std/type_traits>

#include <tessera/accumulate.hpp>
#include <tessera/config.hpp>
#include <tessera/group/shuffle.cuh>
#include <tessera/source.hpp>
#include <tessera/tile/scan.hpp>
#include <tessera/view.hpp>

namespace tessera::inline v0_1::detail {

struct alignas(16) vector_bytes {
  unsigned word[4];
};

// The 16 bytes that begin `skew` (0 .. 15) bytes into `low`, `high` being the 16 behind it.
__device__ __forceinline__ vector_bytes bytes_at(vector_bytes const& low, vector_bytes const& high, unsigned skew) {
  unsigned word[8] = {low.word[0], low.word[1], low.word[2], low.word[3], high.word[0], high.word[1], high.word[2], high.word[3]};
  if ((skew & 8u) != 0) {
#pragma unroll
    for (int i = 0; i < 6; ++i) word[i] = word[i + 2];
  }
  if ((skew & 4u) != 0) {
#pragma unroll
    for (int i = 0; i < 5; ++i) word[i] = word[i + 1];
  }
  if ((skew & 3u) != 0) {
#pragma unroll
    for (int i = 0; i < 4; ++i) word[i] = __funnelshift_r(word[i], word[i + 1], 8 * (skew & 3u));
  }
  return {{word[0], word[1], word[2], word[3]}};
}

// What a source keeps in memory, and the value that an element of it stands for; `memory_type` is void where only source(i) can tell.
template <class S>
struct source_memory {
  using memory_type = void;
};
template <class T>
struct source_memory<view<T, 1>> {
  using memory_type = cuda::std::remove_const_t<T>;
  __host__ __device__ __forceinline__ static auto const& array(view<T, 1> const& s) { return s; }
  __device__ __forceinline__ static memory_type const& value(view<T, 1> const&, memory_type const& element) { return element; }
};
template <class Function, class T>
struct source_memory<transformed_source<Function, view<T, 1>>> {
  using memory_type = cuda::std::remove_const_t<T>;
  using source_type = transformed_source<Function, view<T, 1>>;
  __host__ __device__ __forceinline__ static auto const& array(source_type const& s) { return s.first_source(); }
  __device__ __forceinline__ static auto value(source_type const& s, memory_type const& element) { return s.apply(element); }
};

// Whether 16 bytes hold a power of two of a source's elements.
template <class S>
inline constexpr bool has_vectors = [] {
  using memory_type = typename source_memory<S>::memory_type;
  if constexpr (cuda::std::is_void_v<memory_type>) {
    return false;
  } else {
    return cuda::std::is_trivially_copyable_v<memory_type> && sizeof(memory_type) <= 16 && 16 % sizeof(memory_type) == 0;
  }
}();

// Elements that a lane takes of a row: 16 bytes of what is in memory, else of what is computed.
template <class S, class T>
inline constexpr int lane_width = [] {
  if constexpr (has_vectors<S>) {
    return static_cast<int>(16 / sizeof(typename source_memory<S>::memory_type));
  } else {
    return static_cast<int>(sizeof(T) >= 16 ? 1 : 16 / cuda::std::bit_ceil(sizeof(T)));
  }
}();

template <class T>
struct packed_elements {
  T element[16 / sizeof(T)];
};

// Where the elements of a tile lie, positions first .. first + size - 1 of an array of `count` elements. `lowest` is the address of the one that
// comes first in memory, in the array itself or in a copy; `complete` says that all 16-byte pieces of the tile may be read there. Else its
// elements are asked of the source.
struct tile_place {
  cuda::std::int64_t count, first;
  char const* lowest;
  int size;
  bool complete;
};

// Reads a tile of a source, converted to T.
template <scan_direction Direction, class T, class S>
class tile_reader {
 public:
  static constexpr int width = lane_width<S, T>;
  using memory_type = typename source_memory<S>::memory_type;

  __device__ __forceinline__ tile_reader(S const& source, tile_place const& place) : source_(source), place_(place) {}

  // `Rows` times `width` values: row i from the tile's position at + i * step on, a multiple of the width. What does not exist is T{}.
  template <int Rows>
  __device__ __forceinline__ void read(int at, int step, T (&value)[Rows][width]) const {
    if constexpr (has_vectors<S>) {
      if (place_.complete) {
        constexpr int bytes = sizeof(memory_type);
        unsigned const skew = static_cast<unsigned>(reinterpret_cast<cuda::std::uintptr_t>(place_.lowest)) & 15u;
        auto const* const from =
            reinterpret_cast<vector_bytes const*>(place_.lowest - skew + (Direction == forward ? at : place_.size - width - at) * bytes);
        int const next = (Direction == forward ? step : -step) / width;
        vector_bytes bits[Rows];
#pragma unroll
        for (int i = 0; i < Rows; ++i) bits[i] = from[i * next];
        if (skew != 0) {
#pragma unroll
          for (int i = 0; i < Rows; ++i) bits[i] = bytes_at(bits[i], from[i * next + 1], skew);
        }
#pragma unroll
        for (int i = 0; i < Rows; ++i) {
          auto const elements = cuda::std::bit_cast<packed_elements<memory_type>>(bits[i]);
#pragma unroll
          for (int v = 0; v < width; ++v) value[i][v] = converted(source_, elements.element[Direction == forward ? v : width - 1 - v]);
        }
        return;
      }
    }
#pragma unroll
    for (int i = 0; i < Rows; ++i) {
#pragma unroll
      for (int v = 0; v < width; ++v) {
        cuda::std::int64_t const p = place_.first + (at + i * step + v);
        value[i][v] = T{};
        if (p >= place_.count) continue;
        auto const element = source_(Direction == forward ? p : place_.count - 1 - p);
        value[i][v] = conversion<T, cuda::std::remove_cvref_t<decltype(element)>>::of(element);
      }
    }
  }

 private:
  template <class M>
  __device__ __forceinline__ static T converted(S const& source, M const& element) {
    auto const value = source_memory<S>::value(source, element);
    return conversion<T, cuda::std::remove_cvref_t<decltype(value)>>::of(value);
  }

  S const& source_;
  tile_place const& place_;
};

// Writes a warp's rows: value(r, v), already final, is position first + (32 r + lane) Width + v of an array of `count` elements.
template <scan_direction Direction, int Rows, int Width, class Out, class Value>
__device__ __forceinline__ void write_rows(Out const& out, cuda::std::int64_t count, cuda::std::int64_t first, int lane, bool contiguous,
                                           Value const& value) {
  using element = typename Out::element_type;
  constexpr int size = Rows * 32 * Width;
  bool const all = first + size <= count;
  if constexpr (sizeof(element) * Width == 16) {
    if (all && contiguous) {
      char* const lowest = reinterpret_cast<char*>(&out(Direction == forward ? first : count - first - size));
      unsigned const skew = static_cast<unsigned>(reinterpret_cast<cuda::std::uintptr_t>(lowest)) & 15u;
      vector_bytes bits[Rows];
#pragma unroll
      for (int r = 0; r < Rows; ++r) {
        packed_elements<element> packed;
#pragma unroll
        for (int v = 0; v < Width; ++v) packed.element[Direction == forward ? v : Width - 1 - v] = value(r, v);
        bits[r] = cuda::std::bit_cast<vector_bytes>(packed);
      }
      auto const offset = [&](int r) { return Direction == forward ? (r * 32 + lane) * 16 : (Rows * 32 - 1 - r * 32 - lane) * 16; };
      if (skew == 0) {
#pragma unroll
        for (int r = 0; r < Rows; ++r) *reinterpret_cast<vector_bytes*>(lowest + offset(r)) = bits[r];
        return;
      }
      // A lane writes the aligned 16 bytes that its own end in and those of its neighbour in memory begin in; the ends of the piece go one by
      // one.
      unsigned const head = 16u - skew;  // bytes of the lane's own that lie before the aligned address
#pragma unroll
      for (int r = 0; r < Rows; ++r) {
        // The neighbour at the next higher address.
        vector_bytes above;
        int const other_row = Direction == forward ? (r + 1 < Rows ? r + 1 : r) : (r > 0 ? r - 1 : r);
        int const neighbour = Direction == forward ? (lane + 1) % 32 : (lane + 31) % 32, edge = Direction == forward ? 31 : 0;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          // The lane that is asked for its other row is the one at the far end.
          unsigned const given = lane == 31 - edge ? bits[other_row].word[i] : bits[r].word[i];
          above.word[i] = shuffle(given, neighbour);
        }
        bool const top = lane == edge && (Direction == forward ? r + 1 == Rows : r == 0);
        bool const bottom = lane == 31 - edge && (Direction == forward ? r == 0 : r + 1 == Rows);
        char* const own = lowest + offset(r);
        if (bottom || top) {
          auto const mine = cuda::std::bit_cast<packed_elements<element>>(bits[r]);
#pragma unroll
          for (int v = 0; v < Width; ++v) {
            bool const before_aligned = v * sizeof(element) < head;
            if (before_aligned ? bottom : top) reinterpret_cast<element*>(own)[v] = mine.element[v];
          }
        }
        if (!top) *reinterpret_cast<vector_bytes*>(own + head) = bytes_at(bits[r], above, head);
      }
      return;
    }
  }
#pragma unroll
  for (int r = 0; r < Rows; ++r) {
#pragma unroll
    for (int v = 0; v < Width; ++v) {
      cuda::std::int64_t const p = first + (r * 32 + lane) * Width + v;
      if (p < count) out(Direction == forward ? p : count - 1 - p) = value(r, v);
    }
  }
}

}  // namespace tessera::inline v0_1::detail
