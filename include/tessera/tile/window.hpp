// Where a tile meets an array: which of its elements lie inside, and at which address. The one place where bounds are decided, per axis,
// before anything is flattened, and exactly, whatever the integer types; also the one place that allows a 16-byte access.
#pragma once

#include <cuda/std/cstdint>
#include <cuda/std/limits>
#include <cuda/std/type_traits>

#include <tessera/config.hpp>
#include <tessera/tile/shape.hpp>
#include <tessera/view.hpp>

namespace tessera::inline v0_1 {

// The padding value of an index tile: never a row, whatever the offset. The smallest value of a signed type, the largest of an unsigned
// one.
template <class I>
inline constexpr I skip_index = cuda::std::is_signed_v<I> ? cuda::std::numeric_limits<I>::min() : cuda::std::numeric_limits<I>::max();

namespace detail {

// Whether 0 <= offset + index < extent, as if computed exactly.
template <class I>
TESSERA_TILE constexpr bool index_in_range(I index, cuda::std::int64_t offset, cuda::std::int64_t extent) {
  static_assert(cuda::std::is_integral_v<I> && !cuda::std::is_same_v<I, bool>, "indices are integers of 8 to 64 bits");
  using u64 = cuda::std::uint64_t;
  if (index == skip_index<I>) return false;
  if (offset >= 0) {
    if constexpr (cuda::std::is_signed_v<I>) {
      auto const i = static_cast<cuda::std::int64_t>(index);
      return i >= -offset && i < extent - offset;
    } else {
      return offset < extent && static_cast<u64>(index) < static_cast<u64>(extent - offset);
    }
  }
  if constexpr (cuda::std::is_signed_v<I>) {
    if (index < 0) return false;
  }
  u64 const below = 0u - static_cast<u64>(offset);
  u64 const i = static_cast<u64>(index);
  return i >= below && i - below < static_cast<u64>(extent);
}

// The part [first, last) of 0 .. count - 1 with 0 <= offset + c < extent; empty parts have first >= last.
struct clipped_range {
  int first, last;
  TESSERA_TILE constexpr bool has(int i) const { return i >= first && i < last; }
};
TESSERA_TILE constexpr clipped_range clip(int count, cuda::std::int64_t offset, cuda::std::int64_t extent) {
  clipped_range range{0, 0};
  if (offset >= extent || offset <= -static_cast<cuda::std::int64_t>(count)) return range;
  // 1 .. 2^63 - 1 + count: unsigned, since a broadcast source may be as long as the largest index.
  auto const left = static_cast<cuda::std::uint64_t>(extent) - static_cast<cuda::std::uint64_t>(offset);
  range.first = offset < 0 ? static_cast<int>(-offset) : 0;
  range.last = left < static_cast<cuda::std::uint64_t>(count) ? static_cast<int>(left) : count;
  return range;
}

// A tile of `Shape` laid over a view at `offsets`. Along `Axis` (-1: none) it is not the tile's coordinate that is added to the offset but
// an index, which the caller checks with `admits` and passes on.
template <class T, class Shape, int Axis = -1>
class tile_window {
 public:
  static constexpr int rank = Shape::rank;

  template <class View>
  TESSERA_TILE tile_window(View const& array, offsets<rank> const& at) {
    static_assert(static_cast<int>(View::rank()) == rank, "the tile and the array have the same number of dimensions");
    auto const v = as_view(array);
    base_ = v.data_handle();
    bool inside = true;
    for (int d = 0; d < rank; ++d) {
      auto const extent = v.extent(static_cast<cuda::std::size_t>(d));
      stride_[d] = static_cast<cuda::std::uint64_t>(v.mapping().byte_stride(static_cast<cuda::std::size_t>(d)));
      origin_ += static_cast<cuda::std::uint64_t>(at[d]) * stride_[d];
      if (d == Axis) {
        axis_offset_ = at[d];
        axis_extent_ = extent;
      } else {
        range_[d] = clip(Shape::extent(d), at[d], extent);
        inside = inside && range_[d].first == 0 && range_[d].last == Shape::extent(d);
      }
    }
    whole_ = inside;
    // A chunk lies along the last dimension; if that one is indexed, its elements are not neighbours.
    bool wide = Axis != rank - 1 && stride_[rank - 1] == sizeof(T);
    cuda::std::uint64_t low_bits = reinterpret_cast<cuda::std::uintptr_t>(base_) + origin_;
    for (int d = 0; d < rank - 1; ++d) low_bits |= stride_[d];
    wide_ = wide && low_bits % (sizeof(T) * static_cast<unsigned>(chunk_elements<T, Shape>())) == 0;
  }

  // Every coordinate but the indexed one lies inside, for the whole tile.
  TESSERA_TILE bool whole() const { return whole_; }
  // Chunks are aligned for one access of their size.
  TESSERA_TILE bool wide() const { return wide_; }
  // The clipped range along dimension d (not the indexed one).
  TESSERA_TILE clipped_range range(int d) const { return range_[d]; }

  // The elements of the chunk at c that lie inside, but for the indexed axis: first to last - 1, counted from c.
  TESSERA_TILE clipped_range inside(tile_coordinates<rank> const& c) const {
    bool row_inside = true;
    for (int d = 0; d < rank - 1; ++d) {
      if (d != Axis) row_inside = row_inside && c[d] >= range_[d].first && c[d] < range_[d].last;
    }
    if (!row_inside) return {0, 0};
    if (Axis == rank - 1) return {0, Shape::extent(rank - 1)};
    return {range_[rank - 1].first - c[rank - 1], range_[rank - 1].last - c[rank - 1]};
  }
  // Whether an index names a row of the array.
  template <class I>
  TESSERA_TILE bool admits(I index) const {
    return index_in_range(index, axis_offset_, axis_extent_);
  }

  // The address of the element at c; with `index` in the place of c[Axis]. Only for what lies inside.
  TESSERA_TILE T* address(tile_coordinates<rank> const& c) const { return at_byte(byte_offset(c)); }
  template <class I>
  TESSERA_TILE T* address(tile_coordinates<rank> const& c, I index) const {
    static_assert(Axis >= 0);
    return at_byte(byte_offset(c) + static_cast<cuda::std::uint64_t>(index) * stride_[Axis]);
  }

 private:
  // Unsigned, since an origin may lie outside the array; only sums that end inside become pointers.
  TESSERA_TILE cuda::std::uint64_t byte_offset(tile_coordinates<rank> const& c) const {
    cuda::std::uint64_t bytes = origin_;
    for (int d = 0; d < rank; ++d) {
      if (d != Axis) bytes += static_cast<cuda::std::uint64_t>(c[d]) * stride_[d];
    }
    return bytes;
  }
  TESSERA_TILE T* at_byte(cuda::std::uint64_t bytes) const {
    return byte_accessor<T>{}.offset(base_, static_cast<cuda::std::size_t>(bytes));
  }

  T* base_;
  cuda::std::uint64_t origin_ = 0;
  cuda::std::uint64_t stride_[rank];
  clipped_range range_[rank] = {};
  cuda::std::int64_t axis_offset_ = 0, axis_extent_ = 0;
  bool whole_, wide_;
};

// Copies a chunk of N elements in one access. Both sides are aligned to the chunk's size.
template <int N, class T>
TESSERA_TILE void copy_chunk(T* to, T const* from) {
  *reinterpret_cast<chunk_access<T, N>*>(to) = *reinterpret_cast<chunk_access<T, N> const*>(from);
}

}  // namespace detail

}  // namespace tessera::inline v0_1
