// What may never show in the bits: lanes, cores, block sizes, grid caps, alignment, capacity, other rows, tile shapes that keep the order.
#include "row_scatter.hpp"

namespace {

using namespace testing_support;

template <class Place>
class scatter_determinism_everywhere : public testing::Test {};
TYPED_TEST_SUITE(scatter_determinism_everywhere, all_places);

template <class Place>
class scatter_determinism : public testing::Test {};
TYPED_TEST_SUITE(scatter_determinism, main_places);

// A few hot rows, many cold ones, and skipped records.
row_problem<float> mixed_problem(std::int64_t n) {
  auto rows = chosen_rows(choice::negative, n, 200, 41);
  integers random(42);
  for (int& row : rows) {
    if (row >= 0 && random.below(2) == 0) row = static_cast<int>(random.below(3));
  }
  return row_problem<float>(200, 7, rows, 43);
}

TYPED_TEST(scatter_determinism_everywhere, grid_caps_and_cores) {
  TypeParam place;
  auto const problem = mixed_problem(1555);
  auto const expected = problem.expected();
  for (std::int64_t cap : {0, 1, 2, 5, 1000})
    EXPECT_TRUE(same_bits(expected, scattered<add_rows<32, 8>>(place, problem, {.cap = cap}))) << "cap " << cap;
  if constexpr (!TypeParam::on_gpu) {
    for (int cores : {1, 2, 5, 16}) {
      place.backend.cores = cores;
      EXPECT_TRUE(same_bits(expected, scattered<add_rows<32, 8>>(place, problem))) << cores << " cores";
    }
  }
}

TYPED_TEST(scatter_determinism_everywhere, alignment_capacity_and_other_rows) {
  TypeParam place;
  auto const problem = mixed_problem(777);
  auto const expected = problem.expected();
  for (std::size_t shift : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{3}}) {
    EXPECT_TRUE(same_bits(expected, scattered<add_rows<32, 8>>(place, problem, {.shift = shift}))) << "shift " << shift;
  }
  for (std::int64_t slack : {1, 31, 100})
    EXPECT_TRUE(same_bits(expected, scattered<add_rows<32, 8>>(place, problem, {.slack = slack}))) << "slack " << slack;
  for (std::int64_t more : {1, 60, 5000})
    EXPECT_TRUE(same_bits(expected, scattered<add_rows<32, 8>>(place, problem, {.more_rows = more}))) << "rows " << more;
}

// Records of other rows between those of a row do not change its list.
TYPED_TEST(scatter_determinism, other_records) {
  TypeParam place;
  auto const problem = mixed_problem(1200);
  auto const expected = problem.expected();
  row_problem<float> longer = problem;
  longer.indices.clear();
  longer.values.clear();
  integers random(3);
  for (std::size_t i = 0; i < problem.indices.size(); ++i) {
    for (std::int64_t extra = random.below(3); extra > 0; --extra) {
      bool const skipped = random.below(2) == 0;
      longer.indices.push_back(skipped ? -1 : 200 + static_cast<int>(random.below(50)));
      for (int c = 0; c < 7; ++c) longer.values.push_back(1.0f);
    }
    longer.indices.push_back(problem.indices[i]);
    longer.values.insert(longer.values.end(), problem.values.begin() + static_cast<std::ptrdiff_t>(7 * i),
                         problem.values.begin() + static_cast<std::ptrdiff_t>(7 * i + 7));
  }
  longer.rows = 250;
  longer.destination.resize(250 * 7, 0.0f);
  auto result = scattered<add_rows<32, 8>>(place, longer);
  result.resize(expected.size());
  EXPECT_TRUE(same_bits(expected, result));
}

// One call a tile over a one-dimensional tiling: the ordinals are in the order of the records, whatever the tile's height.
TYPED_TEST(scatter_determinism, tile_heights) {
  TypeParam place;
  auto const problem = mixed_problem(2049);
  auto const expected = problem.expected();
  EXPECT_TRUE(same_bits(expected, scattered<add_rows<1, 8>>(place, problem)));
  EXPECT_TRUE(same_bits(expected, scattered<add_rows<16, 8>>(place, problem)));
  EXPECT_TRUE(same_bits(expected, scattered<add_rows<64, 8>>(place, problem)));
  EXPECT_TRUE(same_bits(expected, scattered<add_rows<33, 8>>(place, problem)));
}

// Infinities, NaNs of many payloads, subnormals, zeros of both signs, values at the ends of the range: the sum is D's, to the bit.
template <class T>
std::vector<T> special_values(std::size_t count, std::uint64_t seed) {
  using limits = std::numeric_limits<T>;
  integers random(seed);
  std::vector<T> values = rounding_values<T>(count, seed);
  for (T& value : values) {
    T const sign = random.below(2) == 0 ? T{1} : T{-1};
    switch (random.below(24)) {
      case 0:
        value = sign * T{0};
        break;
      case 1:
        value = sign * limits::denorm_min();
        break;
      case 2:
        value = sign * limits::min();
        break;
      case 3:
        value = sign * limits::min() / 3;
        break;
      case 4:
        value = sign * limits::max();
        break;
      case 5:
        value = sign * T{1};
        break;
      case 6:
      case 7:
        value = sign * T{0};
        break;
      default:
        break;
    }
    auto const rare = random.below(400);
    if (rare == 0) value = sign * limits::infinity();
    if (rare == 1) value = untouchable<T>(1 + static_cast<std::size_t>(random.below(2)));
  }
  return values;
}
template <class T, int Width, class Place>
void check_special_values() {
  Place place;
  std::vector<std::int64_t> lengths;
  for (int i = 0; i < 120; ++i) lengths.push_back(i % 40);
  lengths.push_back(1500);
  row_problem<T> problem(static_cast<std::int64_t>(lengths.size()), Width, rows_of_lengths(lengths, 5));
  problem.values = special_values<T>(problem.values.size(), 6);
  problem.destination = special_values<T>(problem.destination.size(), 7);
  EXPECT_TRUE(same_bits(problem.expected(), scattered<add_rows<32, Width>>(place, problem)));
}
TYPED_TEST(scatter_determinism, special_values) {
  check_special_values<float, 8, TypeParam>();
  check_special_values<double, 2, TypeParam>();
}

// Small sums where each rule shows: old value, values, result.
TYPED_TEST(scatter_determinism, sums_as_ieee_and_the_association_say) {
  TypeParam place;
  constexpr float inf = std::numeric_limits<float>::infinity(), max = std::numeric_limits<float>::max(),
                  denorm = std::numeric_limits<float>::denorm_min();
  float const nan = float_of(0x7FC12345u), canonical = float_of(0x7FFFFFFFu);
  struct sum {
    float old;
    std::vector<float> values;
    float result;
  };
  std::vector<sum> const sums{{nan, {}, nan},
                              {-0.0f, {}, -0.0f},
                              {-0.0f, {0.0f}, 0.0f},
                              {-0.0f, {-0.0f}, -0.0f},
                              {0.0f, {-0.0f}, 0.0f},
                              {-0.0f, {0.0f, -0.0f}, 0.0f},
                              {-0.0f, {-0.0f, -0.0f, -0.0f}, -0.0f},
                              {-0.0f, {5.5f, -5.5f}, 0.0f},
                              {0.0f, {denorm}, denorm},
                              {0.0f, {1e-40f}, 1e-40f},
                              {0.0f, {0x1.02p-126f, -0x1p-126f}, 0x1p-133f},
                              {0.0f, {max, max, -max}, inf},
                              {-max, {max, -max, max}, 0.0f},  // (max - max) + max, and then - max
                              {0.0f, {inf}, inf},
                              {0.0f, {inf, -inf}, canonical},
                              {0.0f, {nan}, canonical},
                              {nan, {1.0f}, canonical},
                              {inf, {-inf}, canonical},
                              {1.0f, {0x1p-24f, 0x1p-24f}, 0x1.000002p0f},        // the list is summed before the old value joins
                              {0.0f, {1.0f, 0x1p-24f, 0x1p-24f}, 1.0f},           // (1 + e) + e
                              {0.0f, {0x1p-24f, 0x1p-24f, 1.0f}, 0x1.000002p0f},  // (e + e) + 1
                              {0.0f, {1.0f, 0.0f, 0x1p-24f, 0.0f, 0x1p-24f, 0.0f}, 1.0f}};
  row_problem<float> problem(static_cast<std::int64_t>(sums.size()), 1, {});
  std::vector<float> expected;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    problem.destination[i] = sums[i].old;
    expected.push_back(sums[i].result);
    for (float value : sums[i].values) {
      problem.indices.push_back(static_cast<int>(i));
      problem.values.push_back(value);
    }
  }
  EXPECT_TRUE(same_bits(expected, scattered<add_rows<32, 8>>(place, problem)));
  EXPECT_TRUE(same_bits(expected, problem.expected())) << "the oracle";
}

// Lists whose sum does not depend on their order, in a hundred orders: NaNs of different payloads among zeros and numbers; zeros of both
// signs; negative zeros alone; integers that need no rounding.
TYPED_TEST(scatter_determinism, shuffled_lists_with_one_sum) {
  TypeParam place;
  constexpr std::size_t n = 4096;
  std::vector<int> rows(n);
  std::vector<float> values(n);
  integers random(1);
  for (std::size_t i = 0; i < n; ++i) {
    rows[i] = static_cast<int>(i % 4);
    float const zero = random.below(2) == 0 ? 0.0f : -0.0f;
    switch (rows[i]) {
      case 0:
        values[i] = random.below(3) == 0 ? float_of(0x7F800001u + static_cast<std::uint32_t>(random.below(0x7FFFFE))) : zero;
        break;
      case 1:
        values[i] = zero;
        break;
      case 2:
        values[i] = -0.0f;
        break;
      default:
        values[i] = static_cast<float>(random.below(2001) - 1000);
        break;
    }
  }
  row_problem<float> problem(5, 1, rows);
  problem.destination = {1.0f, -0.0f, -0.0f, 3.0f, float_of(0x7FC12345u)};
  std::vector<float> first;
  for (int shuffle = 0; shuffle < 100; ++shuffle) {
    for (std::size_t i = n; i > 1; --i) {
      auto const j = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)));
      std::swap(rows[i - 1], rows[j]);
      std::swap(values[i - 1], values[j]);
    }
    problem.indices = rows;
    problem.values = values;
    auto const result = scattered<add_rows<32, 8>>(place, problem);
    if (shuffle == 0) first = result;
    ASSERT_TRUE(same_bits(first, result)) << "shuffle " << shuffle;
  }
  EXPECT_EQ(bits(first[0]), 0x7FFFFFFFu);
  EXPECT_EQ(bits(first[1]), 0u);
  EXPECT_EQ(bits(first[2]), 0x80000000u);
  EXPECT_EQ(bits(first[4]), 0x7FC12345u);
}

// A left-to-right sum of floats would stop at 2^24.
TYPED_TEST(scatter_determinism, two_to_the_25_unit_adds_Long) {
  TypeParam place;
  constexpr std::int64_t n = std::int64_t{1} << 25;
  auto const one = place.array(std::vector<float>{1.0f});
  auto const row = place.array(std::vector<int>{1});
  auto const destination = place.array(std::vector<float>{-0.0f, 0.0f, -0.0f});
  auto const values = tessera::make_view(static_cast<float const*>(one.data()), {n, 1}, {0, 4});
  auto const indices = tessera::make_view(static_cast<int const*>(row.data()), {n}, {0});
  auto const sums = tessera::make_view(destination.data(), {3, 1});
  tessera::records const declared{.tiles = n / 1024, .per_tile = 1024};
  auto const workspace = place.workspace(tessera::scatter_workspace_bytes<tessera::gpu_to_gpu>(place.backend, sums, declared));
  auto target = tessera::scatter_target<tessera::gpu_to_gpu>(place.backend, sums, declared, workspace);
  place.template launch<16384>(tessera::tile_grid(n / 1024), add_rows<1024, 1>{}, values, indices, target);
  target.resolve(place.backend);
  target.check(place.backend);
  EXPECT_TRUE(same_bits<float>({-0.0f, 33'554'432.0f, -0.0f}, destination.values()));
}

}  // namespace
