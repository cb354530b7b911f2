// tile_inclusive_scan and tile_exclusive_scan: all prefixes of a tile, row-major, each by D.
#pragma once

#include <cuda/std/type_traits>

#include <tessera/accumulate.hpp>
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

// All prefixes of a tile: D of the elements up to and with each one (exclusive: of those in front of it). Held by the lanes that hold the
// tile's chunks.
template <class T, class Shape, int Lanes, scan_direction Direction, bool Exclusive>
class tile_prefixes {
 public:
  static constexpr int chunk = chunk_elements<T, Shape>(), chunks = Shape::size / chunk, slots = (chunks + Lanes - 1) / Lanes;
  static constexpr bool back = Direction == backward;

  // Scans the tile. Called by every lane; synchronises.
  template <class Block, class Tile, class Operation>
  TESSERA_TILE tile_prefixes(Block& block, Tile const& tile, Operation const& operation) {
    if constexpr (chunks % Lanes != 0) {
      // Some lanes have a chunk less; their last one is scanned with the others.
      TESSERA_UNROLL
      for (int i = 0; i < chunk; ++i) prefix_[slots - 1][i] = T{};
    }
    for_each_chunk<Tile>(block, [&](int slot, int first) {
      T const* const values = tile.chunk(slot, first);
      TESSERA_UNROLL
      for (int i = 0; i < chunk; ++i) prefix_[slot][i] = values[in_order(i)];
    });
    scan_lanes<chunks, back, Exclusive>(block, prefix_, operation);
  }

  // The tile of finish(exists, joined, prefix), in registers; `exists` is false for the exclusive prefix of nothing, `joined` is true where
  // the prefix is known to come from the operation.
  template <class Block, class Finish>
  TESSERA_TILE auto finished(Block& block, Finish const& finish) const {
    return make_tile<T, Shape>(block, registers, [&](auto& result) {
      fill_tile(block, result, [&](int slot, int first, T* to) {
        bool const exists = !Exclusive || first != (back ? Shape::size - chunk : 0);
        TESSERA_UNROLL
        for (int i = 0; i < chunk; ++i) to[in_order(i)] = finish(i > 0 || exists, !Exclusive && i > 0, prefix_[slot][i]);
      });
    });
  }

 private:
  // Element i of a chunk in the scan's order.
  TESSERA_TILE static constexpr int in_order(int i) { return back ? chunk - 1 - i : i; }

  T prefix_[static_cast<unsigned>(slots)][static_cast<unsigned>(chunk)];
};

template <scan_direction Direction, bool Exclusive, class Block, class Tile, class Operation, class Finish>
TESSERA_TILE auto scan_tile(Block& block, Tile const& tile, Operation const& operation, Finish const& finish) {
  using traits = tile_traits<Tile>;
  check_tile_operation<Operation, typename traits::value_type>();
  tile_prefixes<typename traits::value_type, typename traits::shape, Block::size, Direction, Exclusive> const prefixes(block, tile,
                                                                                                                       operation);
  return prefixes.finished(block, finish);
}

}  // namespace detail

// Element i of the result is D of elements 0 .. i of the tile, row-major; with `backward`, of elements size - 1 down to i, the same on the
// reversed tile. In registers, a NaN canonical. `operation` is plus{} or any other operator, applied in the tree of D, the earlier operand
// first; elements are joined in their own type, so that tiles of f16 or bf16, and accumulate_as another type, do not compile. Called by
// every lane of the block; synchronises. Bits do not depend on the block's size.
template <scan_direction Direction = forward, class Block, class Tile, class Operation = plus>
TESSERA_TILE auto tile_inclusive_scan(Block& block, Tile const& tile, Operation const& operation = {}) {
  using T = typename tile_traits<Tile>::value_type;
  return detail::scan_tile<Direction, false>(
      block, tile, operation, [](bool, bool joined, T value) { return joined ? canonical_result<Operation>(value) : canonical(value); });
}

// Element i of the result is operation(initial, D of the elements in front of i), and `initial` itself where there are none. Without one,
// +0.
template <scan_direction Direction = forward, class Block, class Tile, class Operation = plus>
TESSERA_TILE auto tile_exclusive_scan(Block& block, Tile const& tile,
                                      cuda::std::type_identity_t<typename tile_traits<Tile>::value_type> initial = {},
                                      Operation const& operation = {}) {
  using T = typename tile_traits<Tile>::value_type;
  return detail::scan_tile<Direction, true>(block, tile, operation, [&](bool exists, bool, T value) {
    return exists ? canonical_result<Operation>(operation(initial, value)) : initial;
  });
}

}  // namespace tessera::inline v0_1
