// Arrays on the device, and CUDA's errors as exceptions.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <cuda_runtime.h>

namespace benchmark {

inline void check(cudaError_t code, char const* call) {
  if (code != cudaSuccess) throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(code));
}

// Owns `size` elements of device memory. Transfers wait for the whole device.
template <class T>
class device_array {
 public:
  explicit device_array(std::size_t size) : size_(size) { check(cudaMalloc(&data_, size * sizeof(T)), "cudaMalloc"); }
  explicit device_array(std::span<T const> elements) : device_array(elements.size()) { upload(elements); }
  ~device_array() { (void)cudaFree(data_); }
  device_array(device_array const&) = delete;
  device_array& operator=(device_array const&) = delete;

  T* data() const { return data_; }
  std::size_t size() const { return size_; }

  void upload(std::span<T const> elements) {
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    check(cudaMemcpy(data_, elements.data(), elements.size_bytes(), cudaMemcpyHostToDevice), "cudaMemcpy to the device");
  }
  std::vector<T> download() const {
    std::vector<T> elements(size_);
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    check(cudaMemcpy(elements.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy to the host");
    return elements;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};

}  // namespace benchmark
