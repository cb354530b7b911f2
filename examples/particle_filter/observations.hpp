// The observations: means of consecutive rows of one column of an .npy file.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "../support/npy.hpp"

namespace particle_filter {

// The mean of each `window` rows that have a number in the column; what is left over at the end has no window.
inline std::vector<float> load_observations(std::string const& path, std::int64_t column, std::int64_t window) {
  auto const values = npy::load<float>(path);
  if (values.shape.size() != 1 && values.shape.size() != 2) {
    throw npy::error(path, "has shape " + npy::shape_text(values.shape) + "; one or two dimensions are needed");
  }
  std::size_t const columns = values.shape.size() == 1 ? 1 : static_cast<std::size_t>(values.shape[1]);
  if (static_cast<std::size_t>(column) >= columns) {
    throw npy::error(path, "has no column " + std::to_string(column) + ", but " + std::to_string(columns) + " columns from 0 on");
  }
  std::vector<float> means;
  double sum = 0;
  std::int64_t rows = 0;
  for (auto i = static_cast<std::size_t>(column); i < values.elements.size(); i += columns) {
    if (!std::isfinite(values.elements[i])) continue;
    sum += static_cast<double>(values.elements[i]);
    if (++rows < window) continue;
    means.push_back(static_cast<float>(sum / static_cast<double>(window)));
    sum = 0;
    rows = 0;
  }
  if (means.empty()) throw npy::error(path, "has no " + std::to_string(window) + " numbers in column " + std::to_string(column));
  return means;
}

}  // namespace particle_filter
