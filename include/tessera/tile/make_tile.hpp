// A new tile in the storage that the caller chose.
#pragma once

#include <cuda/std/type_traits>

#include <tessera/config.hpp>
#include <tessera/tile/register_tile.hpp>
#include <tessera/tile/shared_tile.hpp>

namespace tessera::inline v0_1::detail {

// fill(tile) writes the tile, by write_tile. A shared tile has its place in the scratch before `fill` takes any for itself.
template <class T, class Shape, class Storage, class Block, class Fill>
TESSERA_TILE auto make_tile(Block& block, Storage, Fill const& fill) {
  static_assert(cuda::std::is_same_v<Storage, registers_t> || cuda::std::is_same_v<Storage, shared_t>,
                "the storage of a tile is tessera::registers or tessera::shared");
  if constexpr (cuda::std::is_same_v<Storage, registers_t>) {
    return register_tile<T, Shape, Block::size>(fill);
  } else {
    return shared_tile<T, Shape, Block>(block, fill);
  }
}

}  // namespace tessera::inline v0_1::detail
