// The target of a level that needs no order: what a kernel adds arrives at once, by atomics.
#pragma once

#include <tessera/config.hpp>
#include <tessera/group/block_position.hpp>
#include <tessera/tile/atomic_add.hpp>
#include <tessera/view.hpp>

namespace tessera::inline v0_1 {

// The kernel's side of a direct target: a view that gives no previous values, as the sorted targets give none.
template <class T, int Rank, int Axis>
struct direct_writer {
  view<T, Rank> destination;
};

// Integer addition at any level, floating-point addition at not_guaranteed. It is applied as it is written, so opening and resolving do
// nothing, and "all or none" does not hold for it. Never fails on the device.
template <class T, int Rank, int Axis>
class direct_target {
 public:
  static constexpr bool applied_as_written = true;

  explicit direct_target(view<T, Rank> const& destination) : destination_(destination) {}

  template <class Backend>
  direct_writer<T, Rank, Axis> begin_launch(Backend const&, tile_grid const&) {
    return {destination_};
  }
  void end_launch() {}
  template <class Backend>
  direct_writer<T, Rank, Axis> next_launch(Backend const&, tile_grid const&) {
    return {destination_};
  }
  template <class Backend>
  void open(Backend const&) {}
  template <class Backend>
  void resolve(Backend const&) {}
  template <class Backend>
  void check(Backend const&) const {}

 private:
  view<T, Rank> destination_;
};

template <int Axis, class Block, class T, int Rank, int WriterAxis, class Indices, class Tile>
TESSERA_TILE no_previous_values tile_atomic_add_indexed(Block& block, direct_writer<T, Rank, WriterAxis> const& target,
                                                        Indices const& indices, Tile const& tile, offsets<Rank> const& at = {}) {
  static_assert(Axis == WriterAxis, "the target's records lie along another axis: make it with scatter_target<level, axis>");
  (void)tile_atomic_add_indexed<Axis>(block, target.destination, indices, tile, at);
  return {};
}
template <class Block, class T, int Rank, int Axis, class Tile>
TESSERA_TILE no_previous_values tile_atomic_add(Block& block, direct_writer<T, Rank, Axis> const& target, Tile const& tile,
                                                offsets<Rank> const& at = {}) {
  (void)tile_atomic_add(block, target.destination, tile, at);
  return {};
}

}  // namespace tessera::inline v0_1
