#include <limits>

#include "row_scatter.hpp"

namespace {

using namespace testing_support;
using tessera::gpu_to_gpu;
using tessera::make_view;
using tessera::tile_grid;

template <class Place>
class add_rows_everywhere : public testing::Test {};
TYPED_TEST_SUITE(add_rows_everywhere, all_places);

template <class Place>
class add_rows_test : public testing::Test {};
TYPED_TEST_SUITE(add_rows_test, main_places);

// The kernel of the documentation as it is used for means: sums into a target, counts into an array.
struct add_rows_and_counts {
  template <class Block, class Values, class Indices, class Sums, class Counts>
  TESSERA_TILE void operator()(Block& block, Values values, Indices indices, Sums sums, Counts counts) const {
    auto const first = block.tile_index(0) * 32;
    auto const tile = tessera::tile_load<32, 8>(block, values, {first, 0});
    auto const rows = tessera::tile_load<32>(block, tessera::shared, indices, {first}, tessera::skip_index<int>);
    tessera::tile_atomic_add_indexed<0>(block, sums, rows, tile);
    tessera::tile_atomic_add_indexed<0>(block, counts, rows, tessera::tile_full<32>(block, 1));
  }
};

// A tail of every kind. Row 0 gets nothing: neither the zeros that fill the tile nor the fill of the index tile may look like it.
TYPED_TEST(add_rows_everywhere, ragged_tails_leave_row_0_alone) {
  TypeParam place;
  constexpr std::int64_t groups = 11, columns = 8;
  for (std::int64_t n : {0, 1, 2, 8, 31, 32, 33, 63, 64, 65, 104, 320, 321, 328, 351}) {
    auto rows = chosen_rows(choice::negative, n, groups - 1, static_cast<std::uint64_t>(n));
    for (int& row : rows) row = row >= 0 ? row + 1 : row;
    row_problem<float> const problem(groups, columns, rows);
    auto const values = place.array(problem.values);
    auto const indices = place.array(problem.indices);
    auto const destination = place.array(problem.destination);
    auto const counts = place.array(std::vector<int>(groups, 100));
    auto const sums = make_view(destination.data(), {groups, columns});
    tessera::records const declared{.tiles = tessera::ceil_div(n, 32), .per_tile = 32};
    auto const workspace = rubbish_workspace(place, tessera::scatter_workspace_bytes<gpu_to_gpu>(place.backend, sums, declared));
    auto target = tessera::scatter_target<gpu_to_gpu>(place.backend, sums, declared, workspace_of(workspace));
    place.launch(tile_grid(tessera::ceil_div(n, 32)), add_rows_and_counts{}, rows_of<float>(values, n, columns), list_of<int>(indices),
                 target, make_view(counts.data(), {groups}));
    target.resolve(place.backend);
    target.check(place.backend);
    std::vector<int> expected_counts(groups, 100);
    for (int row : rows) {
      if (row >= 0) ++expected_counts[static_cast<std::size_t>(row)];
    }
    EXPECT_TRUE(same_bits(problem.expected(), destination.values())) << n << " rows";
    EXPECT_EQ(bits(destination.values()[0]), 0x80000000u) << n << " rows";
    EXPECT_EQ(counts.values(), expected_counts) << n << " rows";
    (void)workspace.values();
  }
}

TYPED_TEST(add_rows_everywhere, rows_chosen_in_every_way) {
  TypeParam place;
  for (choice way : all_choices) {
    for (std::int64_t n : {1, 2, 31, 45, 300}) {
      row_problem<float> const problem(301, 8, chosen_rows(way, n, 301, static_cast<std::uint64_t>(n) + 5));
      EXPECT_TRUE(same_bits(problem.expected(), scattered<add_rows<32, 8>>(place, problem)))
          << n << " records, choice " << static_cast<int>(way);
    }
  }
}

TYPED_TEST(add_rows_test, many_rows_chosen_in_every_way) {
  TypeParam place;
  for (choice way : all_choices) {
    row_problem<float> const problem(1000, 5, chosen_rows(way, 5001, 1000, 9));
    EXPECT_TRUE(same_bits(problem.expected(), scattered<add_rows<32, 8>>(place, problem))) << "choice " << static_cast<int>(way);
  }
}

// Tiles that are exactly as wide as the destination, wider, and of every alignment of a record.
template <int Width, class T, class Place>
void check_widths(std::vector<std::int64_t> const& widths) {
  Place place;
  for (std::int64_t columns : widths) {
    for (std::size_t shift : {std::size_t{0}, std::size_t{1}}) {
      row_problem<T> const problem(50, columns, chosen_rows(choice::hot, 235, 50, static_cast<std::uint64_t>(columns)));
      EXPECT_TRUE(same_bits(problem.expected(), scattered<add_rows<32, Width>>(place, problem, {.shift = shift})))
          << columns << " columns, tile of " << Width << ", shifted by " << shift;
    }
  }
}
TYPED_TEST(add_rows_test, float_widths) {
  check_widths<1, float, TypeParam>({1});
  check_widths<3, float, TypeParam>({1, 2, 3});
  check_widths<6, float, TypeParam>({5, 6});
  check_widths<8, float, TypeParam>({1, 2, 3, 5, 6, 7, 8});
  check_widths<128, float, TypeParam>({1, 3, 8, 63, 64, 127, 128});
}
TYPED_TEST(add_rows_test, double_widths) {
  check_widths<2, double, TypeParam>({1, 2});
  check_widths<5, double, TypeParam>({3, 5});
  check_widths<64, double, TypeParam>({1, 2, 6, 8, 33, 63, 64});
}

// More columns than a warp holds side by side, with lists that are summed in many parts.
TYPED_TEST(add_rows_test, wide_rows) {
  TypeParam place;
  for (std::int64_t columns : {129, 130, 132, 255, 256}) {
    row_problem<float> const problem(7, columns, rows_of_lengths({1, 33, 1100, 0, 64, 65, 31}, 4));
    EXPECT_TRUE(same_bits(problem.expected(), scattered<add_rows<8, 256>>(place, problem))) << columns << " columns";
  }
}

TYPED_TEST(add_rows_test, nothing_to_add) {
  TypeParam place;
  for (std::int64_t columns : {0, 1, 3}) {
    for (std::int64_t rows : {0, 1, 2}) {
      for (std::int64_t n : {0, 1, 2, 33}) {
        std::vector<int> indices(static_cast<std::size_t>(n), 0);
        if (n > 1) indices[1] = 1;
        row_problem<float> const problem(rows, columns, indices);
        EXPECT_TRUE(same_bits(problem.expected(), scattered<add_rows<32, 8>>(place, problem)))
            << rows << " rows, " << columns << " columns, " << n;
        EXPECT_TRUE(same_bits(problem.expected(), scattered<add_rows<32, 8>>(place, problem, {.slack = 5})));
      }
    }
  }
}

// A zero that pads nothing: rows 2 and 3 get the values 0, which turn their -0 into +0, and nobody else does.
TYPED_TEST(add_rows_everywhere, zeros_are_values) {
  TypeParam place;
  row_problem<float> problem(5, 1, {0, 1, 2, 3});
  problem.values = {1, 2, 0, 0};
  problem.destination = {0.0f, 0.0f, -0.0f, -0.0f, -0.0f};
  EXPECT_TRUE(same_bits<float>({1.0f, 2.0f, 0.0f, 0.0f, -0.0f}, scattered<add_rows<32, 8>>(place, problem)));
}

// A negative index is no row from the end, and what is skipped is nowhere counted.
TYPED_TEST(add_rows_everywhere, padding_is_never_the_last_row) {
  TypeParam place;
  row_problem<float> const problem(10, 3, {0, 1, 2, 3, 4, -1, -1, -1, -1, -1});
  EXPECT_TRUE(same_bits(problem.expected(), scattered<add_rows<32, 8>>(place, problem)));
}

// Indices that name a row once they are cut to 32 bits.
TYPED_TEST(add_rows_test, wide_indices_are_not_cut) {
  TypeParam place;
  constexpr auto two_32 = std::int64_t{1} << 32;
  row_problem<float, std::int64_t> const problem(
      3, 2, {1, two_32, two_32 + 1, -two_32 + 1, INT64_MIN, INT64_MIN + 1, INT64_MAX, -1, -2, 2 * two_32 + 2, 0xFFFFFFFFll, 1});
  EXPECT_TRUE(same_bits(problem.expected(), scattered<add_rows<32, 8>>(place, problem)));
  row_problem<double, std::uint64_t> const unsigned_problem(
      3, 2, {1, UINT64_MAX, UINT64_MAX - 1, std::uint64_t{1} << 63, (std::uint64_t{1} << 32) + 1, 2});
  // The oracle takes signed rows; what is above becomes negative there and is skipped as well.
  EXPECT_TRUE(same_bits(unsigned_problem.expected(), scattered<add_rows<32, 2>>(place, unsigned_problem)));
}

// Row counts at which a key takes one bit more: the last row is neither cut nor taken for a record that goes nowhere, which lies among its
// records.
template <class Place>
void check_row_counts(std::vector<std::int64_t> const& counts) {
  Place place;
  for (std::int64_t rows : counts) {
    auto indices = chosen_rows(choice::first_and_last, 150, rows, 7);
    for (std::size_t i = 0; i < indices.size(); i += 3) indices[i] = i % 2 == 0 ? -1 : static_cast<int>(rows);
    for (std::size_t i = 1; i < indices.size(); i += 5) indices[i] = static_cast<int>(rows / 2);
    row_problem<float> const problem(rows, 1, indices);
    EXPECT_TRUE(same_bits(problem.expected(), scattered<add_rows<32, 8>>(place, problem))) << rows << " rows";
  }
}
TYPED_TEST(add_rows_test, row_counts_around_powers_of_two) {
  check_row_counts<TypeParam>(
      {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 255, 256, 257, 511, 512, 2047, 2048, 2049, 4095, 4096, 65535, 65536, 65537});
}
TYPED_TEST(add_rows_test, many_row_counts_around_powers_of_two_Long) {
  constexpr std::int64_t million = 1 << 20;
  check_row_counts<TypeParam>({million - 1, million, million + 1, 4 * million - 1, 4 * million, 4 * million + 1});
}

// Lists around every size at which the sum takes another path, starting at odd places.
TYPED_TEST(add_rows_test, list_lengths) {
  TypeParam place;
  for (std::int64_t length : {2, 4, 8, 16, 32, 64, 96, 128, 256, 1024, 2048, 4096}) {
    for (std::int64_t columns : {1, 2, 4, 8}) {
      row_problem<float> const problem(9, columns, rows_of_lengths({length, 1, length - 1, length, 3, length + 1, 0, length, 5}, 2));
      EXPECT_TRUE(same_bits(problem.expected(), scattered<add_rows<32, 8>>(place, problem)))
          << "lists of " << length << ", " << columns << " columns";
    }
  }
}
TYPED_TEST(add_rows_test, long_lists_Long) {
  TypeParam place;
  for (std::int64_t length : {32 * 32 * 8, 32 * 32 * 32}) {
    for (std::int64_t columns : {1, 3, 8}) {
      row_problem<float> const problem(7, columns, rows_of_lengths({5, length, length - 1, 1, length + 1, 31, 2 * length + 33}, 2));
      EXPECT_TRUE(same_bits(problem.expected(), scattered<add_rows<32, 8>>(place, problem)))
          << "lists of " << length << ", " << columns << " columns";
    }
    row_problem<double> const problem(4, 2, rows_of_lengths({length + 1, length, length - 1, 77}, 3));
    EXPECT_TRUE(same_bits(problem.expected(), scattered<add_rows<32, 2>>(place, problem))) << "lists of " << length << " doubles";
  }
}
TYPED_TEST(add_rows_test, a_million_records_in_a_list_Long) {
  TypeParam place;
  constexpr std::int64_t million = 32 * 32 * 32 * 32;
  for (std::int64_t before : {0, 17}) {
    for (std::int64_t more : {-1, 0, 1}) {
      std::vector<int> rows(static_cast<std::size_t>(before), 0);
      rows.insert(rows.end(), static_cast<std::size_t>(million + more), 1);
      row_problem<float> const problem(2, 1, rows);
      EXPECT_TRUE(same_bits(problem.expected(), scattered<add_rows<32, 8>>(place, problem))) << before << " before " << million + more;
    }
  }
}

// Many lists of two or three chunks: neighbours in the partial sums and in their counters.
template <class Place>
void check_short_lists(std::int64_t count) {
  Place place;
  integers random(11);
  std::vector<std::int64_t> lengths;
  for (std::int64_t left = count; left > 0; left -= lengths.back()) lengths.push_back(std::min<std::int64_t>(left, 33 + random.below(64)));
  for (std::int64_t columns : {1, 4}) {
    row_problem<float> const problem(static_cast<std::int64_t>(lengths.size()), columns, rows_of_lengths(lengths, 12));
    EXPECT_TRUE(same_bits(problem.expected(), scattered<add_rows<32, 8>>(place, problem)))
        << count << " records, " << columns << " columns";
  }
}
TYPED_TEST(add_rows_test, short_lists_of_several_chunks) { check_short_lists<TypeParam>(4097); }
TYPED_TEST(add_rows_test, many_short_lists_of_several_chunks_Long) {
  check_short_lists<TypeParam>(300'000);
  check_short_lists<TypeParam>(333'333);
}

// A mixture of all lengths: Zipf-like rows.
TYPED_TEST(add_rows_test, lists_of_all_lengths_Long) {
  TypeParam place;
  std::vector<std::int64_t> lengths;
  for (std::int64_t rank = 1; rank <= 3000; ++rank) lengths.push_back(40'000 / rank);
  row_problem<float> const problem(3000, 6, rows_of_lengths(lengths, 21));
  EXPECT_TRUE(same_bits(problem.expected(), scattered<add_rows<32, 6>>(place, problem)));
}

}  // namespace
