// The measurement of one type; each has a source file of its own.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include <tessera/accumulate.hpp>
#include <tessera/device/cuda_reduce.cuh>
#include <tessera/device/cuda_scan.cuh>
#include <tessera/device/host_reduce.hpp>
#include <tessera/device/host_scan.hpp>
#include <tessera/half.hpp>
#include <tessera/source.hpp>
#include <tessera/tessera.cuh>

#include "../support/cases.hpp"
#include "../support/copy_kernel.cuh"
#include "arrays.hpp"
#include "calls.cuh"
#include "expected.hpp"
#include "levels.hpp"

namespace benchmark {

template <class T>
struct element_type;
template <>
struct element_type<float> {
  static constexpr char const* name = "f32";
};
template <>
struct element_type<double> {
  static constexpr char const* name = "f64";
};
template <>
struct element_type<__half> {
  static constexpr char const* name = "f16";
};
template <>
struct element_type<std::int32_t> {
  static constexpr char const* name = "int32";
};
template <>
struct element_type<std::int64_t> {
  static constexpr char const* name = "int64";
};

// For CUB, which sums halves in halves unless it is told otherwise.
struct add_as_floats {
  __host__ __device__ float operator()(float a, float b) const { return a + b; }
};

// Every second element, for CUB.
template <class T>
struct every_second {
  T const* elements;
  __host__ __device__ T operator()(std::int64_t i) const { return elements[2 * i]; }
};

// The sum of the elements first, first + step, ... by the host backend.
template <class T>
struct element_at {
  std::uint64_t seed;
  std::int64_t first, step;
  T operator()(std::int64_t i) const { return random_element<T>::of(random_bits(seed, static_cast<std::uint64_t>(first + i * step))); }
};
template <class T>
T sum_on_host(element_at<T> const& elements, std::int64_t count) {
  T sum{};
  tessera::reduce(tessera::host_backend<>{}, tessera::transformed(elements, tessera::counting(std::int64_t{0}, count)), &sum);
  return sum;
}

// Results of the host backend for the first elements and, backward, for the last.
template <class T>
struct expected_scans {
  static constexpr std::int64_t most = 1 << 20;

  std::int64_t checked;
  std::vector<T> inclusive, exclusive, backward;
  T sum{};  // of all, where all are checked
  std::vector<double> magnitudes;

  expected_scans(std::int64_t count, std::uint64_t seed)
      : checked(std::min(count, most)),
        inclusive(static_cast<std::size_t>(checked)),
        exclusive(inclusive.size()),
        backward(inclusive.size()) {
    tessera::host_backend<> const host;
    auto const first = elements_on_host<T>(0, checked, seed), last = elements_on_host<T>(count - checked, checked, seed);
    auto const in = array(first.data(), checked);
    tessera::inclusive_scan(host, in, array(inclusive.data(), checked));
    tessera::exclusive_scan(host, in, array(exclusive.data(), checked), {});
    tessera::inclusive_scan<tessera::gpu_to_gpu, tessera::backward>(host, array(last.data(), checked), array(backward.data(), checked));
    tessera::reduce(host, in, &sum);
    magnitudes = magnitudes_of<T>(first);
  }
};

template <class T>
class array_case {
 public:
  // `other_layouts`: also from a misaligned address, and of every second element.
  array_case(session& s, std::int64_t count, bool other_layouts)
      : session_(s),
        stream_(s.stream),
        count_(count),
        other_layouts_(other_layouts),
        in_(static_cast<std::size_t>(other_layouts ? 2 * count : count + 1)),
        out_(static_cast<std::size_t>(count) + 1),
        expected_(count, seed_) {
    make_elements(stream_, in_.data(), static_cast<std::int64_t>(in_.size()), seed_);
    check(cudaStreamSynchronize(stream_), "random elements");
  }

  void run(std::string const& name) {
    std::int64_t const bytes = count_ * std::int64_t{sizeof(T)};
    contest c(stream_, session_.plan_for(2 * bytes),
              [this] { check(cudaMemsetAsync(out_.data(), 0x5A, out_.size() * sizeof(T), stream_), "cudaMemset"); });
    c.add(
        "copy", [=, this] { copy_by_kernel(stream_, in_.data(), out_.data(), bytes); },
        [this] { return compare_bits<T>(download(in_.data(), expected_.checked), download(out_.data(), expected_.checked)); });
    add_scans(c);
    if (other_layouts_) add_misaligned(c);
    add_reductions(c);
    if constexpr (std::floating_point<T>) {
      if (other_layouts_) add_reductions_of_other_layouts(c);
      add_levels(c);
    }
    case_result result{"array", name, {{"type", element_type<T>::name}}, {{"count", count_}, {"element_bytes", std::int64_t{sizeof(T)}}}};
    c.run(result);
    session_.take(std::move(result));
  }

 private:
  static constexpr std::uint64_t seed_ = 5;
  using accumulator = tessera::accumulator_t<tessera::plus, T>;

  // Checks of what lies at `out`.
  std::string same_bits(std::vector<T> const& expected, T const* out) const {
    return compare_bits<T>(expected, download(out, expected_.checked));
  }
  std::string near(std::vector<T> const& expected, T const* out) const {
    return compare_sums<T>(expected, download(out, expected_.checked), expected_.magnitudes, expected_.checked);
  }
  // The last prefix and the sum of all have the same bits.
  std::string is_sum_of_all(T value) const { return compare_bits<T>(std::span<T const>(&sum_of_all_, 1), std::span<T const>(&value, 1)); }

  void add_scans(contest& c) {
    int const n = static_cast<int>(count_);
    T const* const in = in_.data();
    T* const out = out_.data();
    cudaStream_t const stream = stream_;
    c.add("cub_inclusive",
          with_storage([=](void* memory, std::size_t& bytes) { return cub::DeviceScan::InclusiveSum(memory, bytes, in, out, n, stream); }),
          [this] { return near(expected_.inclusive, out_.data()); });
    c.add("tessera_inclusive", tessera_inclusive<tessera::forward>(in, out), [this] {
      sum_of_all_ = download(out_.data() + count_ - 1, 1)[0];
      return same_bits(expected_.inclusive, out_.data());
    });
    c.add("cub_exclusive",
          with_storage([=](void* memory, std::size_t& bytes) { return cub::DeviceScan::ExclusiveSum(memory, bytes, in, out, n, stream); }),
          [this] { return near(expected_.exclusive, out_.data()); });
    c.add("tessera_exclusive",
          with_workspace(tessera::scan_workspace_bytes<accumulator>(count_),
                         [=, this](tessera::workspace_view const& workspace) {
                           tessera::exclusive_scan(tessera::cuda_backend{stream}, array(in, count_), array(out, count_), {}, workspace);
                         }),
          [this] { return same_bits(expected_.exclusive, out_.data()); });
    c.add("tessera_backward", tessera_inclusive<tessera::backward>(in, out),
          [this] { return same_bits(expected_.backward, out_.data() + count_ - expected_.checked); });
    if constexpr (std::is_same_v<T, __half>) {
      c.add("cub_inclusive_float", with_storage([=](void* memory, std::size_t& bytes) {
              return cub::DeviceScan::InclusiveScanInit(memory, bytes, in, out, add_as_floats{}, 0.0f, n, stream);
            }),
            [this] { return near(expected_.inclusive, out_.data()); });
    }
  }

  // One element later: elements 1 .. count.
  void add_misaligned(contest& c) {
    int const n = static_cast<int>(count_);
    T const* const in = in_.data() + 1;
    T* const out = out_.data() + 1;
    cudaStream_t const stream = stream_;
    auto const shifted = elements_on_host<T>(1, expected_.checked, seed_);
    auto const sums = std::make_shared<std::vector<T>>(shifted.size());
    tessera::inclusive_scan(tessera::host_backend<>{}, array(shifted.data(), expected_.checked), array(sums->data(), expected_.checked));
    c.add("cub_misaligned",
          with_storage([=](void* memory, std::size_t& bytes) { return cub::DeviceScan::InclusiveSum(memory, bytes, in, out, n, stream); }),
          [=, this] { return near(*sums, out); });
    c.add("tessera_misaligned", tessera_inclusive<tessera::forward>(in, out), [=, this] { return same_bits(*sums, out); });
  }

  template <tessera::scan_direction Direction>
  contest::work tessera_inclusive(T const* in, T* out) const {
    return with_workspace(tessera::scan_workspace_bytes<accumulator>(count_),
                          [=, count = count_, stream = stream_](tessera::workspace_view const& workspace) {
                            tessera::inclusive_scan<tessera::gpu_to_gpu, Direction>(tessera::cuda_backend{stream}, array(in, count),
                                                                                    array(out, count), workspace);
                          });
  }

  void add_reductions(contest& c) {
    int const n = static_cast<int>(count_);
    T const* const in = in_.data();
    T* const out = out_.data();
    cudaStream_t const stream = stream_;
    auto const near_sum = [this] { return is_near(sum_of_all_); };
    c.add("cub_reduce",
          with_storage([=](void* memory, std::size_t& bytes) { return cub::DeviceReduce::Sum(memory, bytes, in, out, n, stream); }),
          near_sum);
    c.add("tessera_reduce", tessera_reduce(array(in, count_)), [this] {
      T const sum = download(out_.data(), 1)[0];
      std::string const fault = is_sum_of_all(sum);
      if (!fault.empty() || count_ > expected_.checked) return fault;
      return compare_bits<T>(std::span<T const>(&expected_.sum, 1), std::span<T const>(&sum, 1));
    });
    if constexpr (std::is_same_v<T, __half>) {
      c.add("cub_reduce_float", with_storage([=](void* memory, std::size_t& bytes) {
              return cub::DeviceReduce::Reduce(memory, bytes, in, out, n, add_as_floats{}, 0.0f, stream);
            }),
            near_sum);
    }
  }

  // Elements 1 .. count; elements 0, 2 .. 2 count - 2.
  void add_reductions_of_other_layouts(contest& c) {
    int const n = static_cast<int>(count_);
    T const* const in = in_.data();
    T* const out = out_.data();
    cudaStream_t const stream = stream_;
    auto const add_pair = [&](std::string const& layout, auto const& of_cub, tessera::view<T const, 1> const& ours, T expected) {
      c.add("cub_reduce_" + layout,
            with_storage([=](void* memory, std::size_t& bytes) { return cub::DeviceReduce::Sum(memory, bytes, of_cub, out, n, stream); }),
            [=, this] { return is_near(expected); });
      c.add("tessera_reduce_" + layout, tessera_reduce(ours), [=, this] {
        T const sum = download(out_.data(), 1)[0];
        return compare_bits<T>(std::span<T const>(&expected, 1), std::span<T const>(&sum, 1));
      });
    };
    add_pair("misaligned", in + 1, array(in + 1, count_), sum_on_host(element_at<T>{seed_, 1, 1}, count_));
    add_pair("strided", thrust::make_transform_iterator(thrust::make_counting_iterator(std::int64_t{0}), every_second<T>{in}),
             tessera::make_view(in, {count_}, {2 * std::int64_t{sizeof(T)}}), sum_on_host(element_at<T>{seed_, 0, 2}, count_));
  }

  contest::work tessera_reduce(tessera::view<T const, 1> const& in) const {
    return with_workspace(tessera::reduce_workspace_bytes<accumulator>(),
                          [=, out = out_.data(), stream = stream_](tessera::workspace_view const& workspace) {
                            tessera::reduce(tessera::cuda_backend{stream}, in, out, workspace);
                          });
  }

  // Whether the sum at the output is `expected` within a bound.
  std::string is_near(T expected) const {
    T const sum = download(out_.data(), 1)[0];
    double const all = expected_.magnitudes.back() * static_cast<double>(count_) / static_cast<double>(expected_.checked);
    return compare_sums<T>(std::span<T const>(&expected, 1), std::span<T const>(&sum, 1), std::span<double const>(&all, 1), count_);
  }

  void add_levels(contest& c) {
    for (level_call const& call : level_calls<T>(stream_, in_.data(), out_.data(), static_cast<int>(count_))) {
      if (!call.work) {
        c.absent(call.name, call.absent);
      } else if (call.operation == level_operation::scan) {
        c.add(call.name, call.work, [this] { return near(expected_.inclusive, out_.data()); });
      } else {
        c.add(call.name, call.work, [this] { return is_near(sum_of_all_); });
      }
    }
  }

  session& session_;
  cudaStream_t stream_;
  std::int64_t count_;
  bool other_layouts_;
  device_array<T> in_, out_;
  expected_scans<T> expected_;
  T sum_of_all_{};  // by our scan, which is checked first
};

template <class T>
void measure_arrays(session& s) {
  std::vector<std::int64_t> sizes{1 << 10, 1 << 16, 1 << 20};
  if (!s.chosen.quick) sizes.insert(sizes.end(), {1 << 24, 1 << 26, 1 << 28, 1 << 30});
  for (std::int64_t const count : sizes) {
    std::string const name = std::string(element_type<T>::name) + " " + short_number(count);
    if (!s.wanted(name)) continue;
    std::size_t available = 0, all = 0;
    check(cudaMemGetInfo(&available, &all), "cudaMemGetInfo");
    if (static_cast<double>(available) < 2.2 * static_cast<double>(count) * sizeof(T)) {
      std::printf("%s: left out, there are only %zu MiB of device memory\n", name.c_str(), available >> 20);
      continue;
    }
    bool const other_layouts = (std::is_same_v<T, float> && (count == 1 << 16 || count == 1 << 20 || count == 1 << 26)) ||
                               (std::is_same_v<T, double> && count == 1 << 26);
    array_case<T>(s, count, other_layouts).run(name);
  }
}

}  // namespace benchmark
