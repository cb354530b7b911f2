// Tables of text on a terminal.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace examples {

// Columns of text, the first one flush left, the others flush right.
class text_table {
 public:
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  void print(std::ostream& out) const {
    std::vector<std::size_t> widths;
    for (auto const& row : rows_) {
      widths.resize(std::max(widths.size(), row.size()));
      for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
    }
    for (auto const& row : rows_) {
      out << "  ";
      for (std::size_t c = 0; c < row.size(); ++c) {
        out << (c == 0 ? std::left : std::right) << (c == 0 ? "" : "  ") << std::setw(static_cast<int>(widths[c])) << row[c];
      }
      out << '\n';
    }
    out << std::left;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

inline std::string number_text(double x, int digits) {
  std::ostringstream out;
  out << std::setprecision(digits) << x;
  return out.str();
}

}  // namespace examples
