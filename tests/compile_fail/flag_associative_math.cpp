// expect: tessera: the host backend needs IEEE arithmetic; compile this file without -fassociative-math
// What the compiler defines for the flag.
#ifndef TESSERA_COMPILE_FAIL_CONTROL
#define __ASSOCIATIVE_MATH__ 1
#endif
#include <tessera/tessera.hpp>
