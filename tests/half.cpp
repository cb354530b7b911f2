// f16 and bf16: widened exactly, rounded to nearest even, on both backends.
#include <tessera/half.hpp>

#include <cmath>

#include "support/backend.hpp"
#include "support/halves.hpp"

namespace {

using namespace testing_support;

// to[i] = from[i] as a To; a tile is 256 elements.
template <class To>
struct convert {
  template <class Block, class From>
  TESSERA_TILE void operator()(Block& block, From const* from, To* to, std::int64_t count) const {
    std::int64_t const first = block.tile_id() * 256;
    for (std::int64_t i = first + block.rank(); i < first + 256 && i < count; i += Block::size) {
      to[i] = tessera::detail::conversion<To, From>::of(from[i]);
    }
  }
};

template <class To, class Place, class From>
std::vector<To> converted(Place const& place, std::vector<From> const& values) {
  auto const from = place.array(values);
  auto const to = place.array(std::vector<To>(values.size()));
  auto const count = static_cast<std::int64_t>(values.size());
  place.launch(tessera::tile_grid((count + 255) / 256), convert<To>{}, static_cast<From const*>(from.data()), to.data(), count);
  return to.values();
}

template <class Place>
class halves : public testing::Test {};
TYPED_TEST_SUITE(halves, main_places);

template <class T, class Place>
void expect_widened_exactly(Place const& place) {
  std::vector<T> all;
  for (int pattern = 0; pattern < 65536; ++pattern) all.push_back(half_of_pattern<T>(static_cast<std::uint16_t>(pattern)));
  auto const wide = converted<float>(place, all);
  int different = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    double const expected = format_of<T>::value(static_cast<std::uint16_t>(i));
    bool const same = std::isnan(expected) ? std::isnan(wide[i]) : bits(static_cast<double>(wide[i])) == bits(expected);
    if (!same && ++different < 10) ADD_FAILURE() << "pattern " << i << " is " << wide[i] << " for " << expected;
  }
  EXPECT_EQ(different, 0);
}

TYPED_TEST(halves, f16_is_widened_exactly) { expect_widened_exactly<__half>(TypeParam{}); }
TYPED_TEST(halves, bf16_is_widened_exactly) { expect_widened_exactly<__nv_bfloat16>(TypeParam{}); }

// Every value of the format, every tie between two, what lies on both sides of each, and values from everywhere.
template <class T, class Place>
void expect_rounded_to_nearest(Place const& place) {
  using format = format_of<T>;
  std::vector<float> values = {0x1p127f, std::numeric_limits<float>::max(), std::numeric_limits<float>::denorm_min()};
  for (int pattern = 0; pattern < format::infinity; ++pattern) {
    double const low = format::magnitude(pattern), high = format::magnitude(pattern + 1);
    for (double exact : {low, (low + high) / 2}) {
      auto const value = static_cast<float>(exact);
      values.insert(values.end(), {value, std::nextafter(value, 0.0f), std::nextafter(value, std::numeric_limits<float>::infinity())});
    }
  }
  integers random(1);
  for (int i = 0; i < 200000; ++i) values.push_back(float_of(static_cast<std::uint32_t>(random.next())));
  for (std::uint32_t nan : {0x7F800001u, 0x7FC00000u, 0x7FFFFFFFu}) values.push_back(float_of(nan));
  values.push_back(std::numeric_limits<float>::infinity());
  std::size_t const positive = values.size();
  for (std::size_t i = 0; i < positive; ++i) values.push_back(-values[i]);

  auto const narrow = converted<T>(place, values);
  int different = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint16_t const expected = format::nearest(static_cast<double>(values[i])), got = pattern_of_half(narrow[i]);
    if (got != expected && ++different < 10) ADD_FAILURE() << values[i] << " is pattern " << got << " for " << expected;
  }
  EXPECT_EQ(different, 0);
}

TYPED_TEST(halves, f16_is_rounded_to_nearest_even) { expect_rounded_to_nearest<__half>(TypeParam{}); }
TYPED_TEST(halves, bf16_is_rounded_to_nearest_even) { expect_rounded_to_nearest<__nv_bfloat16>(TypeParam{}); }

TYPED_TEST(halves, every_pattern_survives_the_way_there_and_back) {
  std::vector<__half> all;
  for (int pattern = 0; pattern < 65536; ++pattern) all.push_back(half_of_pattern<__half>(static_cast<std::uint16_t>(pattern)));
  auto const back = converted<__half>(TypeParam{}, converted<float>(TypeParam{}, all));
  for (std::size_t i = 0; i < all.size(); ++i) {
    bool const is_nan = (i & 0x7FFF) > f16_format::infinity;
    ASSERT_EQ(pattern_of_half(back[i]), is_nan ? 0x7FFF : i);
  }
}

// The oracle against values that were worked out by hand.
TYPED_TEST(halves, the_oracle_itself) {
  EXPECT_EQ(f16_format::value(0x3C00), 1.0);
  EXPECT_EQ(f16_format::value(0x7BFF), 65504.0);
  EXPECT_EQ(f16_format::value(0x8001), -0x1p-24);
  EXPECT_EQ(f16_format::value(0xFC00), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(f16_format::nearest(65519.99), 0x7BFF);
  EXPECT_EQ(f16_format::nearest(65520.0), 0x7C00);
  EXPECT_EQ(f16_format::nearest(0x1p-25), 0);
  EXPECT_EQ(f16_format::nearest(0x1.8p-24), 2);
  EXPECT_EQ(f16_format::nearest(-1.00048828125), 0xBC00);  // 1 + 2^-11: a tie, to even
  EXPECT_EQ(f16_format::nearest(1.00146484375), 0x3C02);   // 1 + 3 * 2^-11
  EXPECT_EQ(bf16_format::value(0x3F80), 1.0);
  EXPECT_EQ(bf16_format::value(0x0001), 0x1p-133);
  EXPECT_EQ(bf16_format::nearest(1.00390625), 0x3F80);  // 1 + 2^-8: a tie
  EXPECT_EQ(bf16_format::nearest(0x1.FFp127), 0x7F80);
}

}  // namespace
