#include "patterns.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <functional>
#include <span>
#include <utility>

#include <cub/device/device_scan.cuh>

#include <tessera/device/cuda_scan.cuh>
#include <tessera/device/host_scan.hpp>
#include <tessera/tessera.cuh>
#include <tessera/verify/exact_sum.hpp>
#include <tessera/verify/noise.cuh>
#include <tessera/verify/pattern_set.hpp>

#include "../support/compare.hpp"
#include "calls.cuh"
#include "levels.hpp"

namespace benchmark {
namespace {

constexpr std::uint64_t seed = 7;
constexpr std::int64_t places_looked_at = 200;

// Positive, so that the sums grow steadily and their last place with them.
__global__ void make_positive(float* elements, std::int64_t count) {
  std::int64_t const i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) elements[i] = fabsf(elements[i]);
}

// (value - exact) in units in the last place of a float next to `exact`.
double error_in_ulp(float value, double exact) { return (double{value} - exact) / std::ldexp(1.0, std::ilogb(exact) - 23); }

struct named_scan {
  std::string name;
  std::function<void()> work;
  bool one_pattern;  // promised
};

std::vector<named_scan> scans_of(cudaStream_t stream, float const* in, float* out, std::int64_t count) {
  int const n = static_cast<int>(count);
  std::vector<named_scan> scans;
  scans.push_back({"cub", with_storage([=](void* memory, std::size_t& bytes) {
                     return cub::DeviceScan::InclusiveSum(memory, bytes, in, out, n, stream);
                   }),
                   false});
  for (level_call const& call : level_calls<float>(stream, in, out, n)) {
    if (call.work && call.operation == level_operation::scan) scans.push_back({call.name, call.work, false});
  }
  scans.push_back({"tessera",
                   with_workspace(tessera::scan_workspace_bytes<float>(count),
                                  [=](tessera::workspace_view const& workspace) {
                                    tessera::inclusive_scan(tessera::cuda_backend{stream}, array(in, count), array(out, count), workspace);
                                  }),
                   true});
  return scans;
}

pattern_figures look_at(named_scan const& scan, cudaStream_t stream, device_array<float> const& out, pattern_result const& result,
                        std::span<float const> expected) {
  pattern_figures figures;
  figures.name = scan.name;
  figures.least.assign(result.places.size(), INFINITY);
  figures.most.assign(result.places.size(), -INFINITY);
  scan.work();  // loads the kernels
  tessera::verify::pattern_set patterns;
  tessera::verify::noise noise;
  for (int run = 0; run < result.runs; ++run) {
    check(cudaMemsetAsync(out.data(), 0x5A, out.size() * sizeof(float), stream), "cudaMemset");
    noise.open(stream);
    scan.work();
    noise.close(stream);
    check(cudaStreamSynchronize(stream), scan.name.c_str());
    std::vector<float> sums(out.size());
    check(cudaMemcpy(sums.data(), out.data(), out.size() * sizeof(float), cudaMemcpyDeviceToHost), "cudaMemcpy to the host");
    patterns.add(std::as_bytes(std::span<float const>(sums)));
    for (std::size_t k = 0; k < result.places.size(); ++k) {
      float const sum = sums[static_cast<std::size_t>(result.places[k])];
      figures.least[k] = std::min(figures.least[k], sum);
      figures.most[k] = std::max(figures.most[k], sum);
    }
    figures.last.push_back(sums.back());
    figures.last_error.push_back(error_in_ulp(sums.back(), result.exact.back()));
    if (scan.one_pattern && figures.fault.empty()) figures.fault = compare_bits(expected, sums);
  }
  noise.stop();
  figures.runs_with_noise = noise.overlap().overlapped_windows;
  figures.patterns = patterns.size();
  return figures;
}

}  // namespace

bool pattern_result::wrong() const {
  return std::any_of(scans.begin(), scans.end(), [](pattern_figures const& f) { return !f.fault.empty(); });
}

pattern_result count_patterns(cudaStream_t stream, std::int64_t count, int runs) {
  pattern_result result;
  result.count = count;
  result.runs = runs;
  device_array<float> const in(static_cast<std::size_t>(count)), out(in.size());
  make_elements(stream, in.data(), count, seed);
  make_positive<<<static_cast<unsigned>((count + 255) / 256), 256, 0, stream>>>(in.data(), count);
  check(cudaGetLastError(), "positive elements");

  std::vector<float> const values = in.download();
  std::vector<float> expected(values.size());
  tessera::inclusive_scan(tessera::host_backend<>{}, array(values.data(), count), array(expected.data(), count));
  tessera::verify::exact_sum sum;
  std::int64_t summed = 0;
  for (std::int64_t k = 1; k <= places_looked_at; ++k) {
    std::int64_t const place = count * k / places_looked_at - 1;
    sum.add(std::span(values).subspan(static_cast<std::size_t>(summed), static_cast<std::size_t>(place + 1 - summed)));
    summed = place + 1;
    result.places.push_back(place);
    result.exact.push_back(sum.value());
  }
  for (named_scan const& scan : scans_of(stream, in.data(), out.data(), count)) {
    result.scans.push_back(look_at(scan, stream, out, result, expected));
  }
  return result;
}

void print(pattern_result const& result) {
  std::printf("inclusive scan of %lld floats, %d runs each\n", static_cast<long long>(result.count), result.runs);
  for (pattern_figures const& f : result.scans) {
    auto const [least, most] = std::minmax_element(f.last_error.begin(), f.last_error.end());
    std::printf("    %-28s %4zu patterns; last element %.2f .. %.2f ulp from the exact sum; noise in %llu runs\n", f.name.c_str(),
                f.patterns, *least, *most, static_cast<unsigned long long>(f.runs_with_noise));
    if (!f.fault.empty()) std::printf("    WRONG RESULT, %s: %s\n", f.name.c_str(), f.fault.c_str());
  }
}

void write_patterns(json_writer& json, pattern_result const& result) {
  json.integer("count", result.count);
  json.integer("runs", result.runs);
  json.begin("places", '[');
  for (std::int64_t const place : result.places) json.integer(nullptr, place);
  json.end(']');
  json.begin("scans", '[');
  for (pattern_figures const& f : result.scans) {
    json.begin(nullptr, '{');
    json.text("name", f.name);
    json.integer("patterns", static_cast<std::int64_t>(f.patterns));
    json.integer("runs_with_noise", static_cast<std::int64_t>(f.runs_with_noise));
    json.begin("last_bits", '[');
    for (float const value : f.last) {
      char text[16];
      std::snprintf(text, sizeof(text), "%08x", std::bit_cast<std::uint32_t>(value));
      json.text(nullptr, text);
    }
    json.end(']');
    json.begin("last_error_ulp", '[');
    for (double const error : f.last_error) json.number(nullptr, error);
    json.end(']');
    json.begin("least_error_ulp", '[');
    for (std::size_t k = 0; k < f.least.size(); ++k) json.number(nullptr, error_in_ulp(f.least[k], result.exact[k]));
    json.end(']');
    json.begin("most_error_ulp", '[');
    for (std::size_t k = 0; k < f.most.size(); ++k) json.number(nullptr, error_in_ulp(f.most[k], result.exact[k]));
    json.end(']');
    json.begin("spread", '[');
    for (std::size_t k = 0; k < f.most.size(); ++k) json.number(nullptr, double{f.most[k]} - double{f.least[k]});
    json.end(']');
    json.begin("faults", '[');
    if (!f.fault.empty()) json.text(nullptr, f.fault);
    json.end(']');
    json.end('}');
  }
  json.end(']');
}

}  // namespace benchmark
