// A tile in registers: each lane holds its own chunks and can reach no others.
#pragma once

#include <nv/target>

#include <tessera/config.hpp>
#include <tessera/tile/tile.hpp>

namespace tessera::inline v0_1 {

// A value: copied, returned and passed freely. `Lanes` is the size of the block that made it.
template <class T, class Shape, int Lanes>
class register_tile {
 public:
  using value_type = T;
  using shape_type = Shape;
  using storage_type = registers_t;
  static constexpr int lanes = Lanes;

  // fill(*this) writes it, by detail::write_tile.
  template <class Fill>
  TESSERA_TILE explicit register_tile(Fill const& fill) {
    if constexpr (Shape::size % (chunk_ * Lanes) != 0) {
      // Some lanes have a chunk less; it is copied with the others, and no compiler shall wonder what is in it. The device's registers need
      // no value.
      NV_IF_TARGET(NV_IS_HOST, (for (T& value : values_) value = T{};))
    }
    fill(*this);
  }

  // The lane's chunk `slot`.
  TESSERA_TILE T* chunk(int slot, int) { return values_ + slot * chunk_; }
  TESSERA_TILE T const* chunk(int slot, int) const { return values_ + slot * chunk_; }

 private:
  static constexpr int chunk_ = detail::chunk_elements<T, Shape>();
  static constexpr int slots_ = (Shape::size / chunk_ + Lanes - 1) / Lanes;
  alignas(sizeof(T) * chunk_) T values_[static_cast<unsigned>(slots_ * chunk_)];
};

}  // namespace tessera::inline v0_1
