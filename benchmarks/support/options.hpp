// The command line of the benchmarks.
#pragma once

#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>

namespace benchmark {

struct program_description {
  std::string_view name;
  std::string_view quick;        // what --quick does
  bool counts_patterns = false;  // whether there is --patterns
};

struct options {
  std::string json;
  std::string filter;
  std::string commit;
  int patterns = 0;
  bool quick = false;
  bool help = false;
};

inline std::string usage_of(program_description const& program) {
  std::string usage = "usage: " + std::string(program.name) + " [--json FILE] [--quick] [--filter TEXT] [--commit COMMIT]";
  if (program.counts_patterns) usage += " [--patterns RUNS]";
  usage +=
      "\n"
      "  --json FILE      write all figures to FILE as well; scripts/record_benchmarks makes tables of it\n"
      "  --quick          " +
      std::string(program.quick) +
      ": shows that it works, says nothing about speed\n"
      "  --filter TEXT    only the cases whose name contains TEXT\n"
      "  --commit COMMIT  the commit that was built; by default git is asked, when started at the top of a checkout\n";
  if (program.counts_patterns) {
    usage += "  --patterns RUNS  time nothing; scan the same data so often beside other work, and count the different results\n";
  }
  return usage;
}

// Throws std::invalid_argument with a sentence for the user.
inline options parse_options(int count, char const* const* arguments, program_description const& program) {
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
    } else if (name == "--patterns" && program.counts_patterns) {
      std::string const text = value();
      auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed.patterns);
      if (error != std::errc() || end != text.data() + text.size() || parsed.patterns < 1) {
        throw std::invalid_argument("--patterns needs a number of runs, not '" + text + "'");
      }
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
