// What a kernel holds in the place of its destination when it writes records.
#pragma once

#include <cuda/std/cstdint>

#include <tessera/config.hpp>
#include <tessera/scatter/records.hpp>

namespace tessera::inline v0_1 {

// The kernel's side of a scatter target, for one launch. By value, copied freely: the count of a tile's records is kept in the target's
// workspace. `Axis` is the dimension of the destination along which records are rows.
template <class T, int Rank, int Axis>
struct record_writer {
  using element_type = T;
  static constexpr int axis = Axis;

  detail::scatter_header* header;
  cuda::std::uint32_t* used;  // records of each (launch, tile), counted from all ones
  cuda::std::uint32_t* keys;  // by place
  T* rows;                    // by place, `columns` elements each
  cuda::std::int64_t extents[Rank];
  cuda::std::int64_t columns;
  cuda::std::int64_t launch, tiles, per_tile;

  TESSERA_TILE static constexpr int rank() { return Rank; }
};

}  // namespace tessera::inline v0_1
