// What all tiles have in common, and the one loop that every primitive is made of.
//
// The elements of a tile, row-major, are cut into chunks of up to 16 bytes; lane r of a block of `size` lanes works on chunks r,
// r + size, r + 2 size, ... whatever the storage is. Chunk order is coalesced order, and a chunk is an aligned node of D.
#pragma once

#include <cuda/std/type_traits>

#include <tessera/config.hpp>
#include <tessera/tile/shape.hpp>

namespace tessera::inline v0_1 {

// Where a tile lives: in the registers of its block's lanes, or in the block's scratch. Given to a primitive as `registers` or `shared`.
struct registers_t {};
struct shared_t {};
inline constexpr registers_t registers{};
inline constexpr shared_t shared{};

// What a scatter into records returns in the place of previous values: nothing that can be used.
struct no_previous_values {};

// The facts about a tile type, for primitives that take tiles.
template <class Tile>
struct tile_traits {
  static_assert(!cuda::std::is_same_v<Tile, no_previous_values>,
                "a scatter target gives no previous values to the kernel: name an array for them with previous_out, or add into a view");
  static_assert(requires { typename Tile::shape_type; }, "this argument is no tile: make one with tile_load, tile_full or tile_arange");
  using value_type = typename Tile::value_type;
  using shape = typename Tile::shape_type;
  static constexpr int chunk = detail::chunk_elements<value_type, shape>();
  static constexpr int chunks = shape::size / chunk;
};

namespace detail {

// The rank of a tile type; 1 for what is none, so that it may stand in signatures: clang forms those before it asks their constraints.
template <class Tile>
inline constexpr int tile_rank = 1;
template <class Tile>
  requires requires { typename Tile::shape_type; }
inline constexpr int tile_rank<Tile> = Tile::shape_type::rank;

// Calls body(slot, first) for each chunk of the calling lane: `slot` counts the lane's chunks, `first` is the chunk's first element.
template <class Tile, class Block, class Body>
TESSERA_TILE void for_each_chunk(Block& block, Body const& body) {
  using traits = tile_traits<Tile>;
  constexpr int slots = (traits::chunks + Block::size - 1) / Block::size;
  TESSERA_UNROLL
  for (int slot = 0; slot < slots; ++slot) {
    int const chunk = slot * Block::size + block.rank();
    if (traits::chunks % Block::size == 0 || chunk < traits::chunks) body(slot, chunk * traits::chunk);
  }
}

// Two versions of the loop, chosen for the whole tile: body(fast, slot, first) with `fast` a true_type where every chunk may be accessed as
// one, so that the common case carries no bounds and few registers.
template <class Tile, class Block, class Body>
TESSERA_TILE void for_each_chunk(Block& block, bool fast, Body const& body) {
  if (fast) {
    for_each_chunk<Tile>(block, [&](int slot, int first) { body(cuda::std::true_type{}, slot, first); });
  } else {
    for_each_chunk<Tile>(block, [&](int slot, int first) { body(cuda::std::false_type{}, slot, first); });
  }
}

// Around everything that writes a tile's elements. Shared memory is synchronised before (others may still read what lay there) and after
// (others will read).
template <class Block, class Tile, class Write>
TESSERA_TILE void write_tile(Block& block, Tile&, Write const& write) {
  constexpr bool in_shared = cuda::std::is_same_v<typename Tile::storage_type, shared_t>;
  if constexpr (in_shared) block.sync();
  write();
  if constexpr (in_shared) block.sync();
}

// Fills a tile chunk by chunk: body(slot, first, values).
template <class Block, class Tile, class Body>
TESSERA_TILE void fill_tile(Block& block, Tile& tile, Body const& body) {
  write_tile(block, tile, [&] { for_each_chunk<Tile>(block, [&](int slot, int first) { body(slot, first, tile.chunk(slot, first)); }); });
}

}  // namespace detail

// Calls body(linear, value) for each element that the calling lane holds or works on; `linear` is its row-major position. Called by every
// lane.
template <class Block, class Tile, class Body>
TESSERA_TILE void for_each_element(Block& block, Tile& tile, Body const& body) {
  using traits = tile_traits<cuda::std::remove_const_t<Tile>>;
  detail::for_each_chunk<cuda::std::remove_const_t<Tile>>(block, [&](int slot, int first) {
    auto* const values = tile.chunk(slot, first);
    TESSERA_UNROLL
    for (int i = 0; i < traits::chunk; ++i) body(first + i, values[i]);
  });
}

}  // namespace tessera::inline v0_1
