// What becomes of an argument of launch_tiled on its way into the kernel. Most go as they are; a scatter target becomes its record writer.
#pragma once

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <tessera/error.hpp>
#include <tessera/group/block_position.hpp>
#include <tessera/view.hpp>

namespace tessera::inline v0_1 {

namespace detail {

// A type with begin_launch(backend, grid) gives the kernel what that returns, and learns by end_launch() that the launch was made.
template <class Argument, class Backend>
concept launch_participant = requires(Argument& argument, Backend const& backend, tile_grid const& grid) {
  argument.begin_launch(backend, grid);
  argument.end_launch();
};

template <class Backend, class Argument>
auto begin_launch(Backend const& backend, tile_grid const& grid, Argument&& argument) {
  if constexpr (launch_participant<std::remove_reference_t<Argument>, Backend>) {
    static_assert(std::is_lvalue_reference_v<Argument>, "a scatter target is resolved after the launch: give it a name and pass that");
    return argument.begin_launch(backend, grid);
  } else {
    using type = std::decay_t<Argument>;
    if constexpr (array_like<type>) {
      if constexpr (!std::is_const_v<typename type::element_type>) check_distinct_elements(argument, "launch_tiled");
    }
    return type(std::forward<Argument>(argument));
  }
}

// All arguments of a launch, begun from the first to the last.
template <class Backend, class... Arguments>
auto begin_launches(Backend const& backend, tile_grid const& grid, Arguments&&... arguments) {
  using tuple = std::tuple<decltype(begin_launch(backend, grid, std::forward<Arguments>(arguments)))...>;
  return tuple{begin_launch(backend, grid, std::forward<Arguments>(arguments))...};
}

template <class Backend, class Argument>
void end_launch(Backend const&, Argument& argument) {
  if constexpr (launch_participant<Argument, Backend>) argument.end_launch();
}

inline void check_grid(tile_grid const& grid) {
  std::int64_t count = 1;
  for (int d = 0; d < 3; ++d) {
    if (grid.tiles(d) < 0) {
      throw usage_error("launch_tiled: grid dimension " + std::to_string(d) + " has " + std::to_string(grid.tiles(d)) +
                        " tiles; it is 0 or more");
    }
    if (grid.count_is_zero()) continue;
    if (__builtin_mul_overflow(count, grid.tiles(d), &count)) throw usage_error("launch_tiled: the grid has more than 2^63 - 1 tiles");
  }
  if (grid.cap() < 0) throw usage_error("launch_tiled: the cap of the grid is " + std::to_string(grid.cap()) + "; it is 0 (none) or more");
}

}  // namespace detail

}  // namespace tessera::inline v0_1
