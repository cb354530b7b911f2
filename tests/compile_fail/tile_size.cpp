// expect: a tile has at most 2^24 elements
#include <tessera/tessera.hpp>

using namespace tessera;

constexpr long long size =
#ifdef TESSERA_COMPILE_FAIL_CONTROL
    tile_shape<4096, 4096>::size;
#else
    tile_shape<4096, 4097>::size;
#endif
static_assert(size > 0);
