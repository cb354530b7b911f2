// What a block of a segmented operation does: the chunks that begin in a window of positions, cut into units, one a warp.
#pragma once

#include <cuda/std/bit>
#include <cuda/std/cstdint>

#include <tessera/config.hpp>
#include <tessera/device/segment_windows.cuh>
#include <tessera/group/shuffle.cuh>
#include <tessera/lookback/node_word.cuh>

namespace tessera::inline v0_1::detail {

// Elements of a window, and of the longest chunk. A speed choice.
template <class T>
inline constexpr int segmented_window = sizeof(T) <= 4 ? 4096 : (sizeof(T) <= 8 ? 2048 : (sizeof(T) <= 16 ? 1024 : 512));

template <class T>
struct segmented_shape {
  static constexpr int window = segmented_window<T>;
  static constexpr int unit = window / 8, share = unit / 32;  // of a warp, of a lane
  static constexpr int most_units = 2 * window / unit;        // a chunk may begin where its window ends
  static_assert(cuda::std::has_single_bit(static_cast<unsigned>(share)) && 2 <= share && share <= 16 && 2 * window <= 8192);
};

// What begins in a window. Places count from the first chunk's first element.
template <class T>
struct window_plan {
  using shape = segmented_shape<T>;
  using u16 = cuda::std::uint16_t;
  cuda::std::int64_t first;         // position of the window
  cuda::std::int64_t before;        // segments that begin before it, where they are counted
  cuda::std::int64_t start;         // position where the first chunk's segment starts
  cuda::std::int64_t chunk_number;  // of the first chunk in its segment
  int units;                        // 0 where no chunk begins, -1 where there are no more windows
  u16 begin, size;                  // of the chunks: position in the window of the first one's first element, elements
  u16 last_chunk, flags;            // place of the last one; of it: has the full length, ends its segment
  unsigned even;                    // bit 2 u: the unit has its full length, and segments begin at its shares' first places only
  u16 unit[shape::most_units + 1];  // place where the unit's pieces of chunks begin, and the number of the first of them in its chunk

  static constexpr int number_at = 13;
  __device__ __forceinline__ int begin_of(int u) const { return unit[u] & ((1 << number_at) - 1); }  // the one before ends there
  __device__ __forceinline__ int number_of(int u) const { return unit[u] >> number_at; }
  __device__ __forceinline__ bool is_even(int u) const { return (even >> (2 * u) & 1u) != 0; }
  __device__ __forceinline__ bool last_is_whole() const { return (flags & 1) != 0; }
  __device__ __forceinline__ bool ends() const { return (flags & 2) != 0; }
};

// A plan, and where segments begin in the window. What of a chunk lies behind the window has no head.
template <class T>
struct planned_window : window_plan<T> {
  using shape = segmented_shape<T>;
  static constexpr int words = shape::window / 32;
  unsigned heads[words];

  __device__ __forceinline__ bool is_head(int place) const {
    int const i = this->begin + place;
    return i < shape::window && (heads[i / 32] >> (i % 32) & 1u) != 0;
  }
  // The heads of 32 places.
  __device__ __forceinline__ unsigned heads_from(int place) const {
    int const i = this->begin + place;
    if (i >= shape::window) return 0;
    unsigned const high = i / 32 + 1 < words ? heads[i / 32 + 1] : 0u;
    return __funnelshift_r(heads[i / 32], high, static_cast<unsigned>(i % 32));
  }
  // Those among `places` (at most 32) places that lie before `end`.
  __device__ __forceinline__ unsigned heads_in(int place, int places, int end) const {
    int const number = end - place < places ? end - place : places;
    if (number <= 0) return 0;
    return heads_from(place) & (~0u >> (32 - number));
  }
};

// The plans in a workspace.
template <class T>
struct window_plans {
  node_word<cuda::std::uint32_t>* words;
  segment_marks marks;

  static constexpr int words_of_one = sizeof(window_plan<T>) / 4;
  static_assert(words_of_one <= 32);

  // By a warp, the plan in shared memory.
  __device__ __forceinline__ void write(cuda::std::uint32_t run, cuda::std::int64_t number, int lane, window_plan<T> const& plan) const {
    if (lane < words_of_one) words[number * words_of_one + lane].publish(run, reinterpret_cast<cuda::std::uint32_t const*>(&plan)[lane]);
  }
  __device__ __forceinline__ void read(cuda::std::uint32_t run, cuda::std::int64_t number, int lane, planned_window<T>& to) const {
    constexpr int a_lane = (planned_window<T>::words + 31) / 32;
    cuda::std::uint32_t mine = 0, head[a_lane];
    if (lane < words_of_one) (void)words[number * words_of_one + lane].read(run, mine);
#pragma unroll
    for (int j = 0; j < a_lane; ++j) {
      int const w = j * 32 + lane;
      if (w < planned_window<T>::words) (void)marks.heads[number * planned_window<T>::words + w].read(run, head[j]);
    }
    if (lane < words_of_one) reinterpret_cast<cuda::std::uint32_t*>(static_cast<window_plan<T>*>(&to))[lane] = mine;
#pragma unroll
    for (int j = 0; j < a_lane; ++j) {
      if (j * 32 + lane < planned_window<T>::words) to.heads[j * 32 + lane] = head[j];
    }
  }
};

template <scan_direction Direction, class Segments, class T>
struct plan_arguments {
  static constexpr scan_direction direction = Direction;
  using segments_type = Segments;
  using value_type = T;
  Segments segments;
  cuda::std::int64_t count;
  window_plans<T> plans;
  lookback_header* header;
};

inline constexpr int plan_threads = 256;

// A warp plans a window; the marks lie there already.
template <class Arguments>
__global__ __launch_bounds__(plan_threads) void plan_windows_kernel(__grid_constant__ Arguments const a) {
  using i64 = cuda::std::int64_t;
  using T = typename Arguments::value_type;
  using shape = segmented_shape<T>;
  constexpr int window = shape::window, unit = shape::unit, words = planned_window<T>::words, a_lane = (words + 31) / 32;
  constexpr int warps = plan_threads / 32;
  __shared__ planned_window<T> of_warp[warps];
  __shared__ int first_head_of[warps + 1];
  int const lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  i64 const number = i64{blockIdx.x} * warps + warp, first = number * window;
  segment_marks const& marks = a.plans.marks;
  cuda::std::uint32_t const run = a.header->run();
  planned_window<T>& plan = of_warp[warp];
  window_start at_first{};
  if (number < marks.windows) (void)marks.starts[number].read(run, at_first);
  i64 const end = segment_windows<typename Arguments::segments_type>{a.segments, a.count}.template end<Arguments::direction>();
  auto const least = [](int mine) {
    for (int d = 16; d > 0; d /= 2) mine = min(mine, __shfl_xor_sync(full_warp, mine, d));
    return mine;
  };
  // The heads of a window, and the first one; the last warp looks at the window behind the block's, too.
  auto const marked = [&](i64 of, int j) {
    unsigned word = 0;
    int const w = j * 32 + lane;
    if (w < words && of <= marks.windows) (void)marks.heads[of * words + w].read(run, word);
    return word;
  };
  int last_head = -1, first_head = window, first_behind = window;
#pragma unroll
  for (int j = 0; j < a_lane; ++j) {
    int const w = j * 32 + lane;
    unsigned const word = marked(number, j);
    if (w < words) plan.heads[w] = word;
    if (word == 0) continue;
    first_head = min(first_head, w * 32 + __ffs(static_cast<int>(word)) - 1);
    last_head = max(last_head, w * 32 + 31 - __clz(static_cast<int>(word)));
  }
  if (warp == warps - 1) {
#pragma unroll
    for (int j = 0; j < a_lane; ++j) {
      unsigned const word = marked(number + 1, j);
      if (word != 0) first_behind = min(first_behind, (j * 32 + lane) * 32 + __ffs(static_cast<int>(word)) - 1);
    }
    first_behind = least(first_behind);
    if (lane == 0) first_head_of[warps] = first_behind;
  }
  first_head = least(first_head);
  last_head = -least(-last_head);
  if (lane == 0) first_head_of[warp] = first_head;
  __syncthreads();
  if (number >= marks.windows) return;
  i64 const start = first_head == 0 || first >= end ? no_segment : at_first.start;
  // The chunks that begin in the window, counted from its first position.
  int begin = first_head, last_chunk = last_head;
  i64 chunk_number = 0;  // of the first one in its segment
  if (start != no_segment) {
    i64 const next = (first - start + window - 1) / window, to = start + next * window - first;
    if (to < first_head && first + to < end) {
      begin = static_cast<int>(to);
      chunk_number = next;
      if (last_head < 0) last_chunk = begin;
    }
  }
  if (lane == 0) {
    plan.first = first;
    plan.before = at_first.segments;
    plan.start = start;
    plan.chunk_number = chunk_number;
    plan.units = plan.begin = plan.size = plan.last_chunk = plan.flags = 0;
    plan.even = 0;
  }
  if (begin < window && last_chunk >= 0) {
    // Behind the last head in the window there is none up to the first one in the next window.
    int const next_head = window + first_head_of[warp + 1];
    int stop = min(last_chunk + window, next_head);
    if (first + stop >= end) stop = static_cast<int>(end - first);
    int const size = stop - begin;
    if (lane == 0) plan.begin = static_cast<cuda::std::uint16_t>(begin);
    __syncwarp();
    bool const ends = first + stop == end || (stop == next_head && next_head < 2 * window);
    // A lane has half a unit.
    constexpr int half = unit / 2;
    int first_in = 2 * window, last_in = -1;
#pragma unroll
    for (int i = 0; i < half; i += 32) {
      int const place = lane * half + i;
      unsigned const heads = plan.heads_in(place, 32, size);
      if (heads == 0) continue;
      first_in = min(first_in, place + __ffs(static_cast<int>(heads)) - 1);
      last_in = place + 31 - __clz(static_cast<int>(heads));
    }
    for (int d = 1; d < 32; d *= 2) {
      int const other = __shfl_up_sync(full_warp, last_in, static_cast<unsigned>(d));
      if (lane >= d) last_in = max(last_in, other);
    }
    int const chunk = max(0, __shfl_up_sync(full_warp, last_in, 1));  // that the place in front of the lane's is of
    first_in = min(first_in, __shfl_down_sync(full_warp, first_in, 1));
    // Right on even lanes.
    int const u = lane / 2, inside = lane == 0 ? 0 : chunk, next = inside + (u * unit - inside + unit - 1) / unit * unit;
    int const from = min(min(first_in, next), size), number_in_chunk = from == first_in ? 0 : (from - inside) / unit;
    int const below = __shfl_down_sync(full_warp, from, 2), to = lane >= 30 ? size : below;
    int const unit_from = __shfl_sync(full_warp, from, lane & ~1);
    unsigned aside = 0;  // heads that are not at a share's first place
#pragma unroll
    for (int i = 0; i < half; i += 32) {
      int const place = lane * half + i;
      constexpr unsigned shares = ~0u / ((1u << shape::share) - 1u);  // a bit a share
      aside |= plan.heads_in(place, 32, size) & ~(shares << ((unit_from - place) & (shape::share - 1)));
    }
    aside |= __shfl_down_sync(full_warp, aside, 1);
    bool const even = to - from == unit && aside == 0;
    unsigned const all_even = __ballot_sync(full_warp, even && lane % 2 == 0);
    if (lane % 2 == 0) plan.unit[u] = static_cast<cuda::std::uint16_t>(from | number_in_chunk << window_plan<T>::number_at);
    if (lane == 0) {
      plan.units = (size + unit - 1) / unit;
      plan.size = static_cast<cuda::std::uint16_t>(size);
      plan.last_chunk = static_cast<cuda::std::uint16_t>(last_chunk - begin);
      plan.flags = static_cast<cuda::std::uint16_t>((stop - last_chunk == window ? 1 : 0) | (ends ? 2 : 0));
      plan.even = all_even;
      plan.unit[shape::most_units] = static_cast<cuda::std::uint16_t>(size);
    }
  }
  __syncwarp();
  a.plans.write(run, number, lane, plan);
}

}  // namespace tessera::inline v0_1::detail
