// Calls as they are timed: with their memory taken beforehand.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <cuda_runtime.h>

#include <tessera/tessera.cuh>

#include "../support/device_array.cuh"
#include "../support/values.hpp"

namespace benchmark {

// call(storage, bytes) twice, as CUB wants it: now for the size, later for the work.
template <class Call>
std::function<void()> with_storage(Call const& call) {
  std::size_t bytes = 0;
  check(call(nullptr, bytes), "CUB's temporary storage");
  auto const storage = std::make_shared<device_array<std::byte>>(std::max<std::size_t>(bytes, 1));
  return [=] {
    std::size_t available = bytes;
    check(call(storage->data(), available), "CUB");
  };
}

// call(workspace), with a workspace that is zeroed once.
template <class Call>
std::function<void()> with_workspace(std::size_t bytes, Call const& call) {
  auto const memory = std::make_shared<device_array<std::byte>>(bytes);
  check(cudaMemset(memory->data(), 0, bytes), "cudaMemset");
  return [=] { call(tessera::workspace_view{memory->data(), memory->size()}); };
}

template <class T>
tessera::view<T, 1> array(T* elements, std::int64_t count) {
  return tessera::make_view(elements, {count});
}

// Waits for the whole device.
template <class T>
std::vector<T> download(T const* from, std::int64_t count) {
  std::vector<T> elements(static_cast<std::size_t>(count));
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  check(cudaMemcpy(elements.data(), from, elements.size() * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy to the host");
  return elements;
}

template <class T>
__global__ void fill_randomly(T* elements, std::int64_t count, std::uint64_t seed) {
  std::int64_t const step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    elements[i] = random_element<T>::of(random_bits(seed, static_cast<std::uint64_t>(i)));
  }
}
template <class T>
void make_elements(cudaStream_t stream, T* elements, std::int64_t count, std::uint64_t seed) {
  fill_randomly<T><<<1024, 256, 0, stream>>>(elements, count, seed);
  check(cudaGetLastError(), "random elements");
}
// Elements first .. first + count - 1 of the same on the host.
template <class T>
std::vector<T> elements_on_host(std::int64_t first, std::int64_t count, std::uint64_t seed) {
  std::vector<T> elements(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    elements[static_cast<std::size_t>(i)] = random_element<T>::of(random_bits(seed, static_cast<std::uint64_t>(first + i)));
  }
  return elements;
}

}  // namespace benchmark
