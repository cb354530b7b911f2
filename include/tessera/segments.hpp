// How an array is cut into segments, each of which is scanned or reduced alone: by offsets, by a length, by head flags, by keys.
#pragma once

#include <cuda/std/cstdint>
#include <cuda/std/type_traits>

#include <string>

#include <tessera/config.hpp>
#include <tessera/error.hpp>
#include <tessera/view.hpp>

namespace tessera::inline v0_1 {

// Segment k is elements offsets[k] .. offsets[k+1] - 1: one offset more than there are segments, none smaller than the one before it; equal
// ones enclose an empty segment. Elements before the first offset and from the last one on belong to no segment and are not looked at;
// offsets outside the array are its ends. The host refuses offsets of which one is smaller than the one before it. The device does not look
// for them: nothing outside the arrays is touched, but results are anything, and a launch may not end.
template <class I>
struct segments_at {
  view<I const, 1> offsets;

  template <detail::array_like M>
  explicit segments_at(M const& array) : offsets(as_view(array)) {
    static_assert(M::rank() == 1, "segments_at: offsets have one dimension");
    if (offsets.extent(0) < 1) throw usage_error("segments_at: there is no offset; m segments have m + 1");
  }
  TESSERA_TILE constexpr cuda::std::int64_t count() const { return offsets.extent(0) - 1; }
};
template <detail::array_like M>
segments_at(M const&) -> segments_at<cuda::std::remove_const_t<typename M::element_type>>;

// `count` segments of `length` elements each, one behind the other.
struct segments_of_length {
  cuda::std::int64_t length, number;

  segments_of_length(index64 segment_length, index64 count) : length(segment_length), number(count) {
    if (length < 0 || number < 0) {
      throw usage_error("segments_of_length: " + std::to_string(number) + " segments of length " + std::to_string(length) +
                        ": neither can be negative");
    }
  }
  TESSERA_TILE constexpr cuda::std::int64_t count() const { return number; }
};

// A segment begins at element 0 and at each element whose flag is not zero. For scans: how many there are, only the device knows.
template <class F>
struct segments_from_flags {
  view<F const, 1> flags;

  template <detail::array_like M>
  explicit segments_from_flags(M const& array) : flags(as_view(array)) {
    static_assert(M::rank() == 1, "segments_from_flags: flags have one dimension");
  }
};
template <detail::array_like M>
segments_from_flags(M const&) -> segments_from_flags<cuda::std::remove_const_t<typename M::element_type>>;

// Neighbours of equal key are a segment. For a reduction the keys ascend, segment k is the elements of key k, and keys outside 0 .. count -
// 1 are skipped; a scan takes any keys and no count.
template <class K>
struct segments_by_key {
  view<K const, 1> keys;
  cuda::std::int64_t number;

  template <detail::array_like M>
  explicit segments_by_key(M const& array, index64 count = 0) : keys(as_view(array)), number(count) {
    static_assert(M::rank() == 1, "segments_by_key: keys have one dimension");
    if (number < 0) throw usage_error("segments_by_key: " + std::to_string(number) + " segments");
  }
  TESSERA_TILE constexpr cuda::std::int64_t count() const { return number; }
};
template <detail::array_like M>
segments_by_key(M const&, index64 = 0) -> segments_by_key<cuda::std::remove_const_t<typename M::element_type>>;

}  // namespace tessera::inline v0_1
