// How a block gets its next logical tile: a policy of the launch, by value. Static stride: block b of B takes tiles b, b + B, b + 2B, ...
#pragma once

#include <cuda/std/cstdint>

#include <tessera/config.hpp>

namespace tessera::inline v0_1 {

// A walk has first(lanes, block, blocks) and next(lanes, tile, blocks), called by every lane of a block together and the same on each; it
// ends at the first tile that the grid does not have. `lanes` is a block without a tile: rank, sync and scratch, for walks that ask
// somebody.
struct static_stride {
  template <class Lanes>
  TESSERA_TILE constexpr cuda::std::int64_t first(Lanes&, cuda::std::int64_t block, cuda::std::int64_t) const {
    return block;
  }
  template <class Lanes>
  TESSERA_TILE constexpr cuda::std::int64_t next(Lanes&, cuda::std::int64_t tile, cuda::std::int64_t blocks) const {
    return tile + blocks;
  }
};

}  // namespace tessera::inline v0_1
