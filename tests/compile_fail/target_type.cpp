// expect: scatter_target: at this level the elements are float, double or integers; use one of them or the level not_guaranteed
#include <tessera/tessera.hpp>

using namespace tessera;

void use(view<float, 2> sums, view<int, 2> counts, view<float const, 2> fixed, view<long double, 2> wide, workspace_view memory) {
  host_backend<1> const backend{};
  records const declared{.tiles = 1, .per_tile = 4};
  (void)counts, (void)fixed, (void)wide, (void)sums;
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  (void)scatter_target<not_guaranteed>(backend, wide, declared, memory);
#else
  (void)scatter_target<gpu_to_gpu>(backend, wide, declared, memory);
#endif
}
