// Where segments begin: what a segmented operation needs to know of its segments, whatever describes them. A block marks some windows of
// positions in its shared memory, a bit a position, so that all that follows knows no descriptor.
//
// Positions count in the operation's direction: a backward one sees the array, and its segments, from the end.
#pragma once

#include <cuda/std/cstdint>
#include <cuda/std/limits>
#include <cuda/std/type_traits>

#include <tessera/arithmetic.hpp>
#include <tessera/config.hpp>
#include <tessera/group/block_position.hpp>
#include <tessera/group/shuffle.cuh>
#include <tessera/group/warp_rows.cuh>
#include <tessera/lookback/lookback.cuh>
#include <tessera/segments.hpp>
#include <tessera/tile/scan.hpp>

namespace tessera::inline v0_1::detail {

inline constexpr cuda::std::int64_t no_segment = -1;

inline constexpr int mark_warps = 8, mark_threads = 32 * mark_warps;

// The marks of a block, in shared memory: of a window a warp, and of one more, since where segments begin there limits what begins before.
template <int Window>
struct block_marks {
  static constexpr int window = Window, windows = mark_warps, words = Window / 32, positions = (windows + 1) * Window;
  unsigned heads[(windows + 1) * words];        // 32 positions each, least first
  cuda::std::int64_t last_of_warp[mark_warps];  // head, while blocks look back
  cuda::std::int64_t start;                     // of the segment that the first position belongs to, if it does not start there
};

// What a descriptor offers:
//
//   looks_back     whether where a segment starts is found by looking back for its head; else by itself
//   end            positions from here on belong to no segment
//   mark           marks the windows from position `first` on; called by the block, which synchronises afterwards
//   begin, finish, segment_of, size_is_zero   the elements that belong to segments, the segment of one, whether a segment is empty; forward
//
// Those by offsets and by length: offset(k), where segment k begins, and near(position), a guess which one does there.

// How blocks look back for the last head in front of them.
struct head_lookback {
  lookback_header* header;
  lookback<cuda::std::int64_t> last_heads;
  cuda::std::uint32_t run;
  cuda::std::int64_t block, blocks;
};

template <scan_direction Direction>
__device__ __forceinline__ cuda::std::int64_t element_at(cuda::std::int64_t position, cuda::std::int64_t n) {
  return Direction == forward ? position : n - 1 - position;
}

// The first place of low .. high that a condition does not hold for, which it does for those in front of it; `high` is where it never does.
// passed(low, high, step) says for how many of `AtOnce` places, each `step` behind the one before, the first of them low + step - 1, and
// all below `high`, it holds.
template <int AtOnce, class Passed>
__device__ __forceinline__ cuda::std::int64_t search_together(cuda::std::int64_t low, cuda::std::int64_t high, Passed const& passed) {
#pragma unroll 1
  while (low < high) {
    cuda::std::int64_t const step = ceil_div(high - low, AtOnce);
    low += passed(low, high, step) * step;
    if (low + step <= high) high = low + step - 1;
  }
  return low;
}

template <class Segments>
struct segment_windows;

// By offsets.
template <class I>
struct segment_windows<segments_at<I>> {
  using i64 = cuda::std::int64_t;
  static constexpr bool looks_back = false;
  segments_at<I> const& segments;
  i64 n;

  __device__ __forceinline__ i64 offset(i64 k) const {
    i64 const at = index64(segments.offsets(k));
    return at < 0 ? 0 : (at < n ? at : n);
  }
  // Offset k in the order of positions: a backward operation's segment begins behind its last element.
  template <scan_direction Direction>
  __device__ __forceinline__ i64 boundary(i64 k) const {
    return Direction == forward ? offset(k) : n - offset(segments.count() - k);
  }
  template <scan_direction Direction>
  __device__ __forceinline__ i64 end() const {
    return boundary<Direction>(segments.count());
  }
  template <scan_direction Direction, class Marks>
  __device__ __forceinline__ void mark(Marks& marks, i64 first, head_lookback const&) const {
    i64 const m = segments.count();
    constexpr int end_of_marks = Marks::positions;
    for (int i = static_cast<int>(threadIdx.x); i < end_of_marks / 32; i += mark_threads) marks.heads[i] = 0;
    i64 const passed = boundaries_before<Direction>(0, first);
    // Counted from `first`; far off ones lie just in front of it or at the end.
    auto const place_of = [&](i64 k) {
      i64 const place = (k <= m ? boundary<Direction>(k) : cuda::std::numeric_limits<i64>::max()) - first;
      return static_cast<int>(place < -1 ? -1 : (place < end_of_marks ? place : end_of_marks));
    };
    int const end_of_all = place_of(m);
    if (threadIdx.x == 0) marks.start = passed > 0 && passed <= m ? boundary<Direction>(passed - 1) : no_segment;
    constexpr int at_once = 4;  // boundaries of a thread
    i64 next = passed;
    while (true) {
      i64 const k = next + static_cast<int>(threadIdx.x);
      int at[at_once];
#pragma unroll
      for (int j = 0; j < at_once; ++j) at[j] = place_of(k + j * mark_threads);
#pragma unroll
      for (int j = 0; j < at_once; ++j) {
        i64 const mine = k + j * mark_threads;
        // Boundaries can be clipped onto each other, and what begins there may be empty: then a later one lies at the same place, or
        // there is nothing. Offsets that do not ascend can lie in front.
        if (mine < m && at[j] >= 0 && at[j] < end_of_all) atomicOr(&marks.heads[at[j] / 32], 1u << (at[j] % 32));
      }
      next += at_once * mark_threads;
      if (__syncthreads_or(at[at_once - 1] < end_of_marks ? 1 : 0) == 0) break;
      // Where all lie at one place, all others there are passed at once.
      if (__syncthreads_and(at[0] == at[at_once - 1] ? 1 : 0) != 0) next = boundaries_before<Direction>(next, first + at[0] + 1);
    }
  }
  // The boundary that would lie at the position if all segments were as long.
  __device__ __forceinline__ i64 near(i64 position) const {
    return static_cast<i64>(static_cast<double>(position) / static_cast<double>(n) * static_cast<double>(segments.count()));
  }
  __device__ __forceinline__ i64 begin() const { return offset(0); }
  __device__ __forceinline__ i64 finish() const { return offset(segments.count()); }
  __device__ __forceinline__ bool size_is_zero(i64 k) const { return offset(k) == offset(k + 1); }
  // The last segment that starts at or before the element: those before it at the same place are empty.
  __device__ __forceinline__ i64 segment_of(i64 element) const {
    i64 low = 0, high = segments.offsets.extent(0);
    while (low < high) {
      i64 const middle = low + (high - low) / 2;
      if (offset(middle) <= element) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low - 1;
  }

 private:
  // The first boundary from k on that does not lie before a position; called by the block, synchronises.
  template <scan_direction Direction>
  __device__ __forceinline__ i64 boundaries_before(i64 k, i64 position) const {
    return search_together<mark_threads>(k, segments.offsets.extent(0), [&](i64 low, i64 high, i64 step) {
      i64 const at = low + (static_cast<int>(threadIdx.x) + 1) * step - 1;
      return __syncthreads_count(at < high && boundary<Direction>(at) < position ? 1 : 0);
    });
  }
};

// By length.
template <>
struct segment_windows<segments_of_length> {
  using i64 = cuda::std::int64_t;
  static constexpr bool looks_back = false;
  segments_of_length const& segments;
  i64 n;

  __device__ __forceinline__ i64 offset(i64 k) const { return k * segments.length; }
  __device__ __forceinline__ i64 near(i64 position) const { return segments.length > 0 ? position / segments.length : 0; }
  template <scan_direction Direction>
  __device__ __forceinline__ i64 end() const {
    return n;
  }
  template <scan_direction Direction, class Marks>
  __device__ __forceinline__ void mark(Marks& marks, i64 first, head_lookback const&) const {
    i64 const length = segments.length;
    if (threadIdx.x == 0) marks.start = first / length * length;
    for (int word = static_cast<int>(threadIdx.x); word < Marks::positions / 32; word += mark_threads) {
      i64 const at = first + word * 32, rest = at % length;
      unsigned bits = 0;
      for (i64 i = rest == 0 ? 0 : length - rest; i < 32 && at + i < n; i += length) bits |= 1u << i;
      marks.heads[word] = bits;
    }
  }
  __device__ __forceinline__ i64 begin() const { return 0; }
  __device__ __forceinline__ i64 finish() const { return n; }
  __device__ __forceinline__ bool size_is_zero(i64) const { return segments.length == 0; }
  __device__ __forceinline__ i64 segment_of(i64 element) const { return element / segments.length; }
};

// a != b; of floating-point values by their bits, so that a compiler that flushes subnormals takes none for 0.
template <class E>
__device__ __forceinline__ bool differ(E const& a, E const& b) {
  if constexpr (cuda::std::is_floating_point_v<E>) {
    auto const x = bits_of(a), y = bits_of(b);
    return is_nan(a) || is_nan(b) || (x != y && ((x | y) & ~float_bits<E>::sign) != 0);
  } else {
    return a != b;
  }
}

// The place of the n-th bit that is set, counted from 0 and the least one; `bits` has more than n.
__device__ __forceinline__ int place_of_bit(unsigned bits, int n) {
  int place = 0;
#pragma unroll
  for (int d = 16; d > 0; d /= 2) {
    int const below = __popc(bits & ((1u << d) - 1u));
    if (below > n) continue;
    n -= below;
    bits >>= d;
    place += d;
  }
  return place;
}

// By what an element says of itself: at a position lies the element that says whether a segment begins there, begins(element, before) from
// it and, if `compares`, the one at the position before.
template <class Derived, class E>
struct windows_by_element {
  using i64 = cuda::std::int64_t;
  static constexpr bool looks_back = true;

  template <scan_direction Direction>
  __device__ __forceinline__ i64 end() const {
    return self().n;
  }
  // A warp marks a piece at a time.
  template <scan_direction Direction, class Marks>
  __device__ __forceinline__ void mark(Marks& marks, i64 first, head_lookback const& others) const {
    constexpr int rows = most_rows, piece = rows * 32, pieces = Marks::positions / piece;
    static_assert(Marks::window % piece == 0);
    int const lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    i64 last = no_segment;  // head in the warp's pieces of the windows that are the block's own
    for (int i = warp; i < pieces; i += mark_warps) {
      i64 const at = first + i * piece;
      unsigned const bits = mark_rows<Direction, rows>(at, lane);
      if (lane < rows) marks.heads[i * rows + lane] = bits;
      if (i < pieces - Marks::window / piece && bits != 0) last = at + lane * 32 + 31 - __clz(static_cast<int>(bits));
    }
    auto const later = [](i64 a, i64 b) { return a < b ? b : a; };
    auto const nothing = [](int, i64) {};
    last = join_lanes<32>(last, lane, later, nothing);
    if (lane == 0) marks.last_of_warp[warp] = last;
    __syncthreads();
    if (warp != 0) return;
    last = join_lanes<32>(lane < mark_warps ? marks.last_of_warp[lane] : no_segment, lane, later, nothing);
    i64 start = no_segment;
    if (others.blocks > 1) {
      __shared__ i64 list[most_nodes_in_front];
      if (lane == 0 && others.block + 1 < others.blocks) others.last_heads.publish(others.run, 0, others.block, last);
      int const number = others.last_heads.template gather<200>(others.run, 0, others.block, last, later, list);
      for (int k = 0; k < number; ++k) start = later(start, list[k]);
      if (lane == 0 && others.block + 1 == others.blocks) others.header->finish(static_cast<cuda::std::uint32_t>(others.blocks));
    }
    if (lane == 0) marks.start = start;
  }

  static constexpr int most_rows = sizeof(E) <= 4 ? 16 : 8;  // on their way at once

  // Of rows of 32 positions, the first from `first` on, a bit a position where a segment begins: row l's come to lane l of a warp.
  template <scan_direction Direction, int Rows>
  __device__ __forceinline__ unsigned mark_rows(i64 first, int lane) const {
    constexpr int piece = Rows * 32;
    auto const& array = self().array();
    i64 const n = self().n, stride = array.mapping().byte_stride(0);
    if (first >= n) return 0;
    auto const of = [&](i64 position) {
      return reinterpret_cast<char const*>(array.data_handle()) + self().template at<Direction>(position) * stride;
    };
    char const* const from = of(first + lane);
    E before{};
    if (Derived::compares && first > 0 && lane == 0) before = *reinterpret_cast<E const*>(of(first - 1));
    E element[Rows];
    auto const read = [&](auto row, auto const& is_there) {
#pragma unroll
      for (int j = 0; j < Rows; ++j) {
        if (is_there(j)) element[j] = *reinterpret_cast<E const*>(from + j * row);
      }
    };
    unsigned mine = 0;
    auto const mark = [&](auto const& begins) {
#pragma unroll
      for (int j = 0; j < Rows; ++j) {
        E beside = before;
        if constexpr (Derived::compares) {
          E const turned = shuffle(element[j], (lane + 31) % 32);
          if (lane > 0) beside = turned;
          before = turned;
        }
        unsigned const bits = __ballot_sync(full_warp, begins(j, Derived::begins(element[j], beside)));
        if (lane == j) mine = bits;
      }
    };
    if (first > 0 && first + piece <= n) {
      auto const all = [](int) { return true; };
      if (stride == sizeof(E)) {
        read(cuda::std::integral_constant<int, row_step<Direction> * static_cast<int>(sizeof(E))>{}, all);
      } else {
        read(row_step<Direction> * stride, all);
      }
      mark([](int, bool begins) { return begins; });
    } else {
      int const places = static_cast<int>(first + piece <= n ? piece : n - first) - lane;  // from the lane's first one on
      bool const at_first = first + lane == 0;  // where a segment begins in any case, and a backward operation has no flag
#pragma unroll
      for (int j = 0; j < Rows; ++j) element[j] = E{};
      read(row_step<Direction> * stride, [&](int j) { return j * 32 < places && (Derived::compares || j > 0 || !at_first); });
      mark([&](int j, bool begins) { return j * 32 < places && (begins || (j == 0 && at_first)); });
    }
    return mine;
  }

 private:
  template <scan_direction Direction>
  static constexpr int row_step = Direction == forward ? 32 : -32;
  __device__ __forceinline__ Derived const& self() const { return static_cast<Derived const&>(*this); }
};

template <class F>
struct segment_windows<segments_from_flags<F>> : windows_by_element<segment_windows<segments_from_flags<F>>, F> {
  segments_from_flags<F> const& segments;
  cuda::std::int64_t n;
  __device__ __forceinline__ segment_windows(segments_from_flags<F> const& s, cuda::std::int64_t count) : segments(s), n(count) {}
  __device__ __forceinline__ auto const& array() const { return segments.flags; }
  static constexpr bool compares = false;
  __device__ __forceinline__ static bool begins(F const& flag, F const&) { return differ(flag, F{}); }
  // Of a backward operation a segment begins in front of a flag.
  template <scan_direction Direction>
  __device__ __forceinline__ cuda::std::int64_t at(cuda::std::int64_t position) const {
    return Direction == forward ? position : n - position;
  }
};

template <class K>
struct segment_windows<segments_by_key<K>> : windows_by_element<segment_windows<segments_by_key<K>>, K> {
  segments_by_key<K> const& segments;
  cuda::std::int64_t n;
  __device__ __forceinline__ segment_windows(segments_by_key<K> const& s, cuda::std::int64_t count) : segments(s), n(count) {}
  __device__ __forceinline__ auto const& array() const { return segments.keys; }
  static constexpr bool compares = true;
  __device__ __forceinline__ static bool begins(K const& key, K const& before) { return differ(key, before); }
  template <scan_direction Direction>
  __device__ __forceinline__ cuda::std::int64_t at(cuda::std::int64_t position) const {
    return element_at<Direction>(position, n);
  }
  // The first element whose key is at least k.
  __device__ __forceinline__ cuda::std::int64_t from_key(cuda::std::int64_t k) const {
    cuda::std::int64_t low = 0, high = n;
    while (low < high) {
      cuda::std::int64_t const middle = low + (high - low) / 2;
      if (cuda::std::int64_t{index64(segments.keys(middle))} < k) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
  __device__ __forceinline__ cuda::std::int64_t begin() const { return from_key(0); }
  __device__ __forceinline__ cuda::std::int64_t finish() const { return from_key(segments.number); }
  __device__ __forceinline__ bool size_is_zero(cuda::std::int64_t k) const {
    cuda::std::int64_t const at = from_key(k);
    return at == n || cuda::std::int64_t{index64(segments.keys(at))} != k;
  }
  __device__ __forceinline__ cuda::std::int64_t segment_of(cuda::std::int64_t element) const { return index64(segments.keys(element)); }
};

}  // namespace tessera::inline v0_1::detail
