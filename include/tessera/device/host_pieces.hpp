// How the host shares an array among its cores: segments, and pieces of long ones.
//
// A long segment is cut into pieces, which are nodes of D since they start at multiples of their length from its start. A window is what a
// core takes at a time: the short segments that start in it, the piece of a long segment that starts in it and, last, a long segment's
// first piece. Everything is counted in the direction of the operation, so that backward is the mirror image.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <tessera/config.hpp>
#include <tessera/device/host_nodes.hpp>
#include <tessera/launch/host_backend.hpp>
#include <tessera/view.hpp>

namespace tessera::inline v0_1::detail {

// Positions begin .. of the segment start .. end - 1: all of it, or as many as a piece has.
struct segment_piece {
  std::int64_t segment, start, end, begin;
};

// --- Segments by where they start: start(k) for k in 0 .. count(), never descending

// The whole array.
struct whole_array {
  std::int64_t length;
  std::int64_t count() const { return 1; }
  std::int64_t start(std::int64_t k) const { return k * length; }
};

// The pieces of segments by their starts. Segments are laid out along a line, each with a place of its own before its elements, so that
// many empty segments are shared among the cores too; a window is so many places of the line as a piece has elements.
template <class Segments>
class pieces_by_start {
 public:
  pieces_by_start(Segments const& segments, std::int64_t piece) : segments_(segments), piece_(piece), origin_(segments.start(0)) {}

  std::int64_t piece() const { return piece_; }
  std::int64_t windows() const { return (place(segments_.count()) + piece_ - 1) / piece_; }

  // body(segment_piece) for those that start in the window, empty segments among them.
  template <class Body>
  void for_each(std::int64_t window, Body const& body) const {
    std::int64_t const first = window * piece_, last = first + piece_, count = segments_.count();
    std::int64_t k = 0;  // the first segment that starts in the window
    for (std::int64_t rest = count; rest > 0;) {
      std::int64_t const half = rest / 2;
      if (place(k + half) < first) {
        k += half + 1;
        rest -= half + 1;
      } else {
        rest = half;
      }
    }
    std::int64_t start = segments_.start(k);
    if (k > 0) {
      std::int64_t const earlier = segments_.start(k - 1), steps = (first - place(k - 1) + piece_ - 1) / piece_;
      std::int64_t const begin = earlier + steps * piece_;
      if (start - earlier > piece_ && begin < start) body(segment_piece{k - 1, earlier, start, begin});
    }
    for (; k < count && start - origin_ + k < last; ++k) {
      std::int64_t const end = segments_.start(k + 1);
      body(segment_piece{k, start, end, start});
      start = end;
    }
  }

 private:
  std::int64_t place(std::int64_t k) const { return segments_.start(k) - origin_ + k; }

  Segments segments_;
  std::int64_t piece_, origin_;
};

// --- Nodes that cores wait for

// What cores leave for each other.
template <class A>
class published_nodes {
 public:
  explicit published_nodes(std::int64_t count)
      : count_(count), nodes_(new A[static_cast<std::size_t>(count)]), states_(new std::atomic<int>[static_cast<std::size_t>(count)]) {
    for (std::int64_t i = 0; i < count; ++i) state(i).store(waited_for, std::memory_order_relaxed);
  }

  void publish(std::int64_t i, A const& node) {
    nodes_[static_cast<std::size_t>(i)] = node;
    tell(i, there);
  }
  // Node i when it is there; null if it will never be.
  A const* wait(std::int64_t i) const {
    int now = state(i).load(std::memory_order_acquire);
    for (int spin = 0; spin < 1000 && now == waited_for; ++spin) now = state(i).load(std::memory_order_acquire);
    while (now == waited_for) {
      state(i).wait(waited_for, std::memory_order_acquire);
      now = state(i).load(std::memory_order_acquire);
    }
    return now == there ? &nodes_[static_cast<std::size_t>(i)] : nullptr;
  }
  // A core has failed: nobody shall wait for what it owes.
  void abandon() {
    for (std::int64_t i = 0; i < count_; ++i) {
      if (state(i).load(std::memory_order_acquire) == waited_for) tell(i, never);
    }
  }

 private:
  enum : int { waited_for, there, never };
  std::atomic<int>& state(std::int64_t i) const { return states_[static_cast<std::size_t>(i)]; }
  void tell(std::int64_t i, int now) {
    state(i).store(now, std::memory_order_release);
    state(i).notify_all();
  }

  std::int64_t count_;
  std::unique_ptr<A[]> nodes_;
  std::unique_ptr<std::atomic<int>[]> states_;
};

// --- All windows

// The prefixes of all segments. Windows are taken in order; a core waits only for the nodes of earlier windows, and publishes its own
// before it waits, so that the earliest one never does. Its next window will be about as many further as there are cores.
template <scan_direction Direction, bool Exclusive, class A, class Pieces, class In, class Out, class Operation>
void scan_pieces(int cores, Pieces const& pieces, In const& in, Out const& out, node_stack<A> const& initial, Operation const& operation) {
  block_writer<A, Direction, Out> const writer(out);
  std::int64_t const windows = pieces.windows(), piece = pieces.piece();
  std::int64_t const workers = std::min<std::int64_t>(windows, host_cores(cores));
  published_nodes<A> published(workers > 1 ? 2 * windows : 0);  // of a window: a later piece, a first piece
  std::atomic<std::int64_t> next{0};
  auto const work = [&](std::int64_t) {
    block_reader<A, Direction, In> reader(in);
    node_stack<A> nodes = initial;
    std::int64_t held_start = -1, held = 0;  // `nodes` holds so many pieces of the segment that starts there
    bool failed = false;
    for (std::int64_t window = next.fetch_add(1); window < windows && !failed; window = next.fetch_add(1)) {
      pieces.for_each(window, [&](segment_piece const& p) {
        if (p.start == p.end || failed) return;
        std::int64_t const length = std::min(piece, p.end - p.begin), number = (p.begin - p.start) / piece;
        auto const slot = [&](std::int64_t i) { return 2 * (window - number + i) + (i == 0); };
        if (held_start != p.start) {
          nodes.clear();
          held_start = p.start;
          held = 0;
        }
        // Others wait for the node of a long segment's piece, so that comes first; then the piece lies in a cache.
        if (workers > 1 && p.begin + length < p.end) {
          reader.keep(p.begin, length);
          published.publish(slot(number), piece_node<A>(reader, p.begin, length, operation));
        }
        for (; held < number; ++held) {
          A const* const node = published.wait(slot(held));
          failed = node == nullptr;
          if (failed) return;
          nodes.push(*node, piece, operation);
        }
        scan_piece<Exclusive>(reader, writer, p.begin, length, workers * piece, nodes, operation);
        held = number + 1;
      });
    }
  };
  parallel_for(workers, cores, [&](std::int64_t worker) {
    try {
      work(worker);
      writer.finish();
    } catch (...) {
      published.abandon();
      throw;
    }
  });
}

// emit(segment, &node) with D of each segment, emit(segment, nullptr) for each that is empty, in any order and from several threads.
template <class A, class Pieces, class In, class Operation, class Emit>
void reduce_pieces(int cores, Pieces const& pieces, In const& in, Operation const& operation, Emit const& emit) {
  struct partial {
    A first, later;
    segment_piece whole{-1, 0, 0, 0};  // the long segment that starts in the window
  };
  block_reader<A, forward, In> const reader(in);
  std::int64_t const windows = pieces.windows(), piece = pieces.piece();
  std::vector<partial> partials(static_cast<std::size_t>(windows));
  auto const partial_of = [&](std::int64_t window) -> partial& { return partials[static_cast<std::size_t>(window)]; };
  std::atomic<bool> any_long{false};
  parallel_for(windows, cores, [&](std::int64_t window) {
    pieces.for_each(window, [&](segment_piece const& p) {
      if (p.start == p.end) return emit(p.segment, static_cast<A const*>(nullptr));
      A const node = piece_node<A>(reader, p.begin, std::min(piece, p.end - p.begin), operation);
      if (p.end - p.start <= piece) return emit(p.segment, &node);
      if (p.begin == p.start) {
        partial_of(window).first = node;
        partial_of(window).whole = p;
        any_long.store(true, std::memory_order_relaxed);
      } else {
        partial_of(window).later = node;
      }
    });
  });
  if (!any_long.load(std::memory_order_relaxed)) return;
  parallel_for(windows, windows < 4096 ? 1 : cores, [&](std::int64_t window) {
    segment_piece const& whole = partial_of(window).whole;
    if (whole.segment < 0) return;
    node_stack<A> nodes;
    for (std::int64_t begin = whole.start, at = window; begin < whole.end; begin += piece, ++at) {
      nodes.push(at == window ? partial_of(at).first : partial_of(at).later, piece, operation);
    }
    A const node = nodes.joined(operation);
    emit(whole.segment, &node);
  });
}

}  // namespace tessera::inline v0_1::detail
