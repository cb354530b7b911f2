// Needs a CCCL with determinism requirements. Which of them compile is found by CMake.
#include "levels.hpp"

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include "../support/device_array.cuh"
#include "level_environment.cuh"

namespace benchmark {
namespace {

constexpr char const* does_not_compile = "CUB rejects this level for this operation and type at compile time";

template <bool Compiles, class T, class Level>
level_call scan_at(char const* name, Level level, cudaStream_t stream, T const* in, T* out, int count) {
  level_call call{name, level_operation::scan, {}, does_not_compile};
  if constexpr (Compiles) {
    call.work = [=, memory = kept_memory{}] {
      check(cub::DeviceScan::InclusiveSum(in, out, count, level_environment(stream, memory, level)), name);
    };
    call.absent.clear();
  }
  return call;
}

template <bool Compiles, class T, class Level>
level_call reduce_at(char const* name, Level level, cudaStream_t stream, T const* in, T* out, int count) {
  level_call call{name, level_operation::reduce, {}, does_not_compile};
  if constexpr (Compiles) {
    call.work = [=, memory = kept_memory{}] {
      check(cub::DeviceReduce::Sum(in, out, count, level_environment(stream, memory, level)), name);
    };
    call.absent.clear();
  }
  return call;
}

}  // namespace

template <class T>
std::vector<level_call> level_calls(cudaStream_t stream, T const* in, T* out, int count) {
  namespace level = cuda::execution::determinism;
  return {scan_at<TESSERA_SCAN_RUN_TO_RUN>("cub_inclusive_run_to_run", level::run_to_run, stream, in, out, count),
          scan_at<TESSERA_SCAN_GPU_TO_GPU>("cub_inclusive_gpu_to_gpu", level::gpu_to_gpu, stream, in, out, count),
          reduce_at<TESSERA_REDUCE_NOT_GUARANTEED>("cub_reduce_not_guaranteed", level::not_guaranteed, stream, in, out, count),
          reduce_at<TESSERA_REDUCE_RUN_TO_RUN>("cub_reduce_run_to_run", level::run_to_run, stream, in, out, count),
          reduce_at<TESSERA_REDUCE_GPU_TO_GPU>("cub_reduce_gpu_to_gpu", level::gpu_to_gpu, stream, in, out, count)};
}
template std::vector<level_call> level_calls(cudaStream_t, float const*, float*, int);
template std::vector<level_call> level_calls(cudaStream_t, double const*, double*, int);

}  // namespace benchmark
