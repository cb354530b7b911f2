// tile_map: a function of each element, and the operators that are made of it.
#pragma once

#include <cuda/std/type_traits>
#include <cuda/std/utility>

#include <tessera/arithmetic.hpp>
#include <tessera/config.hpp>
#include <tessera/tile/make_tile.hpp>

namespace tessera::inline v0_1 {

namespace detail {

template <class T>
concept tile_type = requires {
  typename T::shape_type;
  typename T::storage_type;
  typename T::value_type;
};

template <class A, class B>
inline constexpr bool same_shape = cuda::std::is_same_v<typename A::shape_type, typename B::shape_type>;

// Element i of the chunk of `Chunk` elements at `begin`, a lane's number `slot`, of another tile. A register tile is asked by numbers that
// are constants: a position would put it into memory.
template <int Chunk, class Tile>
TESSERA_TILE auto const& element_of(Tile const& tile, int slot, int begin, int i) {
  if constexpr (cuda::std::is_same_v<typename Tile::storage_type, shared_t>) {
    return tile.data()[begin + i];
  } else {
    static_assert(tile_traits<Tile>::chunk == Chunk,
                  "register tiles of one operation have elements of the same size, since a lane reaches its own elements only");
    return tile.chunk(slot, begin)[i];
  }
}

}  // namespace detail

// The tile function(a[c], b[c], ...) of tiles of one shape, in registers; each result is rounded to its type before anything else uses it.
// Register tiles of one call have elements of one size; pass others in shared memory. Called by every lane of the block; `function` is
// device code.
//
//     auto const scaled = tile_map(block, [=] TESSERA_TILE (float x) {...}, t);   // or a functor, which needs no flag of nvcc
template <class Block, class Function, detail::tile_type First, detail::tile_type... Rest>
TESSERA_TILE auto tile_map(Block& block, Function const& function, First const& first_tile, Rest const&... rest) {
  static_assert((detail::same_shape<First, Rest> && ...), "tile_map: all tiles have the same shape");
  using shape = typename First::shape_type;
  using T = cuda::std::remove_cvref_t<decltype(function(cuda::std::declval<typename First::value_type const&>(),
                                                        cuda::std::declval<typename Rest::value_type const&>()...))>;
  constexpr int chunk = detail::chunk_elements<T, shape>();
  return detail::make_tile<T, shape>(block, registers, [&](auto& tile) {
    detail::fill_tile(block, tile, [&](int slot, int begin, T* values) {
      TESSERA_UNROLL
      for (int i = 0; i < chunk; ++i) {
        values[i] = rounded(static_cast<T>(function(detail::element_of<chunk>(first_tile, slot, begin, i),
                                                    detail::element_of<chunk>(rest, slot, begin, i)...)));
      }
    });
  });
}

namespace detail {

struct minus {
  template <class T>
  TESSERA_TILE T operator()(T a, T b) const {
    return add(a, negate(b));
  }
};
struct times {
  template <class T>
  TESSERA_TILE T operator()(T a, T b) const {
    return multiply(a, b);
  }
};
struct negative {
  template <class T>
  TESSERA_TILE T operator()(T a) const {
    return negate(a);
  }
};

// A binary operator with its right side fixed.
template <class Operator, class T>
struct with_right {
  T right;
  TESSERA_TILE T operator()(T left) const { return Operator{}(left, right); }
};

// Register tiles alone know no block; the operators work on them lane by lane.
template <class Function, class Tile, class... Tiles>
TESSERA_TILE Tile map_registers(Function const& function, Tile const& a, Tiles const&... rest) {
  using traits = tile_traits<Tile>;
  constexpr int slots = (traits::chunks + Tile::lanes - 1) / Tile::lanes;
  return Tile([&](Tile& result) {
    TESSERA_UNROLL
    for (int slot = 0; slot < slots; ++slot) {
      TESSERA_UNROLL
      for (int i = 0; i < traits::chunk; ++i) result.chunk(slot, 0)[i] = rounded(function(a.chunk(slot, 0)[i], rest.chunk(slot, 0)[i]...));
    }
  });
}

}  // namespace detail

// Elementwise +, -, * of register tiles of one type and shape, and with a value of the element type; each rounded by itself, never fused.
template <class T, class Shape, int Lanes>
TESSERA_TILE auto operator+(register_tile<T, Shape, Lanes> const& a, register_tile<T, Shape, Lanes> const& b) {
  return detail::map_registers(plus{}, a, b);
}
template <class T, class Shape, int Lanes>
TESSERA_TILE auto operator-(register_tile<T, Shape, Lanes> const& a, register_tile<T, Shape, Lanes> const& b) {
  return detail::map_registers(detail::minus{}, a, b);
}
template <class T, class Shape, int Lanes>
TESSERA_TILE auto operator*(register_tile<T, Shape, Lanes> const& a, register_tile<T, Shape, Lanes> const& b) {
  return detail::map_registers(detail::times{}, a, b);
}
template <class T, class Shape, int Lanes>
TESSERA_TILE auto operator-(register_tile<T, Shape, Lanes> const& a) {
  return detail::map_registers(detail::negative{}, a);
}
template <class T, class Shape, int Lanes>
TESSERA_TILE auto operator+(register_tile<T, Shape, Lanes> const& a, cuda::std::type_identity_t<T> b) {
  return detail::map_registers(detail::with_right<plus, T>{b}, a);
}
template <class T, class Shape, int Lanes>
TESSERA_TILE auto operator-(register_tile<T, Shape, Lanes> const& a, cuda::std::type_identity_t<T> b) {
  return detail::map_registers(detail::with_right<detail::minus, T>{b}, a);
}
template <class T, class Shape, int Lanes>
TESSERA_TILE auto operator*(register_tile<T, Shape, Lanes> const& a, cuda::std::type_identity_t<T> b) {
  return detail::map_registers(detail::with_right<detail::times, T>{b}, a);
}

}  // namespace tessera::inline v0_1
