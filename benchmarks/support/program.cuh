// The same of programs that need a GPU.
#pragma once

#include <cstdio>
#include <string>

#include <cuda_runtime.h>

#include "environment.cuh"
#include "json_writer.hpp"
#include "options.hpp"
#include "program.hpp"

namespace benchmark {

// For run_program.
inline std::string missing_gpu() {
  int devices = 0;
  return cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0 ? "there is no GPU that CUDA can use" : "";
}

inline void print_environment(environment const& here) {
  std::printf("%s (sm %s, %d multiprocessors, L2 %.0f MiB), driver %s, CUDA runtime %s, commit %s, %s\n", here.device.c_str(),
              here.compute_capability.c_str(), here.multiprocessors, static_cast<double>(here.l2_bytes) / (1 << 20), here.driver.c_str(),
              here.cuda_runtime.c_str(), here.build.commit.c_str(), here.build.date.c_str());
}

template <class Rest>
void write_document(options const& chosen, environment const& here, std::string const& program, Rest const& write_rest) {
  auto const write_where = [&](json_writer& json) {
    json.text("device", here.device);
    json.text("compute_capability", here.compute_capability);
    json.integer("multiprocessors", here.multiprocessors);
    json.integer("l2_bytes", here.l2_bytes);
    json.text("driver", here.driver);
    json.text("cuda_runtime", here.cuda_runtime);
  };
  write_document(chosen, here.build, program, write_where, write_rest);
}

}  // namespace benchmark
