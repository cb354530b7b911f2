// D over the lanes of a block: lane i brings leaf i. This is the form for any block; warps have their own (lane_reduce.cuh), and give the
// same bits.
#pragma once

#include <cuda/std/bit>

#include <tessera/config.hpp>
#include <tessera/dyadic.hpp>
#include <tessera/group/scratch.hpp>

namespace tessera::inline v0_1 {

// D of the values of lanes 0 .. count - 1, count in 1 .. Block::size, on every lane. Synchronises before and after its writes.
template <class Block, class T, class Combine>
TESSERA_TILE T reduce_lanes(Block& block, T value, int count, Combine const& combine) {
  if constexpr (Block::size == 1) {
    return value;
  } else {
    scratch_array<T, Block::size, Block> leaves(block);
    block.sync();
    leaves[block.rank()] = value;
    block.sync();
    return dyadic_reduce([&](cuda::std::int64_t i) { return leaves[static_cast<int>(i)]; }, combine, 0, count);
  }
}

// D of `Pieces` nodes, of which number slot * Block::size + rank lies in nodes[slot], on every lane; the block's size is a power of two, or
// there is one slot. Synchronises before and after its writes.
template <int Pieces, class Block, class T, int Slots, class Combine>
TESSERA_TILE T reduce_slots(Block& block, T const (&nodes)[Slots], Combine const& combine) {
  constexpr int leaves = static_cast<int>(cuda::std::bit_ceil(static_cast<unsigned>(Slots)));
  T whole[static_cast<unsigned>(Slots)];
  TESSERA_UNROLL
  for (int slot = 0; slot < Slots; ++slot) {
    int const present = Pieces - slot * Block::size;
    whole[slot] = reduce_lanes(block, nodes[slot], present < Block::size ? present : Block::size, combine);
  }
  return dyadic_node<leaves, leaves>([&](int i) { return whole[i < Slots ? i : 0]; }, combine, 0, Slots);
}

}  // namespace tessera::inline v0_1
