// The nodes of D in front of each lane's piece: what a scan adds to it. This is the form for any block; lane_scan.cuh has the one for
// warps.
#pragma once

#include <cuda/std/cstdint>

#include <tessera/config.hpp>
#include <tessera/group/scratch.hpp>

namespace tessera::inline v0_1 {

// Piece c = slot * Block::size + rank, of `Pieces` in all, brings totals[slot]. For each of its pieces the calling lane gets apply(slot,
// node) for the nodes that D joins the pieces before into, nearest (smallest) first: D of everything before and a value x of the piece is
// node_k + (... + (node_0 + x)). `Backward` counts pieces from the last. Called by every lane; synchronises before and after its writes.
template <int Pieces, bool Backward, class Block, class T, class Combine, class Apply>
TESSERA_TILE void scan_lanes(Block& block, T const* totals, Combine const& combine, Apply const& apply) {
  // A binary counter over all pieces: its nodes are, at each piece, just those in front of it.
  auto const walk = [&](auto const& total_of) {
    T node[32];
    int depth = 0;
    for (int position = 0; position < Pieces; ++position) {
      int const piece = Backward ? Pieces - 1 - position : position;
      if (piece % Block::size == block.rank()) {
        for (int k = depth - 1; k >= 0; --k) apply(piece / Block::size, node[k]);
      }
      node[depth++] = total_of(piece);
      for (int full = position + 1; full % 2 == 0; full /= 2, --depth) node[depth - 2] = combine(node[depth - 2], node[depth - 1]);
    }
  };
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
