// The device's stages behind the records: sort, gate, segmented reduce and apply. Plain arrays in, plain arrays out; compiled in src/cuda.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

#include <tessera/config.hpp>
#include <tessera/scatter/records.hpp>

namespace tessera::inline v0_1::detail {

// ---- sort: places by key, stable, so that equal keys stay in order of place -------------------------------------------------------

// Bytes of temporary memory for `capacity` records; depends on the current device.
std::size_t sort_temporary_bytes(std::int64_t capacity, int bits);

// What a sort leaves: keys in order, and the place of each.
struct sorted_records {
  std::uint32_t const* keys;
  std::uint32_t const* places;
};

// Sorts all `capacity` keys on their lowest `bits` bits. `keys` and the three other arrays of `capacity` are overwritten; the result lies
// in two of them.
sorted_records sort_records(cudaStream_t stream, std::uint32_t* keys, std::uint32_t* other_keys, std::uint32_t* places,
                            std::uint32_t* other_places, std::int64_t capacity, int bits, void* temporary, std::size_t temporary_bytes);

// ---- gate: how many records the reduction may read --------------------------------------------------------------------------------

// A target at the gate. The keys that are no_row come last.
struct gate_entry {
  scatter_header* header;
  std::uint32_t const* sorted_keys;
  std::int64_t capacity;
};
inline constexpr int most_gate_entries = 16;
struct gate_entries {
  gate_entry entry[most_gate_entries];
  int count;
};

// Writes header.count of each: its records where every target is complete and every status clear, else 0. Takes all out of the open state.
void run_gate(cudaStream_t stream, gate_entries const& entries);

// ---- segmented reduce -------------------------------------------------------------------------------------------------------------

// Lists longer than a chunk are joined level by level: a node of level l is chunk * 32^l records. A node of a list that goes on leaves its
// sum in row 2 * floor(position / size) + (1 for the list's last node) of its level; the members of a group of 32 count themselves in a
// word that belongs to the window of the group's first member, and the last to arrive adds them up.
inline constexpr int reduce_chunk = 32;
inline constexpr int reduce_levels = 6;

struct climb_layout {
  std::int64_t row_at[reduce_levels];      // first partial row of each level
  std::int64_t counter_at[reduce_levels];  // first counter of each level
  std::int64_t rows, counters;
};
inline climb_layout make_climb_layout(std::int64_t capacity) {
  climb_layout layout{};
  std::int64_t size = reduce_chunk;
  for (int level = 0; level < reduce_levels; ++level, size *= 32) {
    std::int64_t const windows = capacity > reduce_chunk ? capacity / size + 1 : 0;
    layout.row_at[level] = layout.rows;
    layout.counter_at[level] = layout.counters;
    layout.rows += 2 * windows;
    layout.counters += windows;
  }
  return layout;
}

// Elements of a column block: what one warp sums side by side.
inline constexpr std::int64_t column_blocks(std::int64_t columns, int width) { return (columns + 32 * width - 1) / (32 * width); }

// out = fl(old + D(list)) for each list of equal keys. `count` is read on the device. Counters are all ones before and after.
template <class T>
struct segmented_reduce_arguments {
  std::uint32_t const* keys;    // sorted
  std::uint32_t const* places;  // of each sorted key
  T const* rows;                // by place
  std::uint32_t const* count;
  std::int64_t capacity;
  std::int64_t columns;
  row_destination destination;
  T* partials;
  std::uint32_t* counters;
  climb_layout climb;
};
template <class T>
void segmented_reduce(cudaStream_t stream, segmented_reduce_arguments<T> const& arguments);
extern template void segmented_reduce(cudaStream_t, segmented_reduce_arguments<float> const&);
extern template void segmented_reduce(cudaStream_t, segmented_reduce_arguments<double> const&);

}  // namespace tessera::inline v0_1::detail
