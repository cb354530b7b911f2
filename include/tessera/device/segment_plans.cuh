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
  cuda::std::int64_t start;         // position where the first chunk's segment starts
  cuda::std::int64_t chunk_number;  // of the first chunk in its segment
  int units;                        // 0 where no chunk begins, -1 where there are no more windows
  u16 begin, size;                  // of the chunks: position in the window of the first one's first element, elements
  u16 last_chunk, last_is_whole;    // place of the last one, and whether it has the full length
  unsigned even;                    // bit 2 u: the unit has its full length, and segments begin at its shares' first places only
  u16 unit[shape::most_units + 1];  // place where the unit's pieces of chunks begin, and the number of the first of them in its chunk

  static constexpr int number_at = 13;
  __device__ __forceinline__ int begin_of(int u) const { return unit[u] & ((1 << number_at) - 1); }  // the one before ends there
  __device__ __forceinline__ int number_of(int u) const { return unit[u] >> number_at; }
  __device__ __forceinline__ bool is_even(int u) const { return (even >> (2 * u) & 1u) != 0; }
};

// Where segments begin in a window.
template <class T>
struct window_heads {
  static constexpr int positions = segmented_shape<T>::window, words = positions / 32;
  unsigned word[words];

  // Of 32 positions; behind the window there are none.
  __device__ __forceinline__ unsigned from(int position) const {
    if (position >= positions) return 0;
    unsigned const high = position / 32 + 1 < words ? word[position / 32 + 1] : 0u;
    return __funnelshift_r(word[position / 32], high, static_cast<unsigned>(position % 32));
  }
  // Whether each head in first .. first + number - 1 lies a multiple of `stride`, a power of two of at most 32, behind `first`. `number` is
  // a multiple of 32.
  template <int Stride>
  __device__ __forceinline__ bool are_strided(int first, int number) const {
    constexpr unsigned every = ~0u / ((1u << Stride) - 1u);  // 2^0 + 2^Stride + ..
    unsigned const others = ~(every << (first % Stride)), inside = ~0u << (first % 32);
    int const begin = first / 32, end = begin + number / 32;
    unsigned found = begin < words ? word[begin] & inside : 0u;
    for (int i = begin + 1; i < min(end, words); ++i) found |= word[i];
    if (end < words) found |= word[end] & ~inside;
    return (found & others) == 0;
  }
};

// The first head from a position on and the last one in front of it, in a window; `none_behind` and -1 where there is none. By a warp.
template <class T>
class head_search {
  using heads_type = window_heads<T>;
  static constexpr int words = heads_type::words, a_lane = (words + 31) / 32;
  static constexpr int none_behind = 2 * heads_type::positions;  // behind all chunks
  cuda::std::int16_t first_[words + 1], last_[words + 1];        // of the positions from a word on, and of those in front of it

 public:
  __device__ __forceinline__ void prepare(heads_type const& heads, int lane) {
    unsigned mine[a_lane];
    int first = none_behind, last = -1;
#pragma unroll
    for (int j = 0; j < a_lane; ++j) {
      int const w = lane * a_lane + j;
      mine[j] = w < words ? heads.word[w] : 0u;
      if (mine[j] != 0) {
        if (first == none_behind) first = head_at(w, __ffs(static_cast<int>(mine[j])) - 1);
        last = head_at(w, 31 - __clz(static_cast<int>(mine[j])));
      }
    }
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
      int const behind = __shfl_down_sync(full_warp, first, static_cast<unsigned>(d));
      int const before = __shfl_up_sync(full_warp, last, static_cast<unsigned>(d));
      if (lane + d < 32) first = min(first, behind);
      if (lane >= d) last = max(last, before);
    }
    int const behind = __shfl_down_sync(full_warp, first, 1), before = __shfl_up_sync(full_warp, last, 1);
    first = lane < 31 ? behind : none_behind;
    last = lane > 0 ? before : -1;
    __syncwarp();
#pragma unroll
    for (int j = a_lane - 1; j >= 0; --j) {
      int const w = lane * a_lane + j;
      if (mine[j] != 0) first = head_at(w, __ffs(static_cast<int>(mine[j])) - 1);
      if (w < words) first_[w] = static_cast<cuda::std::int16_t>(first);
    }
#pragma unroll
    for (int j = 0; j < a_lane; ++j) {
      int const w = lane * a_lane + j;
      if (mine[j] != 0) last = head_at(w, 31 - __clz(static_cast<int>(mine[j])));
      if (w < words) last_[w + 1] = static_cast<cuda::std::int16_t>(last);
    }
    if (lane == 0) {
      first_[words] = none_behind;
      last_[0] = -1;
    }
    __syncwarp();
  }
  __device__ __forceinline__ int first() const { return first_[0]; }
  __device__ __forceinline__ int last() const { return last_[words]; }
  __device__ __forceinline__ int first_from(heads_type const& heads, int position) const {
    if (position >= heads_type::positions) return none_behind;
    unsigned const here = heads.word[position / 32] >> (position % 32);
    return here != 0 ? position + __ffs(static_cast<int>(here)) - 1 : first_[position / 32 + 1];
  }
  __device__ __forceinline__ int last_before(heads_type const& heads, int position) const {
    if (position >= heads_type::positions) return last();
    unsigned const here = heads.word[position / 32] & ~(~0u << (position % 32));
    return here != 0 ? head_at(position / 32, 31 - __clz(static_cast<int>(here))) : last_[position / 32];
  }

 private:
  __device__ __forceinline__ static int head_at(int word, int bit) { return word * 32 + bit; }
};

// The bits of the first `number` of 32 places.
__device__ __forceinline__ unsigned first_places(int number) { return number <= 0 ? 0u : (number >= 32 ? ~0u : (1u << number) - 1u); }

// A plan and its window's heads. What of a chunk lies behind the window has no head.
template <class T>
struct planned_window : window_plan<T> {
  window_heads<T> heads;
  __device__ __forceinline__ unsigned heads_from(int place) const { return heads.from(this->begin + place); }
};

// The plans in a workspace: words of the run, so that no word of another run can be taken for one of a look-back's.
template <class T>
struct window_plans {
  node_word<cuda::std::uint32_t>* words;
  node_word<cuda::std::uint32_t>* heads;
  cuda::std::int64_t windows;

  static constexpr int words_of_one = sizeof(window_plan<T>) / 4;
  static_assert(words_of_one <= 32);

  // By a warp, the plan in shared memory.
  __device__ __forceinline__ void write(cuda::std::uint32_t run, cuda::std::int64_t number, int lane, window_plan<T> const& plan) const {
    if (lane < words_of_one) words[number * words_of_one + lane].publish(run, reinterpret_cast<cuda::std::uint32_t const*>(&plan)[lane]);
  }
  __device__ __forceinline__ void write(cuda::std::uint32_t run, cuda::std::int64_t number, int lane, window_heads<T> const& of) const {
    for (int w = lane; w < of.words; w += 32) heads[number * of.words + w].publish(run, of.word[w]);
  }
  __device__ __forceinline__ void read(cuda::std::uint32_t run, cuda::std::int64_t number, int lane, planned_window<T>& to) const {
    constexpr int head_words = window_heads<T>::words, a_lane = (head_words + 31) / 32;
    cuda::std::uint32_t mine = 0, head[a_lane];
    if (lane < words_of_one) (void)words[number * words_of_one + lane].read(run, mine);
#pragma unroll
    for (int j = 0; j < a_lane; ++j) {
      if (j * 32 + lane < head_words) (void)heads[number * head_words + j * 32 + lane].read(run, head[j]);
    }
    if (lane < words_of_one) reinterpret_cast<cuda::std::uint32_t*>(static_cast<window_plan<T>*>(&to))[lane] = mine;
#pragma unroll
    for (int j = 0; j < a_lane; ++j) {
      if (j * 32 + lane < head_words) to.heads.word[j * 32 + lane] = head[j];
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
  lookback<cuda::std::int64_t> last_heads;
};

// A block marks its windows, and a warp plans one.
template <class Arguments>
__global__ __launch_bounds__(mark_threads, 4) void plan_segments_kernel(__grid_constant__ Arguments const a) {
  using i64 = cuda::std::int64_t;
  using T = typename Arguments::value_type;
  using shape = segmented_shape<T>;
  using windows_type = segment_windows<typename Arguments::segments_type>;
  constexpr int window = shape::window, unit = shape::unit;
  using marks_type = block_marks<window>;
  static_assert(sizeof(window_heads<T>) == 4 * marks_type::words);
  __shared__ marks_type marks;
  __shared__ window_plan<T> plan_of[mark_warps];
  __shared__ head_search<T> search_of[mark_warps];
  __shared__ int first_head_of[mark_warps + 1], last_head_of[mark_warps];
  __shared__ cuda::std::uint32_t ticket;
  int const lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  cuda::std::uint32_t const run = a.header->run();
  i64 block = blockIdx.x;
  if (windows_type::looks_back && gridDim.x > 1) {
    if (threadIdx.x == 0) ticket = a.header->take(a.header->base());
    __syncthreads();
    block = ticket;
  }
  windows_type const segments{a.segments, a.count};
  i64 const end = segments.template end<Arguments::direction>();
  segments.template mark<Arguments::direction>(marks, block * marks_type::windows * window,
                                               {a.header, a.last_heads, run, block, gridDim.x});
  __syncthreads();
  i64 const number = block * marks_type::windows + warp, first = number * window;
  auto const heads_of = [&](int w) -> window_heads<T> const& {
    return reinterpret_cast<window_heads<T> const&>(marks.heads[w * marks_type::words]);
  };
  head_search<T>& search = search_of[warp];
  if (warp == mark_warps - 1) {
    search.prepare(heads_of(mark_warps), lane);  // the window behind the block's
    if (lane == 0) first_head_of[mark_warps] = search.first();
  }
  __syncwarp();
  search.prepare(heads_of(warp), lane);
  int const first_head = search.first(), last_head = search.last();
  if (lane == 0) {
    first_head_of[warp] = first_head;
    last_head_of[warp] = last_head;
  }
  __syncthreads();
  if (number >= a.plans.windows) return;
  window_heads<T> const& heads = heads_of(warp);
  a.plans.write(run, number, lane, heads);
  i64 start = no_segment;
  if (first_head != 0 && first < end) {
    start = marks.start;
    for (int w = 0; w < warp; ++w) {
      if (last_head_of[w] >= 0) start = first - (warp - w) * window + last_head_of[w];
    }
  }
  window_plan<T>& plan = plan_of[warp];
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
    plan.start = start;
    plan.chunk_number = chunk_number;
    plan.units = plan.begin = plan.size = plan.last_chunk = plan.last_is_whole = 0;
    plan.even = 0;
  }
  if (begin < window && last_chunk >= 0) {
    // Behind the last head in the window there is none up to the first one in the next window.
    int const next_head = window + first_head_of[warp + 1];
    int stop = min(last_chunk + window, next_head);
    if (first + stop >= end) stop = static_cast<int>(end - first);
    int const size = stop - begin;
    // A lane has a unit: from the first place at or behind its first one where a segment, or a unit of a chunk, begins.
    int const at = begin + lane * unit;
    int const head = search.first_from(heads, at), chunk = lane > 0 ? max(begin, search.last_before(heads, at)) : begin;
    int const next = chunk + (at - chunk + unit - 1) / unit * unit;
    int const from = min(min(head, next), stop), number_in_chunk = from == head ? 0 : (from - chunk) / unit;
    if (lane <= shape::most_units)
      plan.unit[lane] = static_cast<cuda::std::uint16_t>((from - begin) | number_in_chunk << window_plan<T>::number_at);
    // And then half a unit: whether it is even.
    int const unit_from = __shfl_sync(full_warp, from, lane / 2), unit_to = __shfl_sync(full_warp, from, lane / 2 + 1);
    bool even = unit_to - unit_from == unit;
    if (even) even = heads.template are_strided<shape::share>(unit_from + lane % 2 * (unit / 2), unit / 2);
    unsigned const halves_even = __ballot_sync(full_warp, even), all_even = halves_even & (halves_even >> 1);
    if (lane == 0) {
      plan.units = (size + unit - 1) / unit;
      plan.begin = static_cast<cuda::std::uint16_t>(begin);
      plan.size = static_cast<cuda::std::uint16_t>(size);
      plan.last_chunk = static_cast<cuda::std::uint16_t>(last_chunk - begin);
      plan.last_is_whole = stop - last_chunk == window ? 1 : 0;
      plan.even = all_even;
    }
  }
  __syncwarp();
  a.plans.write(run, number, lane, plan);
}

}  // namespace tessera::inline v0_1::detail
