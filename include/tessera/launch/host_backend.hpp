// The host backend: launch_tiled without a GPU, the same kernels and the same bits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>

#include <tessera/config.hpp>
#include <tessera/group/atomic.hpp>
#include <tessera/group/host_block.hpp>
#include <tessera/launch/host_runtime.hpp>
#include <tessera/launch/launch_argument.hpp>
#include <tessera/launch/walk.hpp>

namespace tessera::inline v0_1 {

// Runs tiles on the machine's cores. With one lane a block is a plain loop on one core; with 4 or 8 it is that many threads and a barrier.
template <int Lanes = 1>
struct host_backend {
  // Cores to use, 0: all of them.
  int cores = 0;
};

// Runs functor(block, arguments...) for each logical tile of the grid, on all cores; returns when all have ended. `Threads` and
// `ResidentThreads` are for CUDA and have no meaning here. The functor is called by several threads at once. An exception in a tile is
// thrown here after the others stopped. The threads' floating-point mode is set for the time of the call (nearest, subnormals kept).
template <int Threads = 128, int ScratchBytes = default_scratch_bytes, int ResidentThreads = default_resident_threads, int Lanes,
          class Functor, class... Arguments>
void launch_tiled(host_backend<Lanes> const& backend, tile_grid const& grid, Functor const& functor, Arguments&&... arguments) {
  detail::check_grid(grid);
  detail::check_host_arithmetic();
  {
    auto const kernel_arguments = detail::begin_launches(backend, grid, std::forward<Arguments>(arguments)...);
    std::int64_t const tiles = grid.count();
    if (tiles > 0) {
      std::int64_t teams = std::min<std::int64_t>(tiles, detail::host_teams(backend.cores, Lanes));
      if (grid.cap() > 0) teams = std::min(teams, grid.cap());
      auto const lane_body = [&](detail::host_lane const& lane) {
        static_stride const walk{};
        host_block<Lanes, ScratchBytes> lanes(grid, -1, *lane.team, lane.scratch, lane.rank);
        for (std::int64_t tile = walk.first(lanes, lane.team_index, teams); tile < tiles; tile = walk.next(lanes, tile, teams)) {
          std::apply(
              [&](auto const&... kernel_argument) {
                host_block<Lanes, ScratchBytes> block(grid, tile, *lane.team, lane.scratch, lane.rank);
                functor(block, kernel_argument...);
              },
              kernel_arguments);
        }
      };
      detail::run_host_teams(static_cast<int>(teams), Lanes, ScratchBytes, lane_body);
    }
  }
  (detail::end_launch(backend, arguments), ...);
}

}  // namespace tessera::inline v0_1
