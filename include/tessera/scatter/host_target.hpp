// The scatter target of the host backend.
#pragma once

#include <cstring>

#include <tessera/determinism.hpp>
#include <tessera/launch/host_backend.hpp>
#include <tessera/scatter/direct_target.hpp>
#include <tessera/scatter/host_resolve.hpp>
#include <tessera/scatter/scatter_target.hpp>
#include <tessera/scatter/target_base.hpp>

namespace tessera::inline v0_1 {

template <int Lanes, class... Targets>
void resolve(host_backend<Lanes> const& backend, Targets&... targets);

// See scatter_target. The host's form of cuda_scatter_target; calls return when they are done.
template <class T, int Rank, int Axis>
class host_scatter_target : public detail::target_base<T, Rank, Axis> {
  using base = detail::target_base<T, Rank, Axis>;

 public:
  host_scatter_target(view<T, Rank> const& destination, records const& declared, workspace_view const& workspace)
      : base(destination, layout(destination, declared), workspace) {
    detail::check_workspace(workspace, bytes(this->layout_));
  }

  static std::int64_t workspace_bytes(view<T, Rank> const& destination, records const& declared) {
    return bytes(layout(destination, declared));
  }

  // Forgets all records and takes new ones.
  template <int Lanes>
  void open(host_backend<Lanes> const&) {
    std::memset(this->opened_begin(), 0xFF, this->opened_bytes());
    this->launches_ = 0;
    this->open_ = true;
  }

  // What launch_tiled calls: opens the target where it is not open, and gives the kernel its writer.
  template <int Lanes>
  record_writer<T, Rank, Axis> begin_launch(host_backend<Lanes> const& backend, tile_grid const& grid) {
    if (!this->open_) open(backend);
    this->check_launch(grid);
    return this->writer();
  }
  void end_launch() { ++this->launches_; }

  // Sums each list and adds it to the destination, if nothing went wrong since open and the status is clear; then the records are gone.
  template <int Lanes>
  void resolve(host_backend<Lanes> const& backend) {
    tessera::resolve(backend, *this);
  }

  scatter_status const* device_status() const { return &this->header()->status; }
  template <int Lanes>
  scatter_status status(host_backend<Lanes> const&) const {
    return this->header()->status;
  }
  // Throws scatter_error where the status is set.
  template <int Lanes>
  void check(host_backend<Lanes> const& backend) const {
    if (status(backend).flags != 0) throw scatter_error(detail::describe(status(backend), this->layout_));
  }
  template <int Lanes>
  void clear(host_backend<Lanes> const&) {
    this->header()->status = {};
  }

 private:
  template <int Lanes, class... Targets>
  friend void resolve(host_backend<Lanes> const& backend, Targets&... targets);

  // First half of a resolve: takes no more records; gives whether those that it has may be applied.
  bool close() {
    this->open_ = false;
    detail::scatter_header& header = *this->header();
    bool const complete = header.state == detail::all_ones && header.status.flags == 0;
    header.state = 0;
    header.count = 0;
    return complete;
  }
  // Second half, where all targets were complete.
  template <int Lanes>
  void apply(host_backend<Lanes> const& backend) {
    if (this->layout_.columns == 0) return;
    auto* const sorted = this->template at<detail::host_record>(sorted_at(this->layout_));
    std::int64_t const capacity = this->layout_.capacity;
    std::int64_t const count = detail::sort_records_on_host(this->template at<std::uint32_t>(this->layout_.keys_at), capacity,
                                                            this->layout_.rows, sorted, sorted + capacity);
    this->header()->count = static_cast<std::uint32_t>(count);
    detail::apply_records_on_host(sorted, count, this->template at<T const>(this->layout_.rows_at), this->layout_.columns,
                                  detail::rows_of<Axis>(this->destination_), this->template at<T>(partials_at(this->layout_)),
                                  backend.cores);
  }

  static detail::record_layout layout(view<T, Rank> const& destination, records const& declared) {
    detail::check_scatter_destination<Axis>(destination);
    return detail::make_record_layout(declared, destination.extent(Axis), detail::row_elements<Axis>(destination), sizeof(T),
                                      [](std::int64_t, std::int64_t) -> std::int64_t { return 0; });
  }
  static std::int64_t sorted_at(detail::record_layout const& layout) { return layout.end; }
  static std::int64_t partials_at(detail::record_layout const& layout) {
    return detail::align_up(layout.end + 2 * layout.capacity * static_cast<std::int64_t>(sizeof(detail::host_record)));
  }
  static std::int64_t bytes(detail::record_layout const& layout) {
    return detail::align_up(partials_at(layout) + detail::host_partial_rows(layout.capacity) * layout.columns * layout.element_bytes);
  }
};

// Resolves several targets together: all are applied, or none, where any has a fault or a status that is set.
template <int Lanes, class... Targets>
void resolve(host_backend<Lanes> const& backend, Targets&... targets) {
  static_assert(
      (!Targets::applied_as_written && ...),
      "resolve: a direct target is applied as it is written, so all or none cannot hold for it; resolve the sorted targets without it");
  bool applies = true;
  ((applies = targets.close() && applies), ...);
  if (applies) (targets.apply(backend), ...);
}

namespace detail {

template <int Lanes>
struct sorted_target<host_backend<Lanes>> {
  template <class T, int Rank, int Axis>
  using type = host_scatter_target<T, Rank, Axis>;
};

}  // namespace detail

}  // namespace tessera::inline v0_1
