// Timing by replays of CUDA graphs, so that the launches of the host are not in the figures.
#pragma once

#include <vector>

#include <cuda_runtime.h>

#include "device_array.cuh"
#include "timing.hpp"

namespace benchmark {

// How often something is done to be timed.
struct replay_plan {
  int launches_per_graph = 10;
  int warm_up_replays = 3;
  int replays = 15;
  // How often time_replays does it in all.
  int total() const { return 1 + launches_per_graph * (warm_up_replays + replays); }
};

// Launches of some work as a graph, to be replayed on the stream that they were captured on.
class captured_launches {
 public:
  // `work` puts its work on `stream`; it has been done before, so that its kernels are loaded. Throws for any error of CUDA.
  template <class Work>
  captured_launches(cudaStream_t stream, int launches, Work const& work) : stream_(stream), launches_(launches) {
    cudaGraph_t graph = nullptr;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    try {
      for (int i = 0; i < launches; ++i) work();
    } catch (...) {
      (void)cudaStreamEndCapture(stream, &graph);
      if (graph != nullptr) (void)cudaGraphDestroy(graph);
      (void)cudaGetLastError();
      throw;
    }
    check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
    cudaError_t const made = cudaGraphInstantiate(&executable_, graph, 0);
    (void)cudaGraphDestroy(graph);
    check(made, "cudaGraphInstantiate");
    check(cudaEventCreate(&begin_), "cudaEventCreate");
    check(cudaEventCreate(&end_), "cudaEventCreate");
  }
  ~captured_launches() {
    if (begin_ != nullptr) (void)cudaEventDestroy(begin_);
    if (end_ != nullptr) (void)cudaEventDestroy(end_);
    if (executable_ != nullptr) (void)cudaGraphExecDestroy(executable_);
  }
  captured_launches(captured_launches const&) = delete;
  captured_launches& operator=(captured_launches const&) = delete;

  // Waits; milliseconds of one launch.
  double replay() {
    check(cudaEventRecord(begin_, stream_), "cudaEventRecord");
    check(cudaGraphLaunch(executable_, stream_), "cudaGraphLaunch");
    check(cudaEventRecord(end_, stream_), "cudaEventRecord");
    check(cudaEventSynchronize(end_), "a graph's replay");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_, end_), "cudaEventElapsedTime");
    return double{milliseconds} / launches_;
  }

 private:
  cudaStream_t stream_;
  int launches_;
  cudaGraphExec_t executable_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

// Times a launch of `work`, which puts its work on `stream`: once as it is (which loads the kernels), then captured; each replay's time by
// its launches. Throws for any error of CUDA.
template <class Work>
timing time_replays(cudaStream_t stream, replay_plan const& plan, Work const& work) {
  work();
  check(cudaStreamSynchronize(stream), "the work to be timed");
  captured_launches launches(stream, plan.launches_per_graph, work);
  std::vector<double> times;
  for (int i = 0; i < plan.warm_up_replays + plan.replays; ++i) {
    double const milliseconds = launches.replay();
    if (i >= plan.warm_up_replays) times.push_back(milliseconds);
  }
  return timing_of(times);
}

}  // namespace benchmark
