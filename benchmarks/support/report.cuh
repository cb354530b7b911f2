// The measurements as a table for people and as JSON for scripts/record_benchmarks.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "environment.cuh"
#include "json_writer.hpp"
#include "measurement.cuh"
#include "options.hpp"
#include "program.cuh"

namespace benchmark {

inline void print_heading(environment const& here) {
  print_environment(here);
  std::printf("Milliseconds; K is 2^10, M is 2^20. TB/s: the least bytes that any algorithm moves, by the total.\n\n");
  std::printf("%-27s %8s | %8s %8s %8s | %8s %8s %8s %8s %8s | %7s %7s %6s\n", "float32", "copy", "naive", "red.v4", "tessera", "open",
              "stage", "sort", "reduce", "total", "/red.v4", "/naive", "TB/s");
}

inline void print_row(measurement const& m) {
  auto const number = [](double value, int width, int digits) {
    if (std::isnan(value)) return std::string(static_cast<std::size_t>(width - 1), ' ') + "-";
    char text[32];
    std::snprintf(text, sizeof(text), "%*.*f", width, digits, value);
    return std::string(text);
  };
  auto const time = [&](double value) { return number(value, 8, 4); };
  std::printf("%-27s %s | %s %s %s | %s %s %s %s %s | %s %s %s\n", name_of(m.what).c_str(), time(m.milliseconds(copy)).c_str(),
              time(m.milliseconds(naive_atomics)).c_str(), time(m.milliseconds(red_v4)).c_str(),
              time(m.milliseconds(tessera_atomics)).c_str(), time(m.milliseconds(open)).c_str(), time(m.stage()).c_str(),
              time(m.sort()).c_str(), time(m.reduce()).c_str(), time(m.milliseconds(total)).c_str(),
              number(m.ratio_to(red_v4), 7, 2).c_str(), number(m.ratio_to(naive_atomics), 7, 2).c_str(),
              number(m.terabytes_per_second(), 6, 2).c_str());
  for (int c = 0; c < column_count; ++c) {
    if (!m.cells[c].fault.empty()) std::printf("    WRONG RESULT, %s: %s\n", column_names[c], m.cells[c].fault.c_str());
  }
  std::fflush(stdout);
}

inline void write_case(json_writer& json, measurement const& m) {
  json.begin(nullptr, '{');
  json.text("name", name_of(m.what));
  json.integer("records", m.what.records);
  json.integer("columns", m.what.columns);
  json.integer("destinations", m.what.destinations);
  json.text("keys", to_string(m.what.distribution));
  json.integer("touched_rows", m.touched_rows);
  json.integer("value_bytes", m.value_bytes());
  json.integer("least_bytes", m.least_bytes());
  json.begin("milliseconds", '{');
  for (int c = 0; c < column_count; ++c) {
    if (!m.cells[c].time) continue;
    json.begin(column_names[c], '{');
    json.number("median", m.cells[c].time->median);
    json.number("least", m.cells[c].time->least);
    json.number("most", m.cells[c].time->most);
    json.end('}');
  }
  json.end('}');
  json.begin("parts", '{');
  json.number("open", m.milliseconds(open));
  json.number("stage", m.stage());
  json.number("sort", m.sort());
  json.number("reduce", m.reduce());
  json.end('}');
  json.number("ratio_to_red_v4", m.ratio_to(red_v4));
  json.number("ratio_to_naive_atomics", m.ratio_to(naive_atomics));
  json.number("terabytes_per_second", m.terabytes_per_second());
  json.begin("faults", '[');
  for (int c = 0; c < column_count; ++c) {
    if (!m.cells[c].fault.empty()) json.text(nullptr, std::string(column_names[c]) + ": " + m.cells[c].fault);
  }
  json.end(']');
  json.end('}');
}

// Throws std::runtime_error where the file cannot be written.
inline void write_json(options const& chosen, replay_plan const& plan, environment const& here, std::vector<measurement> const& measured) {
  write_document(chosen, here, "scatter_rows", [&](json_writer& json) {
    json.integer("launches_per_graph", plan.launches_per_graph);
    json.integer("warm_up_replays", plan.warm_up_replays);
    json.integer("replays", plan.replays);
    json.begin("cases", '[');
    for (measurement const& m : measured) write_case(json, m);
    json.end(']');
  });
}

}  // namespace benchmark
