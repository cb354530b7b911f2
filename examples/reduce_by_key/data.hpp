// What the user gave: a table of values, and for each of its rows a key.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "../support/npy.hpp"

namespace reduce_by_key {

// The table: n rows, d columns.
template <class T>
struct value_table {
  std::string path;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<T> elements;
  std::vector<std::string> column_names;  // empty, or one a column

  T at(std::int64_t row, std::int64_t column) const { return elements[static_cast<std::size_t>(row * columns + column)]; }
};

// One way to group its rows.
struct key_column {
  std::string path;
  std::string title;                 // the file's name without folder and ending
  std::vector<std::int32_t> rows;    // the key of each row; negative: left out
  std::int64_t groups = 0;           // the largest key + 1
  std::vector<std::int32_t> counts;  // rows of each key, counted one after the other
  std::vector<std::string> names;    // empty, or one a key
  std::int64_t kept() const {
    std::int64_t sum = 0;
    for (auto const count : counts) sum += count;
    return sum;
  }
};

// The lines of a text file.
inline std::vector<std::string> load_lines(std::string const& path) {
  std::ifstream file(path);
  if (!file || std::filesystem::is_directory(path)) throw std::runtime_error(path + ": the text file cannot be opened");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(line);
  }
  return lines;
}

template <class T>
value_table<T> load_values(std::string const& path, std::string const& column_names) {
  auto array = npy::load<T>(path);
  if (array.shape.size() != 1 && array.shape.size() != 2) {
    throw npy::error(path, "has shape " + npy::shape_text(array.shape) +
                               "; values have one row each and any number of columns: two dimensions (or one)");
  }
  value_table<T> table{.path = path,
                       .rows = static_cast<std::int64_t>(array.shape[0]),
                       .columns = array.shape.size() == 1 ? 1 : static_cast<std::int64_t>(array.shape[1]),
                       .elements = std::move(array.elements),
                       .column_names = {}};
  if (!column_names.empty()) {
    table.column_names = load_lines(column_names);
    if (static_cast<std::int64_t>(table.column_names.size()) != table.columns) {
      throw std::runtime_error(column_names + ": has " + std::to_string(table.column_names.size()) + " names, and " + path + " has " +
                               std::to_string(table.columns) + " columns");
    }
  }
  return table;
}

namespace detail {

// Keys as 32-bit numbers; all negative ones mean the same.
template <class Key>
std::vector<std::int32_t> checked_keys(std::string const& path, std::vector<Key> const& keys) {
  constexpr Key most = std::numeric_limits<std::int32_t>::max() - 1;
  std::vector<std::int32_t> result(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] > most) {
      throw npy::error(path, "key " + std::to_string(keys[i]) + " at position " + std::to_string(i) + " is beyond " + std::to_string(most) +
                                 ": number the keys from 0, as numpy.unique(keys, return_inverse=True) does");
    }
    result[i] = keys[i] < 0 ? -1 : static_cast<std::int32_t>(keys[i]);
  }
  return result;
}

template <class Key>
std::vector<std::int32_t> load_key_array(std::string const& path, std::vector<std::uint64_t>& shape) {
  auto const array = npy::load<Key>(path);
  shape = array.shape;
  return checked_keys(path, array.elements);
}

}  // namespace detail

inline key_column load_keys(std::string const& path, std::string const& names, std::int64_t value_rows, std::string const& values_path) {
  std::vector<std::uint64_t> shape;
  key_column key;
  key.path = path;
  key.title = std::filesystem::path(path).stem().string();
  auto const wide = npy::read_header(path).descr == npy::descr<std::int64_t>;
  key.rows = wide ? detail::load_key_array<std::int64_t>(path, shape) : detail::load_key_array<std::int32_t>(path, shape);
  if (shape.size() != 1) throw npy::error(path, "has shape " + npy::shape_text(shape) + "; keys have one dimension");
  if (static_cast<std::int64_t>(key.rows.size()) != value_rows) {
    throw npy::error(
        path, "has " + std::to_string(key.rows.size()) + " keys, and " + values_path + " has " + std::to_string(value_rows) + " rows");
  }
  for (auto const row : key.rows) key.groups = std::max<std::int64_t>(key.groups, std::int64_t{row} + 1);
  key.counts.resize(static_cast<std::size_t>(key.groups));
  for (auto const row : key.rows) {
    if (row >= 0) ++key.counts[static_cast<std::size_t>(row)];
  }
  if (!names.empty()) {
    key.names = load_lines(names);
    if (static_cast<std::int64_t>(key.names.size()) < key.groups) {
      throw std::runtime_error(names + ": has " + std::to_string(key.names.size()) + " names, and key " + std::to_string(key.groups - 1) +
                               " occurs in " + path);
    }
  }
  return key;
}

}  // namespace reduce_by_key
