// expect: an index tile has one dimension
#include <tessera/tessera.hpp>

using namespace tessera;

void kernel(host_block<1>& block, view<float const, 2> values, view<float, 2> sums) {
  (void)values, (void)sums;
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  (void)tile_load_indexed<0, 4, 4>(block, values, tile_full<4>(block, 0));
#else
  (void)tile_load_indexed<0, 4, 4>(block, values, tile_full<4, 1>(block, 0));
#endif
}
