// What must come out, computed on the host.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include <tessera/tessera.hpp>

#include "add_rows.hpp"

namespace benchmark {

// The sum of each row list, by the host backend: the kernel, the launch and the level are those of the device.
template <int Columns>
std::vector<float> sums_on_host(std::span<float const> values, std::vector<std::int32_t> const& rows, std::int64_t destinations) {
  using namespace tessera;
  auto const n = static_cast<std::int64_t>(rows.size());
  std::vector<float> sums(static_cast<std::size_t>(destinations * Columns));
  auto const destination = add_rows<Columns>::array(sums.data(), destinations);
  host_backend<> const host;
  host_workspace workspace(scatter_workspace_bytes<gpu_to_gpu>(host, destination, records_for<Columns>(n)));
  auto target = scatter_target<gpu_to_gpu>(host, destination, records_for<Columns>(n), workspace);
  launch_tiled(host, grid_for<Columns>(n), add_rows<Columns>{}, add_rows<Columns>::array(values.data(), n),
               make_view(static_cast<int const*>(rows.data()), {n}), target);
  target.resolve(host);
  target.check(host);
  return sums;
}

// The destination after `times` scatters: each adds the sums, rounded once. No element of `destination` is zero, so that adding the +0 of a
// row without records changes nothing.
inline std::vector<float> applied(std::vector<float> destination, std::span<float const> sums, int times) {
  constexpr std::size_t piece = 2048;  // stays in the first cache for all rounds
  for (std::size_t begin = 0; begin < destination.size(); begin += piece) {
    std::size_t const end = std::min(begin + piece, destination.size());
    for (int round = 0; round < times; ++round) {
      for (std::size_t i = begin; i < end; ++i) destination[i] += sums[i];
    }
  }
  return destination;
}

// How far a scatter of any order may be from the host's result. With n additions the error is above 16 sqrt(n) u times the sum of the
// magnitudes about never, while the sure bound, n u times that sum, would let a lost addend of a long list pass. Source: N. Higham, T.
// Mary, "A New Approach to Probabilistic Rounding Error Analysis" (2019).
template <int Columns>
std::vector<float> bounds_of_any_order(std::span<float const> values, std::vector<std::int32_t> const& rows,
                                       std::span<float const> destination) {
  std::vector<double> magnitude(destination.size());
  std::vector<std::int64_t> count(destination.size() / Columns);
  for (std::size_t i = 0; i < destination.size(); ++i) magnitude[i] = std::abs(double{destination[i]});
  for (std::size_t r = 0; r < rows.size(); ++r) {
    auto const row = static_cast<std::size_t>(rows[r]);
    ++count[row];
    for (std::size_t c = 0; c < Columns; ++c) magnitude[row * Columns + c] += std::abs(double{values[r * Columns + c]});
  }
  std::vector<float> bounds(destination.size());
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    bounds[i] = static_cast<float>(16 * std::sqrt(static_cast<double>(count[i / Columns] + 1)) * 0x1p-24 * magnitude[i]);
  }
  return bounds;
}

}  // namespace benchmark
