// Reductions of whole arrays on the host: the same values as on the device, to the bit.
#pragma once

#include <cstdint>
#include <string>

#include <cuda/std/type_traits>

#include <tessera/accumulate.hpp>
#include <tessera/arithmetic.hpp>
#include <tessera/determinism.hpp>
#include <tessera/device/host_nodes.hpp>
#include <tessera/device/host_pieces.hpp>
#include <tessera/error.hpp>
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

template <class T>
void check_result(char const* call, T* out) {
  if (out == nullptr) throw usage_error(std::string(call) + ": the result's address is null; it takes 1 element");
}

// What a result becomes in memory.
template <class T, class A>
T finished(A const& value) {
  return conversion<T, A>::of(canonical(value));
}

// The products of two sources, each rounded.
template <class A, class First, class Second>
class products {
 public:
  products(First const& first, Second const& second) : first_(first), second_(second) {}
  std::int64_t extent(int) const { return first_.extent(0); }
  A operator()(std::int64_t i) const {
    return multiply(A(conversion<A, source_value<First>>::of(first_(i))), A(conversion<A, source_value<Second>>::of(second_(i))));
  }

 private:
  First first_;
  Second second_;
};

// The elements of a source and where they are.
template <class Value, class In>
class located {
 public:
  explicit located(In const& in) : in_(in) {}
  std::int64_t extent(int) const { return in_.extent(0); }
  indexed<Value> operator()(std::int64_t i) const { return {conversion<Value, source_value<In>>::of(in_(i)), i}; }

 private:
  In in_;
};

template <class Order, class In, int Lanes>
void find_first_on_host(char const* call, host_backend<Lanes> const& backend, In const& in, std::int64_t* out) {
  static_assert(source_rank<In> == 1, "arg_min, arg_max: the array has one dimension");
  using A = indexed<accumulator_t<Order, source_value<In>>>;
  check_result(call, out);
  reduce_on_host<A>(backend, located<decltype(A::value), In>(in), first_of<Order>{}, [&](A const* found) {
    if (found != nullptr) *out = found->index;
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
      if (sum != nullptr) *out = detail::finished<T>(*sum);
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
      *out = sum != nullptr ? detail::finished<T>(operation(initial, *sum)) : T(detail::conversion<T, A>::of(initial));
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
      if (sum != nullptr) *out = detail::finished<T>(divide(*sum, A(detail::conversion<A, std::int64_t>::of(from.extent(0)))));
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
    if (first.extent(0) != second.extent(0)) {
      throw usage_error("dot: the first array has " + std::to_string(first.extent(0)) + " elements, the second " +
                        std::to_string(second.extent(0)));
    }
    using source_type = detail::products<A, decltype(first), decltype(second)>;
    detail::reduce_on_host<A>(backend, source_type(first, second), operation, [&](A const* sum) {
      if (sum != nullptr) *out = detail::finished<T>(*sum);
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
