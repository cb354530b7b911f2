// Rivals that are timed in turns on the same data, and their figures.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#include "../support/device_array.cuh"
#include "../support/graph_timer.cuh"
#include "../support/json_writer.hpp"
#include "../support/options.hpp"

namespace benchmark {

// A time, or why there is none.
struct figure {
  std::string name;
  std::optional<timing> time;
  std::string fault;   // the result was wrong, or it failed
  std::string absent;  // it does not exist
};

struct case_result {
  std::string group, name;
  std::vector<std::pair<std::string, std::string>> texts = {};
  std::vector<std::pair<std::string, std::int64_t>> numbers = {};
  std::string unit = "milliseconds";
  int launches_per_graph = 0;
  std::vector<figure> figures = {};

  bool wrong() const {
    return std::any_of(figures.begin(), figures.end(), [](figure const& f) { return !f.fault.empty(); });
  }
};

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
    result.launches_per_graph = plan_.launches_per_graph;
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
    std::printf("%s (%s)\n", result.name.c_str(), result.unit.c_str());
    for (figure const& f : result.figures) {
      if (!f.fault.empty()) {
        std::printf("    %-32s WRONG: %s\n", f.name.c_str(), f.fault.c_str());
      } else if (f.time) {
        std::printf("    %-32s %10.4f  (%.4f .. %.4f)\n", f.name.c_str(), f.time->median, f.time->least, f.time->most);
      } else {
        std::printf("    %-32s none: %s\n", f.name.c_str(), f.absent.c_str());
      }
    }
    std::fflush(stdout);
    results.push_back(std::move(result));
  }
};

inline void write_case(json_writer& json, case_result const& result) {
  json.begin(nullptr, '{');
  json.text("group", result.group);
  json.text("name", result.name);
  for (auto const& [name, text] : result.texts) json.text(name.c_str(), text);
  for (auto const& [name, number] : result.numbers) json.integer(name.c_str(), number);
  json.integer("launches_per_graph", result.launches_per_graph);
  json.begin(result.unit.c_str(), '{');
  for (figure const& f : result.figures) {
    if (!f.time) continue;
    json.begin(f.name.c_str(), '{');
    json.number("median", f.time->median);
    json.number("least", f.time->least);
    json.number("most", f.time->most);
    json.end('}');
  }
  json.end('}');
  json.begin("absent", '{');
  for (figure const& f : result.figures) {
    if (!f.absent.empty()) json.text(f.name.c_str(), f.absent);
  }
  json.end('}');
  json.begin("faults", '[');
  for (figure const& f : result.figures) {
    if (!f.fault.empty()) json.text(nullptr, f.name + ": " + f.fault);
  }
  json.end(']');
  json.end('}');
}

}  // namespace benchmark
