// What happens to one particle: it moves, it is weighed, it is drawn. The delay is a level that walks at random from window to window and
// is observed with heavy-tailed noise.
//
// Random numbers are integers, and the arithmetic goes through tessera::add, multiply and divide: each operation is rounded by itself and
// none is fused, so that the host and every GPU compute the same bits.
#pragma once

#include <cstdint>

#include <tessera/tessera.hpp>

namespace particle_filter {

// How far a level moves in one window, and how far an observation lies from it, in the unit of the observations (the flights': hours).
inline constexpr float move_scale = 0x1p-19f;       // of a sum of four 16-bit integers: a standard deviation of 0.072, 4.3 minutes
inline constexpr float observations_per_unit = 16;  // an observation that is off by 1/16, 3.75 minutes, weighs half

// What a random number is for. Each step of the filter has its own numbers for each purpose.
enum class purpose : std::uint64_t { move, draw };

// 64 random bits for each particle, from a counter: nothing is carried along, so that particles may ask in any order.
//
// Source: G. L. Steele, D. Lea, C. H. Flood, "Fast Splittable Pseudorandom Number Generators" (the output function of SplitMix64).
struct random_bits {
  std::uint64_t stream;

  TESSERA_TILE random_bits(std::int64_t step, purpose what)
      : stream(2 * static_cast<std::uint64_t>(step) + static_cast<std::uint64_t>(what)) {}

  TESSERA_TILE std::uint64_t operator()(std::int32_t particle) const {
    std::uint64_t z = ((stream << 32 | static_cast<std::uint32_t>(particle)) + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
  }
};

// The level after one window. The sum of four uniform integers is nearly normal; it and its product with a power of two are exact, so
// that the one rounding is that of the addition.
struct move {
  random_bits random;

  TESSERA_TILE float operator()(float level, std::int32_t particle) const {
    std::uint64_t const bits = random(particle);
    std::int32_t sum = -2 * 0xFFFF;
    for (int piece = 0; piece < 4; ++piece) sum += static_cast<std::int32_t>(bits >> 16 * piece & 0xFFFF);
    return tessera::add(level, tessera::multiply(static_cast<float>(sum), move_scale));
  }
};

// How likely the observation is for a particle's level, but for a factor: 1 / (1 + r^2), the Cauchy distribution.
struct weigh {
  float observed;

  TESSERA_TILE float operator()(float level) const {
    float const r = tessera::multiply(tessera::add(level, tessera::negate(observed)), observations_per_unit);
    return tessera::divide(1.0f, tessera::add(1.0f, tessera::multiply(r, r)));
  }
};

// The particle that number `particle` of the next generation descends from: the first whose inclusive sum of weights is above u times the
// sum of all weights, u uniform in [0, 1). So a particle is drawn as often as it weighs.
//
// The search halves the array, and so needs sums that never decrease. tessera's do not: one weight more is the same tree of additions with
// that weight in the place of a zero, and rounding keeps the order. Of a scan that adds up each prefix in an order of its own, nobody
// knows.
struct find_ancestor {
  random_bits random;
  tessera::view<float const, 1> sums;

  TESSERA_TILE std::int32_t operator()(std::int32_t particle) const {
    std::int64_t const last = sums.extent(0) - 1;
    double const u = tessera::multiply(static_cast<double>(random(particle) >> 32), 0x1p-32);
    double const threshold = tessera::multiply(u, static_cast<double>(sums(last)));
    // Everything in front of `low` is at or below the threshold; `high` is above it, or the last.
    std::int64_t low = 0, high = last;
    while (low < high) {
      std::int64_t const middle = (low + high) / 2;
      if (static_cast<double>(sums(middle)) > threshold) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return static_cast<std::int32_t>(low);
  }
};

}  // namespace particle_filter
