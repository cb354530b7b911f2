// particle_filter on the host: needs no CUDA. main.cu is the same program with the GPU beside.
#include "host_ways.hpp"
#include "program.hpp"

int main(int argc, char** argv) { return particle_filter::run_program(argc, argv, 1 << 16, particle_filter::host_ways); }
