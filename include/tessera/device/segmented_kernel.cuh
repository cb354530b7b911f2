// The kernel of segmented scans and reductions.
//
// Segments are cut into chunks of `window` elements, counted from each segment's own start, so that nodes of D never cross a cut. A block
// has a window of positions, and works on the chunks that begin in it: some short segments, or one chunk of a long one. A thread walks the
// pieces of chunks that begin in its share of them, with D's counter in registers. Pieces of a chunk are joined in the block, chunks of a
// segment by looking back.
#pragma once

#include <cuda_pipeline.h>

#include <cuda/std/cstdint>
#include <cuda/std/type_traits>

#include <tessera/accumulate.hpp>
#include <tessera/config.hpp>
#include <tessera/device/row_access.cuh>
#include <tessera/device/segment_windows.cuh>
#include <tessera/group/shared_values.cuh>
#include <tessera/group/warp_rows.cuh>
#include <tessera/lookback/lookback.cuh>

namespace tessera::inline v0_1::detail {

enum class segmented_result { inclusive, exclusive, reduced };

// Elements of a window, and of the longest chunk. A speed choice.
template <class T>
inline constexpr int segmented_window = sizeof(T) <= 4 ? 4096 : (sizeof(T) <= 8 ? 2048 : 1024);

template <scan_direction Direction, segmented_result Result, class S, class Segments, class Out, class T, class Operation>
struct segmented_arguments {
  static constexpr scan_direction direction = Direction;
  static constexpr segmented_result result = Result;
  using source_type = S;
  using segments_type = Segments;
  using value_type = T;
  using output_type = Out;
  static constexpr int window = segmented_window<T>;
  static constexpr int share = window / 256;            // of a thread, a piece of a chunk
  static constexpr int threads = 256 + 32;              // most windows hold a little more than they are long
  static constexpr int places = 2 * window + share;     // in shared memory
  static constexpr int shared_bytes = (places + places / 32 + 1) * static_cast<int>(sizeof(T));

  S in;
  Segments segments;
  Out out;
  cuda::std::int64_t count;
  cuda::std::uint32_t windows;
  bool has_initial;
  T initial;
  Operation operation;
  lookback_header* header;
  lookback<T> nodes;
  lookback<cuda::std::int64_t> heads;  // where starts must be looked for
};

// Whether elements can be copied as they are.
template <class S, class T>
inline constexpr bool is_array_of = cuda::std::is_same_v<S, view<T const, 1>> && (sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16) &&
                                    alignof(T) == sizeof(T);

struct later {
  __device__ __forceinline__ cuda::std::int64_t operator()(cuda::std::int64_t a, cuda::std::int64_t b) const { return a < b ? b : a; }
};

template <class Arguments>
__global__ __launch_bounds__(Arguments::threads, 4) void segmented_kernel(__grid_constant__ Arguments const a) {
  using T = typename Arguments::value_type;
  using i64 = cuda::std::int64_t;
  using element_type = typename Arguments::output_type::element_type;
  constexpr scan_direction direction = Arguments::direction;
  constexpr int threads = Arguments::threads, window = Arguments::window, warps = threads / 32;
  constexpr int share_bits = Arguments::share == 16 ? 4 : (Arguments::share == 8 ? 3 : 2), most_piece_bits = share_bits + 1;
  static_assert(Arguments::share == 1 << share_bits && 2 * window <= threads * 2 * Arguments::share);
  constexpr bool scans = Arguments::result != segmented_result::reduced;
  using windows_type = segment_windows<typename Arguments::segments_type>;

  extern __shared__ __align__(16) unsigned char tessera_values[];

  T* const values = reinterpret_cast<T*>(tessera_values);
  auto const at = [](int i) { return i + i / 32; };  // threads walk rows of 16 or 32 beside each other: no two in one bank
  __shared__ head_bits<2 * window> heads;
  __shared__ shared_values<T, threads> piece_node[2];
  __shared__ int piece_start[threads + 1];
  __shared__ int warp_head[warps];
  __shared__ shared_values<T, most_nodes_in_front> in_front;
  __shared__ i64 shared_start;
  __shared__ cuda::std::uint32_t ticket;
  __shared__ int found;
  int const thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;

  i64 const n = a.count;
  windows_type const segments{a.segments, n};
  i64 const end = segments.template end<direction>();
  cuda::std::uint32_t run = 0;
  if (warp == 0) {
    run = a.header->run();
    if (lane == 0) ticket = a.header->take(a.header->base());
  }
  for (int i = thread; i < 2 * window / 32; i += threads) heads.word[i] = 0;
  __syncthreads();
  i64 const tile = ticket, first = tile * window;
  // The window's elements are on their way while its segments are looked for. Places count from the window's first position.
  auto const load = [&](int place) {
    if (first + place >= n) return;
    i64 const element = element_at<direction>(first + place, n);
    if constexpr (is_array_of<typename Arguments::source_type, T>) {
      __pipeline_memcpy_async(values + at(place), &a.in(element), sizeof(T));
    } else {
      auto const value = a.in(element);
      values[at(place)] = conversion<T, cuda::std::remove_cvref_t<decltype(value)>>::of(value);
    }
  };
  auto const loaded = [] {
    if constexpr (is_array_of<typename Arguments::source_type, T>) {
      __pipeline_commit();
      __pipeline_wait_prior(0);
    }
  };
#pragma unroll 8
  for (int i = thread; i < window; i += threads) load(i);
  segments.template mark<direction>(first, end, heads, shared_start);
  __syncthreads();

  // The last head in the window, and the first one; -1 and 2 window where there is none.
  int last_head = -1, first_head = 2 * window;
  for (int w = lane; w < 2 * window / 32; w += 32) {
    unsigned const word = heads.word[w];
    if (word == 0) continue;
    first_head = min(first_head, w * 32 + __ffs(static_cast<int>(word)) - 1);
    if (w < window / 32) last_head = max(last_head, w * 32 + 31 - __clz(static_cast<int>(word)));
  }
  for (int d = 16; d > 0; d /= 2) {
    last_head = max(last_head, __shfl_xor_sync(full_warp, last_head, d));
    first_head = min(first_head, __shfl_xor_sync(full_warp, first_head, d));
  }
  // Where the segment of the window's first position starts, if not there.
  if (warp == 0) {
    i64 start = no_segment;
    if constexpr (windows_type::knows_starts) {
      start = shared_start;
    } else {
      i64 const last = last_head >= 0 ? first + last_head : no_segment;
      __shared__ i64 list[most_nodes_in_front];
      if (lane == 0 && tile + 1 < a.windows) a.heads.publish(run, 0, tile, last);
      int const number = a.heads.template gather<200, 0>(run, 0, tile, last, later{}, list);
      for (int k = 0; k < number; ++k) start = list[k] > start ? list[k] : start;
    }
    __syncwarp();
    if (lane == 0) shared_start = first_head == 0 || first >= end ? no_segment : start;
  }
  __syncthreads();
  i64 const start = shared_start;

  // The chunks that begin in the window: from `begin` up to `stop`, counted from the window's first position.
  int begin = first_head, last_chunk = last_head;
  i64 chunk_number = 0;  // of the first one in its segment
  if (start != no_segment) {
    i64 const number = (first - start + window - 1) / window, to = start + number * window - first;
    if (to < first_head && first + to < end) {
      begin = static_cast<int>(to);
      chunk_number = number;
      if (last_head < 0) last_chunk = begin;
    }
  }
  bool const any = begin < window && last_chunk >= 0;
  if (!any) loaded();  // a thread does not end before its copies have
  if (any) {
    int stop = last_chunk + window;
    bool ends = false;  // a segment ends there
    for (int w = (last_chunk + 1) / 32 + lane; w < 2 * window / 32; w += 32) {
      unsigned word = heads.word[w];
      if (w == (last_chunk + 1) / 32) word &= ~0u << ((last_chunk + 1) % 32);
      if (word != 0) {
        stop = min(stop, w * 32 + __ffs(static_cast<int>(word)) - 1);
        break;
      }
    }
    for (int d = 16; d > 0; d /= 2) stop = min(stop, __shfl_xor_sync(full_warp, stop, d));
    if (first + stop >= end) stop = static_cast<int>(end - first);
    ends = first + stop == end || (stop < 2 * window && heads.test(stop));
    int const size = stop - begin;
    bool const last_is_whole = stop - last_chunk == window;
    int const piece_bits = size <= threads << share_bits ? share_bits : share_bits + 1;
    int const piece = 1 << piece_bits;

    for (int i = window + thread; i < stop; i += threads) load(i);
    loaded();

    // ---- pieces: the one that a thread's share begins with starts at the first place from there on that is a multiple of a piece in its
    // chunk
    int const share = thread << piece_bits;  // from `begin`
    auto const bits_at = [&](int i) {        // the heads of 32 positions from begin + i on
      int const p = begin + i;
      if (p >= 2 * window) return 0u;
      unsigned const low = heads.word[p / 32], high = p / 32 + 1 < 2 * window / 32 ? heads.word[p / 32 + 1] : 0u;
      return __funnelshift_r(low, high, static_cast<unsigned>(p % 32));
    };
    unsigned const share_mask = piece == 32 ? ~0u : (1u << piece) - 1u;
    unsigned const share_heads = share < size ? bits_at(share) & share_mask : 0u;
    int head_before = share_heads != 0 ? share + 31 - __clz(static_cast<int>(share_heads)) : -1;
    for (int d = 1; d < 32; d *= 2) {
      int const other = __shfl_up_sync(full_warp, head_before, static_cast<unsigned>(d));
      if (lane >= d) head_before = max(head_before, other);
    }
    if (lane == 31) warp_head[warp] = head_before;
    head_before = __shfl_up_sync(full_warp, head_before, 1);
    if (lane == 0) head_before = -1;
    __syncthreads();
    for (int w = 0; w < warp; ++w) head_before = max(head_before, warp_head[w]);
    int const chunk_start = head_before < 0 ? 0 : head_before;  // the chunk that the share's first place belongs to
    int my_start = chunk_start + ((share - chunk_start + piece - 1) >> piece_bits << piece_bits);
    if (share_heads != 0) my_start = min(my_start, share + __ffs(static_cast<int>(share_heads)) - 1);
    my_start = min(my_start, size);
    piece_start[thread] = my_start;
    if (thread == 0) piece_start[threads] = size;
    __syncthreads();
    int const my_end = piece_start[thread + 1];
    bool const starts_with_head = my_start < size && begin + my_start < 2 * window && heads.test(begin + my_start);
    int const my_chunk = starts_with_head ? my_start : chunk_start;
    int const my_number = my_start < my_end ? (my_start - my_chunk) >> piece_bits : 0;  // of the first piece in its chunk

    // ---- prefixes in the pieces: in registers where all threads of a warp have one piece of a share, else element by element
    bool const several = my_start < my_end && my_start - share < piece && (share_heads >> (my_start - share)) >> 1 != 0;
    bool const plain = piece_bits == share_bits && !__any_sync(full_warp, several);
    // The prefixes of a plain warp's thread; of another's, the nodes in front of its first piece.
    T held[Arguments::share > 8 ? Arguments::share : 8];
    T last{};
    int first_end = my_end;  // where the first piece ends
    if (plain) {
#pragma unroll
      for (int i = 0; i < Arguments::share; ++i) held[i] = my_start + i < my_end ? T(values[at(begin + my_start + i)]) : T{};
      scan_values<Arguments::share>(held, a.operation);
      last = held[Arguments::share - 1];
      if (my_end - my_start < piece) {
#pragma unroll
        for (int i = 0; i < Arguments::share; ++i) {
          if (i == my_end - my_start - 1) last = held[i];
        }
      }
    } else {
      T node[most_piece_bits];  // of 1, 2, 4, .. elements of the piece so far
      int place = 0;            // of the element in its piece
#pragma unroll 1
      for (int i = my_start; i < my_end; ++i, ++place) {
        if (i > my_start && heads.test(begin + i)) {
          if (first_end == my_end) first_end = i;
          place = 0;
        }
        T prefix = values[at(begin + i)], carry = prefix;
        bool carries = true;
#pragma unroll
        for (int b = 0; b < most_piece_bits; ++b) {
          if ((place >> b & 1) != 0) {
            prefix = a.operation(node[b], prefix);
            if (carries) carry = prefix;
          } else if (carries) {
            node[b] = carry;
            carries = false;
          }
        }
        values[at(begin + i)] = last = prefix;
      }
    }

    // ---- nodes of pieces in front of a thread's first piece, in its chunk
    unsigned in_chunk = 0;
    piece_node[0][thread] = last;
    __syncthreads();
#pragma unroll
    for (int b = 0; b < 8; ++b) {
      if ((my_number >> b & 1) != 0) {
        in_chunk |= 1u << b;
        T const node = piece_node[b % 2][thread - (my_number & ((1 << b) - 1)) - 1];
        if (first_end == my_end) last = a.operation(node, last);
        if (!plain) {
          held[b] = node;
        } else if constexpr (scans) {
#pragma unroll
          for (int i = 0; i < Arguments::share; ++i) held[i] = a.operation(node, held[i]);
        }
      }
      piece_node[(b + 1) % 2][thread] = last;
      if (!__syncthreads_or((my_number >> b) > 1 ? 1 : 0)) break;
    }
    // Every thread whose pieces reach the end of the block's last chunk knows D of it.
    if (my_end == size && my_start < my_end) piece_node[0][0] = last;
    __syncthreads();

    // ---- chunks in front of the first one, in its segment
    if (warp == 0) {
      int number = 0;
      T const chunk = piece_node[0][0];
      bool const one = last_chunk == begin;
      if (last_is_whole && lane == 0) {
        i64 const origin = one && chunk_number > 0 ? start : first + last_chunk;
        a.nodes.publish(run, origin / window, one ? chunk_number : 0, chunk);
      }
      // A reduction needs what lies in front where a segment ends, and where a node of the level above becomes complete.
      bool const whole = one && last_is_whole;
      bool const ends_segment = !one || ends;
      if (chunk_number > 0 &&
          (scans || ends_segment || (whole && chunk_number % (1 << lookback_radix_bits) == (1 << lookback_radix_bits) - 1)))
        number = a.nodes.template gather<200, 0>(run, start / window, chunk_number, chunk, a.operation, in_front.data(), whole);
      if (lane == 0) found = number;
    }
    __syncthreads();

    // ---- the whole prefixes
    int const number = found;
    bool const in_first_chunk = chunk_number > 0 && my_chunk == 0 && my_start < my_end;
    if (plain) {
      if (in_first_chunk) {
#pragma unroll 1
        for (int k = 0; k < number; ++k) {
          T const front = in_front[k];
          last = a.operation(front, last);
          if constexpr (scans) {
#pragma unroll
            for (int i = 0; i < Arguments::share; ++i) held[i] = a.operation(front, held[i]);
          }
        }
      }
      if constexpr (scans) {
#pragma unroll
        for (int i = 0; i < Arguments::share; ++i) {
          if (my_start + i < my_end) values[at(begin + my_start + i)] = held[i];
        }
      } else if (my_start < my_end) {
        values[at(begin + my_end - 1)] = last;  // where a segment ends, if one does
      }
    } else if (in_chunk != 0 || in_first_chunk) {
#pragma unroll 1
      for (int i = scans ? my_start : first_end - 1; i < first_end; ++i) {
        T prefix = values[at(begin + i)];
#pragma unroll
        for (int b = 0; b < 8; ++b) {
          if ((in_chunk >> b & 1u) != 0) prefix = a.operation(held[b], prefix);
        }
        if (in_first_chunk) {
          for (int k = 0; k < number; ++k) prefix = a.operation(in_front[k], prefix);
        }
        values[at(begin + i)] = prefix;
      }
    }
    __syncthreads();

    // ---- results
    if constexpr (Arguments::result == segmented_result::reduced) {
      auto const is_end = [&](i64 element) {
        int const next = static_cast<int>(element - first) + 1;
        return next == stop ? ends : heads.test(next);
      };
      segments.for_each_end(first + begin, first + stop, is_end, [&](i64 segment, i64 element) {
        T const sum = values[at(static_cast<int>(element - first))];
        a.out(segment) = conversion<element_type, T>::of(canonical(a.has_initial ? a.operation(a.initial, sum) : sum));
      });
    } else {
      for (int i = thread; i < size; i += threads) {
        auto& to = a.out(element_at<direction>(first + begin + i, n));
        if constexpr (Arguments::result == segmented_result::inclusive) {
          to = conversion<element_type, T>::of(canonical(values[at(begin + i)]));
        } else if (heads.test(begin + i)) {
          to = conversion<element_type, T>::of(a.initial);
        } else {
          T prefix;
          if (i > 0) {
            prefix = values[at(begin + i - 1)];
          } else {
            prefix = in_front[0];
            for (int k = 1; k < number; ++k) prefix = a.operation(in_front[k], prefix);
          }
          to = conversion<element_type, T>::of(canonical(a.operation(a.initial, prefix)));
        }
      }
    }
  }
  // The run ends when its last window has looked back; windows that begin no chunk publish nothing and wait for nothing.
  if (thread == 0) a.header->leave(a.windows);
}

}  // namespace tessera::inline v0_1::detail
