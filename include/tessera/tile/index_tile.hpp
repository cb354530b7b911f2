// The index tile of an indexed verb: in shared memory, since every lane reads many of its elements.
#pragma once

#include <cuda/std/type_traits>

#include <tessera/config.hpp>
#include <tessera/tile/make_tile.hpp>

namespace tessera::inline v0_1::detail {

// The checks of the index tile against the tile that it indexes.
template <int Axis, class Shape, class Indices>
TESSERA_TILE constexpr void check_index_tile() {
  using traits = tile_traits<Indices>;
  static_assert(Axis >= 0 && Axis < Shape::rank, "the axis is a dimension of the tile, counted from 0");
  static_assert(cuda::std::is_integral_v<typename traits::value_type> && !cuda::std::is_same_v<typename traits::value_type, bool>,
                "an index tile holds integers of 8 to 64 bits");
  static_assert(traits::shape::rank == 1, "an index tile has one dimension");
  static_assert(traits::shape::rank == 1 && traits::shape::size == Shape::extent(Axis),
                "the index tile holds one index for each element along the axis: give it the tile's extent there");
}

// Calls use(indices) with the indices readable by every lane; a register tile is promoted to scratch for the time of the call.
template <class Block, class Indices, class Use>
TESSERA_TILE void with_shared_indices(Block& block, Indices const& indices, Use const& use) {
  using traits = tile_traits<Indices>;
  using I = typename traits::value_type;
  if constexpr (cuda::std::is_same_v<typename Indices::storage_type, shared_t>) {
    use(indices.data());
  } else {
    auto const promoted = make_tile<I, typename traits::shape>(block, shared, [&](auto& tile) {
      fill_tile(block, tile, [&](int slot, int first, I* to) {
        I const* const from = indices.chunk(slot, first);
        TESSERA_UNROLL
        for (int i = 0; i < traits::chunk; ++i) to[i] = from[i];
      });
    });
    use(promoted.data());
  }
}

}  // namespace tessera::inline v0_1::detail
