// What a reduction reads and what becomes of its sum, on both backends.
#pragma once

#include <cstdint>

#include <tessera/accumulate.hpp>
#include <tessera/arithmetic.hpp>
#include <tessera/config.hpp>
#include <tessera/source.hpp>

namespace tessera::inline v0_1::detail {

// How a sum becomes the result.
template <class T, class Out>
struct store_sum {
  TESSERA_TILE Out operator()(T const& sum) const { return conversion<Out, T>::of(canonical(sum)); }
};
template <class T, class Out, class Operation>
struct store_sum_from {
  T initial;
  Operation operation;
  TESSERA_CALLS_ARGUMENT
  TESSERA_TILE Out operator()(T const& sum) const { return conversion<Out, T>::of(canonical(operation(initial, sum))); }
};
template <class T, class Out>
struct store_mean {
  std::int64_t count;
  TESSERA_TILE Out operator()(T const& sum) const {
    return conversion<Out, T>::of(canonical(divide(sum, static_cast<T>(count))));
  }
};
template <class T>
struct store_index {
  TESSERA_TILE std::int64_t operator()(indexed<T> const& found) const { return found.index; }
};

// The elements with their indices.
template <class S>
struct with_indices {
  S source;
  using value_type = source_value<S>;
  TESSERA_TILE constexpr std::int64_t extent(int) const { return source.extent(0); }
  TESSERA_CALLS_ARGUMENT
  TESSERA_TILE auto operator()(std::int64_t i) const {
    using accumulator = accumulator_t<minimum, value_type>;
    return indexed<accumulator>{conversion<accumulator, value_type>::of(source(i)), i};
  }
};

// fl(a * b) in the accumulator's type.
template <class A>
struct product_in {
  template <class X, class Y>
  TESSERA_TILE A operator()(X const& x, Y const& y) const {
    return multiply(conversion<A, X>::of(x), conversion<A, Y>::of(y));
  }
};

}  // namespace tessera::inline v0_1::detail
