// Where and of what a measurement was taken.
#pragma once

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>

#include <cuda_runtime.h>

#include "device_array.cuh"

namespace benchmark {

struct environment {
  std::string device, compute_capability, driver, cuda_runtime, commit, date;
  int multiprocessors = 0;
  std::int64_t l2_bytes = 0;
};

// The first line that a command prints, or nothing.
inline std::string first_line_of(std::string const& command) {
  std::unique_ptr<FILE, int (*)(FILE*)> const pipe(popen(command.c_str(), "r"), pclose);
  std::string line;
  for (int c = 0; pipe && (c = std::fgetc(pipe.get())) != EOF && c != '\n';) line += static_cast<char>(c);
  return line;
}

// Git is asked only at the top of a checkout of this project, lest another project's commit is recorded.
inline std::string commit_of_checkout() {
  return first_line_of("test -f benchmarks/scatter_rows.cu && git describe --always --dirty --abbrev=12 --exclude='*' 2>/dev/null");
}

// The current device, the build, and today.
inline environment current_environment(std::string const& commit) {
  int device = 0, runtime = 0;
  cudaDeviceProp properties{};
  char bus[32] = {};
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  check(cudaDeviceGetPCIBusId(bus, sizeof(bus), device), "cudaDeviceGetPCIBusId");
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");

  environment here;
  here.device = properties.name;
  here.compute_capability = std::to_string(properties.major) + "." + std::to_string(properties.minor);
  here.multiprocessors = properties.multiProcessorCount;
  here.l2_bytes = properties.l2CacheSize;
  here.cuda_runtime = std::to_string(runtime / 1000) + "." + std::to_string(runtime % 1000 / 10);
  here.driver = first_line_of("nvidia-smi --query-gpu=driver_version --format=csv,noheader --id=" + std::string(bus) + " 2>/dev/null");
  here.commit = commit.empty() ? commit_of_checkout() : commit;

  std::time_t const now = std::time(nullptr);
  char date[16] = {};
  std::strftime(date, sizeof(date), "%Y-%m-%d", std::gmtime(&now));
  here.date = date;
  return here;
}

}  // namespace benchmark
