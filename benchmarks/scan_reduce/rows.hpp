// Reductions of segments of rows.
#pragma once

#include "contest.cuh"

namespace benchmark {

void measure_rows(session& s);

}  // namespace benchmark
