// What is scattered: the cases of the table and their data. Everything comes from one integer generator, so that each machine gets the same
// data.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "values.hpp"

namespace benchmark {

enum class keys { uniform, zipf, one_row };

// `records` rows of `columns` floats go to rows of a destination of `destinations` rows.
struct scatter_case {
  std::int64_t records;
  int columns;
  std::int64_t destinations;
  keys distribution;
};

inline std::string to_string(keys distribution) {
  switch (distribution) {
    case keys::uniform:
      return "uniform";
    case keys::zipf:
      return "Zipf 1";
    default:
      return "one row";
  }
}

// In units of G = 2^30, M = 2^20 or K = 2^10 where it is a multiple of them.
inline std::string short_number(std::int64_t number) {
  if (number > 0 && number % (1 << 30) == 0) return std::to_string(number >> 30) + "G";
  if (number > 0 && number % (1 << 20) == 0) return std::to_string(number >> 20) + "M";
  if (number > 0 && number % (1 << 10) == 0) return std::to_string(number >> 10) + "K";
  return std::to_string(number);
}

// Such as "1M x 128 to 64K, uniform".
inline std::string name_of(scatter_case const& c) {
  return short_number(c.records) + " x " + std::to_string(c.columns) + " to " + short_number(c.destinations) + ", " +
         to_string(c.distribution);
}

// The cases of the table. `divisor` makes all of them smaller; the row lists stay as long, but for the one row.
inline std::vector<scatter_case> all_cases(std::int64_t divisor) {
  std::int64_t const n = (1 << 20) / divisor, m = (1 << 16) / divisor;
  return {{n, 128, m, keys::uniform}, {n, 128, m, keys::zipf},  {n, 32, m, keys::uniform}, {n, 128, 1, keys::one_row},
          {n, 128, n, keys::uniform}, {n, 1, m, keys::uniform}, {n, 1, 1, keys::one_row}};
}

// Random elements (values.hpp).
template <class T = float>
std::vector<T> make_values(std::int64_t count, std::uint64_t seed) {
  splitmix64 next(seed);
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values) value = random_element<T>::of(next());
  return values;
}

// The row of each record. With Zipf 1, row r gets records in proportion to 1 / (r + 1).
inline std::vector<std::int32_t> make_rows(scatter_case const& c, std::uint64_t seed) {
  splitmix64 next(seed);
  std::vector<std::int32_t> rows(static_cast<std::size_t>(c.records));
  if (c.distribution == keys::uniform) {
    for (auto& row : rows) row = static_cast<std::int32_t>((next() >> 16) % static_cast<std::uint64_t>(c.destinations));
  } else if (c.distribution == keys::zipf) {
    std::vector<std::uint64_t> cumulative(static_cast<std::size_t>(c.destinations));
    std::uint64_t sum = 0;
    for (std::size_t r = 0; r < cumulative.size(); ++r) cumulative[r] = sum += (std::uint64_t{1} << 40) / (r + 1);
    for (auto& row : rows) {
      row = static_cast<std::int32_t>(std::upper_bound(cumulative.begin(), cumulative.end(), next() % sum) - cumulative.begin());
    }
  }
  return rows;
}

// Rows of the destination that get records.
inline std::int64_t count_touched(std::vector<std::int32_t> const& rows, std::int64_t destinations) {
  std::vector<char> touched(static_cast<std::size_t>(destinations));
  for (auto const row : rows) touched[static_cast<std::size_t>(row)] = 1;
  return std::count(touched.begin(), touched.end(), 1);
}

}  // namespace benchmark
