// Timing by replays of a CUDA graph, so that the launches of the host are not in the figures.
#pragma once

#include <algorithm>
#include <vector>

#include <cuda_runtime.h>

#include "device_array.cuh"

namespace benchmark {

// How often something is done to be timed.
struct replay_plan {
  int launches_per_graph = 10;
  int warm_up_replays = 3;
  int replays = 15;
  // How often time_replays does it in all.
  int total() const { return 1 + launches_per_graph * (warm_up_replays + replays); }
};

// Milliseconds of one launch: each figure is a replay's time by its launches.
struct timing {
  double median, least, most;
};

// Times `work`, which puts its work on `stream`: once as it is (which loads the kernels), then captured. Throws for any error of CUDA.
template <class Work>
timing time_replays(cudaStream_t stream, replay_plan const& plan, Work const& work) {
  work();
  check(cudaStreamSynchronize(stream), "the work to be timed");

  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  for (int i = 0; i < plan.launches_per_graph; ++i) work();
  check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");

  cudaEvent_t begin = nullptr, end = nullptr;
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");
  std::vector<double> times;
  for (int i = 0; i < plan.warm_up_replays + plan.replays; ++i) {
    check(cudaEventRecord(begin, stream), "cudaEventRecord");
    check(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
    check(cudaEventRecord(end, stream), "cudaEventRecord");
    check(cudaEventSynchronize(end), "a graph's replay");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
    if (i >= plan.warm_up_replays) times.push_back(double{milliseconds} / plan.launches_per_graph);
  }
  check(cudaEventDestroy(begin), "cudaEventDestroy");
  check(cudaEventDestroy(end), "cudaEventDestroy");
  check(cudaGraphExecDestroy(executable), "cudaGraphExecDestroy");
  check(cudaGraphDestroy(graph), "cudaGraphDestroy");

  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times.front(), times.back()};
}

}  // namespace benchmark
