// expect: an index tile holds integers of 8 to 64 bits
#include <tessera/tessera.hpp>

using namespace tessera;

void kernel(host_block<1>& block, view<float const, 2> values, view<float, 2> sums) {
  (void)values, (void)sums;
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  (void)tile_load_indexed<0, 4, 4>(block, values, tile_full<4>(block, 0));
#else
  (void)tile_load_indexed<0, 4, 4>(block, values, tile_full<4>(block, 0.0f));
#endif
}
