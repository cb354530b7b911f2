#include "rows.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <cub/device/device_reduce.cuh>

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
constexpr std::int64_t checked_on_host = 1 << 22;  // elements, at most

// CUB has nothing like it: what reading all elements takes, and copying them, stands beside it.
class rows_case {
 public:
  rows_case(session& s, segment_pattern const& pattern, std::int64_t rows, std::int64_t columns)
      : session_(s),
        stream_(s.stream),
        rows_(rows),
        columns_(columns),
        host_offsets_(offsets_of(pattern, rows)),
        segments_(static_cast<std::int64_t>(host_offsets_.size()) - 1),
        in_(static_cast<std::size_t>(rows * columns)),
        out_(in_.size()),
        offsets_(std::span<int const>(host_offsets_)) {
    make_elements(stream_, in_.data(), rows * columns, seed);
    check(cudaStreamSynchronize(stream_), "rows");
    find_expected();
  }

  void run(std::string const& name) {
    std::int64_t const bytes = 4 * rows_ * columns_;
    contest c(stream_, session_.plan_for(2 * bytes),
              [this] { check(cudaMemsetAsync(out_.data(), 0x5A, out_.size() * sizeof(float), stream_), "cudaMemset"); });
    auto const unchecked = [] { return std::string(); };
    c.add(
        "copy", [=, this] { copy_by_kernel(stream_, in_.data(), out_.data(), bytes); }, unchecked);
    c.add("cub_reduce",
          with_storage([in = in_.data(), to = out_.data(), n = static_cast<int>(in_.size()), stream = stream_](
                           void* memory, std::size_t& needed) { return cub::DeviceReduce::Sum(memory, needed, in, to, n, stream); }),
          unchecked);
    c.add("tessera_rows",
          with_workspace(tessera::segmented_reduce_workspace_bytes<float>(rows_, columns_),
                         [in = rows(), segments = segments(), sums = sums(), stream = stream_](tessera::workspace_view const& workspace) {
                           tessera::segmented_reduce(tessera::cuda_backend{stream}, in, segments, sums, workspace);
                         }),
          [this] { return sums_differ(); });
    case_result result{
        "rows",
        name,
        {{"type", "f32"}},
        {{"count", rows_ * columns_}, {"rows", rows_}, {"columns", columns_}, {"segments", segments_}, {"element_bytes", 4}}};
    c.run(result);
    session_.take(std::move(result));
  }

 private:
  tessera::view<float const, 2> rows() const { return tessera::make_view(static_cast<float const*>(in_.data()), {rows_, columns_}); }
  tessera::view<float, 2> sums() const { return tessera::make_view(out_.data(), {segments_, columns_}); }
  tessera::segments_at<int> segments() const {
    return tessera::segments_at(array(static_cast<int const*>(offsets_.data()), segments_ + 1));
  }

  // The first segments by the host backend, the first and the last column by the reduction of arrays of one dimension.
  void find_expected() {
    std::int64_t checked = 0;
    while (checked < segments_ && host_offsets_[static_cast<std::size_t>(checked + 1)] * columns_ <= checked_on_host) ++checked;
    std::int64_t const first_rows = host_offsets_[static_cast<std::size_t>(checked)];
    auto const values = elements_on_host<float>(0, first_rows * columns_, seed);
    first_sums_.resize(static_cast<std::size_t>(checked * columns_));
    tessera::segmented_reduce(tessera::host_backend<>{}, tessera::make_view(values.data(), {first_rows, columns_}),
                              tessera::segments_at(array(host_offsets_.data(), checked + 1)),
                              tessera::make_view(first_sums_.data(), {checked, columns_}));
    for (std::int64_t const c : {std::int64_t{0}, columns_ - 1}) {
      with_workspace(tessera::segmented_reduce_workspace_bytes<float>(rows_, 1), [&](tessera::workspace_view const& workspace) {
        tessera::segmented_reduce(tessera::cuda_backend{stream_}, tessera::column(rows(), c), segments(), array(out_.data(), segments_),
                                  workspace);
      })();
      columns_of_sums_.push_back({c, download(out_.data(), segments_)});
    }
  }

  std::string sums_differ() const {
    auto const got = download(out_.data(), segments_ * columns_);
    if (std::string const fault = compare_bits<float>(first_sums_, std::span(got).first(first_sums_.size())); !fault.empty()) return fault;
    for (auto const& [c, expected] : columns_of_sums_) {
      std::vector<float> column;
      for (std::int64_t k = 0; k < segments_; ++k) column.push_back(got[static_cast<std::size_t>(k * columns_ + c)]);
      if (std::string const fault = compare_bits<float>(expected, column); !fault.empty())
        return "column " + std::to_string(c) + ": " + fault;
    }
    return {};
  }

  struct column_of_sums {
    std::int64_t column;
    std::vector<float> sums;
  };

  session& session_;
  cudaStream_t stream_;
  std::int64_t rows_, columns_;
  std::vector<int> host_offsets_;
  std::int64_t segments_;
  std::vector<float> first_sums_;
  std::vector<column_of_sums> columns_of_sums_;
  device_array<float> in_, out_;
  device_array<int> offsets_;
};

}  // namespace

void measure_rows(session& s) {
  std::int64_t const rows = s.chosen.quick ? 1 << 16 : 1 << 20;
  for (std::int64_t const columns : {128, 32}) {
    for (segment_pattern const& pattern : {segment_pattern{16}, segment_pattern{16, true}}) {
      std::string const name = "rows f32 " + short_number(rows) + " x " + std::to_string(columns) + ", " + name_of(pattern, rows);
      if (s.wanted(name)) rows_case(s, pattern, rows, columns).run(name);
    }
  }
}

}  // namespace benchmark
