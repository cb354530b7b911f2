// expect: the target's records lie along another axis: make it with scatter_target<level, axis>
#include <tessera/tessera.hpp>

using namespace tessera;

void kernel(host_block<1>& block, record_writer<float, 2, 0> const& target) {
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  (void)tile_atomic_add_indexed<0>(block, target, tile_arange<4>(block, 0), tile_full<4, 4>(block, 1.0f));
#else
  (void)tile_atomic_add_indexed<1>(block, target, tile_arange<4>(block, 0), tile_full<4, 4>(block, 1.0f));
#endif
}
