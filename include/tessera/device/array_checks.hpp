// What the operations on whole arrays check of their arrays, on both backends.
#pragma once

#include <cstdint>
#include <string>

#include <tessera/config.hpp>
#include <tessera/error.hpp>
#include <tessera/segments.hpp>
#include <tessera/source.hpp>
#include <tessera/view.hpp>

namespace tessera::inline v0_1::detail {

// Throws usage_error where an array that has elements is null. Sources that are computed have no address.
template <class S>
void require_memory(char const* call, char const* what, S const& array) {
  if constexpr (requires { array.data_handle(); }) {
    if (array.size() > 0 && array.data_handle() == nullptr) throw usage_error(std::string(call) + ": the " + what + " is null");
  }
}

// Throws usage_error unless `got`, the elements (rows, columns) that something has, are as many as are needed.
inline void require_extent_is(char const* call, char const* what, std::int64_t got, std::int64_t wanted, char const* unit = "elements") {
  if (got != wanted) {
    throw usage_error(std::string(call) + ": " + what + " " + std::to_string(got) + " " + unit + "; " + std::to_string(wanted) +
                      " are needed");
  }
}

// Of a scan: as many elements in as out, each element of the output its own.
template <class In, class Out>
void check_scan(char const* call, In const& in, Out const& out) {
  require_extent_is(call, "the output has", out.extent(0), in.extent(0));
  check_distinct_elements(out, call);
  require_memory(call, "input", in);
  require_memory(call, "output", out);
}

// Of a result.
template <class T>
void check_result(char const* call, T* out) {
  if (out == nullptr) throw usage_error(std::string(call) + ": the output is null");
}

// Of a segmented reduction: an element, or a row of as many columns, for each segment.
template <class In, class Segments, class Out>
void check_segmented_result(char const* call, In const& in, Segments const& segments, Out const& out) {
  require_extent_is(call, "the output has", out.extent(0), segments.count(), Out::rank() == 2 ? "rows" : "elements");
  if constexpr (Out::rank() == 2) require_extent_is(call, "the output has", out.extent(1), in.extent(1), "columns");
  check_distinct_elements(out, call);
  require_memory(call, "input", in);
  require_memory(call, "output", out);
}

// Segments that describe an array of `elements` elements.
template <class I>
void check_segments(char const* call, segments_at<I> const& segments, std::int64_t) {
  require_memory(call, "array of offsets", segments.offsets);
}
template <class F>
void check_segments(char const* call, segments_from_flags<F> const& segments, std::int64_t elements) {
  require_extent_is(call, "the flags have", segments.flags.extent(0), elements);
  require_memory(call, "array of flags", segments.flags);
}
template <class K>
void check_segments(char const* call, segments_by_key<K> const& segments, std::int64_t elements) {
  require_extent_is(call, "the keys have", segments.keys.extent(0), elements);
  require_memory(call, "array of keys", segments.keys);
}
inline void check_segments(char const* call, segments_of_length const& segments, std::int64_t elements) {
  // Their product can be too large for a number.
  bool const fits = segments.length == 0 || segments.number <= elements / segments.length;
  if (!fits || segments.length * segments.number != elements) {
    throw usage_error(std::string(call) + ": " + std::to_string(segments.number) + " segments of length " +
                      std::to_string(segments.length) + " are not the array's " + std::to_string(elements) + " elements");
  }
}

template <class Segments>
inline constexpr bool has_count = requires(Segments const& s) { s.count(); };

}  // namespace tessera::inline v0_1::detail
