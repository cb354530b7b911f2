// reduce_by_key on the GPU and on the host.
#include "cuda_modes.cuh"
#include "host_modes.hpp"
#include "program.hpp"

int main(int argc, char** argv) { return reduce_by_key::run_program<reduce_by_key::cuda_modes, reduce_by_key::host_modes>(argc, argv); }
