// Look-back without a chain: each tile publishes D of its own elements at once, and gathers the aligned nodes in front of it, whoever
// formed them. What a tile waits for are its predecessors' own sums, never their prefixes, so latency does not grow with the tile's number.
//
// Level 0 holds one node a tile, level l one for each 32^l tiles; the last tile of 32 joins them and publishes the next level's. The tiles'
// order is a ticket's: a tile waits for smaller tickets only, and those are held by blocks that run, under any scheduling.
#pragma once

#include <cstddef>

#include <cuda/std/cstdint>

#include <tessera/config.hpp>
#include <tessera/group/cuda_block.cuh>
#include <tessera/group/lane_scan.cuh>
#include <tessera/group/scratch.hpp>
#include <tessera/lookback/node_word.cuh>

namespace tessera::inline v0_1::detail {

// The start of a look-back's workspace, zeroed once. Runs are numbered; tickets go on from run to run.
struct lookback_header {
  cuda::std::uint32_t runs;         // finished
  cuda::std::uint32_t ticket_base;  // of the run that is on
  cuda::std::uint32_t ticket;       // next
  cuda::std::uint32_t unused[61];
};
static_assert(sizeof(lookback_header) == 256);

// A walk by ticket: blocks take tiles in the order in which they come. Where there is a block for each tile, each asks once; else each asks
// until there is no more.
struct ticket_walk {
  lookback_header* header;
  cuda::std::uint32_t tickets;  // that the run takes in all

  ticket_walk(lookback_header* h, cuda::std::int64_t tiles, cuda::std::int64_t blocks)
      : header(h), tickets(static_cast<cuda::std::uint32_t>(blocks < tiles ? tiles + blocks : tiles)) {}

  template <class Lanes>
  TESSERA_TILE cuda::std::int64_t first(Lanes& lanes, cuda::std::int64_t, cuda::std::int64_t) const {
    return take(lanes);
  }
  template <class Lanes>
  TESSERA_TILE cuda::std::int64_t next(Lanes& lanes, cuda::std::int64_t, cuda::std::int64_t blocks) const {
    return tickets > blocks ? take(lanes) : tickets;
  }

 private:
  template <class Lanes>
  TESSERA_TILE cuda::std::int64_t take(Lanes& lanes) const {
    scratch_array<cuda::std::uint32_t, 1, Lanes> taken(lanes);
    lanes.sync();
    NV_IF_TARGET(NV_IS_DEVICE, (if (lanes.rank() == 0) {
                   cuda::std::uint32_t const base = *static_cast<cuda::std::uint32_t volatile*>(&header->ticket_base);
                   taken[0] = atomicAdd(&header->ticket, 1u) - base;
                 }))
    lanes.sync();
    return taken[0];
  }
};

inline constexpr int lookback_levels = 6;

// Where the nodes of each level lie, in words from the first.
struct lookback_layout {
  cuda::std::int64_t tiles = 0, words = 0;
  cuda::std::int64_t level_at[lookback_levels] = {};
};
inline lookback_layout make_lookback_layout(cuda::std::int64_t tiles) {
  lookback_layout layout;
  layout.tiles = tiles;
  for (int level = 0; level < lookback_levels; ++level, tiles /= 32) {
    layout.level_at[level] = layout.words;
    layout.words += tiles;
  }
  return layout;
}

// One run's access to the workspace, by value in a kernel.
template <class T>
struct lookback {
  lookback_header* header;
  node_word<T>* words;
  lookback_layout layout;

  static std::size_t bytes(cuda::std::int64_t tiles) {
    return sizeof(lookback_header) + static_cast<std::size_t>(make_lookback_layout(tiles).words) * sizeof(node_word<T>);
  }

  // The number of this run. Read before anything is published.
  __device__ cuda::std::uint32_t run() const { return *static_cast<cuda::std::uint32_t volatile*>(&header->runs) + 1u; }

  // The nodes in front of `tile`, nearest first, into `nodes`; gives how many. Publishes what the tile completes: its own `total`, and the
  // joined nodes of the levels above. Called by one warp.
  template <class Combine>
  __device__ int gather(cuda::std::uint32_t run, cuda::std::int64_t tile, T const& total, Combine const& combine, T* nodes) const {
    constexpr unsigned warp = 0xFFFFFFFFu;
    int const lane = static_cast<int>(threadIdx.x) % 32;
    if (lane == 0) words[tile].publish(run, total);
    // The levels that arrays of ordinary size have are looked at before any is waited for.
    constexpr int ahead = 3;
    T early[ahead];
    bool arrived[ahead];
#pragma unroll
    for (int level = 0; level < ahead; ++level)
      arrived[level] = wanted(level, tile, lane) && word(level, tile, lane).read(run, early[level]);
    int found = 0;
    T own = total;
    bool completes = true;  // the tile is the last one of its node on the level below
#pragma unroll
    for (int level = 0; level < lookback_levels; ++level) {
      cuda::std::int64_t const node = tile >> (5 * level);
      if (node == 0) break;
      int const digit = static_cast<int>(node % 32);
      T value = own;
      if (lane < digit) {
        bool there = false;
        if (level < ahead) {
          value = early[level < ahead ? level : 0];
          there = arrived[level < ahead ? level : 0];
        }
        while (!there) {
          there = word(level, tile, lane).read(run, value);
          if (!there) __nanosleep(20);
        }
      }
      __syncwarp();
      T const joined = join_neighbours<32>(value, lane, warp, combine, [&](int j, T const& beside) {
        T const mine = __shfl_sync(warp, beside, digit);
        if (((digit >> j) & 1) != 0) {
          if (lane == 0) nodes[found] = mine;
          ++found;
        }
      });
      completes = completes && digit == 31;
      if (completes) {
        own = __shfl_sync(warp, joined, 0);
        if (lane == 0) words[layout.level_at[level + 1] + (node >> 5)].publish(run, own);
      }
    }
    __syncwarp();
    return found;
  }

  // Ends the run: the next one has another number. Called by one thread of the block of the last tile, after its gather: it has seen a word
  // of every block that has a tile, and the others only learn that there is none for them.
  __device__ void finish(ticket_walk const& walk) const {
    header->ticket_base += walk.tickets;
    header->runs += 1u;
  }

 private:
  // The word that a lane reads at a level: node `lane` of the 32 that the tile's node on that level belongs to.
  __device__ static bool wanted(int level, cuda::std::int64_t tile, int lane) {
    return lane < static_cast<int>((tile >> (5 * level)) % 32);
  }
  __device__ node_word<T> const& word(int level, cuda::std::int64_t tile, int lane) const {
    cuda::std::int64_t const node = tile >> (5 * level);
    return words[layout.level_at[level] + (node - node % 32 + lane)];
  }
};

}  // namespace tessera::inline v0_1::detail
