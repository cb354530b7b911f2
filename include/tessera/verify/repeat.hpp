// The same launch, many times: how many different results did it give, where did they first differ, and how long did it take?
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <tessera/verify/bytes_of.hpp>
#include <tessera/verify/difference.hpp>
#include <tessera/verify/pattern_set.hpp>

namespace tessera::inline v0_1::verify {

struct repeat_options {
  std::size_t element_bytes = 4;  // of one element of the result, for the place of the first difference: 1, 2, 4 or 8
  std::size_t kept_patterns = 4;  // how many patterns are kept whole
  // Called after a run where `progress_seconds` have passed since the last call, and after the last run if it was called before:
  // runs done, runs in all, patterns so far.
  std::function<void(int, int, std::size_t)> progress = {};
  double progress_seconds = 1;
};

struct repeat_report {
  int runs = 0;
  pattern_set patterns;
  std::optional<difference> first_difference =
      {};                         // between the first pattern and the second; nothing where there is no second of its size
  double least_milliseconds = 0;  // of one launch
  double median_milliseconds = 0;

  [[nodiscard]] std::size_t pattern_count() const { return patterns.size(); }
  // FNV-1a of the first result; that of no bytes where nothing ran.
  [[nodiscard]] std::uint64_t hash() const;
};

namespace detail {

repeat_report repeat(int runs, std::function<double(int)> const& launch, std::function<std::span<std::byte const>()> const& bytes,
                     repeat_options const& options);

double timed(std::function<void()> const& call);  // milliseconds of wall-clock time

}  // namespace detail

// Calls `launch` and then `bytes`, `runs` times, on the calling thread, and compares the results as bits.
//
// launch(run), run = 0, 1, ..., starts one computation from the same initial state; it may also take no argument. It returns the
// milliseconds that it measured itself, or nothing, and is then timed from call to return. bytes() returns the result as a span
// of bytes on the host, and waits for it where the computation is asynchronous (bytes_of makes one); its time does not count.
// An exception from either passes through.
template <class Launch, class Bytes>
[[nodiscard]] repeat_report repeat(int runs, Launch&& launch, Bytes&& bytes, repeat_options const& options = {}) {
  auto const call = [&](int run) {
    if constexpr (std::is_invocable_v<Launch&, int>) {
      return launch(run);
    } else {
      return launch();
    }
  };
  auto const measured = [&](int run) -> double {
    if constexpr (std::is_void_v<decltype(call(run))>) {
      return detail::timed([&] { call(run); });
    } else {
      return static_cast<double>(call(run));
    }
  };
  return detail::repeat(
      runs, measured, [&] { return std::span<std::byte const>(bytes()); }, options);
}

// One line for people: `1000 runs, 2 patterns, first 52ae69b7298bd5ef; run 3: element ...; 0.12 ms (median 0.13)`.
[[nodiscard]] std::string to_string(repeat_report const& report);
std::ostream& operator<<(std::ostream& out, repeat_report const& report);

// A hash as 16 hexadecimal digits.
[[nodiscard]] std::string hash_text(std::uint64_t hash);

// A progress function that writes `label: run 120 of 1000, 1 pattern` to `out`, each call over the last one's line where `overwrite`.
[[nodiscard]] std::function<void(int, int, std::size_t)> progress_to(std::ostream& out, std::string label, bool overwrite);

}  // namespace tessera::inline v0_1::verify
