// expect: a tile's elements are joined in their own type
#include <tessera/tessera.hpp>

using namespace tessera;

void kernel(host_block<1>& block) {
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  (void)tile_reduce(block, tile_full<8>(block, 1.0), accumulate_as<double>{});
#else
  (void)tile_reduce(block, tile_full<8>(block, 1.0f), accumulate_as<double>{});
#endif
}
