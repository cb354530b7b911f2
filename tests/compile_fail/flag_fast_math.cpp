// expect: tessera: the host backend needs IEEE arithmetic; compile this file without -ffast-math
// What the compiler defines for the flag.
#ifndef TESSERA_COMPILE_FAIL_CONTROL
#define __FAST_MATH__ 1
#endif
#include <tessera/tessera.hpp>
