// expect: the axis is a dimension of the tile, counted from 0
#include <tessera/tessera.hpp>

using namespace tessera;

void kernel(host_block<1>& block, view<float const, 2> values, view<float, 2> sums) {
  (void)values, (void)sums;
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  (void)tile_atomic_add_indexed<1>(block, sums, tile_arange<4>(block, 0), tile_full<4, 4>(block, 1.0f));
#else
  (void)tile_atomic_add_indexed<-1>(block, sums, tile_arange<4>(block, 0), tile_full<4, 4>(block, 1.0f));
#endif
}
