// The same kernel on the device; false, with a word about it, where there is no GPU.
#include <cstdio>
#include <vector>

#include <tessera/tessera.cuh>

#include "kernel.hpp"

bool run_on_device(std::vector<float> const& values, std::vector<int> const& rows, std::vector<float>& sums) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("no GPU: the device half was linked and not run");
    return false;
  }
  float *device_values = nullptr, *device_sums = nullptr;
  int* device_rows = nullptr;
  cudaMalloc(&device_values, values.size() * sizeof(float));
  cudaMalloc(&device_rows, rows.size() * sizeof(int));
  cudaMalloc(&device_sums, sums.size() * sizeof(float));
  cudaMemcpy(device_values, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(device_rows, rows.data(), rows.size() * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(device_sums, sums.data(), sums.size() * sizeof(float), cudaMemcpyHostToDevice);
  float const* const read_values = device_values;
  int const* const read_rows = device_rows;
  tessera::launch_tiled<128>(tessera::cuda_backend{nullptr}, tessera::tile_grid(3), add_rows{}, tessera::make_view(read_values, {10, 8}),
                             tessera::make_view(read_rows, {10}), tessera::make_view(device_sums, {3, 8}));
  cudaMemcpy(sums.data(), device_sums, sums.size() * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(device_values);
  cudaFree(device_rows);
  cudaFree(device_sums);
  return true;
}
