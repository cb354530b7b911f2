// Scans of whole arrays on the host: the same values as on the device, to the bit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <cuda/std/type_traits>

#include <tessera/arithmetic.hpp>
#include <tessera/determinism.hpp>
#include <tessera/dyadic.hpp>
#include <tessera/launch/host_backend.hpp>
#include <tessera/tile/scan.hpp>
#include <tessera/view.hpp>

namespace tessera::inline v0_1 {

namespace detail {

// Elements of an aligned run that one core scans at a time; a power of two, a speed choice.
inline constexpr std::int64_t host_scan_run = 1 << 12;

// D of each aligned group of 2^level runs, level by level; the runs themselves are level 0.
template <class T, class Operation>
std::vector<std::vector<T>> join_runs(std::vector<T> runs, Operation const& operation) {
  std::vector<std::vector<T>> levels{std::move(runs)};
  while (levels.back().size() > 1) {
    std::vector<T> const& below = levels.back();
    std::vector<T> joined(below.size() / 2);
    for (std::size_t i = 0; i < joined.size(); ++i) joined[i] = operation(below[2 * i], below[2 * i + 1]);
    levels.push_back(std::move(joined));
  }
  return levels;
}

template <scan_direction Direction, bool Exclusive, class In, class Out, class Operation, int Lanes>
void scan_on_host(host_backend<Lanes> const& backend, In const& in, Out const& out, typename Out::element_type initial, bool has_initial,
                  Operation const& operation) {
  static_assert(In::rank() == 1 && Out::rank() == 1, "a scan's arrays have one dimension");
  using T = typename Out::element_type;
  std::int64_t const count = in.extent(0);
  if (out.extent(0) != count) {
    throw usage_error("scan: the input has " + std::to_string(count) + " elements, the output " + std::to_string(out.extent(0)));
  }
  if (count == 0) return;
  check_host_arithmetic();
  // Position p of the scan is element p, or the p-th from the end.
  auto const element = [count](std::int64_t p) { return Direction == forward ? p : count - 1 - p; };
  std::vector<T> runs(static_cast<std::size_t>((count + host_scan_run - 1) / host_scan_run));
  auto const load = [&](std::int64_t p) -> T { return in(element(p)); };
  parallel_for(static_cast<std::int64_t>(runs.size()), backend.cores, [&](std::int64_t run) {
    std::int64_t const first = run * host_scan_run;
    runs[static_cast<std::size_t>(run)] = dyadic_reduce(load, operation, first, std::min(host_scan_run, count - first));
  });
  std::vector<std::vector<T>> levels;
  std::int64_t const all_runs = static_cast<std::int64_t>(runs.size());
  parallel_for(1, 1, [&](std::int64_t) { levels = join_runs(std::move(runs), operation); });

  parallel_for(all_runs, backend.cores, [&](std::int64_t run) {
    std::int64_t const first = run * host_scan_run;
    std::int64_t const length = std::min(host_scan_run, count - first);
    T prefix[host_scan_run];
    for (std::int64_t i = 0; i < length; ++i) prefix[i] = load(first + i);
    // Every element in the right half of a node takes what the left half ends with.
    for (std::int64_t width = 1; width < length; width *= 2) {
      for (std::int64_t node = 0; node + width < length; node += 2 * width) {
        T const left = prefix[node + width - 1];
        std::int64_t const end = std::min(node + 2 * width, length);
        for (std::int64_t i = node + width; i < end; ++i) prefix[i] = operation(left, prefix[i]);
      }
    }
    // The nodes in front of the run, nearest first.
    T in_front{};
    bool is_first = true;
    for (std::size_t level = 0; (run >> level) != 0; ++level) {
      if (((run >> level) & 1) == 0) continue;
      T const node = levels[level][static_cast<std::size_t>((run >> level) - 1)];
      for (std::int64_t i = 0; i < length; ++i) prefix[i] = operation(node, prefix[i]);
      in_front = is_first ? node : operation(node, in_front);
      is_first = false;
    }
    for (std::int64_t i = 0; i < length; ++i) {
      T& to = out(element(first + i));
      if constexpr (Exclusive) {
        bool const exists = i > 0 || !is_first;
        T const value = i > 0 ? prefix[i - 1] : in_front;
        to = exists ? canonical(operation(initial, value)) : initial;
      } else {
        to = canonical(has_initial ? operation(initial, prefix[i]) : prefix[i]);
      }
    }
  });
}

}  // namespace detail

// out[i] = D(in[0] .. in[i]), a NaN canonical; with `backward`, D(in[n-1] .. in[i]). One dimension, any stride; `in` and `out` may be the
// same array. On all cores; returns when done. `operation` as on the device.
template <determinism Level = gpu_to_gpu, scan_direction Direction = forward, int Lanes, class Source, class View, class Operation = plus>
void inclusive_scan(host_backend<Lanes> const& backend, Source const& in, View const& out, Operation const& operation = {}) {
  using T = typename View::element_type;
  detail::scan_on_host<Direction, false>(backend, as_view(in), as_view(out), T{}, false, operation);
}

// out[0] = initial, out[i] = operation(initial, D(in[0] .. in[i-1])); backward likewise from the end.
template <determinism Level = gpu_to_gpu, scan_direction Direction = forward, int Lanes, class Source, class View, class Operation = plus>
void exclusive_scan(host_backend<Lanes> const& backend, Source const& in, View const& out, typename View::element_type initial,
                    Operation const& operation = {}) {
  detail::scan_on_host<Direction, true>(backend, as_view(in), as_view(out), initial, true, operation);
}

}  // namespace tessera::inline v0_1
