// Scans and reductions of segments on the device: each segment by its own D, as if it were an array alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include <cuda/std/type_traits>

#include <tessera/accumulate.hpp>
#include <tessera/determinism.hpp>
#include <tessera/device/array_checks.hpp>
#include <tessera/device/array_workspace.cuh>
#include <tessera/device/row_access.cuh>
#include <tessera/device/segment_reduce_kernel.cuh>
#include <tessera/device/segment_scan_kernel.cuh>
#include <tessera/launch/cuda_backend.cuh>
#include <tessera/scatter/cuda_resolve.cuh>
#include <tessera/segments.hpp>
#include <tessera/source.hpp>
#include <tessera/view.hpp>

namespace tessera::inline v0_1 {

namespace detail {

template <class T>
struct segmented_workspace {
  lookback_header* header;
  node_word<T>* words;
  node_word<std::int64_t>* last_heads;
  window_plans<T> plans;
};
template <class T>
segmented_workspace<T> take_segmented_workspace(std::int64_t count, workspace_parts& parts) {
  std::int64_t const windows = ceil_div(count, segmented_window<T>);
  segmented_workspace<T> taken{};
  taken.header = parts.take<lookback_header>(1);
  taken.last_heads = parts.take<node_word<std::int64_t>>(make_lookback_layout(ceil_div(windows, mark_warps)).words);
  taken.words = parts.take<node_word<T>>(make_lookback_layout(windows).words);
  taken.plans.words = parts.take<node_word<std::uint32_t>>(windows * window_plans<T>::words_of_one);
  taken.plans.heads = parts.take<node_word<std::uint32_t>>(windows * window_heads<T>::words);
  taken.plans.windows = windows;
  return taken;
}

// Sets the elements of an output of `columns` columns: of all segments, or of those that have elements.
template <class Out, class Segments, class T>
__global__ void prepare_output_kernel(Out out, std::int64_t columns, Segments segments, std::int64_t count, bool also_empty, T value) {
  segment_windows<Segments> const lists{segments, count};
  std::int64_t const all = segments.count() * columns;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < all; i += std::int64_t{gridDim.x} * blockDim.x) {
    if (!also_empty && lists.size_is_zero(i / columns)) continue;
    if constexpr (Out::rank() == 1) {
      out(i) = value;
    } else {
      out(i / columns, i % columns) = value;
    }
  }
}
template <class Out, class Segments, class T>
void prepare_output(cuda_backend const& backend, char const* call, Out const& out, std::int64_t columns, Segments const& segments,
                    std::int64_t count, bool also_empty, T const& value) {
  std::int64_t const blocks = std::min<std::int64_t>(ceil_div(segments.count() * columns, 256), 1 << 14);
  if (blocks > 0)
    launch_kernel(backend, call, &prepare_output_kernel<Out, Segments, T>, blocks, 256, 0, out, columns, segments, count, also_empty,
                  value);
}

template <scan_direction Direction, class T, class Segments>
void plan_segments(cuda_backend const& backend, char const* call, Segments const& segments, std::int64_t count,
                   segmented_workspace<T> const& taken) {
  std::int64_t const blocks = ceil_div(taken.plans.windows, mark_warps);
  plan_arguments<Direction, Segments, T> const arguments{
      segments, count, taken.plans, taken.header, {taken.last_heads, make_lookback_layout(blocks)}};
  launch_kernel(backend, call, &plan_segments_kernel<plan_arguments<Direction, Segments, T>>, blocks, mark_threads, 0, arguments);
}

// Room for elements in the shared memory of a block.
template <class Arguments>
int segmented_places(char const* call) {
  using T = typename Arguments::value_type;
  int const bytes = device_attribute(call, cudaDevAttrMaxSharedMemoryPerBlockOptin) - segmented_block<Arguments>::state_bytes;
  int const places = bytes / static_cast<int>(sizeof(T));
  if (places < segmented_block<Arguments>::shape::most_places) {
    throw usage_error(std::string(call) + ": values of " + std::to_string(sizeof(T)) +
                      " bytes are too large for the shared memory of this device");
  }
  return places;
}

template <class Arguments>
void launch_segmented(cuda_backend const& backend, char const* call, Arguments const& arguments) {
  using T = typename Arguments::value_type;
  int const bytes = segmented_block<Arguments>::state_bytes + arguments.places * static_cast<int>(sizeof(T));
  std::int64_t const blocks = std::min<std::int64_t>(arguments.plans.windows, device_attribute(call, cudaDevAttrMultiProcessorCount));
  launch_kernel(backend, call, &segment_scan_kernel<Arguments>, blocks, segmented_block<Arguments>::shape::threads, bytes, arguments);
}

template <scan_direction Direction, bool Exclusive, class T, class Source, class Segments, class View, class Operation>
void segmented_scan_on_device(cuda_backend const& backend, char const* call, Source const& source, Segments const& segments,
                              View const& array, T const& initial, workspace_view const& workspace, Operation const& operation) {
  static_assert(View::rank() == 1, "a scan's arrays have one dimension");
  static_assert(operator_on<Operation, T>, "the operator takes two values of the accumulator's type and gives one");
  check_nothing_pending(call);
  check_scan(call, source, array);
  auto const in = as_source(source);
  auto const out = as_view(array);
  using Arguments = segmented_arguments<Direction, Exclusive, cuda::std::remove_const_t<decltype(in)>,
                                        cuda::std::remove_const_t<decltype(out)>, T, Operation>;
  std::int64_t const count = in.extent(0);
  check_segments(call, segments, count);
  int const places = segmented_places<Arguments>(call);  // what can be refused is refused before anything is launched
  if (count == 0) return;
  auto const taken = take_workspace(call, workspace, [&](workspace_parts& parts) { return take_segmented_workspace<T>(count, parts); });
  plan_segments<Direction>(backend, call, segments, count, taken);
  lookback<T> const nodes{taken.words, make_lookback_layout(taken.plans.windows)};
  Arguments const arguments{in,      out,       count,        places, is_contiguous(in), is_contiguous(out),
                            initial, operation, taken.header, nodes,  taken.plans};
  launch_segmented(backend, call, arguments);
}

template <class T>
lookback_workspace<T> take_segment_reduce_workspace(std::int64_t count, workspace_parts& parts) {
  return lookback_workspace<T>::take(make_lookback_layout(ceil_div(count, segment_chunk<T>)).words, parts);
}

template <class T, class Source, class Segments, class View, class Operation>
void reduce_segments_on_device(cuda_backend const& backend, char const* call, Source const& source, Segments const& segments,
                               View const& array, T const& initial, bool has_initial, workspace_view const& workspace,
                               Operation const& operation) {
  auto const in = as_source(source);
  auto const out = as_view(array);
  using In = cuda::std::remove_const_t<decltype(in)>;
  using Out = cuda::std::remove_const_t<decltype(out)>;
  static_assert(operator_on<Operation, T>, "the operator takes two values of the accumulator's type and gives one");
  std::int64_t const count = in.extent(0);
  lookback_workspace<T> taken{};
  if (count > 0)
    taken = take_workspace(call, workspace, [&](workspace_parts& parts) { return take_segment_reduce_workspace<T>(count, parts); });
  if (has_initial) prepare_output(backend, call, out, 1, segments, count, true, conversion<typename Out::element_type, T>::of(initial));
  if (count == 0 || segments.count() == 0) return;
  std::int64_t const windows = ceil_div(count, segment_chunk<T>);
  // Few blocks for each that can run, so that a warp seldom has to find its first segment; many enough that no multiprocessor waits.
  std::int64_t const at_once = std::int64_t{64} * device_attribute(call, cudaDevAttrMultiProcessorCount);
  std::int64_t const of_warp = std::clamp<std::int64_t>(windows / at_once, 1, most_windows_of_warp);
  lookback<T> const nodes{taken.words, make_lookback_layout(windows)};
  using Arguments = segment_reduce_arguments<In, Segments, Out, T, Operation>;
  Arguments const arguments{in,        segments,     out,   count,   is_contiguous(in),        has_initial, initial,
                            operation, taken.header, nodes, windows, static_cast<int>(of_warp)};
  constexpr int warps = segment_reduce_warps<T>;
  launch_kernel(backend, call, &segment_reduce_kernel<Arguments>, ceil_div(windows, of_warp * warps), 32 * warps, 0, arguments);
}

// Rows as the records of a resolve, which lie in order already: each row's segment is its key.
template <class Segments>
__global__ void row_records_kernel(Segments segments, std::int64_t count, std::uint32_t* keys, std::uint32_t* places,
                                   std::uint32_t* number) {
  __shared__ std::int64_t begin, end;
  segment_windows<Segments> const lists{segments, count};
  if (threadIdx.x == 0) {
    begin = lists.begin();
    end = lists.finish();
    if (end < begin) end = begin;  // of offsets that do not ascend
    if (blockIdx.x == 0) *number = static_cast<std::uint32_t>(end - begin);
  }
  __syncthreads();
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < end - begin; i += std::int64_t{gridDim.x} * blockDim.x) {
    // Keys that do not ascend give other sums, but no row that is not there.
    std::int64_t const segment = lists.segment_of(begin + i), last = segments.count() - 1;
    keys[i] = static_cast<std::uint32_t>(segment < 0 ? 0 : (segment < last ? segment : last));
    places[i] = static_cast<std::uint32_t>(begin + i);
  }
}

template <class T>
struct row_reduction_workspace {
  std::uint32_t *number, *keys, *places, *counters;
  T* partials;
  climb_layout climb;
  std::size_t bytes;  // of all these
};
template <class T>
row_reduction_workspace<T> take_row_reduction_workspace(std::int64_t count, std::int64_t columns, workspace_parts& parts) {
  row_reduction_workspace<T> taken{};
  (void)take_segment_reduce_workspace<T>(count, parts);  // is left as it is, for the operations that look back
  taken.bytes = parts.bytes();
  taken.climb = make_climb_layout(count);
  taken.number = parts.take<std::uint32_t>(1);
  taken.keys = parts.take<std::uint32_t>(count);
  taken.places = parts.take<std::uint32_t>(count);
  taken.counters = parts.take<std::uint32_t>(taken.climb.counters * column_blocks(columns, 1));
  taken.partials = parts.take<T>(taken.climb.rows * columns);
  taken.bytes = parts.bytes() - taken.bytes;
  return taken;
}

// Whether the resolve's reduction can take the rows as they lie.
template <class In, class Out, class Operation>
bool are_records(In const& in, Out const& out) {
  using element = typename Out::element_type;
  if constexpr ((cuda::std::is_same_v<element, float> || cuda::std::is_same_v<element, double>)&&cuda::std::is_same_v<Operation, plus> &&
                cuda::std::is_same_v<cuda::std::remove_const_t<typename In::element_type>, element>) {
    constexpr std::int64_t size = sizeof(element);
    return in.mapping().byte_stride(1) == size && in.mapping().byte_stride(0) == size * in.extent(1) &&
           reinterpret_cast<std::uintptr_t>(in.data_handle()) % 16 == 0 && in.extent(0) < (std::int64_t{1} << 31) &&
           out.extent(0) < (std::int64_t{1} << 32) - 1;
  } else {
    return false;
  }
}

template <class T, class In, class Segments, class Out, class Operation>
void reduce_rows_on_device(cuda_backend const& backend, char const* call, In const& in, Segments const& segments, Out const& out,
                           T const& initial, bool has_initial, workspace_view const& workspace, Operation const& operation) {
  using element = typename Out::element_type;
  std::int64_t const count = in.extent(0), columns = in.extent(1);
  if (columns > 1 && are_records<In, Out, Operation>(in, out)) {
    if constexpr (cuda::std::is_same_v<element, float> || cuda::std::is_same_v<element, double>) {
      row_reduction_workspace<element> taken{};
      if (count > 0) {
        taken = take_workspace(
            call, workspace, [&](workspace_parts& parts) { return take_row_reduction_workspace<element>(count, columns, parts); });
      }
      // out = fl(old + D), and -0.0 + D is D.
      if (count > 0 || has_initial)
        prepare_output(backend, call, out, columns, segments, count, has_initial, has_initial ? initial : plus::identity<element>());
      if (count == 0) return;
      launch_kernel(backend, call, &row_records_kernel<Segments>, std::min<std::int64_t>(ceil_div(count, 256), 1 << 14), 256, 0, segments,
                    count, taken.keys, taken.places, taken.number);
      if (taken.climb.counters > 0) {
        check_cuda(cudaMemsetAsync(taken.counters, 0xFF, static_cast<std::size_t>(taken.climb.counters * column_blocks(columns, 1)) * 4,
                                   backend.stream),
                   std::string(call) + ": cudaMemsetAsync");
      }
      segmented_reduce_arguments<element> const arguments{taken.keys, taken.places, in.data_handle(), taken.number,   count,
                                                          columns,    rows_of<0>(out), taken.partials, taken.counters, taken.climb};
      detail::segmented_reduce(backend.stream, arguments);
      // Where a call of another size looks back, nothing may lie that could be taken for a word of its run.
      check_cuda(cudaMemsetAsync(taken.number, 0, taken.bytes, backend.stream), std::string(call) + ": cudaMemsetAsync");
    }
    return;
  }
  for (std::int64_t column_number = 0; column_number < columns; ++column_number) {
    reduce_segments_on_device(backend, call, column(in, column_number), segments, column(out, column_number), initial, has_initial,
                              workspace, operation);
  }
}

template <class T, class Source, class Segments, class View, class Operation>
void segmented_reduce_on_device(cuda_backend const& backend, Source const& source, Segments const& segments, View const& array,
                                T const& initial, bool has_initial, workspace_view const& workspace, Operation const& operation) {
  constexpr char const* call = "segmented_reduce";
  static_assert(has_count<Segments>,
                "segmented_reduce: head flags do not say how many segments there are; describe them by offsets, length or keys");
  if constexpr (has_count<Segments>) {
    auto const in = as_source(source);
    auto const out = as_view(array);
    static_assert(source_rank<Source> == static_cast<int>(View::rank()) && View::rank() <= 2,
                  "segmented_reduce: arrays have one dimension, or rows and columns");
    check_nothing_pending(call);
    check_segments(call, segments, in.extent(0));
    check_segmented_result(call, in, segments, out);
    if constexpr (decltype(out)::rank() == 1) {
      reduce_segments_on_device(backend, call, in, segments, out, initial, has_initial, workspace, operation);
    } else {
      reduce_rows_on_device(backend, call, in, segments, out, initial, has_initial, workspace, operation);
    }
  }
}

}  // namespace detail

// Bytes of workspace for a segmented reduction of up to `count` rows of `columns` elements that are joined as values of type T. Zeroed as a
// whole once, before its first use; then valid for fewer than 2^31 reductions of up to that size, one at a time. Then, and after a launch
// that was aborted, zero it again.
template <class T>
std::size_t segmented_reduce_workspace_bytes(std::int64_t count, std::int64_t columns = 1) {
  if (columns <= 1) {
    return detail::workspace_bytes([&](detail::workspace_parts& parts) { return detail::take_segment_reduce_workspace<T>(count, parts); });
  }
  return detail::workspace_bytes(
      [&](detail::workspace_parts& parts) { return detail::take_row_reduction_workspace<T>(count, columns, parts); });
}

// Bytes of workspace for a segmented scan of up to `count` elements that are joined as values of type T (the accumulator), which are enough
// for a segmented reduction of an array of one dimension too. Zeroed as a whole once, before its first use; then valid for fewer than 2^31
// such operations of up to that many elements, one at a time. Then, and after a launch that was aborted, zero it again.
template <class T>
std::size_t segmented_scan_workspace_bytes(std::int64_t count) {
  return std::max(detail::workspace_bytes([&](detail::workspace_parts& parts) { return detail::take_segmented_workspace<T>(count, parts); }),
                  segmented_reduce_workspace_bytes<T>(count));
}

// Each segment's inclusive scan, as if it were an array alone: segments_at, segments_of_length, segments_from_flags or segments_by_key;
// elements of no segment are left alone. The rest as inclusive_scan.
template <determinism Level = gpu_to_gpu, scan_direction Direction = forward, class Source, class Segments, class View,
          class Operation = plus>
void segmented_inclusive_scan(cuda_backend const& backend, Source const& in, Segments const& segments, View const& out,
                              workspace_view const& workspace, Operation const& operation = {}) {
  using T = accumulator_t<Operation, typename View::element_type>;
  detail::segmented_scan_on_device<Direction, false>(backend, "segmented_inclusive_scan", in, segments, out, T{}, workspace, operation);
}

// Each segment's exclusive scan from `initial`.
template <determinism Level = gpu_to_gpu, scan_direction Direction = forward, class Source, class Segments, class View,
          class Operation = plus>
void segmented_exclusive_scan(cuda_backend const& backend, Source const& in, Segments const& segments, View const& out,
                              cuda::std::type_identity_t<accumulator_t<Operation, typename View::element_type>> const& initial,
                              workspace_view const& workspace, Operation const& operation = {}) {
  detail::segmented_scan_on_device<Direction, true>(backend, "segmented_exclusive_scan", in, segments, out, initial, workspace,
                                                       operation);
}

// out[k] = D(segment k); of an empty segment, out[k] is left alone. `in` is a source of n elements and `out` a view of segments.count(), or
// both are views of rows and columns, whose rows are added up element by element. Segments: segments_at, segments_of_length,
// segments_by_key. Types, operators and the rest as reduce. Rows of float and double that lie one behind the other at a 16-byte boundary
// are summed by the reduction of a scatter's resolve; other rows, and other operators, column by column.
template <determinism Level = gpu_to_gpu, class Source, class Segments, class View, class Operation = plus>
  requires operator_on<Operation, accumulator_t<Operation, typename View::element_type>>
void segmented_reduce(cuda_backend const& backend, Source const& in, Segments const& segments, View const& out,
                      workspace_view const& workspace, Operation const& operation = {}) {
  using T = accumulator_t<Operation, typename View::element_type>;
  detail::segmented_reduce_on_device(backend, in, segments, out, T{}, false, workspace, operation);
}

// out[k] = operation(initial, D(segment k)), and `initial` where the segment is empty.
template <determinism Level = gpu_to_gpu, class Source, class Segments, class View, class Operation = plus>
void segmented_reduce(cuda_backend const& backend, Source const& in, Segments const& segments, View const& out,
                      cuda::std::type_identity_t<accumulator_t<Operation, typename View::element_type>> const& initial,
                      workspace_view const& workspace, Operation const& operation = {}) {
  detail::segmented_reduce_on_device(backend, in, segments, out, initial, true, workspace, operation);
}

}  // namespace tessera::inline v0_1
