// Neighbouring values on the host, which an operator joins side by side: in vector registers where operator and type are known to allow it
// (sums of the usual types, the least and the most of 32-bit ones), else one after the other. The bits are the same. The only place that
// knows vectors.
#pragma once

#include <cstdint>
#include <cstring>

#include <cuda/std/bit>
#include <cuda/std/type_traits>

#include <tessera/accumulate.hpp>
#include <tessera/arithmetic.hpp>
#include <tessera/config.hpp>

namespace tessera::inline v0_1::detail {

// Vectors of 16 bytes, which every 64-bit machine has. Integers wrap, so they are unsigned.
template <int Bytes, bool Floating>
struct vector_of {};
template <>
struct vector_of<4, true> {
  typedef float type __attribute__((vector_size(16)));
};
template <>
struct vector_of<8, true> {
  typedef double type __attribute__((vector_size(16)));
};
template <>
struct vector_of<4, false> {
  typedef std::uint32_t type __attribute__((vector_size(16)));
};
template <>
struct vector_of<8, false> {
  typedef std::uint64_t type __attribute__((vector_size(16)));
};

// `Count` neighbours, a power of two: one value, one vector, or two halves (no loops: compilers keep at -O2 what they find in loops in
// memory).
template <class A, class Operation, int Count>
class neighbours {
  using half = neighbours<A, Operation, Count / 2>;

 public:
  neighbours() = default;
  // The values from[0] .. from[Count - 1].
  [[gnu::always_inline]] static neighbours of(A const* from) { return {half::of(from), half::of(from + Count / 2)}; }
  // D of from[0] and from[1], of from[2] and from[3], ...
  [[gnu::always_inline]] static neighbours of_pairs(A const* from, Operation const& operation) {
    return {half::of_pairs(from, operation), half::of_pairs(from + Count, operation)};
  }
  // `left` joined in front of each.
  [[gnu::always_inline]] neighbours behind(A const& left, Operation const& operation) const {
    return {low_.behind(left, operation), high_.behind(left, operation)};
  }
  // Each of `left` joined in front of the one here.
  [[gnu::always_inline]] neighbours behind(neighbours const& left, Operation const& operation) const {
    return {low_.behind(left.low_, operation), high_.behind(left.high_, operation)};
  }
  // D of the values up to each one.
  [[gnu::always_inline]] neighbours scanned(Operation const& operation) const {
    half const low = low_.scanned(operation);
    return {low, high_.scanned(operation).behind(low.last(), operation)};
  }
  [[gnu::always_inline]] neighbours canonical_values() const { return {low_.canonical_values(), high_.canonical_values()}; }
  [[gnu::always_inline]] neighbours reversed() const { return {high_.reversed(), low_.reversed()}; }
  // Each one a place later, behind `first`.
  [[gnu::always_inline]] neighbours one_later(A const& first) const { return {low_.one_later(first), high_.one_later(low_.last())}; }
  [[gnu::always_inline]] A last() const { return high_.last(); }
  [[gnu::always_inline]] void to(A* values) const {
    low_.to(values);
    high_.to(values + Count / 2);
  }
  // The same past the caches, to an address that is aligned to 16 bytes.
  [[gnu::always_inline]] void stream_to(A* values) const {
    low_.stream_to(values);
    high_.stream_to(values + Count / 2);
  }

 private:
  [[gnu::always_inline]] neighbours(half const& low, half const& high) : low_(low), high_(high) {}
  half low_, high_;
};

template <class A, class Operation>
class neighbours<A, Operation, 1> {
 public:
  neighbours() = default;
  [[gnu::always_inline]] static neighbours of(A const* from) { return neighbours(*from); }
  [[gnu::always_inline]] static neighbours of_pairs(A const* from, Operation const& operation) {
    return neighbours(operation(from[0], from[1]));
  }
  [[gnu::always_inline]] neighbours behind(A const& left, Operation const& operation) const { return neighbours(operation(left, value_)); }
  [[gnu::always_inline]] neighbours behind(neighbours const& left, Operation const& operation) const {
    return behind(left.value_, operation);
  }
  [[gnu::always_inline]] neighbours scanned(Operation const&) const { return *this; }
  [[gnu::always_inline]] neighbours canonical_values() const { return neighbours(canonical(value_)); }
  [[gnu::always_inline]] neighbours reversed() const { return *this; }
  [[gnu::always_inline]] neighbours one_later(A const& first) const { return neighbours(first); }
  [[gnu::always_inline]] A last() const { return value_; }
  [[gnu::always_inline]] void to(A* values) const { *values = value_; }
  [[gnu::always_inline]] void stream_to(A* values) const { *values = value_; }

 private:
  [[gnu::always_inline]] explicit neighbours(A const& value) : value_(value) {}
  A value_;
};

// Whether such neighbours are vectors.
template <class A, class Operation>
inline constexpr bool joined_as_vectors =
    cuda::std::is_arithmetic_v<A> &&
    ((is_sum<Operation> && (sizeof(A) == 4 || sizeof(A) == 8)) || ((is_least<Operation> || is_most<Operation>) && sizeof(A) == 4));

template <class A, class Operation, int Count>
  requires(joined_as_vectors<A, Operation> && sizeof(A) * Count == 16)
class neighbours<A, Operation, Count> {
  using vector = typename vector_of<sizeof(A), cuda::std::is_floating_point_v<A>>::type;
  using bits_vector = typename vector_of<sizeof(A), false>::type;

 public:
  neighbours() = default;
  [[gnu::always_inline]] static neighbours of(A const* from) {
    vector v;
    std::memcpy(&v, from, sizeof(v));
    return neighbours(v);
  }
  [[gnu::always_inline]] static neighbours of_pairs(A const* from, Operation const&) {
    vector a, b;
    std::memcpy(&a, from, sizeof(a));
    std::memcpy(&b, from + Count, sizeof(b));
    if constexpr (Count == 4) {
      return neighbours(join(__builtin_shufflevector(a, b, 0, 2, 4, 6), __builtin_shufflevector(a, b, 1, 3, 5, 7)));
    } else {
      return neighbours(join(__builtin_shufflevector(a, b, 0, 2), __builtin_shufflevector(a, b, 1, 3)));
    }
  }
  [[gnu::always_inline]] neighbours behind(A const& left, Operation const&) const { return neighbours(join(all_of(left), values_)); }
  [[gnu::always_inline]] neighbours behind(neighbours const& left, Operation const&) const {
    return neighbours(join(left.values_, values_));
  }
  [[gnu::always_inline]] neighbours canonical_values() const {
    if constexpr (cuda::std::is_floating_point_v<A>) {
      auto const is_nan = (bits_vector)(values_ != values_);
      auto const nan = (bits_vector)all_of(cuda::std::bit_cast<A>(float_bits<A>::canonical_nan));
      return neighbours((vector)(((bits_vector)values_ & ~is_nan) | (nan & is_nan)));
    } else {
      return *this;
    }
  }
  [[gnu::always_inline]] neighbours scanned(Operation const&) const {
    vector const absent = all_of(Operation::template identity<A>());
    if constexpr (Count == 4) {
      vector const pairs = join(__builtin_shufflevector(values_, absent, 4, 0, 4, 2), values_);
      return neighbours(join(__builtin_shufflevector(pairs, absent, 4, 4, 1, 1), pairs));
    } else {
      return neighbours(join(__builtin_shufflevector(values_, absent, 2, 0), values_));
    }
  }
  [[gnu::always_inline]] neighbours reversed() const {
    if constexpr (Count == 4) {
      return neighbours(__builtin_shufflevector(values_, values_, 3, 2, 1, 0));
    } else {
      return neighbours(__builtin_shufflevector(values_, values_, 1, 0));
    }
  }
  [[gnu::always_inline]] neighbours one_later(A const& first) const {
    if constexpr (Count == 4) {
      return neighbours(__builtin_shufflevector(all_of(first), values_, 0, 4, 5, 6));
    } else {
      return neighbours(__builtin_shufflevector(all_of(first), values_, 0, 2));
    }
  }
  [[gnu::always_inline]] A last() const { return static_cast<A>(values_[Count - 1]); }
  [[gnu::always_inline]] void to(A* values) const { std::memcpy(values, &values_, sizeof(values_)); }
  [[gnu::always_inline]] void stream_to(A* values) const { TESSERA_HOST_STREAM(reinterpret_cast<vector*>(values), values_); }

 private:
  [[gnu::always_inline]] explicit neighbours(vector const& values) : values_(values) {}
  [[gnu::always_inline]] static vector all_of(A const& value) {
    using lane = cuda::std::remove_cvref_t<decltype(vector{}[0])>;
    auto const one = static_cast<lane>(value);
    if constexpr (Count == 4) {
      return vector{one, one, one, one};
    } else {
      return vector{one, one};
    }
  }
  // The operator, lane by lane.
  [[gnu::always_inline]] static vector join(vector const& left, vector const& right) {
    if constexpr (is_sum<Operation>) {
      return left + right;
    } else if constexpr (cuda::std::is_floating_point_v<A>) {
      // The right one where it comes first or the left one is a NaN; of equals, which may be zeros of either sign, the bits of both (least)
      // or those that they have in common (most).
      auto const a = (bits_vector)left, b = (bits_vector)right;
      auto const is_right = (bits_vector)(is_least<Operation> ? right < left : right > left) | (bits_vector)(left != left);
      auto const is_equal = (bits_vector)(left == right);
      auto const one = (a & ~is_right) | (b & is_right);
      return (vector)(is_least<Operation> ? one | (b & is_equal) : one & (b | ~is_equal));
    } else if constexpr (cuda::std::is_signed_v<A>) {
      auto const a = (signed_vector)left, b = (signed_vector)right;
      auto const is_right = (vector)(is_least<Operation> ? b < a : b > a);
      return (left & ~is_right) | (right & is_right);
    } else {
      auto const is_right = (vector)(is_least<Operation> ? right < left : right > left);
      return (left & ~is_right) | (right & is_right);
    }
  }
  typedef std::int32_t signed_vector __attribute__((vector_size(16)));

  vector values_;
};

template <class A, class Operation>
using eight = neighbours<A, Operation, 8>;

}  // namespace tessera::inline v0_1::detail
