// The levels of determinism, with CCCL's names. A level is part of a type, never a global setting.
#pragma once

#include <tessera/config.hpp>

namespace tessera::inline v0_1 {

enum class determinism {
  not_guaranteed,  // correct, in any order: hardware atomics
  run_to_run,      // the same bits for the same binary, device model and launch shape; today gives gpu_to_gpu's bits
  gpu_to_gpu       // bits are a function of the old value and the row list; the host backend gives the same ones
};

inline constexpr determinism not_guaranteed = determinism::not_guaranteed;
inline constexpr determinism run_to_run = determinism::run_to_run;
inline constexpr determinism gpu_to_gpu = determinism::gpu_to_gpu;

}  // namespace tessera::inline v0_1
