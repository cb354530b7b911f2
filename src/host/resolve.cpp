#include <algorithm>
#include <array>
#include <cstddef>

#include <tessera/dyadic.hpp>
#include <tessera/launch/host_runtime.hpp>
#include <tessera/scatter/host_resolve.hpp>

namespace tessera::inline v0_1::detail {

std::int64_t sort_records_on_host(std::uint32_t const* keys, std::int64_t capacity, std::int64_t rows, host_record* sorted,
                                  host_record* spare) {
  constexpr int digit_bits = 11, digits = 1 << digit_bits;
  std::int64_t count = 0;
  host_record *from = spare, *to = sorted;
  // Records in order of place; each pass is stable. An even number of passes ends where it began.
  int const passes = (significant_bits(rows) + digit_bits - 1) / digit_bits;
  if (passes % 2 == 0) std::swap(from, to);
  for (std::int64_t place = 0; place < capacity; ++place) {
    if (keys[place] != no_row) from[count++] = {keys[place], static_cast<std::uint32_t>(place)};
  }
  for (int pass = 0; pass < passes; ++pass) {
    int const shift = pass * digit_bits;
    std::array<std::int64_t, digits> begin{};
    for (std::int64_t i = 0; i < count; ++i) ++begin[(from[i].row >> shift) % digits];
    std::int64_t sum = 0;
    for (auto& b : begin) sum += std::exchange(b, sum);
    for (std::int64_t i = 0; i < count; ++i) to[begin[(from[i].row >> shift) % digits]++] = from[i];
    std::swap(from, to);
  }
  return count;
}

namespace {

// Some neighbouring columns, summed side by side.
template <class T, int Width>
struct columns_of {
  T value[Width];
};

template <class T, int Width>
struct add_columns {
  columns_of<T, Width> operator()(columns_of<T, Width> const& a, columns_of<T, Width> const& b) const {
    columns_of<T, Width> sum;
    for (int i = 0; i < Width; ++i) sum.value[i] = add(a.value[i], b.value[i]);
    return sum;
  }
};

template <class T, int Width>
struct load_columns {
  std::int64_t column;
  host_record const* records;
  T const* data;
  std::int64_t columns;
  columns_of<T, Width> operator()(std::int64_t i) const {
    T const* const from = data + static_cast<std::int64_t>(records[i].place) * columns + column;
    columns_of<T, Width> loaded;
    for (int c = 0; c < Width; ++c) loaded.value[c] = from[c];
    return loaded;
  }
};

// Calls body(column, constant width) so that all columns are covered.
template <class Body>
void for_each_width(std::int64_t columns, Body const& body) {
  std::int64_t column = 0;
  for (; columns - column >= 16; column += 16) body(column, std::integral_constant<int, 16>{});
  for (; columns - column >= 4; column += 4) body(column, std::integral_constant<int, 4>{});
  for (; column < columns; ++column) body(column, std::integral_constant<int, 1>{});
}

}  // namespace

template <class T>
void apply_records_on_host(host_record const* sorted, std::int64_t count, T const* rows, std::int64_t columns,
                           row_destination const& destination, T* partials, int cores) {
  // out = fl(old + sum), canonical.
  auto const apply = [&](std::uint32_t row, std::int64_t column, auto const& sum) {
    std::byte* const first = static_cast<std::byte*>(destination.base) + static_cast<std::int64_t>(row) * destination.row_stride;
    std::int64_t c = column;
    for (T value : sum.value) {
      T* const out = reinterpret_cast<T*>(first + destination.column_offset(c++));
      *out = canonical(add(*out, value));
    }
  };
  auto const partial_row = [&](std::int64_t position, bool last) {
    return partials + (2 * (position / host_piece) + (last ? 1 : 0)) * columns;
  };
  auto const list_end = [&](std::int64_t position) {
    auto const after = [](std::uint32_t row, host_record const& record) { return row < record.row; };
    return static_cast<std::int64_t>(std::upper_bound(sorted + position, sorted + count, sorted[position].row, after) - sorted);
  };
  std::int64_t const blocks = (count + host_piece - 1) / host_piece;

  // Every piece that starts in the block, piece by piece of each list: [begin, begin + length) of the list [start, end).
  auto const for_each_piece = [&](std::int64_t block, auto const& body) {
    std::int64_t const first = block * host_piece, stop = std::min(count, first + host_piece);
    auto const before = [](host_record const& record, std::uint32_t row) { return record.row < row; };
    std::int64_t start = std::lower_bound(sorted, sorted + first, sorted[first].row, before) - sorted;
    while (start < stop) {
      std::int64_t const end = list_end(std::max(start, first));
      std::int64_t begin = start >= first ? start : start + (first - start + host_piece - 1) / host_piece * host_piece;
      for (; begin < std::min(end, stop); begin += host_piece) body(start, end, begin);
      start = end;
    }
  };

  parallel_for(blocks, cores, [&](std::int64_t block) {
    for_each_piece(block, [&](std::int64_t start, std::int64_t end, std::int64_t begin) {
      std::int64_t const length = std::min(host_piece, end - begin);
      bool const alone = end - start <= host_piece;
      for_each_width(columns, [&](std::int64_t column, auto width) {
        load_columns<T, width()> const load{column, sorted, rows, columns};
        auto const sum = dyadic_reduce(load, add_columns<T, width()>{}, begin, length);
        if (alone) {
          apply(sorted[begin].row, column, sum);
        } else {
          std::copy_n(sum.value, width(), partial_row(begin, begin + length == end) + column);
        }
      });
    });
  });
  // The pieces of a long list, by the block where the list starts.
  parallel_for(blocks, cores, [&](std::int64_t block) {
    for_each_piece(block, [&](std::int64_t start, std::int64_t end, std::int64_t begin) {
      if (begin != start || end - start <= host_piece) return;
      std::int64_t const pieces = (end - start + host_piece - 1) / host_piece;
      for_each_width(columns, [&](std::int64_t column, auto width) {
        auto const load = [&](std::int64_t piece) {
          T const* const from = partial_row(start + piece * host_piece, piece == pieces - 1) + column;
          columns_of<T, width()> loaded;
          std::copy_n(from, width(), loaded.value);
          return loaded;
        };
        apply(sorted[start].row, column, dyadic_reduce(load, add_columns<T, width()>{}, 0, pieces));
      });
    });
  });
}

template void apply_records_on_host(host_record const*, std::int64_t, float const*, std::int64_t, row_destination const&, float*, int);
template void apply_records_on_host(host_record const*, std::int64_t, double const*, std::int64_t, row_destination const&, double*, int);

}  // namespace tessera::inline v0_1::detail
