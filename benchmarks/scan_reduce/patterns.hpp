// How many different results a scan gives of the same data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "../support/json_writer.hpp"

namespace benchmark {

// What one scan gave in many runs. Errors are against the exact sum, in units in the last place of it.
struct pattern_figures {
  std::string name;
  std::size_t patterns = 0;
  std::uint64_t runs_with_noise = 0;
  std::vector<float> last;         // the last element, by run
  std::vector<double> last_error;  // its error
  std::vector<float> least, most;  // at each place that is looked at, over all runs
  std::string fault;
};

struct pattern_result {
  std::int64_t count = 0;
  int runs = 0;
  std::vector<std::int64_t> places;  // that are looked at
  std::vector<double> exact;         // sums up to and with them
  std::vector<pattern_figures> scans;

  bool wrong() const;
};

// Scans about `count` floats `runs` times with each, while other work runs on the card.
pattern_result count_patterns(cudaStream_t stream, std::int64_t count, int runs);

void print(pattern_result const& result);
void write_patterns(json_writer& json, pattern_result const& result);

}  // namespace benchmark
