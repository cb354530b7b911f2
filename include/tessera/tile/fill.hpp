// tile_full and tile_arange: tiles made of no array.
#pragma once

#include <tessera/arithmetic.hpp>
#include <tessera/config.hpp>
#include <tessera/tile/make_tile.hpp>

namespace tessera::inline v0_1 {

// A tile whose elements are all `value`: tile_full<32, 128>(block, 0.0f). Called by every lane of the block; add `registers` or `shared`
// behind the block to choose the storage.
template <int... Extents, class Block, class Storage, class T>
TESSERA_TILE auto tile_full(Block& block, Storage storage, T value) {
  using shape = tile_shape<Extents...>;
  return detail::make_tile<T, shape>(block, storage, [&](auto& tile) {
    detail::fill_tile(block, tile, [&](int, int, T* values) {
      TESSERA_UNROLL
      for (int i = 0; i < detail::chunk_elements<T, shape>(); ++i) values[i] = value;
    });
  });
}
template <int... Extents, class Block, class T>
TESSERA_TILE auto tile_full(Block& block, T value) {
  return tile_full<Extents...>(block, registers, value);
}

// A one-dimensional tile whose element i is first + i * step; integers wrap, floating point rounds each operation: tile_arange<32>(block,
// 0).
template <int Extent, class Block, class Storage, class T>
  requires(cuda::std::is_same_v<Storage, registers_t> || cuda::std::is_same_v<Storage, shared_t>)
TESSERA_TILE auto tile_arange(Block& block, Storage storage, T first, T step) {
  using shape = tile_shape<Extent>;
  return detail::make_tile<T, shape>(block, storage, [&](auto& tile) {
    detail::fill_tile(block, tile, [&](int, int begin, T* values) {
      TESSERA_UNROLL
      for (int i = 0; i < detail::chunk_elements<T, shape>(); ++i) values[i] = add(first, multiply(static_cast<T>(begin + i), step));
    });
  });
}
template <int Extent, class Block, class T>
TESSERA_TILE auto tile_arange(Block& block, T first, T step) {
  return tile_arange<Extent>(block, registers, first, step);
}
template <int Extent, class Block, class T>
TESSERA_TILE auto tile_arange(Block& block, T first) {
  return tile_arange<Extent>(block, registers, first, T{1});
}

}  // namespace tessera::inline v0_1
