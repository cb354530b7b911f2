// A published node: a value and the run that it belongs to in one word, so that a plain relaxed store and load is all that publishing
// needs. A word of an earlier run does not match, hence nothing has to be cleared between runs.
#pragma once

#include <cuda/std/bit>
#include <cuda/std/cstdint>

#include <tessera/config.hpp>

namespace tessera::inline v0_1::detail {

// Values of up to 4 bytes: {run, bits} in 8 bytes. Values of 8 bytes: each half with the run, 16 bytes; a torn word does not match as a
// whole.
template <class T>
class node_word {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a published value has 4 or 8 bytes");
  using u64 = cuda::std::uint64_t;
  using u32 = cuda::std::uint32_t;

 public:
  // Any lane; visible to all blocks.
  __device__ void publish(u32 run, T const& value) {
    if constexpr (sizeof(T) == 4) {
      u64 const word = tagged(run, cuda::std::bit_cast<u32>(value));
      asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" : : "l"(__cvta_generic_to_global(half_)), "l"(word) : "memory");
    } else {
      u64 const bits = cuda::std::bit_cast<u64>(value);
      u64 const low = tagged(run, static_cast<u32>(bits)), high = tagged(run, static_cast<u32>(bits >> 32));
      asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" : : "l"(__cvta_generic_to_global(half_)), "l"(low), "l"(high) : "memory");
    }
  }
  // Whether the run's value was there, and what it is.
  __device__ bool read(u32 run, T& value) const {
    if constexpr (sizeof(T) == 4) {
      u64 word;
      asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(__cvta_generic_to_global(half_)) : "memory");
      value = cuda::std::bit_cast<T>(static_cast<u32>(word));
      return word >> 32 == run;
    } else {
      u64 low, high;
      asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
                   : "=l"(low), "=l"(high)
                   : "l"(__cvta_generic_to_global(half_))
                   : "memory");
      value = cuda::std::bit_cast<T>(static_cast<u64>(static_cast<u32>(low)) | (static_cast<u64>(static_cast<u32>(high)) << 32));
      return low >> 32 == run && high >> 32 == run;
    }
  }

 private:
  __device__ static u64 tagged(u32 run, u32 bits) { return (static_cast<u64>(run) << 32) | bits; }
  alignas(sizeof(T) == 4 ? 8 : 16) u64 half_[sizeof(T) / 4];
};

}  // namespace tessera::inline v0_1::detail
