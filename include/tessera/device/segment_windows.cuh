// Where segments begin, seen from a window of an array: what a segmented operation needs to know of its segments, whatever describes them.
//
// Positions count in the operation's direction: a backward one sees the array, and its segments, from the end.
#pragma once

#include <cuda/std/cstdint>

#include <tessera/arithmetic.hpp>
#include <tessera/config.hpp>
#include <tessera/group/shuffle.cuh>
#include <tessera/segments.hpp>
#include <tessera/tile/scan.hpp>

namespace tessera::inline v0_1::detail {

// One bit a position.
template <int Positions>
struct head_bits {
  static_assert(Positions % 32 == 0);
  unsigned word[Positions / 32];

  __device__ __forceinline__ bool test(int i) const { return (word[i / 32] >> (i % 32) & 1u) != 0; }
  __device__ __forceinline__ void set(int i) { atomicOr(&word[i / 32], 1u << (i % 32)); }
};

inline constexpr cuda::std::int64_t no_segment = -1;

// What a descriptor offers:
//
//   knows_starts   whether the start of the segment that a position belongs to is found by itself; else by looking back for a head
//   end            positions from here on belong to no segment
//   mark           sets the bits of the heads in [first, first + Positions) and, where starts are known, writes where the segment starts
//                  that reaches into it from before, or no_segment; called by the block
//   for_each_end   use(segment, element) for each segment whose last element is one of first .. last - 1, forward; is_end(element) says
//                  whether one ends there; called by the block
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
  static constexpr bool knows_starts = true;
  segments_at<I> const& segments;
  cuda::std::int64_t n;

  __device__ __forceinline__ cuda::std::int64_t offset(cuda::std::int64_t k) const {
    cuda::std::int64_t const at = index64(segments.offsets(k));
    return at < 0 ? 0 : (at < n ? at : n);
  }
  // The number of offsets that are at most `element`; called by the block, synchronises.
  __device__ __forceinline__ cuda::std::int64_t count_up_to(cuda::std::int64_t element) const {
    cuda::std::int64_t low = 0, high = segments.offsets.extent(0);  // the answer lies in [low, high]
    while (low < high) {
      cuda::std::int64_t const step = (high - low + blockDim.x - 1) / blockDim.x, probe = low + (threadIdx.x + 1) * step - 1;
      int const passed = __syncthreads_count(probe < high && offset(probe) <= element ? 1 : 0);
      cuda::std::int64_t const next = low + passed * step;
      high = next + step - 1 < high ? next + step - 1 : high;
      low = next;
    }
    return low;
  }
  template <scan_direction Direction>
  __device__ __forceinline__ cuda::std::int64_t end() const {
    cuda::std::int64_t const m = segments.count();
    return Direction == forward ? offset(m) : n - offset(0);
  }
  // Offsets of heads ascend with the elements in either direction: 0 .. m - 1 forward; backward, where a segment begins behind its last
  // element, 1 .. m.
  template <scan_direction Direction, int Positions>
  __device__ __forceinline__ void mark(cuda::std::int64_t first, cuda::std::int64_t end_of_all, head_bits<Positions>& heads,
                                       cuda::std::int64_t& start) const {
    cuda::std::int64_t const m = segments.count();
    cuda::std::int64_t const low = Direction == forward ? first : n - first - Positions + 1;  // least offset that can be meant
    cuda::std::int64_t const begin = count_up_to(low - 1);
    if (threadIdx.x == 0) start = Direction == forward && begin > 0 && begin <= m ? offset(begin - 1) : no_segment;
    __syncthreads();
    for (cuda::std::int64_t k = begin + threadIdx.x; k <= m; k += blockDim.x) {
      cuda::std::int64_t const at = offset(k), head = Direction == forward ? at : n - at;
      if (at - low >= Positions) {
        // Backward, the first offset beyond the window's ends the segment that reaches into it.
        if (Direction == backward && (k == 0 || offset(k - 1) - low < Positions)) start = k > 0 ? head : no_segment;
        break;
      }
      if (k == (Direction == forward ? m : 0)) continue;
      // Offsets can be clipped onto each other, and what a head begins may be empty: then a later one lies at the same place, or there is
      // nothing.
      if (head >= first && head < first + Positions && head < end_of_all) heads.set(static_cast<int>(head - first));
    }
  }
  __device__ __forceinline__ cuda::std::int64_t begin() const { return offset(0); }
  __device__ __forceinline__ cuda::std::int64_t finish() const { return offset(segments.count()); }
  __device__ __forceinline__ bool size_is_zero(cuda::std::int64_t k) const { return offset(k) == offset(k + 1); }
  // The last segment that starts at or before the element: those before it at the same place are empty.
  __device__ __forceinline__ cuda::std::int64_t segment_of(cuda::std::int64_t element) const {
    cuda::std::int64_t low = 0, high = segments.offsets.extent(0);
    while (low < high) {
      cuda::std::int64_t const middle = low + (high - low) / 2;
      if (offset(middle) <= element) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low - 1;
  }
  template <class IsEnd, class Use>
  __device__ __forceinline__ void for_each_end(cuda::std::int64_t first, cuda::std::int64_t last, IsEnd const&, Use const& use) const {
    cuda::std::int64_t const m = segments.count();
    for (cuda::std::int64_t k = count_up_to(first) - 1 + threadIdx.x; k < m; k += blockDim.x) {
      cuda::std::int64_t const begin = k < 0 ? 0 : offset(k), end = offset(k + 1);
      if (end > last) break;
      if (k >= 0 && end > begin && end > first) use(k, end - 1);
    }
  }
};

// By length.
template <>
struct segment_windows<segments_of_length> {
  static constexpr bool knows_starts = true;
  segments_of_length const& segments;
  cuda::std::int64_t n;

  template <scan_direction Direction>
  __device__ __forceinline__ cuda::std::int64_t end() const {
    return n;
  }
  template <scan_direction Direction, int Positions>
  __device__ __forceinline__ void mark(cuda::std::int64_t first, cuda::std::int64_t, head_bits<Positions>& heads,
                                       cuda::std::int64_t& start) const {
    cuda::std::int64_t const rest = first % segments.length;
    if (threadIdx.x == 0) start = first - rest;
    cuda::std::int64_t const begin = rest == 0 ? 0 : segments.length - rest;
    for (cuda::std::int64_t i = begin + static_cast<cuda::std::int64_t>(threadIdx.x) * segments.length; i < Positions;
         i += static_cast<cuda::std::int64_t>(blockDim.x) * segments.length) {
      if (first + i < n) heads.set(static_cast<int>(i));
    }
  }
  __device__ __forceinline__ cuda::std::int64_t begin() const { return 0; }
  __device__ __forceinline__ cuda::std::int64_t finish() const { return n; }
  __device__ __forceinline__ bool size_is_zero(cuda::std::int64_t) const { return segments.length == 0; }
  __device__ __forceinline__ cuda::std::int64_t segment_of(cuda::std::int64_t element) const { return element / segments.length; }
  template <class IsEnd, class Use>
  __device__ __forceinline__ void for_each_end(cuda::std::int64_t first, cuda::std::int64_t last, IsEnd const&, Use const& use) const {
    for (cuda::std::int64_t k = first / segments.length + threadIdx.x; (k + 1) * segments.length <= last; k += blockDim.x)
      use(k, (k + 1) * segments.length - 1);
  }
};

// By what an element says of itself: begins(element) is whether it is not of the segment of the element before it.
template <class Derived>
struct windows_by_element {
  static constexpr bool knows_starts = false;

  template <scan_direction Direction>
  __device__ __forceinline__ cuda::std::int64_t end() const {
    return self().n;
  }
  template <scan_direction Direction, int Positions>
  __device__ __forceinline__ void mark(cuda::std::int64_t first, cuda::std::int64_t, head_bits<Positions>& heads,
                                       cuda::std::int64_t&) const {
    cuda::std::int64_t const n = self().n;
    constexpr int at_once = 15;  // that are read before the first is looked at
    for (int begin = 0; begin < Positions; begin += at_once * static_cast<int>(blockDim.x)) {
      bool head[at_once];
#pragma unroll
      for (int j = 0; j < at_once; ++j) {
        cuda::std::int64_t const position = first + begin + j * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x);
        head[j] = position == 0;
        if (position > 0 && position < n) head[j] = self().begins(Direction == forward ? position : n - position);
      }
#pragma unroll
      for (int j = 0; j < at_once; ++j) {
        unsigned const bits = __ballot_sync(full_warp, head[j]);
        int const place = begin + j * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x);
        if (threadIdx.x % 32 == 0 && place < Positions) heads.word[place / 32] = bits;
      }
    }
  }

 private:
  __device__ __forceinline__ Derived const& self() const { return static_cast<Derived const&>(*this); }
};

template <class F>
struct segment_windows<segments_from_flags<F>> : windows_by_element<segment_windows<segments_from_flags<F>>> {
  segments_from_flags<F> const& segments;
  cuda::std::int64_t n;
  __device__ __forceinline__ segment_windows(segments_from_flags<F> const& s, cuda::std::int64_t count) : segments(s), n(count) {}
  __device__ __forceinline__ bool begins(cuda::std::int64_t element) const { return segments.flags(element) != F{}; }
};

template <class K>
struct segment_windows<segments_by_key<K>> : windows_by_element<segment_windows<segments_by_key<K>>> {
  segments_by_key<K> const& segments;
  cuda::std::int64_t n;
  __device__ __forceinline__ segment_windows(segments_by_key<K> const& s, cuda::std::int64_t count) : segments(s), n(count) {}
  __device__ __forceinline__ bool begins(cuda::std::int64_t element) const { return segments.keys(element) != segments.keys(element - 1); }
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
  __device__ __forceinline__ void for_each_end(cuda::std::int64_t first, cuda::std::int64_t last, IsEnd const& is_end,
                                               Use const& use) const {
    for (cuda::std::int64_t element = first + threadIdx.x; element < last; element += blockDim.x) {
      if (!is_end(element)) continue;
      cuda::std::int64_t const key = index64(segments.keys(element));
      if (key >= 0 && key < segments.number) use(key, element);
    }
  }
};

}  // namespace tessera::inline v0_1::detail
