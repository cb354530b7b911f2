// particle_filter on the GPU, and on the host to compare with.
#include <iostream>
#include <vector>

#include "cuda_ways.cuh"
#include "host_ways.hpp"
#include "program.hpp"

int main(int argc, char** argv) {
  using namespace particle_filter;
  auto const reason = no_gpu();
  if (!reason.empty()) {
    std::cout << "the GPU is left out: " << reason << '\n';
    return run_program(argc, argv, 1 << 16, host_ways);
  }
  return run_program(argc, argv, 1 << 20, [](int runs) {
    return std::vector<way>{tessera_on_gpu(runs), cub_on_gpu(runs), tessera_on_host("tessera on the host", 1)};
  });
}
