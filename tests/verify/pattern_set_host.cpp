#include <tessera/verify/pattern_set.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/verify/hash.hpp>

namespace {

namespace verify = tessera::verify;

std::vector<std::byte> result(int value, std::size_t bytes = 4) { return std::vector<std::byte>(bytes, static_cast<std::byte>(value)); }

TEST(pattern_set, counts_patterns_in_order_of_appearance) {
  verify::pattern_set patterns;
  EXPECT_EQ(patterns.size(), 0u);
  EXPECT_EQ(patterns.add(result(7)), 0u);
  EXPECT_EQ(patterns.add(result(7)), 0u);
  EXPECT_EQ(patterns.add(result(8)), 1u);
  EXPECT_EQ(patterns.add(result(7)), 0u);
  EXPECT_EQ(patterns.size(), 2u);
  EXPECT_EQ(patterns.results(), 4u);
  EXPECT_EQ(patterns[0].results, 3u);
  EXPECT_EQ(patterns[1].first_result, 2u);
  EXPECT_EQ(patterns[1].copy, result(8));
  EXPECT_EQ(patterns[0].hash, verify::hash_of(std::span<std::byte const>(result(7))));
}

// Patterns beyond the kept ones are told apart by their hashes alone.
TEST(pattern_set, more_patterns_than_are_kept) {
  for (std::size_t const kept : {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{300}}) {
    verify::pattern_set patterns(kept);
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 200; ++i) EXPECT_EQ(patterns.add(result(i)), static_cast<std::size_t>(i));
    }
    EXPECT_EQ(patterns.size(), 200u);
    for (auto const& p : patterns) EXPECT_EQ(p.results, 3u);
    EXPECT_EQ(patterns[0].copy.size(), 4u);
    EXPECT_EQ(patterns[199].copy.size(), kept == 300 ? 4u : 0u);
  }
}

TEST(pattern_set, results_of_other_sizes_are_other_patterns) {
  verify::pattern_set patterns;
  patterns.add(result(0, 4));
  patterns.add(result(0, 8));
  patterns.add({});
  patterns.add({});
  EXPECT_EQ(patterns.size(), 3u);
}

}  // namespace
