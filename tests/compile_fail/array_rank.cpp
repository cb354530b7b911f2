// expect: the tile and the array have the same number of dimensions
#include <tessera/tessera.hpp>

using namespace tessera;

void kernel(host_block<1>& block, view<float const, 2> values, view<float, 2> sums) {
  (void)values, (void)sums;
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  (void)tile_load<4, 1>(block, values, {});
#else
  (void)tile_load<4>(block, values, {});
#endif
}
