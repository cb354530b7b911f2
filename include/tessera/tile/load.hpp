// tile_load: a tile from an array.
#pragma once

#include <cuda/std/type_traits>

#include <tessera/config.hpp>
#include <tessera/tile/make_tile.hpp>
#include <tessera/tile/window.hpp>
#include <tessera/view.hpp>

namespace tessera::inline v0_1 {

namespace detail {

template <class Shape, class Storage, class Block, class View, class T>
TESSERA_TILE auto load(Block& block, Storage storage, View const& array, offsets<Shape::rank> const& at, T fill) {
  using source = typename View::element_type;
  constexpr int chunk = chunk_elements<T, Shape>();
  tile_window<source, Shape> const window(array, at);
  return make_tile<T, Shape>(block, storage, [&](auto& tile) {
    write_tile(block, tile, [&] {
      for_each_chunk<cuda::std::remove_reference_t<decltype(tile)>>(
          block, window.whole() && window.wide(), [&](auto fast, int slot, int first) {
            T* const values = tile.chunk(slot, first);
            auto const c = Shape::coordinates(first);
            if constexpr (fast()) {
              copy_chunk<chunk, T>(values, window.address(c));
            } else {
              auto const inside = window.inside(c);
              TESSERA_UNROLL
              for (int i = 0; i < chunk; ++i) values[i] = inside.has(i) ? *window.address(c.along_row(i)) : fill;
            }
          });
    });
  });
}

}  // namespace detail

// The tile of `Extents...` elements of `array` that starts at `at`: tile_load<32, 128>(block, values, {first, 0}). Elements outside the
// array, on either side of any dimension, are `fill`; nothing outside it is read. Called by every lane of the block.
template <int... Extents, class Block, detail::array_like View>
TESSERA_TILE auto tile_load(Block& block, View const& array, offsets<sizeof...(Extents)> const& at,
                            cuda::std::remove_const_t<typename View::element_type> fill = {}) {
  return detail::load<tile_shape<Extents...>>(block, registers, array, at, fill);
}

// The same, into `registers` or `shared`: tile_load<32>(block, shared, rows, {first}, skip_index<int>).
template <int... Extents, class Block, class Storage, detail::array_like View>
TESSERA_TILE auto tile_load(Block& block, Storage storage, View const& array, offsets<sizeof...(Extents)> const& at,
                            cuda::std::remove_const_t<typename View::element_type> fill = {}) {
  return detail::load<tile_shape<Extents...>>(block, storage, array, at, fill);
}

}  // namespace tessera::inline v0_1
