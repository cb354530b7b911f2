// expect: tessera: the host backend needs arithmetic in the type itself; compile this file with -mfpmath=sse or for a 64-bit target
// What the compiler defines for the flag.
#ifndef TESSERA_COMPILE_FAIL_CONTROL
#undef __FLT_EVAL_METHOD__
#define __FLT_EVAL_METHOD__ 2
#endif
#include <tessera/tessera.hpp>
