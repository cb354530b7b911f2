// expect: a tile's elements are joined in their own type
#include <cuda_fp16.h>

#include <tessera/tessera.hpp>

using namespace tessera;

void kernel(host_block<1>& block) {
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  (void)tile_inclusive_scan(block, tile_full<8>(block, 1.0f));
#else
  (void)tile_inclusive_scan(block, tile_full<8>(block, __half{}));
#endif
}
