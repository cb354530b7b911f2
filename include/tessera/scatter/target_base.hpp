// What the scatter targets of both backends share: the destination, the records' layout, and the count of launches.
#pragma once

#include <cstdint>
#include <string>

#include <tessera/config.hpp>
#include <tessera/error.hpp>
#include <tessera/scatter/record_writer.hpp>
#include <tessera/scatter/records.hpp>
#include <tessera/scatter/stage.hpp>
#include <tessera/scatter/workspace.hpp>
#include <tessera/view.hpp>

namespace tessera::inline v0_1 {

namespace detail {

// Whether a view can be a target's destination.
template <int Axis, array_like View>
void check_scatter_destination(View const& destination) {
  constexpr int rank = static_cast<int>(View::rank());
  static_assert(Axis >= 0 && Axis < rank, "scatter_target: the axis is a dimension of the destination, counted from 0");
  static_assert(!std::is_const_v<typename View::element_type>, "scatter_target: the destination is a view of a mutable type");
  if (destination.size() == 0) return;  // no elements; make_view gives the outer dimensions of such an array a stride of 0
  check_distinct_elements(destination, "scatter_target");
}

// Throws usage_error where the workspace cannot hold what `needed` says.
inline void check_workspace(workspace_view const& workspace, std::int64_t needed) {
  if (workspace.data == nullptr) throw usage_error("scatter_target: the workspace is null; it needs " + std::to_string(needed) + " bytes");
  if (reinterpret_cast<std::uintptr_t>(workspace.data) % workspace_alignment != 0) {
    throw usage_error("scatter_target: the workspace at address " + std::to_string(reinterpret_cast<std::uintptr_t>(workspace.data)) +
                      " is not aligned to " + std::to_string(workspace_alignment) + " bytes");
  }
  if (static_cast<std::int64_t>(workspace.bytes) < needed) {
    throw usage_error("scatter_target: the workspace has " + std::to_string(workspace.bytes) + " bytes; it needs " +
                      std::to_string(needed) + " (scatter_workspace_bytes)");
  }
}

// The sentence for a set status.
inline std::string describe(scatter_status const& status, record_layout const& layout) {
  std::string what = "scatter target: the destination was left as it was, and stays so until clear():";
  if ((status.flags & scatter_overflow) != 0) {
    what += " a tile emitted " + std::to_string(status.largest_need) + " records where records.per_tile declares " +
            std::to_string(layout.per_tile) + ";";
  }
  if ((status.flags & scatter_window) != 0) {
    what += " a call covered a part only of the destination's other dimensions, which a record covers as a whole;";
  }
  if ((status.flags & scatter_stray_tile) != 0) {
    what += " a launch had a tile id of records.tiles = " + std::to_string(layout.tiles) + " or above;";
  }
  what.pop_back();
  return what;
}

// A target's state on the host. Not thread-safe.
template <class T, int Rank, int Axis>
class target_base {
 public:
  using element_type = T;
  static constexpr int axis = Axis;
  // Not applied before resolve; the opposite of a direct target.
  static constexpr bool applied_as_written = false;

  view<T, Rank> const& destination() const { return destination_; }

 protected:
  target_base(view<T, Rank> const& destination, record_layout const& layout, workspace_view const& workspace)
      : destination_(destination), layout_(layout), memory_(static_cast<std::byte*>(workspace.data)) {}

  scatter_header* header() const { return reinterpret_cast<scatter_header*>(memory_); }
  template <class U>
  U* at(std::int64_t bytes) const {
    return reinterpret_cast<U*>(memory_ + bytes);
  }
  // What open() sets to ones: state, counts, keys and counters.
  std::byte* opened_begin() const { return memory_ + offsetof(scatter_header, state); }
  std::size_t opened_bytes() const { return static_cast<std::size_t>(layout_.rows_at) - offsetof(scatter_header, state); }

  void check_launch(tile_grid const& grid) const {
    if (grid.count() > layout_.tiles) {
      throw usage_error("launch_tiled: the grid has " + std::to_string(grid.count()) +
                        " tiles, the scatter target was declared for records.tiles = " + std::to_string(layout_.tiles));
    }
    if (launches_ >= layout_.launches) {
      throw usage_error("launch_tiled: launch " + std::to_string(launches_ + 1) +
                        " since the target was opened; it was declared for records.launches = " + std::to_string(layout_.launches));
    }
  }
  record_writer<T, Rank, Axis> writer() const {
    record_writer<T, Rank, Axis> w{};
    w.header = header();
    w.used = at<std::uint32_t>(layout_.used_at);
    w.keys = at<std::uint32_t>(layout_.keys_at);
    w.rows = at<T>(layout_.rows_at);
    for (int d = 0; d < Rank; ++d) w.extents[d] = destination_.extent(static_cast<std::size_t>(d));
    w.columns = layout_.columns;
    w.launch = launches_;
    w.tiles = layout_.tiles;
    w.per_tile = layout_.per_tile;
    return w;
  }

  view<T, Rank> destination_;
  record_layout layout_;
  std::byte* memory_;
  std::int64_t launches_ = 0;
  bool open_ = false;
};

}  // namespace detail

}  // namespace tessera::inline v0_1
