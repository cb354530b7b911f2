#include "arrays.cuh"

template void benchmark::measure_arrays<double>(benchmark::session&);
