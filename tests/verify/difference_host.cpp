#include <tessera/verify/difference.hpp>

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/error.hpp>

namespace {

namespace verify = tessera::verify;

template <class T>
auto compare(std::vector<T> const& left, std::vector<T> const& right) {
  return verify::first_difference(std::as_bytes(std::span(left)), std::as_bytes(std::span(right)), sizeof(T));
}

TEST(difference, none_between_equal_buffers) {
  EXPECT_FALSE(compare<float>({}, {}));
  EXPECT_FALSE(compare<float>({1, 2, 3}, {1, 2, 3}));
  EXPECT_FALSE(compare<float>({NAN}, {NAN}));  // bits, not values
}

TEST(difference, names_the_first_element_and_counts_all) {
  auto const d = compare<float>({0, 1, 2, 3, 4}, {0, 1, 2.5f, 3, 5});
  ASSERT_TRUE(d);
  EXPECT_EQ(*d, (verify::difference{
                    .index = 2, .left_bits = 0x40000000, .right_bits = 0x40200000, .differing = 2, .elements = 5, .element_bytes = 4}));
  EXPECT_EQ(verify::to_string(*d), "element 2 of 5: 40000000 and 40200000; 2 differ");
}

TEST(difference, zeros_of_both_signs_differ) {
  auto const d = compare<double>({0.0}, {-0.0});
  ASSERT_TRUE(d);
  EXPECT_EQ(verify::to_string(*d), "element 0 of 1: 0000000000000000 and 8000000000000000; 1 differs");
}

TEST(difference, element_sizes) {
  EXPECT_EQ(compare<std::uint8_t>({1, 2, 3}, {1, 2, 4})->index, 2u);
  EXPECT_EQ(compare<std::uint16_t>({1, 0xabcd}, {1, 0xabce})->left_bits, 0xabcdu);
  EXPECT_EQ(compare<std::uint64_t>({1, ~std::uint64_t{0}}, {1, 0})->left_bits, ~std::uint64_t{0});
}

TEST(difference, refuses_what_cannot_be_compared) {
  std::vector<std::byte> const eight(8), seven(7);
  EXPECT_THROW((void)verify::first_difference(eight, seven, 1), tessera::usage_error);
  EXPECT_THROW((void)verify::first_difference(seven, seven, 4), tessera::usage_error);
  EXPECT_THROW((void)verify::first_difference(eight, eight, 3), tessera::usage_error);
  EXPECT_THROW((void)verify::first_difference(eight, eight, 0), tessera::usage_error);
}

}  // namespace
