// CUDA's error codes as exceptions.
#pragma once

#include <string>

#include <cuda_runtime_api.h>

#include <tessera/config.hpp>
#include <tessera/error.hpp>

namespace tessera::inline v0_1 {

namespace detail {

inline std::string describe(cudaError_t code) { return std::string(cudaGetErrorName(code)) + ": " + cudaGetErrorString(code); }

// Throws if `code` is an error of `call`. The error is taken off the runtime's record, since it is reported here.
inline void check_cuda(cudaError_t code, std::string const& call) {
  if (code == cudaSuccess) return;
  (void)cudaGetLastError();
  throw cuda_error(call + " failed: " + describe(code), static_cast<int>(code));
}

// Throws if an earlier call left an error: it is named as what it is, not blamed on `call`, and it stays on the runtime's record.
inline void check_nothing_pending(char const* call) {
  cudaError_t const code = cudaPeekAtLastError();
  if (code != cudaSuccess) {
    throw cuda_error(
        std::string(call) + " did nothing: an earlier CUDA call of this thread failed and its error is still pending: " + describe(code),
        static_cast<int>(code));
  }
}

}  // namespace detail

}  // namespace tessera::inline v0_1
