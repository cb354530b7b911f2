// expect: tile_atomic_add: integers of 32 and 64 bits have an atomic addition; use one of them
#include <tessera/tessera.cuh>

using namespace tessera;

__global__ void kernel(view<short, 1> narrow, view<int, 1> wide) {
  __shared__ alignas(16) cuda::std::byte scratch[4096];
  cuda_block<128> block(scratch, tile_grid(1), 0);
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  tile_atomic_add(block, wide, tile_full<4>(block, 1));
#else
  tile_atomic_add(block, narrow, tile_full<4>(block, short{1}));
#endif
}
