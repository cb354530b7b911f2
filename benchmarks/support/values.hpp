// The data of the benchmarks: one integer generator, counted, so that every machine, and every thread of one, gets the same.
#pragma once

#include <cstdint>

#include <cuda_fp16.h>

#include <cuda/std/bit>

#include <tessera/config.hpp>

namespace benchmark {

// The number at place `i` of a sequence that the seed names.
// Source: G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number Generators" (2014), splitmix64.
TESSERA_TILE constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t z = seed + (i + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// The sequence from its start.
class splitmix64 {
 public:
  explicit splitmix64(std::uint64_t seed) : seed_(seed) {}
  std::uint64_t operator()() { return random_bits(seed_, next_++); }

 private:
  std::uint64_t seed_, next_ = 0;
};

// An element made of random bits. Floating point: both signs, full significands and some binary orders of magnitude, so that nearly every
// addition rounds; none is zero. Integers: small, so that no sum of a benchmark leaves its type.
template <class T>
struct random_element;
template <>
struct random_element<float> {
  TESSERA_TILE static float of(std::uint64_t bits) {
    auto const exponent = static_cast<std::uint32_t>(127 - 12 + (bits >> 32) % 24);
    return cuda::std::bit_cast<float>((static_cast<std::uint32_t>(bits) & 0x807FFFFFu) | exponent << 23);
  }
};
template <>
struct random_element<double> {
  TESSERA_TILE static double of(std::uint64_t bits) {
    std::uint64_t const exponent = 1023 - 12 + (bits >> 52) % 24, sign = (bits >> 51) & 1;
    return cuda::std::bit_cast<double>((bits & 0x000FFFFFFFFFFFFFu) | exponent << 52 | sign << 63);
  }
};
template <>
struct random_element<__half> {
  TESSERA_TILE static __half of(std::uint64_t bits) {
    auto const exponent = static_cast<std::uint32_t>(15 - 8 + (bits >> 32) % 4);
    return cuda::std::bit_cast<__half>(static_cast<std::uint16_t>((bits & 0x83FFu) | exponent << 10));
  }
};
template <>
struct random_element<std::int32_t> {
  TESSERA_TILE static std::int32_t of(std::uint64_t bits) { return static_cast<std::int32_t>(bits % 2001) - 1000; }
};
template <>
struct random_element<std::int64_t> {
  TESSERA_TILE static std::int64_t of(std::uint64_t bits) { return static_cast<std::int64_t>(bits % 2000001) - 1000000; }
};

}  // namespace benchmark
