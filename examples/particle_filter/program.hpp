// The program, whatever ways it was built with: arguments, the table, and the check of what it promises.
#pragma once

#include <cstdint>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <tessera/verify/repeat.hpp>

#include "../support/text_table.hpp"
#include "observations.hpp"
#include "way.hpp"

namespace particle_filter {

inline constexpr int exit_fault = 1;     // a way that promises one history gave two, or another than its neighbours
inline constexpr int exit_unusable = 2;  // the arguments or the file

struct arguments {
  std::string values;
  std::int64_t column = 0;
  std::int64_t window = 1000;
  std::int64_t steps = 0;
  std::int64_t particles = 0;
  int runs = 3;
};

// Runs every way, prints a line for each, and says whether all promises were kept.
inline int compare_ways(std::vector<way> const& ways, std::vector<float> const& observed, std::int64_t particles) {
  using examples::number_text;
  examples::text_table table;
  table.add({"scan of the weights", "runs", "histories", "hash of the first", "part at step", "other particles", "estimate", "differs by"});
  std::vector<std::string> faults;
  std::uint64_t promised = 0;
  std::string first_name;
  for (auto const& w : ways) {
    auto const c = compare_runs(w, observed, particles);
    bool const parted = c.first_parting > 0;
    table.add({w.name, std::to_string(w.runs), std::to_string(c.hashes.size()), tessera::verify::hash_text(c.hashes[0]),
               parted ? std::to_string(c.first_parting) : "-", std::to_string(c.other_particles), number_text(c.first.estimate, 9),
               number_text(c.estimate_difference, 3)});
    if (!w.promises_one_history) continue;
    if (c.hashes.size() > 1) faults.push_back(w.name + ": promises one history, and gave " + std::to_string(c.hashes.size()));
    if (first_name.empty()) {
      promised = c.hashes[0];
      first_name = w.name;
    } else if (c.hashes[0] != promised) {
      faults.push_back(w.name + ": the history differs from that of " + first_name);
    }
  }
  table.print(std::cout);
  for (auto const& fault : faults) std::cout << "FAULT: " << fault << '\n';
  if (faults.empty()) std::cout << "With tessera's scan every run drew the same ancestors, on every backend.\n";
  return faults.empty() ? 0 : exit_fault;
}

// main(). make_ways(runs) gives the ways.
template <class MakeWays>
int run_program(int argc, char** argv, std::int64_t default_particles, MakeWays const& make_ways) {
  CLI::App app(
      "Follows the delay of flights with a particle filter, and shows which scans of its weights give the same particles each time.");
  arguments args{.values = {}, .particles = default_particles};
  app.add_option("values", args.values, ".npy file, float32: n rows, any number of columns")->required();
  app.add_option("--column", args.column, "the column that is observed")->check(CLI::NonNegativeNumber)->capture_default_str();
  app.add_option("--window", args.window, "rows whose mean is one observation")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--steps", args.steps, "observations to follow (default: all)")->check(CLI::PositiveNumber);
  app.add_option("--particles", args.particles, "how many")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30))
      ->capture_default_str();
  app.add_option("--runs", args.runs, "how often each way runs")->check(CLI::Range(1, 1000))->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (CLI::ParseError const& parse) {
    return app.exit(parse) == 0 ? 0 : exit_unusable;
  }
  try {
    auto observed = load_observations(args.values, args.column, args.window);
    auto const windows = static_cast<std::int64_t>(observed.size());
    if (args.steps > windows) {
      throw std::runtime_error("--steps " + std::to_string(args.steps) + ": there are " + std::to_string(windows) + " windows of " +
                               std::to_string(args.window) + " rows");
    }
    if (args.steps > 0) observed.resize(static_cast<std::size_t>(args.steps));
    std::cout << observed.size() << " of " << windows << " windows of " << args.window << " rows, " << args.particles << " particles\n\n";
    return compare_ways(make_ways(args.runs), observed, args.particles);
  } catch (std::exception const& e) {
    std::cerr << "particle_filter: " << e.what() << '\n';
  }
  return exit_unusable;
}

}  // namespace particle_filter
