// Where and of what a measurement was taken.
#pragma once

#include <cstdint>
#include <string>

#include <cuda_runtime.h>

#include "device_array.cuh"
#include "provenance.hpp"

namespace benchmark {

struct environment {
  std::string device, compute_capability, driver, cuda_runtime;
  provenance build;
  int multiprocessors = 0;
  std::int64_t l2_bytes = 0;
};

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
  here.build = current_provenance(commit);
  return here;
}

}  // namespace benchmark
