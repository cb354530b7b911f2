// The scatter target of the CUDA backend.
#pragma once

#include <cstdint>
#include <string>

#include <cuda_runtime_api.h>

#include <tessera/determinism.hpp>
#include <tessera/launch/cuda_backend.cuh>
#include <tessera/launch/cuda_error.cuh>
#include <tessera/scatter/cuda_resolve.cuh>
#include <tessera/scatter/cuda_workspace.cuh>
#include <tessera/scatter/direct_target.hpp>
#include <tessera/scatter/scatter_target.hpp>
#include <tessera/scatter/target_base.hpp>

namespace tessera::inline v0_1 {

template <class... Targets>
void resolve(cuda_backend const& backend, Targets&... targets);

namespace detail {

// Throws usage_error if `pointer` is not memory of the current device.
inline void check_on_current_device(void const* pointer, char const* what) {
  if (pointer == nullptr) return;
  int device = 0;
  check_cuda(cudaGetDevice(&device), "scatter_target: cudaGetDevice");
  cudaPointerAttributes attributes{};
  check_cuda(cudaPointerGetAttributes(&attributes, pointer), "scatter_target: cudaPointerGetAttributes");
  if (attributes.type == cudaMemoryTypeDevice && attributes.device != device) {
    throw usage_error(std::string("scatter_target: ") + what + " is memory of device " + std::to_string(attributes.device) +
                      ", the current device is " + std::to_string(device));
  }
  if (attributes.type == cudaMemoryTypeUnregistered) {
    throw usage_error(std::string("scatter_target: ") + what + " is memory of the host that no device can reach");
  }
}

// The id of the capture that a stream is in; 0 where it is not.
inline unsigned long long capture_id(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
#if CUDART_VERSION >= 13000
  check_cuda(cudaStreamGetCaptureInfo(stream, &status, &id, nullptr, nullptr, nullptr, nullptr), "cudaStreamGetCaptureInfo");
#else
  check_cuda(cudaStreamGetCaptureInfo(stream, &status, &id), "cudaStreamGetCaptureInfo");
#endif
  return status == cudaStreamCaptureStatusActive ? id : 0;
}

}  // namespace detail

// See scatter_target. All device work goes to the stream of the backend that a call names; nothing waits but check() and status().
// Everything but those and clear() may be captured: a replay opens, writes and resolves again, and leaves the status to read.
template <class T, int Rank, int Axis>
class cuda_scatter_target : public detail::target_base<T, Rank, Axis> {
  using base = detail::target_base<T, Rank, Axis>;

 public:
  cuda_scatter_target(view<T, Rank> const& destination, records const& declared, workspace_view const& workspace)
      : base(destination, layout(destination, declared), workspace), places_(this->layout_) {
    detail::check_workspace(workspace, places_.end);
    detail::check_on_current_device(workspace.data, "the workspace");
    detail::check_on_current_device(destination.data_handle(), "the destination");
  }

  static std::int64_t workspace_bytes(view<T, Rank> const& destination, records const& declared) {
    return places(layout(destination, declared)).end;
  }

  // Forgets all records and takes new ones: one memset.
  void open(cuda_backend const& backend) {
    detail::check_nothing_pending("scatter target: open");
    detail::check_cuda(cudaMemsetAsync(this->opened_begin(), 0xFF, this->opened_bytes(), backend.stream),
                       "scatter target: open: cudaMemsetAsync");
    this->launches_ = 0;
    this->open_ = true;
    opened_by_launch_ = false;
    capture_ = detail::capture_id(backend.stream);
  }

  // What launch_tiled calls: opens the target where it is not open, and gives the kernel its writer. A target that a launch opened outside
  // of a capture is not written inside of one, since the replays would lack the opening; open() says that it is meant.
  record_writer<T, Rank, Axis> begin_launch(cuda_backend const& backend, tile_grid const& grid) {
    if (!this->open_) {
      open(backend);
      opened_by_launch_ = true;
    } else if (opened_by_launch_ && capture_ != detail::capture_id(backend.stream)) {
      throw usage_error(
          "launch_tiled: the scatter target was opened by a launch outside of this stream capture; resolve it first, or call open() where "
          "its "
          "records begin");
    }
    this->check_launch(grid);
    return this->writer();
  }
  void end_launch() { ++this->launches_; }

  // The writer for a kernel that is launched with <<<...>>>, counted as a launch of `grid`.
  record_writer<T, Rank, Axis> next_launch(cuda_backend const& backend, tile_grid const& grid) {
    auto const writer = begin_launch(backend, grid);
    end_launch();
    return writer;
  }

  // Sorts the records, sums each list and adds it to the destination, if nothing went wrong since open and the status is clear; then the
  // records are gone.
  void resolve(cuda_backend const& backend) { tessera::resolve(backend, *this); }

  // The status on the device, for kernels and for copies of one's own.
  scatter_status const* device_status() const { return &this->header()->status; }
  // Waits for the stream.
  scatter_status status(cuda_backend const& backend) const {
    scatter_status result{};
    detail::check_cuda(cudaMemcpyAsync(&result, device_status(), sizeof(result), cudaMemcpyDeviceToHost, backend.stream),
                       "scatter target: status");
    detail::check_cuda(cudaStreamSynchronize(backend.stream), "scatter target: status: cudaStreamSynchronize");
    return result;
  }
  // Waits for the stream; throws scatter_error where the status is set.
  void check(cuda_backend const& backend) const {
    scatter_status const now = status(backend);
    if (now.flags != 0) throw scatter_error(detail::describe(now, this->layout_));
  }
  void clear(cuda_backend const& backend) {
    detail::check_cuda(cudaMemsetAsync(&this->header()->status, 0, sizeof(scatter_status), backend.stream), "scatter target: clear");
  }

 private:
  template <class... Targets>
  friend void resolve(cuda_backend const& backend, Targets&... targets);

  // The backend's own part of the workspace, behind the records.
  struct places {
    std::int64_t sorted_keys, numbers, sorted_numbers, partials, temporary, end;
    detail::climb_layout climb;
    int bits;
    explicit places(detail::record_layout const& layout) : climb(detail::make_climb_layout(layout.capacity)) {
      std::int64_t const words = detail::align_up(4 * layout.capacity);
      sorted_keys = layout.end;
      numbers = sorted_keys + words;
      sorted_numbers = numbers + words;
      partials = sorted_numbers + words;
      temporary = detail::align_up(partials + climb.rows * layout.columns * layout.element_bytes);
      bits = detail::significant_bits(layout.rows);
      end = temporary;
      if (layout.capacity > 0 && layout.columns > 0 && bits > 0) {
        end += detail::align_up(static_cast<std::int64_t>(detail::sort_temporary_bytes(layout.capacity, bits)));
      }
    }
  };

  static std::int64_t counters(std::int64_t capacity, std::int64_t columns) {
    return detail::make_climb_layout(capacity).counters * detail::column_blocks(columns, 1);
  }
  static detail::record_layout layout(view<T, Rank> const& destination, records const& declared) {
    detail::check_scatter_destination<Axis>(destination);
    return detail::make_record_layout(declared, destination.extent(Axis), detail::row_elements<Axis>(destination), sizeof(T), counters);
  }

  bool nothing_to_do() const { return this->layout_.capacity == 0 || this->layout_.columns == 0 || this->layout_.rows == 0; }

  // First half of a resolve: the sort. Nothing of it touches the destination.
  detail::gate_entry sort(cuda_backend const& backend) {
    this->open_ = false;
    if (!nothing_to_do()) {
      sorted_ = detail::sort_records(backend.stream, word(this->layout_.keys_at), word(places_.sorted_keys), word(places_.numbers),
                                     word(places_.sorted_numbers), this->layout_.capacity, places_.bits, this->memory_ + places_.temporary,
                                     static_cast<std::size_t>(places_.end - places_.temporary));
    }
    return {this->header(), sorted_.keys, nothing_to_do() ? 0 : this->layout_.capacity};
  }
  // Second half, behind the gate.
  void reduce(cuda_backend const& backend) {
    if (nothing_to_do()) return;
    detail::segmented_reduce_arguments<T> arguments{sorted_.keys,
                                                    sorted_.places,
                                                    this->template at<T const>(this->layout_.rows_at),
                                                    &this->header()->count,
                                                    this->layout_.capacity,
                                                    this->layout_.columns,
                                                    detail::rows_of<Axis>(this->destination_),
                                                    this->template at<T>(places_.partials),
                                                    word(this->layout_.counters_at),
                                                    places_.climb};
    detail::segmented_reduce(backend.stream, arguments);
  }
  std::uint32_t* word(std::int64_t bytes) const { return this->template at<std::uint32_t>(bytes); }

  places places_;
  detail::sorted_records sorted_{};
  bool opened_by_launch_ = false;
  unsigned long long capture_ = 0;
};

// Resolves several targets together: all are applied, or none, where any has a fault or a status that is set. At most 16.
template <class... Targets>
void resolve(cuda_backend const& backend, Targets&... targets) {
  static_assert(
      (!Targets::applied_as_written && ...),
      "resolve: a direct target is applied as it is written, so all or none cannot hold for it; resolve the sorted targets without it");
  static_assert(sizeof...(Targets) <= detail::most_gate_entries, "resolve: at most 16 targets together");
  detail::check_nothing_pending("resolve");
  detail::gate_entries entries{};
  ((entries.entry[entries.count++] = targets.sort(backend)), ...);
  detail::run_gate(backend.stream, entries);
  (targets.reduce(backend), ...);
}

namespace detail {

template <>
struct sorted_target<cuda_backend> {
  template <class T, int Rank, int Axis>
  using type = cuda_scatter_target<T, Rank, Axis>;
};

}  // namespace detail

}  // namespace tessera::inline v0_1
