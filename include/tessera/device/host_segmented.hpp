// Scans and reductions of many segments on the host, each as if it were alone: the same values as on the device, to the bit.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <cuda/std/type_traits>

#include <tessera/accumulate.hpp>
#include <tessera/arithmetic.hpp>
#include <tessera/determinism.hpp>
#include <tessera/device/array_checks.hpp>
#include <tessera/device/host_eight.hpp>
#include <tessera/device/host_nodes.hpp>
#include <tessera/device/host_pieces.hpp>
#include <tessera/device/host_reduce.hpp>
#include <tessera/device/host_scan.hpp>
#include <tessera/device/reductions.hpp>
#include <tessera/error.hpp>
#include <tessera/launch/host_backend.hpp>
#include <tessera/segments.hpp>
#include <tessera/source.hpp>
#include <tessera/tile/scan.hpp>
#include <tessera/view.hpp>

namespace tessera::inline v0_1 {

namespace detail {

// --- Where segments start, counted in the direction

// A number, but at least 0 and at most `most`.
template <class I>
std::int64_t clipped(I number, std::int64_t most) {
  if constexpr (cuda::std::is_unsigned_v<I>) {
    return number < static_cast<std::uint64_t>(most) ? static_cast<std::int64_t>(number) : most;
  } else {
    return std::clamp<std::int64_t>(number, 0, most);
  }
}

template <scan_direction Direction, class I>
struct starts_at_offsets {
  view<I const, 1> offsets;
  std::int64_t elements;
  std::int64_t count() const { return offsets.extent(0) - 1; }
  std::int64_t start(std::int64_t k) const {
    return Direction == forward ? clipped(offsets(k), elements) : elements - clipped(offsets(count() - k), elements);
  }
};

struct starts_at_multiples {
  std::int64_t length, number;
  std::int64_t count() const { return number; }
  std::int64_t start(std::int64_t k) const { return k * length; }
};

// Calls body(begin, end) for parts of 0 .. count - 1, on all cores.
template <class Body>
void for_each_part(std::int64_t count, int cores, Body const& body) {
  constexpr std::int64_t part = 1 << 16;
  parallel_for((count + part - 1) / part, cores, [&](std::int64_t i) { body(i * part, std::min(count, (i + 1) * part)); });
}

template <class I>
void check_ascending_offsets(char const* call, view<I const, 1> const& offsets, int cores) {
  for_each_part(offsets.extent(0) - 1, cores, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      if (offsets(k + 1) < offsets(k)) {
        throw usage_error(std::string(call) + ": offset " + std::to_string(k + 1) + " is " + std::to_string(offsets(k + 1)) +
                          ", smaller than the one before it, " + std::to_string(offsets(k)));
      }
    }
  });
}

// The offsets of the segments of keys 0 .. number - 1 in keys that ascend.
template <class K>
std::vector<std::int64_t> offsets_of_keys(char const* call, segments_by_key<K> const& segments, int cores) {
  std::int64_t const count = segments.keys.extent(0), number = segments.number;
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(number + 1));
  // Keys above one that came before, up to and with one that comes now, begin at `position`.
  auto const begin_at = [&](std::int64_t position, std::int64_t first_key, std::int64_t last_key) {
    for (std::int64_t k = first_key; k <= last_key; ++k) offsets[static_cast<std::size_t>(k)] = position;
  };
  auto const is_negative = [](K key) { return cuda::std::is_signed_v<K> && key < K{}; };
  auto const after = [&](K key) { return is_negative(key) ? 0 : clipped(key, number) + 1; };
  auto const up_to = [&](K key) { return is_negative(key) ? -1 : clipped(key, number); };
  for_each_part(count, cores, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      K const key = segments.keys(i);
      if (i == 0) {
        begin_at(0, 0, up_to(key));
        continue;
      }
      K const before = segments.keys(i - 1);
      if (key == before) continue;
      if (key < before) {
        throw usage_error(std::string(call) + ": key " + std::to_string(i) + " is " + std::to_string(key) +
                          ", smaller than the one before it, " + std::to_string(before) + "; the keys of a reduction ascend");
      }
      begin_at(i, after(before), up_to(key));
    }
  });
  begin_at(count, count == 0 ? 0 : after(segments.keys(count - 1)), number);
  return offsets;
}

// --- Segments by their heads

// Pieces of segments that start wherever a bit is set. Windows are as long as pieces.
class pieces_by_head {
 public:
  // is_head(position), not asked for position 0, where a segment starts.
  template <class IsHead>
  pieces_by_head(std::int64_t count, std::int64_t piece, int cores, IsHead const& is_head) : count_(count), piece_(piece) {
    std::int64_t const number = windows();
    words_.resize(static_cast<std::size_t>((count + 63) / 64));
    last_before_.resize(static_cast<std::size_t>(number));
    next_from_.resize(static_cast<std::size_t>(number + 1));
    parallel_for(number, cores, [&](std::int64_t window) {
      std::int64_t const begin = window * piece, end = std::min(count, begin + piece);
      std::int64_t first = -1, last = -1;
      for (std::int64_t at = begin; at < end; at += 64) {
        std::uint64_t word = 0;
        for (std::int64_t i = at; i < std::min(end, at + 64); ++i) {
          if (i == 0 || is_head(i)) word |= std::uint64_t{1} << (i - at);
        }
        words_[static_cast<std::size_t>(at / 64)] = word;
        if (word != 0) {
          if (first < 0) first = at + std::countr_zero(word);
          last = at + 63 - std::countl_zero(word);
        }
      }
      next_from_[static_cast<std::size_t>(window)] = first;
      last_before_[static_cast<std::size_t>(window)] = last;
    });
    // From what each window holds to what lies before and behind it.
    std::int64_t last = 0;
    for (auto& before : last_before_) {
      std::int64_t const own = before;
      before = last;
      if (own >= 0) last = own;
    }
    next_from_.back() = count;
    for (std::size_t w = next_from_.size() - 1; w-- > 0;) {
      if (next_from_[w] < 0) next_from_[w] = next_from_[w + 1];
    }
  }

  std::int64_t piece() const { return piece_; }
  std::int64_t windows() const { return (count_ + piece_ - 1) / piece_; }

  template <class Body>
  void for_each(std::int64_t window, Body const& body) const {
    std::int64_t const begin = window * piece_, end = std::min(count_, begin + piece_);
    std::int64_t start = next_from_[static_cast<std::size_t>(window)];
    if (start > begin) {
      std::int64_t const earlier = last_before_[static_cast<std::size_t>(window)];
      std::int64_t const at = earlier + (begin - earlier + piece_ - 1) / piece_ * piece_;
      if (start - earlier > piece_ && at < start) body(segment_piece{-1, earlier, start, at});
    }
    while (start < end) {
      std::int64_t const next = next_head(start + 1, end, next_from_[static_cast<std::size_t>(window + 1)]);
      body(segment_piece{-1, start, next, start});
      start = next;
    }
  }

 private:
  // The first head in begin .. end - 1, else `otherwise`. The end is the array's or a window's, so that no bit is set between it and its
  // word's.
  std::int64_t next_head(std::int64_t begin, std::int64_t end, std::int64_t otherwise) const {
    if (begin >= end) return otherwise;
    std::uint64_t word = words_[static_cast<std::size_t>(begin / 64)] & (~std::uint64_t{0} << (begin % 64));
    for (std::int64_t at = begin / 64;;) {
      if (word != 0) return at * 64 + std::countr_zero(word);
      if (++at * 64 >= end) return otherwise;
      word = words_[static_cast<std::size_t>(at)];
    }
  }

  std::int64_t count_, piece_;
  std::vector<std::uint64_t> words_;
  std::vector<std::int64_t> last_before_, next_from_;  // the last head in front of a window, the first one from it on
};

// --- Segments of a scan

// use(pieces) with the pieces, of `piece` elements, of the segments of `elements` elements.
template <scan_direction Direction, class I, class Use>
void with_scan_pieces(char const* call, segments_at<I> const& segments, std::int64_t elements, std::int64_t piece, int cores,
                      Use const& use) {
  check_ascending_offsets(call, segments.offsets, cores);
  use(pieces_by_start(starts_at_offsets<Direction, I>{segments.offsets, elements}, piece));
}
template <scan_direction Direction, class Use>
void with_scan_pieces(char const*, segments_of_length const& segments, std::int64_t, std::int64_t piece, int, Use const& use) {
  use(pieces_by_start(starts_at_multiples{segments.length, segments.number}, piece));
}
template <scan_direction Direction, class F, class Use>
void with_scan_pieces(char const*, segments_from_flags<F> const& segments, std::int64_t elements, std::int64_t piece, int cores,
                      Use const& use) {
  // Backward, a segment starts at the element in front of a flag.
  use(pieces_by_head(elements, piece, cores,
                     [&](std::int64_t position) { return segments.flags(Direction == forward ? position : elements - position) != F{}; }));
}
template <scan_direction Direction, class K, class Use>
void with_scan_pieces(char const*, segments_by_key<K> const& segments, std::int64_t elements, std::int64_t piece, int cores,
                      Use const& use) {
  use(pieces_by_head(elements, piece, cores, [&](std::int64_t position) {
    std::int64_t const later = Direction == forward ? position : elements - position;
    return segments.keys(later) != segments.keys(later - 1);
  }));
}

template <scan_direction Direction, bool Exclusive, class A, class In, class Segments, class Out, class Operation, int Lanes>
void segmented_scan_on_host(char const* call, host_backend<Lanes> const& backend, In const& in, Segments const& segments, Out const& out,
                            node_stack<A> const& initial, Operation const& operation) {
  static_assert(source_rank<In> == 1 && Out::rank() == 1, "a scan's arrays have one dimension");
  if constexpr (source_rank<In> == 1 && Out::rank() == 1) {
    auto const from = as_source(in);
    auto const to = as_view(out);
    std::int64_t const count = from.extent(0);
    check_scan(call, from, to);
    check_segments(call, segments, count);
    check_host_arithmetic();
    with_scan_pieces<Direction>(call, segments, count, piece_leaves<A>, backend.cores, [&](auto const& pieces) {
      scan_pieces<Direction, Exclusive, A>(backend.cores, pieces, from, to, initial, operation);
    });
  }
}

// --- Segments of a reduction

// use(starts) with the starts of the segments of `elements` elements.
template <class I, class Use>
void with_starts(char const* call, segments_at<I> const& segments, std::int64_t elements, int cores, Use const& use) {
  check_ascending_offsets(call, segments.offsets, cores);
  use(starts_at_offsets<forward, I>{segments.offsets, elements});
}
template <class Use>
void with_starts(char const*, segments_of_length const& segments, std::int64_t, int, Use const& use) {
  use(starts_at_multiples{segments.length, segments.number});
}
template <class K, class Use>
void with_starts(char const* call, segments_by_key<K> const& segments, std::int64_t elements, int cores, Use const& use) {
  std::vector<std::int64_t> const offsets = offsets_of_keys(call, segments, cores);
  std::int64_t const* const data = offsets.data();
  use(starts_at_offsets<forward, std::int64_t>{make_view(data, {offsets.size()}), elements});
}

// Rows: so many neighbouring columns are summed side by side, and so many are a core's at a time.
inline constexpr int columns_together = 16;
inline constexpr std::int64_t columns_at_a_time = 512;

// Some neighbouring columns of a row.
template <int Count, class A, class Operation, class In>
auto load_columns(In const& in, std::int64_t row, std::int64_t column) {
  using T = cuda::std::remove_const_t<typename In::element_type>;
  auto const address = &in(row, column);
  std::int64_t const step = in.mapping().byte_stride(1);
  if constexpr (cuda::std::is_same_v<T, A>) {
    if (step == static_cast<std::int64_t>(sizeof(T))) return neighbours<A, Operation, Count>::of(address);
  }
  A values[Count];
  for (int c = 0; c < Count; ++c) values[c] = conversion<A, T>::of(in(row, column + c));
  return neighbours<A, Operation, Count>::of(values);
}

// D of load(0) .. load(count - 1), of which there is at least one: columns of rows, side by side. (A function of the host alone: device
// code knows no vectors.)
template <int Count, class A, class Operation, class Load>
auto join_rows(Load const& load, std::int64_t count, Operation const& operation) {
  neighbours<A, Operation, Count> nodes[64];
  int depth = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    auto node = load(i);
    for (std::int64_t full = i + 1; full % 2 == 0; full /= 2) node = node.behind(nodes[--depth], operation);
    nodes[depth++] = node;
  }
  auto sum = nodes[--depth];
  while (depth > 0) sum = sum.behind(nodes[--depth], operation);
  return sum;
}

// Calls body(column, constant count) so that all columns are covered.
template <class Body>
void for_columns(std::int64_t first, std::int64_t last, Body const& body) {
  std::int64_t column = first;
  for (; last - column >= columns_together; column += columns_together) body(column, cuda::std::integral_constant<int, columns_together>{});
  for (; last - column >= 4; column += 4) body(column, cuda::std::integral_constant<int, 4>{});
  for (; column < last; ++column) body(column, cuda::std::integral_constant<int, 1>{});
}

// emit(segment, column, values, count) with D of each segment's rows for `count` columns, or with null for an empty segment; in any order
// and from several threads.
template <class A, class Pieces, class In, class Operation, class Emit>
void reduce_row_pieces(int cores, Pieces const& pieces, In const& in, Operation const& operation, Emit const& emit) {
  std::int64_t const windows = pieces.windows(), piece = pieces.piece(), columns = in.extent(1);
  std::int64_t const groups = (columns + columns_at_a_time - 1) / columns_at_a_time;
  std::vector<segment_piece> long_segments(static_cast<std::size_t>(windows), segment_piece{-1, 0, 0, 0});  // those that start in a window
  // Of a window and each column: a later piece, a first piece.
  std::unique_ptr<A[]> const partials(new A[static_cast<std::size_t>(2 * windows * columns)]);
  auto const partial = [&](std::int64_t window, bool first) { return partials.get() + (2 * window + (first ? 1 : 0)) * columns; };
  auto const in_group = [&](std::int64_t group, auto const& body) {
    for_columns(group * columns_at_a_time, std::min(columns, (group + 1) * columns_at_a_time), body);
  };
  std::atomic<bool> any_long{false};
  parallel_for(windows * groups, cores, [&](std::int64_t task) {
    std::int64_t const window = task / groups, group = task % groups;
    pieces.for_each(window, [&](segment_piece const& p) {
      std::int64_t const length = std::min(piece, p.end - p.begin);
      bool const alone = p.end - p.start <= piece, first = p.begin == p.start;
      if (!alone && first && group == 0) {
        long_segments[static_cast<std::size_t>(window)] = p;
        any_long.store(true, std::memory_order_relaxed);
      }
      in_group(group, [&](std::int64_t column, auto count) {
        if (length == 0) return emit(p.segment, column, static_cast<A const*>(nullptr), count());
        auto const load = [&](std::int64_t row) { return load_columns<count(), A, Operation>(in, p.begin + row, column); };
        auto const node = join_rows<count(), A>(load, length, operation);
        if (alone) {
          A values[static_cast<std::size_t>(count())];
          node.to(values);
          emit(p.segment, column, static_cast<A const*>(values), count());
        } else {
          node.to(partial(window, first) + column);
        }
      });
    });
  });
  if (!any_long.load(std::memory_order_relaxed)) return;
  parallel_for(windows * groups, cores, [&](std::int64_t task) {
    std::int64_t const window = task / groups, group = task % groups;
    segment_piece const& whole = long_segments[static_cast<std::size_t>(window)];
    if (whole.segment < 0) return;
    in_group(group, [&](std::int64_t column, auto count) {
      auto const load = [&](std::int64_t i) { return neighbours<A, Operation, count()>::of(partial(window + i, i == 0) + column); };
      auto const node = join_rows<count(), A>(load, (whole.end - whole.start + piece - 1) / piece, operation);
      A values[static_cast<std::size_t>(count())];
      node.to(values);
      emit(whole.segment, column, static_cast<A const*>(values), count());
    });
  });
}

// finish(&out element, D or null) for each element of the result.
template <class A, class In, class Segments, class Out, class Operation, class Finish, int Lanes>
void segmented_reduce_on_host(host_backend<Lanes> const& backend, In const& in, Segments const& segments, Out const& out,
                              Operation const& operation, Finish const& finish) {
  static_assert(has_count<Segments>,
                "segmented_reduce: flags do not say how many segments there are; use segments_at, segments_of_length or segments_by_key");
  static_assert((source_rank<In> == 1 || source_rank<In> == 2) && static_cast<int>(Out::rank()) == source_rank<In>,
                "segmented_reduce: the input has one dimension, or two and rows are added; the output has as many");
  if constexpr (has_count<Segments> && (source_rank<In> == 1 || source_rank<In> == 2) &&
                static_cast<int>(Out::rank()) == source_rank<In>) {
    char const* const call = "segmented_reduce";
    auto const from = as_source(in);
    auto const to = as_view(out);
    std::int64_t const elements = from.extent(0), number = segments.count();
    std::int64_t columns = 1;
    if constexpr (Out::rank() == 2) columns = from.extent(1);
    check_segmented_result(call, from, segments, to);
    check_segments(call, segments, elements);
    check_host_arithmetic();
    with_starts(call, segments, elements, backend.cores, [&](auto const& starts) {
      if (number == 0 || columns == 0) return;
      if constexpr (Out::rank() == 1) {
        reduce_pieces<A>(backend.cores, pieces_by_start(starts, piece_leaves<A>), from, operation,
                         [&](std::int64_t segment, A const* node) { finish(to(segment), node); });
      } else {
        auto const wide = static_cast<std::uint64_t>(std::min(columns, columns_at_a_time));
        auto const rows = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(piece_leaves<A>) / wide));
        reduce_row_pieces<A>(backend.cores, pieces_by_start(starts, rows), from, operation,
                             [&](std::int64_t segment, std::int64_t column, A const* nodes, int count) {
                               for (int c = 0; c < count; ++c) finish(to(segment, column + c), nodes == nullptr ? nullptr : nodes + c);
                             });
      }
    });
  }
}

}  // namespace detail

// inclusive_scan of each segment alone (backward: from its end). `segments` is segments_at, segments_of_length, segments_from_flags or
// segments_by_key; elements of no segment are not written.
template <determinism Level = gpu_to_gpu, scan_direction Direction = forward, int Lanes, class In, class Segments, class Out,
          class Operation = plus>
  requires operator_on<Operation, detail::accumulator_for<Operation, Out>>
void segmented_inclusive_scan(host_backend<Lanes> const& backend, In const& in, Segments const& segments, Out const& out,
                              Operation const& operation = {}) {
  using A = detail::accumulator_for<Operation, Out>;
  detail::segmented_scan_on_host<Direction, false>("segmented_inclusive_scan", backend, in, segments, out, detail::node_stack<A>(),
                                                   operation);
}

// exclusive_scan of each segment alone, each from `initial` on.
template <determinism Level = gpu_to_gpu, scan_direction Direction = forward, int Lanes, class In, class Segments, class Out,
          class Operation = plus>
void segmented_exclusive_scan(host_backend<Lanes> const& backend, In const& in, Segments const& segments, Out const& out,
                              detail::accumulator_for<Operation, Out> const& initial, Operation const& operation = {}) {
  using A = detail::accumulator_for<Operation, Out>;
  detail::segmented_scan_on_host<Direction, true>("segmented_exclusive_scan", backend, in, segments, out, detail::node_stack<A>(initial),
                                                  operation);
}

// out[k] = D of segment k, a NaN canonical; of an empty segment, left alone. `segments` is segments_at, segments_of_length or
// segments_by_key. With `in` of two dimensions segments are of rows, and rows are added element by element: out[k][c].
template <determinism Level = gpu_to_gpu, int Lanes, class In, class Segments, class Out, class Operation = plus>
  requires operator_on<Operation, detail::accumulator_for<Operation, Out>>
void segmented_reduce(host_backend<Lanes> const& backend, In const& in, Segments const& segments, Out const& out,
                      Operation const& operation = {}) {
  using A = detail::accumulator_for<Operation, Out>;
  using T = typename Out::element_type;
  detail::segmented_reduce_on_host<A>(backend, in, segments, out, operation, [](T& to, A const* sum) {
    if (sum != nullptr) to = detail::store_sum<A, T>{}(*sum);
  });
}

// out[k] = operation(initial, D of segment k); of an empty segment, `initial`.
template <determinism Level = gpu_to_gpu, int Lanes, class In, class Segments, class Out, class Operation = plus>
void segmented_reduce(host_backend<Lanes> const& backend, In const& in, Segments const& segments, Out const& out,
                      detail::accumulator_for<Operation, Out> const& initial, Operation const& operation = {}) {
  using A = detail::accumulator_for<Operation, Out>;
  using T = typename Out::element_type;
  detail::segmented_reduce_on_host<A>(backend, in, segments, out, operation, [&](T& to, A const* sum) {
    to = sum != nullptr ? detail::store_sum_from<A, T, Operation>{initial, operation}(*sum) : T(detail::conversion<T, A>::of(initial));
  });
}

}  // namespace tessera::inline v0_1
