// The sum of floats without any rounding, to measure errors against: integers only, never double.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tessera::inline v0_1::verify {

// An exact accumulator of floats and doubles, over the whole range of double, subnormals and sums beyond 2^1024 included.
//
// The sum is an integer multiple of 2^-1074, kept as 68 limbs of 32 bits in 64-bit words, so that carries move once in 2^29 additions.
// About 600 bytes; an addition is three integer additions; up to 2^62 of them. NaN and infinities are counted beside. The order
// of addition cannot show, nor the floating-point mode. An object belongs to one thread.
//
// Source: U. Kulisch, "Computer Arithmetic and Validity" (the long accumulator).
class exact_sum {
 public:
  // Adds `x`, exactly.
  void add(float x) noexcept;
  void add(double x) noexcept;

  // Adds each element of `values`.
  template <class T, std::size_t Extent>
  void add(std::span<T, Extent> values) noexcept {
    for (auto const x : values) add(x);
  }

  // The sum as IEEE would have it if addition were exact: NaN after a NaN or after both infinities, else the infinity that was added.
  //
  // Rounded once, to the nearest double, ties to even; beyond the range of double an infinity. A sum of zero is +0.
  [[nodiscard]] double value() const noexcept;

  // |computed - exact| / |exact|, good to about 15 digits, also where `computed` is the nearest double or the sum is beyond its range.
  //
  // 0 where `computed` is exact, NaN and infinities included; infinity where a sum of zero, NaN or infinity was missed, and where a
  // finite sum was computed as NaN or infinity.
  [[nodiscard]] double relative_error(double computed) const noexcept;

 private:
  static constexpr int limb_count = 68;  // 2,098 bits of double and 62 of carries

  struct magnitude;
  [[nodiscard]] magnitude rounded() const noexcept;
  [[nodiscard]] bool finite() const noexcept { return nans_ == 0 && positive_infinities_ == 0 && negative_infinities_ == 0; }
  void add_integer(bool negative, std::uint64_t fraction, unsigned position) noexcept;
  void count_special(bool negative, bool nan) noexcept;
  void carry() noexcept;

  std::array<std::int64_t, limb_count> limbs_{};  // limb i counts 2^(32 i - 1074)
  std::int64_t additions_since_carry_ = 0;
  std::int64_t nans_ = 0;
  std::int64_t positive_infinities_ = 0;
  std::int64_t negative_infinities_ = 0;
};

}  // namespace tessera::inline v0_1::verify
