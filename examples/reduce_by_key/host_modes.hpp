// The lines of the table that the host computes.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <tessera/tessera.hpp>

#include "add_rows.hpp"
#include "arguments.hpp"
#include "data.hpp"
#include "mode.hpp"
#include "result.hpp"

namespace reduce_by_key {

template <class T>
class host_modes {
 public:
  static constexpr char const* name = "host";
  static std::string unavailable() { return ""; }

  host_modes(arguments const& args, value_table<T> const& values) : args_(args), values_(values) {}

  void append_to(std::vector<mode<T>>& modes, key_column const& key) const {
    if (args_.wants_atomics()) {
      auto const cores = std::max(1u, std::thread::hardware_concurrency());
      auto const text = std::to_string(cores) + (cores == 1 ? " core" : " cores");
      modes.push_back({.name = "atomics on the host, " + text,
                       .one_order = false,
                       .can_vary = cores > 1,
                       .why_not = "one core adds in one order, and shows no race",
                       .measure = [this, &key] {
                         return measure(1, key, "atomics on the host", [](auto width, problem_views<T> const& slice) {
                           add_by_atomics<width, 128>(tessera::host_backend<1>{}, slice, block_cap{});
                         });
                       }});
    }
    if (!args_.wants_fixed_order()) return;
    for (auto const lanes : args_.lanes) {
      if (lanes == 1) append_fixed_order<1>(modes, key);
      if (lanes == 4) append_fixed_order<4>(modes, key);
      if (lanes == 8) append_fixed_order<8>(modes, key);
    }
  }

 private:
  template <int Lanes>
  void append_fixed_order(std::vector<mode<T>>& modes, key_column const& key) const {
    auto const label = "gpu_to_gpu on the host, " + std::to_string(Lanes) + (Lanes == 1 ? " lane" : " lanes");
    modes.push_back({.name = label, .one_order = true, .measure = [this, &key, label] {
                       constexpr tessera::host_backend<Lanes> backend;
                       std::size_t bytes = 0;
                       result<T> shape{.columns = values_.columns, .sums = {}, .counts = {}};
                       auto const empty = views(key, shape);
                       for_each_slice(empty, [&](auto, problem_views<T> const& slice) {
                         bytes = std::max(
                             bytes, tessera::scatter_workspace_bytes<tessera::gpu_to_gpu>(backend, slice.sums, records_for(values_.rows)));
                       });
                       tessera::host_workspace workspace(std::max<std::size_t>(bytes, 256));
                       return measure(Lanes, key, label, [&](auto width, problem_views<T> const& slice) {
                         add_in_order<width, 128>(backend, slice, block_cap{}, workspace);
                       });
                     }});
  }

  template <class Add>
  measurement<T> measure(int lanes, key_column const& key, std::string const& label, Add const& add) const {
    return measure_runs<T>(args_.runs_on_host(lanes), key.title + ", " + label, key, values_.columns, [&](result<T>& into) {
      std::fill(into.sums.begin(), into.sums.end(), T{0});
      std::fill(into.counts.begin(), into.counts.end(), 0);
      auto const start = std::chrono::steady_clock::now();
      for_each_slice(views(key, into), add);
      return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    });
  }

  problem_views<T> views(key_column const& key, result<T>& into) const {
    return {.values = tessera::make_view(values_.elements.data(), {values_.rows, values_.columns}),
            .rows = tessera::make_view(key.rows.data(), {values_.rows}),
            .sums = tessera::make_view(into.sums.data(), {key.groups, values_.columns}),
            .counts = tessera::make_view(into.counts.data(), {key.groups})};
  }

  arguments const& args_;
  value_table<T> const& values_;
};

}  // namespace reduce_by_key
