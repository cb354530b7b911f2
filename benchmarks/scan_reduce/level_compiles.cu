// Compiles where CUB offers the level TESSERA_LEVEL for the operation TESSERA_OPERATION; CMake tries.
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include <cuda/execution.determinism.h>
#include <cuda/execution.require.h>

int main() {
  float *in = nullptr, *out = nullptr;
  return static_cast<int>(TESSERA_OPERATION(in, out, 1, cuda::execution::require(cuda::execution::determinism::TESSERA_LEVEL)));
}
