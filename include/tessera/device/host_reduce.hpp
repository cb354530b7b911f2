// Reductions of whole arrays on the host: the same values as on the device, to the bit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <cuda/std/type_traits>

#include <tessera/arithmetic.hpp>
#include <tessera/determinism.hpp>
#include <tessera/dyadic.hpp>
#include <tessera/launch/host_backend.hpp>
#include <tessera/view.hpp>

namespace tessera::inline v0_1 {

namespace detail {

// Elements of an aligned run that one core reduces at a time; a speed choice.
inline constexpr std::int64_t host_run = 1 << 14;

// D of an array of at least one element, its NaN as it comes.
template <class T, class In, class Operation, int Lanes>
T reduce_on_host(host_backend<Lanes> const& backend, In const& in, Operation const& operation) {
  static_assert(In::rank() == 1, "a reduction's array has one dimension");
  std::int64_t const count = in.extent(0);
  std::vector<T> runs(static_cast<std::size_t>((count + host_run - 1) / host_run));
  auto const element = [&](std::int64_t i) -> T { return in(i); };
  parallel_for(static_cast<std::int64_t>(runs.size()), backend.cores, [&](std::int64_t run) {
    std::int64_t const first = run * host_run;
    runs[static_cast<std::size_t>(run)] = dyadic_reduce(element, operation, first, std::min(host_run, count - first));
  });
  auto const run_sum = [&](std::int64_t run) { return runs[static_cast<std::size_t>(run)]; };
  T result{};
  parallel_for(1, 1, [&](std::int64_t) { result = dyadic_reduce(run_sum, operation, 0, static_cast<std::int64_t>(runs.size())); });
  return result;
}

}  // namespace detail

// D(in[0] .. in[n-1]), a NaN canonical, on all cores. `in` has one dimension and at least one element; any stride. `operation` as on the
// device.
template <determinism Level = gpu_to_gpu, int Lanes, class In, class Operation = plus>
  requires(!cuda::std::is_convertible_v<Operation, typename In::element_type>)  // an initial value is not an operation
auto reduce(host_backend<Lanes> const& backend, In const& in, Operation const& operation = {}) {
  using T = cuda::std::remove_const_t<typename In::element_type>;
  detail::check_host_arithmetic();
  if (in.extent(0) == 0) throw usage_error("reduce: the array is empty and there is no initial value");
  return canonical(detail::reduce_on_host<T>(backend, as_view(in), operation));
}

// operation(initial, D(in)); of no elements, `initial`.
template <determinism Level = gpu_to_gpu, int Lanes, class In, class Operation = plus>
auto reduce(host_backend<Lanes> const& backend, In const& in, cuda::std::remove_const_t<typename In::element_type> initial,
            Operation const& operation = {}) {
  using T = cuda::std::remove_const_t<typename In::element_type>;
  detail::check_host_arithmetic();
  if (in.extent(0) == 0) return initial;
  T const sum = detail::reduce_on_host<T>(backend, as_view(in), operation);
  T result{};
  detail::parallel_for(1, 1, [&](std::int64_t) { result = canonical(operation(initial, sum)); });
  return result;
}

}  // namespace tessera::inline v0_1
