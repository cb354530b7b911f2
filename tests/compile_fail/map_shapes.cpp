// expect: tile_map: all tiles have the same shape
#include <tessera/tessera.hpp>

using namespace tessera;

void kernel(host_block<1>& block, view<float const, 2> values, view<float, 2> sums) {
  (void)values, (void)sums;
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  (void)tile_map(block, plus{}, tile_full<8>(block, 1.0f), tile_full<8>(block, 1.0f));
#else
  (void)tile_map(block, plus{}, tile_full<8>(block, 1.0f), tile_full<4, 2>(block, 1.0f));
#endif
}
