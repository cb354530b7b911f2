# shellcheck shell=bash disable=SC2034
# Shared by the scripts; sourced after `set -euo pipefail`.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
deps=${TESSERA_DEPS:-$root/.deps}
mkdir -p "$deps"
deps=$(cd "$deps" && pwd)
export TESSERA_DEPS=$deps
jobs=${TESSERA_JOBS:-$(nproc)}

say() { printf '[%s] %s\n' "$(basename "$0")" "$*"; }
fail() {
  printf '[%s] error: %s\n' "$(basename "$0")" "$1" >&2
  shift
  (($# == 0)) || printf '    %s\n' "$@" >&2
  exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# nvcc, also where it is installed but not on the path.
nvcc_path() {
  local candidate
  for candidate in "${CUDACXX:-}" "$(command -v nvcc || true)" "${CUDA_PATH:-}/bin/nvcc" "${CUDA_HOME:-}/bin/nvcc" /usr/local/cuda/bin/nvcc; do
    if [[ -n $candidate && -x $candidate ]]; then
      echo "$candidate"
      return
    fi
  done
  return 1
}

# The GPUs that the driver shows, one name a line; fails where there is none.
gpu_names() {
  have nvidia-smi || return 1
  local names
  names=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null) || return 1
  [[ -n $names ]] && echo "$names"
}

# The architecture to build CUDA code for: that of the first GPU, 90 without one.
cuda_architecture() {
  local capability
  capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d '. ') || true
  [[ $capability =~ ^[0-9]+$ ]] && echo "$capability" || echo 90
}

# configure PRESET FOLDER [CMAKE OPTION...]: with Ninja where there is one.
configure() {
  local preset=$1 folder=$2 generator="Unix Makefiles" nvcc
  shift 2
  have ninja && generator=Ninja
  local options=("-DTESSERA_DEPS=$deps" "$@")
  if [[ $preset == cuda ]]; then
    nvcc=$(nvcc_path)
    options+=("-DCMAKE_CUDA_COMPILER=$nvcc" "-DCMAKE_CUDA_ARCHITECTURES=$(cuda_architecture)")
  else
    # The host half is built against the downloaded headers, also where a CUDA installation exists.
    options+=("-DTESSERA_CCCL_ROOT=$deps/cuda")
    [[ $preset == *clang ]] || options+=("-DCMAKE_CXX_COMPILER=g++")
  fi
  # A build folder made with another generator cannot be used again.
  local cache=$root/$folder/CMakeCache.txt
  if [[ -f $cache ]] && ! grep -q "^CMAKE_GENERATOR:INTERNAL=$generator\$" "$cache"; then rm -rf "${root:?}/$folder"; fi
  (cd "$root" && cmake --preset "$preset" -B "$folder" -G "$generator" "${options[@]}")
}
