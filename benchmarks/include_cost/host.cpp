// The kernel of docs/architecture.md on the host, by atomics and into records.
#include "add_rows.hpp"

void scatter(view<float const, 2> values, view<int const, 1> rows, view<float, 2> sums, workspace_view workspace) {
  auto const n = values.extent(0);
  host_backend<> const backend;
  launch_tiled(backend, tile_grid(ceil_div(n, 32)), add_rows{}, values, rows, sums);

  auto target = scatter_target<gpu_to_gpu>(backend, sums, {.tiles = ceil_div(n, 32), .per_tile = 32}, workspace);
  launch_tiled(backend, tile_grid(ceil_div(n, 32)), add_rows{}, values, rows, target);
  target.resolve(backend);
}
