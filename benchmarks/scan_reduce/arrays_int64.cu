#include "arrays.cuh"

template void benchmark::measure_arrays<std::int64_t>(benchmark::session&);
