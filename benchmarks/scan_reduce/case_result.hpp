// The figures of rivals on the same data, as they are printed and written.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../support/json_writer.hpp"
#include "../support/timing.hpp"

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
  std::vector<figure> figures = {};

  bool wrong() const {
    return std::any_of(figures.begin(), figures.end(), [](figure const& f) { return !f.fault.empty(); });
  }
};

inline void print(case_result const& result) {
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
}

inline void write_case(json_writer& json, case_result const& result) {
  json.begin(nullptr, '{');
  json.text("group", result.group);
  json.text("name", result.name);
  for (auto const& [name, text] : result.texts) json.text(name.c_str(), text);
  for (auto const& [name, number] : result.numbers) json.integer(name.c_str(), number);
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
