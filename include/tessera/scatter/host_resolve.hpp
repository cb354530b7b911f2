// Sort, reduce and apply on the host: the same lists, the same association, the same bits as on the device. Compiled in src/host, for float
// and double.
#pragma once

#include <cstdint>

#include <tessera/config.hpp>
#include <tessera/scatter/records.hpp>

namespace tessera::inline v0_1::detail {

// A valid record: where it goes, and where it lies.
struct host_record {
  std::uint32_t row;
  std::uint32_t place;
};

// Sorts the records with a row by (row, place) into `sorted`, using `spare`; both hold `capacity`. Gives how many there are.
std::int64_t sort_records_on_host(std::uint32_t const* keys, std::int64_t capacity, std::int64_t rows, host_record* sorted,
                                  host_record* spare);

// Adds the D of each list to its row of the destination. `partials` holds host_partial_rows(capacity) rows of `columns` elements.
template <class T>
void apply_records_on_host(host_record const* sorted, std::int64_t count, T const* rows, std::int64_t columns,
                           row_destination const& destination, T* partials, int cores);
extern template void apply_records_on_host(host_record const*, std::int64_t, float const*, std::int64_t, row_destination const&, float*,
                                           int);
extern template void apply_records_on_host(host_record const*, std::int64_t, double const*, std::int64_t, row_destination const&, double*,
                                           int);

// Records of an aligned piece of a list that one thread sums at a time.
inline constexpr std::int64_t host_piece = 1024;

// Each piece of a long list leaves a partial sum at 2 * floor(position / host_piece) + (1 for the list's last piece).
constexpr std::int64_t host_partial_rows(std::int64_t capacity) { return 2 * (capacity / host_piece + 1); }

}  // namespace tessera::inline v0_1::detail
