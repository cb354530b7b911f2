// A published node: a value and the run that it belongs to in one word, so that a plain relaxed store and load is all that publishing
// needs. A word of an earlier run does not match, hence nothing has to be cleared between runs.
#pragma once

#include <cuda/std/bit>
#include <cuda/std/cstdint>
#include <cuda/std/type_traits>

#include <tessera/config.hpp>

namespace tessera::inline v0_1::detail {

// Each 4 bytes of the value with the run, 8 bytes in all; a torn word does not match as a whole. Values of one 4-byte part take 8 bytes, of
// two 16, of three or four 32, since two parts at a time are read at once, and so on.
template <class T>
class node_word {
  static_assert(cuda::std::is_trivially_copyable_v<T> && sizeof(T) % 4 == 0,
                "a published value is trivially copyable, its size a multiple of 4 bytes");
  using u64 = cuda::std::uint64_t;
  using u32 = cuda::std::uint32_t;
  static constexpr int parts = sizeof(T) / 4;
  struct part_array {
    u32 part[parts];
  };

 public:
  // Any lane; visible to all blocks.
  __device__ __forceinline__ void publish(u32 run, T const& value) {
    auto const bits = cuda::std::bit_cast<part_array>(value);
    auto const to = __cvta_generic_to_global(tagged_);
    if constexpr (parts == 1) {
      asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" : : "l"(to), "l"(tagged(run, bits.part[0])) : "memory");
    } else {
      static_assert(alignof(node_word) == 16, "two parts at a time");
#pragma unroll
      for (int i = 0; i + 1 < parts; i += 2) {
        asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};"
                     :
                     : "l"(to + 8 * i), "l"(tagged(run, bits.part[i])), "l"(tagged(run, bits.part[i + 1]))
                     : "memory");
      }
      if constexpr (parts % 2 == 1) {
        asm volatile("st.relaxed.gpu.global.u64 [%0], %1;"
                     :
                     : "l"(to + 8 * (parts - 1)), "l"(tagged(run, bits.part[parts - 1]))
                     : "memory");
      }
    }
  }
  // Whether the run's value was there, and what it is.
  __device__ __forceinline__ bool read(u32 run, T& value) const {
    part_array bits;
    bool whole = true;
    auto const from = __cvta_generic_to_global(tagged_);
    u64 word, other;
    if constexpr (parts == 1) {
      asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(from) : "memory");
      bits.part[0] = static_cast<u32>(word);
      whole = word >> 32 == run;
    } else {
#pragma unroll
      for (int i = 0; i + 1 < parts; i += 2) {
        asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(word), "=l"(other) : "l"(from + 8 * i) : "memory");
        bits.part[i] = static_cast<u32>(word);
        bits.part[i + 1] = static_cast<u32>(other);
        whole = whole && word >> 32 == run && other >> 32 == run;
      }
      if constexpr (parts % 2 == 1) {
        asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(from + 8 * (parts - 1)) : "memory");
        bits.part[parts - 1] = static_cast<u32>(word);
        whole = whole && word >> 32 == run;
      }
    }
    value = cuda::std::bit_cast<T>(bits);
    return whole;
  }

 private:
  __device__ __forceinline__ static u64 tagged(u32 run, u32 bits) { return (static_cast<u64>(run) << 32) | bits; }
  alignas(parts > 1 ? 16 : 8) u64 tagged_[parts];
};

}  // namespace tessera::inline v0_1::detail
