// The same with the CUDA backend. Needs nvcc. Whole arrays are in `device/cuda_*.cuh`.
#pragma once

#include <tessera/group/atomic.cuh>
#include <tessera/group/lane_reduce.cuh>
#include <tessera/group/lane_scan.cuh>
#include <tessera/launch/cuda_backend.cuh>
#include <tessera/scatter/cuda_target.cuh>
#include <tessera/tessera.hpp>
