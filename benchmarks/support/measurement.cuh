// The figures of one case.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "cases.hpp"
#include "graph_timer.cuh"

namespace benchmark {

// What is timed. The last four are prefixes of the deterministic path, each with all that comes before it.
enum column { copy, naive_atomics, red_v4, tessera_atomics, open, open_stage, open_stage_sort, total, column_count };

inline constexpr std::array<char const*, column_count> column_names = {"copy", "naive_atomics", "red_v4",          "tessera_atomics",
                                                                       "open", "open_stage",    "open_stage_sort", "total"};

// A time, or why there is none.
struct cell {
  std::optional<timing> time;
  std::string fault;  // a result was wrong
};

struct measurement {
  scatter_case what;
  std::int64_t touched_rows = 0;
  std::array<cell, column_count> cells;

  std::int64_t value_bytes() const { return 4 * what.records * what.columns; }
  // What any algorithm moves: values and row numbers are read, and rows that get something are read and written.
  std::int64_t least_bytes() const { return value_bytes() + 4 * what.records + 8 * touched_rows * what.columns; }

  // Milliseconds; not a number where there is no time.
  double milliseconds(column c) const { return cells[c].time ? cells[c].time->median : std::numeric_limits<double>::quiet_NaN(); }
  double stage() const { return milliseconds(open_stage) - milliseconds(open); }
  double sort() const { return milliseconds(open_stage_sort) - milliseconds(open_stage); }
  double reduce() const { return milliseconds(total) - milliseconds(open_stage_sort); }
  double ratio_to(column c) const { return milliseconds(total) / milliseconds(c); }
  double terabytes_per_second() const { return static_cast<double>(least_bytes()) / milliseconds(total) * 1e-9; }

  bool wrong() const {
    for (cell const& c : cells) {
      if (!c.fault.empty()) return true;
    }
    return false;
  }
};

}  // namespace benchmark
