// Scans and reductions of whole arrays, of segments and of blocks beside CUB's and a copy of the same bytes, in one run, in turns, on the
// same data. Each result is checked before and after it is timed; a wrong one is reported and gets no time.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cuda/std/version>

#include "scan_reduce/arrays.hpp"
#include "scan_reduce/blocks.hpp"
#include "scan_reduce/contest.cuh"
#include "scan_reduce/patterns.hpp"
#include "scan_reduce/rows.hpp"
#include "scan_reduce/segmented.hpp"
#include "support/environment.cuh"
#include "support/options.hpp"
#include "support/program.cuh"

namespace benchmark {
namespace {

constexpr program_description program{TESSERA_PROGRAM, "small arrays and few replays", true};

std::string cccl_version() {
  return std::to_string(CCCL_VERSION / 1000000) + "." + std::to_string(CCCL_VERSION / 1000 % 1000) + "." +
         std::to_string(CCCL_VERSION % 1000);
}

bool run_patterns(options const& chosen, environment const& here, cudaStream_t stream) {
  std::int64_t const count = (chosen.quick ? 1 << 20 : 1 << 24) + 1;
  pattern_result const result = count_patterns(stream, count, chosen.patterns);
  print(result);
  if (!chosen.json.empty()) {
    write_document(chosen, here, "scan_patterns", [&](json_writer& json) {
      json.text("cccl", cccl_version());
      json.boolean("levels", TESSERA_LEVELS);
      write_patterns(json, result);
    });
  }
  return !result.wrong();
}

void write_times(json_writer& json, session const& s) {
  json.text("cccl", cccl_version());
  json.boolean("levels", TESSERA_LEVELS);
  json.integer("warm_up_replays", s.plan_for(0).warm_up_replays);
  json.integer("replays", s.plan_for(0).replays);
  json.begin("cases", '[');
  for (case_result const& result : s.results) write_case(json, result);
  json.end(']');
}

bool run_times(options const& chosen, environment const& here, cudaStream_t stream) {
  session s{stream, chosen, here.multiprocessors};
  for (auto const measure : {measure_arrays<float>, measure_arrays<double>, measure_arrays<__half>, measure_arrays<std::int32_t>,
                             measure_arrays<std::int64_t>, measure_segments, measure_rows, measure_blocks}) {
    measure(s);
    // After each part: a run that is cut off leaves what it has.
    if (!chosen.json.empty()) {
      write_document(chosen, here, "scan_reduce", [&](json_writer& json) { write_times(json, s); });
    }
  }
  if (s.results.empty()) throw std::invalid_argument("no case has '" + chosen.filter + "' in its name");
  return std::none_of(s.results.begin(), s.results.end(), [](case_result const& result) { return result.wrong(); });
}

// Whether all results were right.
bool run(options const& chosen) {
  environment const here = current_environment(chosen.commit);
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream), "cudaStreamCreate");
  print_environment(here);
  std::printf("CCCL %s; K is 2^10, M is 2^20, G is 2^30; median (least .. most)\n\n", cccl_version().c_str());
  bool const right = chosen.patterns > 0 ? run_patterns(chosen, here, stream) : run_times(chosen, here, stream);
  check(cudaStreamDestroy(stream), "cudaStreamDestroy");
  return right;
}

}  // namespace
}  // namespace benchmark

int main(int count, char** arguments) {
  return benchmark::run_program(count, arguments, benchmark::program, benchmark::run, benchmark::missing_gpu);
}
