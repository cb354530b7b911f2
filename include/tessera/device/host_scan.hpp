// Scans of whole arrays on the host: the same values as on the device, to the bit.
#pragma once

#include <cstdint>

#include <cuda/std/type_traits>

#include <tessera/accumulate.hpp>
#include <tessera/arithmetic.hpp>
#include <tessera/determinism.hpp>
#include <tessera/device/array_checks.hpp>
#include <tessera/device/host_nodes.hpp>
#include <tessera/device/host_pieces.hpp>
#include <tessera/launch/host_backend.hpp>
#include <tessera/source.hpp>
#include <tessera/tile/scan.hpp>
#include <tessera/view.hpp>

namespace tessera::inline v0_1 {

namespace detail {

template <class Operation, class Out>
using accumulator_for = accumulator_t<Operation, typename Out::element_type>;

template <scan_direction Direction, bool Exclusive, class A, class In, class Out, class Operation, int Lanes>
void scan_on_host(char const* call, host_backend<Lanes> const& backend, In const& in, Out const& out, node_stack<A> const& initial,
                  Operation const& operation) {
  static_assert(source_rank<In> == 1 && Out::rank() == 1, "a scan's arrays have one dimension");
  if constexpr (source_rank<In> == 1 && Out::rank() == 1) {
    auto const from = as_source(in);
    auto const to = as_view(out);
    std::int64_t const count = from.extent(0);
    check_scan(call, from, to);
    if (count == 0) return;
    check_host_arithmetic();
    scan_pieces<Direction, Exclusive, A>(backend.cores, pieces_by_start(whole_array{count}, piece_leaves<A>), from, to, initial, operation);
  }
}

}  // namespace detail

// out[i] = D(in[0] .. in[i]), a NaN canonical; with `backward`, D(in[n-1] .. in[i]). `in` is a view or another source, `out` a view; one
// dimension, any stride; they may be the same array. Elements are joined as accumulator_t<Operation, element of out> and rounded once to
// the element. `operation` is plus{} or any other operator, applied in the tree of D, the earlier operand first. On all cores; returns when
// done.
template <determinism Level = gpu_to_gpu, scan_direction Direction = forward, int Lanes, class In, class Out, class Operation = plus>
  requires operator_on<Operation, detail::accumulator_for<Operation, Out>>
void inclusive_scan(host_backend<Lanes> const& backend, In const& in, Out const& out, Operation const& operation = {}) {
  using A = detail::accumulator_for<Operation, Out>;
  detail::scan_on_host<Direction, false>("inclusive_scan", backend, in, out, detail::node_stack<A>(), operation);
}

// out[i] = operation(initial, D(in[0] .. in[i])).
template <determinism Level = gpu_to_gpu, scan_direction Direction = forward, int Lanes, class In, class Out, class Operation = plus>
void inclusive_scan(host_backend<Lanes> const& backend, In const& in, Out const& out,
                    detail::accumulator_for<Operation, Out> const& initial, Operation const& operation = {}) {
  using A = detail::accumulator_for<Operation, Out>;
  detail::scan_on_host<Direction, false>("inclusive_scan", backend, in, out, detail::node_stack<A>(initial), operation);
}

// out[0] = initial, bit for bit; out[i] = operation(initial, D(in[0] .. in[i-1])); backward likewise from the end.
template <determinism Level = gpu_to_gpu, scan_direction Direction = forward, int Lanes, class In, class Out, class Operation = plus>
void exclusive_scan(host_backend<Lanes> const& backend, In const& in, Out const& out,
                    detail::accumulator_for<Operation, Out> const& initial, Operation const& operation = {}) {
  using A = detail::accumulator_for<Operation, Out>;
  detail::scan_on_host<Direction, true>("exclusive_scan", backend, in, out, detail::node_stack<A>(initial), operation);
}

// The same with the initial value +0, for sums.
template <determinism Level = gpu_to_gpu, scan_direction Direction = forward, int Lanes, class In, class Out, class Operation = plus>
  requires operator_on<Operation, detail::accumulator_for<Operation, Out>>
void exclusive_scan(host_backend<Lanes> const& backend, In const& in, Out const& out, Operation const& operation = {}) {
  static_assert(detail::is_sum<Operation>, "exclusive_scan: name an initial value; without one only a sum has a beginning, +0");
  if constexpr (detail::is_sum<Operation>) {
    exclusive_scan<Level, Direction>(backend, in, out, detail::accumulator_for<Operation, Out>{}, operation);
  }
}

}  // namespace tessera::inline v0_1
