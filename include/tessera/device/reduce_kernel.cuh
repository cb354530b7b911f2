// The two kernels of a reduction: each block takes an aligned run of the array and publishes D of it; the block that came last collects the
// runs. Both give the same bits.
#pragma once

#include <cuda/std/cstdint>

#include <tessera/config.hpp>
#include <tessera/device/row_access.cuh>
#include <tessera/group/lap_barrier.cuh>
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
  int tiles;  // of a block's run, a power of two
};

// D of the first `used` of `Count` nodes, a power of two, on every lane of a warp.
template <int Count, class P, class Combine>
__device__ __forceinline__ P join_nodes(shared_values<P, Count>& nodes, int used, P const& absent, int lane, Combine const& combine) {
  constexpr int width = Count < 32 ? Count : 32, each = Count / width;
  P node[each];
#pragma unroll
  for (int k = 0; k < each; ++k) {
    int const i = lane % width * each + k;
    node[k] = i < used ? P(nodes[i]) : absent;
  }
  return join_lanes<width>(join_values(node, combine), lane % width, combine, [](int, P const&) {});
}

// What both kernels do.
template <class Arguments>
struct reduce_steps {
  using T = typename Arguments::value_type;
  using S = typename Arguments::source_type;
  using Operation = typename Arguments::operation_type;
  using pad = padded<Operation, T>;
  using P = typename pad::value_type;
  static constexpr int width = Arguments::width;

  // D of a warp's piece of `Rows` rows, from position `at` on.
  template <int Rows>
  __device__ __forceinline__ static P piece_node(Arguments const& a, cuda::std::int64_t at, int lane) {
    constexpr int piece = Rows * 32 * width;
    if (at >= a.count) return pad::absent();
    auto const& combine = pad::operation(a.operation);
    P node[Rows];
    auto const join_row = [&](int r, T const(&value)[width]) {
      P leaf[width];
#pragma unroll
      for (int v = 0; v < width; ++v) {
        leaf[v] = pad::present(value[v]);
        if constexpr (!has_identity<Operation, T>) {
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
      if constexpr (has_identity<Operation, T>) absent = pad::absent();
      tile_reader<forward, T, S>(a.in, place, absent).template for_each_row<false, Rows>(0, lane, join_row);
    }
    return join_rows(node, lane, combine);
  }

  // D of the 32 `Rows` runs from `first` on, by one warp; those from `runs` on are absent. Waits until they are there.
  template <int Rows>
  __device__ __forceinline__ static P collect(Arguments const& a, cuda::std::uint32_t run, unsigned first, unsigned runs, int lane) {
    P node[Rows];
    unsigned missing = 0;
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      node[r] = pad::absent();
      if (first + r * 32 + lane < runs) missing |= 1u << r;
    }
#pragma unroll 1
    while (missing != 0) {
      // All are read before one is looked at.
      T value[Rows];
      bool there[Rows];
#pragma unroll
      for (int r = 0; r < Rows; ++r) there[r] = a.words[min(first + r * 32 + lane, runs - 1)].read(run, value[r]);
#pragma unroll
      for (int r = 0; r < Rows; ++r) {
        if (!there[r] || (missing >> r & 1u) == 0) continue;
        node[r] = pad::present(value[r]);
        missing &= ~(1u << r);
      }
    }
    __syncwarp();
    return join_rows(node, lane, pad::operation(a.operation));
  }
};

// Short arrays: a run is what a block's warps read at once. One more warp joins their nodes, and in the block that came last it collects
// all runs: every other block runs or has run, it holds a smaller ticket.
template <int Threads, int Rows, int Collected, class Arguments>
__global__ __launch_bounds__(Threads + 32, 1) void reduce_short_kernel(__grid_constant__ Arguments const a) {
  using steps = reduce_steps<Arguments>;
  using pad = typename steps::pad;
  using P = typename steps::P;
  constexpr int warps = Threads / 32;
  __shared__ shared_values<P, warps> nodes;
  int const lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  constexpr int nodes_known = 1;
  if (warp < warps) {
    cuda::std::int64_t const at = (cuda::std::int64_t{blockIdx.x} * warps + warp) * (Rows * 32 * Arguments::width);
    P const node = steps::template piece_node<Rows>(a, at, lane);
    if (lane == 0) nodes[warp] = node;
    __syncwarp();
    meet(nodes_known);
    return;
  }
  unsigned const runs = gridDim.x;
  cuda::std::uint32_t runs_before = 0, base = 0, ticket = 0;
  if (runs > 1 && lane == 0) {
    runs_before = a.header->runs_so_far();
    base = a.header->base();
    ticket = a.header->take(0);
  }
  meet(nodes_known);
  P mine = join_nodes(nodes, warps, pad::absent(), lane, pad::operation(a.operation));
  if (runs > 1) {
    cuda::std::uint32_t run = 0;  // in the block that collects
    if (lane == 0) {
      a.words[blockIdx.x].publish(runs_before + 1u, pad::value(mine));
      if (ticket - base + 1u == runs) run = runs_before + 1u;
    }
    run = shuffle(run, 0);
    if (run == 0) return;
    mine = steps::template collect<Collected>(a, run, 0, runs, lane);
  }
  if (lane == 0) {
    *a.out = a.finish(pad::value(mine));
    if (runs > 1) a.header->finish(runs);
  }
}

// Long arrays: a block's run is a.tiles tiles, of which all warps read one after the other, for memory is read faster from one place on
// than from many. Up to `Tiles` of them are joined at a time. In the block that came last all threads collect.
template <int Threads, int Rows, int Tiles, int Collected, class Arguments>
__global__ __launch_bounds__(Threads, resident_blocks(Rows * Arguments::width * sizeof(typename Arguments::value_type) <= 64 ? 2048 : 1024,
                                                      Threads)) void reduce_long_kernel(__grid_constant__ Arguments const a) {
  using steps = reduce_steps<Arguments>;
  using pad = typename steps::pad;
  using P = typename steps::P;
  using i64 = cuda::std::int64_t;
  constexpr int warps = Threads / 32, piece = Rows * 32 * Arguments::width, tile_size = warps * piece;
  __shared__ shared_values<P, Tiles * warps> nodes[2];  // of the tiles that are joined, and of those that are read meanwhile
  __shared__ cuda::std::uint32_t shared_run;
  int const lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  auto const& combine = pad::operation(a.operation);
  unsigned const runs = gridDim.x;
  // On their way while the array is read: nothing is done with them before it has been.
  cuda::std::uint32_t runs_before = 0, base = 0, ticket = 0;
  if (threadIdx.x == 0) {
    runs_before = a.header->runs_so_far();
    base = a.header->base();
    ticket = a.header->take(0);
  }

  P mine = pad::absent();  // D of the run, in the first warp
  P counter[31];           // the nodes of Tiles, 2 Tiles, 4 Tiles .. tiles so far
  i64 at = (cuda::std::int64_t{blockIdx.x} * a.tiles * warps + warp) * piece;
#pragma unroll 1
  for (int done = 0;; at += tile_size) {
    int const batch = done / Tiles, in_batch = done % Tiles;
    P const node = steps::template piece_node<Rows>(a, at, lane);
    if (lane == 0) nodes[batch % 2][in_batch * warps + warp] = node;
    ++done;
    if (in_batch != Tiles - 1 && done != a.tiles) continue;
    __syncthreads();
    if (warp == 0) {
      mine = join_nodes(nodes[batch % 2], (in_batch + 1) * warps, pad::absent(), lane, combine);
      int level = 0;
#pragma unroll 1
      for (; (batch >> level & 1) != 0; ++level) mine = combine(counter[level], mine);
      if (done != a.tiles) counter[level] = mine;
    }
    if (done == a.tiles) break;
  }
  if (threadIdx.x == 0) {
    a.words[blockIdx.x].publish(runs_before + 1u, pad::value(mine));
    shared_run = ticket - base + 1u == runs ? runs_before + 1u : 0u;
  }
  __syncthreads();
  cuda::std::uint32_t const run = shared_run;
  if (run == 0) return;
  mine = steps::template collect<Collected>(a, run, static_cast<unsigned>(warp) * (32 * Collected), runs, lane);
  if (lane == 0) nodes[0][warp] = mine;
  __syncthreads();
  mine = join_nodes(nodes[0], warps, pad::absent(), lane, combine);
  if (threadIdx.x == 0) {
    *a.out = a.finish(pad::value(mine));
    a.header->finish(runs);
  }
}

}  // namespace tessera::inline v0_1::detail
