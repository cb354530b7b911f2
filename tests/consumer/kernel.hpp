// The kernel that the consumers run: rows of 8 floats, added up by key.
#pragma once

#include <tessera/tessera.hpp>

struct add_rows {
  template <class Block, class Sums>
  TESSERA_TILE void operator()(Block& block, tessera::view<float const, 2> values, tessera::view<int const, 1> rows, Sums sums) const {
    auto const first = block.tile_index(0) * 4;
    auto const t = tessera::tile_load<4, 8>(block, values, {first, 0});
    auto const i = tessera::tile_load<4>(block, tessera::shared, rows, {first}, tessera::skip_index<int>);
    tessera::tile_atomic_add_indexed<0>(block, sums, i, t);
  }
};
