// Scans and reductions of whole arrays.
#pragma once

#include "contest.cuh"

namespace benchmark {

// All sizes of one type; adds to the session's results.
template <class T>
void measure_arrays(session& s);

}  // namespace benchmark
