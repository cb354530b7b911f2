// What the scatter is compared with: atomics written by hand.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>
#include <nv/target>

#include "copy_kernel.cuh"
#include "device_array.cuh"

namespace benchmark {

// One float a thread, as everybody writes it first.
template <int Columns>
__global__ void __launch_bounds__(rival_threads) add_naively(float const* values, int const* rows, float* sums, std::int64_t elements) {
  std::int64_t const e = std::int64_t{blockIdx.x} * rival_threads + threadIdx.x;
  if (e >= elements) return;
  auto const row = static_cast<std::uint32_t>(e / Columns), column = static_cast<std::uint32_t>(e % Columns);
  atomicAdd(sums + std::int64_t{rows[row]} * Columns + column, values[e]);
}

// Four floats a thread and one reduction for them; sm_90 and newer.
template <int Columns>
__global__ void __launch_bounds__(rival_threads) add_by_red_v4(float4 const* values, int const* rows, float4* sums, std::int64_t quads) {
  static_assert(Columns % 4 == 0);
  std::int64_t const q = std::int64_t{blockIdx.x} * rival_threads + threadIdx.x;
  if (q >= quads) return;
  auto const row = static_cast<std::uint32_t>(q / (Columns / 4)), column = static_cast<std::uint32_t>(q % (Columns / 4));
  [[maybe_unused]] float4 const v = values[q];
  [[maybe_unused]] float4* const to = sums + std::int64_t{rows[row]} * (Columns / 4) + column;
  NV_IF_TARGET(NV_PROVIDES_SM_90, (asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to)),
                                                "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w)
                                                : "memory");))
}

// Whether the code that this device runs has the instruction; code that was compiled for an older architecture has not, on any device.
template <int Columns>
bool has_red_v4() {
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, add_by_red_v4<Columns>), "cudaFuncGetAttributes");
  return attributes.ptxVersion >= 90;
}

}  // namespace benchmark
