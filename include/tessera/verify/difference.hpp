// Where two results differ: the first element, both of its bit patterns, and how many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace tessera::inline v0_1::verify {

// The first element in which two buffers differ.
struct difference {
  std::size_t index = 0;         // of the first differing element
  std::uint64_t left_bits = 0;   // its bits in the left buffer, zero-extended
  std::uint64_t right_bits = 0;  // its bits in the right buffer
  std::size_t differing = 0;     // how many elements differ
  std::size_t elements = 0;      // how many were compared
  std::size_t element_bytes = 0;

  friend bool operator==(difference const&, difference const&) = default;
};

// Compares two buffers of elements of `element_bytes` bytes (1, 2, 4 or 8), as bits; nothing where they are equal.
//
// -0 differs from +0, and a NaN equals a NaN of the same payload. Throws usage_error where the buffers have different
// sizes or hold no whole number of elements.
[[nodiscard]] std::optional<difference> first_difference(std::span<std::byte const> left, std::span<std::byte const> right,
                                                         std::size_t element_bytes);

// One line for people: `element 17 of 4000: 3f800000 and 3f800001; 12 differ`.
[[nodiscard]] std::string to_string(difference const& d);

}  // namespace tessera::inline v0_1::verify
