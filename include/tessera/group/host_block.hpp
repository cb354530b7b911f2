// The host's block. One lane is a plain loop; N lanes are N threads with a barrier between them, which is how a missing barrier is found
// without a GPU.
#pragma once

#include <cstddef>
#include <string>

#include <nv/target>

#include <tessera/config.hpp>
#include <tessera/error.hpp>
#include <tessera/group/block_position.hpp>
#include <tessera/group/scratch.hpp>

namespace tessera::inline v0_1 {

namespace detail {

// What the lanes of one host block share: a barrier and the scratch. Defined in src/host/team.cpp.
class host_team;
void host_team_sync(host_team& team);

}  // namespace detail

template <int Lanes, int ScratchBytes = default_scratch_bytes>
class host_block : public block_position {
  static_assert(Lanes >= 1 && Lanes <= 64, "a host block has 1 to 64 lanes");

 public:
  static constexpr int size = Lanes;
  static constexpr int scratch_bytes = ScratchBytes;

  host_block(tile_grid const& grid, std::int64_t tile_id, detail::host_team& team, std::byte* scratch, int rank)
      : block_position(grid, tile_id), team_(&team), scratch_(reinterpret_cast<cuda::std::byte*>(scratch)), rank_(rank) {}

  TESSERA_TILE int rank() const { return rank_; }
  TESSERA_TILE scratch_stack& scratch() { return scratch_; }

  // All lanes reach it before any goes on. Throws on the others when one lane left by an exception.
  TESSERA_TILE void sync() {
    if constexpr (Lanes > 1) {
      NV_IF_TARGET(NV_IS_HOST, (detail::host_team_sync(*team_);))
    }
  }

  TESSERA_TILE void scratch_overflow(int needed) const {
    NV_IF_TARGET(NV_IS_HOST, (throw usage_error("block scratch: the tiles alive at once need " + std::to_string(needed) + " bytes, the block has " +
                                                std::to_string(ScratchBytes) + ": launch_tiled<threads, scratch_bytes>");))
  }

 private:
  detail::host_team* team_;
  scratch_stack scratch_;
  int rank_;
};

}  // namespace tessera::inline v0_1
