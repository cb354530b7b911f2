// The computation: row i of the values is added to row rows[i] of the sums. The kernel is written once; whether it adds by atomics or in
// one fixed order, on the host or on a GPU, is decided where it is launched.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <tessera/tessera.hpp>

namespace reduce_by_key {

inline constexpr int rows_per_tile = 32;

// One tile: 32 rows of the values, `Columns` wide, go where their indices say; and a one for each row goes to its counter.
template <int Columns>
struct add_rows {
  template <class Block, class T, class Sums, class Counts>
  TESSERA_TILE void operator()(Block& block, tessera::view<T const, 2> values, tessera::view<std::int32_t const, 1> rows, Sums sums,
                               Counts counts) const {
    auto const first = block.tile_index(0) * rows_per_tile;
    auto const tile = tessera::tile_load<rows_per_tile, Columns>(block, values, {first, 0});
    auto const indices = tessera::tile_load<rows_per_tile>(block, tessera::shared, rows, {first}, tessera::skip_index<std::int32_t>);
    tessera::tile_atomic_add_indexed<0>(block, sums, indices, tile);
    tessera::tile_atomic_add_indexed<0>(block, counts, indices, tessera::tile_full<rows_per_tile>(block, std::int32_t{1}));
  }
};

// What is added to what, in the memory of the backend that does it.
template <class T>
struct problem_views {
  tessera::view<T const, 2> values;
  tessera::view<std::int32_t const, 1> rows;
  tessera::view<T, 2> sums;
  tessera::view<std::int32_t, 1> counts;
};

// Blocks that walk the tiles, at most; 0 for no limit.
struct block_cap {
  std::int64_t blocks = 0;
};

inline tessera::tile_grid grid_for(std::int64_t rows, block_cap cap) {
  return tessera::tile_grid(tessera::ceil_div(rows, rows_per_tile)).capped(cap.blocks);
}

inline auto records_for(std::int64_t rows) {
  return tessera::records{.tiles = tessera::ceil_div(rows, rows_per_tile), .per_tile = rows_per_tile};
}

// Adds in order of arrival.
template <int Columns, int Threads, class Backend, class T>
void add_by_atomics(Backend const& backend, problem_views<T> const& p, block_cap cap) {
  tessera::launch_tiled<Threads>(backend, grid_for(p.rows.extent(0), cap), add_rows<Columns>{}, p.values, p.rows, p.sums, p.counts);
}

// Adds in one fixed order: the same kernel, another destination.
template <int Columns, int Threads, class Backend, class T, class Workspace>
void add_in_order(Backend const& backend, problem_views<T> const& p, block_cap cap, Workspace& workspace) {
  auto sums = tessera::scatter_target<tessera::gpu_to_gpu>(backend, p.sums, records_for(p.rows.extent(0)), workspace);
  tessera::launch_tiled<Threads>(backend, grid_for(p.rows.extent(0), cap), add_rows<Columns>{}, p.values, p.rows, sums, p.counts);
  sums.resolve(backend);
}

// Calls use(width, slice) for slices of columns that tiles of that width cover: 8, 32 or 128, the least that holds all columns, and as many
// slices of 128 as there must be. The first slice alone counts, also where there is no column; the others get no counters.
template <class T, class Use>
void for_each_slice(problem_views<T> const& p, Use const& use) {
  auto const columns = p.values.extent(1);
  auto const slices_of = [&]<int Width>(std::integral_constant<int, Width> width) {
    std::int64_t first = 0;
    do {
      auto const count = std::min<std::int64_t>(Width, columns - first);
      use(width, problem_views<T>{.values = tessera::slice<1>(p.values, first, count),
                                  .rows = p.rows,
                                  .sums = tessera::slice<1>(p.sums, first, count),
                                  .counts = first == 0 ? p.counts : tessera::slice<0>(p.counts, 0, 0)});
      first += Width;
    } while (first < columns);
  };
  if (columns <= 8) return slices_of(std::integral_constant<int, 8>{});
  if (columns <= 32) return slices_of(std::integral_constant<int, 32>{});
  slices_of(std::integral_constant<int, 128>{});
}

}  // namespace reduce_by_key
