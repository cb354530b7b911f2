#include "arrays.cuh"

template void benchmark::measure_arrays<std::int32_t>(benchmark::session&);
