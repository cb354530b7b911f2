// The kernel of docs/architecture.md, whose cost scripts/include_cost measures.
#pragma once

#include <tessera/tessera.hpp>

using namespace tessera;

struct add_rows {
  template <class Block, class Sums>
  TESSERA_TILE void operator()(Block& block, view<float const, 2> values, view<int const, 1> rows, Sums sums) const {
    auto const first = block.tile_index(0) * 32;
    auto const t = tile_load<32, 128>(block, values, {first, 0});
    auto const i = tile_load<32>(block, shared, rows, {first}, skip_index<int>);
    tile_atomic_add_indexed<0>(block, sums, i, t);
  }
};
