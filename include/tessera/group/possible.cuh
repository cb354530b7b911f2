// Operators without an identity, padded: a value that may be absent.
#pragma once

#include <cuda/std/type_traits>

#include <tessera/config.hpp>
#include <tessera/dyadic.hpp>

namespace tessera::inline v0_1::detail {

template <class T>
struct possible {
  T value;
  int present;
};

template <class Operation>
struct on_possible {
  Operation const& operation;

  template <class P>
  __device__ __forceinline__ static P identity() {
    return {{}, 0};
  }
  template <class T>
  __device__ __forceinline__ possible<T> operator()(possible<T> const& a, possible<T> const& b) const {
    if (b.present == 0) return a;
    if (a.present == 0) return b;
    return {operation(a.value, b.value), 1};
  }
};

// How `Operation` joins values of type T some of which are absent: by its identity where it has one, else by possible values.
template <class Operation, class T>
struct padded {
  using value_type = cuda::std::conditional_t<has_identity<Operation, T>, T, possible<T>>;
  using operation_type = cuda::std::conditional_t<has_identity<Operation, T>, Operation const&, on_possible<Operation>>;

  __device__ __forceinline__ static operation_type operation(Operation const& op) {
    if constexpr (has_identity<Operation, T>) {
      return op;
    } else {
      return {op};
    }
  }
  __device__ __forceinline__ static value_type absent() {
    if constexpr (has_identity<Operation, T>) {
      return Operation::template identity<T>();
    } else {
      return {{}, 0};
    }
  }
  __device__ __forceinline__ static value_type present(T const& value) {
    if constexpr (has_identity<Operation, T>) {
      return value;
    } else {
      return {value, 1};
    }
  }
  __device__ __forceinline__ static T const& value(value_type const& v) {
    if constexpr (has_identity<Operation, T>) {
      return v;
    } else {
      return v.value;
    }
  }
};

}  // namespace tessera::inline v0_1::detail
