// D, the one association of every ordered sum ("D1"):
//
//     D(x0) = x0,   D(x0 .. x[n-1]) = D(x0 .. x[m-1]) + D(x[m] .. x[n-1]),   m = the largest power of two below n
//
// Equal, bit for bit: a perfect binary tree whose missing leaves are absent. This file is D for one lane; `group/` joins
// the lanes of a warp and of a block, `lookback/`, `device/` and `src/cuda/segmented_reduce.cu` join chunks. None of them adds in another
// order.
#pragma once

#include <cuda/std/bit>
#include <cuda/std/cstdint>

#include <tessera/arithmetic.hpp>
#include <tessera/config.hpp>

namespace tessera::inline v0_1 {

namespace detail {

// An operator whose identity<T>() can stand for an absent leaf without a trace in the bits: no branch is needed around it then.
template <class Combine, class T>
concept has_identity = requires(Combine const& combine) { combine.template identity<T>(); };

}  // namespace detail

// The aligned node of `Leaves` leaves that starts at leaf `begin`, of which those below `count` exist (at least `begin` does).
// `load(i)` gives leaf i, `combine(a, b)` joins two neighbours, left first. `Leaves` is a power of two; `InFlight` of the leaves are loaded
// before the first is used. Called by one lane; recursion ends at compile time.
TESSERA_CALLS_ARGUMENT
template <int Leaves, int InFlight, class Load, class Combine>
TESSERA_TILE auto dyadic_node(Load const& load, Combine const& combine, int begin, int count) {
  static_assert(Leaves > 0 && (Leaves & (Leaves - 1)) == 0, "the leaves of a node of D are a power of two");
  using value_type = decltype(load(begin));
  if constexpr (Leaves == 1) {
    return load(begin);
  } else if constexpr (Leaves <= InFlight) {
    constexpr bool padded = detail::has_identity<Combine, value_type>;
    value_type node[Leaves];
    node[0] = load(begin);
    TESSERA_UNROLL
    for (int i = 1; i < Leaves; ++i) {
      if constexpr (padded) {
        node[i] = begin + i < count ? load(begin + i) : combine.template identity<value_type>();
      } else {
        node[i] = begin + i < count ? load(begin + i) : node[0];  // not used
      }
    }
    TESSERA_UNROLL
    for (int width = 1; width < Leaves; width *= 2) {
      TESSERA_UNROLL
      for (int i = 0; i + width < Leaves; i += 2 * width) {
        if (padded || begin + i + width < count) node[i] = combine(node[i], node[i + width]);
      }
    }
    return node[0];
  } else {
    value_type node = dyadic_node<Leaves / 2, InFlight>(load, combine, begin, count);
    if (begin + Leaves / 2 < count) {
      node = combine(node, dyadic_node<Leaves / 2, InFlight>(load, combine, begin + Leaves / 2, count));
    }
    return node;
  }
}

namespace detail {

// Each of the first `Count` (a power of two) values of one lane becomes D of those up to and with it.
TESSERA_CALLS_ARGUMENT
template <int Count, class T, int Size, class Combine>
TESSERA_TILE void scan_values(T (&value)[Size], Combine const& combine) {
  TESSERA_UNROLL
  for (int d = 1; d < Count; d *= 2) {
    TESSERA_UNROLL
    for (int v = 0; v < Count; ++v) {
      if ((v & d) != 0) value[v] = combine(value[(v & ~(2 * d - 1)) | (d - 1)], value[v]);
    }
  }
}

}  // namespace detail

// The largest power of two below n, for n >= 2: where D splits.
TESSERA_TILE constexpr cuda::std::int64_t dyadic_split(cuda::std::int64_t n) {
  return static_cast<cuda::std::int64_t>(cuda::std::bit_floor(static_cast<cuda::std::uint64_t>(n - 1)));
}

namespace detail {

// Leaf i of the block of leaves that starts at `first`.
template <class Load>
struct leaves_from {
  Load const& load;
  cuda::std::int64_t first;
  TESSERA_CALLS_ARGUMENT
  TESSERA_TILE auto operator()(int i) const { return load(first + i); }
};

}  // namespace detail

// D of `load(begin) .. load(begin + count - 1)`, count >= 1 at run time, `Leaves` of them loaded at a time. Called by one lane.
TESSERA_CALLS_ARGUMENT
template <int Leaves = 8, class Load, class Combine>
TESSERA_TILE auto dyadic_reduce(Load const& load, Combine const& combine, cuda::std::int64_t begin, cuda::std::int64_t count)
    -> decltype(load(begin)) {
  // Nodes of equal size are joined as soon as both are there; what is left at the end is joined from the smallest (rightmost) up.
  constexpr int leaves = Leaves;
  if (count <= leaves) {
    detail::leaves_from<Load> const leaf{load, begin};
    return dyadic_node<leaves, leaves>(leaf, combine, 0, static_cast<int>(count));
  }
  decltype(load(begin)) stack[64];
  int depth = 0;
  cuda::std::int64_t const blocks = (count + leaves - 1) / leaves;
  for (cuda::std::int64_t block = 0; block < blocks; ++block) {
    detail::leaves_from<Load> const leaf{load, begin + block * leaves};
    cuda::std::int64_t const rest = count - block * leaves;
    stack[depth++] = dyadic_node<leaves, leaves>(leaf, combine, 0, rest < leaves ? static_cast<int>(rest) : leaves);
    for (auto full = block + 1; full % 2 == 0 && depth > 1; full /= 2, --depth)
      stack[depth - 2] = combine(stack[depth - 2], stack[depth - 1]);
  }
  for (; depth > 1; --depth) stack[depth - 2] = combine(stack[depth - 2], stack[depth - 1]);
  return stack[0];
}

}  // namespace tessera::inline v0_1
