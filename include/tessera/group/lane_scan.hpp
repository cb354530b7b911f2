// All prefixes, by D, of a sequence that the lanes of a block hold in pieces. This is the form for any block; lane_scan.cuh has the one for
// warps, and gives the same bits.
#pragma once

#include <cuda/std/cstdint>

#include <tessera/config.hpp>
#include <tessera/dyadic.hpp>
#include <tessera/group/scratch.hpp>

namespace tessera::inline v0_1 {

// Piece c = slot * Block::size + rank of `Pieces` lies in values[slot], in the order of the scan: `Backward` counts pieces from the last,
// and `Width` (a power of two) values are a node of D. Each value becomes D of those up to and with it; with `Exclusive`, of those in front
// of it, and that of the scan's very first value is unspecified. A piece that does not exist has any values, which may be combined as well.
// Called by every lane; synchronises before and after its writes.
template <int Pieces, bool Backward, bool Exclusive, class Block, class T, int Slots, int Width, class Combine>
TESSERA_TILE void scan_lanes(Block& block, T (&values)[Slots][Width], Combine const& combine) {
  bool empty[static_cast<unsigned>(Slots)];  // the first value of a piece has no operands yet
  // D of everything before the piece and a value x of it is node_k + (... + (node_0 + x)): nearest (smallest) node first.
  auto const prepend = [&](int slot, T const& node) {
    for (int i = 0; i < Width; ++i) values[slot][i] = i == 0 && empty[slot] ? node : combine(node, values[slot][i]);
    empty[slot] = false;
  };
  // A binary counter over all pieces: its nodes are, at each piece, just those in front of it.
  auto const walk = [&](auto const& total_of) {
    T node[32];
    int depth = 0;
    for (int position = 0; position < Pieces; ++position) {
      int const piece = Backward ? Pieces - 1 - position : position;
      T const total = total_of(piece);
      if (piece % Block::size == block.rank()) {
        for (int k = depth - 1; k >= 0; --k) prepend(piece / Block::size, node[k]);
      }
      node[depth++] = total;
      for (int full = position + 1; full % 2 == 0; full /= 2, --depth) node[depth - 2] = combine(node[depth - 2], node[depth - 1]);
    }
  };
  T totals[static_cast<unsigned>(Slots)];
  for (int slot = 0; slot < Slots; ++slot) {
    if (slot * Block::size + block.rank() < Pieces) detail::scan_values<Width>(values[slot], combine);
    totals[slot] = values[slot][Width - 1];
    empty[slot] = Exclusive;
    if constexpr (Exclusive) {
      for (int i = Width - 1; i > 0; --i) values[slot][i] = values[slot][i - 1];
    }
  }
  if constexpr (Block::size == 1) {
    walk([&](int piece) { return totals[piece]; });
  } else {
    scratch_array<T, Pieces, Block> all(block);
    block.sync();
    for (int slot = 0; slot * Block::size + block.rank() < Pieces; ++slot) all[slot * Block::size + block.rank()] = totals[slot];
    block.sync();
    walk([&](int piece) { return all[piece]; });
  }
}

}  // namespace tessera::inline v0_1
