// The lines of the table that the GPU computes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tessera/tessera.cuh>
#include <tessera/verify/noise.cuh>

#include "../support/device_array.cuh"
#include "add_rows.hpp"
#include "arguments.hpp"
#include "data.hpp"
#include "mode.hpp"
#include "result.hpp"

namespace reduce_by_key {

using examples::check_cuda;
using examples::device_array;

// Measures a piece of a stream.
class stopwatch {
 public:
  stopwatch() {
    check_cuda(cudaEventCreate(&start_), "cudaEventCreate");
    check_cuda(cudaEventCreate(&stop_), "cudaEventCreate");
  }
  ~stopwatch() {
    (void)cudaEventDestroy(start_);
    (void)cudaEventDestroy(stop_);
  }
  stopwatch(stopwatch const&) = delete;
  stopwatch& operator=(stopwatch const&) = delete;
  void start(cudaStream_t stream) { check_cuda(cudaEventRecord(start_, stream), "cudaEventRecord"); }
  void stop(cudaStream_t stream) { check_cuda(cudaEventRecord(stop_, stream), "cudaEventRecord"); }
  // Waits for the end of the piece.
  double milliseconds() {
    float elapsed = 0;
    check_cuda(cudaEventSynchronize(stop_), "cudaEventSynchronize");
    check_cuda(cudaEventElapsedTime(&elapsed, start_, stop_), "cudaEventElapsedTime");
    return static_cast<double>(elapsed);
  }

 private:
  cudaEvent_t start_ = nullptr;
  cudaEvent_t stop_ = nullptr;
};

template <class T>
class cuda_modes {
 public:
  static constexpr char const* name = "cuda";
  static std::string unavailable() {
    int devices = 0;
    auto const code = cudaGetDeviceCount(&devices);
    if (code != cudaSuccess) return std::string("no GPU that CUDA can use: ") + cudaGetErrorString(code);
    return devices > 0 ? "" : "no GPU that CUDA can use";
  }

  cuda_modes(arguments const& args, value_table<T> const& values) : args_(args), values_(values) {}

  void append_to(std::vector<mode<T>>& modes, key_column const& key) const {
    if (args_.wants_atomics()) {
      modes.push_back({.name = "atomics on the GPU", .measure = [this, &key] {
                         return measure(key, "atomics on the GPU", 0, [](cudaStream_t stream, problem_views<T> const& p, auto&) {
                           for_each_slice(p, [&](auto width, problem_views<T> const& slice) {
                             add_by_atomics<width, 128>(tessera::cuda_backend{stream}, slice, block_cap{});
                           });
                         });
                       }});
    }
    if (!args_.wants_fixed_order()) return;
    for (auto const threads : args_.threads) {
      for (auto const cap : args_.caps) {
        append_fixed_order(modes, key, threads, cap, 0);
        if (args_.misalign) append_fixed_order(modes, key, threads, cap, 1);
      }
    }
  }

 private:
  void append_fixed_order(std::vector<mode<T>>& modes, key_column const& key, int threads, std::int64_t cap, int skipped) const {
    auto label = "gpu_to_gpu on the GPU, " + std::to_string(threads) + " threads";
    if (cap > 0) label += ", " + std::to_string(cap) + (cap == 1 ? " block" : " blocks");
    if (skipped > 0) label += ", misaligned";
    modes.push_back({.name = label, .one_order = true, .measure = [this, &key, label, threads, cap, skipped] {
                       return measure(key, label, skipped, [=](cudaStream_t stream, problem_views<T> const& p, auto& workspace) {
                         for_each_slice(p, [&](auto width, problem_views<T> const& slice) {
                           with_threads<width>(threads, [&](auto size) {
                             add_in_order<width, size>(tessera::cuda_backend{stream}, slice, block_cap{cap}, workspace);
                           });
                         });
                       });
                     }});
  }

  // Calls use(size) with the block size as a constant. All sizes are compiled for narrow tables of float, 128 alone for the others.
  template <int Width, class Use>
  static void with_threads(int threads, Use const& use) {
    auto const matched = [&]<int... Sizes>(std::integer_sequence<int, Sizes...>) {
      return ((threads == Sizes ? (use(std::integral_constant<int, Sizes>{}), true) : false) || ...);
    };
    if constexpr (Width == 8 && sizeof(T) == 4) {
      if (matched(std::integer_sequence<int, 32, 64, 128, 256, 512, 1024>{})) return;
    } else {
      if (matched(std::integer_sequence<int, 128>{})) return;
    }
    throw std::runtime_error("--threads " + std::to_string(threads) +
                             ": other sizes than 128 are built in for float32 values of up to 8 columns");
  }

  // Runs add(stream, views, workspace) from zero, so often; the first runs alone on the card, which are timed, and the others under noise.
  template <class Add>
  measurement<T> measure(key_column const& key, std::string const& label, int skipped, Add const& add) const {
    cudaStream_t const stream = cudaStreamPerThread;
    device_array<T> const values(values_.elements, skipped);
    device_array<std::int32_t> const rows(key.rows, skipped);
    device_array<T> const sums(key.groups * values_.columns, skipped);
    device_array<std::int32_t> const counts(key.groups, skipped);
    problem_views<T> const views = {.values = tessera::make_view(static_cast<T const*>(values.data()), {values_.rows, values_.columns}),
                                    .rows = tessera::make_view(static_cast<std::int32_t const*>(rows.data()), {values_.rows}),
                                    .sums = tessera::make_view(sums.data(), {key.groups, values_.columns}),
                                    .counts = tessera::make_view(counts.data(), {key.groups})};
    std::size_t workspace_bytes = 0;
    for_each_slice(views, [&](auto, problem_views<T> const& slice) {
      workspace_bytes = std::max(workspace_bytes, tessera::scatter_workspace_bytes<tessera::gpu_to_gpu>(
                                                      tessera::cuda_backend{stream}, slice.sums, records_for(values_.rows)));
    });
    tessera::cuda_workspace workspace(tessera::cuda_backend{stream}, workspace_bytes);

    auto const runs = args_.runs_on_gpu();
    auto const quiet_runs = args_.quiet_device ? runs : std::clamp(runs / 5, 1, 20);
    std::vector<double> quiet_milliseconds;
    std::optional<tessera::verify::noise> noise;
    stopwatch watch;
    auto m = measure_runs<T>(runs, key.title + ", " + label, key, values_.columns, [&](result<T>& into) {
      auto const quiet = static_cast<int>(quiet_milliseconds.size()) < quiet_runs;
      if (!quiet && !noise) noise.emplace();
      sums.zero(stream);
      counts.zero(stream);
      if (noise) noise->open(stream);
      watch.start(stream);
      add(stream, views, workspace);
      watch.stop(stream);
      if (noise) noise->close(stream);
      auto const milliseconds = watch.milliseconds();
      check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
      sums.copy_to(into.sums);
      counts.copy_to(into.counts);
      if (quiet) quiet_milliseconds.push_back(milliseconds);
      return milliseconds;
    });
    std::nth_element(quiet_milliseconds.begin(), quiet_milliseconds.begin() + static_cast<std::ptrdiff_t>(quiet_milliseconds.size() / 2),
                     quiet_milliseconds.end());
    m.report.median_milliseconds = quiet_milliseconds[quiet_milliseconds.size() / 2];
    if (noise) {
      noise->stop();
      auto const overlap = noise->overlap();
      m.noise = std::to_string(overlap.overlapped_windows) + " of " + std::to_string(overlap.windows);
    }
    return m;
  }

  arguments const& args_;
  value_table<T> const& values_;
};

}  // namespace reduce_by_key
