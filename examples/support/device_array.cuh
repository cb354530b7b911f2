// Arrays in the GPU's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

namespace examples {

inline void check_cuda(cudaError_t code, char const* call) {
  if (code != cudaSuccess) throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(code));
}

// Elements in the GPU's memory that begin `skipped` elements after an aligned address.
template <class T>
class device_array {
 public:
  explicit device_array(std::int64_t size, std::int64_t skipped = 0) : size_(size), skipped_(skipped) {
    T* memory = nullptr;
    check_cuda(cudaMalloc(&memory, static_cast<std::size_t>(size + skipped) * sizeof(T)), "cudaMalloc");
    memory_.reset(memory);
  }
  device_array(std::vector<T> const& from, std::int64_t skipped = 0) : device_array(static_cast<std::int64_t>(from.size()), skipped) {
    check_cuda(cudaMemcpy(data(), from.data(), bytes(), cudaMemcpyHostToDevice), "cudaMemcpy to the GPU");
  }
  T* data() const { return memory_.get() + skipped_; }
  std::size_t bytes() const { return static_cast<std::size_t>(size_) * sizeof(T); }
  void zero(cudaStream_t stream) const { check_cuda(cudaMemsetAsync(data(), 0, bytes(), stream), "cudaMemsetAsync"); }
  void copy_to(std::vector<T>& to) const {
    check_cuda(cudaMemcpy(to.data(), data(), bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy from the GPU");
  }

 private:
  struct free_memory {
    void operator()(T* memory) const { (void)cudaFree(memory); }
  };
  std::int64_t size_;
  std::int64_t skipped_;
  std::unique_ptr<T, free_memory> memory_;
};

}  // namespace examples
