// How the arrays of the segmented measurements are cut.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../support/cases.hpp"
#include "../support/values.hpp"

namespace benchmark {

// Segments of `length` elements (rows) each, the last one of what is left; or of so many on average, by Zipf's law and in random order.
// In the middle of them lie `empty` ones that have none.
struct segment_pattern {
  std::int64_t length;
  bool by_zipf = false;
  std::int64_t empty = 0;

  // That have elements.
  std::int64_t segments_of(std::int64_t count) const { return (count + length - 1) / length; }
};

// Such as "16K segments of 64".
inline std::string name_of(segment_pattern const& pattern, std::int64_t count) {
  std::int64_t const segments = pattern.segments_of(count);
  if (segments == 1) return "one segment";
  std::string const name = short_number(segments) + (pattern.by_zipf ? " segments by Zipf" : " segments of " + std::to_string(pattern.length));
  return pattern.empty == 0 ? name : name + ", " + short_number(pattern.empty) + " empty";
}

// Where the segments of `count` elements begin, and the end.
inline std::vector<int> offsets_of(segment_pattern const& pattern, std::int64_t count) {
  constexpr std::uint64_t order_seed = 6;
  std::int64_t const segments = pattern.segments_of(count);
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(segments), pattern.length);
  if (pattern.by_zipf) {
    // Segment r has an element and a share of the others in proportion to 1 / (r + 1).
    double whole = 0;
    for (std::int64_t r = 0; r < segments; ++r) whole += 1 / static_cast<double>(r + 1);
    std::int64_t rest = count;
    for (std::int64_t r = segments - 1; r > 0; --r) {
      std::int64_t& length = lengths[static_cast<std::size_t>(r)];
      length = 1 + static_cast<std::int64_t>(static_cast<double>(count - segments) / whole / static_cast<double>(r + 1));
      rest -= length;
    }
    lengths[0] = rest;
    for (std::size_t r = lengths.size() - 1; r > 0; --r) std::swap(lengths[r], lengths[random_bits(order_seed, r) % (r + 1)]);
  }
  lengths.insert(lengths.begin() + segments / 2, static_cast<std::size_t>(pattern.empty), 0);
  std::vector<int> offsets{0};
  for (std::int64_t const length : lengths) offsets.push_back(static_cast<int>(std::min(count, offsets.back() + length)));
  return offsets;
}

}  // namespace benchmark
