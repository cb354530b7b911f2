// What scans and reductions must give: the host backend's bits, and for those that promise none a bound.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <cuda_fp16.h>

#include <tessera/tessera.hpp>

#include "../support/compare.hpp"

namespace benchmark {

template <class T>
double as_double(T value) {
  if constexpr (std::is_same_v<T, __half>) {
    return double{__half2float(value)};
  } else {
    return static_cast<double>(value);
  }
}

// Empty, or a sentence about the first sum that is not the expected one: integers as bits, else further away than 16 sqrt(n) u times the
// sum of the magnitudes, which n additions in any order about never are. `magnitudes` holds those sums.
// Source: N. Higham, T. Mary, "A New Approach to Probabilistic Rounding Error Analysis" (2019).
template <class T>
std::string compare_sums(std::span<T const> expected, std::span<T const> got, std::span<double const> magnitudes, std::int64_t most_terms) {
  if constexpr (std::is_integral_v<T>) {
    return compare_bits<T>(expected, got);
  } else {
    double const u = std::is_same_v<T, __half> ? 0x1p-11 : std::is_same_v<T, float> ? 0x1p-24 : 0x1p-53;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      double const bound = 16 * std::sqrt(static_cast<double>(most_terms)) * u * magnitudes[i];
      if (std::abs(as_double(expected[i]) - as_double(got[i])) <= bound) continue;
      return "element " + std::to_string(i) + ": " + std::to_string(as_double(got[i])) + " is too far from " +
             std::to_string(as_double(expected[i]));
    }
    return {};
  }
}

// Sums of the magnitudes up to and with each element.
template <class T>
std::vector<double> magnitudes_of(std::span<T const> elements) {
  std::vector<double> sums;
  sums.reserve(elements.size());
  double sum = 0;
  for (T const element : elements) sums.push_back(sum += std::abs(as_double(element)));
  return sums;
}

}  // namespace benchmark
