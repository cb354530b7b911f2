// Values of any type in static shared memory.
#pragma once

#include <tessera/config.hpp>

namespace tessera::inline v0_1::detail {

// Uninitialised values in shared memory, whatever their constructors.
template <class T, int Count>
struct shared_values {
  alignas(sizeof(T) % 16 == 0 ? 16 : alignof(T)) unsigned char bytes[sizeof(T) * Count];
  __device__ __forceinline__ T* data() { return reinterpret_cast<T*>(bytes); }
  __device__ __forceinline__ T& operator[](int i) { return data()[i]; }
};

}  // namespace tessera::inline v0_1::detail
