// Milliseconds that something takes, of several that were measured.
#pragma once

#include <algorithm>
#include <vector>

namespace benchmark {

struct timing {
  double median, least, most;
};

inline timing timing_of(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times.front(), times.back()};
}

}  // namespace benchmark
