// The command line of the benchmark.
#pragma once

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace benchmark {

inline constexpr std::string_view usage =
    "usage: tessera_benchmarks [--json FILE] [--quick] [--filter TEXT] [--commit COMMIT]\n"
    "  --json FILE      write all figures to FILE as well; scripts/record_benchmarks makes tables of it\n"
    "  --quick          a sixteenth of the data and few replays: shows that it works, says nothing about speed\n"
    "  --filter TEXT    only the cases whose name contains TEXT\n"
    "  --commit COMMIT  the commit that was built; by default git is asked, when started at the top of a checkout\n";

struct options {
  std::string json;
  std::string filter;
  std::string commit;
  bool quick = false;
  bool help = false;
};

// Throws std::invalid_argument with a sentence for the user.
inline options parse_options(int count, char const* const* arguments) {
  options parsed;
  for (int i = 1; i < count; ++i) {
    std::string_view const name = arguments[i];
    auto const value = [&]() -> std::string {
      if (++i >= count) throw std::invalid_argument(std::string(name) + " needs a value");
      return arguments[i];
    };
    if (name == "--json") {
      parsed.json = value();
    } else if (name == "--filter") {
      parsed.filter = value();
    } else if (name == "--commit") {
      parsed.commit = value();
    } else if (name == "--quick") {
      parsed.quick = true;
    } else if (name == "--help" || name == "-h") {
      parsed.help = true;
    } else {
      throw std::invalid_argument("unknown option " + std::string(name));
    }
  }
  return parsed;
}

}  // namespace benchmark
