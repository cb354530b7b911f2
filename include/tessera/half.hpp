// f16 (__half) and bf16 (__nv_bfloat16) elements: widened exactly to float, accumulated there, rounded once to nearest even.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cuda/std/bit>
#include <cuda/std/cstdint>

#include <tessera/accumulate.hpp>
#include <tessera/config.hpp>

namespace tessera::inline v0_1::detail {

// On the bits: the headers' own functions differ between host and device in what a NaN becomes.
TESSERA_TILE constexpr cuda::std::uint32_t f32_bits_of_f16(cuda::std::uint16_t half) {
  cuda::std::uint32_t const sign = (half & 0x8000u) << 16, exponent = (half >> 10) & 0x1Fu, mantissa = half & 0x3FFu;
  if (exponent == 0x1Fu) return sign | 0x7F800000u | (mantissa << 13);
  if (exponent != 0) return sign | ((exponent + 112u) << 23) | (mantissa << 13);
  if (mantissa == 0) return sign;
  int const shift = cuda::std::countl_zero(mantissa) - 21;  // brings the leading one to bit 10
  return sign | (static_cast<cuda::std::uint32_t>(113 - shift) << 23) | (((mantissa << shift) & 0x3FFu) << 13);
}

TESSERA_TILE constexpr cuda::std::uint16_t f16_bits_of_f32(cuda::std::uint32_t single) {
  cuda::std::uint32_t const sign = (single >> 16) & 0x8000u, magnitude = single & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return 0x7FFFu;
  if (magnitude >= 0x477FF000u) return static_cast<cuda::std::uint16_t>(sign | 0x7C00u);  // 65520 and more round to infinity
  if (magnitude <= 0x33000000u) return static_cast<cuda::std::uint16_t>(sign);            // 2^-25 and less to zero
  cuda::std::uint32_t rest = 0, kept = 0, half = 0;
  if (magnitude >= 0x38800000u) {
    kept = (magnitude - 0x38000000u) >> 13;
    rest = magnitude & 0x1FFFu;
    half = 0x1000u;
  } else {
    int const shift = 126 - static_cast<int>(magnitude >> 23);  // 14 .. 24
    cuda::std::uint32_t const mantissa = (magnitude & 0x7FFFFFu) | 0x800000u;
    kept = mantissa >> shift;
    half = 1u << (shift - 1);
    rest = mantissa & ((1u << shift) - 1u);
  }
  if (rest > half || (rest == half && (kept & 1u) != 0)) ++kept;
  return static_cast<cuda::std::uint16_t>(sign | kept);
}

TESSERA_TILE constexpr cuda::std::uint16_t bf16_bits_of_f32(cuda::std::uint32_t single) {
  if ((single & 0x7FFFFFFFu) > 0x7F800000u) return 0x7FFFu;
  return static_cast<cuda::std::uint16_t>((single + 0x7FFFu + ((single >> 16) & 1u)) >> 16);
}

template <>
struct conversion<float, __half> {
  TESSERA_TILE static float of(__half value) {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE,
                      (float wide; asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(cuda::std::bit_cast<unsigned short>(value))); return wide;),
                      (return cuda::std::bit_cast<float>(f32_bits_of_f16(cuda::std::bit_cast<cuda::std::uint16_t>(value)));))
  }
};
template <>
struct conversion<__half, float> {
  TESSERA_TILE static __half of(float value) {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE,
                      (unsigned short narrow; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(narrow) : "f"(value)); return cuda::std::bit_cast<__half>(narrow);),
                      (return cuda::std::bit_cast<__half>(f16_bits_of_f32(cuda::std::bit_cast<cuda::std::uint32_t>(value)));))
  }
};
template <>
struct conversion<float, __nv_bfloat16> {
  TESSERA_TILE static float of(__nv_bfloat16 value) {
    return cuda::std::bit_cast<float>(static_cast<cuda::std::uint32_t>(cuda::std::bit_cast<cuda::std::uint16_t>(value)) << 16);
  }
};
template <>
struct conversion<__nv_bfloat16, float> {
  TESSERA_TILE static __nv_bfloat16 of(float value) {
    return cuda::std::bit_cast<__nv_bfloat16>(bf16_bits_of_f32(cuda::std::bit_cast<cuda::std::uint32_t>(value)));
  }
};

}  // namespace tessera::inline v0_1::detail
