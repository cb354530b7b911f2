#include "arrays.cuh"

template void benchmark::measure_arrays<float>(benchmark::session&);
