// D on the host, block by block: what the scans and reductions of whole arrays are made of, for any operator and any source.
//
// The elements of a source are read in blocks, in the order of the direction, as accumulators. A reduction joins the pairs of a block, then
// the pairs of those. A scan takes a block in groups of eight vectors: a group becomes its own prefixes in registers, the nodes in front of
// it are joined there, and it is written; its last prefix is the next node.
// Everything here computes, so it is called inside parallel_for alone, where the floating-point mode is the contract's.
#pragma once

#include <algorithm>
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

// Bytes of a result that is written past the caches.
inline constexpr std::int64_t streamed_bytes = 16 << 20;

// Leaves of a piece, which is what a core takes at a time: 128 KiB of accumulators, which stay in the second cache.
template <class A>
inline constexpr std::int64_t piece_leaves = static_cast<std::int64_t>(std::bit_floor(std::clamp((std::size_t{1} << 17) / sizeof(A),
                                                                                                 std::size_t{1024}, std::size_t{1} << 15)));

// --- Reading and writing

// The elements of a source by their position in the direction, as accumulators; a core has one of its own.
template <class A, scan_direction Direction, class Source>
class block_reader {
 public:
  explicit block_reader(Source const& source) : source_(source), count_(source.extent(0)), dense_(is_dense(source)) {}

  // Positions first .. first + count - 1 into `to`, or where they lie as accumulators.
  A const* read(std::int64_t first, int count, A* to) const {
    if (first >= kept_first_ && first < kept_end_) return kept_.get() + (first - kept_first_);
    if constexpr (Direction == forward && holds_accumulators) {
      if (dense_) return source_.data_handle() + first;
    }
    read_anew(first, count, to);
    return to;
  }

  // Positions first .. first + count - 1 shall be read twice, which must not cost twice: at most a piece.
  void keep(std::int64_t first, std::int64_t count) {
    if (holds_accumulators && dense_) return;
    if (!kept_) kept_.reset(new A[static_cast<std::size_t>(piece_leaves<A>)]);
    kept_end_ = kept_first_;
    for (std::int64_t done = 0; done < count; done += block_leaves<A>) {
      read_anew(first + done, static_cast<int>(std::min<std::int64_t>(block_leaves<A>, count - done)), kept_.get() + done);
    }
    kept_first_ = first;
    kept_end_ = first + count;
  }

  // Fetches positions first .. first + count - 1 into a cache, if they are dense: they will be read soon. (Inlined always: GCC drops a call
  // that does nothing else.)
  [[gnu::always_inline]] void prefetch(std::int64_t first, int count) const {
    if constexpr (array_like<Source>) {
      constexpr int line = static_cast<int>(std::max(64 / sizeof(source_value<Source>), std::size_t{1}));
      if (!dense_ || first + count > count_) return;
      for (int i = 0; i < count; i += line) __builtin_prefetch(source_.data_handle() + element(first + i));
    }
  }

 private:
  static constexpr bool holds_accumulators = array_like<Source> && cuda::std::is_same_v<source_value<Source>, A>;

  void read_anew(std::int64_t first, int count, A* to) const {
    if constexpr (array_like<Source>) {
      if (dense_) return copy(source_.data_handle() + element(first), count, to);
    }
    for (int i = 0; i < count; ++i) to[i] = conversion<A, source_value<Source>>::of(source_(element(first + i)));
  }

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

  static bool is_dense(Source const& source) {
    if constexpr (array_like<Source>) {
      return source.mapping().byte_stride(0) == static_cast<std::int64_t>(sizeof(source_value<Source>));
    } else {
      return false;
    }
  }

  Source source_;
  std::int64_t count_;
  bool dense_;
  std::unique_ptr<A[]> kept_;
  std::int64_t kept_first_ = 0, kept_end_ = 0;
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

  // Whether vectors from this position on can be written where they belong.
  bool takes_neighbours(std::int64_t position) const { return cuda::std::is_same_v<T, A> && dense_ && (!streams_ || is_aligned(position)); }
  // Writes them there.
  template <class Operation, int Count>
  [[gnu::always_inline]] void put_neighbours(std::int64_t position, neighbours<A, Operation, Count> const& values) const {
    if constexpr (cuda::std::is_same_v<T, A>) {
      auto const in_memory = Direction == forward ? values : values.reversed();
      T* const to = out_.data_handle() + element(position) - (Direction == forward ? 0 : Count - 1);
      streams_ ? in_memory.stream_to(to) : in_memory.to(to);
    }
  }
  // Writes values to any address.
  void put_block(std::int64_t first, int count, A const* values) const {
    int i = 0;
    if (streams_) {
      for (; i < count && !is_aligned(first + i); ++i) put(first + i, values[i]);
      for (; i + 8 <= count; i += 8) put_neighbours(first + i, eight<A, plus>::of(values + i));
    }
    for (; i < count; ++i) put(first + i, values[i]);
  }
  // One value, its bits kept.
  void put(std::int64_t position, A const& value) const { out_(element(position)) = conversion<T, A>::of(value); }
  // What a thread wrote is there for others; its last call.
  void finish() const {
    if (streams_) TESSERA_HOST_STREAM_FENCE();
  }

 private:
  std::int64_t element(std::int64_t position) const { return Direction == forward ? position : count_ - 1 - position; }
  // Whether vectors that begin at this position are aligned in memory.
  bool is_aligned(std::int64_t position) const {
    return reinterpret_cast<std::uintptr_t>(out_.data_handle() + element(position) + (Direction == forward ? 0 : 1)) % 16 == 0;
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

// --- Many blocks

// The nodes of D of all that came so far, largest first, behind a value that lies in front of all, if there is one (an initial value).
template <class A>
class node_stack {
 public:
  node_stack() = default;
  explicit node_stack(A const& initial) : base_(1), depth_(1) { nodes_[0] = initial; }

  bool holds_leaves() const { return depth_ > base_; }

  // Takes in a node of `size` leaves, a power of two; what comes later is no larger, and only the last node of all may be incomplete.
  template <class Operation>
  void push(A const& node, std::int64_t size, Operation const& operation) {
    nodes_[depth_++] = node;
    leaves_ += size;
    for (std::int64_t full = leaves_ / size; order_is_free<Operation, A> ? depth_ > base_ + 1 : full % 2 == 0; full /= 2, --depth_) {
      nodes_[depth_ - 2] = operation(nodes_[depth_ - 2], nodes_[depth_ - 1]);
    }
  }

  // The nodes joined in front of each of some values, the last node first.
  template <class Operation, int Count>
  [[gnu::always_inline]] auto in_front_of(neighbours<A, Operation, Count> values, Operation const& operation) const {
    for (int i = depth_ - 1; i >= 0; --i) values = values.behind(nodes_[i], operation);
    return values;
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
    return block_node(reader.read(first, count, buffer), count, operation);
  }
  node_stack<A> nodes;
  for (std::int64_t done = 0; done < length; done += leaves) {
    int const count = static_cast<int>(std::min<std::int64_t>(leaves, length - done));
    nodes.push(block_node(reader.read(first + done, count, buffer), count, operation), leaves, operation);
  }
  return nodes.joined(operation);
}

// Writes the prefixes of positions first .. first + length - 1, which lie behind `nodes`; then these hold them too. Exclusive: what lies in
// front of each position, of which `nodes` must hold something. What lies `ahead` of them is fetched meanwhile.
template <bool Exclusive, class A, class Reader, class Writer, class Operation>
void scan_piece(Reader const& reader, Writer const& writer, std::int64_t first, std::int64_t length, std::int64_t ahead,
                node_stack<A>& nodes, Operation const& operation) {
  constexpr int leaves = block_leaves<A>;
  constexpr int vector = joined_as_vectors<A, Operation> ? static_cast<int>(16 / sizeof(A)) : 1;
  A values[leaves];
  A before{};
  if constexpr (Exclusive) {
    before = nodes.joined(operation);
    if (nodes.holds_leaves()) before = canonical(before);
  }
  for (std::int64_t done = 0; done < length; done += leaves) {
    int const count = static_cast<int>(std::min<std::int64_t>(leaves, length - done));
    A const* const from = reader.read(first + done, count, values);
    bool const at_once = writer.takes_neighbours(first + done);
    int i = 0;
    auto const scan_by = [&](auto width) {
      for (; i + width <= count; i += width) {
        if constexpr (width > vector) reader.prefetch(first + done + i + ahead, width);
        auto const own = neighbours<A, Operation, width>::of(from + i).scanned(operation);
        auto prefixes = nodes.in_front_of(own, operation).canonical_values();
        nodes.push(own.last(), width, operation);
        if constexpr (Exclusive) {
          A const last = prefixes.last();
          prefixes = prefixes.one_later(before);
          before = last;
        }
        at_once ? writer.put_neighbours(first + done + i, prefixes) : prefixes.to(values + i);
      }
    };
    scan_by(cuda::std::integral_constant<int, 8 * vector>{});
    if constexpr (vector > 1) scan_by(cuda::std::integral_constant<int, vector>{});
    scan_by(cuda::std::integral_constant<int, 1>{});
    if (!at_once) writer.put_block(first + done, count, values);
  }
}

}  // namespace tessera::inline v0_1::detail
