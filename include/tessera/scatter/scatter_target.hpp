// scatter_target: which target a backend, a level and an element type ask for.
#pragma once

#include <cstddef>
#include <type_traits>

#include <tessera/arithmetic.hpp>
#include <tessera/config.hpp>
#include <tessera/determinism.hpp>
#include <tessera/scatter/direct_target.hpp>
#include <tessera/scatter/target_base.hpp>
#include <tessera/scatter/workspace.hpp>

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

// The target of a backend that sorts records: sorted_target<Backend>::type<T, Rank, Axis>. Each backend has its own.
template <class Backend>
struct sorted_target;

}  // namespace detail

// A destination that takes records: scatter_target<gpu_to_gpu>(backend, sums, {.tiles = n, .per_tile = 32}, workspace). Hand it to
// launch_tiled in the destination's place, then target.resolve(backend): out = fl(old + D(row list)) for each element of each row that got
// records, others untouched. Axis is the dimension along which records are rows. Levels that need no order (integers; not_guaranteed) give
// a direct_target, which adds at once and needs no workspace. Workspace and destination are memory of the backend (CUDA: of the current
// device); the workspace's first 256 bytes were zeroed once before. Does no work on the device and may be called while capturing. Throws
// usage_error for a destination, a declaration or a workspace that cannot serve.
template <determinism Level, int Axis = 0, class Backend, detail::array_like View>
auto scatter_target(Backend const&, View const& destination, records const& declared, workspace_view const& workspace) {
  using T = typename View::element_type;
  constexpr int rank = static_cast<int>(View::rank());
  detail::check_scatter_type<Level, T>();
  view<T, rank> const array = as_view(destination);
  detail::check_scatter_destination<Axis>(array);
  if constexpr (detail::scatters_directly<Level, T>) {
    return direct_target<T, rank, Axis>(array);
  } else {
    return typename detail::sorted_target<Backend>::template type<T, rank, Axis>(array, declared, workspace);
  }
}

// Bytes of workspace that the target needs (CUDA: on the current device); 0 for a direct one.
template <determinism Level, int Axis = 0, class Backend, detail::array_like View>
std::size_t scatter_workspace_bytes(Backend const&, View const& destination, records const& declared) {
  using T = typename View::element_type;
  detail::check_scatter_type<Level, T>();
  if constexpr (detail::scatters_directly<Level, T>) {
    return 0;
  } else {
    using target = typename detail::sorted_target<Backend>::template type<T, static_cast<int>(View::rank()), Axis>;
    return static_cast<std::size_t>(target::workspace_bytes(as_view(destination), declared));
  }
}

}  // namespace tessera::inline v0_1
