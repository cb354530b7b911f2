// Scans of whole arrays on the device: one pass over the data, every prefix its own D.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include <cuda/std/type_traits>

#include <tessera/accumulate.hpp>
#include <tessera/determinism.hpp>
#include <tessera/device/array_checks.hpp>
#include <tessera/device/array_workspace.cuh>
#include <tessera/device/scan_kernels.cuh>
#include <tessera/launch/cuda_backend.cuh>
#include <tessera/source.hpp>
#include <tessera/view.hpp>

namespace tessera::inline v0_1 {

namespace detail {

// From how many bytes on a scan's kernels change. Speed choices: no bit depends on them.
inline constexpr std::int64_t small_scan = 1 << 20, medium_scan = 1 << 22, stream_from = 12 << 20;

// Elements of the smallest tile that a scan of `count` elements may have.
constexpr std::int64_t least_scan_tile(std::int64_t count) { return count <= small_scan ? 512 : 2048; }

// Whether the current device runs scan_stream_kernel: code that was compiled for compute capability 9.0 or later, and its shared memory.
template <class Arguments>
bool runs_scan_stream(char const* call) {
  using shape = stream_shape<typename Arguments::source_type, typename Arguments::value_type>;
  if (device_attribute(call, cudaDevAttrComputeCapabilityMajor) < 9) return false;
  static cudaFuncAttributes const attributes = [&] {  // the program's property
    cudaFuncAttributes of_kernel{};
    check_cuda(cudaFuncGetAttributes(&of_kernel, &scan_stream_kernel<Arguments>), std::string(call) + ": cudaFuncGetAttributes");
    return of_kernel;
  }();
  return attributes.ptxVersion >= 90 && device_attribute(call, cudaDevAttrMaxSharedMemoryPerBlockOptin) >=
                                            shape::shared_bytes + static_cast<int>(attributes.sharedSizeBytes);
}

template <int Threads, int Rows, class Order = tiles_in_order, class Arguments>
void launch_scan_tiles(cuda_backend const& backend, char const* call, Arguments& arguments) {
  constexpr std::int64_t tile = std::int64_t{Threads} * Rows * Arguments::width;
  std::int64_t const tiles = ceil_div(arguments.count, tile);
  arguments.tiles = static_cast<std::uint32_t>(tiles);
  arguments.nodes.layout = make_lookback_layout(tiles);
  arguments.aligned_in = static_cast<std::uint32_t>(
      aligned_tiles<Arguments::direction>(arguments.in, arguments.count, arguments.in_contiguous, static_cast<int>(tile)));
  arguments.aligned_out = static_cast<std::uint32_t>(
      aligned_tiles<Arguments::direction>(arguments.out, arguments.count, arguments.out_contiguous, static_cast<int>(tile)));
  launch_kernel(backend, call, &scan_tiles_kernel<Threads, Rows, Order, Arguments>, tiles, tiles > 1 ? Threads + 32 : Threads, 0,
                arguments);
}

// By a block on each multiprocessor, `most_blocks` in all.
template <class Arguments>
void launch_scan_stream(cuda_backend const& backend, char const* call, Arguments& arguments,
                        int most_blocks = std::numeric_limits<int>::max()) {
  using shape = stream_shape<typename Arguments::source_type, typename Arguments::value_type>;
  std::int64_t const tiles = ceil_div(arguments.count, shape::tile_size);
  int const places = std::min(device_attribute(call, cudaDevAttrMultiProcessorCount), most_blocks);
  std::int64_t const blocks = std::min<std::int64_t>(tiles, places);
  arguments.tiles = static_cast<std::uint32_t>(tiles);
  arguments.tickets = static_cast<std::uint32_t>(tiles + blocks);
  arguments.nodes.layout = make_lookback_layout(tiles);
  launch_kernel(backend, call, &scan_stream_kernel<Arguments>, blocks, shape::threads, shape::shared_bytes, arguments);
}

template <class Arguments>
void launch_scan(cuda_backend const& backend, char const* call, Arguments& arguments) {
  constexpr int width = Arguments::width;
  constexpr int several = width <= 4 ? 4 : (width == 8 ? 2 : 1), many = 2 * several, few = several > 1 ? several / 2 : 1;
  std::int64_t const bytes = arguments.count * (16 / width);
  if constexpr (stream_shape<typename Arguments::source_type, typename Arguments::value_type>::possible) {
    if (bytes >= stream_from && arguments.in_contiguous && runs_scan_stream<Arguments>(call))
      return launch_scan_stream(backend, call, arguments);
  }
  if (bytes <= small_scan) {
    launch_scan_tiles<256, few>(backend, call, arguments);
  } else if (bytes <= medium_scan) {
    launch_scan_tiles<512, several>(backend, call, arguments);
  } else {
    launch_scan_tiles<512, many>(backend, call, arguments);
  }
}

template <class T>
struct scan_workspace {
  lookback_workspace<T> lookback;
  tile_claims claims;
};
template <class T>
scan_workspace<T> take_scan_workspace(std::int64_t count, workspace_parts& parts) {
  // The smallest tiles give the most nodes and claims.
  std::int64_t const tiles = std::max(ceil_div(count, least_scan_tile(count)), ceil_div(std::min(count, small_scan), least_scan_tile(0)));
  scan_workspace<T> taken{};
  taken.lookback = lookback_workspace<T>::take(make_lookback_layout(tiles).words, parts);
  taken.claims.words = parts.take<tile_claims::word_type>(tiles);
  return taken;
}

template <scan_direction Direction, bool Exclusive, class Source, class View, class Operation, class T>
void scan_on_device(cuda_backend const& backend, char const* call, Source const& source, View const& array, T const& initial,
                    bool has_initial, workspace_view const& workspace, Operation const& operation) {
  auto const in = as_source(source);
  auto const out = as_view(array);
  using In = cuda::std::remove_const_t<decltype(in)>;
  using Out = cuda::std::remove_const_t<decltype(out)>;
  static_assert(Out::rank() == 1, "a scan's arrays have one dimension");
  static_assert(!cuda::std::is_const_v<typename Out::element_type>, "a scan's output is a view of elements that are not const");
  static_assert(operator_on<Operation, T>, "the operator takes two values of the accumulator's type and gives one");
  check_nothing_pending(call);
  std::int64_t const count = in.extent(0);
  check_scan(call, in, out);
  if (count == 0) return;
  auto const taken = take_workspace(call, workspace, [&](workspace_parts& parts) { return take_scan_workspace<T>(count, parts); });
  lookback<T> const nodes{taken.lookback.words, {}};
  scan_arguments<Direction, Exclusive, In, Out, T, Operation> arguments{
      in, out, count, 0, 0, has_initial, is_contiguous(in), is_contiguous(out), initial, operation, taken.lookback.header,
      nodes, taken.claims, 0, 0};
  launch_scan(backend, call, arguments);
}

}  // namespace detail

// Bytes of workspace for a scan of up to `count` elements that are joined as values of type T (the accumulator: that of the output's
// elements, float for f16 and bf16, or what accumulate_as names). The workspace is zeroed as a whole once, before its first use, and stays
// valid for fewer than 2^31 scans of up to that many elements, of any type of at most that size, one at a time. Then, and after a launch
// that was aborted, zero it again.
template <class T>
std::size_t scan_workspace_bytes(std::int64_t count) {
  return detail::workspace_bytes([&](detail::workspace_parts& parts) { return detail::take_scan_workspace<T>(count, parts); });
}

// out[i] = D(in[0] .. in[i]); with `backward`, D(in[n-1] .. in[i]). `in` is a source of n elements: a view of any stride and alignment,
// counting(), transformed(); `out` a view of as many, which may be the same array. Elements are converted to the accumulator, joined there
// by `operation` (plus{}, minimum{}, maximum{}, accumulate_as<double>{}, or any other on device values) in the tree of D, the earlier
// operand first, and the result, its NaN canonical, is rounded once to the output's type. Asynchronous on the backend's stream, may be
// captured. Level: gpu_to_gpu, which is also the fast one. Throws usage_error and cuda_error.
template <determinism Level = gpu_to_gpu, scan_direction Direction = forward, class Source, class View, class Operation = plus>
  requires operator_on<Operation, accumulator_t<Operation, typename View::element_type>>
void inclusive_scan(cuda_backend const& backend, Source const& in, View const& out, workspace_view const& workspace,
                    Operation const& operation = {}) {
  using T = accumulator_t<Operation, typename View::element_type>;
  detail::scan_on_device<Direction, false>(backend, "inclusive_scan", in, out, T{}, false, workspace, operation);
}

// out[i] = operation(initial, D(in[0] .. in[i])).
template <determinism Level = gpu_to_gpu, scan_direction Direction = forward, class Source, class View, class Operation = plus>
void inclusive_scan(cuda_backend const& backend, Source const& in, View const& out,
                    cuda::std::type_identity_t<accumulator_t<Operation, typename View::element_type>> const& initial,
                    workspace_view const& workspace, Operation const& operation = {}) {
  detail::scan_on_device<Direction, false>(backend, "inclusive_scan", in, out, initial, true, workspace, operation);
}

// out[0] = initial, out[i] = operation(initial, D(in[0] .. in[i-1])); backward likewise from the end.
template <determinism Level = gpu_to_gpu, scan_direction Direction = forward, class Source, class View, class Operation = plus>
void exclusive_scan(cuda_backend const& backend, Source const& in, View const& out,
                    cuda::std::type_identity_t<accumulator_t<Operation, typename View::element_type>> const& initial,
                    workspace_view const& workspace, Operation const& operation = {}) {
  detail::scan_on_device<Direction, true>(backend, "exclusive_scan", in, out, initial, true, workspace, operation);
}

// The same from +0, for sums.
template <determinism Level = gpu_to_gpu, scan_direction Direction = forward, class Source, class View, class Operation = plus>
  requires operator_on<Operation, accumulator_t<Operation, typename View::element_type>>
void exclusive_scan(cuda_backend const& backend, Source const& in, View const& out, workspace_view const& workspace,
                    Operation const& operation = {}) {
  static_assert(detail::is_sum<Operation>, "exclusive_scan: name an initial value; only a sum begins with +0 by itself");
  using T = accumulator_t<Operation, typename View::element_type>;
  detail::scan_on_device<Direction, true>(backend, "exclusive_scan", in, out, T{}, true, workspace, operation);
}

}  // namespace tessera::inline v0_1
