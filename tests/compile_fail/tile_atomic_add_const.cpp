// expect: the destination is a view of const: give the kernel a view of a mutable type
#include <tessera/tessera.hpp>

using namespace tessera;

void kernel(host_block<1>& block, view<float const, 2> values, view<float, 2> sums) {
  (void)values, (void)sums;
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  (void)tile_atomic_add(block, sums, tile_full<4, 4>(block, 1.0f));
#else
  (void)tile_atomic_add(block, values, tile_full<4, 4>(block, 1.0f));
#endif
}
