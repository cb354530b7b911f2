// expect: a tile has 1 to 4 dimensions
#include <tessera/tessera.hpp>

using namespace tessera;

constexpr int size =
#ifdef TESSERA_COMPILE_FAIL_CONTROL
    tile_shape<2, 2, 2, 2>::size;
#else
    tile_shape<2, 2, 2, 2, 2>::size;
#endif
static_assert(size > 0);
