// Comparing results: bit for bit, or within a bound.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string>

#include <tessera/verify/difference.hpp>

namespace benchmark {

// Empty, or a sentence about the first element whose bits differ.
template <class T>
std::string compare_bits(std::span<T const> expected, std::span<T const> got) {
  auto const found = tessera::verify::first_difference(std::as_bytes(expected), std::as_bytes(got), sizeof(T));
  return found ? tessera::verify::to_string(*found) : std::string();
}
inline std::string compare_bits(std::span<float const> expected, std::span<float const> got) { return compare_bits<float>(expected, got); }

// Empty, or a sentence about the first element that is too far away; a NaN is.
inline std::string compare_within(std::span<float const> expected, std::span<float const> got, std::span<float const> bounds) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::abs(double{expected[i]} - double{got[i]}) <= double{bounds[i]}) continue;
    return "element " + std::to_string(i) + ": " + std::to_string(expected[i]) + " and " + std::to_string(got[i]) +
           ", further apart than any order of adding makes";
  }
  return {};
}

}  // namespace benchmark
