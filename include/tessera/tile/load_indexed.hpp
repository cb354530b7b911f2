// tile_load_indexed: gather along one axis.
#pragma once

#include <cuda/std/type_traits>

#include <tessera/config.hpp>
#include <tessera/tile/index_tile.hpp>
#include <tessera/tile/make_tile.hpp>
#include <tessera/tile/window.hpp>
#include <tessera/view.hpp>

namespace tessera::inline v0_1 {

// Element c of the result is array[at[d] + c[d]] in every dimension but `Axis`, and array[at[Axis] + indices[c[Axis]]] there. What lies
// outside on any side of any dimension is `fill`, and so is what skip_index names; negative indices never wrap. `indices` has Extents[Axis]
// elements; a register tile of them is promoted to shared memory. Called by every lane of the block.
//
//     auto const t = tile_load_indexed<0, 32, 128>(block, registers, embeddings, ids, {0, 0});
template <int Axis, int... Extents, class Block, class Storage, detail::array_like View, class Indices>
TESSERA_TILE auto tile_load_indexed(Block& block, Storage storage, View const& array, Indices const& indices,
                                    offsets<sizeof...(Extents)> const& at = {},
                                    cuda::std::remove_const_t<typename View::element_type> fill = {}) {
  using T = cuda::std::remove_const_t<typename View::element_type>;
  using I = typename tile_traits<Indices>::value_type;
  using shape = tile_shape<Extents...>;
  detail::check_index_tile<Axis, shape, Indices>();
  constexpr int chunk = detail::chunk_elements<T, shape>();
  detail::tile_window<typename View::element_type, shape, Axis> const window(array, at);
  return detail::make_tile<T, shape>(block, storage, [&](auto& tile) {
    detail::with_shared_indices(block, indices, [&](I const* rows) {
      detail::write_tile(block, tile, [&] {
        detail::for_each_chunk<cuda::std::remove_reference_t<decltype(tile)>>(
            block, window.whole() && window.wide(), [&](auto fast, int slot, int first) {
              T* const values = tile.chunk(slot, first);
              auto const c = shape::coordinates(first);
              if constexpr (fast()) {
                I const index = rows[c[Axis]];
                if (window.admits(index)) {
                  detail::copy_chunk<chunk, T>(values, window.address(c, index));
                } else {
                  TESSERA_UNROLL
                  for (int i = 0; i < chunk; ++i) values[i] = fill;
                }
              } else {
                auto const inside = window.inside(c);
                TESSERA_UNROLL
                for (int i = 0; i < chunk; ++i) {
                  auto const element = c.along_row(i);
                  I const index = rows[element[Axis]];
                  values[i] = inside.has(i) && window.admits(index) ? *window.address(element, index) : fill;
                }
              }
            });
      });
    });
  });
}

// The same, into registers.
template <int Axis, int... Extents, class Block, detail::array_like View, class Indices>
TESSERA_TILE auto tile_load_indexed(Block& block, View const& array, Indices const& indices, offsets<sizeof...(Extents)> const& at = {},
                                    cuda::std::remove_const_t<typename View::element_type> fill = {}) {
  return tile_load_indexed<Axis, Extents...>(block, registers, array, indices, at, fill);
}

}  // namespace tessera::inline v0_1
