// expect: a host block has 1 to 64 lanes
#include <tessera/tessera.hpp>

using namespace tessera;

using block =
#ifdef TESSERA_COMPILE_FAIL_CONTROL
    host_block<64>;
#else
    host_block<65>;
#endif
static_assert(block::size > 0);
