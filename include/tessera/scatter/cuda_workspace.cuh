// An owning workspace in device memory.
#pragma once

#include <cstddef>

#include <cuda_runtime_api.h>

#include <tessera/config.hpp>
#include <tessera/launch/cuda_backend.cuh>
#include <tessera/launch/cuda_error.cuh>
#include <tessera/scatter/workspace.hpp>

namespace tessera::inline v0_1 {

// Allocates in the order of the backend's stream, zeroes its start, and gives the memory back in the order of that stream. Work on other
// streams, and graph replays, that use it must have ended before the destructor runs.
class cuda_workspace {
 public:
  cuda_workspace(cuda_backend const& backend, std::size_t bytes) : stream_(backend.stream), bytes_(bytes) {
    if (bytes_ == 0) return;
    detail::check_cuda(cudaMallocAsync(&memory_, bytes_, stream_), "cuda_workspace: cudaMallocAsync(" + std::to_string(bytes_) + ")");
    detail::check_cuda(cudaMemsetAsync(memory_, 0, bytes_ < 256 ? bytes_ : 256, stream_), "cuda_workspace: cudaMemsetAsync");
  }
  ~cuda_workspace() {
    if (memory_ != nullptr) (void)cudaFreeAsync(memory_, stream_);
  }
  cuda_workspace(cuda_workspace const&) = delete;
  cuda_workspace& operator=(cuda_workspace const&) = delete;

  operator workspace_view() const { return {memory_, bytes_}; }

 private:
  cudaStream_t stream_;
  void* memory_ = nullptr;
  std::size_t bytes_;
};

}  // namespace tessera::inline v0_1
