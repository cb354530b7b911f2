// expect: scatter_target: the axis is a dimension of the destination, counted from 0
#include <tessera/tessera.hpp>

using namespace tessera;

void use(view<float, 2> sums, view<int, 2> counts, view<float const, 2> fixed, view<long double, 2> wide, workspace_view memory) {
  host_backend<1> const backend{};
  records const declared{.tiles = 1, .per_tile = 4};
  (void)counts, (void)fixed, (void)wide, (void)sums;
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  (void)scatter_target<gpu_to_gpu, 1>(backend, sums, declared, memory);
#else
  (void)scatter_target<gpu_to_gpu, 2>(backend, sums, declared, memory);
#endif
}
