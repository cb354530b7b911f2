// Reductions of whole arrays on the host: the same values as on the device, to the bit.
#pragma once

#include <cstdint>

#include <cuda/std/type_traits>

#include <tessera/accumulate.hpp>
#include <tessera/arithmetic.hpp>
#include <tessera/determinism.hpp>
#include <tessera/device/array_checks.hpp>
#include <tessera/device/host_nodes.hpp>
#include <tessera/device/host_pieces.hpp>
#include <tessera/device/reductions.hpp>
#include <tessera/launch/host_backend.hpp>
#include <tessera/source.hpp>
#include <tessera/view.hpp>

namespace tessera::inline v0_1 {

namespace detail {

// finish(&node) with D of a source as A, finish(nullptr) where it has no elements; where arithmetic is the contract's.
template <class A, class In, class Operation, class Finish, int Lanes>
void reduce_on_host(host_backend<Lanes> const& backend, In const& in, Operation const& operation, Finish const& finish) {
  check_host_arithmetic();
  auto const emit = [&](std::int64_t, A const* node) { finish(node); };
  reduce_pieces<A>(backend.cores, pieces_by_start(whole_array{in.extent(0)}, piece_leaves<A>), in, operation, emit);
}

template <class Order, class In, int Lanes>
void find_first_on_host(char const* call, host_backend<Lanes> const& backend, In const& in, std::int64_t* out) {
  static_assert(source_rank<In> == 1, "arg_min, arg_max: the array has one dimension");
  using A = source_value<with_indices<In>>;
  check_result(call, out);
  reduce_on_host<A>(backend, with_indices<In>{in}, first_of<Order>{}, [&](A const* found) {
    if (found != nullptr) *out = store_index<decltype(A::value)>{}(*found);
  });
}

}  // namespace detail

// *out = D(in[0] .. in[n-1]), a NaN canonical; of no elements, `out` is left alone. `in` is a view of any stride or another source, of one
// dimension. Elements are joined as accumulator_t<Operation, T> and rounded once to T. `operation` is plus{} or any other operator, applied
// in the tree of D, the earlier operand first. On all cores; returns when done.
template <determinism Level = gpu_to_gpu, int Lanes, class In, class T, class Operation = plus>
  requires operator_on<Operation, accumulator_t<Operation, T>>
void reduce(host_backend<Lanes> const& backend, In const& in, T* out, Operation const& operation = {}) {
  static_assert(detail::source_rank<In> == 1, "a reduction's array has one dimension");
  using A = accumulator_t<Operation, T>;
  detail::check_result("reduce", out);
  if constexpr (detail::source_rank<In> == 1) {
    detail::reduce_on_host<A>(backend, detail::as_source(in), operation, [&](A const* sum) {
      if (sum != nullptr) *out = detail::store_sum<A, T>{}(*sum);
    });
  }
}

// *out = operation(initial, D(in)); of no elements, `initial`.
template <determinism Level = gpu_to_gpu, int Lanes, class In, class T, class Operation = plus>
void reduce(host_backend<Lanes> const& backend, In const& in, T* out,
            cuda::std::type_identity_t<accumulator_t<Operation, T>> const& initial, Operation const& operation = {}) {
  static_assert(detail::source_rank<In> == 1, "a reduction's array has one dimension");
  using A = accumulator_t<Operation, T>;
  detail::check_result("reduce", out);
  if constexpr (detail::source_rank<In> == 1) {
    detail::reduce_on_host<A>(backend, detail::as_source(in), operation, [&](A const* sum) {
      *out = sum != nullptr ? detail::store_sum_from<A, T, Operation>{initial, operation}(*sum) : T(detail::conversion<T, A>::of(initial));
    });
  }
}

// *out = fl(D(in) / fl(n)); of no elements, `out` is left alone.
template <determinism Level = gpu_to_gpu, int Lanes, class In, class T, class Operation = plus>
void mean(host_backend<Lanes> const& backend, In const& in, T* out, Operation const& operation = {}) {
  using A = accumulator_t<Operation, T>;
  static_assert(detail::source_rank<In> == 1, "a mean's array has one dimension");
  static_assert(cuda::std::is_floating_point_v<A>, "mean: a quotient is a floating-point number; name one, accumulate_as<double>{} say");
  detail::check_result("mean", out);
  if constexpr (detail::source_rank<In> == 1 && cuda::std::is_floating_point_v<A>) {
    auto const from = detail::as_source(in);
    detail::reduce_on_host<A>(backend, from, operation, [&](A const* sum) {
      if (sum != nullptr) *out = detail::store_mean<A, T>{from.extent(0)}(*sum);
    });
  }
}

// *out = D(fl(a[0] * b[0]) .. fl(a[n-1] * b[n-1])), elements converted to accumulator_t<Operation, T> first; of no elements, `out` is left
// alone.
template <determinism Level = gpu_to_gpu, int Lanes, class First, class Second, class T, class Operation = plus>
void dot(host_backend<Lanes> const& backend, First const& a, Second const& b, T* out, Operation const& operation = {}) {
  using A = accumulator_t<Operation, T>;
  static_assert(detail::source_rank<First> == 1 && detail::source_rank<Second> == 1, "dot: the arrays have one dimension");
  detail::check_result("dot", out);
  if constexpr (detail::source_rank<First> == 1 && detail::source_rank<Second> == 1) {
    auto const first = detail::as_source(a);
    auto const second = detail::as_source(b);
    detail::require_extent_is("dot", "the second array has", second.extent(0), first.extent(0));
    auto const products = transformed(detail::product_in<A>{}, first, second);
    detail::reduce_on_host<A>(backend, products, operation, [&](A const* sum) {
      if (sum != nullptr) *out = detail::store_sum<A, T>{}(*sum);
    });
  }
}

// *out = the index of the first smallest element, in the order of `minimum`: -0 before +0, a NaN loses against every number; of NaNs alone,
// 0; of no elements, `out` is left alone.
template <determinism Level = gpu_to_gpu, int Lanes, class In>
void arg_min(host_backend<Lanes> const& backend, In const& in, std::int64_t* out) {
  detail::find_first_on_host<minimum>("arg_min", backend, detail::as_source(in), out);
}

// The same for the first largest element.
template <determinism Level = gpu_to_gpu, int Lanes, class In>
void arg_max(host_backend<Lanes> const& backend, In const& in, std::int64_t* out) {
  detail::find_first_on_host<maximum>("arg_max", backend, detail::as_source(in), out);
}

}  // namespace tessera::inline v0_1
