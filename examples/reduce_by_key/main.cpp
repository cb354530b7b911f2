// reduce_by_key on the host: needs no CUDA. main.cu is the same program with the GPU beside.
#include "host_modes.hpp"
#include "program.hpp"

int main(int argc, char** argv) { return reduce_by_key::run_program<reduce_by_key::host_modes>(argc, argv); }
