// Look-back without a chain: each tile publishes D of its own elements at once, and gathers the aligned nodes in front of it, whoever
// formed them. What a tile waits for are its predecessors' own sums, never their prefixes, so latency does not grow with the tile's number.
//
// Level 0 holds one node a tile, level l one for each 128^l tiles; the last tile of 128 joins them and publishes the next level's. A tile
// waits for smaller tiles only, and those are held by blocks that run, under any scheduling: a tile's number is a ticket, or the tile is
// claimed (tile_claims.cuh).
#pragma once

#include <cstddef>

#include <cuda/std/cstdint>

#include <tessera/config.hpp>
#include <tessera/dyadic.hpp>
#include <tessera/group/shuffle.cuh>
#include <tessera/group/warp_rows.cuh>
#include <tessera/lookback/node_word.cuh>

namespace tessera::inline v0_1::detail {

// The start of a look-back's workspace, zeroed once. Runs are numbered; tickets go on from run to run.
struct lookback_header {
  cuda::std::uint32_t runs;         // finished
  cuda::std::uint32_t ticket_base;  // of the run that is on
  cuda::std::uint32_t left;         // blocks that are done, where they are counted
  cuda::std::uint32_t unused[29];
  cuda::std::uint32_t ticket;      // next; in another cache line
  cuda::std::uint32_t started[2];  // blocks that know the run's number, where those are counted: of even and of odd runs
  cuda::std::uint32_t unused_too[29];

  // The number of this run; before the caller's first word of it is published.
  __device__ cuda::std::uint32_t run() const { return runs_so_far() + 1u; }
  __device__ cuda::std::uint32_t runs_so_far() const { return *static_cast<cuda::std::uint32_t const volatile*>(&runs); }
  __device__ cuda::std::uint32_t base() const { return *static_cast<cuda::std::uint32_t const volatile*>(&ticket_base); }
  // The caller's ticket, counted from 0 in each run.
  __device__ cuda::std::uint32_t take(cuda::std::uint32_t run_base) { return atomicAdd(&ticket, 1u) - run_base; }
  // Ends the run, which took `tickets` in all: the next one has another number. Called by one thread that has seen a word of every block
  // that publishes any; the others only learn that there is no ticket for them.
  __device__ void finish(cuda::std::uint32_t tickets) {
    ticket_base += tickets;
    runs += 1u;
  }
  // The same where no block sees words of all others: each of `blocks` blocks leaves, the last one ends the run.
  __device__ void leave(cuda::std::uint32_t blocks, cuda::std::uint32_t tickets) {
    if (atomicInc(&left, blocks - 1u) == blocks - 1u) finish(tickets);
  }
  // The same without tickets: each of `blocks` blocks starts when it has read the run's number, which is certain since the address depends
  // on it. Gives how many have started before; the last one finishes the run, with no tickets, at any time.
  __device__ cuda::std::uint32_t start(cuda::std::uint32_t run_number, cuda::std::uint32_t blocks) {
    return atomicInc(&started[run_number & 1u], blocks - 1u);
  }
};
static_assert(sizeof(lookback_header) == 256);

inline constexpr int lookback_levels = 5, lookback_radix_bits = 7;
inline constexpr int most_nodes_in_front = lookback_levels * lookback_radix_bits;

// Where the nodes of each level lie, in words from the first.
struct lookback_layout {
  cuda::std::int64_t level_at[lookback_levels] = {};
  cuda::std::int64_t words = 0;
};
inline lookback_layout make_lookback_layout(cuda::std::int64_t tiles) {
  lookback_layout layout;
  for (int level = 0; level < lookback_levels; ++level, tiles >>= lookback_radix_bits) {
    layout.level_at[level] = layout.words;
    layout.words += tiles > 0 ? tiles + 1 : 0;
  }
  return layout;
}

// One run's nodes, by value in a kernel.
template <class T>
struct lookback {
  node_word<T>* words;
  lookback_layout layout;

  static std::size_t bytes(cuda::std::int64_t tiles) {
    return static_cast<std::size_t>(make_lookback_layout(tiles).words) * sizeof(node_word<T>);
  }

  // Nodes are counted from a list's start: node 0 of a level begins there. `origin` is the tile in which the list starts; 0 where there is
  // one list.
  __device__ __forceinline__ void publish(cuda::std::uint32_t run, cuda::std::int64_t origin, cuda::std::int64_t tile,
                                          T const& total) const {
    words[origin + tile].publish(run, total);
  }

  // The nodes in front of `tile`, nearest first, into `nodes`; gives how many. Publishes the nodes of the levels above that the tile, whose
  // own node is `total`, completes; a tile that is not `whole`, at the end of its list, completes none. Called by one warp; `nodes` can be
  // read after it synchronises. `Pause` nanoseconds between looks.
  template <int Pause, class Combine>
  __device__ __forceinline__ int gather(cuda::std::uint32_t run, cuda::std::int64_t origin, cuda::std::int64_t tile, T const& total,
                                        Combine const& combine, T* nodes, bool whole = true) const {
    int const lane = static_cast<int>(threadIdx.x) % 32;
    T own = total;
    bool completes = whole;  // the tile is the last one of its node on the level below
    int found = 0;
#pragma unroll 1
    for (int level = 0; level < lookback_levels && (tile >> (lookback_radix_bits * level)) != 0; ++level) {
      int const digit = digit_of(tile, level), first = lane * 4;
      // Which of the lane's four words of the level lie in front of the tile.
      unsigned missing = first < digit ? (digit - first >= 4 ? 15u : (1u << (digit - first)) - 1u) : 0u;
      T node[4];
      look(run, origin, tile, level, lane, node, missing, total);
      while (__any_sync(full_warp, missing != 0)) {
        if constexpr (Pause > 0) __nanosleep(Pause);
        T seen[4];
        unsigned const before = missing;
        look(run, origin, tile, level, lane, seen, missing, own);
#pragma unroll
        for (int q = 0; q < 4; ++q) {
          if (((before & ~missing) >> q & 1u) != 0) node[q] = seen[q];
        }
      }
      completes = completes && digit == 127;
      if (completes && lane == 31) node[3] = own;
      int const last = digit / 4;  // the lane that holds the digit's own place
      T const pair = combine(node[0], node[1]);
      if ((digit & 1) != 0) {
        if (lane == last) nodes[found] = (digit & 2) != 0 ? node[2] : node[0];
        ++found;
      }
      if ((digit & 2) != 0) {
        if (lane == last) nodes[found] = pair;
        ++found;
      }
      T joined = combine(pair, combine(node[2], node[3]));
#pragma unroll
      for (int j = 0; j < 5; ++j) {
        if ((last >> j & 1) != 0) {
          if (lane == (last >> (j + 1)) << (j + 1)) nodes[found] = joined;
          ++found;
        }
        joined = join_beside(joined, lane, 1 << j, combine);
      }
      own = joined;
      if (completes && level + 1 < lookback_levels && lane == 0) at(origin, tile, level + 1).publish(run, own);
    }
    __syncwarp();
    return found;
  }

  // The same of one list by a warp that has nothing else to do, in blocks that run their code once: what those wait for most is their
  // instructions, so the code is short, and where the operator has an identity the warp goes through what is behind the last look once
  // before there is anything to look at. total(run, own) gives the run and the tile's own node, which it publishes, or gives up by false.
  // The node of 2^k tiles, for each bit k of the tile's number, comes to nodes[k]; `level_nodes` is room for 128. False where nodes are
  // still missing after `looks` looks; without end where that is negative.
  template <class Combine, class Total>
  __device__ __forceinline__ bool gather_rehearsed(cuda::std::uint32_t tile, int looks, Combine const& combine, T* nodes, T* level_nodes,
                                                   Total const& total) const {
    int const lane = static_cast<int>(threadIdx.x) % 32;
    bool rehearses = has_identity<Combine, T>, completes = true;
    int level = 0;
    cuda::std::uint32_t run = 0, node_number = tile;
    node_word<T>* of_level = words;
    T own{};
    if constexpr (has_identity<Combine, T>) own = combine.template identity<T>();
#pragma unroll 1
    for (;;) {
      if (level == 0 && !rehearses && !total(run, own)) return false;
      int const digit = static_cast<int>(node_number & 127u);
      if (!rehearses && digit != 0) {
        // Neighbouring lanes read neighbouring words, for many blocks read the same ones at once; all of them before one is looked at.
        node_word<T> const* from[4];
        unsigned missing = 0;
#pragma unroll
        for (int q = 0; q < 4; ++q) {
          from[q] = of_level + (node_number & ~127u) + static_cast<unsigned>(min(q * 32 + lane, digit - 1));
          if (q * 32 + lane < digit) missing |= 1u << q;
        }
#pragma unroll 1
        while (__any_sync(full_warp, missing != 0)) {
          if (looks >= 0 && looks-- == 0) return false;
          T seen[4];
          bool there[4];
#pragma unroll
          for (int q = 0; q < 4; ++q) there[q] = from[q]->read(run, seen[q]);
#pragma unroll
          for (int q = 0; q < 4; ++q) {
            if (!there[q] || (missing >> q & 1u) == 0) continue;
            level_nodes[q * 32 + lane] = seen[q];
            missing &= ~(1u << q);
          }
        }
        __syncwarp();
      }
      completes = completes && !rehearses && digit == 127;
      // What is not in front of the tile, and the tile's own place, is its own node.
      T node[4];
#pragma unroll
      for (int q = 0; q < 4; ++q) node[q] = !rehearses && lane * 4 + q < digit ? T(level_nodes[lane * 4 + q]) : own;
      __syncwarp();
      // Nodes whose bits are not set are written too, and not read.
      int const last = digit / 4;  // the lane that holds the digit's own place
      T const pair = combine(node[0], node[1]);
      if (lane == last) {
        nodes[0] = (digit & 2) != 0 ? node[2] : node[0];
        nodes[1] = pair;
      }
      T joined = combine(pair, combine(node[2], node[3]));
#pragma unroll
      for (int j = 0; j < 5; ++j) {
        if (lane == (last >> (j + 1)) << (j + 1)) nodes[2 + j] = joined;
        joined = join_beside(joined, lane, 1 << j, combine);
      }
      if (rehearses) {
        rehearses = false;
        completes = true;
        continue;
      }
      own = joined;
      ++level;
      node_number >>= lookback_radix_bits;
      nodes += lookback_radix_bits;
      if (!completes && node_number == 0) break;
      if (level == lookback_levels) break;
      of_level = words + layout.level_at[level];
      if (completes && lane == 0) of_level[node_number].publish(run, own);
      if (node_number == 0) break;
    }
    __syncwarp();
    return true;
  }

 private:
  __device__ __forceinline__ static int digit_of(cuda::std::int64_t tile, int level) {
    return static_cast<int>(tile >> (lookback_radix_bits * level)) & 127;
  }
  // The word of the node on `level` that the tile belongs to.
  __device__ __forceinline__ node_word<T>& at(cuda::std::int64_t origin, cuda::std::int64_t tile, int level) const {
    int const shift = lookback_radix_bits * level;
    return words[layout.level_at[level] + (origin >> shift) + (tile >> shift)];
  }
  // Reads the words whose bits are set in `missing` and clears the bits of those that are there; the others' values are anything.
  __device__ __forceinline__ void look(cuda::std::uint32_t run, cuda::std::int64_t origin, cuda::std::int64_t tile, int level, int lane,
                                       T (&value)[4], unsigned& missing, T const& anything) const {
    int const shift = lookback_radix_bits * level;
    node_word<T> const* const from =
        words + layout.level_at[level] + (origin >> shift) + (((tile >> shift) & ~cuda::std::int64_t{127}) + lane * 4);
    unsigned still = missing;
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      value[q] = anything;
      if ((missing >> q & 1u) != 0 && from[q].read(run, value[q])) still &= ~(1u << q);
    }
    missing = still;
  }
};

}  // namespace tessera::inline v0_1::detail
