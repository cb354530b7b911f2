// One kernel, used at several levels by two translation units.
#pragma once

#include <vector>

#include "row_scatter.hpp"

namespace testing_support {

// The problem at a level, by a target; compiled in levels.cpp at gpu_to_gpu and in levels_other.cpp at not_guaranteed.
template <tessera::determinism Level, class Place>
std::vector<float> scattered_at(Place const& place, row_problem<float> const& problem) {
  auto const values = place.array(problem.values);
  auto const indices = place.array(problem.indices);
  auto const destination = place.array(problem.destination);
  auto const sums = tessera::make_view(destination.data(), {problem.rows, problem.columns});
  auto const tiles = tessera::ceil_div(problem.size(), 32);
  tessera::records const declared{.tiles = tiles, .per_tile = 32};
  auto const workspace = rubbish_workspace(place, tessera::scatter_workspace_bytes<Level>(place.backend, sums, declared));
  auto target = tessera::scatter_target<Level>(place.backend, sums, declared, workspace_of(workspace));
  place.launch(tessera::tile_grid(tiles), add_rows<32, 4>{}, rows_of<float>(values, problem.size(), problem.columns), list_of<int>(indices),
               target);
  target.resolve(place.backend);
  return destination.values();
}

std::vector<float> scattered_without_guarantee_elsewhere(row_problem<float> const& problem);
std::vector<float> scattered_gpu_to_gpu_elsewhere(row_problem<float> const& problem);

}  // namespace testing_support
