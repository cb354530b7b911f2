// A kernel whose number of records depends on data, and a target with its memory, for the tests of a target's life.
#pragma once

#include "row_scatter.hpp"

namespace testing_support {

// Tile t calls calls[t] times, one record each: call i adds row (offset + i) of `values`, two elements, to row (offset + i) % rows, where
// offset is t * rows.
struct emit {
  std::int64_t rows;
  template <class Block, class Values, class Calls, class Sums>
  TESSERA_TILE void operator()(Block& block, Values values, Calls calls, Sums sums) const {
    int const count = calls.data_handle()[block.tile_id()];
    for (int i = 0; i < count; ++i) {
      auto const number = block.tile_id() * rows + i;
      auto const record = tessera::tile_load<1, 2>(block, values, {number, 0});
      tessera::tile_atomic_add(block, sums, record, {number % rows, 0});
    }
  }
};

// A destination of 7 rows of 2, records for `tiles` tiles of `per_tile`, and a target on them.
template <class Place, class T = float>
struct small_target {
  static constexpr std::int64_t rows = 7, columns = 2, most_values = 2000;

  explicit small_target(Place const& place_, tessera::records const& declared_)
      : place(place_),
        declared(declared_),
        start(rounding_values<T>(static_cast<std::size_t>(rows * columns), 31)),
        values(rounding_values<T>(static_cast<std::size_t>(most_values * columns), 32)),
        destination(place.array(start)),
        device_values(place.array(values)),
        workspace(rubbish_workspace(place, tessera::scatter_workspace_bytes<tessera::gpu_to_gpu>(place.backend, view(), declared))),
        target(tessera::scatter_target<tessera::gpu_to_gpu>(place.backend, view(), declared, workspace_of(workspace))) {}

  tessera::view<T, 2> view() const { return tessera::make_view(destination.data(), {rows, columns}); }
  tessera::view<T const, 2> source() const { return rows_of<T>(device_values, most_values, columns); }

  // One launch: tile t makes calls[t] calls.
  void write(std::vector<int> const& calls, std::int64_t cap = 0) {
    auto const device_calls = place.array(calls);
    place.launch(tessera::tile_grid(calls.size()).capped(cap), emit{rows}, source(), list_of<int>(device_calls), target);
    place.wait();
  }
  void resolve() { target.resolve(place.backend); }
  auto status() { return target.status(place.backend); }

  // The oracle's records of one launch, appended to `records` and `to`.
  void append(std::vector<int> const& calls, std::vector<T>& records, std::vector<int>& to) const {
    for (std::size_t t = 0; t < calls.size(); ++t) {
      for (int i = 0; i < calls[t]; ++i) {
        auto const number = static_cast<std::int64_t>(t) * rows + i;
        to.push_back(static_cast<int>(number % rows));
        for (std::int64_t c = 0; c < columns; ++c) {
          records.push_back(number < most_values ? values[static_cast<std::size_t>(number * columns + c)] : T{});
        }
      }
    }
  }
  // What `before` becomes by launches with these calls and a resolve.
  std::vector<T> after(std::vector<T> const& before, std::vector<std::vector<int>> const& launches) const {
    std::vector<T> records;
    std::vector<int> to;
    for (auto const& calls : launches) append(calls, records, to);
    return scatter_add(before, columns, records, to);
  }

  Place place;
  tessera::records declared;
  std::vector<T> start, values;
  typename Place::template array_type<T> destination, device_values;
  typename Place::template array_type<unsigned char> workspace;
  decltype(tessera::scatter_target<tessera::gpu_to_gpu>(std::declval<Place>().backend, std::declval<tessera::view<T, 2>>(),
                                                        tessera::records{}, tessera::workspace_view{})) target;
};

// The message of the error that `function` throws.
template <class Function>
std::string thrown_message(Function const& function) {
  try {
    function();
  } catch (tessera::error const& error) {
    return error.what();
  }
  return "nothing was thrown";
}

inline bool mentions(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

}  // namespace testing_support
