// Which elements a scatter target takes at which level, and which of them need no order.
#pragma once

#include <type_traits>

#include <tessera/arithmetic.hpp>
#include <tessera/config.hpp>
#include <tessera/determinism.hpp>

namespace tessera::inline v0_1 {

namespace detail {

// Which elements and levels need no order.
template <determinism Level, class T>
inline constexpr bool scatters_directly = Level == not_guaranteed || is_exactly_associative<T>;

template <determinism Level, class T>
constexpr void check_scatter_type() {
  static_assert(scatters_directly<Level, T> || std::is_same_v<T, float> || std::is_same_v<T, double>,
                "scatter_target: at this level the elements are float, double or integers; use one of them or the level not_guaranteed");
}

}  // namespace detail

}  // namespace tessera::inline v0_1
