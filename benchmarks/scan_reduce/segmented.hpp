// Scans and reductions of segments.
#pragma once

#include "contest.cuh"

namespace benchmark {

void measure_segments(session& s);

}  // namespace benchmark
