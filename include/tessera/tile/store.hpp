// tile_store: a tile into an array.
#pragma once

#include <cuda/std/type_traits>

#include <tessera/config.hpp>
#include <tessera/tile/tile.hpp>
#include <tessera/tile/window.hpp>
#include <tessera/view.hpp>

namespace tessera::inline v0_1 {

namespace detail {

// The checks that every verb with a destination makes.
template <class View, class Tile>
TESSERA_TILE constexpr void check_destination() {
  using element = typename View::element_type;
  static_assert(!cuda::std::is_const_v<element>, "the destination is a view of const: give the kernel a view of a mutable type");
  static_assert(cuda::std::is_same_v<element, typename tile_traits<Tile>::value_type>,
                "the tile and its destination have the same element type: convert the tile with tile_map first");
}

}  // namespace detail

// Writes `tile` to `array` from `at` on; elements outside the array are dropped. Called by every lane of the block. Two tiles that write
// the same element in one launch leave one of the values, no matter which.
template <class Block, detail::array_like View, class Tile>
TESSERA_TILE void tile_store(Block& block, View const& array, Tile const& tile, offsets<detail::tile_rank<Tile>> const& at = {}) {
  detail::check_destination<View, Tile>();
  using traits = tile_traits<Tile>;
  using T = typename traits::value_type;
  using shape = typename traits::shape;
  detail::tile_window<T, shape> const window(array, at);
  detail::for_each_chunk<Tile>(block, window.whole() && window.wide(), [&](auto fast, int slot, int first) {
    T const* const values = tile.chunk(slot, first);
    auto const c = shape::coordinates(first);
    if constexpr (fast()) {
      detail::copy_chunk<traits::chunk, T>(window.address(c), values);
    } else {
      auto const inside = window.inside(c);
      TESSERA_UNROLL
      for (int i = 0; i < traits::chunk; ++i) {
        if (inside.has(i)) *window.address(c.along_row(i)) = values[i];
      }
    }
  });
}

}  // namespace tessera::inline v0_1
