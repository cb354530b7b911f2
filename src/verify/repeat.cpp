#include <tessera/verify/repeat.hpp>

#include <algorithm>
#include <chrono>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <vector>

#include <tessera/error.hpp>
#include <tessera/verify/hash.hpp>

namespace tessera::inline v0_1::verify {
namespace {

using clock = std::chrono::steady_clock;

double median(std::vector<double> values) {
  auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::string plural(std::size_t n, char const* noun) { return std::to_string(n) + ' ' + noun + (n == 1 ? "" : "s"); }

}  // namespace

namespace detail {

double timed(std::function<void()> const& call) {
  auto const start = clock::now();
  call();
  return std::chrono::duration<double, std::milli>(clock::now() - start).count();
}

repeat_report repeat(int runs, std::function<double(int)> const& launch, std::function<std::span<std::byte const>()> const& bytes,
                     repeat_options const& options) {
  if (runs < 0) throw usage_error("verify::repeat: the number of runs is " + std::to_string(runs) + ", and must not be negative");
  repeat_report report{.runs = runs, .patterns = pattern_set(std::max<std::size_t>(options.kept_patterns, 2))};
  std::vector<double> milliseconds;
  auto last_progress = clock::now();
  auto progress_shown = false;
  for (int run = 0; run < runs; ++run) {
    milliseconds.push_back(launch(run));
    report.patterns.add(bytes());
    if (!options.progress) continue;
    auto const due = std::chrono::duration<double>(clock::now() - last_progress).count() >= options.progress_seconds;
    if (due || (progress_shown && run + 1 == runs)) {
      options.progress(run + 1, runs, report.patterns.size());
      last_progress = clock::now();
      progress_shown = true;
    }
  }
  if (!milliseconds.empty()) {
    report.least_milliseconds = *std::min_element(milliseconds.begin(), milliseconds.end());
    report.median_milliseconds = median(std::move(milliseconds));
  }
  if (report.patterns.size() > 1 && report.patterns[0].bytes == report.patterns[1].bytes) {
    report.first_difference = first_difference(report.patterns[0].copy, report.patterns[1].copy, options.element_bytes);
  }
  return report;
}

}  // namespace detail

std::uint64_t repeat_report::hash() const { return patterns.size() == 0 ? fnv1a{}.value() : patterns[0].hash; }

std::string hash_text(std::uint64_t hash) {
  std::ostringstream out;
  out << std::hex << std::setfill('0') << std::setw(16) << hash;
  return out.str();
}

std::ostream& operator<<(std::ostream& out, repeat_report const& report) { return out << to_string(report); }

std::string to_string(repeat_report const& report) {
  std::ostringstream out;
  out << plural(static_cast<std::size_t>(report.runs), "run") << ", " << plural(report.pattern_count(), "pattern");
  if (report.runs == 0) return out.str();
  out << ", first " << hash_text(report.hash());
  if (report.first_difference) out << "; run " << report.patterns[1].first_result << ": " << to_string(*report.first_difference);
  out << std::setprecision(3) << "; " << report.least_milliseconds << " ms (median " << report.median_milliseconds << ')';
  return out.str();
}

std::function<void(int, int, std::size_t)> progress_to(std::ostream& out, std::string label, bool overwrite) {
  return [&out, label = std::move(label), overwrite](int done, int runs, std::size_t patterns) {
    out << (overwrite ? "\r" : "") << label << ": run " << done << " of " << runs << ", " << plural(patterns, "pattern");
    if (!overwrite || done == runs) out << '\n';
    out << std::flush;
  };
}

}  // namespace tessera::inline v0_1::verify
