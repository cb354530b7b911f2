// Of what build a measurement was taken, and when.
#pragma once

#include <cstdio>
#include <ctime>
#include <memory>
#include <string>

namespace benchmark {

struct provenance {
  std::string commit, date;
};

// The first line that a command prints, or nothing.
inline std::string first_line_of(std::string const& command) {
  std::unique_ptr<FILE, int (*)(FILE*)> const pipe(popen(command.c_str(), "r"), pclose);
  std::string line;
  for (int c = 0; pipe && (c = std::fgetc(pipe.get())) != EOF && c != '\n';) line += static_cast<char>(c);
  return line;
}

// Git is asked only at the top of a checkout of this project, lest another project's commit is recorded.
inline std::string commit_of_checkout() {
  return first_line_of("test -f benchmarks/scatter_rows.cu && git describe --always --dirty --abbrev=12 --exclude='*' 2>/dev/null");
}

// Today; without a commit, that of the checkout.
inline provenance current_provenance(std::string const& commit) {
  std::time_t const now = std::time(nullptr);
  char date[16] = {};
  std::strftime(date, sizeof(date), "%Y-%m-%d", std::gmtime(&now));
  return {commit.empty() ? commit_of_checkout() : commit, date};
}

}  // namespace benchmark
