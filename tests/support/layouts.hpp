// Ways in which an array can lie in memory, and the dumbest code that finds its elements there: what a tile must meet whatever the layout.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <tessera/view.hpp>

namespace testing_support {

template <int Rank>
using coordinates = std::array<std::int64_t, static_cast<std::size_t>(Rank)>;

template <int Rank>
struct array_layout {
  std::string name;
  coordinates<Rank> extents{};
  coordinates<Rank> strides{};  // in elements
  std::int64_t first = 0;       // the element (0, 0, ...)
  std::size_t size = 0;         // elements of memory
  std::size_t shift = 0;        // elements by which the memory is off an aligned address

  bool has(coordinates<Rank> const& i) const {
    for (std::size_t d = 0; d < i.size(); ++d) {
      if (i[d] < 0 || i[d] >= extents[d]) return false;
    }
    return true;
  }
  std::size_t place(coordinates<Rank> const& i) const {
    std::int64_t at = first;
    for (std::size_t d = 0; d < i.size(); ++d) at += i[d] * strides[d];
    return static_cast<std::size_t>(at);
  }
  template <class T>
  tessera::view<T, Rank> of(T* memory) const {
    tessera::index64 sizes[static_cast<std::size_t>(Rank)], bytes[static_cast<std::size_t>(Rank)];
    for (std::size_t d = 0; d < extents.size(); ++d) {
      sizes[d] = extents[d];
      bytes[d] = strides[d] * static_cast<std::int64_t>(sizeof(T));
    }
    return tessera::make_view(memory + first, sizes, bytes);
  }
};

// Row-major strides for these extents with `pitch` elements from row to row, and `step` between neighbours.
template <int Rank>
array_layout<Rank> row_major(std::string name, coordinates<Rank> const& extents, std::int64_t padding = 0, std::int64_t step = 1) {
  array_layout<Rank> layout{std::move(name), extents, {}, 0, 0, 0};
  std::int64_t stride = step;
  for (std::size_t d = extents.size(); d-- > 0;) {
    layout.strides[d] = stride;
    stride *= extents[d];
    if (d + 1 == extents.size()) stride += padding;
  }
  layout.size = static_cast<std::size_t>(stride);
  return layout;
}

// Dense; off alignment; rows padded to keep and to break alignment; every third element (as a field of a struct is); transposed; the middle
// of something larger; backwards along the first dimension.
template <int Rank>
std::vector<array_layout<Rank>> layouts(coordinates<Rank> const& extents) {
  constexpr auto last = static_cast<std::size_t>(Rank - 1);
  std::vector<array_layout<Rank>> all;
  all.push_back(row_major<Rank>("dense", extents));
  all.push_back(row_major<Rank>("shifted", extents));
  all.back().shift = 1;
  all.push_back(row_major<Rank>("padded to 64 bytes", extents, 16 - extents[last] % 16));
  all.push_back(row_major<Rank>("padded by one", extents, extents[last] % 2 == 0 ? 1 : 2));
  all.push_back(row_major<Rank>("every third element", extents, 0, 3));
  coordinates<Rank> reversed = extents;
  for (std::size_t d = 0; d <= last; ++d) reversed[d] = extents[last - d];
  all.push_back(row_major<Rank>("transposed", reversed));
  all.back().extents = extents;
  std::reverse(all.back().strides.begin(), all.back().strides.end());
  all.push_back(row_major<Rank>("inside a larger one", extents, 16 - extents[last] % 16));
  all.back().first = 16 + all.back().strides[0];
  all.back().size += static_cast<std::size_t>(32 + 2 * all.back().strides[0]);
  all.push_back(row_major<Rank>("backwards", extents));
  all.back().first = extents[0] > 0 ? (extents[0] - 1) * all.back().strides[0] : 0;
  all.back().strides[0] *= -1;
  return all;
}

// Calls body(coordinates) for each element of an array of these extents, row-major.
template <int Rank, class Body>
void for_each_coordinate(coordinates<Rank> const& extents, Body const& body) {
  for (std::int64_t extent : extents) {
    if (extent == 0) return;
  }
  coordinates<Rank> i{};
  for (;;) {
    body(i);
    std::size_t d = i.size();
    while (d > 0 && ++i[d - 1] == extents[d - 1]) i[--d] = 0;
    if (d == 0) return;
  }
}

template <int... Extents>
coordinates<static_cast<int>(sizeof...(Extents))> extents_of(tessera::tile_shape<Extents...>) {
  return {Extents...};
}

// Where tiles of extents `tile` may lie on an array of extents `array` so that each kind of edge is met: along each dimension in turn the
// offsets -T, -T + 1, -1, 0, 1, n - T, n - 1, n, aligned ones on both sides, and far away, the others at 0; then all at once.
template <int Rank>
std::vector<coordinates<Rank>> edge_offsets(coordinates<Rank> const& tile, coordinates<Rank> const& array) {
  std::vector<coordinates<Rank>> all;
  auto const candidates = [&](std::size_t d) {
    std::int64_t const t = tile[d], n = array[d];
    return std::vector<std::int64_t>{0,
                                     -t,
                                     -t + 1,
                                     -1,
                                     1,
                                     n - t,
                                     n - 1,
                                     n,
                                     -4,
                                     4,
                                     (n - 1) / 4 * 4,
                                     (n + 3) / 4 * 4,
                                     -t + 4,
                                     -t - 4,
                                     INT64_MIN,
                                     INT64_MAX,
                                     INT64_MIN + 1,
                                     std::int64_t{1} << 31,
                                     -(std::int64_t{1} << 32)};
  };
  for (std::size_t d = 0; d < tile.size(); ++d) {
    for (std::int64_t at : candidates(d)) {
      coordinates<Rank> offset{};
      offset[d] = at;
      all.push_back(offset);
    }
  }
  for (std::size_t k = 0; k < candidates(0).size(); ++k) {
    coordinates<Rank> offset{};
    for (std::size_t d = 0; d < tile.size(); ++d) offset[d] = candidates(d)[k];
    all.push_back(offset);
  }
  return all;
}

// a + b without wrapping: far away stays far away.
inline std::int64_t saturating_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? INT64_MIN : INT64_MAX;
}
template <int Rank>
coordinates<Rank> saturating_sum(coordinates<Rank> const& a, coordinates<Rank> const& b) {
  coordinates<Rank> sum;
  for (std::size_t d = 0; d < a.size(); ++d) sum[d] = saturating_sum(a[d], b[d]);
  return sum;
}

// The offsets of tiles as one array, for kernels: Rank numbers a tile.
template <int Rank>
std::vector<std::int64_t> flattened(std::vector<coordinates<Rank>> const& all) {
  std::vector<std::int64_t> numbers;
  for (auto const& one : all) numbers.insert(numbers.end(), one.begin(), one.end());
  return numbers;
}

// What the kernels of the tests use.
template <int Rank>
TESSERA_TILE tessera::offsets<Rank> offsets_at(std::int64_t const* numbers, std::int64_t tile) {
  tessera::offsets<Rank> at;
  for (int d = 0; d < Rank; ++d) at.at[d] = numbers[tile * Rank + d];
  return at;
}

// Puts each element of a tile where a dense row-major array has it, without any primitive that is under test.
template <class Block, class Tile, class T>
TESSERA_TILE void dump(Block& block, Tile const& tile, T* to) {
  tessera::for_each_element(block, tile, [&](int linear, T const& value) { to[linear] = value; });
}

// Bits for floats, numbers for integers: what tests compare.
template <class T>
auto comparable(std::vector<T> const& values) {
  if constexpr (std::is_floating_point_v<T>) {
    return bits(values);
  } else {
    return values;
  }
}

}  // namespace testing_support
