// Segmented reduce by D, and its application to the destination.
//
// A warp owns `Run` neighbouring sorted positions and every chunk that starts there. A chunk is an aligned piece of reduce_chunk records of
// one list: it starts at position p with (p - start of the list) % reduce_chunk == 0. The warp finds the chunks first (heads by ballot, the
// list that reaches in from before by search), then sums them, 32 / lanes_per_row at a time, each lane a vector of Width neighbouring
// columns. No block waits for another.
#include <cuda/std/bit>

#include <tessera/arithmetic.hpp>
#include <tessera/dyadic.hpp>
#include <tessera/launch/cuda_error.cuh>
#include <tessera/scatter/cuda_resolve.cuh>

namespace tessera::inline v0_1::detail {

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u32 full_warp = 0xFFFFFFFFu;
constexpr int warps_per_block = 2;

// Width neighbouring columns of a row.
template <class T, int Width>
struct alignas(sizeof(T) * Width) columns_of {
  T value[Width];
};

struct add_columns {
  template <class V>
  __device__ V identity() const {
    V none;
#pragma unroll
    for (auto& value : none.value) value = plus::identity<std::remove_reference_t<decltype(value)>>();
    return none;
  }
  template <class T, int Width>
  __device__ columns_of<T, Width> operator()(columns_of<T, Width> const& a, columns_of<T, Width> const& b) const {
    columns_of<T, Width> sum;
#pragma unroll
    for (int i = 0; i < Width; ++i) sum.value[i] = add(a.value[i], b.value[i]);
    return sum;
  }
};

// Memory access as words that the cache-hint intrinsics know.
template <int Bytes>
struct word;
template <>
struct word<4> {
  using type = unsigned;
};
template <>
struct word<8> {
  using type = uint2;
};
template <>
struct word<16> {
  using type = uint4;
};
template <class V>
using word_of = typename word<sizeof(V)>::type;

// Read once: do not keep in the caches.
template <class V, class T>
__device__ V load_streaming(T const* from) {
  return cuda::std::bit_cast<V>(__ldcs(reinterpret_cast<word_of<V> const*>(from)));
}
// Written by other blocks in this launch: read from L2.
template <class V, class T>
__device__ V load_shared_by_blocks(T const* from) {
  return cuda::std::bit_cast<V>(__ldcg(reinterpret_cast<word_of<V> const*>(from)));
}
template <class V, class T>
__device__ void store_for_blocks(T* to, V const& value) {
  __stcg(reinterpret_cast<word_of<V>*>(to), cuda::std::bit_cast<word_of<V>>(value));
}
template <class V, class T>
__device__ void store_streaming(T* to, V const& value) {
  __stcs(reinterpret_cast<word_of<V>*>(to), cuda::std::bit_cast<word_of<V>>(value));
}

// The first position of the list that position `at` belongs to; its key is `key`. Called by a warp.
__device__ u32 find_list_start(u32 const* keys, u32 at, u32 key) {
  u32 const lane = threadIdx.x % 32;
  u32 low = 0, high = at;  // the start lies in [low, high]
  while (low < high) {
    u32 const step = (high - low + 31) / 32;
    u64 const probe = low + u64{lane} * step;
    bool const equal = probe < high && keys[probe] == key;
    u32 const seen = __ballot_sync(full_warp, equal);
    // Keys are sorted: lanes below the first equal one lie before the list.
    int const first = seen == 0 ? -1 : __ffs(static_cast<int>(seen)) - 1;
    u64 const before = first < 0 ? low + u64{(high - low - 1) / step} * step : (first == 0 ? u64{low} : low + u64(first - 1) * step);
    if (first == 0) return low;
    if (first > 0) high = static_cast<u32>(low + u64(first) * step);
    low = static_cast<u32>(before + 1);
  }
  return low;
}

// A lane's columns of the destination.
template <class T, int Width>
class destination_columns {
 public:
  using vector = columns_of<T, Width>;
  __device__ destination_columns(row_destination const& rows, std::int64_t column, bool contiguous)
      : rows_(rows), column_(column), contiguous_(contiguous) {}

  __device__ vector old_values(u32 row) const {
    if (contiguous_) return load_streaming<vector>(reinterpret_cast<T const*>(row_start(row)) + column_);
    vector old;
#pragma unroll
    for (int i = 0; i < Width; ++i) old.value[i] = *element(row, i);
    return old;
  }
  // out = fl(old + sum), a NaN canonical.
  __device__ void apply(u32 row, vector const& old, vector const& sum) const {
    vector out;
#pragma unroll
    for (int i = 0; i < Width; ++i) out.value[i] = canonical(add(old.value[i], sum.value[i]));
    if (contiguous_) {
      store_streaming(reinterpret_cast<T*>(row_start(row)) + column_, out);
      return;
    }
#pragma unroll
    for (int i = 0; i < Width; ++i) *element(row, i) = out.value[i];
  }

 private:
  __device__ char* row_start(u32 row) const { return static_cast<char*>(rows_.base) + std::int64_t{row} * rows_.row_stride; }
  __device__ T* element(u32 row, int i) const { return reinterpret_cast<T*>(row_start(row) + rows_.column_offset(column_ + i)); }

  row_destination const& rows_;
  std::int64_t column_;
  bool contiguous_;
};

// The lanes that carry one row together.
struct row_lanes {
  u32 mask;   // of the warp
  int count;  // a power of two
  int lane;   // of the calling lane among them
  bool active;  // the lane has columns
};

// Joins a node that is not the whole of its list with the others of its group; the last of the group goes on with the result. `a` lies in
// shared memory: a function that is called reads a kernel's parameters by generic addresses, which compute-sanitizer cannot follow in a
// graph's conditional body.
template <class T, int Width>
__device__ __noinline__ void climb(segmented_reduce_arguments<T> const& a, row_lanes const& lanes, bool contiguous, std::int64_t column,
                                   u32 column_block, u32 count, columns_of<T, Width> value, u32 position, u32 start, u32 key, bool last) {
  using vector = columns_of<T, Width>;
  u64 size = reduce_chunk;
  for (int level = 0; !(position == start && last); ++level, size *= 32) {
    // The group: up to 32 nodes of this level, aligned to the list's start.
    u64 const group_size = size * 32;
    u64 const group = position - (u64{position - start} & (group_size - 1));
    int members = 0;
    for (int i = lanes.lane; i < 32; i += lanes.count) {
      u64 const probe = group + static_cast<u64>(i) * size;
      bool const mine = probe < count && a.keys[probe] == key;
      members += __popc(__ballot_sync(lanes.mask, mine) & lanes.mask);
    }
    bool const group_last = !(group + group_size < count && a.keys[group + group_size] == key);
    if (members > 1) {
      T* const level_rows = a.partials + a.climb.row_at[level] * a.columns + column;
      if (lanes.active) store_for_blocks(level_rows + static_cast<std::int64_t>(2 * (position / size) + (last ? 1 : 0)) * a.columns, value);
      __syncwarp(lanes.mask);
      u32 arrived = 0;
      u32* const counter = a.counters + static_cast<std::int64_t>(column_block) * a.climb.counters + a.climb.counter_at[level] +
                           static_cast<std::int64_t>(group / size);
      if (lanes.lane == 0) {
        __threadfence();
        arrived = atomicAdd(counter, 1u) + 1u;  // counts from all ones
        __threadfence();
      }
      arrived = __shfl_sync(lanes.mask, arrived, 0, lanes.count);
      __syncwarp(lanes.mask);
      if (arrived + 1 != static_cast<u32>(members)) return;
      if (lanes.lane == 0) *counter = all_ones;
      auto const member = [&](int i) {
        bool const ends_list = group_last && i == members - 1;
        u64 const row = 2 * (group / size + static_cast<u64>(i)) + (ends_list ? 1 : 0);
        return lanes.active ? load_shared_by_blocks<vector>(level_rows + static_cast<std::int64_t>(row) * a.columns) : vector{};
      };
      value = dyadic_node<32, 8>(member, add_columns{}, 0, members);
    }
    position = static_cast<u32>(group);
    last = group_last;
  }
  destination_columns<T, Width> const out(a.destination, column, contiguous);
  if (lanes.active) out.apply(key, out.old_values(key), value);
}

// The chunks that start in a warp's run.
template <int Run>
struct chunk_list {
  u32 place[Run + reduce_chunk];  // of the run's positions and one chunk more
  u32 begin[Run + 1];             // first position of each chunk, and where the last one ends; the top bit says that a list starts there
  u32 start[Run];                 // of its list
  u32 key[Run];
};
constexpr u32 list_head = 0x80000000u;

// Fills the list; gives how many chunks there are. Called by a warp.
template <int Run>
__device__ int find_chunks(chunk_list<Run>& chunks, u32 const* keys, u32 const* places, u32 first, u32 count) {
  static_assert(Run % 32 == 0 && reduce_chunk % 32 == 0);
  constexpr int own = Run / 32, all = own + reduce_chunk / 32;
  u32 const lane = threadIdx.x % 32, below = (1u << lane) - 1u;
  u32 key[all], place[all];
#pragma unroll
  for (int i = 0; i < all; ++i) {
    u32 const p = first + static_cast<u32>(i) * 32 + lane;
    key[i] = p < count ? keys[p] : no_row;
    place[i] = p < count ? places[p] : 0;
  }
  u32 const previous = first > 0 ? keys[first - 32 + lane] : no_row;
#pragma unroll
  for (int i = 0; i < all; ++i) chunks.place[i * 32 + static_cast<int>(lane)] = place[i];

  u32 const first_key = __shfl_sync(full_warp, key[0], 0);
  u32 carry = __shfl_sync(full_warp, previous, 31);
  u32 start = first;
  if (first > 0 && carry == first_key) {
    u32 const other = ~__ballot_sync(full_warp, previous == first_key);
    start = other != 0 ? first - static_cast<u32>(__clz(static_cast<int>(other))) : find_list_start(keys, first - 32, first_key);
  }
  int found = 0;
  bool end_known = false;
  u32 end = 0;
#pragma unroll
  for (int i = 0; i < all; ++i) {
    u32 const p = first + static_cast<u32>(i) * 32 + lane;
    u32 before = __shfl_up_sync(full_warp, key[i], 1);
    if (lane == 0) before = carry;
    carry = __shfl_sync(full_warp, key[i], 31);
    bool const head = (p < count && key[i] != before) || p == count || p == 0;
    u32 const heads = __ballot_sync(full_warp, head);
    if (i < own) {
      u32 const heads_here = heads & (below | (1u << lane));
      u32 const my_start =
          heads_here != 0 ? first + static_cast<u32>(i) * 32 + 31u - static_cast<u32>(__clz(static_cast<int>(heads_here))) : start;
      bool const chunk = p <= count && (head || (p - my_start) % reduce_chunk == 0);
      u32 const begins = __ballot_sync(full_warp, chunk);
      if (chunk) {
        int const slot = found + __popc(begins & below);
        chunks.begin[slot] = p | (head ? list_head : 0);
        chunks.start[slot] = my_start;
        chunks.key[slot] = key[i];
      }
      found += __popc(begins);
      if (heads != 0) start = first + static_cast<u32>(i) * 32 + 31u - static_cast<u32>(__clz(static_cast<int>(heads)));
    } else if (!end_known && heads != 0) {
      end = (first + static_cast<u32>(i) * 32 + static_cast<u32>(__ffs(static_cast<int>(heads))) - 1u) | list_head;
      end_known = true;
    }
  }
  __syncwarp();
  if (found > 0) {
    // The last chunk ends at the next list's head or when it is full, whichever comes first.
    u32 const limit = (chunks.begin[found - 1] & ~list_head) + reduce_chunk;
    if (!end_known || (end & ~list_head) > limit) end = limit;
    if (lane == 0) chunks.begin[found] = end;
    __syncwarp();
  }
  return found;
}

template <class T, int Width, int Run>
__global__ __launch_bounds__(warps_per_block * 32, sizeof(T) * Width == 16 ? 13 : 16) void segmented_reduce_kernel(
    __grid_constant__ segmented_reduce_arguments<T> const a, int lanes_per_row, bool contiguous) {
  using vector = columns_of<T, Width>;
  __shared__ chunk_list<Run> block_chunks[warps_per_block];
  __shared__ segmented_reduce_arguments<T> for_climbs;
  static_assert(sizeof(a) % sizeof(u64) == 0 && sizeof(a) / sizeof(u64) <= warps_per_block * 32);
  if (threadIdx.x < sizeof(a) / sizeof(u64))
    reinterpret_cast<u64*>(&for_climbs)[threadIdx.x] = reinterpret_cast<u64 const*>(&a)[threadIdx.x];
  __syncthreads();
  int const warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  u32 const count = *a.count;
  u64 const first = (u64{blockIdx.x} * warps_per_block + static_cast<u64>(warp)) * Run;
  if (first >= count) return;
  chunk_list<Run>& chunks = block_chunks[warp];
  int const found = find_chunks(chunks, a.keys, a.places, static_cast<u32>(first), count);

  int const groups = 32 / lanes_per_row, group = lane / lanes_per_row;
  row_lanes lanes{};
  lanes.count = lanes_per_row;
  lanes.lane = lane % lanes_per_row;
  lanes.mask = lanes_per_row == 32 ? full_warp : ((1u << lanes_per_row) - 1u) << (group * lanes_per_row);
  std::int64_t const column = (std::int64_t{blockIdx.y} * 32 + lanes.lane) * Width;
  lanes.active = column < a.columns;
  destination_columns<T, Width> const out(a.destination, column, contiguous);

  for (int c = group; c < found; c += groups) {
    u32 const begin_word = chunks.begin[c], end_word = chunks.begin[c + 1], key = chunks.key[c];
    u32 const begin = begin_word & ~list_head;
    int const length = static_cast<int>((end_word & ~list_head) - begin);
    if (begin >= count) continue;  // the head that closes the last list
    bool const whole_list = (begin_word & list_head) != 0 && (end_word & list_head) != 0;
    T const* const rows = a.rows + column;
    u32 const* const place = chunks.place + (begin - static_cast<u32>(first));
    auto const row = [&](int i) { return load_streaming<vector>(rows + std::int64_t{place[i]} * a.columns); };
    vector old{};
    if (whole_list && lanes.active) old = out.old_values(key);
    vector sum{};
    if (lanes.active) sum = dyadic_node<reduce_chunk, 8>(row, add_columns{}, 0, length);
    if (whole_list) {
      if (lanes.active) out.apply(key, old, sum);
    } else {
      climb<T, Width>(for_climbs, lanes, contiguous, column, blockIdx.y, count, sum, begin, chunks.start[c], key,
                      (end_word & list_head) != 0);
    }
  }
}

template <class T, int Width>
void launch(cudaStream_t stream, segmented_reduce_arguments<T> const& a) {
  std::int64_t const vectors = a.columns / Width;
  int lanes_per_row = 1;
  while (lanes_per_row < 32 && lanes_per_row < vectors) lanes_per_row *= 2;
  // One access of Width elements of the destination: its row is contiguous, and base and pitch are aligned.
  auto const& d = a.destination;
  constexpr std::int64_t bytes = sizeof(T) * Width;
  bool contiguous = reinterpret_cast<std::uintptr_t>(d.base) % bytes == 0 && d.row_stride % bytes == 0;
  std::int64_t pitch = sizeof(T);
  for (int i = d.dimensions - 1; i >= 0; --i) {
    contiguous = contiguous && (d.stride[i] == pitch || d.extent[i] == 1);
    pitch *= d.extent[i];
  }
  auto const start = [&](auto run) {
    std::int64_t const per_block = std::int64_t{warps_per_block} * run();
    // One position more than there are: a list may end at the capacity.
    dim3 const grid(static_cast<unsigned>((a.capacity + per_block - 1) / per_block),
                    static_cast<unsigned>(column_blocks(a.columns, Width)));
    segmented_reduce_kernel<T, Width, run()><<<grid, warps_per_block * 32, 0, stream>>>(a, lanes_per_row, contiguous);
  };
  // Enough chunks for each group of lanes to hide its neighbours' latency.
  if (lanes_per_row >= 16) {
    start(std::integral_constant<int, 32>{});
  } else if (lanes_per_row >= 4) {
    start(std::integral_constant<int, 64>{});
  } else {
    start(std::integral_constant<int, 128>{});
  }
  check_cuda(cudaPeekAtLastError(), "resolve: segmented reduce");
}

}  // namespace

template <class T>
void segmented_reduce(cudaStream_t stream, segmented_reduce_arguments<T> const& a) {
  if constexpr (sizeof(T) == 4) {
    if (a.columns % 4 == 0) return launch<T, 4>(stream, a);
  }
  if (a.columns % 2 == 0) return launch<T, 2>(stream, a);
  launch<T, 1>(stream, a);
}

template void segmented_reduce(cudaStream_t, segmented_reduce_arguments<float> const&);
template void segmented_reduce(cudaStream_t, segmented_reduce_arguments<double> const&);

}  // namespace tessera::inline v0_1::detail
