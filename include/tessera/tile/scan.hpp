// tile_inclusive_scan and tile_exclusive_scan: all prefixes of a tile, row-major, each by D.
#pragma once

#include <cuda/std/type_traits>

#include <tessera/arithmetic.hpp>
#include <tessera/config.hpp>
#include <tessera/group/lane_scan.hpp>
#include <tessera/tile/make_tile.hpp>
#include <tessera/tile/tile.hpp>

namespace tessera::inline v0_1 {

// From the first element on, or from the last one back.
enum class scan_direction { forward, backward };
inline constexpr scan_direction forward = scan_direction::forward;
inline constexpr scan_direction backward = scan_direction::backward;

namespace detail {

// Leaves in `tile` D of the elements up to and with each one; or, exclusive, of those in front of it, with `none` where there are none.
template <scan_direction Direction, bool Exclusive, class Block, class Tile, class Operation, class Finish>
TESSERA_TILE auto scan_tile(Block& block, Tile const& tile, Operation const& operation, Finish const& finish) {
  using traits = tile_traits<Tile>;
  using T = typename traits::value_type;
  constexpr bool back = Direction == backward;
  constexpr int chunk = traits::chunk, slots = (traits::chunks + Block::size - 1) / Block::size;
  // Element i of a chunk in the scan's order.
  auto const order = [](int i) { return back ? chunk - 1 - i : i; };

  T prefix[static_cast<unsigned>(slots)][chunk], totals[static_cast<unsigned>(slots)];
  bool first_exists[static_cast<unsigned>(slots)];
  for_each_chunk<Tile>(block, [&](int slot, int first) {
    T const* const values = tile.chunk(slot, first);
    TESSERA_UNROLL
    for (int i = 0; i < chunk; ++i) prefix[slot][i] = values[order(i)];
    TESSERA_UNROLL
    for (int d = 1; d < chunk; d *= 2) {
      TESSERA_UNROLL
      for (int i = 0; i < chunk; ++i) {
        if ((i & d) != 0) prefix[slot][i] = operation(prefix[slot][(i & ~(2 * d - 1)) | (d - 1)], prefix[slot][i]);
      }
    }
  });
  TESSERA_UNROLL
  for (int slot = 0; slot < slots; ++slot) {
    bool const mine = slot * Block::size + block.rank() < traits::chunks;
    totals[slot] = mine ? prefix[slot][chunk - 1] : T{};
    first_exists[slot] = !Exclusive;
    if constexpr (Exclusive) {
      TESSERA_UNROLL
      for (int i = chunk - 1; i > 0; --i) prefix[slot][i] = prefix[slot][i - 1];
    }
  }
  scan_lanes<traits::chunks, back>(block, totals, operation, [&](int slot, T const& node) {
    TESSERA_UNROLL
    for (int i = 0; i < chunk; ++i) prefix[slot][i] = i > 0 || first_exists[slot] ? operation(node, prefix[slot][i]) : node;
    first_exists[slot] = true;
  });
  return make_tile<T, typename traits::shape>(block, registers, [&](auto& result) {
    fill_tile(block, result, [&](int slot, int, T* to) {
      TESSERA_UNROLL
      for (int i = 0; i < chunk; ++i) to[order(i)] = finish(i > 0 || first_exists[slot], prefix[slot][i]);
    });
  });
}

}  // namespace detail

// Element i of the result is D of elements 0 .. i of the tile, row-major; with `backward`, of elements size - 1 down to i, the same on the
// reversed tile. In registers, a NaN canonical. `operation` is plus{} or any other operator, applied in the tree of D, the earlier operand first.
// Called by every lane of the block; synchronises. Bits do not depend on the block's size.
template <scan_direction Direction = forward, class Block, class Tile, class Operation = plus>
TESSERA_TILE auto tile_inclusive_scan(Block& block, Tile const& tile, Operation const& operation = {}) {
  using T = typename tile_traits<Tile>::value_type;
  return detail::scan_tile<Direction, false>(block, tile, operation, [](bool, T value) { return canonical(value); });
}

// Element i of the result is operation(initial, D of the elements in front of i), and `initial` itself where there are none. Without one, +0.
template <scan_direction Direction = forward, class Block, class Tile, class Operation = plus>
TESSERA_TILE auto tile_exclusive_scan(Block& block, Tile const& tile,
                                      cuda::std::type_identity_t<typename tile_traits<Tile>::value_type> initial = {},
                                      Operation const& operation = {}) {
  using T = typename tile_traits<Tile>::value_type;
  return detail::scan_tile<Direction, true>(block, tile, operation,
                                            [&](bool exists, T value) { return exists ? canonical(operation(initial, value)) : initial; });
}

}  // namespace tessera::inline v0_1
