// expect: tessera: the host backend needs IEEE arithmetic; compile this file without -ffinite-math-only
// What the compiler defines for the flag.
#ifndef TESSERA_COMPILE_FAIL_CONTROL
#undef __FINITE_MATH_ONLY__
#define __FINITE_MATH_ONLY__ 1
#endif
#include <tessera/tessera.hpp>
