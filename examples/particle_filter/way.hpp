// A way to run the filter: a line of the table.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "filter.hpp"

namespace particle_filter {

struct way {
  std::string name;
  int runs = 1;
  bool promises_one_history = false;
  std::function<history(std::vector<float> const& observed, std::int64_t particles, int run)> run;
};

// What the runs of one way have in common, and where they part.
struct comparison {
  history first;                      // the first run's
  std::vector<std::uint64_t> hashes;  // of the different histories, each once
  std::int64_t first_parting = 0;     // the first step after which two runs differ, from 1; 0: none
  std::int64_t other_particles = 0;   // of the last generation, that differ from the first run's: the most in a run
  double estimate_difference = 0;     // from the first run's, the largest
};

inline comparison compare_runs(way const& w, std::vector<float> const& observed, std::int64_t particles) {
  comparison c;
  c.first = w.run(observed, particles, 0);
  c.hashes.push_back(c.first.steps.back());
  for (int run = 1; run < w.runs; ++run) {
    history const h = w.run(observed, particles, run);
    if (std::find(c.hashes.begin(), c.hashes.end(), h.steps.back()) == c.hashes.end()) c.hashes.push_back(h.steps.back());
    auto const parting = std::mismatch(h.steps.begin(), h.steps.end(), c.first.steps.begin()).first - h.steps.begin() + 1;
    if (parting <= static_cast<std::ptrdiff_t>(observed.size()) && (c.first_parting == 0 || parting < c.first_parting))
      c.first_parting = parting;
    std::int64_t others = 0;
    for (std::size_t i = 0; i < h.levels.size(); ++i) others += h.levels[i] != c.first.levels[i];
    c.other_particles = std::max(c.other_particles, others);
    c.estimate_difference = std::max(c.estimate_difference, std::abs(h.estimate - c.first.estimate));
  }
  return c;
}

}  // namespace particle_filter
