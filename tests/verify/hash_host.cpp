#include <tessera/verify/hash.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include <gtest/gtest.h>

namespace {

namespace verify = tessera::verify;

std::uint64_t hash_text(std::string_view text) { return verify::hash_of(std::span(text.data(), text.size())); }

// From the test vectors of the FNV reference code.
TEST(hash, known_values) {
  EXPECT_EQ(hash_text(""), 0xcbf29ce484222325u);
  EXPECT_EQ(hash_text("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(hash_text("foobar"), 0x85944171f73967e8u);
}

TEST(hash, elements_are_their_little_endian_bytes) {
  std::array<std::uint32_t, 2> const words = {0x04030201u, 0x08070605u};
  std::array<std::uint8_t, 8> const bytes = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(verify::hash_of(std::span(words)), verify::hash_of(std::span(bytes)));
  std::array<float, 1> const one = {1.0f};
  std::array<std::uint8_t, 4> const one_bytes = {0, 0, 0x80, 0x3f};
  EXPECT_EQ(verify::hash_of(std::span(one)), verify::hash_of(std::span(one_bytes)));
}

TEST(hash, pieces_do_not_show) {
  std::array<std::uint8_t, 100> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 37);
  auto const whole = verify::hash_of(std::span(bytes));
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    verify::fnv1a hash;
    hash.add(std::span(bytes).first(cut)).add(std::span(bytes).subspan(cut));
    EXPECT_EQ(hash.value(), whole) << cut;
  }
}

TEST(hash, zeros_of_both_signs_differ) {
  std::array<float, 1> const plus = {0.0f};
  std::array<float, 1> const minus = {-0.0f};
  EXPECT_NE(verify::hash_of(std::span(plus)), verify::hash_of(std::span(minus)));
}

}  // namespace
