// expect: resolve: a direct target is applied as it is written, so all or none cannot hold for it; resolve the sorted targets without it
#include <tessera/tessera.hpp>

using namespace tessera;

void use(view<float, 2> sums, view<int, 2> counts, view<float const, 2> fixed, view<long double, 2> wide, workspace_view memory) {
  host_backend<1> const backend{};
  records const declared{.tiles = 1, .per_tile = 4};
  (void)counts, (void)fixed, (void)wide, (void)sums;
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  auto sorted = scatter_target<gpu_to_gpu>(backend, sums, declared, memory);
  resolve(backend, sorted);
#else
  auto direct = scatter_target<gpu_to_gpu>(backend, counts, declared, memory);
  resolve(backend, direct);
#endif
}
