// What the tests of scatter share: the kernel of the documentation, problems for it with their oracle, and workspaces that hold rubbish.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/backend.hpp"
#include "support/oracle.hpp"

namespace testing_support {

// Tile t adds rows t * Rows, t * Rows + 1, ... of `values` to the rows that `indices` names, in one call.
template <int Rows, int Width>
struct add_rows {
  static constexpr int rows_per_tile = Rows;
  template <class Block, class Values, class Indices, class Sums>
  TESSERA_TILE void operator()(Block& block, Values values, Indices indices, Sums sums) const {
    using index = std::remove_const_t<typename Indices::element_type>;
    auto const first = block.tile_index(0) * Rows;
    auto const tile = tessera::tile_load<Rows, Width>(block, values, {first, 0});
    auto const rows = tessera::tile_load<Rows>(block, tessera::shared, indices, {first}, tessera::skip_index<index>);
    tessera::tile_atomic_add_indexed<0>(block, sums, rows, tile);
  }
};

// Two arrays are the same, to the bit.
template <class T>
testing::AssertionResult same_bits(std::vector<T> const& expected, std::vector<T> const& actual) {
  if (expected.size() != actual.size()) return testing::AssertionFailure() << actual.size() << " elements instead of " << expected.size();
  std::size_t different = 0, first = 0;
  for (std::size_t i = expected.size(); i-- > 0;) {
    if (std::memcmp(&expected[i], &actual[i], sizeof(T)) != 0) {
      ++different;
      first = i;
    }
  }
  if (different == 0) return testing::AssertionSuccess();
  auto failure = testing::AssertionFailure() << different << " of " << expected.size() << " elements differ, the first is element " << first
                                             << ": ";
  if constexpr (std::is_floating_point_v<T>) {
    failure << std::hex << "0x" << bits(actual[first]) << " (" << actual[first] << ") instead of 0x" << bits(expected[first]) << " ("
            << expected[first] << ")";
  } else {
    failure << actual[first] << " instead of " << expected[first];
  }
  return failure;
}

// Bit patterns that a computation would not leave as they are: -0, NaNs with payloads, quiet and signalling.
template <class T>
T untouchable(std::size_t i) {
  if constexpr (std::is_same_v<T, float>) {
    std::uint32_t const patterns[] = {0x80000000u, 0x7FC12345u, 0xFFA00001u, 0x00000001u};
    return float_of(patterns[i % 4]);
  } else {
    std::uint64_t const patterns[] = {0x8000000000000000u, 0x7FF8000012345678u, 0xFFF4000000000001u, 0x0000000000000001u};
    return double_of(patterns[i % 4]);
  }
}

// Rows of values, the rows of a destination that they go to, and the destination. Rows of the destination that get nothing hold untouchable
// values.
template <class T, class I = int>
struct row_problem {
  std::int64_t rows = 0, columns = 0;
  std::vector<I> indices;
  std::vector<T> values, destination;

  row_problem(std::int64_t rows_, std::int64_t columns_, std::vector<I> indices_, std::uint64_t seed = 1)
      : rows(rows_),
        columns(columns_),
        indices(std::move(indices_)),
        values(rounding_values<T>(indices.size() * static_cast<std::size_t>(columns), seed)),
        destination(rounding_values<T>(static_cast<std::size_t>(rows * columns), seed + 1)) {
    std::vector<bool> reached(static_cast<std::size_t>(rows));
    for (I index : indices) {
      if (std::cmp_greater_equal(index, 0) && std::cmp_less(index, rows)) reached[static_cast<std::size_t>(index)] = true;
    }
    for (std::size_t i = 0; i < destination.size(); ++i) {
      if (!reached[i / static_cast<std::size_t>(columns)]) destination[i] = untouchable<T>(i);
    }
  }
  std::int64_t size() const { return static_cast<std::int64_t>(indices.size()); }
  std::vector<T> expected() const { return scatter_add(destination, columns, values, indices); }
};

// Memory that holds rubbish but for the 256 bytes that are to be zeroed, between sentinels.
template <class Place>
auto rubbish_workspace(Place const& place, std::size_t bytes) {
  std::vector<unsigned char> image(bytes, 0x3C);
  std::fill_n(image.begin(), std::min<std::size_t>(bytes, 256), static_cast<unsigned char>(0));
  return place.array(image);
}
template <class Array>
tessera::workspace_view workspace_of(Array const& array) {
  return {array.data(), array.size()};
}
template <class T, class Array>
tessera::view<T const, 2> rows_of(Array const& array, std::int64_t rows, std::int64_t columns) {
  return tessera::make_view(static_cast<T const*>(array.data()), {rows, columns});
}
template <class T, class Array>
tessera::view<T const, 1> list_of(Array const& array) {
  return tessera::make_view(static_cast<T const*>(array.data()), {array.size()});
}

struct run_options {
  std::int64_t cap = 0;        // of the grid
  std::size_t shift = 0;       // elements by which all arrays are misaligned
  std::int64_t slack = 0;      // records declared beyond what a tile emits
  std::int64_t more_rows = 0;  // of the destination, behind those of the problem
};

// What the deterministic target makes of the problem.
template <class Kernel, class Place, class T, class I>
std::vector<T> scattered(Place const& place, row_problem<T, I> const& problem, run_options const& options = {}) {
  auto with_more_rows = problem.destination;
  for (std::int64_t i = 0; i < options.more_rows * problem.columns; ++i)
    with_more_rows.push_back(untouchable<T>(static_cast<std::size_t>(i)));
  auto const values = place.array(problem.values, options.shift);
  auto const indices = place.array(problem.indices, options.shift);
  auto const destination = place.array(with_more_rows, options.shift);
  auto const sums = tessera::make_view(destination.data(), {problem.rows + options.more_rows, problem.columns});
  auto const tiles = tessera::ceil_div(problem.size(), Kernel::rows_per_tile);
  tessera::records const declared{.tiles = tiles, .per_tile = Kernel::rows_per_tile + options.slack};
  auto const workspace = rubbish_workspace(place, tessera::scatter_workspace_bytes<tessera::gpu_to_gpu>(place.backend, sums, declared));
  auto target = tessera::scatter_target<tessera::gpu_to_gpu>(place.backend, sums, declared, workspace_of(workspace));
  place.launch(tessera::tile_grid(tiles).capped(options.cap), Kernel{}, rows_of<T>(values, problem.size(), problem.columns),
               list_of<I>(indices), target);
  target.resolve(place.backend);
  target.check(place.backend);
  auto result = destination.values();
  (void)workspace.values();  // its margins
  auto const end = result.begin() + static_cast<std::ptrdiff_t>(problem.destination.size());
  EXPECT_TRUE(
      same_bits(std::vector<T>(with_more_rows.begin() + (end - result.begin()), with_more_rows.end()), std::vector<T>(end, result.end())))
      << "in the rows behind";
  result.erase(end, result.end());
  return result;
}

// Ways in which rows can be chosen.
enum class choice {
  uniform,
  hot,
  sorted,
  reversed,
  negative,
  past_the_end,
  mostly_skipped,
  all_skipped,
  one_row,
  own_rows,
  first_and_last
};
inline constexpr choice all_choices[] = {choice::uniform,  choice::hot,          choice::sorted,         choice::reversed,
                                         choice::negative, choice::past_the_end, choice::mostly_skipped, choice::all_skipped,
                                         choice::one_row,  choice::own_rows,     choice::first_and_last};

template <class I = int>
std::vector<I> chosen_rows(choice way, std::int64_t count, std::int64_t rows, std::uint64_t seed) {
  integers random(seed);
  std::vector<I> result(static_cast<std::size_t>(count));
  std::int64_t i = 0;
  for (I& index : result) {
    std::int64_t const any = random.below(rows);
    switch (way) {
      case choice::uniform:
      case choice::sorted:
      case choice::reversed:
        index = static_cast<I>(any);
        break;
      case choice::hot:
        index = static_cast<I>(random.below(4) != 0 ? rows / 2 : any);
        break;
      case choice::negative:
        index = static_cast<I>(random.below(3) == 0 ? -1 - any : any);
        break;
      case choice::past_the_end:
        index = static_cast<I>(random.below(3) == 0 ? rows + any : any);
        break;
      case choice::mostly_skipped:
        index = static_cast<I>(random.below(16) == 0 ? any : -1);
        break;
      case choice::all_skipped:
        index = static_cast<I>(random.below(2) == 0 ? -1 - any : rows + any);
        break;
      case choice::one_row:
        index = static_cast<I>(rows - 1);
        break;
      case choice::own_rows:
        index = static_cast<I>(i * 7 % rows);
        break;
      case choice::first_and_last:
        index = static_cast<I>(random.below(2) == 0 ? 0 : rows - 1);
        break;
    }
    ++i;
  }
  if (way == choice::sorted) std::sort(result.begin(), result.end());
  if (way == choice::reversed) std::sort(result.rbegin(), result.rend());
  return result;
}

// Lists of the given lengths, row after row; their records are shuffled.
inline std::vector<int> rows_of_lengths(std::vector<std::int64_t> const& lengths, std::uint64_t seed) {
  std::vector<int> rows;
  for (std::size_t row = 0; row < lengths.size(); ++row)
    rows.insert(rows.end(), static_cast<std::size_t>(lengths[row]), static_cast<int>(row));
  integers random(seed);
  for (std::size_t i = rows.size(); i > 1; --i)
    std::swap(rows[i - 1], rows[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
  return rows;
}

}  // namespace testing_support
