// f16 and bf16 by the dumbest means: the value of a pattern by its definition, the nearest pattern by search among all of them.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "support/oracle.hpp"

namespace testing_support {

template <int ExponentBits, int MantissaBits>
struct half_format {
  static constexpr int bias = (1 << (ExponentBits - 1)) - 1;
  static constexpr std::uint16_t infinity = static_cast<std::uint16_t>(((1 << ExponentBits) - 1) << MantissaBits);

  // The value of a pattern without its sign; of the infinity, what the next pattern would be if there were one.
  static double magnitude(int pattern) {
    int const exponent = pattern >> MantissaBits, mantissa = pattern & ((1 << MantissaBits) - 1);
    if (exponent == 0) return std::ldexp(mantissa, 1 - bias - MantissaBits);
    return std::ldexp(mantissa + (1 << MantissaBits), exponent - bias - MantissaBits);
  }
  static double value(std::uint16_t pattern) {
    int const without_sign = pattern & 0x7FFF;
    double size = magnitude(without_sign);
    if (without_sign == infinity) size = std::numeric_limits<double>::infinity();
    if (without_sign > infinity) size = std::numeric_limits<double>::quiet_NaN();
    return (pattern & 0x8000) != 0 ? -size : size;
  }

  // Round to nearest, ties to the even pattern; a NaN is 0x7FFF.
  static std::uint16_t nearest(double value) {
    if (std::isnan(value)) return 0x7FFF;
    double const size = std::fabs(value);
    int below = 0;  // the largest pattern that is not above
    for (int step = 1 << 14; step > 0; step /= 2) {
      if (below + step <= infinity && magnitude(below + step) <= size) below += step;
    }
    int pattern = below;
    if (below < infinity) {
      double const down = size - magnitude(below), up = magnitude(below + 1) - size;
      if (up < down || (up == down && below % 2 != 0)) ++pattern;
    }
    return static_cast<std::uint16_t>(pattern | (std::signbit(value) ? 0x8000 : 0));
  }
};

using f16_format = half_format<5, 10>;
using bf16_format = half_format<8, 7>;

template <class T>
struct format_of;
template <>
struct format_of<__half> : f16_format {};
template <>
struct format_of<__nv_bfloat16> : bf16_format {};

template <class T>
inline constexpr bool is_half = std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>;

template <class T>
T half_of_pattern(std::uint16_t pattern) {
  T value;
  std::memcpy(static_cast<void*>(&value), &pattern, sizeof(value));
  return value;
}
template <class T>
std::uint16_t pattern_of_half(T value) {
  std::uint16_t pattern;
  std::memcpy(&pattern, &value, sizeof(pattern));
  return pattern;
}

// What an element is as a value of type A, and what a value becomes as an element.
template <class A, class T>
A widened(T element) {
  if constexpr (is_half<T>) {
    return static_cast<A>(format_of<T>::value(pattern_of_half(element)));
  } else {
    return static_cast<A>(element);
  }
}
template <class T, class A>
T narrowed(A value) {
  if constexpr (is_half<T>) {
    return half_of_pattern<T>(format_of<T>::nearest(static_cast<double>(value)));
  } else if constexpr (std::is_same_v<T, A>) {
    return value;
  } else {
    T volatile narrow = static_cast<T>(value);
    return narrow;
  }
}

// Values that round when they are summed, of any element type.
template <class T>
std::vector<T> rounding_elements(std::size_t count, std::uint64_t seed) {
  if constexpr (is_half<T>) {
    std::vector<T> values;
    for (float value : rounding_values<float>(count, seed)) values.push_back(narrowed<T>(value / 16));
    return values;
  } else {
    return rounding_values<T>(count, seed);
  }
}

}  // namespace testing_support
