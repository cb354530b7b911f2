#include "segmented.hpp"

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_reduce.cuh>

#include <tessera/device/cuda_reduce.cuh>
#include <tessera/device/cuda_scan.cuh>
#include <tessera/device/cuda_segmented.cuh>
#include <tessera/device/host_segmented.hpp>
#include <tessera/segments.hpp>
#include <tessera/tessera.cuh>

#include "../support/cases.hpp"
#include "../support/copy_kernel.cuh"
#include "calls.cuh"
#include "expected.hpp"
#include "segment_patterns.hpp"

namespace benchmark {
namespace {

constexpr std::uint64_t seed = 5;
constexpr std::int64_t checked_on_host = 1 << 20;
constexpr unsigned untouched = 0x5A5A5A5A;  // in the output before a call

__global__ void mark_segments(int const* offsets, int segments, int* keys, std::uint8_t* flags, int count) {
  int const i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  int first = 0, last = segments;  // offsets[first] <= i < offsets[last]
  while (last - first > 1) {
    int const middle = (first + last) / 2;
    (offsets[middle] <= i ? first : last) = middle;
  }
  keys[i] = first;
  flags[i] = offsets[first] == i;
}

// How many of `count` words differ.
__global__ void count_differences(unsigned const* a, unsigned const* b, int count, int* differences) {
  int const i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count && a[i] != b[i]) atomicAdd(differences, 1);
}
// How many sums are not the last prefix of their segment, or, of an empty one, are not untouched.
__global__ void count_other_sums(unsigned const* prefixes, int const* offsets, unsigned const* sums, int segments, int* differences) {
  int const k = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (k >= segments) return;
  unsigned const expected = offsets[k] < offsets[k + 1] ? prefixes[offsets[k + 1] - 1] : untouched;
  if (sums[k] != expected) atomicAdd(differences, 1);
}

class segmented_case {
 public:
  segmented_case(session& s, segment_pattern const& pattern, std::int64_t count)
      : session_(s),
        stream_(s.stream),
        count_(count),
        host_offsets_(offsets_of(pattern, count)),
        segments_(static_cast<int>(host_offsets_.size()) - 1),
        in_(size()),
        out_(size()),
        prefixes_(size()),
        offsets_(std::span<int const>(host_offsets_)),
        keys_(size()),
        flags_(size()),
        differences_(1) {
    make_elements(stream_, in_.data(), count, seed);
    mark_segments<<<blocks_for(count), rival_threads, 0, stream_>>>(offsets_.data(), segments_, keys_.data(), flags_.data(), items());
    check(cudaStreamSynchronize(stream_), "segments");
    find_expected();
  }

  void run(std::string const& name) {
    contest c(stream_, session_.plan_for(8 * count_),
              [this] { check(cudaMemsetAsync(out_.data(), untouched & 0xFF, out_.size() * sizeof(float), stream_), "cudaMemset"); });
    c.add(
        "copy", [this] { copy_by_kernel(stream_, in_.data(), out_.data(), 4 * count_); }, [] { return std::string(); });
    add_rivals(c);
    add_scans(c);
    add_reductions(c);
    case_result result{"segmented", name, {{"type", "f32"}}, {{"count", count_}, {"segments", segments_}, {"element_bytes", 4}}};
    c.run(result);
    session_.take(std::move(result));
  }

 private:
  std::size_t size() const { return static_cast<std::size_t>(count_); }
  int items() const { return static_cast<int>(count_); }
  auto in() const { return array(static_cast<float const*>(in_.data()), count_); }
  auto out() const { return array(out_.data(), count_); }
  auto sums() const { return array(out_.data(), segments_); }
  auto by_offsets() const { return tessera::segments_at(array(static_cast<int const*>(offsets_.data()), segments_ + 1)); }
  auto by_keys() const { return tessera::segments_by_key(array(static_cast<int const*>(keys_.data()), count_), segments_); }
  auto by_flags() const { return tessera::segments_from_flags(array(static_cast<std::uint8_t const*>(flags_.data()), count_)); }

  // By the host backend, of the small case.
  void find_expected() {
    if (count_ > checked_on_host) return;
    auto const values = elements_on_host<float>(0, count_, seed);
    auto const segments = tessera::segments_at(array(static_cast<int const*>(host_offsets_.data()), segments_ + 1));
    expected_prefixes_.resize(size());
    expected_sums_.assign(static_cast<std::size_t>(segments_), std::bit_cast<float>(untouched));
    tessera::host_backend<> const host;
    tessera::segmented_inclusive_scan(host, array(values.data(), count_), segments, array(expected_prefixes_.data(), count_));
    tessera::segmented_reduce(host, array(values.data(), count_), segments, array(expected_sums_.data(), segments_));
  }

  std::string differing(char const* what) const {
    int const number = differences_.download()[0];
    return number == 0 ? std::string() : std::to_string(number) + " " + what;
  }
  std::string prefixes_differ() const {
    if (!expected_prefixes_.empty()) {
      if (std::string const fault = compare_bits<float>(expected_prefixes_, out_.download()); !fault.empty()) return fault;
    }
    check(cudaMemset(differences_.data(), 0, sizeof(int)), "cudaMemset");
    count_differences<<<blocks_for(count_), rival_threads, 0, stream_>>>(
        reinterpret_cast<unsigned const*>(prefixes_.data()), reinterpret_cast<unsigned const*>(out_.data()), items(), differences_.data());
    check(cudaGetLastError(), "comparison");
    return differing("prefixes are others than by offsets");
  }
  std::string sums_differ() const {
    if (!expected_sums_.empty()) {
      if (std::string const fault = compare_bits<float>(expected_sums_, download(out_.data(), segments_)); !fault.empty()) return fault;
    }
    check(cudaMemset(differences_.data(), 0, sizeof(int)), "cudaMemset");
    count_other_sums<<<blocks_for(segments_), rival_threads, 0, stream_>>>(reinterpret_cast<unsigned const*>(prefixes_.data()),
                                                                           offsets_.data(), reinterpret_cast<unsigned const*>(out_.data()),
                                                                           segments_, differences_.data());
    check(cudaGetLastError(), "comparison");
    return differing("sums are wrong");
  }

  void add_rivals(contest& c) {
    float const* const values = in_.data();
    float* const to = out_.data();
    int const *const offsets = offsets_.data(), *const keys = keys_.data();
    int const n = items(), segments = segments_;
    cudaStream_t const stream = stream_;
    auto const unchecked = [] { return std::string(); };
    c.add("cub_inclusive", with_storage([=](void* memory, std::size_t& bytes) {
            return cub::DeviceScan::InclusiveSum(memory, bytes, values, to, n, stream);
          }),
          unchecked);
    c.add("cub_inclusive_by_key", with_storage([=](void* memory, std::size_t& bytes) {
            return cub::DeviceScan::InclusiveSumByKey(memory, bytes, keys, values, to, n, cuda::std::equal_to<>{}, stream);
          }),
          unchecked);
    c.add("cub_reduce",
          with_storage([=](void* memory, std::size_t& bytes) { return cub::DeviceReduce::Sum(memory, bytes, values, to, n, stream); }),
          unchecked);
    c.add("cub_segmented_reduce", with_storage([=](void* memory, std::size_t& bytes) {
            return cub::DeviceSegmentedReduce::Sum(memory, bytes, values, to, segments, offsets, offsets + 1, stream);
          }),
          unchecked);
  }

  template <class Segments>
  contest::work segmented_scan(Segments const& segments) const {
    return with_workspace(tessera::segmented_scan_workspace_bytes<float>(count_),
                          [=, in = in(), out = out(), stream = stream_](tessera::workspace_view const& workspace) {
                            tessera::segmented_inclusive_scan(tessera::cuda_backend{stream}, in, segments, out, workspace);
                          });
  }

  void add_scans(contest& c) {
    c.add("tessera_inclusive",
          with_workspace(tessera::scan_workspace_bytes<float>(count_),
                         [=, in = in(), out = out(), stream = stream_](tessera::workspace_view const& workspace) {
                           tessera::inclusive_scan(tessera::cuda_backend{stream}, in, out, workspace);
                         }),
          [] { return std::string(); });
    c.add("tessera_scan_by_offsets", segmented_scan(by_offsets()), [this] {
      check(cudaMemcpy(prefixes_.data(), out_.data(), size() * sizeof(float), cudaMemcpyDeviceToDevice), "cudaMemcpy");
      return prefixes_differ();
    });
    c.add("tessera_scan_by_keys", segmented_scan(by_keys()), [this] { return prefixes_differ(); });
    c.add("tessera_scan_by_flags", segmented_scan(by_flags()), [this] { return prefixes_differ(); });
  }

  template <class Segments>
  contest::work segmented_sums(Segments const& segments) const {
    return with_workspace(tessera::segmented_reduce_workspace_bytes<float>(count_, 1),
                          [=, in = in(), sums = sums(), stream = stream_](tessera::workspace_view const& workspace) {
                            tessera::segmented_reduce(tessera::cuda_backend{stream}, in, segments, sums, workspace);
                          });
  }

  void add_reductions(contest& c) {
    c.add("tessera_reduce",
          with_workspace(tessera::reduce_workspace_bytes<float>(),
                         [=, in = in(), to = out_.data(), stream = stream_](tessera::workspace_view const& workspace) {
                           tessera::reduce(tessera::cuda_backend{stream}, in, to, workspace);
                         }),
          [] { return std::string(); });
    c.add("tessera_reduce_by_offsets", segmented_sums(by_offsets()), [this] { return sums_differ(); });
    c.add("tessera_reduce_by_keys", segmented_sums(by_keys()), [this] { return sums_differ(); });
  }

  session& session_;
  cudaStream_t stream_;
  std::int64_t count_;
  std::vector<int> host_offsets_;
  int segments_;
  std::vector<float> expected_prefixes_, expected_sums_;
  device_array<float> in_, out_, prefixes_;
  device_array<int> offsets_, keys_;
  device_array<std::uint8_t> flags_;
  device_array<int> differences_;
};

}  // namespace

void measure_segments(session& s) {
  auto const measure = [&](std::int64_t count, std::vector<segment_pattern> const& patterns) {
    for (segment_pattern const& pattern : patterns) {
      std::string const name = "segmented f32 " + short_number(count) + ", " + name_of(pattern, count);
      if (s.wanted(name)) segmented_case(s, pattern, count).run(name);
    }
  };
  measure(1 << 20, {{64}, {1 << 20}, {64, true}});
  if (!s.chosen.quick) measure(1 << 26, {{8}, {64}, {1000}, {1 << 26}, {64, true}, {64, false, 1 << 24}});
}

}  // namespace benchmark
