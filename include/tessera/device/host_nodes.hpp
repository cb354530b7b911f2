// D on the host, block by block: what the scans and reductions of whole arrays are made of, for any operator and any source.
//
// The elements of a source are read into a block, in the order of the direction, as accumulators. A block is a node of D, or the last part of
// one; its loops run over eight neighbours at a time, a number that compilers know, which is what makes vectors of them at -O2. Everything
// here computes, so it is called inside parallel_for alone, where the floating-point mode is the contract's.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <bit>
#include <cuda/std/type_traits>

#include <tessera/accumulate.hpp>
#include <tessera/arithmetic.hpp>
#include <tessera/config.hpp>
#include <tessera/device/host_eight.hpp>
#include <tessera/half.hpp>
#include <tessera/source.hpp>
#include <tessera/tile/scan.hpp>
#include <tessera/view.hpp>

namespace tessera::inline v0_1::detail {

// Speed choices, powers of two; no bit depends on them. Leaves of a block: 4 KiB of accumulators, which stay in the first cache.
template <class A>
inline constexpr int block_leaves = static_cast<int>(std::bit_floor(std::clamp(4096 / sizeof(A), std::size_t{8}, std::size_t{1024})));

// Leaves of a piece, which is what a core takes at a time: it is read twice by a scan, the second time from the second cache.
inline constexpr std::int64_t piece_leaves = 1 << 15;

// --- Reading and writing

// The elements of a source by their position in the direction, as accumulators.
template <class A, scan_direction Direction, class Source>
class block_reader {
 public:
  explicit block_reader(Source const& source) : source_(source), count_(source.extent(0)) {}

  // Positions first .. first + count - 1 into `to`.
  void read(std::int64_t first, int count, A* to) const {
    if constexpr (array_like<Source>) {
      using T = cuda::std::remove_const_t<typename Source::element_type>;
      if (source_.mapping().byte_stride(0) == static_cast<std::int64_t>(sizeof(T))) {
        copy(source_.data_handle() + element(first), count, to);
        return;
      }
    }
    for (int i = 0; i < count; ++i) to[i] = conversion<A, source_value<Source>>::of(source_(element(first + i)));
  }

  // The same where they lie, if they lie there as accumulators.
  A const* read_or_point(std::int64_t first, int count, A* to) const {
    if constexpr (array_like<Source> && Direction == forward && cuda::std::is_same_v<source_value<Source>, A>) {
      if (source_.mapping().byte_stride(0) == static_cast<std::int64_t>(sizeof(A))) return source_.data_handle() + first;
    }
    read(first, count, to);
    return to;
  }

 private:
  std::int64_t element(std::int64_t position) const { return Direction == forward ? position : count_ - 1 - position; }

  template <class T>
  static void copy(T const* from, int count, A* to) {
    if constexpr (Direction == forward && cuda::std::is_same_v<T, A>) {
      std::copy_n(from, count, to);
    } else {
      for (std::ptrdiff_t i = 0; i < count; ++i) to[i] = conversion<A, T>::of(Direction == forward ? from[i] : from[-i]);
    }
  }

  Source source_;
  std::int64_t count_;
};

// The elements of a result by their position in the direction, from accumulators; a NaN becomes canonical.
template <class A, scan_direction Direction, class View>
class block_writer {
 public:
  using T = typename View::element_type;
  explicit block_writer(View const& out) : out_(out), count_(out.extent(0)) {}

  void write(std::int64_t first, int count, A const* from) const {
    if (out_.mapping().byte_stride(0) == static_cast<std::int64_t>(sizeof(T))) {
      copy(from, count, out_.data_handle() + element(first));
    } else {
      for (int i = 0; i < count; ++i) out_(element(first + i)) = conversion<T, A>::of(canonical(from[i]));
    }
  }
  // One value, its bits kept.
  void put(std::int64_t position, A const& value) const { out_(element(position)) = conversion<T, A>::of(value); }

 private:
  std::int64_t element(std::int64_t position) const { return Direction == forward ? position : count_ - 1 - position; }

  static void copy(A const* from, int count, T* to) {
    int i = 0;
    if constexpr (Direction == forward && cuda::std::is_same_v<T, A>) {
      for (; i + 8 <= count; i += 8) eight<A, plus>::of(from + i).canonical_values().to(to + i);
    }
    for (; i < count; ++i) to[Direction == forward ? i : -i] = conversion<T, A>::of(canonical(from[i]));
  }

  View out_;
  std::int64_t count_;
};

// --- One block

// to[i] = D of from[2 i] and from[2 i + 1], a last one without a neighbour as it is; how many there are.
template <class A, class Operation>
int join_pairs(A const* from, int count, A* to, Operation const& operation) {
  int const pairs = count / 2;
  int i = 0;
  for (; i + 8 <= pairs; i += 8) eight<A, Operation>::of_pairs(from + 2 * i, operation).to(to + i);
  for (; i < pairs; ++i) to[i] = operation(from[2 * i], from[2 * i + 1]);
  if (count % 2 != 0) to[pairs] = from[count - 1];
  return count - pairs;
}

// D of a block of 1 to block_leaves leaves.
template <class A, class Operation>
A block_node(A const* leaves, int count, Operation const& operation) {
  if (count == 1) return leaves[0];
  A one[block_leaves<A> / 2], other[block_leaves<A> / 4];
  count = join_pairs(leaves, count, one, operation);
  while (count > 1) {
    count = join_pairs(one, count, other, operation);
    if (count == 1) return other[0];
    count = join_pairs(other, count, one, operation);
  }
  return one[0];
}

// The `Nodes` nodes that end at `nodes`, the last one first, joined in front of a value or of some.
template <int Nodes, class A, class Operation>
auto with_in_front(A const* nodes, A const& value, Operation const& operation) {
  if constexpr (Nodes == 0) {
    return value;
  } else {
    return with_in_front<Nodes - 1>(nodes - 1, operation(*nodes, value), operation);
  }
}
template <int Nodes, class A, class Operation>
auto with_in_front(A const* nodes, eight<A, Operation> const& values, Operation const& operation) {
  if constexpr (Nodes == 0) {
    return values;
  } else {
    return with_in_front<Nodes - 1>(nodes - 1, values.behind(*nodes, operation), operation);
  }
}
template <int Nodes, class A, class Operation>
void join_in_front(A const* nodes, A* values, int count, Operation const& operation) {
  A left[Nodes];  // a copy, which no store into `values` can change
  std::copy_n(nodes + 1 - Nodes, Nodes, left);
  int i = 0;
  for (; i + 8 <= count; i += 8) with_in_front<Nodes>(left + Nodes - 1, eight<A, Operation>::of(values + i), operation).to(values + i);
  for (; i < count; ++i) values[i] = with_in_front<Nodes>(left + Nodes - 1, values[i], operation);
}

// The same for any number of nodes.
template <class A, class Operation>
void join_all_in_front(A const* nodes, int number, A* values, int count, Operation const& operation) {
  for (; number >= 4; number -= 4, nodes -= 4) join_in_front<4>(nodes, values, count, operation);
  switch (number) {
    case 3: return join_in_front<3>(nodes, values, count, operation);
    case 2: return join_in_front<2>(nodes, values, count, operation);
    case 1: return join_in_front<1>(nodes, values, count, operation);
    default: return;
  }
}

// Each of eight values becomes D of those up to it.
template <class A, class Operation>
void scan_eight(A* values, Operation const& operation) {
  A const a = values[0], b = operation(a, values[1]), c = values[2], d = operation(c, values[3]);
  A const e = values[4], f = operation(e, values[5]), g = values[6], h = operation(g, values[7]);
  A const bc = operation(b, c), bd = operation(b, d), fg = operation(f, g), fh = operation(f, h);
  values[1] = b;
  values[2] = bc;
  values[3] = bd;
  values[4] = operation(bd, e);
  values[5] = operation(bd, f);
  values[6] = operation(bd, fg);
  values[7] = operation(bd, fh);
}

// Each value of a block becomes D of the block's values up to it.
template <class A, class Operation>
void scan_block(A* values, int count, Operation const& operation) {
  int first = 0;
  for (; first + 8 <= count; first += 8) scan_eight(values + first, operation);
  for (int width = 1; first + width < count; width *= 2) {
    for (int node = first; node + width < count; node += 2 * width) {
      for (int i = node + width; i < std::min(node + 2 * width, count); ++i) values[i] = operation(values[node + width - 1], values[i]);
    }
  }
  for (int width = 8; width < count; width *= 2) {
    for (int node = 0; node + width < count; node += 2 * width) {
      join_in_front<1>(values + node + width - 1, values + node + width, std::min(width, count - node - width), operation);
    }
  }
}

// --- Nodes of many blocks

// The nodes of D of all that came so far, largest first, on top of up to one value that lies in front of all (an initial value).
template <class A>
class node_stack {
 public:
  node_stack() = default;
  explicit node_stack(A const& initial) : base_(1), depth_(1) { nodes_[0] = initial; }

  bool empty() const { return depth_ == 0; }
  int depth() const { return depth_; }
  // The last node; the others lie in front of it.
  A const* top() const { return nodes_ + depth_ - 1; }

  // A node of `size` leaves, a power of two, or the last one, which may be incomplete. Only nodes that are as large may follow each other.
  template <class Operation>
  void push(A const& node, std::int64_t size, Operation const& operation) {
    nodes_[depth_++] = node;
    leaves_ += size;
    for (std::int64_t full = leaves_ / size; full % 2 == 0; full /= 2, --depth_) {
      nodes_[depth_ - 2] = operation(nodes_[depth_ - 2], nodes_[depth_ - 1]);
    }
  }

  // The nodes joined from the last one on.
  template <class Operation>
  A joined(Operation const& operation) const {
    A value = nodes_[depth_ - 1];
    for (int i = depth_ - 2; i >= 0; --i) value = operation(nodes_[i], value);
    return value;
  }

  void clear() {
    depth_ = base_;
    leaves_ = 0;
  }

 private:
  int base_ = 0, depth_ = 0;
  std::int64_t leaves_ = 0;
  A nodes_[66];
};

}  // namespace tessera::inline v0_1::detail
