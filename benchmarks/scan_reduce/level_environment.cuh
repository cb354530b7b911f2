// How CCCL's newer releases are asked for a determinism level.
#pragma once

#include <cstddef>
#include <memory>

#include <cuda/execution.determinism.h>
#include <cuda/execution.require.h>
#include <cuda/memory_resource>
#include <cuda/std/execution>
#include <cuda/stream_ref>

#include "../support/device_array.cuh"

namespace benchmark {

// Memory that is allocated when it is first asked for, and then kept: the figures are those of the scan, not of an allocator.
class kept_memory {
 public:
  void* allocate_sync(std::size_t bytes, std::size_t) { return memory(bytes); }
  void deallocate_sync(void*, std::size_t, std::size_t) noexcept {}
  void* allocate(cuda::stream_ref, std::size_t bytes, std::size_t) { return memory(bytes); }
  void* allocate(cuda::stream_ref, std::size_t bytes) { return memory(bytes); }
  void deallocate(cuda::stream_ref, void*, std::size_t, std::size_t) noexcept {}
  void deallocate(cuda::stream_ref, void*, std::size_t) noexcept {}
  friend bool operator==(kept_memory const& a, kept_memory const& b) { return a.memory_ == b.memory_; }
  friend void get_property(kept_memory const&, cuda::mr::device_accessible) noexcept {}

 private:
  void* memory(std::size_t bytes) {
    if (!*memory_ || (*memory_)->size() < bytes) *memory_ = std::make_unique<device_array<std::byte>>(bytes == 0 ? 1 : bytes);
    return (*memory_)->data();
  }
  std::shared_ptr<std::unique_ptr<device_array<std::byte>>> memory_ = std::make_shared<std::unique_ptr<device_array<std::byte>>>();
};

template <class Memory, class Level>
auto level_environment(cudaStream_t stream, Memory const& memory, Level level) {
  return cuda::std::execution::env{cuda::std::execution::prop{cuda::get_stream, cuda::stream_ref{stream}},
                                   cuda::std::execution::prop{cuda::mr::get_memory_resource, memory}, cuda::execution::require(level)};
}

}  // namespace benchmark
