// tile_reduce: the sum of a tile's elements by D, in row-major order.
#pragma once

#include <cuda/std/bit>

#include <tessera/accumulate.hpp>
#include <tessera/arithmetic.hpp>
#include <tessera/config.hpp>
#include <tessera/dyadic.hpp>
#include <tessera/group/lane_reduce.hpp>
#include <tessera/group/scratch.hpp>
#include <tessera/tile/tile.hpp>

namespace tessera::inline v0_1 {

namespace detail {

// Blocks whose size is no power of two: a lane's neighbours do not form aligned nodes, so the chunks' nodes are put in order in scratch,
// and each of the first bit_floor(size) lanes takes an aligned run of them.
template <class Traits, class Block, class Tile, class Combine>
TESSERA_TILE auto reduce_any_size(Block& block, Tile const& tile, Combine const& combine) {
  using T = typename Traits::value_type;
  constexpr int count = Traits::shape::size;
  constexpr int lanes = cuda::std::bit_floor(static_cast<unsigned>(Block::size));
  constexpr int run = static_cast<int>(cuda::std::bit_ceil(static_cast<unsigned>((Traits::chunks + lanes - 1) / lanes)));
  int const chunks = (count + Traits::chunk - 1) / Traits::chunk, runs = (chunks + run - 1) / run;
  scratch_array<T, Traits::chunks, Block> nodes(block);
  block.sync();
  for_each_chunk<Tile>(block, [&](int slot, int first) {
    T const* const values = tile.chunk(slot, first);
    if (first < count) {
      int const present = count - first < Traits::chunk ? count - first : Traits::chunk;
      nodes[first / Traits::chunk] = dyadic_node<Traits::chunk, Traits::chunk>([&](int i) { return values[i]; }, combine, 0, present);
    }
  });
  block.sync();
  auto const node = [&](cuda::std::int64_t i) { return nodes[static_cast<int>(i)]; };
  T mine{};
  if (block.rank() < runs) {
    int const begin = block.rank() * run;
    mine = dyadic_reduce(node, combine, begin, begin + run < chunks ? run : chunks - begin);
  }
  block.sync();
  if (block.rank() < runs) nodes[block.rank()] = mine;
  block.sync();
  return dyadic_reduce(node, combine, 0, runs);
}

// D of the elements of the tile, on every lane; a NaN as it comes.
template <class Block, class Tile, class Operation>
TESSERA_TILE auto reduce_tile(Block& block, Tile const& tile, Operation const& operation) {
  using traits = tile_traits<Tile>;
  using T = typename traits::value_type;
  constexpr int slots = (traits::chunks + Block::size - 1) / Block::size;
  if constexpr (!cuda::std::has_single_bit(static_cast<unsigned>(Block::size)) && slots > 1) {
    return reduce_any_size<traits>(block, tile, operation);
  } else {
    // Chunk slot * size + rank: lanes join first, then slots. Both are aligned, since the size is a power of two (or there is one slot).
    auto const chunk_node = [&](int slot) {
      int const first = (slot * Block::size + block.rank()) * traits::chunk;
      T const* const values = tile.chunk(slot, first < traits::shape::size ? first : 0);
      return dyadic_node<traits::chunk, traits::chunk>([&](int i) { return values[i]; }, operation, 0, traits::chunk);
    };
    if constexpr (Block::size == 1) {
      return dyadic_reduce([&](cuda::std::int64_t slot) { return chunk_node(static_cast<int>(slot)); }, operation, 0, traits::chunks);
    } else {
      T nodes[static_cast<unsigned>(slots)];
      TESSERA_UNROLL
      for (int slot = 0; slot < slots; ++slot) nodes[slot] = chunk_node(slot);
      return reduce_slots<traits::chunks>(block, nodes, operation);
    }
  }
}

}  // namespace detail

// D of all elements of the tile, row-major, on every lane; a NaN is canonical. `operation` is plus{} or any other operator, applied in the
// tree of D with the left operand first; elements are joined in their own type, so that tiles of f16 or bf16, and accumulate_as another
// type, do not compile. Called by every lane of the block; synchronises. Bits do not depend on the block's size.
template <class Block, class Tile, class Operation = plus>
TESSERA_TILE auto tile_reduce(Block& block, Tile const& tile, Operation const& operation = {}) {
  using T = typename tile_traits<Tile>::value_type;
  detail::check_tile_operation<Operation, T>();
  T const whole = detail::reduce_tile(block, tile, operation);
  return tile_traits<Tile>::shape::size > 1 ? canonical_result<Operation>(whole) : canonical(whole);
}

}  // namespace tessera::inline v0_1
