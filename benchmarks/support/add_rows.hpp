// The kernel that is measured, as a user writes it. Into a view it adds by atomics, into a scatter target it leaves records.
#pragma once

#include <cstdint>

#include <tessera/tessera.hpp>

namespace benchmark {

template <int Columns>
struct add_rows {
  static constexpr int rows_per_tile = 32;

  template <class T>
  static auto array(T* elements, std::int64_t rows) {
    return tessera::make_view(elements, {rows, std::int64_t{Columns}});
  }

  template <class Block, class Sums>
  TESSERA_TILE void operator()(Block& block, tessera::view<float const, 2> values, tessera::view<int const, 1> rows, Sums sums) const {
    auto const first = block.tile_index(0) * rows_per_tile;
    auto const t = tessera::tile_load<rows_per_tile, Columns>(block, values, {first, 0});
    auto const i = tessera::tile_load<rows_per_tile>(block, tessera::shared, rows, {first}, tessera::skip_index<int>);
    tessera::tile_atomic_add_indexed<0>(block, sums, i, t);
  }
};

// Scalars: arrays of one dimension.
template <>
struct add_rows<1> {
  static constexpr int rows_per_tile = 256;

  template <class T>
  static auto array(T* elements, std::int64_t rows) {
    return tessera::make_view(elements, {rows});
  }

  template <class Block, class Sums>
  TESSERA_TILE void operator()(Block& block, tessera::view<float const, 1> values, tessera::view<int const, 1> rows, Sums sums) const {
    auto const first = block.tile_index(0) * rows_per_tile;
    auto const t = tessera::tile_load<rows_per_tile>(block, values, {first});
    auto const i = tessera::tile_load<rows_per_tile>(block, tessera::shared, rows, {first}, tessera::skip_index<int>);
    tessera::tile_atomic_add_indexed<0>(block, sums, i, t);
  }
};

template <int Columns>
tessera::tile_grid grid_for(std::int64_t records) {
  return tessera::tile_grid(tessera::ceil_div(records, add_rows<Columns>::rows_per_tile));
}
template <int Columns>
tessera::records records_for(std::int64_t records) {
  return {.tiles = tessera::ceil_div(records, add_rows<Columns>::rows_per_tile), .per_tile = add_rows<Columns>::rows_per_tile};
}

}  // namespace benchmark
