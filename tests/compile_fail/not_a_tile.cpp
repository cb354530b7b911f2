// expect: this argument is no tile: make one with tile_load, tile_full or tile_arange
#include <tessera/tessera.hpp>

using namespace tessera;

void kernel(host_block<1>& block, view<float const, 2> values, view<float, 2> sums) {
  (void)values, (void)sums;
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  tile_store(block, sums, tile_full<1, 1>(block, 1.0f));
#else
  tile_store(block, sums, 1.0f);
#endif
}
