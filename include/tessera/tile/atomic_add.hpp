// tile_atomic_add and tile_atomic_add_indexed into an array: one hardware atomic an element (or four floats), in any order. Into records:
// scatter/stage.hpp.
#pragma once

#include <cuda/std/type_traits>

#include <tessera/config.hpp>
#include <tessera/group/atomic.hpp>
#include <tessera/tile/index_tile.hpp>
#include <tessera/tile/make_tile.hpp>
#include <tessera/tile/store.hpp>
#include <tessera/tile/window.hpp>
#include <tessera/view.hpp>

namespace tessera::inline v0_1 {

namespace detail {

// Adds a chunk at its place in the window and leaves in `before` what was there (T{} for what was skipped).
template <bool Fast, int Chunk, class Block, class Window, class T, class Index>
TESSERA_TILE void add_chunk(Block& block, Window const& window, tile_coordinates<Window::rank> const& c, T const* values, T* before,
                            Index const& index) {
  if constexpr (Fast) {
    T addends[Chunk], previous[Chunk] = {};
    TESSERA_UNROLL
    for (int i = 0; i < Chunk; ++i) addends[i] = values[i];
    if (index.admitted(window, c)) atomic_fetch_add_vector<Chunk>(block, index.address(window, c), addends, previous);
    TESSERA_UNROLL
    for (int i = 0; i < Chunk; ++i) before[i] = previous[i];
  } else {
    auto const inside = window.inside(c);
    TESSERA_UNROLL
    for (int i = 0; i < Chunk; ++i) {
      auto const element = c.along_row(i);
      before[i] = T{};
      if (inside.has(i) && index.admitted(window, element)) before[i] = atomic_fetch_add(block, index.address(window, element), values[i]);
    }
  }
}

// How an element finds its row: by its own coordinate, or through the index tile.
struct own_coordinate {
  template <class Window, int Rank>
  TESSERA_TILE bool admitted(Window const&, tile_coordinates<Rank> const&) const {
    return true;
  }
  template <class Window, int Rank>
  TESSERA_TILE auto* address(Window const& window, tile_coordinates<Rank> const& c) const {
    return window.address(c);
  }
};
template <int Axis, class I>
struct through_indices {
  I const* rows;
  template <class Window, int Rank>
  TESSERA_TILE bool admitted(Window const& window, tile_coordinates<Rank> const& c) const {
    return window.admits(rows[c[Axis]]);
  }
  template <class Window, int Rank>
  TESSERA_TILE auto* address(Window const& window, tile_coordinates<Rank> const& c) const {
    return window.address(c, rows[c[Axis]]);
  }
};

// The tile of previous values, in `storage`.
template <class Storage, class Block, class Tile, class Window, class Index>
TESSERA_TILE auto add_tile(Block& block, Storage storage, Tile const& tile, Window const& window, Index const& with_index) {
  using traits = tile_traits<Tile>;
  using T = typename traits::value_type;
  return make_tile<T, typename traits::shape>(block, storage, [&](auto& previous) {
    with_index([&](auto const& index) {
      write_tile(block, previous, [&] {
        for_each_chunk<Tile>(block, window.whole() && window.wide(), [&](auto fast, int slot, int first) {
          add_chunk<fast(), traits::chunk>(block, window, traits::shape::coordinates(first), tile.chunk(slot, first),
                                           previous.chunk(slot, first), index);
        });
      });
    });
  });
}

}  // namespace detail

// array[at[d] + c[d]] += tile[c] for each element c; elements outside the array, on either side of any dimension, are skipped. Returns the
// tile of previous values (T{} for what was skipped), in registers; put `shared` behind the block to have it in scratch. Dropped, it costs
// nothing. Order and rounding: not guaranteed; device float atomics flush subnormals. Called by every lane of the block.
template <class Block, class Storage, detail::array_like View, class Tile>
TESSERA_TILE auto tile_atomic_add(Block& block, Storage storage, View const& array, Tile const& tile,
                                  offsets<detail::tile_rank<Tile>> const& at = {}) {
  detail::check_destination<View, Tile>();
  detail::tile_window<typename View::element_type, typename tile_traits<Tile>::shape> const window(array, at);
  return detail::add_tile(block, storage, tile, window, [&](auto const& add) { add(detail::own_coordinate{}); });
}
template <class Block, detail::array_like View, class Tile>
TESSERA_TILE auto tile_atomic_add(Block& block, View const& array, Tile const& tile, offsets<detail::tile_rank<Tile>> const& at = {}) {
  return tile_atomic_add(block, registers, array, tile, at);
}

// The same, but along `Axis` element c meets the array at at[Axis] + indices[c[Axis]]: row k of the tile is added to the row that
// indices[k] names. Indices may repeat; those that name no row, and skip_index, are skipped; negative ones never wrap. `indices` is a tile
// of one dimension with the tile's extent along the axis, integers of 8 to 64 bits; in registers, it is promoted to shared memory.
template <int Axis, class Block, class Storage, detail::array_like View, class Indices, class Tile>
TESSERA_TILE auto tile_atomic_add_indexed(Block& block, Storage storage, View const& array, Indices const& indices, Tile const& tile,
                                          offsets<detail::tile_rank<Tile>> const& at = {}) {
  using shape = typename tile_traits<Tile>::shape;
  using I = typename tile_traits<Indices>::value_type;
  detail::check_destination<View, Tile>();
  detail::check_index_tile<Axis, shape, Indices>();
  detail::tile_window<typename View::element_type, shape, Axis> const window(array, at);
  return detail::add_tile(block, storage, tile, window, [&](auto const& add) {
    detail::with_shared_indices(block, indices, [&](I const* rows) { add(detail::through_indices<Axis, I>{rows}); });
  });
}
template <int Axis, class Block, detail::array_like View, class Indices, class Tile>
TESSERA_TILE auto tile_atomic_add_indexed(Block& block, View const& array, Indices const& indices, Tile const& tile,
                                          offsets<detail::tile_rank<Tile>> const& at = {}) {
  return tile_atomic_add_indexed<Axis>(block, registers, array, indices, tile, at);
}

}  // namespace tessera::inline v0_1
