// What the benchmarks' programs have in common: command line, exit status, and the head of what they write.
#pragma once

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

#include "json_writer.hpp"
#include "options.hpp"
#include "provenance.hpp"

namespace benchmark {

// Parses, and calls run(chosen), which says whether all results were right. The exit status: 0; 1 where a result was wrong or something
// failed; 2 for a wrong command line; 77 where missing() names something without which nothing can be measured.
template <class Run>
int run_program(
    int count, char** arguments, program_description const& program, Run const& run,
    std::string (*missing)() = [] { return std::string(); }) {
  std::string const name(program.name), usage = usage_of(program);
  options chosen;
  try {
    chosen = parse_options(count, arguments, program);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s: %s\n%s", name.c_str(), e.what(), usage.c_str());
    return 2;
  }
  if (chosen.help) {
    std::fputs(usage.c_str(), stdout);
    return 0;
  }
  if (std::string const what = missing(); !what.empty()) {
    std::printf("skipped: %s\n", what.c_str());
    return 77;
  }
  try {
    return run(chosen) ? 0 : 1;
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), e.what());
    return 1;
  }
}

// Writes the file of --json: the program, what write_where(json) says of the machine, of what build, then what write_rest(json) adds.
// Throws std::runtime_error where it cannot be written.
template <class Where, class Rest>
void write_document(options const& chosen, provenance const& build, std::string const& program, Where const& write_where,
                    Rest const& write_rest) {
  FILE* const file = std::fopen(chosen.json.c_str(), "w");
  if (file == nullptr) throw std::runtime_error("cannot write " + chosen.json);
  json_writer json(file);
  json.begin(nullptr, '{');
  json.text("program", program);
  write_where(json);
  json.text("commit", build.commit);
  json.text("date", build.date);
  json.boolean("quick", chosen.quick);
  json.text("filter", chosen.filter);
  write_rest(json);
  json.end('}');
  std::fputc('\n', file);
  if (std::fclose(file) != 0) throw std::runtime_error("cannot write " + chosen.json);
}

}  // namespace benchmark
