// The kernel of a reduction: each block takes an aligned run of the array and publishes D of it; the block that came last collects the
// runs.
#pragma once

#include <cuda/std/cstdint>

#include <tessera/config.hpp>
#include <tessera/device/row_access.cuh>
#include <tessera/group/possible.cuh>
#include <tessera/group/shared_values.cuh>
#include <tessera/group/warp_rows.cuh>
#include <tessera/launch/cuda_backend.cuh>
#include <tessera/lookback/lookback.cuh>

namespace tessera::inline v0_1::detail {

// What becomes of the sum: finish(sum) goes to *out.
template <class S, class T, class Operation, class Finish, class Out>
struct reduce_arguments {
  using source_type = S;
  using value_type = T;
  using operation_type = Operation;
  static constexpr int width = lane_width<S, T>;

  S in;
  cuda::std::int64_t count;
  bool contiguous;
  cuda::std::int64_t aligned;  // elements, from the first, that may be read in aligned 16-byte pieces: all or none
  Operation operation;
  Finish finish;
  Out* out;
  lookback_header* header;
  node_word<T>* words;
  int pieces;  // of a warp, a power of two
};

// D over the warps of a block, right on every lane of the first warp.
template <int Warps, class T, class Combine>
__device__ __forceinline__ T reduce_warps(T const& mine, shared_values<T, Warps>& totals, Combine const& combine) {
  int const lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  if constexpr (Warps == 1) return mine;
  if (lane == 0) totals[warp] = mine;
  __syncthreads();
  return join_lanes<Warps>(T(totals[lane % Warps]), lane % Warps, combine, [](int, T const&) {});
}

template <int Threads, int Rows, int Collected, class Arguments>
__global__ __launch_bounds__(Threads, resident_blocks(Rows * Arguments::width * sizeof(typename Arguments::value_type) <= 64 ? 2048 : 1024,
                                                      Threads)) void reduce_kernel(__grid_constant__ Arguments const a) {
  using T = typename Arguments::value_type;
  using S = typename Arguments::source_type;
  using pad = padded<typename Arguments::operation_type, T>;
  using P = typename pad::value_type;
  constexpr int width = Arguments::width, warps = Threads / 32, piece = Rows * 32 * width;
  __shared__ shared_values<P, warps> totals;
  int const lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  auto const& combine = pad::operation(a.operation);
  // On their way while the array is read: nothing is done with them before it has been.
  cuda::std::uint32_t runs_before = 0, base = 0, ticket = 0;
  if (gridDim.x > 1 && threadIdx.x == 0) {
    runs_before = a.header->runs_so_far();
    base = a.header->base();
    ticket = a.header->take(0);
  }

  // A warp's pieces lie one behind the other.
  cuda::std::int64_t const first = (cuda::std::int64_t{blockIdx.x} * warps + warp) * a.pieces * piece;
  P counter[31];  // the nodes of 1, 2, 4 .. pieces so far
  P mine = pad::absent();
#pragma unroll 1
  for (int i = 0; i < a.pieces; ++i) {
    cuda::std::int64_t const at = first + cuda::std::int64_t{i} * piece;
    P node[Rows];
    if (at < a.count) {
      auto const join_row = [&](int r, T const(&value)[width]) {
        P leaf[width];
#pragma unroll
        for (int v = 0; v < width; ++v) {
          leaf[v] = pad::present(value[v]);
          if constexpr (!has_identity<typename Arguments::operation_type, T>) {
            if (at + (r * 32 + lane) * width + v >= a.count) leaf[v] = pad::absent();
          }
        }
        node[r] = join_values(leaf, combine);
      };
      bool has_been_read = false;
      if constexpr (has_vectors<S>) {
        has_been_read = at + piece <= a.aligned;
        if (has_been_read) {
          tile_place const place = aligned_place_of<forward>(a.in, a.count, at, piece);
          tile_reader<forward, T, S>(a.in, place).template for_each_row<true, Rows>(0, lane, join_row);
        }
      }
      if (!has_been_read) {
        tile_place const place = place_of<forward>(a.in, a.count, a.contiguous, at, piece);
        T absent{};
        if constexpr (has_identity<typename Arguments::operation_type, T>) absent = pad::absent();
        tile_reader<forward, T, S>(a.in, place, absent).template for_each_row<false, Rows>(0, lane, join_row);
      }
    } else {
#pragma unroll
      for (int r = 0; r < Rows; ++r) node[r] = pad::absent();
    }
    exchange_rows<Rows, 0>(node, lane, combine);
    // Lane l has joined as many lanes as there are rows, of row l % Rows.
    mine = node[0];
#pragma unroll
    for (int d = Rows; d < 32; d *= 2) mine = join_beside(mine, lane, d, combine);
#pragma unroll
    for (int d = 1; d < Rows; d *= 2) mine = join_beside(mine, lane, d, combine);
    int level = 0;
#pragma unroll 1
    for (; (i >> level & 1) != 0; ++level) mine = combine(counter[level], mine);
    if (i + 1 < a.pieces) counter[level] = mine;
  }

  // First the block's own sum, then, in the block that came last, those of all: every other block runs or has run, it holds a smaller
  // ticket. They are collected in order, `at_once` at a time; by the first warp alone where it holds them all.
  constexpr unsigned at_once = Threads * Collected;
  __shared__ cuda::std::uint32_t shared_run;
  unsigned const passes = (gridDim.x + at_once - 1) / at_once;
  bool const one_warp = gridDim.x <= 32 * Collected;
  cuda::std::uint32_t run = 0;  // in the block that collects
#pragma unroll 1
  for (unsigned pass = 0;; ++pass) {
    mine = reduce_warps<warps>(mine, totals, combine);
    if (pass == 0) {
      if (gridDim.x == 1) break;
      cuda::std::uint32_t collects = 0;
      if (threadIdx.x == 0) {
        a.words[blockIdx.x].publish(runs_before + 1u, pad::value(mine));
        if (ticket - base + 1u == gridDim.x) collects = runs_before + 1u;
      }
      if (one_warp) {
        if (warp > 0) return;
        run = shuffle(collects, 0);
      } else {
        if (threadIdx.x == 0) shared_run = collects;
        __syncthreads();
        run = shared_run;
      }
      if (run == 0) return;
    } else {
      if (passes == 1) break;
      int level = 0;
#pragma unroll 1
      for (; (((pass - 1) >> level) & 1) != 0; ++level) mine = combine(counter[level], mine);
      counter[level] = mine;
      if (pass == passes) break;
      __syncthreads();
    }
    unsigned const begin = pass * at_once + threadIdx.x * Collected;
    P node[Collected];
    unsigned missing = 0;
#pragma unroll
    for (int v = 0; v < Collected; ++v) {
      node[v] = pad::absent();
      if (begin + v < gridDim.x) missing |= 1u << v;
    }
#pragma unroll 1
    while (missing != 0) {
      // All are read before one is looked at.
      T value[Collected];
      bool there[Collected];
#pragma unroll
      for (int v = 0; v < Collected; ++v) there[v] = a.words[min(begin + v, gridDim.x - 1)].read(run, value[v]);
#pragma unroll
      for (int v = 0; v < Collected; ++v) {
        if (!there[v] || (missing >> v & 1u) == 0) continue;
        node[v] = pad::present(value[v]);
        missing &= ~(1u << v);
      }
    }
    __syncwarp();
    mine = join_lanes<32>(join_values(node, combine), lane, combine, [](int, P const&) {});
    if (one_warp) break;
  }
  if (threadIdx.x == 0) {
    // What is left of the counter, smallest first.
    bool first_node = true;
#pragma unroll 1
    for (int level = 0; passes > 1 && (passes >> level) != 0; ++level) {
      if ((passes >> level & 1) == 0) continue;
      mine = first_node ? counter[level] : combine(counter[level], mine);
      first_node = false;
    }
    *a.out = a.finish(pad::value(mine));
    if (gridDim.x > 1) a.header->finish(gridDim.x);
  }
}

}  // namespace tessera::inline v0_1::detail
