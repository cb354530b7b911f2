// The bit rules: every addition, multiplication and division that a promised result is made of goes through here.
//
// Device: inline PTX that names the rounding (.rn) and never flushes, whatever flags the kernel is compiled with. Host: plain IEEE
// operators, with a barrier behind products so that none is contracted into a fused multiply-add. Negation and NaN tests work on the
// integer bits, because the floating-point forms flush subnormals under fast-math flags. Integers wrap.
#pragma once

#include <cuda/std/bit>
#include <cuda/std/cstdint>
#include <cuda/std/limits>
#include <cuda/std/type_traits>
#include <nv/target>

#include <tessera/config.hpp>

namespace tessera::inline v0_1 {

namespace detail {

template <class T>
struct float_bits;
template <>
struct float_bits<float> {
  using type = cuda::std::uint32_t;
  static constexpr type sign = 0x80000000u, exponent = 0x7F800000u, canonical_nan = 0x7FFFFFFFu;
};
template <>
struct float_bits<double> {
  using type = cuda::std::uint64_t;
  static constexpr type sign = 0x8000000000000000u, exponent = 0x7FF0000000000000u, canonical_nan = 0x7FFFFFFFFFFFFFFFu;
};

// The bits of a floating-point value as an unsigned integer.
template <class T>
TESSERA_TILE constexpr auto bits_of(T value) {
  return cuda::std::bit_cast<typename float_bits<T>::type>(value);
}

// Two's-complement arithmetic without undefined overflow.
template <class T>
TESSERA_TILE constexpr auto as_unsigned(T value) {
  return static_cast<cuda::std::make_unsigned_t<T>>(value);
}

}  // namespace detail

// Types whose addition is exactly associative: no order has to be kept for them.
template <class T>
inline constexpr bool is_exactly_associative = cuda::std::is_integral_v<T>;

// fl(a + b), rounded to nearest even, subnormals kept; integers wrap.
template <class T>
  requires cuda::std::is_integral_v<T>
TESSERA_TILE constexpr T add(T a, T b) {
  return static_cast<T>(detail::as_unsigned(a) + detail::as_unsigned(b));
}
TESSERA_TILE float add(float a, float b) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (float sum; asm("add.rn.f32 %0, %1, %2;" : "=f"(sum) : "f"(a), "f"(b)); return sum;), (return a + b;))
}
TESSERA_TILE double add(double a, double b) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (double sum; asm("add.rn.f64 %0, %1, %2;" : "=d"(sum) : "d"(a), "d"(b)); return sum;), (return a + b;))
}

// fl(a * b), never part of a fused multiply-add; integers wrap.
template <class T>
  requires cuda::std::is_integral_v<T>
TESSERA_TILE constexpr T multiply(T a, T b) {
  using wide = cuda::std::conditional_t<(sizeof(T) < sizeof(unsigned)), unsigned, cuda::std::make_unsigned_t<T>>;
  return static_cast<T>(static_cast<wide>(a) * static_cast<wide>(b));
}
TESSERA_TILE float multiply(float a, float b) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (float product; asm("mul.rn.f32 %0, %1, %2;" : "=f"(product) : "f"(a), "f"(b)); return product;),
                    (float product = a * b; TESSERA_HOST_BARRIER(product); return product;))
}
TESSERA_TILE double multiply(double a, double b) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (double product; asm("mul.rn.f64 %0, %1, %2;" : "=d"(product) : "d"(a), "d"(b)); return product;),
                    (double product = a * b; TESSERA_HOST_BARRIER(product); return product;))
}

// fl(a / b), correctly rounded.
TESSERA_TILE float divide(float a, float b) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (float ratio; asm("div.rn.f32 %0, %1, %2;" : "=f"(ratio) : "f"(a), "f"(b)); return ratio;), (return a / b;))
}
TESSERA_TILE double divide(double a, double b) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (double ratio; asm("div.rn.f64 %0, %1, %2;" : "=d"(ratio) : "d"(a), "d"(b)); return ratio;), (return a / b;))
}

// -a: the sign bit flipped, nothing else (of a NaN and of a subnormal too); integers wrap.
template <class T>
TESSERA_TILE constexpr T negate(T a) {
  if constexpr (cuda::std::is_floating_point_v<T>) {
    return cuda::std::bit_cast<T>(detail::bits_of(a) ^ detail::float_bits<T>::sign);
  } else {
    return static_cast<T>(0u - detail::as_unsigned(a));
  }
}

// Whether the value is a NaN, read from its bits.
template <class T>
TESSERA_TILE constexpr bool is_nan(T value) {
  if constexpr (cuda::std::is_floating_point_v<T>) {
    return (detail::bits_of(value) & ~detail::float_bits<T>::sign) > detail::float_bits<T>::exponent;
  } else {
    return false;
  }
}

// The value itself, but every NaN becomes the one quiet NaN that a computed result may hold (0x7FFFFFFF, 0x7FFFFFFFFFFFFFFF).
template <class T>
TESSERA_TILE constexpr T canonical(T value) {
  if constexpr (cuda::std::is_floating_point_v<T>) {
    return is_nan(value) ? cuda::std::bit_cast<T>(detail::float_bits<T>::canonical_nan) : value;
  } else {
    return value;
  }
}

// The device's single-precision sum is the canonical NaN where an operand is one, and -0.0 changes nothing else.
TESSERA_TILE float canonical(float value) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE,
                    (float same; asm("add.rn.f32 %0, %1, %2;" : "=f"(same) : "f"(value), "f"(-0.0f)); return same;),
                    (return canonical<float>(value);))
}

// The value after its computation ended: a product that a user's function returned is rounded here and takes part in no later contraction.
template <class T>
TESSERA_TILE T rounded(T value) {
  if constexpr (cuda::std::is_floating_point_v<T>) {
    NV_IF_TARGET(NV_IS_HOST, (TESSERA_HOST_BARRIER(value);))
  }
  return value;
}

// The operator of every sum.
struct plus {
  // The true identity: -0.0 for floating point (x + -0.0 has the bits of x, also for x = -0.0), 0 for integers.
  template <class T>
  TESSERA_TILE static constexpr T identity() {
    if constexpr (cuda::std::is_floating_point_v<T>) {
      return cuda::std::bit_cast<T>(detail::float_bits<T>::sign);
    } else {
      return T{};
    }
  }
  template <class T>
  TESSERA_TILE T operator()(T a, T b) const {
    return add(a, b);
  }
};

// canonical(), for a value that `Operation` gave: the device's single-precision sums are canonical already.
template <class Operation, class T>
TESSERA_TILE constexpr T canonical_result(T value) {
  if constexpr (cuda::std::is_same_v<Operation, plus> && cuda::std::is_same_v<T, float>) {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return value;), (return canonical<float>(value);))
  } else {
    return canonical(value);
  }
}

namespace detail {

// The order of floating-point values as that of integers, -0 before +0; not for NaN.
template <class T>
TESSERA_TILE constexpr auto order_key(T value) {
  using bits_type = decltype(bits_of(value));
  using key_type = cuda::std::make_signed_t<bits_type>;
  auto const key = static_cast<key_type>(bits_of(value));
  return key < 0 ? static_cast<key_type>(key ^ static_cast<key_type>(float_bits<T>::sign - 1)) : key;
}

// Whether a comes before b, for values that are no NaN.
template <class T>
TESSERA_TILE constexpr bool is_before(T a, T b) {
  if constexpr (cuda::std::is_floating_point_v<T>) {
    return order_key(a) < order_key(b);
  } else {
    return a < b;
  }
}

}  // namespace detail

// The smaller one, IEEE 754-2019 minimumNumber: -0 is smaller than +0, and a NaN loses against every number.
struct minimum {
  // A NaN for floating point, the largest value for integers.
  template <class T>
  TESSERA_TILE static constexpr T identity() {
    if constexpr (cuda::std::is_floating_point_v<T>) {
      return cuda::std::bit_cast<T>(detail::float_bits<T>::canonical_nan);
    } else {
      return cuda::std::numeric_limits<T>::max();
    }
  }
  template <class T>
  TESSERA_TILE constexpr T operator()(T a, T b) const {
    if (is_nan(a)) return b;
    if (is_nan(b)) return a;
    return detail::is_before(b, a) ? b : a;
  }
  TESSERA_TILE float operator()(float a, float b) const {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (float least; asm("min.f32 %0, %1, %2;" : "=f"(least) : "f"(a), "f"(b)); return least;),
                      (return operator()<float>(a, b);))
  }
};

// The larger one, IEEE 754-2019 maximumNumber.
struct maximum {
  template <class T>
  TESSERA_TILE static constexpr T identity() {
    if constexpr (cuda::std::is_floating_point_v<T>) {
      return cuda::std::bit_cast<T>(detail::float_bits<T>::canonical_nan);
    } else {
      return cuda::std::numeric_limits<T>::min();
    }
  }
  template <class T>
  TESSERA_TILE constexpr T operator()(T a, T b) const {
    if (is_nan(a)) return b;
    if (is_nan(b)) return a;
    return detail::is_before(a, b) ? b : a;
  }
  TESSERA_TILE float operator()(float a, float b) const {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (float most; asm("max.f32 %0, %1, %2;" : "=f"(most) : "f"(a), "f"(b)); return most;),
                      (return operator()<float>(a, b);))
  }
};

// fl(a * b).
struct times {
  template <class T>
  TESSERA_TILE T operator()(T a, T b) const {
    return multiply(a, b);
  }
};

// A value and where it was found.
template <class T>
struct indexed {
  T value;
  cuda::std::int64_t index;
};

// The indexed value that is smaller (`Order` minimum) or larger (maximum), the smaller index of equals.
template <class Order>
struct first_of {
  // Comes after every element.
  template <class V>
  TESSERA_TILE static constexpr V identity() {
    return {Order::template identity<decltype(V::value)>(), cuda::std::numeric_limits<cuda::std::int64_t>::max()};
  }
  template <class T>
  TESSERA_TILE constexpr indexed<T> operator()(indexed<T> const& a, indexed<T> const& b) const {
    if (is_nan(a.value) || is_nan(b.value)) {
      if (!is_nan(b.value)) return b;
      if (!is_nan(a.value)) return a;
    } else {
      bool const b_wins = cuda::std::is_same_v<Order, minimum> ? detail::is_before(b.value, a.value) : detail::is_before(a.value, b.value);
      bool const a_wins = cuda::std::is_same_v<Order, minimum> ? detail::is_before(a.value, b.value) : detail::is_before(b.value, a.value);
      if (b_wins) return b;
      if (a_wins) return a;
    }
    return b.index < a.index ? b : a;
  }
};

}  // namespace tessera::inline v0_1
