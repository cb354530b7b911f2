// Arrays whose sizes pass 2^31 elements and 2^32 rows, of which few pages are touched. `Memory` gives zeroed bytes where kernels run.
#pragma once

#include "row_scatter.hpp"

namespace testing_support {

// The last tile alone adds: two calls to rows first, first + 1, ...
struct add_in_last_tile {
  std::int64_t first;
  template <class Block, class Sums>
  TESSERA_TILE void operator()(Block& block, Sums sums) const {
    if (block.tile_id() + 1 != block.tile_count(0)) return;
    auto const rows = tessera::tile_arange<4>(block, first);
    tessera::tile_atomic_add_indexed<0>(block, sums, rows, tessera::tile_full<4, 256>(block, 0.1f));
    tessera::tile_atomic_add_indexed<0>(block, sums, rows, tessera::tile_full<4, 256>(block, 0.2f));
  }
};

// More than 2^31 elements in the destination and in the records: the last rows get what is theirs, and the row that a product of 32 bits
// would reach nothing.
template <class Memory, class Place>
void check_more_than_2_to_the_31_elements(Place const& place) {
  constexpr std::int64_t rows = (std::int64_t{1} << 23) + 1, columns = 256, tiles = (std::int64_t{1} << 20) + 1;
  Memory const destination(rows * columns * 4);
  auto const sums = tessera::make_view(static_cast<float*>(destination.data()), {rows, columns});
  tessera::records const declared{.tiles = tiles, .per_tile = 8};
  std::size_t const bytes = tessera::scatter_workspace_bytes<tessera::gpu_to_gpu>(place.backend, sums, declared);
  Memory const workspace(static_cast<std::int64_t>(bytes));
  auto target = tessera::scatter_target<tessera::gpu_to_gpu>(place.backend, sums, declared, {workspace.data(), bytes});
  place.launch(tessera::tile_grid(tiles), add_in_last_tile{rows - 3}, target);
  target.resolve(place.backend);
  target.check(place.backend);
  float const sum = dyadic_counter<float>::sum(0.1f, 0.2f);
  for (std::int64_t row = rows - 6; row < rows; ++row) {
    std::vector<float> const expected(columns, row < rows - 3 ? 0.0f : sum);
    EXPECT_TRUE(same_bits(expected, destination.template values<float>(row * columns, columns))) << "row " << row;
  }
  for (std::int64_t row = 0; row < 4; ++row) {
    EXPECT_TRUE(same_bits(std::vector<float>(columns), destination.template values<float>(row * columns, columns))) << "row " << row;
  }
}

struct add_to_rows {
  std::int64_t first;
  template <class Block, class Sums>
  TESSERA_TILE void operator()(Block& block, Sums sums) const {
    auto const rows = tessera::tile_arange<4>(block, first);
    tessera::tile_atomic_add_indexed<0>(block, sums, rows, tessera::tile_full<4, 1>(block, 0.1f));
  }
};

// The highest row that a key can name, 2^32 - 2, and the one behind it, which would be taken for a record that goes nowhere.
template <class Memory, class Place>
void check_the_highest_row(Place const& place) {
  constexpr std::int64_t rows = 0xFFFFFFFF;
  Memory const destination(rows * 4);
  auto const sums = tessera::make_view(static_cast<float*>(destination.data()), {rows, 1});
  tessera::records const declared{.tiles = 2, .per_tile = 4};
  std::size_t const bytes = tessera::scatter_workspace_bytes<tessera::gpu_to_gpu>(place.backend, sums, declared);
  Memory const workspace(static_cast<std::int64_t>(bytes));
  auto target = tessera::scatter_target<tessera::gpu_to_gpu>(place.backend, sums, declared, {workspace.data(), bytes});
  place.launch(tessera::tile_grid(2), add_to_rows{rows - 2}, target);
  target.resolve(place.backend);
  target.check(place.backend);
  float const sum = dyadic_counter<float>::sum(0.1f, 0.1f);
  EXPECT_TRUE(same_bits<float>({0, 0, sum, sum}, destination.template values<float>(rows - 4, 4)));
  EXPECT_TRUE(same_bits<float>({0, 0, 0, 0}, destination.template values<float>(0, 4)));
}

}  // namespace testing_support
