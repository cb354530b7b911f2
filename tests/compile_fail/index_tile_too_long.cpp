// expect: the index tile holds one index for each element along the axis: give it the tile's extent there
#include <tessera/tessera.hpp>

using namespace tessera;

void kernel(host_block<1>& block, view<float const, 2> values, view<float, 2> sums) {
  (void)values, (void)sums;
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  (void)tile_atomic_add_indexed<0>(block, sums, tile_arange<4>(block, 0), tile_full<4, 8>(block, 1.0f));
#else
  (void)tile_atomic_add_indexed<0>(block, sums, tile_arange<5>(block, 0), tile_full<4, 8>(block, 1.0f));
#endif
}
