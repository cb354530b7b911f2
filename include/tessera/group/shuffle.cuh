// Exchange between the lanes of a warp, for values of any trivially copyable type.
#pragma once

#include <cuda/std/bit>
#include <cuda/std/type_traits>

#include <tessera/config.hpp>

namespace tessera::inline v0_1::detail {

inline constexpr unsigned full_warp = 0xFFFFFFFFu;

// `exchange(word)` for each 4- or 8-byte word of the value.
template <class T, class Exchange>
__device__ __forceinline__ T by_words(T const& value, Exchange const& exchange) {
  if constexpr (cuda::std::is_arithmetic_v<T> && sizeof(T) >= 4) {
    return exchange(value);
  } else {
    static_assert(cuda::std::is_trivially_copyable_v<T>, "values that lanes exchange are trivially copyable");
    struct words {
      unsigned word[(sizeof(T) + 3) / 4];
    };
    words out{};
    if constexpr (sizeof(words) == sizeof(T)) {
      out = cuda::std::bit_cast<words>(value);
#pragma unroll
      for (unsigned& word : out.word) word = exchange(word);
      return cuda::std::bit_cast<T>(out);
    } else {
      static_assert(sizeof(T) == 2 || sizeof(T) == 1, "values that lanes exchange have 1, 2 or a multiple of 4 bytes");
      using small = cuda::std::conditional_t<sizeof(T) == 2, unsigned short, unsigned char>;
      return cuda::std::bit_cast<T>(static_cast<small>(exchange(static_cast<unsigned>(cuda::std::bit_cast<small>(value)))));
    }
  }
}

// The value of lane `from`; of the lane `distance` behind; of the lane whose number differs by `bits`. All lanes of the mask.
template <class T>
__device__ __forceinline__ T shuffle(T const& value, int from, unsigned mask = full_warp) {
  return by_words(value, [&](auto word) { return __shfl_sync(mask, word, from); });
}
template <class T>
__device__ __forceinline__ T shuffle_down(T const& value, int distance, unsigned mask = full_warp) {
  return by_words(value, [&](auto word) { return __shfl_down_sync(mask, word, distance); });
}
// Of number `from` (modulo `group`) of the caller's aligned group of `group` lanes, a power of two.
template <class T>
__device__ __forceinline__ T shuffle_within(T const& value, int group, int from, unsigned mask = full_warp) {
  return by_words(value, [&](auto word) {
    if constexpr (cuda::std::is_same_v<decltype(word), float>) {
      // The intrinsic takes an integer, and a value that is then added to in some lanes only would be kept in two registers.
      asm volatile("shfl.sync.idx.b32 %0, %0, %1, %2, %3;" : "+f"(word) : "r"(from), "r"((32 - group) << 8 | 31), "r"(mask));
      return word;
    } else {
      return __shfl_sync(mask, word, from, group);
    }
  });
}
template <class T>
__device__ __forceinline__ T shuffle_xor(T const& value, int bits, unsigned mask = full_warp) {
  return by_words(value, [&](auto word) { return __shfl_xor_sync(mask, word, bits); });
}

}  // namespace tessera::inline v0_1::detail
