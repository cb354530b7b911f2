// The kernel of segmented scans.
//
// Segments are cut into chunks of `window` elements, counted from each segment's own start, so that nodes of D never cross a cut. A window
// of positions stands for the chunks that begin in it: some short segments, or one chunk of a long one. The same cut again, at an eighth of
// the length, gives the units that warps scan. Nodes of units are joined in the block, chunks of a segment by looking back.
//
// A block is warps with roles, which go round a ring of stages:
//
//   drawer      takes tickets, one a stage
//   planners    fetch what begins in the windows
//   placer      gives the elements places in shared memory
//   loaders     bring the elements into shared memory
//   scanners    turn each unit's elements into prefixes, in place
//   publisher   joins the units of a whole chunk and publishes its node
//   gatherers   look back for the nodes in front, and join chunks to nodes of the levels above
//   writers     add what lies in front of a unit, and write
#pragma once

#include <cuda_pipeline.h>

#include <cuda/std/bit>
#include <cuda/std/cstdint>
#include <cuda/std/type_traits>

#include <tessera/accumulate.hpp>
#include <tessera/config.hpp>
#include <tessera/device/segment_plans.cuh>
#include <tessera/device/segment_windows.cuh>
#include <tessera/group/lap_barrier.cuh>
#include <tessera/group/shared_values.cuh>
#include <tessera/group/warp_rows.cuh>
#include <tessera/lookback/lookback.cuh>

namespace tessera::inline v0_1::detail {

template <scan_direction Direction, bool Exclusive, class S, class Out, class T, class Operation>
struct segmented_arguments {
  static constexpr scan_direction direction = Direction;
  static constexpr bool exclusive = Exclusive;
  using source_type = S;
  using value_type = T;
  using output_type = Out;
  using operation_type = Operation;

  S in;
  Out out;
  cuda::std::int64_t count;
  int places;  // of elements in shared memory
  bool in_contiguous, out_contiguous;
  T initial;
  Operation operation;
  lookback_header* header;
  lookback<T> nodes;
  window_plans<T> plans;
};

// Whether elements can be copied as they are.
template <class S, class T>
inline constexpr bool is_array_of = cuda::std::is_same_v<S, view<T const, 1>> && (sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16) &&
                                    alignof(T) == sizeof(T);

// The block.
template <class T>
struct segmented_ring : segmented_shape<T> {
  using base = segmented_shape<T>;
  static constexpr int planners = 2, loaders = 3, scanners = 12, gatherers = 2, writers = 10;  // warps
  static constexpr int threads = 32 * (1 + planners + 1 + loaders + scanners + 1 + gatherers + writers);
  static constexpr int stages = 12;
  // A unit's elements lie together, those behind 32 others one further: shares that lanes walk beside each other meet no bank twice.
  static constexpr int row = 33;
  __device__ __forceinline__ static int at(int i) { return i + (i >> 5); }
  // Where a unit begins in a stage: it and the units before it can be as long as two.
  __device__ __forceinline__ static int unit_at(int u, int unit_begin) { return unit_begin + 2 * base::unit / 32 * u; }
  __device__ __forceinline__ static int places_of(int units, int size) { return size + 2 * base::unit / 32 * units; }
  static constexpr int most_places = 2 * base::window + 2 * base::unit / 32 * base::most_units;  // of a window
};

template <class Arguments>
struct segmented_block {
  using T = typename Arguments::value_type;
  using Operation = typename Arguments::operation_type;
  using plan_type = planned_window<T>;
  using element_type = typename Arguments::output_type::element_type;
  using i64 = cuda::std::int64_t;
  using u32 = cuda::std::uint32_t;
  static constexpr scan_direction direction = Arguments::direction;
  static constexpr bool exclusive = Arguments::exclusive;
  using shape = segmented_ring<T>;
  static constexpr int window = shape::window, unit = shape::unit, share = shape::share, most_units = shape::most_units;
  static constexpr int most_listed = 96;  // pieces of a unit that are scanned one a lane

  // A stage is drawn, planned, placed, filled, scanned, published, gathered for, and empty again. Each lane of a role arrives for what it
  // did itself; a drawer and a placer are one lane.
  struct shared_state {
    lap_barrier drawn[shape::stages], planned[shape::stages], placed[shape::stages], filled[shape::stages], scanned[shape::stages],
        published[shape::stages], gathered[shape::stages], empty[shape::stages];
    u32 number[shape::stages];
    int place[shape::stages];  // where its elements lie
    plan_type plan[shape::stages];
    shared_values<T, shape::stages * most_units> unit_node;  // D of the last piece of a chunk that begins in a unit
    int first_end[shape::stages][most_units];                // place where a unit's first one ends
    shared_values<T, shape::stages> chunk_node;
    shared_values<T, shape::stages * most_nodes_in_front> in_front;
    int found[shape::stages];
    unsigned list[shape::scanners][most_listed + 1];
  };

  static constexpr int state_bytes = (static_cast<int>(sizeof(shared_state)) + 15) / 16 * 16;  // the elements lie behind it

  // Goes round the ring, counted in one number: what a role carries from window to window is kept small, for registers are few.
  struct ring {
    unsigned number = 0;
    __device__ __forceinline__ int stage() const { return static_cast<int>(number % shape::stages); }
    __device__ __forceinline__ unsigned lap() const { return number / shape::stages; }
    __device__ __forceinline__ bool is_turn_of(int one, int all) const {
      return static_cast<int>(number % static_cast<unsigned>(all)) == one;
    }
    __device__ __forceinline__ void next() { ++number; }
  };

  Arguments const& a;
  shared_state& s;
  T* const values;
  int const lane, warp;

  __device__ __forceinline__ T* stage_values(int stage) const { return values + s.place[stage]; }

  // ---- drawer: tickets of a block ascend from stage to stage, so that no window waits for one that its block has not begun; they are
  // drawn one stage ahead and no more, since others wait for what they stand for

  __device__ __forceinline__ void draw_windows() const {
    if (lane != 0) return;
    u32 const base = a.header->base(), windows = static_cast<u32>(a.plans.windows);
    u32 next = a.header->take(base);
    for (ring at;; at.next()) {
      int const stage = at.stage();
      u32 const number = next;
      if (number < windows) next = a.header->take(base);
      if (at.lap() > 0) s.empty[stage].wait(at.lap() - 1);
      s.number[stage] = number;
      s.drawn[stage].arrive();
      if (number >= windows) return;
    }
  }

  // ---- planners

  __device__ __forceinline__ void plan_windows(u32 run, int planner) const {
    for (ring at;; at.next()) {
      int const stage = at.stage();
      s.drawn[stage].wait(at.lap());
      u32 const number = s.number[stage];
      if (at.is_turn_of(planner, shape::planners)) {
        if (number < a.plans.windows) {
          a.plans.read(run, number, lane, s.plan[stage]);
        } else if (lane == 0) {
          s.plan[stage].units = -1;
        }
      }
      s.planned[stage].arrive();
      if (number >= a.plans.windows) return;
    }
  }

  // ---- placer: windows are of any size up to twice the usual one, so that places go round on their own

  __device__ __forceinline__ void place_windows() const {
    if (lane != 0) return;
    ring oldest;  // stage that holds places
    int held = 0;
    int head = 0, tail = 0;  // the places that are held: from tail to head, round the end where head is not behind tail
    auto const free_oldest = [&] {
      s.empty[oldest.stage()].wait(oldest.lap());
      oldest.next();
      tail = --held > 0 ? s.place[oldest.stage()] : head;
    };
    for (ring at;; at.next()) {
      int const stage = at.stage();
      s.planned[stage].wait(at.lap());
      plan_type const& plan = s.plan[stage];
      bool const ended = plan.units < 0;
      if (!ended) {
        int const needed = plan.units == 0 ? 1 : shape::places_of(plan.units, plan.size);
        if (held == shape::stages) free_oldest();
        for (;; free_oldest()) {
          if (held == 0) head = tail = 0;
          bool const round = held > 0 && head <= tail;
          if (!round && a.places - head < needed && tail >= needed) {
            head = 0;
            break;
          }
          if ((round ? tail : a.places) - head >= needed) break;
        }
        s.place[stage] = head;
        head += needed;
        ++held;
      }
      s.placed[stage].arrive();
      if (ended) return;
    }
  }

  // ---- loaders

  __device__ __forceinline__ void load_windows(int loader) const {
    for (ring at;; at.next()) {
      int const stage = at.stage();
      s.placed[stage].wait(at.lap());
      plan_type const& plan = s.plan[stage];
      int const units = plan.units;
      for (int u = loader; u < units; u += shape::loaders) {
        int const from = plan.begin_of(u), size = plan.begin_of(u + 1) - from;
        load_unit(stage_values(stage) + shape::unit_at(u, from), plan.first + plan.begin + from, size);
      }
      if constexpr (is_array_of<typename Arguments::source_type, T>) {
        s.filled[stage].arrive_when_copied();
      } else {
        s.filled[stage].arrive();
      }
      if (units < 0) {
        __pipeline_commit();
        __pipeline_wait_prior(0);
        return;
      }
    }
  }

  __device__ __forceinline__ void load_unit(T* to, i64 first, int size) const {
    to += lane;
    if constexpr (is_array_of<typename Arguments::source_type, T>) {
      char const* from =
          reinterpret_cast<char const*>(a.in.data_handle()) + element_at<direction>(first + lane, a.count) * a.in.mapping().byte_stride(0);
      auto const copy = [&](auto step) {
        if (size == unit) {
#pragma unroll
          for (int i = 0; i < share; ++i) __pipeline_memcpy_async(to + i * shape::row, from + i * step, sizeof(T));
        } else {
#pragma unroll 4
          for (int i = 0; i * 32 + lane < size; ++i) __pipeline_memcpy_async(to + i * shape::row, from + i * step, sizeof(T));
        }
      };
      if (a.in_contiguous) {
        copy(cuda::std::integral_constant<int, row_step<sizeof(T)>>{});
      } else {
        copy(row_step<1> * a.in.mapping().byte_stride(0));
      }
    } else {
      using value_type = cuda::std::remove_cvref_t<decltype(a.in(i64{}))>;
      constexpr int at_once = share * sizeof(value_type) <= 64 ? share : 4;
#pragma unroll 1
      for (int begin = 0; begin < size; begin += at_once * 32) {
        value_type value[at_once];
#pragma unroll
        for (int i = 0; i < at_once; ++i) {
          int const place = begin + i * 32 + lane;
          if (place < size) value[i] = a.in(element_at<direction>(first + place, a.count));
        }
#pragma unroll
        for (int i = 0; i < at_once; ++i) {
          if (begin + i * 32 + lane < size) to[(begin / 32 + i) * shape::row] = conversion<T, value_type>::of(value[i]);
        }
      }
    }
  }

  // From a row of 32 elements to the next one in memory.
  template <int Size>
  static constexpr int row_step = (direction == forward ? 32 : -32) * Size;

  // ---- scanners

  __device__ __forceinline__ void scan_windows(int scanner) const {
    int u = scanner;  // units of windows go round the scanners
    for (ring at;; at.next()) {
      int const stage = at.stage();
      s.placed[stage].wait(at.lap());  // the plan; and then the elements
      s.filled[stage].wait(at.lap());
      plan_type const& plan = s.plan[stage];
      for (; u < plan.units; u += shape::scanners) {
        if (plan.begin_of(u) < plan.begin_of(u + 1)) scan_unit(stage, plan, u, s.list[scanner]);
      }
      int const units = plan.units;
      u -= units;
      s.scanned[stage].arrive();
      if (units < 0) return;
    }
  }

  // The nodes of 1, 2, 4 .. pieces up to each lane's piece of the round before, if there are `Rounds`.
  template <bool Rounds>
  struct piece_nodes {
    T before[5];
    bool first_round = true;

    // For b = 0, 1 .. 4 in turn: the node of 2^b pieces that lies in front of the lane's piece `number`, called where its bit b is set in
    // some lane; and then the node of 2^b pieces up to the lane's own one is kept for the next round.
    __device__ __forceinline__ T front(int b, int number, T const& last, int lane) const {
      int const from = lane - (number & ((1 << b) - 1)) - 1;
      T node = shuffle(last, from & 31);
      if constexpr (Rounds) {
        if (!first_round) {
          T const earlier = shuffle(before[0], from & 31);
          if (from < 0) node = earlier;
        }
      }
      return node;
    }
    __device__ __forceinline__ void turn(T const& own) {
      if constexpr (Rounds) {
#pragma unroll
        for (int b = 0; b < 4; ++b) before[b] = before[b + 1];
        before[4] = own;
      }
    }
  };

  // The prefixes of a lane's piece get the nodes of the pieces in front, in unit and chunk; `last` is the piece's own, and then of them
  // all.
  template <bool Rounds, int Size>
  __device__ __forceinline__ void add_front(T (&held)[Size], T& last, int number, piece_nodes<Rounds>& nodes) const {
    constexpr bool padded = has_identity<Operation, T>;
    // A loop is less code to fetch, but has to move the nodes of an earlier round.
#pragma unroll(Rounds ? 5 : 1)
    for (int b = 0; b < 5; ++b) {
      bool const behind = (number >> b & 1) != 0;
      T const own = last;
      if (__any_sync(full_warp, behind)) {
        T node = nodes.front(b, number, last, lane);
        if constexpr (padded) {
          if (!behind) node = a.operation.template identity<T>();
        }
        if (padded || behind) {
          last = a.operation(node, last);
#pragma unroll
          for (int i = 0; i < Size; ++i) held[i] = a.operation(node, held[i]);
        }
      }
      nodes.turn(own);
    }
  }

  // Prefixes of a lane's elements, of which the first `size` are there; gives the last one of these.
  __device__ __forceinline__ T scan_elements(T (&held)[share], int size) const {
    scan_values<share>(held, a.operation);
    if constexpr (has_identity<Operation, T>) return held[share - 1];  // those that are not there change nothing
    T last = held[0];                                                  // and not held[size - 1], which would put the values into memory
#pragma unroll
    for (int i = 1; i < share; ++i) {
      if (i < size) last = held[i];
    }
    return last;
  }
  // What stands for elements that are not there.
  __device__ __forceinline__ T absent() const {
    if constexpr (has_identity<Operation, T>) {
      return a.operation.template identity<T>();
    } else {
      return T{};
    }
  }

  // A unit of full length whose pieces are shares: all there is to do has no condition.
  __device__ __forceinline__ void scan_shares(T* value, int number, int node_at) const {
    value += shape::at(lane * share);
    T held[share];
#pragma unroll
    for (int i = 0; i < share; ++i) held[i] = value[i];
    piece_nodes<false> nodes;
    T last = scan_elements(held, share);
    add_front(held, last, number, nodes);
#pragma unroll
    for (int i = 0; i < share; ++i) value[i] = held[i];
    if (lane == 31) s.unit_node[node_at] = last;
  }

  // What begins in a unit, in two rounds of shares: pieces of a lane's share begin at its heads, and where its chunk's next multiple of a
  // share lies, if before them.
  struct unit_starts {
    unsigned heads[2], starts[2];
    int chunk[2];  // where the chunk begins that the share's first place is of
    int rounds, first_end;
  };

  __device__ __forceinline__ unit_starts starts_of(plan_type const& plan, int u, int from, int to) const {
    unit_starts found;
    int chunk_before = from - plan.number_of(u) * unit;
    found.first_end = to;
    found.rounds = 0;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      found.heads[r] = found.starts[r] = 0;
      found.chunk[r] = 0;
      if (from + r * unit >= to) break;
      found.rounds = r + 1;
      int const place = from + r * unit + lane * share;
      unsigned const heads = plan.heads_from(place) & first_places(min(to - place, share));
      unsigned const others = r == 0 && lane == 0 ? heads & ~1u : heads;
      unsigned const lanes = __ballot_sync(full_warp, others != 0);
      int chunk = chunk_before;
      if (lanes != 0) {  // more than one segment
        unsigned const with_heads = __ballot_sync(full_warp, heads != 0), in_front = with_heads & ((1u << lane) - 1u);
        int const first_other = place + __ffs(static_cast<int>(others)) - 1;
        found.first_end = min(found.first_end, __shfl_sync(full_warp, first_other, __ffs(static_cast<int>(lanes)) - 1));
        int const mine = heads != 0 ? place + 31 - __clz(static_cast<int>(heads)) : -1;
        int const other = __shfl_sync(full_warp, mine, 31 - __clz(static_cast<int>(in_front | 1u)));
        if (in_front != 0) chunk = other;
        chunk_before = __shfl_sync(full_warp, mine, 31 - __clz(static_cast<int>(with_heads)));
      }
      int const next = (chunk - place) & (share - 1), head = heads != 0 ? __ffs(static_cast<int>(heads)) - 1 : share;
      found.heads[r] = heads;
      found.chunk[r] = chunk;
      found.starts[r] = next < head && place + next < to ? heads | 1u << next : heads;
    }
    return found;
  }
  // Of a piece in its chunk, as far as pieces of a unit tell each other apart.
  __device__ __forceinline__ static int number_of_piece(int place, int chunk) { return ((place - chunk) / share) & 31; }

  // Writes the pieces' places from the unit's first one and their numbers, and the unit's end, where there is room for them; gives how many
  // there are.
  __device__ __forceinline__ int list_pieces(unit_starts const& found, int from, int to, unsigned* list) const {
    int const mine = __popc(found.starts[0]) | __popc(found.starts[1]) << 16;
    int sum = mine;
    for (int d = 1; d < 32; d *= 2) {
      int const other = __shfl_up_sync(full_warp, sum, static_cast<unsigned>(d));
      if (lane >= d) sum += other;
    }
    int const all = __shfl_sync(full_warp, sum, 31), pieces = (all & 0xFFFF) + (all >> 16);
    if (pieces <= most_listed) {
      int place_in_list[2] = {(sum - mine) & 0xFFFF, (all & 0xFFFF) + ((sum - mine) >> 16)};
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        for (unsigned rest = found.starts[r]; rest != 0; rest &= rest - 1u) {
          int const i = __ffs(static_cast<int>(rest)) - 1, place = r * unit + lane * share + i;
          int const number = (found.heads[r] >> i & 1u) != 0 ? 0 : number_of_piece(from + place, found.chunk[r]);
          list[place_in_list[r]++] = static_cast<unsigned>(place | number << 16);
        }
      }
      if (lane == 0) list[pieces] = static_cast<unsigned>(to - from);
      __syncwarp();
    }
    return pieces;
  }

  __device__ __forceinline__ void scan_unit(int stage, plan_type const& plan, int u, unsigned* list) const {
    int const from = plan.begin_of(u), to = plan.begin_of(u + 1);
    int const unit_place = s.place[stage] + shape::unit_at(u, from);
    T* const value = values + unit_place;  // places count from the unit's first one there
    int const node_at = stage * most_units + u;
    if (plan.is_even(u)) {
      unsigned const lanes = __ballot_sync(full_warp, (plan.heads_from(from + lane * share) & 1u) != 0);
      unsigned const others = lanes & ~1u, up_to_here = lanes & (~0u >> (31 - lane));
      if (lane == 0) s.first_end[stage][u] = others == 0 ? to : from + (__ffs(static_cast<int>(others)) - 1) * share;
      int const number = up_to_here == 0 ? lane : lane - (31 - __clz(static_cast<int>(up_to_here)));
      return scan_shares(value, number, node_at);
    }
    unit_starts const found = starts_of(plan, u, from, to);
    if (lane == 0) s.first_end[stage][u] = found.first_end;
    int const pieces = list_pieces(found, from, to, list);
    if (pieces > most_listed) return walk_unit(plan, value, found, from, to, node_at);
    piece_nodes<true> nodes;
#pragma unroll 1
    for (int k = 0; k < pieces; k += 32) {
      nodes.first_round = k == 0;
      scan_pieces(unit_place, list, k + lane, pieces, nodes, node_at);
    }
    __syncwarp();  // the list has been read
  }

  // Piece k of a list, in the unit that begins at `unit_place`; behind the list they have no elements. Few registers are left, so it is
  // made again rather than kept, which the compiler sees only if it is told that the list may have changed.
  struct listed_piece {
    int place = 0, size = 0, number = 0;  // in the unit, elements, in its chunk

    __device__ __forceinline__ listed_piece(unsigned const volatile* list, int k, int pieces, int unit_place) {
      if (k < pieces) {
        unsigned const listed = list[k];
        place = static_cast<int>(listed & 0xFFFFu);
        number = static_cast<int>(listed >> 16);
        size = static_cast<int>(list[k + 1] & 0xFFFFu) - place;
      }
      first_ = unit_place + shape::at(place);
      left_in_row_ = 32 - (place & 31);
      behind_row_ = first_ + 1;
      // Else the compiler would add up each element's place anew.
      asm("" : "+r"(behind_row_));
    }
    // Where element i lies; i is a constant.
    __device__ __forceinline__ int operator[](int i) const { return (i < left_in_row_ ? first_ : behind_row_) + i; }

   private:
    int first_, left_in_row_, behind_row_;
  };

  // A piece a lane: its prefixes, in registers, and with them the nodes of the pieces in front, in its unit and chunk.
  __device__ __forceinline__ void scan_pieces(int unit_place, unsigned const* list, int k, int pieces, piece_nodes<true>& nodes,
                                              int node_at) const {
    T held[share], last;
    {
      listed_piece const piece(list, k, pieces, unit_place);
#pragma unroll
      for (int i = 0; i < share; ++i) held[i] = i < piece.size ? T(values[piece[i]]) : absent();
      last = scan_elements(held, piece.size);
      add_front(held, last, piece.number, nodes);
    }
    listed_piece const piece(list, k, pieces, unit_place);
#pragma unroll
    for (int i = 0; i < share; ++i) {
      if (i < piece.size) values[piece[i]] = held[i];
    }
    if (k + 1 == pieces) s.unit_node[node_at] = last;
  }

  // Many short segments: the pieces of a lane's share, element by element.
  __device__ __forceinline__ void walk_unit(plan_type const& plan, T* value, unit_starts const& found, int from, int to,
                                            int node_at) const {
    piece_nodes<true> nodes;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      if (r == found.rounds) break;
      unsigned const starts = found.starts[r];
      int const place = from + r * unit + lane * share;
      int const begin = starts != 0 ? place + __ffs(static_cast<int>(starts)) - 1 : to;
      int const behind = __shfl_sync(full_warp, found.starts[1] != 0 ? from + unit + __ffs(static_cast<int>(found.starts[1])) - 1 : to, 0);
      int end = __shfl_down_sync(full_warp, begin, 1);
      if (lane == 31) end = r == 0 ? behind : to;
      bool const at_head = starts != 0 && (found.heads[r] >> (begin - place) & 1u) != 0;
      walk_pieces(plan, value, from, begin, end, at_head || begin == end ? 0 : number_of_piece(begin, found.chunk[r]), __popc(starts) == 1,
                  nodes, node_at, begin < end && end == to);
      nodes.first_round = false;
    }
  }

  // The pieces of a lane's share, element by element, with D's counter in registers; to the first one come the nodes in front. For many
  // short segments.
  __device__ __forceinline__ void walk_pieces(plan_type const& plan, T* value, int from, int begin, int end, int number, bool single,
                                              piece_nodes<true>& nodes, int node_at, bool ends_unit) const {
    constexpr int bits = cuda::std::countr_zero(static_cast<unsigned>(share));
    unsigned const heads = begin < end ? plan.heads_from(begin) : 0u;
    T node[bits];  // of 1, 2, 4, .. elements of the piece so far
    T last{};
    int first_end = end;
    int in_piece = 0;
#pragma unroll 1
    for (int i = begin; i < end; ++i, ++in_piece) {
      if (i > begin && (heads >> (i - begin) & 1u) != 0) {
        if (first_end == end) first_end = i;
        in_piece = 0;
      }
      T prefix = value[shape::at(i - from)], carry = prefix;
      bool carries = true;
#pragma unroll
      for (int b = 0; b < bits; ++b) {
        if ((in_piece >> b & 1) != 0) {
          prefix = a.operation(node[b], prefix);
          if (carries) carry = prefix;
        } else if (carries) {
          node[b] = carry;
          carries = false;
        }
      }
      value[shape::at(i - from)] = last = prefix;
    }
    T in_front[5];
#pragma unroll
    for (int b = 0; b < 5; ++b) {
      bool const behind = (number >> b & 1) != 0;
      T const own = last;
      if (__any_sync(full_warp, behind)) {
        in_front[b] = nodes.front(b, number, last, lane);
        if (behind && single) last = a.operation(in_front[b], last);
      }
      nodes.turn(own);
    }
    if (number != 0) {
#pragma unroll 1
      for (int i = begin; i < first_end; ++i) {
        T prefix = value[shape::at(i - from)];
#pragma unroll
        for (int b = 0; b < 5; ++b) {
          if ((number >> b & 1) != 0) prefix = a.operation(in_front[b], prefix);
        }
        value[shape::at(i - from)] = prefix;
      }
    }
    if (ends_unit) s.unit_node[node_at] = last;
  }

  // ---- publisher: a chunk's own node waits for nobody

  __device__ __forceinline__ void publish_chunks(u32 run) const {
    for (ring at;; at.next()) {
      int const stage = at.stage();
      s.scanned[stage].wait(at.lap());
      plan_type const& plan = s.plan[stage];
      bool const ended = plan.units < 0;
      if (!ended && plan.last_is_whole != 0) {
        int const u = plan.last_chunk / unit + lane % 8;
        T const node = join_lanes<8>(T(s.unit_node[stage * most_units + u]), lane % 8, a.operation, [](int, T const&) {});
        if (lane == 0) {
          bool const continues = plan.last_chunk == 0 && plan.chunk_number > 0;
          i64 const origin = continues ? plan.start : plan.first + plan.begin + plan.last_chunk;
          a.nodes.publish(run, origin / window, continues ? plan.chunk_number : 0, node);
          s.chunk_node[stage] = node;
        }
      } else if (plan.units > 0 && lane == 0) {
        s.chunk_node[stage] = s.unit_node[stage * most_units];  // any value: operators see no memory that was never written
      }
      s.published[stage].arrive();
      if (ended) return;
    }
  }

  // ---- gatherers

  __device__ __forceinline__ void gather_chunks(u32 run, int gatherer) const {
    for (ring at;; at.next()) {
      int const stage = at.stage();
      s.published[stage].wait(at.lap());
      plan_type const& plan = s.plan[stage];
      bool const ended = plan.units < 0;
      if (at.is_turn_of(gatherer, shape::gatherers)) {
        int number = 0;
        bool const whole = plan.last_chunk == 0 && plan.last_is_whole != 0;  // one chunk, which may complete a node of the level above
        if (plan.units > 0 && plan.chunk_number > 0) {
          number = a.nodes.template gather<100>(run, plan.start / window, plan.chunk_number, s.chunk_node[stage], a.operation,
                                                s.in_front.data() + stage * most_nodes_in_front, whole);
        }
        if (lane == 0) s.found[stage] = number;
      }
      s.gathered[stage].arrive();
      if (ended) return;
    }
  }

  // ---- writers

  __device__ __forceinline__ void write_windows(int writer) const {
    int u = writer;  // units of windows go round the writers
    for (ring at;; at.next()) {
      int const stage = at.stage();
      s.gathered[stage].wait(at.lap());
      plan_type const& plan = s.plan[stage];
      if (plan.units < 0) {
        // All of the block's windows have looked back.
        if (writer == 0 && lane == 0) a.header->leave(gridDim.x, static_cast<u32>(a.plans.windows) + gridDim.x);
        return;
      }
      for (; u < plan.units; u += shape::writers) {
        int const from = plan.begin_of(u), to = plan.begin_of(u + 1), first_end = s.first_end[stage][u];
        if (from >= to) continue;
        // What lies in front is added to the first segment only.
        bool const has = has_front(stage, plan, u);
#pragma unroll 1
        for (int part = 0; part < (has && first_end < to ? 2 : 1); ++part)
          write_places(stage, plan, u, part == 0 ? from : first_end, part == 0 && has ? first_end : to, has && part == 0);
      }
      u -= plan.units;
      s.empty[stage].arrive();
    }
  }

  __device__ __forceinline__ bool in_first_chunk(plan_type const& plan, int u) const {
    return plan.begin_of(u) == plan.number_of(u) * unit;
  }
  __device__ __forceinline__ bool has_front(int stage, plan_type const& plan, int u) const {
    return plan.number_of(u) != 0 || (in_first_chunk(plan, u) && s.found[stage] > 0);
  }
  // use(node) for what lies in front of the unit's first piece of a chunk, in its segment, nearest first.
  template <class Use>
  __device__ __forceinline__ void for_each_in_front(int stage, plan_type const& plan, int u, Use const& use) const {
    int const number = plan.number_of(u);
    T const* const node = s.unit_node.data() + stage * most_units + u - number;  // of the chunk's units
    int const found = in_first_chunk(plan, u) ? s.found[stage] : 0;
    T const* const in_front = s.in_front.data() + stage * most_nodes_in_front;
    static_assert(window / unit == 8);
#pragma unroll 1
    for (int b = number != 0 ? 0 : 3; b < 3; ++b) {
      if ((number >> b & 1) == 0) continue;
      T const* const of_bit = node + (number & ~((2 << b) - 1));
      T joined = of_bit[0];
      if (b > 0) joined = a.operation(joined, of_bit[1]);
      if (b > 1) joined = a.operation(joined, a.operation(of_bit[2], of_bit[3]));
      use(joined);
    }
    if (found == 0) return;
    T next = in_front[0];  // read while the one before is used
#pragma unroll 1
    for (int k = 1; k <= found; ++k) {
      T const here = next;
      next = in_front[min(k, found - 1)];
      use(here);
    }
  }

  // Places from .. to - 1 of a unit; `front` adds what lies in front.
  __device__ __forceinline__ void write_places(int stage, plan_type const& plan, int u, int from, int to, bool front) const {
    int const unit_begin = plan.begin_of(u);
    T const* const unit_values = stage_values(stage) + shape::unit_at(u, unit_begin);
#pragma unroll 1
    for (int begin = from; begin < to; begin += unit) {
      // An exclusive prefix is that of the element before, in the same part of the unit.
      constexpr int back = exclusive ? 1 : 0;
      T const* const value = unit_values + shape::at(begin - unit_begin + lane - back);
      int const left = to - begin - lane;  // of the lane's elements the i-th is there if 32 i is less
      T held[share];
#pragma unroll
      for (int i = 0; i < share; ++i) {
        bool const there = i * 32 < left && (!exclusive || i > 0 || begin + lane > from);
        held[i] = there ? T(value[i * shape::row]) : T{};
      }
      if (front) {
        bool nearest = true;
        auto const join = [&](T const& node) {
#pragma unroll
          for (int i = 0; i < share; ++i) {
            T const joined = a.operation(node, held[i]);
            held[i] = exclusive && nearest && i == 0 && begin + lane == from ? node : joined;
          }
          nearest = false;
        };
        if constexpr (order_is_free<Operation, T>) {
          T all = a.operation.template identity<T>();
          for_each_in_front(stage, plan, u, [&](T const& node) { all = a.operation(node, all); });
          join(all);
        } else {
          for_each_in_front(stage, plan, u, join);
        }
      }
      char* const out = reinterpret_cast<char*>(a.out.data_handle()) +
                        element_at<direction>(plan.first + plan.begin + begin + lane, a.count) * a.out.mapping().byte_stride(0);
      auto const put = [&](auto step) {
#pragma unroll
        for (int i = 0; i < share; ++i) {
          if (i * 32 >= left) continue;
          T result = held[i];
          if constexpr (exclusive) {
            result = (plan.heads_from(begin + i * 32) >> lane & 1u) != 0 ? a.initial : canonical(a.operation(a.initial, result));
          } else {
            result = canonical(result);
          }
          *reinterpret_cast<element_type*>(out + i * step) = conversion<element_type, T>::of(result);
        }
      };
      if (a.out_contiguous) {
        put(cuda::std::integral_constant<int, row_step<sizeof(element_type)>>{});
      } else {
        put(row_step<1> * a.out.mapping().byte_stride(0));
      }
    }
  }

  __device__ __forceinline__ void run() const {
    if (threadIdx.x == 0) {
      for (int i = 0; i < shape::stages; ++i) {
        s.drawn[i].set_up(1);
        s.planned[i].set_up(32 * shape::planners);
        s.placed[i].set_up(1);
        s.filled[i].set_up(32 * shape::loaders);
        s.scanned[i].set_up(32 * shape::scanners);
        s.published[i].set_up(32);
        s.gathered[i].set_up(32 * shape::gatherers);
        s.empty[i].set_up(32 * shape::writers);
      }
    }
    u32 const run_number = a.header->run();
    __syncthreads();
    int role = warp;
    if (role == 0) return draw_windows();
    --role;
    if (role < shape::planners) return plan_windows(run_number, role);
    role -= shape::planners;
    if (role == 0) return place_windows();
    --role;
    if (role < shape::loaders) return load_windows(role);
    role -= shape::loaders;
    if (role < shape::scanners) return scan_windows(role);
    role -= shape::scanners;
    if (role == 0) return publish_chunks(run_number);
    --role;
    if (role < shape::gatherers) return gather_chunks(run_number, role);
    write_windows(role - shape::gatherers);
  }
};

template <class Arguments>
__global__ __launch_bounds__(segmented_block<Arguments>::shape::threads, 1) void segment_scan_kernel(__grid_constant__ Arguments const a) {
  using block_type = segmented_block<Arguments>;
  extern __shared__ __align__(16) unsigned char tessera_stages_of_segments[];
  int const thread = static_cast<int>(threadIdx.x);
  block_type const block{a, *reinterpret_cast<typename block_type::shared_state*>(tessera_stages_of_segments),
                         reinterpret_cast<typename block_type::T*>(tessera_stages_of_segments + block_type::state_bytes), thread % 32,
                         thread / 32};
  block.run();
}

}  // namespace tessera::inline v0_1::detail
