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
      tile_place const place = place_of<forward>(a.in, a.count, a.contiguous, at, piece);
      T value[Rows][width];
      T absent{};
      if constexpr (has_identity<typename Arguments::operation_type, T>) absent = pad::absent();
      tile_reader<forward, T, S>(a.in, place, absent).read(lane * width, 32 * width, value);
#pragma unroll
      for (int r = 0; r < Rows; ++r) {
        P leaf[width];
#pragma unroll
        for (int v = 0; v < width; ++v) {
          leaf[v] = pad::present(value[r][v]);
          if constexpr (!has_identity<typename Arguments::operation_type, T>) {
            if (at + (r * 32 + lane) * width + v >= a.count) leaf[v] = pad::absent();
          }
        }
        node[r] = join_values(leaf, combine);
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
  // ticket. They are collected in order, `at_once` at a time.
  constexpr unsigned at_once = Threads * Collected;
  __shared__ cuda::std::uint32_t shared_run;
  unsigned const passes = (gridDim.x + at_once - 1) / at_once;
#pragma unroll 1
  for (unsigned pass = 0;; ++pass) {
    mine = reduce_warps<warps>(mine, totals, combine);
    if (pass == 0) {
      if (gridDim.x == 1) break;
      if (threadIdx.x == 0) {
        a.words[blockIdx.x].publish(runs_before + 1u, pad::value(mine));
        shared_run = ticket - base + 1u == gridDim.x ? runs_before + 1u : 0u;
      }
      __syncthreads();
      if (shared_run == 0) return;
    } else {
      int level = 0;
#pragma unroll 1
      for (; (((pass - 1) >> level) & 1) != 0; ++level) mine = combine(counter[level], mine);
      counter[level] = mine;
      if (pass == passes) break;
      __syncthreads();
    }
    cuda::std::uint32_t const run = shared_run;
    unsigned const begin = pass * at_once + threadIdx.x * Collected;
    P node[Collected];
    unsigned missing = 0;
#pragma unroll
    for (int v = 0; v < Collected; ++v) {
      node[v] = pad::absent();
      if (begin + v < gridDim.x) missing |= 1u << v;
    }
    while (missing != 0) {
      unsigned still = missing;
#pragma unroll
      for (int v = 0; v < Collected; ++v) {
        T value;
        if ((missing >> v & 1u) != 0 && a.words[begin + v].read(run, value)) {
          node[v] = pad::present(value);
          still &= ~(1u << v);
        }
      }
      missing = still;
    }
    __syncwarp();
    mine = join_lanes<32>(join_values(node, combine), lane, combine, [](int, P const&) {});
  }
  if (threadIdx.x == 0) {
    // What is left of the counter, smallest first.
    bool first_node = true;
#pragma unroll 1
    for (int level = 0; gridDim.x > 1 && (passes >> level) != 0; ++level) {
      if ((passes >> level & 1) == 0) continue;
      mine = first_node ? counter[level] : combine(counter[level], mine);
      first_node = false;
    }
    *a.out = a.finish(pad::value(mine));
    if (gridDim.x > 1) a.header->finish(gridDim.x);
  }
}

}  // namespace tessera::inline v0_1::detail
