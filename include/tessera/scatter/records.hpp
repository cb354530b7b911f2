// Records: what a tile kernel leaves for a deterministic scatter, how many there may be, and where they lie in the workspace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <cuda/std/cstddef>
#include <cuda/std/cstdint>

#include <tessera/config.hpp>
#include <tessera/error.hpp>
#include <tessera/view.hpp>

namespace tessera::inline v0_1 {

// How many records a target takes between open and resolve: `launches` launches of `tiles` logical tiles, each of which emits at most
// `per_tile` records (the extents of its calls along the axis, added up; skipped ones count). Exact for static shapes, a bound for loops.
struct records {
  index64 launches = 1;
  index64 tiles = 0;
  index64 per_tile = 0;
};

// What can go wrong on the device; bits of scatter_status::flags.
enum scatter_fault : std::uint32_t {
  scatter_overflow = 1,     // a tile emitted more records than declared
  scatter_window = 2,       // a call did not cover the whole of the destination's other dimensions
  scatter_stray_tile = 4    // a tile or launch that was not declared
};

// The sticky status of a target, on its device: it stays until it is cleared, and as long as it is set no resolve applies anything.
// Readable from device code and after a graph's replay.
struct scatter_status {
  std::uint32_t flags;         // 0: all is well
  std::uint32_t largest_need;  // the most records that a tile of an overflowing launch emitted or tried to
};

namespace detail {

// The first bytes of a scatter workspace. They are zeroed once, before the first use.
struct scatter_header {
  scatter_status status;
  std::uint32_t unused[30];
  // From here on written by open, all ones. `state` is all ones while records are taken and nothing went wrong since open; a fault clears
  // bits, a resolve clears all. So what was never opened, was resolved before or is incomplete is never applied.
  std::uint32_t state;
  std::uint32_t count;  // records that the reduction reads, written by the gate
  std::uint32_t unused_too[30];
};
static_assert(sizeof(scatter_header) == 256 && offsetof(scatter_header, state) == 128);

inline constexpr std::uint32_t all_ones = 0xFFFFFFFFu;

// The key of a record that goes nowhere; larger than every row.
inline constexpr std::uint32_t no_row = all_ones;

inline constexpr std::size_t workspace_alignment = 256;

inline std::int64_t align_up(std::int64_t bytes) {
  constexpr auto a = static_cast<std::int64_t>(workspace_alignment);
  return (bytes + a - 1) / a * a;
}

// Bits of the largest key: those that rows 0 .. rows - 1 need, and one pattern above them for no_row.
inline int significant_bits(std::int64_t rows) {
  int bits = 0;
  while (bits < 32 && (std::int64_t{1} << bits) < rows + 1) ++bits;
  return bits;
}

// Sizes and places (bytes from the workspace's start) that both backends share: | header | used | keys | counters | rows | the backend's
// own.
struct record_layout {
  std::int64_t launches, tiles, per_tile;
  std::int64_t capacity;      // records
  std::int64_t rows;          // of the destination
  std::int64_t columns;       // elements of a record
  std::int64_t element_bytes;
  std::int64_t used_at, keys_at, counters_at, rows_at, end;
};

// Checks the declaration against the limits: at most 2^32 - 1 rows and 2^31 - 1 records. `counters` is how many climb counters the backend
// needs.
inline record_layout make_record_layout(records const& declared, std::int64_t rows, std::int64_t columns, std::int64_t element_bytes,
                                        std::int64_t (*counters)(std::int64_t capacity, std::int64_t columns)) {
  auto const refuse = [](std::string const& what, std::int64_t value, std::string const& limit) {
    throw usage_error("scatter_target: " + what + " is " + std::to_string(value) + "; " + limit);
  };
  record_layout layout{declared.launches, declared.tiles, declared.per_tile, 0, rows, columns, element_bytes, 0, 0, 0, 0, 0};
  if (layout.launches < 1) refuse("records.launches", layout.launches, "it is 1 or more");
  if (layout.tiles < 0) refuse("records.tiles", layout.tiles, "it is 0 or more");
  if (layout.per_tile < 0) refuse("records.per_tile", layout.per_tile, "it is 0 or more");
  if (rows > 0xFFFFFFFFll) refuse("the destination's extent along the axis", rows, "a target has at most 2^32 - 1 = 4294967295 rows");
  std::int64_t all_tiles = 0;
  constexpr std::int64_t most = 0x7FFFFFFF;
  if (__builtin_mul_overflow(layout.launches, layout.tiles, &all_tiles) || all_tiles > most) {
    refuse("launches * tiles", __builtin_mul_overflow(layout.launches, layout.tiles, &all_tiles) ? INT64_MAX : all_tiles,
           "a target has at most 2^31 - 1 = 2147483647 tiles");
  }
  if (__builtin_mul_overflow(all_tiles, layout.per_tile, &layout.capacity) || layout.capacity > most) {
    refuse("launches * tiles * per_tile",
           __builtin_mul_overflow(all_tiles, layout.per_tile, &layout.capacity) ? INT64_MAX : layout.capacity,
           "a target takes at most 2^31 - 1 = 2147483647 records");
  }
  std::int64_t row_bytes = 0, data_bytes = 0;
  if (__builtin_mul_overflow(columns, element_bytes, &row_bytes) || __builtin_mul_overflow(row_bytes, layout.capacity, &data_bytes)) {
    refuse("the size of a record in elements", columns, "the records' size in bytes is a 64-bit number");
  }
  layout.used_at = static_cast<std::int64_t>(sizeof(scatter_header));
  layout.keys_at = align_up(layout.used_at + 4 * all_tiles);
  layout.counters_at = align_up(layout.keys_at + 4 * layout.capacity);
  layout.rows_at = align_up(layout.counters_at + 4 * counters(layout.capacity, columns));
  layout.end = align_up(layout.rows_at + data_bytes);
  return layout;
}

// The destination of whole rows: element `column` of row r lies at base + r * row_stride + column_offset(column).
struct row_destination {
  void* base;
  std::int64_t row_stride;  // bytes
  int dimensions;           // of a row, 0 to 3
  std::int64_t extent[3], stride[3];

  // Bytes from the row's first element; columns are row-major in the row's dimensions.
  TESSERA_TILE std::int64_t column_offset(std::int64_t column) const {
    std::int64_t bytes = 0;
    for (int d = 2; d >= 0; --d) {
      if (d >= dimensions) continue;
      bytes += (d == 0 ? column : column % extent[d]) * stride[d];
      column /= extent[d];
    }
    return bytes;
  }
};

// A view's rows along `Axis`.
template <int Axis, array_like View>
row_destination rows_of(View const& array) {
  constexpr int rank = static_cast<int>(View::rank());
  row_destination rows{array.data_handle(), array.mapping().byte_stride(Axis), rank - 1, {}, {}};
  for (int d = 0, kept = 0; d < rank; ++d) {
    if (d == Axis) continue;
    rows.extent[kept] = array.extent(static_cast<std::size_t>(d));
    rows.stride[kept++] = array.mapping().byte_stride(static_cast<std::size_t>(d));
  }
  return rows;
}

// Elements of a row along `Axis`.
template <int Axis, array_like View>
std::int64_t row_elements(View const& array) {
  constexpr int rank = static_cast<int>(View::rank());
  std::int64_t elements = 1;
  for (int d = 0; d < rank; ++d) {
    if (d != Axis) elements *= array.extent(static_cast<std::size_t>(d));
  }
  return elements;
}

}  // namespace detail

}  // namespace tessera::inline v0_1
