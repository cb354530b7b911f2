// The two kernels of a scan: a block a tile for arrays of ordinary size and for sources that are read by index, and blocks of warps with
// roles that stream long contiguous arrays. Both give the same bits.
#pragma once

#include <cuda/ptx>
#include <cuda/std/cstdint>
#include <cuda/std/type_traits>
#include <nv/target>

#include <tessera/accumulate.hpp>
#include <tessera/config.hpp>
#include <tessera/device/row_access.cuh>
#include <tessera/group/lap_barrier.cuh>
#include <tessera/group/shared_values.cuh>
#include <tessera/group/warp_rows.cuh>
#include <tessera/launch/cuda_backend.cuh>
#include <tessera/lookback/lookback.cuh>
#include <tessera/lookback/tile_claims.cuh>

namespace tessera::inline v0_1::detail {

template <scan_direction Direction, bool Exclusive, class S, class Out, class T, class Operation>
struct scan_arguments {
  static constexpr scan_direction direction = Direction;
  static constexpr bool exclusive = Exclusive;
  using source_type = S;
  using output_type = Out;
  using value_type = T;
  using operation_type = Operation;
  static constexpr int width = lane_width<S, T>;

  S in;
  Out out;
  cuda::std::int64_t count;
  cuda::std::uint32_t tiles;
  cuda::std::uint32_t tickets;  // that the run takes in all
  bool has_initial;
  bool in_contiguous, out_contiguous;
  T initial;
  Operation operation;
  lookback_header* header;
  lookback<T> nodes;
  // Of a block a tile:
  tile_claims claims;
  cuda::std::uint32_t aligned_in, aligned_out;  // tiles that are read and written in aligned pieces

  __device__ __forceinline__ tile_place place_of(cuda::std::int64_t first, int size) const {
    return detail::place_of<Direction>(in, count, in_contiguous, first, size);
  }

  // Makes the final values of prefixes; `starts` says that the first of them is the prefix of nothing, if the scan is exclusive.
  template <int Rows>
  __device__ __forceinline__ void finish(T (&prefix)[Rows][width], bool starts) const {
    if (Exclusive || has_initial) {
#pragma unroll
      for (int i = 0; i < Rows * width; ++i) prefix[i / width][i % width] = operation(initial, prefix[i / width][i % width]);
    }
    make_canonical(prefix);
    if (Exclusive && starts) prefix[0][0] = initial;
  }
};

// ---- a block a tile

// Which tile a block begins with, and how often it looks for missing neighbours before it does the tiles of blocks that have not started:
// some tenths of a millisecond, longer than any tile takes, for it has to read its own again. No bit depends on either.
struct tiles_in_order {
  static constexpr int looks = 1024;
  __device__ __forceinline__ static cuda::std::uint32_t tile_of(cuda::std::uint32_t block, cuda::std::uint32_t) { return block; }
};

// What the warps of scan_tiles_kernel tell each other.
template <class T, int Warps>
struct scan_tiles_state {
  // Bits of what is to be done: to write the tile, for what lies in front of it is known; to end, for the tile is the block's own and
  // written, or another block's.
  static constexpr unsigned write = 1, end = 2;
  shared_values<T, Warps> warp_totals;
  shared_values<T, 128> level_nodes;
  shared_values<T, most_nodes_in_front> in_front;
  cuda::std::uint32_t next_tile;
  unsigned to_do;
};

// `Threads` threads scan a tile, which they read at once. One more warp, if there are several tiles, claims it meanwhile, publishes its sum
// and looks back. A block that has to help does so before it writes its own tile, which it then reads again; by then all tiles below its
// own are claimed, so it waits without end.
template <int Threads, int Rows, class Order, class Arguments>
__global__ __launch_bounds__(Threads + 32,
                             resident_blocks(Rows * Arguments::width * sizeof(typename Arguments::value_type) <= 64 ? 1152 : 864,
                                             Threads + 32)) void scan_tiles_kernel(__grid_constant__ Arguments const a) {
  using T = typename Arguments::value_type;
  using S = typename Arguments::source_type;
  using u32 = cuda::std::uint32_t;
  constexpr int width = Arguments::width, warps = Threads / 32, piece = Rows * 32 * width, tile_size = warps * piece;
  // Where the warps meet.
  constexpr int totals_known = 1, look_back_done = 2;
  using state = scan_tiles_state<T, warps>;
  __shared__ state s;
  int const lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  u32 const own = Order::tile_of(blockIdx.x, a.tiles);
  u32 tile = own;
  if (warp == warps) {
    u32 const runs = a.header->runs_so_far();
    u32 started_before = 0;
    bool starts = true;
    u32 search_from = 0;
    int looks = Order::looks;
#pragma unroll 1
    for (;;) {
      bool taken = false;
      bool const gathered =
          a.nodes.gather_rehearsed(tile, looks, a.operation, s.in_front.data(), s.level_nodes.data(), [&](u32& run, T& node) {
            // Here, and not before the rehearsal, is the run's number waited for.
            asm volatile("add.u32 %0, %1, 1;" : "=r"(run) : "r"(runs));
            tile_claims::word_type claimed_before = 0;
            if (starts && lane == 0) {
              claimed_before = a.claims.claim(run, own);
              started_before = a.header->start(run, a.tiles);
            }
            meet(totals_known);
            node = s.warp_totals[lane % warps];
#pragma unroll
            for (int d = 1; d < warps; d *= 2) node = join_beside(node, lane, d, a.operation);
            taken = __any_sync(full_warp, !tile_claims::was_open(run, claimed_before));
            if (lane == 0 && tile + 1 < a.tiles && !taken) a.nodes.publish(run, 0, tile, node);
            return !taken;
          });
      bool const ends = taken || (gathered && tile == own);
      if (lane == 0) s.to_do = (gathered ? state::write : 0u) | (ends ? state::end : 0u);
      __syncwarp();
      meet(look_back_done);
      if (starts && lane == 0 && started_before + 1u == a.tiles) a.header->finish(0);
      if (ends) return;
      starts = false;
      looks = -1;
      tile = a.claims.claim_next(runs + 1u, search_from, own);
      search_from = tile + 1;
      if (lane == 0) s.next_tile = tile;
      __syncwarp();
      meet(look_back_done);
    }
  }
#pragma unroll 1
  for (;;) {
    cuda::std::int64_t const first = cuda::std::int64_t{tile} * tile_size;
    warp_prefixes<Arguments::exclusive, T, Rows, width, typename Arguments::operation_type> prefixes;
    auto const read = [&](auto aligned, tile_place const& place) {
      tile_reader<Arguments::direction, T, S> const reader(a.in, place);
      reader.template read<aligned()>(warp * Rows, lane, prefixes.rows.value);
    };
    bool read_already = false;
    if constexpr (has_vectors<S>) {
      read_already = tile < a.aligned_in;
      if (read_already) read(cuda::std::true_type{}, aligned_place_of<Arguments::direction>(a.in, a.count, first, tile_size));
    }
    if (!read_already) read(cuda::std::false_type{}, a.place_of(first, tile_size));
    T const total = prefixes.template scan<1>(lane, a.operation);
    if (lane == 31) s.warp_totals[warp] = total;
    __syncwarp();
    meet(totals_known);

    T node = s.warp_totals[lane % warps];
#pragma unroll 1
    for (int j = 0; (1 << j) < warps; ++j) {
      T const before = shuffle(node, (warp >> (j + 1)) << (j + 1));
      if ((warp >> j & 1) != 0) prefixes.prepend(before, a.operation);
      node = join_beside(node, lane, 1 << j, a.operation);
    }
    unsigned to_do = state::write | state::end;
    if (a.tiles > 1) {
      meet(look_back_done);
      to_do = s.to_do;
    }
    if ((to_do & state::write) != 0) {
#pragma unroll 1
      for (u32 bits = tile; bits != 0; bits &= bits - 1u) prefixes.prepend(s.in_front[__ffs(static_cast<int>(bits)) - 1], a.operation);
      prefixes.settle(a.operation);
      a.finish(prefixes.rows.value, tile == 0 && threadIdx.x == 0);
      bool written = false;
      if constexpr (sizeof(typename Arguments::output_type::element_type) * width == 16) {
        written = tile < a.aligned_out;
        if (written)
          write_rows<Arguments::direction, true>(a.out, a.count, first + warp * piece, lane, a.out_contiguous, prefixes.rows.value);
      }
      if (!written) write_rows<Arguments::direction>(a.out, a.count, first + warp * piece, lane, a.out_contiguous, prefixes.rows.value);
    }
    if ((to_do & state::end) != 0) return;
    meet(look_back_done);
    tile = s.next_tile;
  }
}

// ---- long arrays

// Shape of a streaming scan: a tile is `chunks` pieces of `rows` rows of 512 bytes, one scanner warp each.
template <class S, class T>
struct stream_shape {
  static constexpr int width = lane_width<S, T>;
  static constexpr int chunks = sizeof(T) <= 4 ? 16 : 8;
  static constexpr int values = sizeof(T) <= 8 ? 16 : 8;  // of a lane
  static constexpr int rows = values / width;
  static constexpr int tile_rows = chunks * rows, tile_size = chunks * rows * 32 * width;
  static constexpr bool possible = has_vectors<S> && (tile_rows == 32 || tile_rows == 64);

  static constexpr int stages = 6;      // tiles on their way
  static constexpr int reducers = 2;    // warps that form the tiles' own sums
  static constexpr int gatherers = 2;   // warps that look back
  static constexpr int look_delay = 2;  // tiles that have landed behind a tile before its neighbours are looked for
  static constexpr int threads = (1 + reducers + gatherers + chunks) * 32;
  // A warp that takes every k-th stage must meet each stage in the same order always, else it could take one lap's signal for another's.
  static_assert(stages % reducers == 0 && stages % gatherers == 0 && look_delay <= reducers);
  static constexpr int stage_bytes = tile_rows * 512 + 128;  // a misaligned tile reaches into a line more
  static constexpr int shared_bytes = stages * stage_bytes;
};

template <class Arguments>
struct stream_scan {
  using T = typename Arguments::value_type;
  using S = typename Arguments::source_type;
  using Operation = typename Arguments::operation_type;
  using shape = stream_shape<S, T>;
  using u32 = cuda::std::uint32_t;
  using i64 = cuda::std::int64_t;
  static constexpr int width = shape::width, rows = shape::rows, chunks = shape::chunks, stages = shape::stages,
                       tile_size = shape::tile_size;
  static constexpr u32 no_tile = 0xFFFFFFFFu;

  // A stage is filled by the loader, reduced, gathered for, scanned, and empty again. Each lane arrives for what it did itself.
  struct shared_state {
    lap_barrier full[stages], reduced[stages], gathered[stages], empty[stages];
    u32 tile[stages];
    int found[stages];
    shared_values<T, stages * 2 * chunks> chunk_nodes;  // of 1, 2, 4 .. chunks, one level behind the other
    shared_values<T, stages> total;
    shared_values<T, stages * most_nodes_in_front> in_front;
  };

  using address = cuda::std::uintptr_t;
  static constexpr address line = 128;
  using memory_type = typename source_memory<S>::memory_type;
  using reader = tile_reader<Arguments::direction, T, S>;

  // A tile in its stage, which begins with the 128-byte line that the tile's lowest element lies in; what lies beyond the array is
  // anything.
  __device__ __forceinline__ static tile_place place_in_stage(Arguments const& a, i64 first, char const* stage) {
    tile_place place = a.place_of(first, tile_size);
    place.lowest = stage + (reinterpret_cast<address>(place.lowest) & (line - 1));
    place.complete = true;
    return place;
  }

  // Fills a stage with the lines that the tile lies in: their 16-byte pieces that lie in the array at once and in the background, what is
  // left of its ends by hand. Copies that begin within a line are slower.
  __device__ __forceinline__ static void fill(Arguments const& a, u32 tile, char* stage, lap_barrier& full) {
    address const lowest = reinterpret_cast<address>(a.place_of(i64{tile} * tile_size, tile_size).lowest), piece = lowest & ~(line - 1);
    address const begin = reinterpret_cast<address>(source_memory<S>::array(a.in).data_handle());
    address const end = begin + static_cast<address>(a.count) * sizeof(memory_type);
    address const from = piece < begin ? begin : piece;
    address const lines_end = (lowest + tile_size * sizeof(memory_type) + line - 1) & ~(line - 1), to = lines_end > end ? end : lines_end;
    address const low = (from + 15u) & ~address{15};
    address high = to & ~address{15};
    if (high < low) high = low;
    if (from != low || high != to) {
      auto const copy = [&](address first_element, address last) {
        for (address at = first_element; at < last; at += sizeof(memory_type))
          *reinterpret_cast<memory_type*>(stage + (at - piece)) = *reinterpret_cast<memory_type const*>(at);
      };
      copy(from, low < to ? low : to);
      copy(high > low ? high : (low < to ? low : to), to);
    }
    auto const bytes = static_cast<u32>(high - low);
    cuda::ptx::mbarrier_arrive_expect_tx(cuda::ptx::sem_release, cuda::ptx::scope_cta, cuda::ptx::space_shared, full.handle(), bytes);
    if (bytes > 0) {
      cuda::ptx::cp_async_bulk(cuda::ptx::space_cluster, cuda::ptx::space_global, stage + (low - piece), reinterpret_cast<char const*>(low),
                               bytes, full.handle());
    }
  }

  __device__ __forceinline__ static void load(Arguments const& a, shared_state& s, char* stage_memory, u32 base, u32 ticket) {
    int stopped = 0;
    for (unsigned i = 0;; ++i) {
      unsigned const stage = i % stages;
      if (i >= stages) s.empty[stage].wait(i / stages - 1);
      if (ticket >= a.tiles) {
        // Each role's warps see the end; so do those that wait for a stage behind theirs.
        s.tile[stage] = no_tile;
        s.full[stage].arrive();
        if (++stopped == shape::reducers) return;
        continue;
      }
      u32 const tile = ticket;
      ticket = a.header->take(base);
      s.tile[stage] = tile;
      fill(a, tile, stage_memory + stage * shape::stage_bytes, s.full[stage]);
    }
  }

  // D of a tile and of its aligned runs of chunks, by one warp.
  __device__ __forceinline__ static T reduce(reader const& tile, T* chunk_nodes, int lane, Operation const& operation) {
    constexpr int batches = shape::tile_rows / 32;
    T batch_node[batches];
#pragma unroll
    for (int b = 0; b < batches; ++b) {
      // Eight rows at a time: side by side with other roles' code, what is run through once a tile has to be fetched once a tile.
      T eights[4];
#pragma unroll 1
      for (int k = 0; k < 4; ++k) {
        T node[8];
        tile.template for_each_row<false, 8>(b * 32 + k * 8, lane,
                                             [&](int i, T(&value)[width]) { node[i] = join_values(value, operation); });
        exchange_rows<8, 0>(node, lane, operation);
#pragma unroll
        for (int q = 0; q < 3; ++q) eights[q] = eights[q + 1];
        eights[3] = node[0];
      }
      exchange_rows<4, 3>(eights, lane, operation);
      T joined = eights[0];
      int at = 0;
#pragma unroll
      for (int k = 0; k < 5; ++k) {
        if ((1 << k) >= rows && (1 << k) < shape::tile_rows) {
          if (lane % (1 << k) == 0) chunk_nodes[at + ((b * 32 + lane) >> k)] = joined;
          at += shape::tile_rows >> k;
        }
        joined = join_beside(joined, lane, 1 << k, operation);
      }
      if (batches > 1 && lane == 0) chunk_nodes[at + b] = joined;
      batch_node[b] = joined;
    }
    static_assert(batches <= 2);
    if constexpr (batches == 1) {
      return batch_node[0];
    } else {
      return operation(batch_node[0], batch_node[1]);
    }
  }

  __device__ __forceinline__ static void run(Arguments const& a, char* stage_memory, shared_state& s) {
    int const lane = static_cast<int>(threadIdx.x) % 32;
    unsigned const warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
      for (int i = 0; i < stages; ++i) {
        s.full[i].set_up(1);
        s.reduced[i].set_up(32);
        s.gathered[i].set_up(32);
        s.empty[i].set_up(32 * chunks);
      }
      cuda::ptx::fence_mbarrier_init(cuda::ptx::sem_release, cuda::ptx::scope_cluster);
      cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    }
    u32 run_number = 0, base = 0, ticket = 0;
    if (threadIdx.x == 0) {
      base = a.header->base();
      ticket = a.header->take(base);
    } else if (warp > 0 && warp <= shape::reducers + shape::gatherers) {
      run_number = a.header->run();
    }
    __syncthreads();
    if (warp == 0) {
      if (lane == 0) load(a, s, stage_memory, base, ticket);
      return;
    }
    if (warp <= shape::reducers) {
      for (unsigned i = warp - 1;; i += shape::reducers) {
        unsigned const stage = i % stages;
        s.full[stage].wait(i / stages);
        u32 const tile = s.tile[stage];
        if (tile == no_tile) return;
        tile_place const place = place_in_stage(a, i64{tile} * tile_size, stage_memory + stage * shape::stage_bytes);
        T const total = reduce(reader(a.in, place), s.chunk_nodes.data() + stage * 2 * chunks, lane, a.operation);
        if (lane == 0) {
          if (tile + 1 < a.tiles) a.nodes.publish(run_number, 0, tile, total);
          s.total[static_cast<int>(stage)] = total;
        }
        s.reduced[stage].arrive();
      }
    }
    if (warp <= shape::reducers + shape::gatherers) {
      for (unsigned i = warp - 1 - shape::reducers;; i += shape::gatherers) {
        unsigned const stage = i % stages;
        s.full[stage].wait(i / stages);
        u32 const tile = s.tile[stage];
        if (tile == no_tile) return;
        s.reduced[stage].wait(i / stages);
        // Most neighbours have published by the time that the block's next tiles have come.
        unsigned const later = i + shape::look_delay;
        s.full[later % stages].wait(later / stages);
        int const found = a.nodes.template gather<100>(run_number, 0, tile, s.total[static_cast<int>(stage)], a.operation,
                                                       s.in_front.data() + stage * most_nodes_in_front);
        if (lane == 0) {
          s.found[stage] = found;
          if (tile + 1 == a.tiles) a.header->finish(a.tickets);
        }
        s.gathered[stage].arrive();
      }
    }
    int const chunk = static_cast<int>(warp) - 1 - shape::reducers - shape::gatherers;
#pragma unroll 1
    for (unsigned i = 0;; ++i) {
      unsigned const stage = i % stages;
      s.full[stage].wait(i / stages);
      u32 const tile = s.tile[stage];
      if (tile == no_tile) return;
      i64 const first = i64{tile} * tile_size;
      tile_place const place = place_in_stage(a, first, stage_memory + stage * shape::stage_bytes);
      warp_prefixes<Arguments::exclusive, T, rows, width, Operation> prefixes;
      reader(a.in, place).read(chunk * rows, lane, prefixes.rows.value);
      prefixes.template scan<(rows > 2 ? 1 : 5)>(lane, a.operation);
      s.gathered[stage].wait(i / stages);
      T const* level = s.chunk_nodes.data() + stage * 2 * chunks;
#pragma unroll
      for (int j = 0; (1 << j) < chunks; ++j) {
        if ((chunk >> j & 1) != 0) prefixes.prepend(level[(chunk >> j) - 1], a.operation);
        level += chunks >> j;
      }
      int const found = s.found[stage];
      T const* const in_front = s.in_front.data() + stage * most_nodes_in_front;
#pragma unroll 1
      for (int k = 0; k < found; ++k) prefixes.prepend(in_front[k], a.operation);
      prefixes.settle(a.operation);
      s.empty[stage].arrive();
      a.finish(prefixes.rows.value, tile == 0 && chunk == 0 && lane == 0);
      write_rows<Arguments::direction>(a.out, a.count, first + chunk * rows * 32 * width, lane, a.out_contiguous, prefixes.rows.value);
    }
  }
};

// One block a multiprocessor; code for compute capability 9.0 and later, the launch asks.
template <class Arguments>
__global__ __launch_bounds__(stream_shape<typename Arguments::source_type, typename Arguments::value_type>::threads,
                             1) void scan_stream_kernel(__grid_constant__ Arguments const a) {
  NV_IF_TARGET(NV_PROVIDES_SM_90, (extern __shared__ __align__(128) char tessera_stages[];
                                   __shared__ shared_values<typename stream_scan<Arguments>::shared_state, 1> state;
                                   stream_scan<Arguments>::run(a, tessera_stages, state[0]);))
}

}  // namespace tessera::inline v0_1::detail
