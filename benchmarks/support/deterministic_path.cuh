// The deterministic path as it is used, and its beginnings, to see what each part takes.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tessera/tessera.cuh>

#include "add_rows.hpp"
#include "device_array.cuh"

namespace benchmark {

// A scatter of `records` rows into `destinations` rows. All calls put their work on the stream.
template <int Columns>
class deterministic_path {
  using kernel = add_rows<Columns>;

 public:
  deterministic_path(cudaStream_t stream, float const* values, int const* rows, float* destination, std::int64_t records,
                     std::int64_t destinations)
      : backend_{stream},
        records_(records),
        destinations_(destinations),
        values_(kernel::array(values, records)),
        rows_(tessera::make_view(rows, {records})),
        sums_(kernel::array(destination, destinations)),
        workspace_(backend_, tessera::scatter_workspace_bytes<tessera::gpu_to_gpu>(backend_, sums_, records_for<Columns>(records))),
        target_(tessera::scatter_target<tessera::gpu_to_gpu>(backend_, sums_, records_for<Columns>(records), workspace_)),
        bits_(tessera::detail::significant_bits(destinations)),
        other_keys_(capacity()),
        places_(capacity()),
        other_places_(capacity()),
        temporary_(tessera::detail::sort_temporary_bytes(static_cast<std::int64_t>(capacity()), bits_)) {
    open();
    keys_ = target_.next_launch(backend_, grid_for<Columns>(records_)).keys;
  }

  // The same kernel into a view.
  void atomics() { tessera::launch_tiled<128>(backend_, grid_for<Columns>(records_), kernel{}, values_, rows_, sums_); }

  void open() { target_.open(backend_); }
  void open_stage() {
    open();
    tessera::launch_tiled<128>(backend_, grid_for<Columns>(records_), kernel{}, values_, rows_, target_);
  }
  // The sort that resolve does, of the keys in the workspace; its other arrays are of the same sizes and lie here, since those of the
  // target are its own.
  void open_stage_sort() {
    open_stage();
    tessera::detail::sort_records(backend_.stream, keys_, other_keys_.data(), places_.data(), other_places_.data(),
                                  static_cast<std::int64_t>(capacity()), bits_, temporary_.data(), temporary_.size());
  }
  void whole() {
    open_stage();
    target_.resolve(backend_);
  }

  // Waits; throws where the target's status is set.
  void check_status() { target_.check(backend_); }

 private:
  std::size_t capacity() const {
    auto const declared = records_for<Columns>(records_);
    return static_cast<std::size_t>(declared.tiles * declared.per_tile);
  }

  tessera::cuda_backend backend_;
  std::int64_t records_, destinations_;
  decltype(kernel::array(static_cast<float const*>(nullptr), 0)) values_;
  tessera::view<int const, 1> rows_;
  decltype(kernel::array(static_cast<float*>(nullptr), 0)) sums_;
  tessera::cuda_workspace workspace_;
  decltype(tessera::scatter_target<tessera::gpu_to_gpu>(backend_, sums_, tessera::records{}, workspace_)) target_;
  int bits_;
  device_array<std::uint32_t> other_keys_, places_, other_places_;
  device_array<std::byte> temporary_;
  std::uint32_t* keys_ = nullptr;
};

}  // namespace benchmark
