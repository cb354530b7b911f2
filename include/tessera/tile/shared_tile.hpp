// A tile in the block's scratch: every lane reaches every element.
#pragma once

#include <tessera/config.hpp>
#include <tessera/group/scratch.hpp>
#include <tessera/tile/tile.hpp>

namespace tessera::inline v0_1 {

// Lives as long as its scope, in stack order, and stays where it was made: neither copied nor moved. Reading elements needs no barrier of
// the caller's, since every primitive that writes one synchronises before and after.
template <class T, class Shape, class Block>
class shared_tile {
 public:
  using value_type = T;
  using shape_type = Shape;
  using storage_type = shared_t;

  // Takes its place in the scratch; fill(*this) then writes it, by detail::write_tile.
  template <class Fill>
  TESSERA_TILE shared_tile(Block& block, Fill const& fill) : elements_(block) {
    fill(*this);
  }

  // The element at row-major position `linear`; tile(i, j, ...) by coordinates. Read-only between primitives.
  TESSERA_TILE T const& operator[](int linear) const { return elements_[linear]; }
  template <class... Coordinates>
    requires(sizeof...(Coordinates) == Shape::rank)
  TESSERA_TILE T const& operator()(Coordinates... coordinates) const {
    int linear = 0, d = 0;
    ((linear = linear * Shape::extent(d++) + static_cast<int>(coordinates)), ...);
    return elements_[linear];
  }

  TESSERA_TILE T* data() { return elements_.data(); }
  TESSERA_TILE T const* data() const { return elements_.data(); }
  TESSERA_TILE T* chunk(int, int first) { return elements_.data() + first; }
  TESSERA_TILE T const* chunk(int, int first) const { return elements_.data() + first; }

 private:
  scratch_array<T, Shape::size, Block> elements_;
};

}  // namespace tessera::inline v0_1
