// How a block gets its next logical tile: a policy of the launch. Static stride: block b of B takes tiles b, b + B, b + 2B, ...
#pragma once

#include <cuda/std/cstdint>

#include <tessera/config.hpp>

namespace tessera::inline v0_1 {

// A walk has first(block, blocks) and next(tile, blocks); it ends at the first tile that the grid does not have.
struct static_stride {
  TESSERA_TILE static constexpr cuda::std::int64_t first(cuda::std::int64_t block, cuda::std::int64_t) { return block; }
  TESSERA_TILE static constexpr cuda::std::int64_t next(cuda::std::int64_t tile, cuda::std::int64_t blocks) { return tile + blocks; }
};

}  // namespace tessera::inline v0_1
