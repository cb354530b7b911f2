// Row scatter-add of float32: the deterministic path beside atomics written by hand and a copy of the same bytes, in one run on the same
// data. Each result is compared with the host backend's before and after it is timed; a wrong one is reported and gets no time.
#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/cases.hpp"
#include "support/compare.hpp"
#include "support/copy_kernel.cuh"
#include "support/deterministic_path.cuh"
#include "support/device_array.cuh"
#include "support/environment.cuh"
#include "support/expected.hpp"
#include "support/graph_timer.cuh"
#include "support/measurement.cuh"
#include "support/options.hpp"
#include "support/program.cuh"
#include "support/report.cuh"
#include "support/rivals.cuh"

namespace benchmark {
namespace {

constexpr std::uint64_t value_seed = 1, row_seed = 2, destination_seed = 3;

// The values of all cases: a case takes as many from the front as it needs.
struct shared_values {
  std::vector<float> host;
  device_array<float> device;
  explicit shared_values(std::int64_t count) : host(make_values(count, value_seed)), device(std::span<float const>(host)) {}
};

// Times what adds in order of arrival: no two runs give the same bits, but each lies near the host's.
template <class Scatter>
cell measure_atomics(cudaStream_t stream, replay_plan const& plan, device_array<float>& destination, std::span<float const> initial,
                     std::span<float const> expected, std::span<float const> bounds, Scatter const& scatter) {
  auto const fault = [&] {
    destination.upload(initial);
    scatter();
    return compare_within(expected, destination.download(), bounds);
  };
  cell result{{}, fault()};
  if (!result.fault.empty()) return result;
  timing const time = time_replays(stream, plan, scatter);
  result.fault = fault();
  if (result.fault.empty()) result.time = time;
  return result;
}

// Times the deterministic path. What all its timed launches together left in the destination is compared, bit for bit.
template <int Columns>
void measure_deterministic(cudaStream_t stream, replay_plan const& plan, device_array<float>& destination,
                           std::vector<float> const& initial, std::span<float const> sums, deterministic_path<Columns>& path,
                           measurement& m) {
  m.cells[open].time = time_replays(stream, plan, [&] { path.open(); });
  m.cells[open_stage].time = time_replays(stream, plan, [&] { path.open_stage(); });
  m.cells[open_stage_sort].time = time_replays(stream, plan, [&] { path.open_stage_sort(); });

  cell& whole = m.cells[total];
  destination.upload(initial);
  path.whole();
  path.check_status();
  whole.fault = compare_bits(applied(initial, sums, 1), destination.download());
  if (!whole.fault.empty()) return;
  destination.upload(initial);
  timing const time = time_replays(stream, plan, [&] { path.whole(); });
  path.check_status();
  whole.fault = compare_bits(applied(initial, sums, plan.total()), destination.download());
  if (whole.fault.empty()) whole.time = time;
}

template <int Columns>
measurement measure(cudaStream_t stream, replay_plan const& plan, scatter_case const& c, shared_values const& all_values) {
  std::int64_t const elements = c.records * Columns;
  auto const values = std::span(all_values.host).first(static_cast<std::size_t>(elements));
  auto const rows = make_rows(c, row_seed);
  auto const initial = make_values(c.destinations * Columns, destination_seed);
  auto const sums = sums_on_host<Columns>(values, rows, c.destinations);

  measurement m{c, count_touched(rows, c.destinations), {}};
  float const* const device_values = all_values.device.data();
  device_array<int> const device_rows{std::span(rows)};
  device_array<float> destination{std::span(initial)};
  {
    device_array<float> target(values.size());
    m.cells[copy].time = time_replays(stream, plan, [&] { copy_by_kernel(stream, device_values, target.data(), 4 * elements); });
    m.cells[copy].fault = compare_bits(values, target.download());
  }

  deterministic_path<Columns> path(stream, device_values, device_rows.data(), destination.data(), c.records, c.destinations);
  {
    auto const expected = applied(initial, sums, 1);
    auto const bounds = bounds_of_any_order<Columns>(values, rows, initial);
    auto const atomics = [&](auto const& scatter) {
      return measure_atomics(stream, plan, destination, initial, expected, bounds, scatter);
    };
    m.cells[naive_atomics] = atomics([&] {
      add_naively<Columns>
          <<<blocks_for(elements), rival_threads, 0, stream>>>(device_values, device_rows.data(), destination.data(), elements);
      check(cudaGetLastError(), "naive atomics");
    });
    if constexpr (Columns % 4 == 0) {
      if (has_red_v4<Columns>()) {
        m.cells[red_v4] = atomics([&] {
          add_by_red_v4<Columns>
              <<<blocks_for(elements / 4), rival_threads, 0, stream>>>(reinterpret_cast<float4 const*>(device_values), device_rows.data(),
                                                                       reinterpret_cast<float4*>(destination.data()), elements / 4);
          check(cudaGetLastError(), "red.global.add.v4.f32");
        });
      }
    }
    m.cells[tessera_atomics] = atomics([&] { path.atomics(); });
  }
  measure_deterministic(stream, plan, destination, initial, sums, path, m);
  return m;
}

measurement measure(cudaStream_t stream, replay_plan const& plan, scatter_case const& c, shared_values const& values) {
  switch (c.columns) {
    case 128:
      return measure<128>(stream, plan, c, values);
    case 32:
      return measure<32>(stream, plan, c, values);
    case 1:
      return measure<1>(stream, plan, c, values);
    default:
      throw std::logic_error("no kernel for " + std::to_string(c.columns) + " columns");
  }
}

// Whether all results were right.
bool run(options const& chosen) {
  replay_plan const plan = chosen.quick ? replay_plan{2, 1, 3} : replay_plan{};
  std::vector<scatter_case> cases = all_cases(chosen.quick ? 16 : 1);
  std::erase_if(cases, [&](scatter_case const& c) { return name_of(c).find(chosen.filter) == std::string::npos; });
  if (cases.empty()) throw std::invalid_argument("no case has '" + chosen.filter + "' in its name");

  environment const here = current_environment(chosen.commit);
  std::int64_t most = 0;
  for (scatter_case const& c : cases) most = std::max(most, c.records * c.columns);
  shared_values const values(most);
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream), "cudaStreamCreate");

  print_heading(here);
  std::vector<measurement> measured;
  for (scatter_case const& c : cases) {
    measured.push_back(measure(stream, plan, c, values));
    print_row(measured.back());
  }
  check(cudaStreamDestroy(stream), "cudaStreamDestroy");
  if (!chosen.json.empty()) write_json(chosen, plan, here, measured);
  return std::none_of(measured.begin(), measured.end(), [](measurement const& m) { return m.wrong(); });
}

}  // namespace
}  // namespace benchmark

int main(int count, char** arguments) {
  constexpr benchmark::program_description program{"tessera_benchmarks", "a sixteenth of the data and few replays"};
  return benchmark::run_program(count, arguments, program, benchmark::run, benchmark::missing_gpu);
}
