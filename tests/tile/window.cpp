// Bounds as numbers: what the primitives ask, against 128-bit arithmetic.
#include <tessera/tile/window.hpp>

#include "support/backend.hpp"
#include "support/layouts.hpp"
#include "support/oracle.hpp"

namespace {

using namespace tessera;

__extension__ using wide = __int128;

template <class I>
bool in_range(I index, std::int64_t offset, std::int64_t extent) {
  if (index == skip_index<I>) return false;
  wide const row = static_cast<wide>(index) + static_cast<wide>(offset);
  return row >= 0 && row < extent;
}

// Evaluates where the kernels do.
struct ask_in_range {
  template <class Block, class I>
  TESSERA_TILE void operator()(Block& block, I const* indices, std::int64_t const* numbers, int* answers) const {
    if (block.rank() != 0) return;
    auto const k = block.tile_id();
    answers[k] = detail::index_in_range(indices[k], numbers[2 * k], numbers[2 * k + 1]) ? 1 : 0;
  }
};

// All combinations of the values around every limit of every type.
template <class I, class Place>
void expect_ranges(Place const& place) {
  constexpr I least = std::numeric_limits<I>::min(), most = std::numeric_limits<I>::max();
  std::vector<I> const candidates = {least,
                                     static_cast<I>(least + 1),
                                     static_cast<I>(least + 2),
                                     static_cast<I>(-1),
                                     0,
                                     1,
                                     2,
                                     5,
                                     static_cast<I>(most / 2),
                                     static_cast<I>(most / 2 + 1),
                                     static_cast<I>(most / 2 + 2),
                                     static_cast<I>(most - 1),
                                     most};
  constexpr auto low = INT64_MIN, high = INT64_MAX;
  std::vector<std::int64_t> const edges = {low,
                                           low + 1,
                                           low + 2,
                                           -256,
                                           -255,
                                           -129,
                                           -128,
                                           -127,
                                           -6,
                                           -5,
                                           -2,
                                           -1,
                                           0,
                                           1,
                                           2,
                                           5,
                                           6,
                                           127,
                                           128,
                                           255,
                                           256,
                                           high - 1,
                                           high,
                                           std::int64_t{1} << 31,
                                           std::int64_t{1} << 32,
                                           -(std::int64_t{1} << 31),
                                           -(std::int64_t{1} << 32)};
  std::vector<I> indices;
  std::vector<std::int64_t> numbers;
  std::vector<int> expected;
  for (I index : candidates) {
    for (std::int64_t offset : edges) {
      for (std::int64_t extent : edges) {
        if (extent < 0) continue;
        indices.push_back(index);
        numbers.insert(numbers.end(), {offset, extent});
        expected.push_back(in_range(index, offset, extent) ? 1 : 0);
      }
    }
  }
  auto const index_array = place.array(indices);
  auto const number_array = place.array(numbers);
  auto const answers = place.array(std::vector<int>(expected.size(), -1));
  place.launch(tile_grid(expected.size()), ask_in_range{}, static_cast<I const*>(index_array.data()),
               static_cast<std::int64_t const*>(number_array.data()), answers.data());
  auto const given = answers.values();
  for (std::size_t k = 0; k < expected.size(); ++k) {
    ASSERT_EQ(given[k], expected[k]) << "index " << +indices[k] << ", offset " << numbers[2 * k] << ", extent " << numbers[2 * k + 1];
  }
}

template <class Place>
class window_test : public testing::Test {};
TYPED_TEST_SUITE(window_test, testing_support::main_places);

TYPED_TEST(window_test, indices_of_all_types_as_if_computed_exactly) {
  expect_ranges<std::int8_t>(TypeParam{});
  expect_ranges<std::uint8_t>(TypeParam{});
  expect_ranges<std::int16_t>(TypeParam{});
  expect_ranges<std::uint16_t>(TypeParam{});
  expect_ranges<std::int32_t>(TypeParam{});
  expect_ranges<std::uint32_t>(TypeParam{});
  expect_ranges<std::int64_t>(TypeParam{});
  expect_ranges<std::uint64_t>(TypeParam{});
}

TYPED_TEST(window_test, clipped_ranges) {
  for (int count : {1, 4, 100}) {
    for (std::int64_t extent :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{3}, std::int64_t{4}, std::int64_t{1000}, INT64_MAX - 1, INT64_MAX}) {
      for (std::int64_t offset : {INT64_MIN, INT64_MIN + 1, std::int64_t{-100}, std::int64_t{-99}, std::int64_t{-4}, std::int64_t{-3},
                                  std::int64_t{-1}, std::int64_t{0}, std::int64_t{1}, std::int64_t{3}, std::int64_t{4}, std::int64_t{900},
                                  std::int64_t{901}, std::int64_t{999}, std::int64_t{1000}, INT64_MAX - 100, INT64_MAX - 1, INT64_MAX}) {
        auto const range = detail::clip(count, offset, extent);
        for (int c = 0; c < count; ++c) {
          wide const at = static_cast<wide>(offset) + c;
          ASSERT_EQ(range.has(c), at >= 0 && at < extent) << count << " from " << offset << " of " << extent << ", element " << c;
        }
        ASSERT_EQ(range.first == 0 && range.last == count, static_cast<wide>(offset) >= 0 && static_cast<wide>(offset) + count <= extent);
      }
    }
  }
}

// The vector path is taken where it may be, and only there.
TYPED_TEST(window_test, wide_access_needs_alignment_of_base_pitch_and_offset) {
  alignas(64) static float memory[4096];
  using window = detail::tile_window<float, tile_shape<4, 8>>;
  auto const wide_at = [](auto const& array, std::int64_t i, std::int64_t j) {
    window const w(array, offsets<2>{{i, j}});
    return w.wide();
  };
  auto const dense = make_view(memory, {16, 32});
  EXPECT_TRUE(wide_at(dense, 0, 0));
  EXPECT_TRUE(wide_at(dense, 1, 4));
  EXPECT_TRUE(wide_at(dense, 0, -4));
  EXPECT_FALSE(wide_at(dense, 0, 1));
  EXPECT_FALSE(wide_at(dense, 0, 2));
  EXPECT_FALSE(wide_at(dense, 0, -1));
  EXPECT_FALSE(wide_at(make_view(memory + 1, {16, 32}), 0, 0));
  EXPECT_TRUE(wide_at(make_view(memory + 1, {16, 32}), 0, 3));
  EXPECT_FALSE(wide_at(make_view(memory, {16, 33}), 0, 0));
  EXPECT_TRUE(wide_at(make_view(memory, {16, 36}), 0, 0));
  EXPECT_FALSE(wide_at(make_view(memory, {16, 16}, {128, 8}), 0, 0));
  EXPECT_FALSE(wide_at(transposed(dense), 0, 0));
  EXPECT_TRUE((detail::tile_window<float, tile_shape<4, 8>, 0>(dense, offsets<2>{}).wide()));
  EXPECT_FALSE((detail::tile_window<float, tile_shape<4, 8>, 1>(dense, offsets<2>{}).wide()));
}

}  // namespace
