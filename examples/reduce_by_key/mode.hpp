// A way to compute the sums: a line of the reproducibility table.
#pragma once

#include <cstdint>
#include <functional>
#include <iostream>
#include <string>

#include <unistd.h>

#include <tessera/verify/repeat.hpp>

#include "data.hpp"
#include "result.hpp"

namespace reduce_by_key {

// What came of running it many times.
template <class T>
struct measurement {
  tessera::verify::repeat_report report;
  result<T> last;            // the last run's
  bool counts_right = true;  // in every run
  std::string noise = "-";   // how many of the runs had other work beside them on the card
};

template <class T>
struct mode {
  std::string name;
  bool one_order = false;    // promises one pattern
  bool can_vary = true;      // an atomics line on one core cannot
  std::string why_not = {};  // the reason, where it cannot
  std::function<measurement<T>()> measure;
};

// Runs `compute` so often, which computes into a result from zero and returns its milliseconds; shows progress on stderr where it takes
// long.
template <class T, class Compute>
measurement<T> measure_runs(int runs, std::string const& label, key_column const& key, std::int64_t columns, Compute const& compute) {
  measurement<T> m;
  m.last.columns = columns;
  m.last.sums.resize(static_cast<std::size_t>(key.groups * columns));
  m.last.counts.resize(static_cast<std::size_t>(key.groups));
  m.report = tessera::verify::repeat(runs,
                                     [&] {
                                       auto const milliseconds = compute(m.last);
                                       m.counts_right = m.counts_right && m.last.counts == key.counts;
                                       return milliseconds;
                                     },
                                     tessera::verify::bytes_of(m.last.sums),
                                     {.element_bytes = sizeof(T),
                                      .progress = tessera::verify::progress_to(std::cerr, label, isatty(STDERR_FILENO) != 0),
                                      .progress_seconds = 2});
  return m;
}

}  // namespace reduce_by_key
