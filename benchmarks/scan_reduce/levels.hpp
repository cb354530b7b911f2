// CUB's scans and reductions at the determinism levels that one can ask for in CCCL's newer releases.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <cuda_runtime.h>

namespace benchmark {

enum class level_operation { scan, reduce };

// `work` is empty where the level does not compile for the operation; then `absent` says so.
struct level_call {
  std::string name;
  level_operation operation;
  std::function<void()> work;
  std::string absent;
};

// InclusiveSum of in to out, and Sum of in to *out, at each level; nothing where this program is built with an older CCCL. For float and
// double.
template <class T>
std::vector<level_call> level_calls(cudaStream_t stream, T const* in, T* out, int count);

}  // namespace benchmark
