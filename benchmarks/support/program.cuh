// What the benchmarks' programs have in common: command line, exit status, and the head of what they write.
#pragma once

#include <cstdio>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>

#include <cuda_runtime.h>

#include "environment.cuh"
#include "json_writer.hpp"
#include "options.hpp"

namespace benchmark {

// Parses, and calls run(chosen), which says whether all results were right. The exit status: 0; 1 where a result was wrong or something
// failed; 2 for a wrong command line; 77 without a GPU.
template <class Run>
int run_program(int count, char** arguments, program_description const& program, Run const& run) {
  std::string const name(program.name), usage = usage_of(program);
  options chosen;
  try {
    chosen = parse_options(count, arguments, program);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s: %s\n%s", name.c_str(), e.what(), usage.c_str());
    return 2;
  }
  if (chosen.help) {
    std::fputs(usage.c_str(), stdout);
    return 0;
  }
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("skipped: there is no GPU that CUDA can use");
    return 77;
  }
  try {
    return run(chosen) ? 0 : 1;
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), e.what());
    return 1;
  }
}

inline void print_environment(environment const& here) {
  std::printf("%s (sm %s, %d multiprocessors, L2 %.0f MiB), driver %s, CUDA runtime %s, commit %s, %s\n", here.device.c_str(),
              here.compute_capability.c_str(), here.multiprocessors, static_cast<double>(here.l2_bytes) / (1 << 20), here.driver.c_str(),
              here.cuda_runtime.c_str(), here.commit.c_str(), here.date.c_str());
}

// Writes the file of --json: where and of what, then what write_rest(json) adds. Throws std::runtime_error where it cannot be written.
template <class Rest>
void write_document(options const& chosen, environment const& here, std::string const& program, Rest const& write_rest) {
  FILE* const file = std::fopen(chosen.json.c_str(), "w");
  if (file == nullptr) throw std::runtime_error("cannot write " + chosen.json);
  json_writer json(file);
  json.begin(nullptr, '{');
  json.text("program", program);
  json.text("device", here.device);
  json.text("compute_capability", here.compute_capability);
  json.integer("multiprocessors", here.multiprocessors);
  json.integer("l2_bytes", here.l2_bytes);
  json.text("driver", here.driver);
  json.text("cuda_runtime", here.cuda_runtime);
  json.text("commit", here.commit);
  json.text("date", here.date);
  json.boolean("quick", chosen.quick);
  json.text("filter", chosen.filter);
  write_rest(json);
  json.end('}');
  std::fputc('\n', file);
  if (std::fclose(file) != 0) throw std::runtime_error("cannot write " + chosen.json);
}

}  // namespace benchmark
