#include "floating_point_mode.hpp"

#include <cfenv>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <tessera/launch/host_runtime.hpp>

namespace tessera::inline v0_1::detail {

#if defined(__x86_64__)

floating_point_mode::floating_point_mode() : saved_(_mm_getcsr()) {
  _mm_setcsr(0x1F80u);  // all exceptions masked, round to nearest, neither flush-to-zero nor denormals-are-zero
}
floating_point_mode::~floating_point_mode() { _mm_setcsr(static_cast<unsigned>(saved_)); }

#elif defined(__aarch64__)

floating_point_mode::floating_point_mode() {
  unsigned long long control;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  saved_ = control;
  asm volatile("msr fpcr, %0" : : "r"(0ULL));
}
floating_point_mode::~floating_point_mode() { asm volatile("msr fpcr, %0" : : "r"(saved_)); }

#else

floating_point_mode::floating_point_mode() : saved_(static_cast<unsigned long long>(std::fegetround())) { std::fesetround(FE_TONEAREST); }
floating_point_mode::~floating_point_mode() { std::fesetround(static_cast<int>(saved_)); }

#endif

bool in_contract_mode(bool (*test)()) {
  floating_point_mode const mode;
  return test();
}

void check_library_arithmetic() {
  static bool const correct = [] {
    floating_point_mode const mode;
    volatile float const least = 1.17549435e-38f, half = 0.5f, zero = 0.0f;
    float const l = least, h = half, z = zero;
    float const subnormal = multiply(l, h);
    return unit_arithmetic_is_ieee() && bits_of(subnormal) == 0x00400000u && bits_of(add(subnormal, z)) == 0x00400000u;
  }();
  if (!correct) throw error("tessera: the library was built with flags that change floating-point arithmetic; build it without -ffast-math");
}

}  // namespace tessera::inline v0_1::detail
