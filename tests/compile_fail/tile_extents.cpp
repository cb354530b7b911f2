// expect: the extents of a tile are positive
#include <tessera/tessera.hpp>

using namespace tessera;

constexpr int size =
#ifdef TESSERA_COMPILE_FAIL_CONTROL
    tile_shape<4, 1>::size;
#else
    tile_shape<4, 0>::size;
#endif
static_assert(size >= 0);
