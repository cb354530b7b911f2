// The launch grid that the user asked for, and a block's place in it.
#pragma once

#include <cuda/std/cstdint>

#include <tessera/config.hpp>
#include <tessera/view.hpp>

namespace tessera::inline v0_1 {

// A 1- to 3-dimensional grid of logical tiles; dimension 0 is the slowest. `cap` bounds how many blocks walk it (0: no bound): a capped
// grid gives the same logical tiles to fewer blocks. An extent of 0 is an empty grid.
class tile_grid {
 public:
  TESSERA_TILE constexpr explicit tile_grid(index64 tiles0, index64 tiles1 = 1, index64 tiles2 = 1)
      : tiles_{tiles0.value, tiles1.value, tiles2.value} {}

  // The same grid, walked by at most `blocks` blocks.
  [[nodiscard]] TESSERA_TILE constexpr tile_grid capped(index64 blocks) const {
    tile_grid result = *this;
    result.cap_ = blocks.value;
    return result;
  }

  TESSERA_TILE constexpr cuda::std::int64_t tiles(int d) const { return tiles_[d]; }
  TESSERA_TILE constexpr bool count_is_zero() const { return tiles_[0] == 0 || tiles_[1] == 0 || tiles_[2] == 0; }
  TESSERA_TILE constexpr cuda::std::int64_t count() const { return count_is_zero() ? 0 : tiles_[0] * tiles_[1] * tiles_[2]; }
  TESSERA_TILE constexpr cuda::std::int64_t cap() const { return cap_; }

 private:
  cuda::std::int64_t tiles_[3];
  cuda::std::int64_t cap_ = 0;
};

// The smallest count of `divisor`-sized pieces that cover `n`; n >= 0, divisor > 0.
TESSERA_TILE constexpr cuda::std::int64_t ceil_div(index64 n, index64 divisor) {
  return n.value / divisor.value + (n.value % divisor.value != 0 ? 1 : 0);
}

// The logical tile that a block works on. Base of every block type.
class block_position {
 public:
  TESSERA_TILE constexpr block_position(tile_grid const& grid, cuda::std::int64_t tile_id) : grid_(grid), tile_id_(tile_id) {}

  // Row-major index of the logical tile in the grid; never blockIdx.
  TESSERA_TILE constexpr cuda::std::int64_t tile_id() const { return tile_id_; }

  // Coordinate of the logical tile along grid dimension d = 0, 1, 2.
  TESSERA_TILE constexpr cuda::std::int64_t tile_index(int d) const {
    if (d == 2) return tile_id_ % grid_.tiles(2);
    cuda::std::int64_t const rest = grid_.tiles(2) == 1 ? tile_id_ : tile_id_ / grid_.tiles(2);
    if (grid_.tiles(1) == 1) return d == 1 ? 0 : rest;
    return d == 1 ? rest % grid_.tiles(1) : rest / grid_.tiles(1);
  }

  // Tiles of the grid along dimension d.
  TESSERA_TILE constexpr cuda::std::int64_t tile_count(int d) const { return grid_.tiles(d); }

 private:
  tile_grid grid_;
  cuda::std::int64_t tile_id_;
};

}  // namespace tessera::inline v0_1
