// expect: a scatter target is resolved after the launch: give it a name and pass that
#include <tessera/tessera.hpp>

using namespace tessera;

struct nothing {
  template <class Block, class Sums>
  void operator()(Block&, Sums const&) const {}
};

void use(view<float, 2> sums, view<int, 2> counts, view<float const, 2> fixed, view<long double, 2> wide, workspace_view memory) {
  host_backend<1> const backend{};
  records const declared{.tiles = 1, .per_tile = 4};
  (void)counts, (void)fixed, (void)wide, (void)sums;
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  auto target = scatter_target<gpu_to_gpu>(backend, sums, declared, memory);
  launch_tiled(backend, tile_grid(1), nothing{}, target);
#else
  launch_tiled(backend, tile_grid(1), nothing{}, scatter_target<gpu_to_gpu>(backend, sums, declared, memory));
#endif
}
