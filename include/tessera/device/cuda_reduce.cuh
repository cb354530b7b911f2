// Reductions of whole arrays on the device: one value, D of all elements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include <cuda/std/type_traits>

#include <tessera/accumulate.hpp>
#include <tessera/arithmetic.hpp>
#include <tessera/determinism.hpp>
#include <tessera/device/array_checks.hpp>
#include <tessera/device/array_workspace.cuh>
#include <tessera/device/reduce_kernel.cuh>
#include <tessera/device/reductions.hpp>
#include <tessera/launch/cuda_backend.cuh>
#include <tessera/source.hpp>
#include <tessera/view.hpp>

namespace tessera::inline v0_1 {

namespace detail {

// Speed choices; no bit depends on them.
inline constexpr std::int64_t most_reduce_runs = 4096;

// A run a tile. One warp collects them, 32 `Collected` at most; false, and nothing is launched, where there are more.
template <int Threads, int Rows, int Collected, class Arguments>
bool launch_short_reduce(cuda_backend const& backend, char const* call, Arguments const& arguments) {
  constexpr std::int64_t tile = std::int64_t{Threads} * Rows * Arguments::width;
  std::int64_t const tiles = ceil_div(arguments.count, tile);
  if (tiles > 32 * Collected) return false;
  launch_kernel(backend, call, &reduce_short_kernel<Threads, Rows, Collected, Arguments>, tiles, Threads + 32, 0, arguments);
  return true;
}

template <int Threads, int Rows, int Tiles, int Collected, class Arguments>
void launch_long_reduce(cuda_backend const& backend, char const* call, Arguments& arguments) {
  constexpr std::int64_t tile = std::int64_t{Threads} * Rows * Arguments::width, tile_bytes = tile * (16 / Arguments::width);
  constexpr std::int64_t most_runs = std::min<std::int64_t>(most_reduce_runs, Threads * Collected);
  std::int64_t const tiles = ceil_div(arguments.count, tile);
  // Runs of 128 KiB, shorter ones where there would be few.
  std::int64_t const few = tiles < 1024 ? 256 : 1024;
  std::int64_t run = 1;
  while (ceil_div(tiles, run) > most_runs || (ceil_div(tiles, run) > few && run * tile_bytes < (1 << 17))) run *= 2;
  arguments.tiles = static_cast<int>(run);
  launch_kernel(backend, call, &reduce_long_kernel<Threads, Rows, Tiles, Collected, Arguments>, ceil_div(tiles, run), Threads, 0,
                arguments);
}

template <class T>
__global__ void store_value_kernel(T* out, T value) {
  *out = value;
}

template <class T>
lookback_workspace<T> take_reduce_workspace(workspace_parts& parts) {
  return lookback_workspace<T>::take(most_reduce_runs, parts);
}

template <class T, class Source, class Out, class Operation, class Finish>
void reduce_on_device(cuda_backend const& backend, char const* call, Source const& source, Out* out, workspace_view const& workspace,
                      Operation const& operation, Finish const& finish) {
  static_assert(operator_on<Operation, T>, "the operator takes two values of the accumulator's type and gives one");
  auto const in = as_source(source);
  using In = cuda::std::remove_const_t<decltype(in)>;
  static_assert(source_rank<In> == 1, "a reduction's array has one dimension");
  check_nothing_pending(call);
  check_result(call, out);
  require_memory(call, "input", in);
  std::int64_t const count = in.extent(0);
  if (count == 0) return;
  auto const taken = take_workspace(call, workspace, take_reduce_workspace<T>);
  bool const contiguous = is_contiguous(in);
  std::int64_t const aligned = aligned_tiles<forward>(in, count, contiguous, 1);  // of one element
  reduce_arguments<In, T, Operation, Finish, Out> arguments{in,     count, contiguous,   aligned,     operation,
                                                            finish, out,   taken.header, taken.words, 1};
  constexpr int width = decltype(arguments)::width;
  constexpr int several = width <= 4 ? 8 : (width == 8 ? 4 : 2);
  if (launch_short_reduce<256, several, 4>(backend, call, arguments)) return;
  if (launch_short_reduce<256, several, 8>(backend, call, arguments)) return;
  launch_long_reduce<512, several, sizeof(T) <= 16 ? 8 : 2, 8>(backend, call, arguments);
}

template <class Order, class Source>
void arg_reduce_on_device(cuda_backend const& backend, char const* call, Source const& source, std::int64_t* out,
                          workspace_view const& workspace) {
  auto const in = as_source(source);
  with_indices<cuda::std::remove_const_t<decltype(in)>> const pairs{in};
  using T = source_value<decltype(pairs)>;
  reduce_on_device<T>(backend, call, pairs, out, workspace, first_of<Order>{}, store_index<decltype(T::value)>{});
}

}  // namespace detail

// Bytes of workspace for a reduction whose elements are joined as values of type T (the accumulator; for arg_min and arg_max indexed<T>),
// of any number of elements. Zeroed as a whole once, before its first use; then valid for fewer than 2^31 reductions, one at a time. Then,
// and after a launch that was aborted, zero it again.
template <class T>
std::size_t reduce_workspace_bytes() {
  return detail::workspace_bytes(detail::take_reduce_workspace<T>);
}

// *out = D(in[0] .. in[n-1]), on the device; of no elements, *out is left alone. `in` is a source: a view of any stride and alignment,
// counting(), transformed(). Elements are converted to the accumulator, joined there by `operation` (plus{}, minimum{}, maximum{},
// accumulate_as<double>{}, or any other on device values) in the tree of D, the left operand first, and the result, a NaN canonical, is
// rounded once to T. Asynchronous on the backend's stream, may be captured. Level: gpu_to_gpu, which is also the fast one. Throws
// usage_error and cuda_error.
template <determinism Level = gpu_to_gpu, class In, class T, class Operation = plus>
  requires operator_on<Operation, accumulator_t<Operation, T>>
void reduce(cuda_backend const& backend, In const& in, T* out, workspace_view const& workspace, Operation const& operation = {}) {
  using A = accumulator_t<Operation, T>;
  detail::reduce_on_device<A>(backend, "reduce", in, out, workspace, operation, detail::store_sum<A, T>{});
}

// *out = operation(initial, D(in)); of no elements, `initial`.
template <determinism Level = gpu_to_gpu, class In, class T, class Operation = plus>
void reduce(cuda_backend const& backend, In const& in, T* out, cuda::std::type_identity_t<accumulator_t<Operation, T>> const& initial,
            workspace_view const& workspace, Operation const& operation = {}) {
  using A = accumulator_t<Operation, T>;
  detail::reduce_on_device<A>(backend, "reduce", in, out, workspace, operation,
                              detail::store_sum_from<A, T, Operation>{initial, operation});
  if (in.extent(0) == 0) {
    // By a kernel, since a captured copy would read this frame again at each replay.
    detail::launch_kernel(backend, "reduce", &detail::store_value_kernel<T>, 1, 1, 0, out, detail::conversion<T, A>::of(initial));
  }
}

// *out = fl(D(in) / fl(n)); of no elements, *out is left alone. The accumulator is a floating-point type.
template <determinism Level = gpu_to_gpu, class In, class T, class Operation = plus>
void mean(cuda_backend const& backend, In const& in, T* out, workspace_view const& workspace, Operation const& operation = {}) {
  using A = accumulator_t<Operation, T>;
  static_assert(cuda::std::is_floating_point_v<A>, "mean: the accumulator is a floating-point type; accumulate_as<double>{} for integers");
  detail::reduce_on_device<A>(backend, "mean", in, out, workspace, operation, detail::store_mean<A, T>{in.extent(0)});
}

// *out = D(fl(a[0] b[0]) .. fl(a[n-1] b[n-1])), the products in the accumulator's type; of no elements, *out is left alone.
template <determinism Level = gpu_to_gpu, class First, class Second, class T, class Operation = plus>
void dot(cuda_backend const& backend, First const& a, Second const& b, T* out, workspace_view const& workspace,
         Operation const& operation = {}) {
  using A = accumulator_t<Operation, T>;
  detail::require_extent_is("dot", "the second array has", b.extent(0), a.extent(0));
  detail::reduce_on_device<A>(backend, "dot", transformed(detail::product_in<A>{}, a, b), out, workspace, operation,
                              detail::store_sum<A, T>{});
}

// The index of the smallest element, the first of equal ones: -0 is smaller than +0, a NaN is taken only if all are (then index 0). Of no
// elements, *out is left alone. The workspace is that of indexed<T>.
template <determinism Level = gpu_to_gpu, class In>
void arg_min(cuda_backend const& backend, In const& in, std::int64_t* out, workspace_view const& workspace) {
  detail::arg_reduce_on_device<minimum>(backend, "arg_min", in, out, workspace);
}

// The same of the largest.
template <determinism Level = gpu_to_gpu, class In>
void arg_max(cuda_backend const& backend, In const& in, std::int64_t* out, workspace_view const& workspace) {
  detail::arg_reduce_on_device<maximum>(backend, "arg_max", in, out, workspace);
}

}  // namespace tessera::inline v0_1
