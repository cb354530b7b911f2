// expect: the tile and the array have the same number of dimensions
#include <tessera/tessera.hpp>

using namespace tessera;

void kernel(host_block<1>& block, record_writer<float, 2, 0> const& target) {
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  (void)tile_atomic_add(block, target, tile_full<4, 1>(block, 1.0f));
#else
  (void)tile_atomic_add(block, target, tile_full<4>(block, 1.0f));
#endif
}
