// D on the host, block by block: what the scans and reductions of whole arrays are made of, for any operator and any source.
//
// The elements of a source are read into a block, in the order of the direction, as accumulators. A block is a node of D, or the last part
// of one; its loops run over eight neighbours at a time, a number that compilers know, which is what makes vectors of them at -O2.
// Everything here computes, so it is called inside parallel_for alone, where the floating-point mode is the contract's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

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

// Bytes of a result that is written past the caches.
inline constexpr std::int64_t streamed_bytes = 16 << 20;

// Leaves of a piece, which is what a core takes at a time: 128 KiB of accumulators, which stay in the second cache.
template <class A>
inline constexpr std::int64_t piece_leaves = static_cast<std::int64_t>(std::bit_floor(std::clamp((std::size_t{1} << 17) / sizeof(A),
                                                                                                 std::size_t{1024}, std::size_t{1} << 15)));

// --- Nodes in front

// The `Nodes` nodes that end at `nodes`, the last one first, joined in front of a value, or of each of eight.
template <int Nodes, class A, class Operation>
[[gnu::always_inline]] inline auto with_in_front(A const* nodes, A const& value, Operation const& operation) {
  if constexpr (Nodes == 0) {
    return value;
  } else {
    return with_in_front<Nodes - 1>(nodes - 1, operation(*nodes, value), operation);
  }
}
template <int Nodes, class A, class Operation>
[[gnu::always_inline]] inline auto with_in_front(A const* nodes, eight<A, Operation> const& values, Operation const& operation) {
  if constexpr (Nodes == 0) {
    return values;
  } else {
    return with_in_front<Nodes - 1>(nodes - 1, values.behind(*nodes, operation), operation);
  }
}

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
    if constexpr (cuda::std::is_same_v<T, A>) {
      if constexpr (Direction == forward) {
        std::copy_n(from, count, to);
      } else {
        int i = 0;
        for (; i + 8 <= count; i += 8) eight<A, plus>::of(from - i - 7).reversed().to(to + i);
        for (; i < count; ++i) to[i] = from[-i];
      }
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
  explicit block_writer(View const& out)
      : out_(out),
        count_(out.extent(0)),
        dense_(out.mapping().byte_stride(0) == static_cast<std::int64_t>(sizeof(T))),
        streams_(dense_ && cuda::std::is_same_v<T, A> && count_ * static_cast<std::int64_t>(sizeof(T)) >= streamed_bytes) {}

  // The values with the `Nodes` nodes that end at `nodes` joined in front of them.
  template <int Nodes, class Operation>
  void write(std::int64_t first, int count, A const* values, A const* nodes, Operation const& operation) const {
    int i = 0;
    auto const write_one = [&] {
      put(first + i, canonical(with_in_front<Nodes>(nodes, values[i], operation)));
      ++i;
    };
    if (streams_) {
      while (i < count && reinterpret_cast<std::uintptr_t>(lowest_of_eight(first + i)) % 16 != 0) write_one();
    }
    for (; i + 8 <= count; i += 8) {
      write_eight(first + i, with_in_front<Nodes>(nodes, eight<A, Operation>::of(values + i), operation).canonical_values());
    }
    while (i < count) write_one();
  }
  // One value, its bits kept.
  void put(std::int64_t position, A const& value) const { out_(element(position)) = conversion<T, A>::of(value); }
  // What a thread wrote is there for others; its last call.
  void finish() const {
    if (streams_) TESSERA_HOST_STREAM_FENCE();
  }

 private:
  std::int64_t element(std::int64_t position) const { return Direction == forward ? position : count_ - 1 - position; }
  // Where the eight elements lie that begin at this position, if they are dense.
  T* lowest_of_eight(std::int64_t position) const { return out_.data_handle() + element(position) - (Direction == forward ? 0 : 7); }

  template <class Eight>
  [[gnu::always_inline]] void write_eight(std::int64_t position, Eight const& values) const {
    if constexpr (cuda::std::is_same_v<T, A>) {
      if (dense_) {
        Eight const in_memory = Direction == forward ? values : values.reversed();
        return streams_ ? in_memory.stream_to(lowest_of_eight(position)) : in_memory.to(lowest_of_eight(position));
      }
    }
    A some[8];
    values.to(some);
    for (int j = 0; j < 8; ++j) put(position + j, some[j]);
  }

  View out_;
  std::int64_t count_;
  bool dense_, streams_;
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

// The same for a block.
template <int Nodes, class A, class Operation>
void join_in_front(A const* nodes, A* values, int count, Operation const& operation) {
  A left[Nodes];  // a copy, which no store into `values` can change
  std::copy_n(nodes + 1 - Nodes, Nodes, left);
  int i = 0;
  for (; i + 8 <= count; i += 8) with_in_front<Nodes>(left + Nodes - 1, eight<A, Operation>::of(values + i), operation).to(values + i);
  for (; i < count; ++i) values[i] = with_in_front<Nodes>(left + Nodes - 1, values[i], operation);
}

// Each value of a block becomes D of the block's values up to it.
template <class A, class Operation>
void scan_block(A* values, int count, Operation const& operation) {
  constexpr int step = joined_as_vectors<A, Operation> ? static_cast<int>(128 / sizeof(A)) : 8;  // eight vectors
  int whole = 0;
  for (; whole + step <= count; whole += step) {
    neighbours<A, Operation, step>::of(values + whole).scanned(operation).to(values + whole);
  }
  int rest = whole;
  for (; rest + 8 <= count; rest += 8) eight<A, Operation>::of(values + rest).scanned(operation).to(values + rest);
  for (int width = 1; rest + width < count; width *= 2) {
    for (int node = rest; node + width < count; node += 2 * width) {
      A const left = values[node + width - 1];
      for (int i = node + width; i < std::min(node + 2 * width, count); ++i) values[i] = operation(left, values[i]);
    }
  }
  for (int width = 8; width < count; width *= 2) {
    for (int node = width < step ? whole : 0; node + width < count; node += 2 * width) {
      join_in_front<1>(values + node + width - 1, values + node + width, std::min(width, count - node - width), operation);
    }
  }
}

// --- Many blocks

// The nodes of D of all that came so far, largest first, behind a value that lies in front of all, if there is one (an initial value).
template <class A>
class node_stack {
 public:
  node_stack() = default;
  explicit node_stack(A const& initial) : base_(1), depth_(1) { nodes_[0] = initial; }

  bool holds_leaves() const { return depth_ > base_; }
  int depth() const { return depth_; }
  // The last node; the others lie in front of it.
  A const* last() const { return nodes_ + depth_ - 1; }

  // Takes in a node of `size` leaves, a power of two; what comes later is no larger, and only the last node of all may be incomplete.
  template <class Operation>
  void push(A const& node, std::int64_t size, Operation const& operation) {
    nodes_[depth_++] = node;
    leaves_ += size;
    for (std::int64_t full = leaves_ / size; full % 2 == 0; full /= 2, --depth_) {
      nodes_[depth_ - 2] = operation(nodes_[depth_ - 2], nodes_[depth_ - 1]);
    }
  }

  // All nodes joined, the last two first.
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
  A nodes_[66]{};
};

// D of positions first .. first + length - 1, of which there is at least one.
template <class A, class Reader, class Operation>
A piece_node(Reader const& reader, std::int64_t first, std::int64_t length, Operation const& operation) {
  constexpr int leaves = block_leaves<A>;
  A buffer[leaves];
  if (length <= leaves) {
    int const count = static_cast<int>(length);
    return block_node(reader.read_or_point(first, count, buffer), count, operation);
  }
  node_stack<A> nodes;
  for (std::int64_t done = 0; done < length; done += leaves) {
    int const count = static_cast<int>(std::min<std::int64_t>(leaves, length - done));
    nodes.push(block_node(reader.read_or_point(first + done, count, buffer), count, operation), leaves, operation);
  }
  return nodes.joined(operation);
}

// Writes `values`, D of positions first .. up to each one, with `nodes` joined in front of them; `values` are used up. Exclusive: what lies
// in front of each position, of which `nodes` must hold something.
template <bool Exclusive, class A, class Writer, class Operation>
void write_prefixes(Writer const& writer, std::int64_t first, std::int64_t length, A* values, node_stack<A> const& nodes,
                    Operation const& operation) {
  if constexpr (Exclusive) {
    A const before = nodes.joined(operation);
    writer.put(first, nodes.holds_leaves() ? canonical(before) : before);
    ++first;
    --length;
  }
  bool const as_one = order_is_free<Operation, A> && nodes.depth() > 1;
  A const one = as_one ? nodes.joined(operation) : A{};
  for (std::int64_t done = 0; done < length; done += block_leaves<A>) {
    int const count = static_cast<int>(std::min<std::int64_t>(block_leaves<A>, length - done));
    A* const block = values + done;
    std::int64_t const to = first + done;
    A const* last = as_one ? &one : nodes.last();
    int number = as_one ? 1 : nodes.depth();
    for (; number > 4; number -= 4, last -= 4) join_in_front<4>(last, block, count, operation);
    switch (number) {  // the rest on the way out
      case 4:
        writer.template write<4>(to, count, block, last, operation);
        break;
      case 3:
        writer.template write<3>(to, count, block, last, operation);
        break;
      case 2:
        writer.template write<2>(to, count, block, last, operation);
        break;
      case 1:
        writer.template write<1>(to, count, block, last, operation);
        break;
      default:
        writer.template write<0>(to, count, block, last, operation);
        break;
    }
  }
}

// Writes the prefixes of positions first .. first + length - 1, which lie behind `nodes`; then these hold them too, and `own` them alone.
template <bool Exclusive, class A, class Reader, class Writer, class Operation>
void scan_piece(Reader const& reader, Writer const& writer, std::int64_t first, std::int64_t length, node_stack<A>& nodes,
                node_stack<A>* own, Operation const& operation) {
  constexpr int leaves = block_leaves<A>;
  A values[leaves];
  for (std::int64_t done = 0; done < length; done += leaves) {
    int const count = static_cast<int>(std::min<std::int64_t>(leaves, length - done));
    reader.read(first + done, count, values);
    scan_block(values, count, operation);
    A const block = values[count - 1];
    write_prefixes<Exclusive>(writer, first + done, count, values, nodes, operation);
    nodes.push(block, leaves, operation);
    if (own != nullptr) own->push(block, leaves, operation);
  }
}

// D of positions first .. up to each one into `values`, for `length` of them.
template <class A, class Reader, class Operation>
void scan_apart(Reader const& reader, std::int64_t first, std::int64_t length, A* values, Operation const& operation) {
  constexpr int leaves = block_leaves<A>;
  node_stack<A> nodes;
  for (std::int64_t done = 0; done < length; done += leaves) {
    int const count = static_cast<int>(std::min<std::int64_t>(leaves, length - done));
    A* const block = values + done;
    reader.read(first + done, count, block);
    scan_block(block, count, operation);
    A const node = block[count - 1];
    A const* last = nodes.last();
    int number = nodes.depth();
    for (; number >= 2; number -= 2, last -= 2) join_in_front<2>(last, block, count, operation);
    if (number == 1) join_in_front<1>(last, block, count, operation);
    nodes.push(node, leaves, operation);
  }
}

}  // namespace tessera::inline v0_1::detail
