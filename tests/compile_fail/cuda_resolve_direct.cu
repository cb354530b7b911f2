// expect: resolve: a direct target is applied as it is written, so all or none cannot hold for it; resolve the sorted targets without it
#include <tessera/tessera.cuh>

using namespace tessera;

void use(cuda_backend const& backend, view<float, 2> sums, view<int, 2> counts, workspace_view memory) {
  records const declared{.tiles = 1, .per_tile = 4};
  (void)sums, (void)counts;
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  auto sorted = scatter_target<gpu_to_gpu>(backend, sums, declared, memory);
  resolve(backend, sorted);
#else
  auto direct = scatter_target<gpu_to_gpu>(backend, counts, declared, memory);
  resolve(backend, direct);
#endif
}
