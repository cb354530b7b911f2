// Arrays: an mdspan whose strides are 64-bit byte counts, so that one type covers sub-arrays, transposes, padding, broadcast sources and
// a field of an array of structs.
#pragma once

#include <cuda/std/array>
#include <cuda/std/cstddef>
#include <cuda/std/cstdint>
#include <cuda/std/limits>
#include <cuda/std/mdspan>
#include <cuda/std/type_traits>
#include <nv/target>

#include <string>

#include <tessera/config.hpp>
#include <tessera/error.hpp>

namespace tessera::inline v0_1 {

// A signed 64-bit count, made from any integer. What does not fit saturates: it is out of every array's range all the same.
struct index64 {
  cuda::std::int64_t value = 0;

  constexpr index64() = default;
  template <class I>
    requires cuda::std::is_integral_v<I>
  TESSERA_TILE constexpr index64(I i) : value(saturate(i)) {}
  TESSERA_TILE constexpr operator cuda::std::int64_t() const { return value; }

 private:
  template <class I>
  TESSERA_TILE static constexpr cuda::std::int64_t saturate(I i) {
    if constexpr (cuda::std::is_unsigned_v<I> && sizeof(I) == 8) {
      constexpr auto most = static_cast<I>(cuda::std::numeric_limits<cuda::std::int64_t>::max());
      return static_cast<cuda::std::int64_t>(i < most ? i : most);
    } else {
      return static_cast<cuda::std::int64_t>(i);
    }
  }
};

// Where a tile's first element lies in an array, one entry a dimension; missing entries are 0. Written as a braced list: {first, 0}.
template <int Rank>
struct offsets {
  index64 at[Rank] = {};
  TESSERA_TILE constexpr cuda::std::int64_t operator[](int d) const { return at[d].value; }
};

// The layout: element (i0, i1, ...) lies sum(i_d * byte_stride(d)) bytes behind the first. Converts from every strided layout of elements
// of `ElementBytes` bytes.
template <cuda::std::size_t ElementBytes>
struct layout_byte_strided {
  template <class Extents>
  class mapping {
   public:
    using extents_type = Extents;
    using index_type = typename Extents::index_type;
    using size_type = typename Extents::size_type;
    using rank_type = typename Extents::rank_type;
    using layout_type = layout_byte_strided;
    using strides_type = cuda::std::array<cuda::std::int64_t, Extents::rank()>;

    constexpr mapping() = default;
    TESSERA_TILE constexpr mapping(Extents const& extents, strides_type const& byte_strides) : extents_(extents), strides_(byte_strides) {}

    template <class Other>
      requires(Other::is_always_strided() && cuda::std::is_constructible_v<Extents, typename Other::extents_type>)
    TESSERA_TILE constexpr mapping(Other const& other) : extents_(other.extents()) {
      for (rank_type d = 0; d < Extents::rank(); ++d) {
        if constexpr (cuda::std::is_same_v<typename Other::layout_type, layout_byte_strided>) {
          strides_[d] = other.byte_stride(d);
        } else {
          strides_[d] = static_cast<cuda::std::int64_t>(other.stride(d)) * static_cast<cuda::std::int64_t>(ElementBytes);
        }
      }
    }

    TESSERA_TILE constexpr Extents const& extents() const { return extents_; }
    TESSERA_TILE constexpr cuda::std::int64_t byte_stride(rank_type d) const { return strides_[d]; }
    TESSERA_TILE constexpr index_type stride(rank_type d) const { return static_cast<index_type>(strides_[d]); }

    template <class... Indices>
      requires(sizeof...(Indices) == Extents::rank())
    TESSERA_TILE constexpr index_type operator()(Indices... indices) const {
      cuda::std::int64_t bytes = 0;
      rank_type d = 0;
      ((bytes += static_cast<cuda::std::int64_t>(indices) * strides_[d++]), ...);
      return static_cast<index_type>(bytes);
    }

    TESSERA_TILE constexpr index_type required_span_size() const {
      cuda::std::int64_t bytes = static_cast<cuda::std::int64_t>(ElementBytes);
      for (rank_type d = 0; d < Extents::rank(); ++d) {
        if (extents_.extent(d) == 0) return 0;
        bytes += (extents_.extent(d) - 1) * strides_[d];
      }
      return static_cast<index_type>(bytes);
    }

    TESSERA_TILE static constexpr bool is_always_unique() { return false; }
    TESSERA_TILE static constexpr bool is_always_exhaustive() { return false; }
    TESSERA_TILE static constexpr bool is_always_strided() { return true; }
    TESSERA_TILE static constexpr bool is_strided() { return true; }
    TESSERA_TILE static constexpr bool is_exhaustive() { return false; }
    // Two indices of a stride-0 dimension name one element.
    TESSERA_TILE constexpr bool is_unique() const {
      for (rank_type d = 0; d < Extents::rank(); ++d) {
        if (extents_.extent(d) > 1 && strides_[d] == 0) return false;
      }
      return true;
    }
    TESSERA_TILE friend constexpr bool operator==(mapping const& a, mapping const& b) {
      return a.extents_ == b.extents_ && a.strides_ == b.strides_;
    }

   private:
    Extents extents_{};
    strides_type strides_{};
  };
};

// The accessor that goes with it: offsets are bytes.
template <class T>
struct byte_accessor {
  using offset_policy = byte_accessor;
  using element_type = T;
  using reference = T&;
  using data_handle_type = T*;

  constexpr byte_accessor() = default;
  template <class U>
    requires cuda::std::is_convertible_v<U (*)[], T (*)[]>
  TESSERA_TILE constexpr byte_accessor(byte_accessor<U>) {}
  template <class U>
    requires cuda::std::is_convertible_v<U (*)[], T (*)[]>
  TESSERA_TILE constexpr byte_accessor(cuda::std::default_accessor<U>) {}

  TESSERA_TILE constexpr data_handle_type offset(T* data, cuda::std::size_t bytes) const {
    using byte = cuda::std::conditional_t<cuda::std::is_const_v<T>, char const, char>;
    return reinterpret_cast<T*>(reinterpret_cast<byte*>(data) + bytes);
  }
  TESSERA_TILE constexpr reference access(T* data, cuda::std::size_t bytes) const { return *offset(data, bytes); }
};

// An array of `Rank` dimensions. By value, trivially copyable, also as a kernel's argument. Inputs are views of const.
template <class T, int Rank>
using view = cuda::std::mdspan<T, cuda::std::dextents<cuda::std::int64_t, Rank>, layout_byte_strided<sizeof(T)>, byte_accessor<T>>;

namespace detail {

template <class M>
concept array_like = requires {
  typename M::element_type;
  typename M::mapping_type;
  typename M::accessor_type;
  M::rank();
};

template <int Rank>
using stride_array = cuda::std::array<cuda::std::int64_t, static_cast<cuda::std::size_t>(Rank)>;

template <class T, int Rank>
TESSERA_TILE constexpr view<T, Rank> assemble_view(T* data, stride_array<Rank> const& extents, stride_array<Rank> const& byte_strides) {
  using view_type = view<T, Rank>;
  using extents_type = typename view_type::extents_type;
  return view_type(data, typename view_type::mapping_type(extents_type(extents), byte_strides));
}

inline void require_extent(cuda::std::int64_t extent, int d) {
  if (extent < 0) throw usage_error("make_view: extent " + std::to_string(extent) + " of dimension " + std::to_string(d) + " is negative");
}

// Throws usage_error where two indices of a destination name one element.
template <array_like M>
void check_distinct_elements(M const& destination, char const* call) {
  for (typename M::rank_type d = 0; d < M::rank(); ++d) {
    if (destination.extent(d) == 0) return;
  }
  for (typename M::rank_type d = 0; d < M::rank(); ++d) {
    if (destination.extent(d) > 1 && destination.stride(d) == 0) {
      throw usage_error(std::string(call) + ": dimension " + std::to_string(d) + " of the destination has stride 0, so that its " +
                        std::to_string(destination.extent(d)) +
                        " indices name one element; broadcast views are for sources (views of const)");
    }
  }
}

}  // namespace detail

// Any strided mdspan as a view; what the primitives do with their arguments.
template <detail::array_like M>
TESSERA_TILE constexpr auto as_view(M const& array) {
  return view<typename M::element_type, static_cast<int>(M::rank())>(array);
}

// A view of row-major memory: make_view(pointer, {rows, columns}). Throws usage_error (host) on a negative extent.
template <class T, int Rank>
TESSERA_TILE constexpr view<T, Rank> make_view(T* data, index64 const (&extents)[Rank]) {
  detail::stride_array<Rank> sizes{}, strides{};
  cuda::std::int64_t stride = static_cast<cuda::std::int64_t>(sizeof(T));
  for (int d = Rank - 1; d >= 0; --d) {
    NV_IF_TARGET(NV_IS_HOST, (detail::require_extent(extents[d], d);))
    sizes[static_cast<cuda::std::size_t>(d)] = extents[d];
    strides[static_cast<cuda::std::size_t>(d)] = stride;
    if (d > 0) stride *= extents[d];
  }
  return detail::assemble_view<T, Rank>(data, sizes, strides);
}

// The same with strides in bytes, one a dimension: make_view(pointer, {rows, columns}, {pitch, sizeof(float)}). A stride of 0 repeats an
// element and is for sources only.
template <class T, int Rank>
TESSERA_TILE constexpr view<T, Rank> make_view(T* data, index64 const (&extents)[Rank], index64 const (&byte_strides)[Rank]) {
  detail::stride_array<Rank> sizes{}, strides{};
  for (int d = 0; d < Rank; ++d) {
    NV_IF_TARGET(NV_IS_HOST, (detail::require_extent(extents[d], d);))
    sizes[static_cast<cuda::std::size_t>(d)] = extents[d];
    strides[static_cast<cuda::std::size_t>(d)] = byte_strides[d];
  }
  return detail::assemble_view<T, Rank>(data, sizes, strides);
}

// Elements first .. first + count - 1 along dimension `Axis`. The caller keeps the range inside the array.
template <int Axis, detail::array_like M>
TESSERA_TILE constexpr auto slice(M const& array, index64 first, index64 count) {
  constexpr int rank = static_cast<int>(M::rank());
  static_assert(Axis >= 0 && Axis < rank, "slice: the axis is a dimension of the view");
  auto const v = as_view(array);
  detail::stride_array<rank> sizes{}, strides{};
  for (cuda::std::size_t d = 0; d < static_cast<cuda::std::size_t>(rank); ++d) {
    sizes[d] = d == static_cast<cuda::std::size_t>(Axis) ? count.value : v.extent(d);
    strides[d] = v.mapping().byte_stride(d);
  }
  auto* const data =
      v.accessor().offset(v.data_handle(), static_cast<cuda::std::size_t>(first * strides[static_cast<cuda::std::size_t>(Axis)]));
  return detail::assemble_view<typename M::element_type, rank>(data, sizes, strides);
}

namespace detail {

// The view without dimension `Axis`, at index `at` there.
template <int Axis, array_like M>
TESSERA_TILE constexpr auto drop_dimension(M const& array, cuda::std::int64_t at) {
  constexpr int rank = static_cast<int>(M::rank());
  static_assert(rank >= 2 && Axis >= 0 && Axis < rank, "row, column: the view has two dimensions or more");
  auto const v = as_view(array);
  stride_array<rank - 1> sizes{}, strides{};
  for (int d = 0, kept = 0; d < rank; ++d) {
    if (d == Axis) continue;
    sizes[static_cast<cuda::std::size_t>(kept)] = v.extent(static_cast<cuda::std::size_t>(d));
    strides[static_cast<cuda::std::size_t>(kept)] = v.mapping().byte_stride(static_cast<cuda::std::size_t>(d));
    ++kept;
  }
  auto* const data = v.accessor().offset(
      v.data_handle(), static_cast<cuda::std::size_t>(at * v.mapping().byte_stride(static_cast<cuda::std::size_t>(Axis))));
  return assemble_view<typename M::element_type, rank - 1>(data, sizes, strides);
}

}  // namespace detail

// Row i of a view: the first dimension is gone.
template <detail::array_like M>
TESSERA_TILE constexpr auto row(M const& array, index64 i) {
  return detail::drop_dimension<0>(array, i);
}

// Column j of a view: the last dimension is gone.
template <detail::array_like M>
TESSERA_TILE constexpr auto column(M const& array, index64 j) {
  return detail::drop_dimension<static_cast<int>(M::rank()) - 1>(array, j);
}

// The view with dimensions in reverse order.
template <detail::array_like M>
TESSERA_TILE constexpr auto transposed(M const& array) {
  constexpr int rank = static_cast<int>(M::rank());
  auto const v = as_view(array);
  detail::stride_array<rank> sizes{}, strides{};
  for (cuda::std::size_t d = 0; d < static_cast<cuda::std::size_t>(rank); ++d) {
    sizes[d] = v.extent(static_cast<cuda::std::size_t>(rank) - 1 - d);
    strides[d] = v.mapping().byte_stride(static_cast<cuda::std::size_t>(rank) - 1 - d);
  }
  return detail::assemble_view<typename M::element_type, rank>(v.data_handle(), sizes, strides);
}

// One field of an array of structs: field(particles, &particle::mass) is a view of float with the structs' strides.
template <detail::array_like M, class Struct, class Field>
TESSERA_TILE constexpr auto field(M const& array, Field Struct::*member) {
  using element = typename M::element_type;
  static_assert(cuda::std::is_same_v<cuda::std::remove_const_t<element>, Struct>, "field: the member belongs to the view's element type");
  using field_type = cuda::std::conditional_t<cuda::std::is_const_v<element>, Field const, Field>;
  constexpr int rank = static_cast<int>(M::rank());
  auto const v = as_view(array);
  detail::stride_array<rank> sizes{}, strides{};
  for (cuda::std::size_t d = 0; d < static_cast<cuda::std::size_t>(rank); ++d) {
    sizes[d] = v.extent(d);
    strides[d] = v.mapping().byte_stride(d);
  }
  return detail::assemble_view<field_type, rank>(v.data_handle() == nullptr ? nullptr : &(v.data_handle()->*member), sizes, strides);
}

}  // namespace tessera::inline v0_1
