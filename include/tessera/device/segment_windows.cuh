// Where segments begin: what a segmented operation needs to know of its segments, whatever describes them. One kernel says it in one form,
// a bit a position and the start of the segment that reaches into each window, so that the kernel that computes knows no descriptor.
//
// Positions count in the operation's direction: a backward one sees the array, and its segments, from the end.
#pragma once

#include <cuda/std/cstdint>
#include <cuda/std/limits>

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

// Of the window's first position: where the segment that it belongs to starts, if not there, and how many segments begin before it, where
// the descriptor counts them.
struct window_start {
  cuda::std::int64_t start, segments;
};

// What is known of the segments, in a workspace: words of the run, so that no word of another run can be taken for one of a look-back's.
struct segment_marks {
  node_word<cuda::std::uint32_t>* heads;  // 32 positions each, least first
  node_word<window_start>* starts;
  cuda::std::int64_t words, windows;
  int window_bits;  // positions of a window, as a power of two

  // The first window that begins at a position or behind it.
  __device__ __forceinline__ cuda::std::int64_t window_from(cuda::std::int64_t position) const {
    return (position + (1 << window_bits) - 1) >> window_bits;
  }
  __device__ __forceinline__ void put_heads(cuda::std::uint32_t run, cuda::std::int64_t word, unsigned bits) const {
    if (word < words) heads[word].publish(run, bits);
  }
  __device__ __forceinline__ void put_start(cuda::std::uint32_t run, cuda::std::int64_t number, window_start const& start) const {
    if (number < windows) starts[number].publish(run, start);
  }
};

// A block's share of the marking: positions first .. first + size - 1, whole steps.
struct mark_range {
  cuda::std::int64_t first, size;
  cuda::std::uint32_t run;
};

inline constexpr int mark_threads = 256;

// What a descriptor offers:
//
//   looks_back     whether where a segment starts is found by looking back for its head; else by itself
//   step           positions that a block marks at a time
//   end            positions from here on belong to no segment
//   mark           puts the heads and the starts of a block's range; called by the block
//   for_each_end   use(segment, element) for each segment whose last element is one of first .. last - 1, forward; is_end(element) says
//                  whether one ends there, `before` segments begin before `first`, or more; called by a warp
//   begin, finish, segment_of, size_is_zero   the elements that belong to segments, the segment of one, whether a segment is empty; forward

template <scan_direction Direction>
__device__ __forceinline__ cuda::std::int64_t element_at(cuda::std::int64_t position, cuda::std::int64_t n) {
  return Direction == forward ? position : n - 1 - position;
}

template <class Segments>
struct segment_windows;

// By offsets.
template <class I>
struct segment_windows<segments_at<I>> {
  using i64 = cuda::std::int64_t;
  static constexpr bool looks_back = false;
  static constexpr int step = 32768;
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
  template <scan_direction Direction>
  __device__ __forceinline__ void mark(segment_marks const& marks, mark_range const& range, lookback_header*, lookback<i64> const&,
                                       i64) const {
    __shared__ unsigned word[step / 32];
    i64 const m = segments.count(), end_of_all = end<Direction>(), none = cuda::std::numeric_limits<i64>::max();
    i64 k = boundaries_before<Direction>(range.first);
    for (i64 first = range.first; first < range.first + range.size; first += step) {
      for (int i = static_cast<int>(threadIdx.x); i < step / 32; i += mark_threads) word[i] = 0;
      __syncthreads();
      int passed;
      do {
        constexpr int at_once = 4;  // boundaries of a thread
        i64 at[at_once], before[at_once];
#pragma unroll
        for (int j = 0; j < at_once; ++j) {
          i64 const mine = k + j * mark_threads + static_cast<int>(threadIdx.x);
          at[j] = mine <= m ? boundary<Direction>(mine) : none;
          before[j] = mine > 0 && mine - 1 <= m ? boundary<Direction>(mine - 1) : -1;
        }
#pragma unroll
        for (int j = 0; j < at_once; ++j) {
          i64 const mine = k + static_cast<int>(threadIdx.x);
          bool const inside = at[j] < first + step;
          // Boundaries can be clipped onto each other, and what begins there may be empty: then a later one lies at the same place, or
          // there is nothing.
          if (inside && mine < m && at[j] >= first && at[j] < end_of_all)
            atomicOr(&word[static_cast<int>(at[j] - first) / 32], 1u << (static_cast<int>(at[j] - first) % 32));
          passed = __syncthreads_count(inside ? 1 : 0);
          // Windows that begin behind the boundary before, up to this one.
          if (static_cast<int>(threadIdx.x) <= passed) {
            i64 const from = before[j] < first ? first : before[j] + 1, to = inside ? at[j] : first + step - 1;
            for (i64 w = marks.window_from(from); w << marks.window_bits <= to; ++w)
              marks.put_start(range.run, w, {mine > 0 && mine <= m ? before[j] : no_segment, mine});
          }
          k += passed;
          if (passed < mark_threads) break;
        }
      } while (passed == mark_threads);
      for (int i = static_cast<int>(threadIdx.x); i < step / 32; i += mark_threads) marks.put_heads(range.run, first / 32 + i, word[i]);
      __syncthreads();
    }
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
  template <class IsEnd, class Use>
  __device__ __forceinline__ void for_each_end(i64 first, i64 last, i64 before, int lane, IsEnd const&, Use const& use) const {
    constexpr int at_once = 4;
    i64 const m = segments.count();
    bool more = true;
    for (i64 k = (before > 0 ? before - 1 : 0) + lane; more; k += at_once * 32) {
      i64 from[at_once], to[at_once];
#pragma unroll
      for (int j = 0; j < at_once; ++j) {
        from[j] = to[j] = last + 1;
        if (k + j * 32 < m) {
          from[j] = offset(k + j * 32);
          to[j] = offset(k + j * 32 + 1);
        }
      }
#pragma unroll
      for (int j = 0; j < at_once; ++j) {
        if (to[j] > from[j] && to[j] > first && to[j] <= last) use(k + j * 32, to[j] - 1);
      }
      more = !__any_sync(full_warp, to[at_once - 1] > last);
    }
  }

 private:
  // How many boundaries lie before a position; called by the block, synchronises.
  template <scan_direction Direction>
  __device__ __forceinline__ i64 boundaries_before(i64 position) const {
    i64 low = 0, high = segments.offsets.extent(0);  // the answer lies in [low, high]
    while (low < high) {
      i64 const stride = ceil_div(high - low, mark_threads), probe = low + (static_cast<int>(threadIdx.x) + 1) * stride - 1;
      int const passed = __syncthreads_count(probe < high && boundary<Direction>(probe) < position ? 1 : 0);
      i64 const next = low + passed * stride;
      high = next + stride - 1 < high ? next + stride - 1 : high;
      low = next;
    }
    return low;
  }
};

// By length.
template <>
struct segment_windows<segments_of_length> {
  using i64 = cuda::std::int64_t;
  static constexpr bool looks_back = false;
  static constexpr int step = 8192;
  segments_of_length const& segments;
  i64 n;

  template <scan_direction Direction>
  __device__ __forceinline__ i64 end() const {
    return n;
  }
  template <scan_direction Direction>
  __device__ __forceinline__ void mark(segment_marks const& marks, mark_range const& range, lookback_header*, lookback<i64> const&,
                                       i64) const {
    i64 const length = segments.length;
    for (i64 first = range.first + static_cast<int>(threadIdx.x) * 32; first < range.first + range.size; first += 32 * mark_threads) {
      unsigned bits = 0;
      i64 const rest = first % length;
      for (i64 i = rest == 0 ? 0 : length - rest; i < 32 && first + i < n; i += length) bits |= 1u << i;
      marks.put_heads(range.run, first / 32, bits);
    }
    i64 const behind = range.first + range.size;
    for (i64 w = marks.window_from(range.first) + static_cast<int>(threadIdx.x); w << marks.window_bits < behind; w += mark_threads) {
      i64 const number = (w << marks.window_bits) / length;
      marks.put_start(range.run, w, {number * length, number});
    }
  }
  __device__ __forceinline__ i64 begin() const { return 0; }
  __device__ __forceinline__ i64 finish() const { return n; }
  __device__ __forceinline__ bool size_is_zero(i64) const { return segments.length == 0; }
  __device__ __forceinline__ i64 segment_of(i64 element) const { return element / segments.length; }
  template <class IsEnd, class Use>
  __device__ __forceinline__ void for_each_end(i64 first, i64 last, i64, int lane, IsEnd const&, Use const& use) const {
    for (i64 k = first / segments.length + lane; (k + 1) * segments.length <= last; k += 32) use(k, (k + 1) * segments.length - 1);
  }
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

// By what an element says of itself: begins(at, stride) is whether the one at that address is not of the segment of the one before it,
// which lies `stride` bytes in front.
template <class Derived, class E>
struct windows_by_element {
  using i64 = cuda::std::int64_t;
  static constexpr bool looks_back = true;
  static constexpr int step = 8192;

  template <scan_direction Direction>
  __device__ __forceinline__ i64 end() const {
    return self().n;
  }
  // A warp marks a window at a time. Starts first say where a window's last head is; then, when all of the range's are known, where the
  // last one before the window is.
  template <scan_direction Direction>
  __device__ __forceinline__ void mark(segment_marks const& marks, mark_range const& range, lookback_header* header,
                                       lookback<i64> const& last_heads, i64 tile) const {
    int const lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    i64 const first_window = range.first >> marks.window_bits, windows = range.size >> marks.window_bits;
    for (i64 w = warp; w < windows; w += mark_threads / 32) mark_window<Direction>(marks, range.run, first_window + w, lane);
    __syncthreads();
    if (warp != 0) return;
    auto const last_in = [&](i64 w) {
      window_start known{no_segment, 0};
      if (w < windows && first_window + w < marks.windows) (void)marks.starts[first_window + w].read(range.run, known);
      return known.start;
    };
    auto const later = [](i64 a, i64 b) { return a < b ? b : a; };
    i64 start = no_segment;
    if (gridDim.x > 1) {
      i64 last = no_segment;
      for (i64 w = lane; w < windows; w += 32) last = later(last, last_in(w));
      last = join_lanes<32>(last, lane, later, [](int, i64) {});
      __shared__ i64 list[most_nodes_in_front];
      if (lane == 0 && tile + 1 < gridDim.x) last_heads.publish(range.run, 0, tile, last);
      int const number = last_heads.template gather<200, 0>(range.run, 0, tile, last, later, list);
      for (int k = 0; k < number; ++k) start = later(start, list[k]);
      if (lane == 0 && tile + 1 == gridDim.x) header->finish(gridDim.x);
    }
    for (i64 w = lane; w - lane < windows; w += 32) {
      i64 last = later(start, last_in(w));
      for (int d = 1; d < 32; d *= 2) {
        i64 const before = __shfl_up_sync(full_warp, last, static_cast<unsigned>(d));
        if (lane >= d) last = later(before, last);
      }
      i64 const before = __shfl_up_sync(full_warp, last, 1);
      if (w < windows) marks.put_start(range.run, first_window + w, {lane > 0 ? before : start, 0});
      start = __shfl_sync(full_warp, last, 31);
    }
  }

 private:
  template <scan_direction Direction>
  __device__ __forceinline__ void mark_window(segment_marks const& marks, cuda::std::uint32_t run, i64 number, int lane) const {
    constexpr int at_once = 16;  // rows of 32 elements: all are on their way before the first is looked at
    auto const& array = self().array();
    i64 const n = self().n, first = number << marks.window_bits, stride = array.mapping().byte_stride(0);
    i64 const row = (Direction == forward ? 32 : -32) * stride;
    char const* const begin = reinterpret_cast<char const*>(array.data_handle());
    i64 last = no_segment;
#pragma unroll 1
    for (int done = 0; done < 1 << marks.window_bits; done += at_once * 32) {
      i64 const position = first + done + lane;
      char const* at = begin + (Direction == forward ? position : n - position) * stride;
      bool head[at_once];
      if (first + done > 0 && first + done + at_once * 32 <= n) {
#pragma unroll
        for (int j = 0; j < at_once; ++j, at += row) head[j] = self().begins(reinterpret_cast<E const*>(at), stride);
      } else {
#pragma unroll
        for (int j = 0; j < at_once; ++j, at += row) {
          head[j] = position + j * 32 == 0;
          if (position + j * 32 > 0 && position + j * 32 < n) head[j] = self().begins(reinterpret_cast<E const*>(at), stride);
        }
      }
      unsigned mine = 0;
#pragma unroll
      for (int j = 0; j < at_once; ++j) {
        unsigned const bits = __ballot_sync(full_warp, head[j]);
        if (bits != 0) last = first + done + j * 32 + 31 - __clz(static_cast<int>(bits));
        if (lane == j) mine = bits;
      }
      if (lane < at_once) marks.put_heads(run, (first + done) / 32 + lane, mine);
    }
    if (lane == 0) marks.put_start(run, number, {last, 0});
  }
  __device__ __forceinline__ Derived const& self() const { return static_cast<Derived const&>(*this); }
};

template <class F>
struct segment_windows<segments_from_flags<F>> : windows_by_element<segment_windows<segments_from_flags<F>>, F> {
  segments_from_flags<F> const& segments;
  cuda::std::int64_t n;
  __device__ __forceinline__ segment_windows(segments_from_flags<F> const& s, cuda::std::int64_t count) : segments(s), n(count) {}
  __device__ __forceinline__ auto const& array() const { return segments.flags; }
  __device__ __forceinline__ static bool begins(F const* at, cuda::std::int64_t) { return differ(*at, F{}); }
};

template <class K>
struct segment_windows<segments_by_key<K>> : windows_by_element<segment_windows<segments_by_key<K>>, K> {
  segments_by_key<K> const& segments;
  cuda::std::int64_t n;
  __device__ __forceinline__ segment_windows(segments_by_key<K> const& s, cuda::std::int64_t count) : segments(s), n(count) {}
  __device__ __forceinline__ auto const& array() const { return segments.keys; }
  __device__ __forceinline__ static bool begins(K const* at, cuda::std::int64_t stride) {
    return differ(*at, *reinterpret_cast<K const*>(reinterpret_cast<char const*>(at) - stride));
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
  template <class IsEnd, class Use>
  __device__ __forceinline__ void for_each_end(cuda::std::int64_t first, cuda::std::int64_t last, cuda::std::int64_t, int lane,
                                               IsEnd const& is_end, Use const& use) const {
    constexpr int at_once = 16;
    for (cuda::std::int64_t begin = first + lane; begin < last; begin += at_once * 32) {
      cuda::std::int64_t key[at_once];  // all are on their way before the first is used
#pragma unroll
      for (int j = 0; j < at_once; ++j) {
        cuda::std::int64_t const element = begin + j * 32;
        key[j] = element < last && is_end(element) ? cuda::std::int64_t{index64(segments.keys(element))} : -1;
      }
#pragma unroll
      for (int j = 0; j < at_once; ++j) {
        if (key[j] >= 0 && key[j] < segments.number) use(key[j], begin + j * 32);
      }
    }
  }
};

// ---- the kernel

template <scan_direction Direction, class Segments>
struct mark_arguments {
  static constexpr scan_direction direction = Direction;
  using segments_type = Segments;
  Segments segments;
  cuda::std::int64_t count, range;  // elements; positions that a block marks, whole steps
  segment_marks marks;
  lookback_header* header;
  lookback<cuda::std::int64_t> last_heads;
};

template <class Arguments>
__global__ __launch_bounds__(mark_threads) void mark_segments_kernel(__grid_constant__ Arguments const a) {
  using windows_type = segment_windows<typename Arguments::segments_type>;
  __shared__ cuda::std::uint32_t ticket;
  cuda::std::uint32_t const run = a.header->run();
  cuda::std::int64_t block = blockIdx.x;
  if (windows_type::looks_back && gridDim.x > 1) {
    if (threadIdx.x == 0) ticket = a.header->take(a.header->base());
    __syncthreads();
    block = ticket;
  }
  windows_type const segments{a.segments, a.count};
  segments.template mark<Arguments::direction>(a.marks, {block * a.range, a.range, run}, a.header, a.last_heads, block);
}

}  // namespace tessera::inline v0_1::detail
