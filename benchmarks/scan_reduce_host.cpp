// Scans and reductions of whole arrays by the host backend on all cores, beside the standard library's on one core and a copy of the same
// bytes by as many threads, in one run, in turns, on the same data. Each result is checked before and after it is timed; a wrong one is
// reported and gets no time.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tessera/device/host_reduce.hpp>
#include <tessera/device/host_scan.hpp>
#include <tessera/tessera.hpp>

#include "scan_reduce/case_result.hpp"
#include "scan_reduce/expected.hpp"
#include "support/cases.hpp"
#include "support/options.hpp"
#include "support/program.hpp"

namespace benchmark {
namespace {

constexpr program_description program{"tessera_host_scan_benchmarks", "a small array and few rounds"};

struct host_environment {
  std::string device;
  int threads;
  double load;  // of the machine before it began: threads that ran or wanted to, a minute's average
  provenance build;
};
host_environment current_host(std::string const& commit) {
  std::string processor = first_line_of("sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null");
  if (processor.empty()) processor = first_line_of("uname -m");
  double load = 0;
  if (getloadavg(&load, 1) != 1) load = 0;
  return {processor, static_cast<int>(std::max(1u, std::thread::hardware_concurrency())), load, current_provenance(commit)};
}

// A piece of the copy a tile.
template <class T>
struct copy_piece {
  template <class Block>
  TESSERA_TILE void operator()(Block& block, T const* from, T* to, std::int64_t count) const {
    std::int64_t const pieces = block.tile_count(0), piece = block.tile_index(0);
    std::int64_t const begin = count * piece / pieces, end = count * (piece + 1) / pieces;
    std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin) * sizeof(T));
  }
};

template <class T>
constexpr char const* type_name = nullptr;
template <>
constexpr char const* type_name<float> = "f32";
template <>
constexpr char const* type_name<double> = "f64";
template <>
constexpr char const* type_name<std::int32_t> = "int32";
template <>
constexpr char const* type_name<std::int64_t> = "int64";

template <class T>
class host_case {
 public:
  static std::string name(std::int64_t count) { return type_name<T> + (" " + short_number(count)); }

  host_case(std::int64_t count, int threads)
      : count_(count), threads_(threads), in_(make_values<T>(count, 5)), out_(in_.size()), magnitudes_(magnitudes_of<T>(in_)) {
    tessera::reduce(one_core_, source(count), &sum_);
  }

  case_result run(int warm_up_rounds, int rounds) {
    add_rivals();
    case_result result{"host", name(count_), {{"type", type_name<T>}}, {{"count", count_}, {"element_bytes", sizeof(T)}}};
    std::vector<std::vector<double>> times(rivals_.size());
    for (rival const& r : rivals_) result.figures.push_back({r.name, {}, fault_of(r), {}});
    for (int round = 0; round < warm_up_rounds + rounds; ++round) {
      for (std::size_t i = 0; i < rivals_.size(); ++i) {
        auto const begin = std::chrono::steady_clock::now();
        rivals_[i].work();
        std::chrono::duration<double, std::milli> const time = std::chrono::steady_clock::now() - begin;
        if (round >= warm_up_rounds) times[i].push_back(time.count());
      }
    }
    for (std::size_t i = 0; i < rivals_.size(); ++i) {
      figure& f = result.figures[i];
      if (f.fault.empty()) f.fault = fault_of(rivals_[i]);
      if (f.fault.empty()) f.time = timing_of(times[i]);
    }
    return result;
  }

 private:
  struct rival {
    std::string name;
    std::function<void()> work;
    std::function<std::string()> fault;
  };

  tessera::view<T const, 1> source(std::int64_t count) const { return tessera::make_view(in_.data(), {count}); }

  void add_rivals() {
    auto const out = tessera::make_view(out_.data(), {count_});
    rivals_.push_back({"copy",
                       [this] {
                         tessera::launch_tiled(all_cores_, tessera::tile_grid(threads_), copy_piece<T>{}, static_cast<T const*>(in_.data()),
                                               out_.data(), count_);
                       },
                       [this] { return compare_bits<T>(in_, out_); }});
    rivals_.push_back({"std_inclusive_scan", [this] { std::inclusive_scan(in_.begin(), in_.end(), out_.begin()); },
                       [this] { return is_near(out_.back()); }});
    rivals_.push_back({"tessera_inclusive", [=, this] { tessera::inclusive_scan(all_cores_, source(count_), out); },
                       [this] { return prefixes_differ(); }});
    rivals_.push_back({"std_reduce", [this] { out_[0] = std::reduce(in_.begin(), in_.end()); }, [this] { return is_near(out_[0]); }});
    rivals_.push_back({"tessera_reduce", [this] { tessera::reduce(all_cores_, source(count_), out_.data()); },
                       [this] { return is_same(sum_, out_[0]); }});
  }

  // Does the work once; what is wrong with its result.
  std::string fault_of(rival const& r) {
    std::memset(out_.data(), 0x5A, out_.size() * sizeof(T));
    r.work();
    return r.fault();
  }

  static std::string is_same(T expected, T got) { return compare_bits<T>(std::span<T const>(&expected, 1), std::span<T const>(&got, 1)); }
  std::string is_near(T sum) const {
    return compare_sums<T>(std::span<T const>(&sum_, 1), std::span<T const>(&sum, 1), std::span<double const>(&magnitudes_.back(), 1),
                           count_);
  }
  // A prefix is the reduction of its elements; some are looked at, and the last.
  std::string prefixes_differ() const {
    for (int k = 1; k <= 8; ++k) {
      std::int64_t const elements = count_ * k / 8 - (8 - k);
      T sum = 0;
      tessera::reduce(one_core_, source(elements), &sum);
      if (std::string const fault = is_same(sum, out_[static_cast<std::size_t>(elements - 1)]); !fault.empty())
        return "prefix of " + std::to_string(elements) + ": " + fault;
    }
    return {};
  }

  static constexpr tessera::host_backend<> all_cores_{}, one_core_{1};
  std::int64_t count_;
  int threads_;
  std::vector<T> in_, out_;
  std::vector<double> magnitudes_;
  T sum_ = 0;  // by one core
  std::vector<rival> rivals_;
};

// Whether all results were right.
bool run(options const& chosen) {
  host_environment const here = current_host(chosen.commit);
  int const warm_up_rounds = chosen.quick ? 1 : 3, rounds = chosen.quick ? 3 : 21;
  std::printf("%s, %d threads, %s, load %.2f, commit %s, %s\n", here.device.c_str(), here.threads, TESSERA_COMPILER, here.load,
              here.build.commit.c_str(), here.build.date.c_str());
  std::printf("K is 2^10, M is 2^20; median (least .. most)\n\n");
  std::vector<case_result> results;
  auto const run_type = [&]<class T>(T) {
    for (std::int64_t const count : chosen.quick ? std::vector<std::int64_t>{1 << 20} : std::vector<std::int64_t>{1 << 24, 1 << 26}) {
      if (host_case<T>::name(count).find(chosen.filter) == std::string::npos) continue;
      results.push_back(host_case<T>(count, here.threads).run(warm_up_rounds, rounds));
      print(results.back());
    }
  };
  run_type(float{});
  run_type(double{});
  run_type(std::int32_t{});
  run_type(std::int64_t{});
  if (results.empty()) throw std::invalid_argument("no case has '" + chosen.filter + "' in its name");
  if (!chosen.json.empty()) {
    auto const write_where = [&](json_writer& json) {
      json.text("device", here.device);
      json.integer("threads", here.threads);
      json.text("compiler", TESSERA_COMPILER);
      json.number("load", here.load);
    };
    write_document(chosen, here.build, "scan_reduce_host", write_where, [&](json_writer& json) {
      json.integer("warm_up_rounds", warm_up_rounds);
      json.integer("rounds", rounds);
      json.begin("cases", '[');
      for (case_result const& result : results) write_case(json, result);
      json.end(']');
    });
  }
  return std::none_of(results.begin(), results.end(), [](case_result const& result) { return result.wrong(); });
}

}  // namespace
}  // namespace benchmark

int main(int count, char** arguments) { return benchmark::run_program(count, arguments, benchmark::program, benchmark::run); }
