// Barriers for warps with roles: one of the whole block that is reached at different places, and one in shared memory for those that go
// round a ring of stages, where some arrive and others wait for the lap to be complete.
#pragma once

#include <cuda/barrier>
#include <cuda/ptx>
#include <cuda/std/cstdint>
#include <nv/target>

#include <tessera/config.hpp>

namespace tessera::inline v0_1::detail {

// A barrier of the block that warps reach at different places of the code.
__device__ __forceinline__ void meet(int name) { asm volatile("barrier.sync %0, %1;" : : "r"(name), "r"(blockDim.x) : "memory"); }

// Laps count from 0. Who waits for a lap must wait for each, in order: a barrier knows an even lap from an odd one, no more.
class lap_barrier {
 public:
  // By one thread, before the block synchronises.
  __device__ __forceinline__ void set_up(int arrivals) { init(&barrier_, arrivals); }
  // One arrival; what the caller wrote before is seen by those that wait for the lap.
  __device__ __forceinline__ void arrive() {
    NV_IF_ELSE_TARGET(NV_PROVIDES_SM_80, ((void)cuda::ptx::mbarrier_arrive(handle());), ((void)barrier_.arrive();))
  }
  // The same, once the asynchronous copies that the caller has begun are complete.
  __device__ __forceinline__ void arrive_when_copied() {
    NV_IF_ELSE_TARGET(NV_PROVIDES_SM_80,
                      (auto const at = static_cast<unsigned>(__cvta_generic_to_shared(handle()));
                       asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" : : "r"(at) : "memory");),
                      ((void)barrier_.arrive();))
  }
  __device__ __forceinline__ void wait(unsigned lap) {
    NV_DISPATCH_TARGET(NV_PROVIDES_SM_90, (while (!cuda::ptx::mbarrier_try_wait_parity(handle(), lap & 1u)){}), NV_PROVIDES_SM_80,
                       (while (!cuda::ptx::mbarrier_test_wait_parity(handle(), lap & 1u)){}), NV_IS_DEVICE,
                       (barrier_.wait_parity((lap & 1u) != 0);))
  }
  // For instructions that arrive by themselves; from compute capability 8.0 on.
  __device__ __forceinline__ cuda::std::uint64_t* handle() { return cuda::device::barrier_native_handle(barrier_); }

 private:
  cuda::barrier<cuda::thread_scope_block> barrier_;
};

}  // namespace tessera::inline v0_1::detail
