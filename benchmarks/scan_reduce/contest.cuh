// Rivals that are timed in turns on the same data, and their figures.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#include "../support/device_array.cuh"
#include "../support/graph_timer.cuh"
#include "../support/options.hpp"
#include "case_result.hpp"

namespace benchmark {

// One case: whoever is added is checked, then all are captured and replayed in turns, then checked again.
class contest {
 public:
  using work = std::function<void()>;                 // puts its work on the stream
  using check_result = std::function<std::string()>;  // empty, or what is wrong with the result of the work that was done last

  // `poison` spoils the result, so that one that was not written is found.
  contest(cudaStream_t stream, replay_plan const& plan, work poison) : stream_(stream), plan_(plan), poison_(std::move(poison)) {}

  // `scale` times the milliseconds of a launch is the figure.
  void add(std::string name, work const& call, check_result const& fault, double scale = 1) {
    rivals_.push_back({std::move(name), call, fault, scale});
  }
  void absent(std::string name, std::string why) { rivals_.push_back({std::move(name), {}, {}, 1, std::move(why)}); }

  void run(case_result& result) {
    result.numbers.push_back({"launches_per_graph", plan_.launches_per_graph});
    std::vector<std::unique_ptr<captured_launches>> graphs(rivals_.size());
    std::vector<std::vector<double>> times(rivals_.size());
    for (std::size_t i = 0; i < rivals_.size(); ++i) {
      figure f{rivals_[i].name, {}, {}, rivals_[i].why_absent};
      if (rivals_[i].call) {
        f.fault = fault_of(rivals_[i]);
        if (f.fault.empty()) f.absent = capture(rivals_[i], graphs[i]);
        // Ours must be fit for capture.
        if (!f.absent.empty() && f.name.starts_with("tessera")) f.fault = std::exchange(f.absent, {});
      }
      result.figures.push_back(std::move(f));
    }
    for (int round = 0; round < plan_.warm_up_replays + plan_.replays; ++round) {
      for (std::size_t i = 0; i < rivals_.size(); ++i) {
        if (!graphs[i] || !result.figures[i].fault.empty()) continue;
        double const milliseconds = graphs[i]->replay();
        if (round >= plan_.warm_up_replays) times[i].push_back(milliseconds * rivals_[i].scale);
      }
    }
    for (std::size_t i = 0; i < rivals_.size(); ++i) {
      if (times[i].empty()) continue;
      result.figures[i].fault = fault_of(rivals_[i]);
      if (result.figures[i].fault.empty()) result.figures[i].time = timing_of(times[i]);
    }
  }

 private:
  struct rival {
    std::string name;
    work call;
    check_result fault;
    double scale;
    std::string why_absent = {};
  };

  // Does the work once; what is wrong with its result.
  std::string fault_of(rival const& r) {
    try {
      poison_();
      r.call();
      check(cudaStreamSynchronize(stream_), r.name.c_str());
      return r.fault();
    } catch (std::exception const& e) {
      return e.what();
    }
  }
  // Why it cannot be captured.
  std::string capture(rival const& r, std::unique_ptr<captured_launches>& graph) {
    try {
      graph = std::make_unique<captured_launches>(stream_, plan_.launches_per_graph, r.call);
      return {};
    } catch (std::exception const& e) {
      return std::string("cannot be captured: ") + e.what();
    }
  }

  cudaStream_t stream_;
  replay_plan plan_;
  work poison_;
  std::vector<rival> rivals_;
};

// What runs on what, and what came of it.
struct session {
  cudaStream_t stream;
  options chosen;
  int multiprocessors;
  std::vector<case_result> results = {};

  bool wanted(std::string const& name) const { return name.find(chosen.filter) != std::string::npos; }

  // Launches a graph so that a replay takes about a millisecond, where one launch moves so many bytes.
  replay_plan plan_for(std::int64_t bytes) const {
    double const milliseconds = std::max(0.003, static_cast<double>(bytes) / 3.5e9);
    int const launches = std::clamp(static_cast<int>(1 / milliseconds), 4, 200);
    return chosen.quick ? replay_plan{2, 1, 3} : replay_plan{launches, 3, 21};
  }

  void take(case_result result) {
    print(result);
    results.push_back(std::move(result));
  }
};

}  // namespace benchmark
