// Scans and reductions of tiles that lie in registers, by the threads of a block.
#pragma once

#include "contest.cuh"

namespace benchmark {

void measure_blocks(session& s);

}  // namespace benchmark
