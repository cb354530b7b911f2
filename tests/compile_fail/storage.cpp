// expect: the storage of a tile is tessera::registers or tessera::shared
#include <tessera/tessera.hpp>

using namespace tessera;

void kernel(host_block<1>& block, view<float const, 2> values, view<float, 2> sums) {
  (void)values, (void)sums;
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  (void)tile_load<4, 4>(block, registers, values, {});
#else
  (void)tile_load<4, 4>(block, 0, values, {});
#endif
}
