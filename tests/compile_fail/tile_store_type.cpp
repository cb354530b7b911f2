// expect: the tile and its destination have the same element type: convert the tile with tile_map first
#include <tessera/tessera.hpp>

using namespace tessera;

void kernel(host_block<1>& block, view<float const, 2> values, view<float, 2> sums) {
  (void)values, (void)sums;
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  tile_store(block, sums, tile_full<4, 4>(block, 1.0f));
#else
  tile_store(block, sums, tile_full<4, 4>(block, 1));
#endif
}
