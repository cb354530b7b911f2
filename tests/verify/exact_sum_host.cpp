#include <tessera/verify/exact_sum.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/verify/hash.hpp>

namespace {

namespace verify = tessera::verify;

constexpr auto infinity = std::numeric_limits<double>::infinity();
constexpr auto nan = std::numeric_limits<double>::quiet_NaN();
constexpr auto largest = std::numeric_limits<double>::max();
constexpr auto denorm = std::numeric_limits<double>::denorm_min();

verify::exact_sum sum_of(std::vector<double> const& values) {
  verify::exact_sum sum;
  sum.add(std::span(values));
  return sum;
}

std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

struct sum_case {
  std::vector<double> values;
  double sum;
};

TEST(exact_sum, is_correctly_rounded) {
  std::vector<sum_case> const cases = {
      {{}, 0.0},
      {{-0.0}, 0.0},
      {{1.5}, 1.5},
      {{-1.5}, -1.5},
      // cancellation
      {{1.0, 1e100, 1.0, -1e100}, 2.0},
      {{1e308, 1e-308, -1e308}, 1e-308},
      {{1e16, 1.0, -1e16}, 1.0},
      {{largest, largest, -largest}, largest},
      {{largest, largest, -largest, -largest, denorm}, denorm},
      {{0x1p1023, -0x1.fffffffffffffp1022}, 0x1p970},
      {{3.0, -3.0}, 0.0},
      // the edge of overflow: half a unit in the last place, to even, is infinity
      {{largest, 0x1p969}, largest},
      {{largest, 0x1p970}, infinity},
      {{largest, 0x1p970, -denorm}, largest},
      {{-largest, -0x1p970}, -infinity},
      {{largest, largest}, infinity},
      // subnormals
      {{denorm, denorm, denorm}, 3 * denorm},
      {{denorm, -denorm}, 0.0},
      {{0x1p-1022, -denorm}, 0x0.fffffffffffffp-1022},
      {{-0x1p-1022, denorm}, -0x0.fffffffffffffp-1022},
      {{0x1p-1022, -denorm, 0x1p53}, 0x1p53},
      // ties, and what the lowest bit of the range does to them
      {{1.0, 0x1p-53}, 1.0},
      {{1.0, 0x1p-53, denorm}, 0x1.0000000000001p0},
      {{1.0, 0x1p-53, -denorm}, 1.0},
      {{0x1.0000000000001p0, 0x1p-53}, 0x1.0000000000002p0},
      {{0x1.0000000000001p0, 0x1p-53, -denorm}, 0x1.0000000000001p0},
      {{-1.0, -0x1p-53, -denorm}, -0x1.0000000000001p0},
      {{0x1p53, 1.0, -0x1p-1000}, 0x1p53},
      {{0x1.fffffffffffffp0, 0x1p-53}, 2.0},  // the carry runs through the whole fraction
      // a left fold gives 0.9999999999999999
      {{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}, 1.0},
  };
  for (auto const& c : cases) {
    EXPECT_EQ(bits(sum_of(c.values).value()), bits(c.sum))
        << "case " << &c - cases.data() << ": " << sum_of(c.values).value() << " for " << c.sum;
  }
}

TEST(exact_sum, special_values_are_ieee_s) {
  EXPECT_EQ(sum_of({infinity, 1.0, -largest}).value(), infinity);
  EXPECT_EQ(sum_of({-infinity, largest}).value(), -infinity);
  EXPECT_TRUE(std::isnan(sum_of({infinity, -infinity}).value()));
  EXPECT_TRUE(std::isnan(sum_of({1.0, nan, infinity}).value()));
  verify::exact_sum floats;
  floats.add(std::numeric_limits<float>::infinity());
  EXPECT_EQ(floats.value(), infinity);
  floats.add(std::numeric_limits<float>::quiet_NaN());
  EXPECT_TRUE(std::isnan(floats.value()));
}

// Every float is summed as the double of the same value.
TEST(exact_sum, floats_are_doubles) {
  std::uint32_t state = 1;
  for (int i = 0; i < 20000; ++i) {
    state = state * 1664525u + 1013904223u;
    auto const x = std::bit_cast<float>(i < 5000 ? state & 0x807fffffu : state);  // a quarter of them subnormal
    if (!std::isfinite(x)) continue;
    verify::exact_sum sum;
    sum.add(x);
    ASSERT_EQ(bits(sum.value()), bits(x == 0 ? 0.0 : static_cast<double>(x))) << i;
  }
}

// splitmix64: integers only, so that every machine and Python make the same numbers.
class random_bits {
 public:
  explicit random_bits(std::uint64_t seed) : state_(seed) {}
  std::uint64_t operator()() {
    state_ += 0x9e3779b97f4a7c15u;
    auto z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

double with_exponent(std::uint64_t word, std::uint64_t exponent) {
  return std::bit_cast<double>((word & ~(std::uint64_t{0x7ff} << 52)) | (exponent << 52));
}

double any_finite(std::uint64_t word) { return with_exponent(word, ((word >> 52) & 0x7ff) % 0x7ff); }

std::vector<double> random_case(int k, random_bits& random) {
  auto const n = static_cast<int>(1 + random() % 40);
  std::vector<double> values;
  for (int i = 0; i < n; ++i) {
    auto const word = random();
    values.push_back(k % 4 == 1   ? with_exponent(word, 1000 + word % 60)
                     : k % 4 == 3 ? with_exponent(word, 2046 - word % 3)
                                  : any_finite(word));
  }
  if (k % 4 == 2) {  // all of it cancels, and three small values stay
    for (int i = n - 1; i >= 0; --i) values.push_back(-values[static_cast<std::size_t>(i)]);
    for (int i = 0; i < 3; ++i) {
      auto const word = random();
      values.push_back(with_exponent(word, word % 100));
    }
  }
  return values;
}

// The hash was made by exact_sum_golden.py with Python's fractions.
TEST(exact_sum, agrees_with_fractions) {
  random_bits random(2013);
  verify::fnv1a hash;
  int infinities = 0;
  for (int k = 0; k < 4000; ++k) {
    auto const values = random_case(k, random);
    auto const sum = sum_of(values).value();
    ASSERT_EQ(bits(sum), bits(sum_of({values.rbegin(), values.rend()}).value())) << k;
    infinities += std::isinf(sum) ? 1 : 0;
    hash.add(std::span(&sum, 1));
  }
  EXPECT_EQ(infinities, 614);
  EXPECT_EQ(hash.value(), 0xd351a89c3656b67bu);
}

// Four million additions of one sign, then back: what a limb holds between carries, and carries of both signs.
TEST(exact_sum, many_additions) {
  verify::exact_sum sum;
  for (int i = 0; i < (1 << 22); ++i) sum.add(largest);
  EXPECT_EQ(sum.value(), infinity);
  EXPECT_EQ(sum.relative_error(largest), 1 - 0x1p-22);
  for (int i = 0; i < (1 << 22) - 1; ++i) sum.add(-largest);
  EXPECT_EQ(sum.value(), largest);
  sum.add(-largest);
  sum.add(-denorm);
  EXPECT_EQ(sum.value(), -denorm);
}

TEST(exact_sum, relative_error_of_nearly_exact_values) {
  // The values were made by exact_sum_golden.py.
  std::vector<double> const tenths(10, 0.1);
  EXPECT_DOUBLE_EQ(sum_of(tenths).relative_error(1.0), 5.551115123125783e-17);
  EXPECT_DOUBLE_EQ(sum_of(tenths).relative_error(0.9999999999999999), 1.6653345369377348e-16);
  EXPECT_DOUBLE_EQ(sum_of({1.0, 0x1p-80}).relative_error(1.0), 8.271806125530277e-25);
  EXPECT_DOUBLE_EQ(sum_of({1e308, 1e308}).relative_error(1.7e308), 0.15000000000000005);
  EXPECT_DOUBLE_EQ(sum_of({3e-324, 5e-324}).relative_error(0.0), 1.0);
  EXPECT_DOUBLE_EQ(sum_of({1e16, 1.0, -1e16}).relative_error(0.0), 1.0);
  EXPECT_DOUBLE_EQ(sum_of({1.0, -1.0, 0x1p-1000}).relative_error(0x1p-999), 1.0);
  EXPECT_EQ(sum_of({1.0, 2.0}).relative_error(3.0), 0.0);
  EXPECT_EQ(sum_of({-4.0}).relative_error(-5.0), 0.25);
}

TEST(exact_sum, relative_error_of_zero_and_of_special_values) {
  EXPECT_EQ(sum_of({}).relative_error(0.0), 0.0);
  EXPECT_EQ(sum_of({1.0, -1.0}).relative_error(-0.0), 0.0);
  EXPECT_EQ(sum_of({1.0, -1.0}).relative_error(denorm), infinity);
  EXPECT_EQ(sum_of({1.0}).relative_error(nan), infinity);
  EXPECT_EQ(sum_of({largest, largest}).relative_error(infinity), infinity);
  EXPECT_EQ(sum_of({infinity}).relative_error(infinity), 0.0);
  EXPECT_EQ(sum_of({infinity}).relative_error(-infinity), infinity);
  EXPECT_EQ(sum_of({infinity}).relative_error(1.0), infinity);
  EXPECT_EQ(sum_of({nan}).relative_error(nan), 0.0);
  EXPECT_EQ(sum_of({nan}).relative_error(0.0), infinity);
}

}  // namespace
