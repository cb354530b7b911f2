// In which type values are added up: how elements become values, and how results become elements again.
#pragma once

#include <cuda/std/type_traits>
#include <nv/target>

#include <tessera/arithmetic.hpp>
#include <tessera/config.hpp>

struct __half;
struct __nv_bfloat16;

namespace tessera::inline v0_1 {

namespace detail {

// To from From, correctly rounded (to nearest even), subnormals kept, whatever flags the kernel is compiled with. `half.hpp` adds f16 and
// bf16.
template <class To, class From>
struct conversion {
  static_assert(cuda::std::is_convertible_v<From, To>,
                "there is no conversion between the element type and the type that it is accumulated in");
  TESSERA_TILE static constexpr To of(From value) { return static_cast<To>(value); }
};
template <class T>
struct conversion<T, T> {
  TESSERA_TILE static constexpr T const& of(T const& value) { return value; }
};
template <>
struct conversion<double, float> {
  TESSERA_TILE static double of(float value) {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (double wide; asm("cvt.f64.f32 %0, %1;" : "=d"(wide) : "f"(value)); return wide;),
                      (return static_cast<double>(value);))
  }
};
template <>
struct conversion<float, double> {
  TESSERA_TILE static float of(double value) {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (float narrow; asm("cvt.rn.f32.f64 %0, %1;" : "=f"(narrow) : "d"(value)); return narrow;),
                      (return static_cast<float>(value);))
  }
};

// The accumulator of a type: itself, but float for f16 and bf16, whose conversions `half.hpp` has.
template <class T>
struct natural_accumulator {
  using type = T;
};
template <>
struct natural_accumulator<__half> {
  using type = float;
};
template <>
struct natural_accumulator<__nv_bfloat16> {
  using type = float;
};

}  // namespace detail

// An operator that adds up in another type than its elements': accumulate_as<double>{} sums floats in double and rounds once at the end.
template <class Accumulator, class Operation = plus>
struct accumulate_as : Operation {
  using accumulator = Accumulator;
};

namespace detail {

// Whether an operator is `Plain`, in whatever type it accumulates.
template <class Operation, class Plain>
inline constexpr bool is_operation = cuda::std::is_same_v<Operation, Plain>;
template <class A, class Operation, class Plain>
inline constexpr bool is_operation<accumulate_as<A, Operation>, Plain> = cuda::std::is_same_v<Operation, Plain>;

template <class Operation>
inline constexpr bool is_sum = is_operation<Operation, plus>;
template <class Operation>
inline constexpr bool is_least = is_operation<Operation, minimum>;
template <class Operation>
inline constexpr bool is_most = is_operation<Operation, maximum>;

// Operators that any order gives the same for, so that nodes can be joined before they are joined to many values; they have an identity.
template <class Operation, class A>
inline constexpr bool order_is_free =
    cuda::std::is_arithmetic_v<A> && ((is_sum<Operation> && is_exactly_associative<A>) || is_least<Operation> || is_most<Operation>);

template <class Operation, class T>
struct accumulator_of {
  using type = typename natural_accumulator<T>::type;
};
template <class Operation, class T>
  requires requires { typename Operation::accumulator; }
struct accumulator_of<Operation, T> {
  using type = typename Operation::accumulator;
};

}  // namespace detail

// The type that `Operation` joins elements of type T in: what the operator names (accumulate_as), else T itself, and float for f16 and
// bf16.
template <class Operation, class T>
using accumulator_t = typename detail::accumulator_of<Operation, cuda::std::remove_cv_t<T>>::type;

namespace detail {

// A tile's elements are joined as they are.
template <class Operation, class T>
TESSERA_TILE constexpr void check_tile_operation() {
  static_assert(cuda::std::is_same_v<accumulator_t<Operation, T>, T>,
                "a tile's elements are joined in their own type: convert the tile first to the type that the operator accumulates in, float "
                "for f16 and bf16");
}

}  // namespace detail

// An associative operator on values of type A; anything else is an initial value.
template <class Operation, class A>
concept operator_on = cuda::std::is_invocable_r_v<A, Operation const&, A, A>;

}  // namespace tessera::inline v0_1
