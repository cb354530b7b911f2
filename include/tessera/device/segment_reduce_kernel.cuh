// The kernel of segmented reductions.
//
// Segments are cut into chunks, counted from each segment's own start, so that nodes of D never cross a cut. A window of as many positions
// as a chunk has stands for the chunks that begin in it, of each segment one at most. A warp goes through some neighbouring windows.
//
// Chunks are cut into rows of 32 elements. A warp reads as many rows at once as a chunk has, of one chunk or of several short ones, an
// element of each row a lane, and exchanges them, so that a lane has D of a row. A chunk of several rows begins at a lane that is a
// multiple of a power of two that is not less than their number, hence its rows are joined where they lie. Chunks of a segment are joined
// by looking back, in the window where the segment ends, once the warp has gone through all its windows: nobody waits for one who waits.
#pragma once

#include <cuda/std/bit>
#include <cuda/std/cstdint>

#include <tessera/accumulate.hpp>
#include <tessera/arithmetic.hpp>
#include <tessera/config.hpp>
#include <tessera/device/row_access.cuh>
#include <tessera/device/segment_windows.cuh>
#include <tessera/group/possible.cuh>
#include <tessera/group/shared_values.cuh>
#include <tessera/group/shuffle.cuh>
#include <tessera/group/warp_rows.cuh>
#include <tessera/launch/cuda_backend.cuh>
#include <tessera/lookback/lookback.cuh>

namespace tessera::inline v0_1::detail {

// Rows of a chunk, a power of two.
template <class T>
inline constexpr int segment_chunk_rows = sizeof(T) <= 4 ? 32 : (sizeof(T) <= 8 ? 16 : (sizeof(T) <= 16 ? 8 : 4));
template <class T>
inline constexpr int segment_chunk = 32 * segment_chunk_rows<T>;

// Windows that a warp takes at most, and warps of a block. Speed choices, but for values that are large for the shared memory of a block.
inline constexpr int most_windows_of_warp = 4;
template <class T>
inline constexpr int segment_reduce_warps = sizeof(T) <= 64 ? 4 : (sizeof(T) <= 256 ? 2 : 1);

template <class S, class Segments, class Out, class T, class Operation>
struct segment_reduce_arguments {
  using source_type = S;
  using segments_type = Segments;
  using output_type = Out;
  using value_type = T;
  using operation_type = Operation;

  S in;
  Segments segments;
  Out out;
  cuda::std::int64_t count;
  bool contiguous;
  bool has_initial;
  T initial;
  Operation operation;
  lookback_header* header;
  lookback<T> nodes;
  cuda::std::int64_t windows;
  int windows_of_warp;
};

// The first of low .. high - 1 for which before(i) does not hold, else `high`; by a warp. Each look is a trip to memory that the warp waits
// for, and a good guess takes one: the first look is at places around `near`, farther apart the farther they are from it.
template <class Before>
__device__ __forceinline__ cuda::std::int64_t search_by_warp(cuda::std::int64_t low, cuda::std::int64_t high, cuda::std::int64_t near,
                                                             int lane, Before const& before) {
  using i64 = cuda::std::int64_t;
  constexpr int a_lane = 4, places = 32 * a_lane, half = places / 2;
  // For how many of place(0) .. place(places - 1), which ascend, it holds; in front of `low` it does, from `end` on it does not.
  auto const count = [&](i64 end, auto const& place) {
    int passed = 0;
#pragma unroll
    for (int j = 0; j < a_lane; ++j) {
      i64 const at = place(j * 32 + lane);
      passed += __popc(__ballot_sync(full_warp, at < low || (at < end && before(at))));
    }
    return passed;
  };
  auto const distance = [](int i) { return i < 4 ? i64{i} : i64{4 + i % 4} << (i / 4 - 1); };  // 0, 1 .. 8, 10 .. 16, 20 .. 32, 40 ..
  auto const around = [&](int i) { return i < half ? near - distance(half - i) : near + distance(i - half); };
  int const passed = count(high, around);
  i64 const first = passed > 0 ? max(around(passed - 1) + 1, low) : low, last = passed < places ? min(around(passed), high) : high;
  return search_together<places>(first, last, [&](i64 from, i64 to, i64 step) {
    return count(to, [&](int i) { return from + (i + 1) * step - 1; });
  });
}

// A segment, or nothing where it ends before it begins.
struct segment_extent {
  cuda::std::int64_t number, begin, end;
};

// The segments that begin in windows of `Window` positions or reach into them, 32 at a time at most, for a warp that goes from window to
// window: open(from) begins one, next(segment) gives each lane one, in order, and whether there are more; of those that begin in front of
// the window only the last can reach into it. `end` may be any element behind a chunk's end that the segment has.
template <class Segments, int Window>
class segments_in_windows {  // by offsets or by length
 public:
  using i64 = cuda::std::int64_t;
  __device__ __forceinline__ segments_in_windows(Segments const& segments, i64 count, i64 from, int lane)
      : list_{segments, count}, lane_(lane), wanted_(from) {}
  // What begins where the array ends is empty.
  __device__ __forceinline__ void open(i64 from) { to_ = min(from + Window, list_.n); }
  __device__ __forceinline__ bool next(segment_extent& segment) {
    i64 const count = list_.segments.count();
    if (wanted_ != no_segment) {
      i64 const near = next_ == 0 ? list_.near(wanted_) : next_;
      i64 const passed = search_by_warp(next_, count + 1, near, lane_, [&](i64 k) { return list_.offset(k) < wanted_; });
      next_ = passed > 0 ? passed - 1 : 0;
      wanted_ = no_segment;
    }
    segment = {next_ + lane_, 0, 0};
    bool begins = false;
    if (segment.number < count) {
      segment.begin = list_.offset(segment.number);
      segment.end = list_.offset(segment.number + 1);
      begins = segment.begin < to_;
    }
    if (!begins) segment.end = segment.begin;
    int const here = __popc(__ballot_sync(full_warp, begins));
    next_ += here;
    if (here == 32) return true;
    if (next_ > 0) --next_;
    return false;
  }
  // Of segments that next() gave none has elements from the window on: passes those that are empty where the last of them is.
  __device__ __forceinline__ void pass_empty(segment_extent const& segment) { wanted_ = shuffle(segment.begin, 31) + 1; }

 private:
  segment_windows<Segments> list_;
  int lane_;
  i64 next_ = 0, to_ = 0;
  i64 wanted_;  // if it is a position, the last segment that begins before it is next
};

// By keys that ascend.
template <class K, int Window>
class segments_in_windows<segments_by_key<K>, Window> {
 public:
  using i64 = cuda::std::int64_t;
  __device__ __forceinline__ segments_in_windows(segments_by_key<K> const& segments, i64 count, i64 from, int lane)
      : list_(segments, count), lane_(lane) {
    if (from > 0 && from < count && !differ(key(from - 1), key(from))) {
      K const here = key(from);
      start_ = search_by_warp(0, from, from, lane, [&](i64 i) { return differ(key(i), here); });
    }
  }
  // The window behind the one before.
  __device__ __forceinline__ void open(i64 from) {
    heads_ = from_ != no_segment ? next_heads_ : marks(from);
    from_ = from;
    next_heads_ = marks(from + Window);
    int const own = __popc(heads_);
    up_to_ = own;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
      int const before = __shfl_up_sync(full_warp, up_to_, static_cast<unsigned>(d));
      if (lane_ >= d) up_to_ += before;
    }
    bool const begins = (shuffle(heads_, 0) & 1u) != 0;
    front_ = start_ != no_segment && !begins ? 1 : 0;
    number_ = front_ + __shfl_sync(full_warp, up_to_, 31);
    done_ = 0;
  }
  __device__ __forceinline__ bool next(segment_extent& segment) {
    int const candidate = done_ + lane_, place = head(candidate - front_);
    i64 const begin = candidate < front_ ? start_ : from_ + place;
    segment = {no_segment, begin, shuffle(begin, (lane_ + 1) % 32)};
    bool const there = lane_ < 31 && candidate < number_;
    done_ += 31;
    bool const more = done_ < number_;
    if (!more) {
      // The last one ends where the next window has a head; if it has none there, it goes on behind its chunk.
      unsigned const words = __ballot_sync(full_warp, next_heads_ != 0);
      int const word = words != 0 ? __ffs(static_cast<int>(words)) - 1 : 31;
      int const bit = __ffs(static_cast<int>(shuffle(next_heads_, word))) - 1;
      if (there && candidate == number_ - 1) segment.end = words != 0 ? from_ + Window + word * 32 + bit : min(from_ + 2 * Window, list_.n);
      if (number_ > 0) start_ = shuffle(begin, (number_ - 1) - (done_ - 31));
    }
    if (there) segment.number = index64(key(begin));
    if (segment.number < 0 || segment.number >= list_.segments.number) segment.end = segment.begin;
    return more;
  }
  __device__ __forceinline__ void pass_empty(segment_extent const&) {}  // there are none

 private:
  __device__ __forceinline__ K const& key(i64 i) const { return list_.segments.keys(i); }

  // A bit a position where a segment begins, of 32 each lane.
  __device__ __forceinline__ unsigned marks(i64 from) const {
    constexpr int window_rows = Window / 32, many = segment_windows<segments_by_key<K>>::most_rows;
    constexpr int at_once = window_rows < many ? window_rows : many;
    static_assert(window_rows <= 32 && window_rows % at_once == 0);
    unsigned heads = 0;
#pragma unroll 1
    for (int row = 0; row < window_rows; row += at_once) {
      unsigned const words = list_.template mark_rows<forward, at_once>(from + row * 32, lane_);
      unsigned const turned = shuffle(words, (lane_ - row) & 31);
      if (lane_ >= row && lane_ < row + at_once) heads = turned;
    }
    return heads;
  }
  // The position of a head, counted from the window; of one that is not there anything in it.
  __device__ __forceinline__ int head(int n) const {
    int owner = 0;  // lanes that have fewer up to them
#pragma unroll
    for (int d = 16; d > 0; d /= 2) {
      int const there = __shfl_sync(full_warp, up_to_, owner + d - 1);
      if (there <= n) owner += d;
    }
    unsigned const bits = __shfl_sync(full_warp, heads_, owner);
    int const before = __shfl_sync(full_warp, up_to_, owner) - __popc(bits);
    return n >= before && n - before < __popc(bits) ? owner * 32 + place_of_bit(bits, n - before) : 0;
  }

  segment_windows<segments_by_key<K>> list_;
  int lane_;
  i64 start_ = no_segment;  // of the segment that reaches up to the window
  i64 from_ = no_segment;
  unsigned heads_ = 0, next_heads_ = 0;  // of the window and of the one behind it
  int up_to_ = 0, front_ = 0, number_ = 0, done_ = 0;
};

template <class Arguments>
class segment_reducer {
 public:
  using T = typename Arguments::value_type;
  using S = typename Arguments::source_type;
  using Operation = typename Arguments::operation_type;
  using element_type = typename Arguments::output_type::element_type;
  using pad = padded<Operation, T>;
  using P = typename pad::value_type;
  using i64 = cuda::std::int64_t;
  using u32 = cuda::std::uint32_t;
  static constexpr int rows = segment_chunk_rows<T>, chunk = segment_chunk<T>;
  static constexpr int resident_threads = rows * sizeof(P) <= 128 ? 1024 : 512;  // a speed choice

  // A chunk whose node is not all that is wanted.
  struct held_chunk {
    T sum;
    i64 origin, number;
    i64 ends_segment;
  };

  // Room for a chunk of each window, for most_nodes_in_front nodes, and for the rows of a chunk.
  __device__ __forceinline__ segment_reducer(Arguments const& a, u32 run, held_chunk* held, T* in_front, int* table, int lane)
      : a_(a), run_(run), held_(held), in_front_(in_front), table_(table), lane_(lane) {}

  __device__ __forceinline__ void reduce_windows(i64 first, i64 last) {
    if (first >= last) return;
    segments_in_windows<typename Arguments::segments_type, chunk> segments(a_.segments, a_.count, first * chunk, lane_);
#pragma unroll 1
    for (i64 window = first; window < last; ++window) {
      from_ = window * chunk;
      segments.open(from_);
      bool more = true;
#pragma unroll 1
      while (more) {
        segment_extent segment;
        more = segments.next(segment);
        bool const some = reduce_chunks(segment);
        if (more && !some) segments.pass_empty(segment);
      }
    }
    look_back();
  }

 private:
  // A lane's chunk, if its segment has one that begins in the window; whether a lane has one.
  __device__ __forceinline__ bool reduce_chunks(segment_extent const& segment) {
    i64 const number = segment.begin < from_ ? ceil_div(from_ - segment.begin, i64{chunk}) : 0, begin = segment.begin + number * chunk;
    i64 const left = begin < from_ + chunk ? segment.end - begin : 0;
    int const size = static_cast<int>(left < 0 ? 0 : (left < chunk ? left : chunk));
    bool const is_last = left <= chunk;
    if (!__any_sync(full_warp, size > 0)) return false;
    place_ = static_cast<int>(begin - from_);
    size_ = size;
    constexpr int few = 8;
    P const node = __any_sync(full_warp, size > few) ? join_by_rows() : join_by_lanes<few>();
    bool const whole = size > 0 && number == 0 && is_last;
    if (whole) write(segment.number, pad::value(node));
    // Chunks of segments that have several: one that goes on in front of the window, one that goes on behind it.
    unsigned others = __ballot_sync(full_warp, size > 0 && !whole);
#pragma unroll 1
    while (others != 0) {
      int const owner = __ffs(static_cast<int>(others)) - 1;
      others &= others - 1u;
      i64 const of_segment = shuffle(number, owner), origin = shuffle(segment.begin, owner) / chunk;
      bool const ends = __shfl_sync(full_warp, is_last ? 1 : 0, owner) != 0;
      constexpr i64 radix = i64{1} << lookback_radix_bits;
      // One a window at most; of segments that do not ascend there can be more, for which there is no room.
      bool const looks_back = of_segment > 0 && (ends || of_segment % radix == radix - 1) && held_chunks_ < most_windows_of_warp;
      if (lane_ == owner) {
        T const sum = pad::value(node);
        if (!ends) a_.nodes.publish(run_, origin, of_segment, sum);
        if (looks_back) held_[held_chunks_] = {sum, origin, of_segment, ends ? segment.number : no_segment};
      }
      if (looks_back) ++held_chunks_;
    }
    return true;
  }

  // What is left: chunks that end their segment, and those that complete a node of the level above.
  __device__ __forceinline__ void look_back() {
    __syncwarp();
#pragma unroll 1
    for (int i = 0; i < held_chunks_; ++i) {
      held_chunk const& held = held_[i];
      bool const ends = held.ends_segment != no_segment;
      int const found = a_.nodes.template gather<100>(run_, held.origin, held.number, held.sum, a_.operation, in_front_, !ends);
      if (lane_ == 0 && ends) {
        T joined = held.sum;
#pragma unroll 1
        for (int k = 0; k < found; ++k) joined = a_.operation(T(in_front_[k]), joined);
        write(held.ends_segment, joined);
      }
      __syncwarp();
    }
  }

  __device__ __forceinline__ void write(i64 segment, T sum) const {
    if (a_.has_initial) sum = a_.operation(a_.initial, sum);
    a_.out(segment) = conversion<element_type, T>::of(canonical(sum));
  }

  // use(get), where get(i) is the element `place` + i places behind the window's begin.
  template <class Use>
  __device__ __forceinline__ P with_elements(int place, Use const& use) const {
    if constexpr (has_vectors<S>) {
      if (a_.contiguous) {
        auto const* from = source_memory<S>::array(a_.in).data_handle() + from_ + place;
        asm("" : "+l"(from));  // else the compiler forms it anew for each element
        return use([&](int i) {
          auto const value = source_memory<S>::value(a_.in, from[i]);
          return pad::present(conversion<T, cuda::std::remove_cvref_t<decltype(value)>>::of(value));
        });
      }
    }
    return use([&](int i) {
      auto const value = a_.in(from_ + place + i);
      return pad::present(conversion<T, cuda::std::remove_cvref_t<decltype(value)>>::of(value));
    });
  }

  // D of the lane's chunk, of `Few` elements at most.
  template <int Few>
  __device__ __forceinline__ P join_by_lanes() const {
    return with_elements(place_, [&](auto const& get) {
      P value[Few];
#pragma unroll
      for (int i = 0; i < Few; ++i) value[i] = i < size_ ? get(i) : pad::absent();
      return join_values(value, pad::operation(a_.operation));
    });
  }

  // D of the lane's chunk, row by row. Long ones come first, so that each begins at a multiple of its room.
  __device__ __forceinline__ P join_by_rows() const {
    auto const& combine = pad::operation(a_.operation);
    int const own_rows = (size_ + 31) / 32, level = own_rows > 1 ? 32 - __clz(own_rows - 1) : 0;
    int all = 0, own_begin = -1;
#pragma unroll
    for (int l = levels; l >= 0; --l) {
      unsigned const owners = __ballot_sync(full_warp, size_ > 0 && level == l);
      if (size_ > 0 && level == l) own_begin = all + (__popc(owners & ((1u << lane_) - 1u)) << l);
      all += __popc(owners) << l;
    }
    P mine = pad::absent();
#pragma unroll 1
    for (int first = 0; first < all; first += rows) {
      bool const is_here = own_begin >= first && own_begin < first + rows;
      unsigned const alone = __ballot_sync(full_warp, is_here && level == levels);
      if (alone != 0) {
        int const owner = __ffs(static_cast<int>(alone)) - 1, size = __shfl_sync(full_warp, size_, owner) - lane_;
        P joined = with_elements(__shfl_sync(full_warp, place_, owner) + lane_, [&](auto const& get) {
          return join_row_nodes([&](int half, int i) {
            int const at = (half * (rows / 2) + i) * 32;
            return at < size ? get(at) : pad::absent();
          });
        });
#pragma unroll
        for (int l = 0; l < levels; ++l) joined = join_beside(joined, lane_, 1 << l, combine);
        if (lane_ == owner) mine = joined;
        continue;
      }
      // Of each row its place, elements and the level of its chunk.
      if (lane_ < rows) table_[lane_] = 0;
      __syncwarp();
#pragma unroll 1
      for (int r = 0; __any_sync(full_warp, is_here && r < own_rows); ++r) {
        if (is_here && r < own_rows) table_[own_begin - first + r] = (place_ + r * 32) << 16 | level << 8 | min(size_ - r * 32, 32);
      }
      __syncwarp();
      P joined = with_elements(lane_, [&](auto const& get) {
        return join_row_nodes([&](int half, int i) {
          int const row = table_[half * (rows / 2) + i];
          return lane_ < (row & 0xFF) ? get(row >> 16) : pad::absent();
        });
      });
      int const level_here = table_[lane_ % rows] >> 8 & 0xFF;
#pragma unroll
      for (int l = 0; l < levels - 1; ++l) {
        P const beside = join_beside(joined, lane_, 1 << l, combine);
        if (l < level_here) joined = beside;
      }
      P const own = shuffle(joined, (own_begin - first) & 31);
      if (is_here) mine = own;
      __syncwarp();
    }
    return mine;
  }

  // D of each row, on the lanes of its number and what repeats them; element(half, i) gives a lane's element of row i of a half.
  template <class Element>
  __device__ __forceinline__ P join_row_nodes(Element const& element) const {
    auto const& combine = pad::operation(a_.operation);
    P halves[2] = {pad::absent(), pad::absent()};
#pragma unroll 1
    for (int half = 0; half < 2; ++half) {
      P node[rows / 2];
#pragma unroll
      for (int i = 0; i < rows / 2; ++i) node[i] = element(half, i);
      exchange_rows<rows / 2, 0>(node, lane_, combine);
      halves[0] = halves[1];
      halves[1] = node[0];
    }
    exchange_rows<2, levels - 1>(halves, lane_, combine);
    P mine = halves[0];
#pragma unroll
    for (int d = rows; d < 32; d *= 2) mine = join_beside(mine, lane_, d, combine);
    return mine;
  }

  static constexpr int levels = cuda::std::countr_zero(static_cast<unsigned>(rows));

  Arguments const& a_;
  u32 run_;
  held_chunk* held_;
  T* in_front_;
  int* table_;
  int lane_;
  int held_chunks_ = 0;
  i64 from_ = 0;              // of the window
  int place_ = 0, size_ = 0;  // of the lane's chunk, counted from there
};

template <class Arguments>
__global__ __launch_bounds__(32 * segment_reduce_warps<typename Arguments::value_type>,
                             resident_blocks(segment_reducer<Arguments>::resident_threads,
                                             32 * segment_reduce_warps<typename Arguments::value_type>)) void
    segment_reduce_kernel(__grid_constant__ Arguments const a) {
  using T = typename Arguments::value_type;
  static_assert(sizeof(T) <= 1024, "a segmented reduction's values have 1,024 bytes at most");
  constexpr int warps = segment_reduce_warps<T>;
  using i64 = cuda::std::int64_t;
  using reducer_type = segment_reducer<Arguments>;
  __shared__ shared_values<typename reducer_type::held_chunk, warps * most_windows_of_warp> held;
  __shared__ shared_values<T, warps * most_nodes_in_front> in_front;
  __shared__ alignas(16) int table[warps][segment_chunk_rows<T>];
  __shared__ cuda::std::uint32_t run, ticket;
  int const lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  if (threadIdx.x == 0) {
    run = a.header->run();
    ticket = a.header->take(a.header->base());
  }
  __syncthreads();
  // Windows in front belong to blocks that run, and a warp publishes what it has of a window before it looks back.
  i64 const first = (i64{ticket} * warps + warp) * a.windows_of_warp;
  reducer_type reducer(a, run, held.data() + warp * most_windows_of_warp, in_front.data() + warp * most_nodes_in_front, table[warp], lane);
  reducer.reduce_windows(first, min(first + a.windows_of_warp, a.windows));
  __syncthreads();
  if (threadIdx.x == 0) a.header->leave(gridDim.x, gridDim.x);
}

}  // namespace tessera::inline v0_1::detail
