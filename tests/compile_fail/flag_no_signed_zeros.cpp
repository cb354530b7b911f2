// expect: tessera: the host backend needs IEEE arithmetic; compile this file without -fno-signed-zeros
// What the compiler defines for the flag.
#ifndef TESSERA_COMPILE_FAIL_CONTROL
#define __NO_SIGNED_ZEROS__ 1
#endif
#include <tessera/tessera.hpp>
