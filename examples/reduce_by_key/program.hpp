// The program, whatever backends it was built with.
#pragma once

#include <cstdint>
#include <exception>
#include <iostream>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "../support/npy.hpp"
#include "arguments.hpp"
#include "data.hpp"
#include "mode.hpp"
#include "report.hpp"
#include "result.hpp"

namespace reduce_by_key {

inline constexpr int exit_fault = 1;     // a line of the table broke its promise, or a sum is NaN
inline constexpr int exit_unusable = 2;  // the arguments or the files

// Computes, prints and checks one key; returns the faults found.
template <class T>
std::vector<std::string> reduce_by(arguments const& args, value_table<T> const& values, key_column const& key,
                                   std::vector<mode<T>> const& modes) {
  std::cout << '\n'
            << key.title << ": " << values.rows << " rows, " << values.rows - key.kept() << " of them left out, " << key.groups << " keys, "
            << values.columns << " columns of " << (sizeof(T) == 4 ? "float32" : "float64") << '\n';
  std::vector<measurement<T>> measured;
  for (auto const& m : modes) measured.push_back(m.measure());

  std::vector<std::span<T const>> first_sums;
  for (auto const& m : measured) {
    auto const& bytes = m.report.patterns[0].copy;
    first_sums.emplace_back(reinterpret_cast<T const*>(bytes.data()), bytes.size() / sizeof(T));
  }
  auto const errors = errors_of(values, key, first_sums);

  // The result that is shown and saved is one that promises its bits, where there is one.
  std::size_t shown = 0;
  while (shown + 1 < modes.size() && !modes[shown].one_order) ++shown;
  auto const& result = measured[shown].last;
  print_head(std::cout, values, key, result, args.head);
  std::cout << '\n';
  print_modes(std::cout, modes, measured, errors);
  if (!args.save.empty()) save(result, args.save, key.title);

  auto faults = faults_of(modes, measured, key, args.require_canary);
  if (auto const nan = nan_in(key, result)) faults.push_back(*nan);
  return faults;
}

template <class T, template <class> class... Backends>
int run_with(arguments const& args) {
  auto const values = load_values<T>(args.values, args.column_names);
  std::vector<key_column> keys;
  for (std::size_t k = 0; k < args.rows.size(); ++k) {
    keys.push_back(load_keys(args.rows[k], args.names.empty() ? "" : args.names[k], values.rows, values.path));
  }

  std::vector<std::vector<mode<T>>> modes(keys.size());
  // The backends live as long as their modes.
  std::tuple<std::optional<Backends<T>>...> backends;
  auto const open = [&](auto& backend) {
    using type = typename std::remove_reference_t<decltype(backend)>::value_type;
    if (!args.wants(type::name)) return;
    if (auto const reason = type::unavailable(); !reason.empty()) {
      if (args.backend == type::name) throw std::runtime_error("--backend " + args.backend + ": " + reason);
      std::cout << "backend " << type::name << " is left out: " << reason << '\n';
      return;
    }
    backend.emplace(args, values);
    for (std::size_t k = 0; k < keys.size(); ++k) backend->append_to(modes[k], keys[k]);
  };
  std::apply([&](auto&... backend) { (open(backend), ...); }, backends);

  std::vector<std::string> faults;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    if (modes[k].empty()) throw std::runtime_error("nothing to compute: --level, --backend and --lanes leave no line");
    auto const found = reduce_by(args, values, keys[k], modes[k]);
    faults.insert(faults.end(), found.begin(), found.end());
  }
  std::cout << '\n';
  for (auto const& fault : faults) std::cout << "FAULT: " << fault << '\n';
  if (faults.empty() && args.wants_fixed_order()) std::cout << "Each gpu_to_gpu line shows one pattern, and all of a key the same.\n";
  return faults.empty() ? 0 : exit_fault;
}

// main(), for the backends that the program has.
template <template <class> class... Backends>
int run_program(int argc, char** argv) {
  CLI::App app;
  arguments args;
  try {
    parse_arguments(app, args, argc, argv);
  } catch (CLI::ParseError const& parse) {
    return app.exit(parse) == 0 ? 0 : exit_unusable;
  }
  try {
    if (!args.folder.empty()) take_folder(args);
    if (args.values.empty() || args.rows.empty())
      throw std::runtime_error("--values and --rows, or a folder with both, are needed: see --help");
    if (!args.names.empty() && args.names.size() != args.rows.size()) {
      throw std::runtime_error("--names is given " + std::to_string(args.names.size()) + " times and --rows " +
                               std::to_string(args.rows.size()) + " times; each key needs its names, or none has");
    }
    if (!(args.wants(Backends<float>::name) || ...))
      throw std::runtime_error("--backend " + args.backend + ": this program was built without it");
    auto const doubles = npy::read_header(args.values).descr == npy::descr<double>;
    return doubles ? run_with<double, Backends...>(args) : run_with<float, Backends...>(args);
  } catch (std::bad_alloc const&) {
    std::cerr << "reduce_by_key: there is not enough memory for these values and as many sums as the largest key asks for\n";
  } catch (std::exception const& e) {
    std::cerr << "reduce_by_key: " << e.what() << '\n';
  }
  return exit_unusable;
}

}  // namespace reduce_by_key
