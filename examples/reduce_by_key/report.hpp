// What the program prints.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "../support/text_table.hpp"
#include "data.hpp"
#include "mode.hpp"
#include "result.hpp"

namespace reduce_by_key {

using examples::number_text;
using examples::text_table;

// The first keys with what was summed for them.
template <class T>
void print_head(std::ostream& out, value_table<T> const& values, key_column const& key, result<T> const& r, int head) {
  if (head == 0) return;
  constexpr std::int64_t most_columns = 12;
  auto const columns = std::min(values.columns, most_columns);
  text_table table;
  std::vector<std::string> title = {"key", "count", ""};
  for (std::int64_t c = 0; c < columns; ++c) {
    title.push_back(values.column_names.empty() ? "column " + std::to_string(c) : values.column_names[static_cast<std::size_t>(c)]);
  }
  if (columns < values.columns) title.push_back("(" + std::to_string(values.columns - columns) + " more)");
  table.add(title);
  for (std::int64_t g = 0; g < std::min<std::int64_t>(key.groups, head); ++g) {
    auto const at = static_cast<std::size_t>(g);
    std::vector<std::string> sums = {key.names.empty() ? std::to_string(g) : key.names[at], std::to_string(r.counts[at]), "sum"};
    std::vector<std::string> means = {"", "", "mean"};
    for (std::int64_t c = 0; c < columns; ++c) {
      auto const mean = r.mean(g, c);
      sums.push_back(number_text(static_cast<double>(r.sum(g, c)), std::numeric_limits<T>::max_digits10));
      means.push_back(mean ? number_text(static_cast<double>(*mean), 6) : "-");
    }
    table.add(sums);
    table.add(means);
  }
  table.print(out);
  if (key.groups > head) out << "  ... " << key.groups - head << " more\n";
}

// A line for each way to compute the sums: the hash and the largest errors are those of its first run.
template <class T>
void print_modes(std::ostream& out, std::vector<mode<T>> const& modes, std::vector<measurement<T>> const& measured,
                 std::vector<sum_errors> const& errors) {
  text_table table;
  table.add({"how the sums were added up", "runs", "patterns", "hash of the first run", "relative error", "of sum |x|", "ms a run",
             "under noise"});
  for (std::size_t m = 0; m < modes.size(); ++m) {
    auto const& report = measured[m].report;
    table.add({modes[m].name, std::to_string(report.runs), std::to_string(report.pattern_count()),
               tessera::verify::hash_text(report.hash()), number_text(errors[m].relative, 3), number_text(errors[m].of_magnitudes, 3),
               number_text(report.median_milliseconds, 3), measured[m].noise});
  }
  table.print(out);
  for (std::size_t m = 0; m < modes.size(); ++m) {
    if (!modes[m].one_order && !modes[m].can_vary) out << "  " << modes[m].name << ": " << modes[m].why_not << '\n';
    auto const& report = measured[m].report;
    if (report.first_difference) {
      out << "  " << modes[m].name << ", run " << report.patterns[1].first_result << ": "
          << tessera::verify::to_string(*report.first_difference) << '\n';
    }
  }
}

// Sentences about what is wrong; none where all is well.
template <class T>
std::vector<std::string> faults_of(std::vector<mode<T>> const& modes, std::vector<measurement<T>> const& measured, key_column const& key,
                                   bool require_canary) {
  std::vector<std::string> faults;
  std::optional<std::size_t> first_ordered;
  for (std::size_t m = 0; m < modes.size(); ++m) {
    auto const& report = measured[m].report;
    auto const fault = [&](std::string const& what) { faults.push_back(key.title + ", " + modes[m].name + ": " + what); };
    if (!measured[m].counts_right) fault("the counts are wrong");
    if (modes[m].one_order) {
      if (report.pattern_count() != 1) fault("promises one pattern, and gave " + std::to_string(report.pattern_count()));
      if (first_ordered && report.hash() != measured[*first_ordered].report.hash()) {
        fault("the bits differ from those of " + modes[*first_ordered].name);
      }
      if (!first_ordered) first_ordered = m;
    } else if (require_canary && modes[m].can_vary && report.pattern_count() == 1) {
      fault("gave one pattern in " + std::to_string(report.runs) + " runs: so these runs do not show that fixed order makes a difference");
    }
  }
  return faults;
}

// The first sum that is NaN, as a sentence.
template <class T>
std::optional<std::string> nan_in(key_column const& key, result<T> const& r) {
  for (std::size_t i = 0; i < r.sums.size(); ++i) {
    if (r.sums[i] == r.sums[i]) continue;
    auto const columns = static_cast<std::size_t>(r.columns);
    auto const group = i / columns;
    return key.title + ": the sum of column " + std::to_string(i % columns) + " for key " +
           (key.names.empty() ? std::to_string(group) : key.names[group]) +
           " is NaN: a value is NaN, or infinities of both signs met; give such rows a negative key";
  }
  return std::nullopt;
}

}  // namespace reduce_by_key
