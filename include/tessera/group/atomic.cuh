// Read-modify-write on the device. A result that nobody uses makes the machine instruction a reduction (RED), which is why there is one
// form only.
#pragma once

#include <cuda/std/cstdint>
#include <cuda/std/type_traits>
#include <nv/target>

#include <tessera/config.hpp>
#include <tessera/group/cuda_block.cuh>

namespace tessera::inline v0_1 {

// Global float atomics flush subnormals; documented for not_guaranteed.
template <int Threads, int Scratch, class T>
TESSERA_TILE T atomic_fetch_add(cuda_block<Threads, Scratch> const&, T* address, T value) {
  if constexpr (cuda::std::is_integral_v<T> && sizeof(T) == 8) {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE,
                      (return static_cast<T>(atomicAdd(reinterpret_cast<unsigned long long*>(address), static_cast<unsigned long long>(value)));),
                      (return value;))
  } else if constexpr (cuda::std::is_integral_v<T>) {
    static_assert(sizeof(T) == 4, "tile_atomic_add: integers of 32 and 64 bits have an atomic addition; use one of them");
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return static_cast<T>(atomicAdd(reinterpret_cast<unsigned*>(address), static_cast<unsigned>(value)));),
                      (return value;))
  } else {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return atomicAdd(address, value);), (return value;))
  }
}

template <int N, int Threads, int Scratch, class T>
TESSERA_TILE void atomic_fetch_add_vector(cuda_block<Threads, Scratch> const& block, T* address, T const (&values)[N], T (&before)[N]) {
  auto const one_by_one = [&] {
    TESSERA_UNROLL
    for (int i = 0; i < N; ++i) before[i] = atomic_fetch_add(block, address + i, values[i]);
  };
  if constexpr (cuda::std::is_same_v<T, float> && N == 4) {
    NV_IF_ELSE_TARGET(NV_PROVIDES_SM_90,
                      (asm volatile("atom.global.add.v4.f32 {%0, %1, %2, %3}, [%4], {%5, %6, %7, %8};"
                                    : "=f"(before[0]), "=f"(before[1]), "=f"(before[2]), "=f"(before[3])
                                    : "l"(__cvta_generic_to_global(address)), "f"(values[0]), "f"(values[1]), "f"(values[2]), "f"(values[3])
                                    : "memory");),
                      (one_by_one();))
  } else {
    one_by_one();
  }
}

template <int Threads, int Scratch>
TESSERA_TILE void atomic_and(cuda_block<Threads, Scratch> const&, cuda::std::uint32_t* address, cuda::std::uint32_t value) {
  NV_IF_TARGET(NV_IS_DEVICE, (atomicAnd(address, value);))
}
template <int Threads, int Scratch>
TESSERA_TILE void atomic_or(cuda_block<Threads, Scratch> const&, cuda::std::uint32_t* address, cuda::std::uint32_t value) {
  NV_IF_TARGET(NV_IS_DEVICE, (atomicOr(address, value);))
}
template <int Threads, int Scratch>
TESSERA_TILE void atomic_max(cuda_block<Threads, Scratch> const&, cuda::std::uint32_t* address, cuda::std::uint32_t value) {
  NV_IF_TARGET(NV_IS_DEVICE, (atomicMax(address, value);))
}

}  // namespace tessera::inline v0_1
