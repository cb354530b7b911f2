#include "arrays.cuh"

template void benchmark::measure_arrays<__half>(benchmark::session&);
