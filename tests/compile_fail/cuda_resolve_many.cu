// expect: resolve: at most 16 targets together
#include <tessera/tessera.cuh>

using namespace tessera;

void use(cuda_backend const& backend, view<float, 2> sums, workspace_view memory) {
  records const declared{.tiles = 1, .per_tile = 4};
  auto t = scatter_target<gpu_to_gpu>(backend, sums, declared, memory);
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  resolve(backend, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t);
#else
  resolve(backend, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t);
#endif
}
