// Other work on the card, to perturb the order in which a launch's blocks run; and the proof that it did run meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <cuda_runtime_api.h>

#include <tessera/config.hpp>

namespace tessera::inline v0_1::verify {

struct noise_options {
  std::uint32_t seed = 1;                           // of the sizes and the access patterns
  std::size_t memory_bytes = std::size_t{1} << 26;  // that the noise reads and writes
  int blocks_per_multiprocessor = 2;                // of the largest noise kernel
  double seconds_at_most = 900;                     // after which it falls silent, whatever happens
};

// What a noise has seen of the windows that were opened and closed around the measured launches.
struct noise_overlap {
  std::uint64_t windows = 0;             // opened so far
  std::uint64_t overlapped_windows = 0;  // in which at least one noise block ran, by the card's own clock
  std::uint64_t blocks = 0;              // noise blocks that ran in a window
  std::uint64_t all_blocks = 0;          // noise blocks that ran at all
};

// Keeps the current device busy while it lives: a host thread launches short kernels with random numbers of blocks, block sizes and
// lengths, which compute, move memory and do atomics, on two streams of its own; a few are always in flight.
//
//     verify::noise noise;
//     for (...) { noise.open(stream); launch(stream); noise.close(stream); }
//     noise.stop();
//     noise.overlap().overlapped_windows    // how many of the launches had company
//
// The constructor returns when the first noise kernel has run; every kernel is short and bounded, so nothing here can hang. The counts
// never exceed the truth. open, close, stop and overlap are called by one thread. Throws cuda_error; the destructor is silent.
class noise {
 public:
  explicit noise(noise_options const& options = {});
  ~noise();
  noise(noise const&) = delete;
  noise& operator=(noise const&) = delete;

  // Mark the start and the end of a measured launch in `stream`'s order: two one-thread kernels, also fit for capture. Windows do not nest.
  void open(cudaStream_t stream);
  void close(cudaStream_t stream);

  // Ends the noise and waits for it. Afterwards overlap() is final. A second call does nothing.
  void stop();

  // The counts so far; waits for the device's counters, not for the windows' stream. Throws what the noise thread met, if it met an error.
  [[nodiscard]] noise_overlap overlap();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

// One line for people: `noise ran in 998 of 1000 launches, 51234 blocks`.
[[nodiscard]] std::string to_string(noise_overlap const& overlap);

}  // namespace tessera::inline v0_1::verify
