// The filter on the host: with tessera's scan, and with one whose sums depend on the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <tessera/device/host_scan.hpp>
#include <tessera/tessera.hpp>

#include "filter.hpp"
#include "way.hpp"

namespace particle_filter {

template <int Lanes = 1>
struct on_host {
  template <class T>
  using array = std::vector<T>;

  tessera::host_backend<Lanes> backend;

  template <class T>
  void read(array<T> const& from, std::vector<T>& to) const {
    to = from;
  }
};

// Each run works on one core more than the last one. With several lanes, a tile is several threads that meet at barriers: slow, since
// it exists to test kernels without a GPU.
template <int Lanes = 1>
way tessera_on_host(std::string const& name, int runs) {
  return {.name = name,
          .runs = runs,
          .promises_one_history = true,
          .run = [](std::vector<float> const& observed, std::int64_t particles, int run) {
            on_host<Lanes> const host{{.cores = run + 1}};
            return run_filter(
                host, [&](auto in, auto out) { tessera::inclusive_scan(host.backend, in, out); }, observed, particles);
          }};
}

// What a scan by several threads computes: each adds up its own part of the array from left to right, and then adds the sum of the parts in
// front. (Here one part follows the other; the additions are the same.)
inline void scan_in_parts(float const* in, float* out, std::int64_t count, int threads) {
  for (int thread = 0; thread < threads; ++thread) {
    std::int64_t const begin = count * thread / threads, end = count * (thread + 1) / threads;
    std::inclusive_scan(in + begin, in + end, out + begin);
    if (begin == 0) continue;
    for (std::int64_t i = begin; i < end; ++i) out[i] += out[begin - 1];
  }
}

// Each run has one thread more than the last one.
inline way parts_on_host(int runs) {
  return {.name = "a part for each thread, 1, 2, ... threads",
          .runs = runs,
          .promises_one_history = false,
          .run = [](std::vector<float> const& observed, std::int64_t particles, int run) {
            auto const scan = [&](auto in, auto out) { scan_in_parts(in.data_handle(), out.data_handle(), in.extent(0), run + 1); };
            return run_filter(on_host<>{}, scan, observed, particles);
          }};
}

inline std::vector<way> host_ways(int runs) {
  return {tessera_on_host("tessera on the host, 1, 2, ... cores", runs), tessera_on_host<4>("tessera on the host, tiles of 4 threads", 1),
          parts_on_host(runs)};
}

}  // namespace particle_filter
