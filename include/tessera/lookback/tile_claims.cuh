// Tiles that belong to blocks by number, under any scheduling: a block claims the tile of its own number while it reads it, and a block
// that waits in vain for its neighbours does the tiles of blocks that have not started.
//
// A claim is taken once in a run. Whoever claims a tile publishes it without waiting for anything, and a tile waits for smaller tiles only.
// Hence what lies in front of a tile will come once all tiles below it are claimed, by blocks that run: that follows for one tile after the
// other.
#pragma once

#include <cuda/std/cstdint>

#include <tessera/config.hpp>
#include <tessera/group/shuffle.cuh>

namespace tessera::inline v0_1::detail {

// One run's claims, by value in a kernel. Nothing is cleared between runs, and runs of other sizes may keep nodes where the claims of this
// one lie: a word of both carries its run in the upper half, a claim with the first bit turned.
struct tile_claims {
  using word_type = cuda::std::uint64_t;
  word_type* words;

  // Claims a tile; what was there before says, as soon as it has come, whether the tile is the caller's.
  __device__ __forceinline__ word_type claim(cuda::std::uint32_t run, cuda::std::uint32_t tile) const {
    return atomicExch(reinterpret_cast<unsigned long long*>(words + tile), word_of(run));
  }
  __device__ __forceinline__ static bool was_open(cuda::std::uint32_t run, word_type before) { return before != word_of(run); }
  __device__ __forceinline__ bool claimed(cuda::std::uint32_t run, cuda::std::uint32_t tile) const {
    return !was_open(run, *static_cast<word_type const volatile*>(words + tile));
  }

  // Claims the lowest tile from `from` on, below `end`, that nobody has claimed; gives `end` where all are. Called by one warp.
  __device__ __forceinline__ cuda::std::uint32_t claim_next(cuda::std::uint32_t run, cuda::std::uint32_t from,
                                                            cuda::std::uint32_t end) const {
    cuda::std::uint32_t const lane = threadIdx.x % 32;
#pragma unroll 1
    while (from < end) {
      unsigned const open = __ballot_sync(full_warp, from + lane < end && !claimed(run, from + lane));
      if (open == 0) {
        from += 32;
        continue;
      }
      from += static_cast<unsigned>(__ffs(static_cast<int>(open)) - 1);
      if (__any_sync(full_warp, lane == 0 && was_open(run, claim(run, from)))) return from;
    }
    return end;
  }

 private:
  __device__ __forceinline__ static word_type word_of(cuda::std::uint32_t run) { return (word_type{run ^ 0x80000000u} << 32) | run; }
};

}  // namespace tessera::inline v0_1::detail
