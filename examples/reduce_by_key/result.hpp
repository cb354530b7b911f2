// The sums and counts of each key, their means, and how far the sums are from the exact ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tessera/arithmetic.hpp>
#include <tessera/verify/exact_sum.hpp>

#include "../support/npy.hpp"
#include "data.hpp"

namespace reduce_by_key {

template <class T>
struct result {
  std::int64_t columns = 0;
  std::vector<T> sums;  // groups x columns
  std::vector<std::int32_t> counts;

  T sum(std::int64_t group, std::int64_t column) const { return sums[static_cast<std::size_t>(group * columns + column)]; }

  // The sum over the count, each rounded once; nothing where nothing was added.
  std::optional<T> mean(std::int64_t group, std::int64_t column) const {
    auto const count = counts[static_cast<std::size_t>(group)];
    if (count == 0) return std::nullopt;
    return sum(group, column) / static_cast<T>(count);
  }
};

// How far a table of sums is from the exact ones, at worst.
struct sum_errors {
  double relative = 0;       // |sum - exact| / |exact|, where the exact sum is not 0
  double of_magnitudes = 0;  // |sum - exact| / sum of |x|: what fixed order keeps below ceil(log2 n) roundings
};

// The errors of each of `candidates` (tables of sums of one shape); one pass over the values.
template <class T>
std::vector<sum_errors> errors_of(value_table<T> const& values, key_column const& key, std::vector<std::span<T const>> const& candidates) {
  // The rows of each key, in order: a counting sort.
  std::vector<std::int64_t> begin(static_cast<std::size_t>(key.groups) + 1);
  for (std::size_t g = 0; g < key.counts.size(); ++g) begin[g + 1] = begin[g] + key.counts[g];
  std::vector<std::int64_t> order(static_cast<std::size_t>(begin.back()));
  auto next = begin;
  for (std::int64_t i = 0; i < values.rows; ++i) {
    auto const group = key.rows[static_cast<std::size_t>(i)];
    if (group >= 0) order[static_cast<std::size_t>(next[static_cast<std::size_t>(group)]++)] = i;
  }

  std::vector<sum_errors> errors(candidates.size());
  for (std::size_t group = 0; group < static_cast<std::size_t>(key.groups); ++group) {
    for (std::int64_t column = 0; column < values.columns; ++column) {
      tessera::verify::exact_sum exact, magnitudes;
      for (auto i = begin[group]; i < begin[group + 1]; ++i) {
        auto const x = values.at(order[static_cast<std::size_t>(i)], column);
        exact.add(x);
        magnitudes.add(std::abs(x));
      }
      auto const at = group * static_cast<std::size_t>(values.columns) + static_cast<std::size_t>(column);
      for (std::size_t c = 0; c < candidates.size(); ++c) {
        auto const computed = static_cast<double>(candidates[c][at]);
        if (exact.value() != 0) errors[c].relative = std::max(errors[c].relative, exact.relative_error(computed));
        auto difference = exact;
        difference.add(-computed);
        if (difference.value() != 0)
          errors[c].of_magnitudes = std::max(errors[c].of_magnitudes, std::abs(difference.value()) / magnitudes.value());
      }
    }
  }
  return errors;
}

// KEY_sums.npy, KEY_means.npy (NaN where nothing was added) and KEY_counts.npy.
template <class T>
void save(result<T> const& r, std::string const& folder, std::string const& title) {
  std::filesystem::create_directories(folder);
  auto const groups = static_cast<std::uint64_t>(r.counts.size());
  auto const columns = static_cast<std::uint64_t>(r.columns);
  auto const path = [&](char const* what) { return (std::filesystem::path(folder) / (title + what)).string(); };
  std::vector<T> means;
  for (std::int64_t g = 0; g < static_cast<std::int64_t>(groups); ++g) {
    for (std::int64_t c = 0; c < r.columns; ++c) means.push_back(r.mean(g, c).value_or(std::numeric_limits<T>::quiet_NaN()));
  }
  npy::save<T>(path("_sums.npy"), {groups, columns}, r.sums);
  npy::save<T>(path("_means.npy"), {groups, columns}, means);
  npy::save<std::int32_t>(path("_counts.npy"), {groups}, r.counts);
}

}  // namespace reduce_by_key
