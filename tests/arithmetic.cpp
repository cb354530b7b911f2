#include <tessera/arithmetic.hpp>

#include "support/backend.hpp"
#include "support/oracle.hpp"

namespace {

using namespace tessera;
using testing_support::bits;
using testing_support::double_of;
using testing_support::float_of;

// Results per pair: a + b, a * b, a / b, -a, canonical(a), a * b + c unfused, and whether a is NaN.
struct evaluate_floats {
  template <class Block, class T>
  TESSERA_TILE void operator()(Block& block, T const* a, T const* b, T const* c, T* results) const {
    if (block.rank() != 0) return;
    auto const i = block.tile_id();
    T* const to = results + 7 * i;
    to[0] = add(a[i], b[i]);
    to[1] = multiply(a[i], b[i]);
    to[2] = divide(a[i], b[i]);
    to[3] = negate(a[i]);
    to[4] = canonical(a[i]);
    to[5] = add(multiply(a[i], b[i]), c[i]);
    to[6] = is_nan(a[i]) ? T{1} : T{0};
  }
};

template <class T>
struct triple {
  T a, b, c;
};

template <class T, class Place>
std::vector<T> evaluated(Place const& place, std::vector<triple<T>> const& triples) {
  std::vector<T> a, b, c;
  for (auto const& one : triples) {
    a.push_back(one.a);
    b.push_back(one.b);
    c.push_back(one.c);
  }
  auto const as = place.array(a), bs = place.array(b), cs = place.array(c);
  auto const results = place.array(std::vector<T>(7 * a.size(), T{77}));
  place.launch(tile_grid(a.size()), evaluate_floats{}, static_cast<T const*>(as.data()), static_cast<T const*>(bs.data()),
               static_cast<T const*>(cs.data()), results.data());
  return results.values();
}

template <class Place>
class arithmetic : public testing::Test {};
TYPED_TEST_SUITE(arithmetic, testing_support::main_places);

TYPED_TEST(arithmetic, subnormals_are_kept) {
  auto const r = evaluated<float>(TypeParam{}, {
                                                   {0.0f, 1e-40f, 0.0f},
                                                   {0x1.02p-126f, -0x1p-126f, 0.0f},
                                                   {0x1p-126f, 0.5f, 0.0f},
                                                   {0x1p-149f, 0x1p-149f, 0.0f},
                                                   {0x1p-140f, 0x1p+10f, 0x1p-145f},
                                                   {-0x1p-149f, 1.0f, 0.0f},
                                               });
  EXPECT_EQ(bits(r[0]), bits(1e-40f));
  EXPECT_NE(bits(r[0]), 0u);
  EXPECT_EQ(bits(r[7]), 0x00010000u);
  EXPECT_EQ(bits(r[14 + 1]), 0x00400000u);
  EXPECT_EQ(bits(r[21 + 0]), 2u);
  EXPECT_EQ(bits(r[21 + 1]), 0u);
  EXPECT_EQ(bits(r[21 + 2]), 0x3F800000u);
  EXPECT_EQ(bits(r[21 + 3]), 0x80000001u);
  EXPECT_EQ(bits(r[21 + 4]), 1u);
  EXPECT_EQ(bits(r[28 + 1]), bits(0x1p-130f));
  EXPECT_EQ(bits(r[28 + 2]), 0u);  // 2^-150: a tie, to even
  EXPECT_EQ(bits(r[28 + 5]), bits(0x1.0002p-130f));
  EXPECT_EQ(bits(r[35 + 1]), 0x80000001u);
  EXPECT_EQ(bits(r[35 + 2]), 0x80000001u);
  EXPECT_EQ(bits(r[35 + 3]), 1u);

  auto const d = evaluated<double>(TypeParam{}, {{0.0, 0x1p-1074, 0.0}, {0x1.02p-1022, -0x1p-1022, 0.0}, {0x1p-1022, 0.5, 0.0}});
  EXPECT_EQ(bits(d[0]), 1u);
  EXPECT_EQ(bits(d[7]), std::uint64_t{1} << 45);
  EXPECT_EQ(bits(d[14 + 1]), std::uint64_t{1} << 51);
}

// Pairs whose product rounds, with what undoes the rounded product: a fused multiply-add would leave a rest.
TYPED_TEST(arithmetic, products_are_rounded_before_they_are_added) {
  float const x = 1.0f + 0x1p-12f;
  double const y = 1.0 + 0x1p-27;
  auto const r = evaluated<float>(TypeParam{}, {{x, x, -(1.0f + 0x1p-11f)}, {x, -x, 1.0f + 0x1p-11f}});
  EXPECT_EQ(bits(r[5]), 0u);
  EXPECT_EQ(bits(r[12]), 0u);
  EXPECT_NE(std::fma(x, x, -(1.0f + 0x1p-11f)), 0.0f);
  auto const d = evaluated<double>(TypeParam{}, {{y, y, -(1.0 + 0x1p-26)}});
  EXPECT_EQ(bits(d[5]), 0u);
  EXPECT_NE(std::fma(y, y, -(1.0 + 0x1p-26)), 0.0);

  // And a thousand at random: most differ from the fused form.
  auto const a = testing_support::rounding_values<float>(1000, 1), b = testing_support::rounding_values<float>(1000, 2);
  std::vector<triple<float>> triples;
  std::vector<std::uint32_t> expected;
  int fused_differs = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    float volatile const product = a[i] * b[i];
    float const c = i % 2 == 0 ? -product : product * 0.75f;
    float volatile const sum = product + c;
    triples.push_back({a[i], b[i], c});
    expected.push_back(bits(static_cast<float>(sum)));
    fused_differs += bits(std::fma(a[i], b[i], c)) != expected.back() ? 1 : 0;
  }
  auto const results = evaluated<float>(TypeParam{}, triples);
  std::vector<std::uint32_t> computed;
  for (std::size_t i = 0; i < a.size(); ++i) computed.push_back(bits(results[7 * i + 5]));
  EXPECT_EQ(computed, expected);
  EXPECT_GT(fused_differs, 300);
}

TYPED_TEST(arithmetic, division_is_correctly_rounded) {
  auto const a = testing_support::rounding_values<float>(1000, 3), b = testing_support::rounding_values<float>(1000, 4);
  std::vector<triple<float>> triples;
  std::vector<std::uint32_t> expected, computed;
  for (std::size_t i = 0; i < a.size(); ++i) {
    triples.push_back({a[i], b[i], 0.0f});
    // The quotient in double, rounded again: right, since a quotient of 24-bit numbers is no tie of 25 bits.
    expected.push_back(bits(static_cast<float>(static_cast<double>(a[i]) / static_cast<double>(b[i]))));
  }
  auto const results = evaluated<float>(TypeParam{}, triples);
  for (std::size_t i = 0; i < a.size(); ++i) computed.push_back(bits(results[7 * i + 2]));
  EXPECT_EQ(computed, expected);
}

TYPED_TEST(arithmetic, signed_zeros) {
  auto const r = evaluated<float>(TypeParam{}, {{0.0f, -0.0f, 0.0f}, {-0.0f, -0.0f, -0.0f}, {1.5f, -1.5f, 0.0f}, {-0.0f, 2.0f, -0.0f}});
  EXPECT_EQ(bits(r[0]), 0u);
  EXPECT_EQ(bits(r[1]), 0x80000000u);
  EXPECT_EQ(bits(r[3]), 0x80000000u);
  EXPECT_EQ(bits(r[7]), 0x80000000u);
  EXPECT_EQ(bits(r[8]), 0u);
  EXPECT_EQ(bits(r[10]), 0u);
  EXPECT_EQ(bits(r[11]), 0x80000000u);
  EXPECT_EQ(bits(r[14]), 0u);
  EXPECT_EQ(bits(r[21 + 1]), 0x80000000u);
  EXPECT_EQ(bits(r[21 + 5]), 0x80000000u);
}

TYPED_TEST(arithmetic, infinities_and_overflow) {
  float const max = std::numeric_limits<float>::max(), inf = std::numeric_limits<float>::infinity();
  auto const r = evaluated<float>(TypeParam{}, {{max, max, -max}, {inf, -1.0f, 0.0f}, {-inf, 0.0f, 0.0f}});
  EXPECT_EQ(bits(r[0]), 0x7F800000u);
  EXPECT_EQ(bits(r[1]), 0x7F800000u);
  EXPECT_EQ(bits(r[5]), 0x7F800000u);
  EXPECT_EQ(bits(r[7 + 0]), 0x7F800000u);
  EXPECT_EQ(bits(r[7 + 1]), 0xFF800000u);
  EXPECT_EQ(bits(r[7 + 3]), 0xFF800000u);
  EXPECT_EQ(bits(r[7 + 6]), 0u);
  EXPECT_EQ(bits(r[14 + 2]), 0xFF800000u);
}

TYPED_TEST(arithmetic, every_nan_has_one_canonical_form) {
  std::vector<std::uint32_t> const nans = {0x7F800001u, 0x7FBFFFFFu, 0x7FC00000u, 0x7FFFFFFFu, 0xFF800001u, 0xFFC00000u, 0xFFFFFFFFu};
  std::vector<triple<float>> triples;
  for (std::uint32_t b : nans) triples.push_back({float_of(b), 1.0f, 0.0f});
  auto const r = evaluated<float>(TypeParam{}, triples);
  for (std::size_t i = 0; i < nans.size(); ++i) {
    EXPECT_EQ(bits(r[7 * i + 3]), nans[i] ^ 0x80000000u);
    EXPECT_EQ(bits(r[7 * i + 4]), 0x7FFFFFFFu);
    EXPECT_EQ(bits(r[7 * i + 6]), bits(1.0f));
  }
  std::vector<std::uint64_t> const wide_nans = {0x7FF0000000000001u, 0x7FF8000000000000u, 0x7FFFFFFFFFFFFFFFu, 0xFFF0000000000001u,
                                                0xFFFFFFFFFFFFFFFFu};
  std::vector<triple<double>> wide_triples;
  for (std::uint64_t b : wide_nans) wide_triples.push_back({double_of(b), 1.0, 0.0});
  auto const d = evaluated<double>(TypeParam{}, wide_triples);
  for (std::size_t i = 0; i < wide_nans.size(); ++i) {
    EXPECT_EQ(bits(d[7 * i + 4]), 0x7FFFFFFFFFFFFFFFu);
    EXPECT_EQ(bits(d[7 * i + 6]), bits(1.0));
  }
  // What is no NaN stays as it is.
  for (float value : {0.0f, -0.0f, 0x1p-149f, 1.0f, std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::max()}) {
    auto const same = evaluated<float>(TypeParam{}, {{value, 1.0f, 0.0f}});
    EXPECT_EQ(bits(same[4]), bits(value));
    EXPECT_EQ(bits(same[6]), 0u);
  }
}

// The identity of addition is -0.0: it changes no bit of anything.
struct add_identity {
  template <class Block, class T>
  TESSERA_TILE void operator()(Block& block, T const* values, T* sums) const {
    if (block.rank() == 0) sums[block.tile_id()] = plus{}(values[block.tile_id()], plus::identity<T>());
  }
};

TYPED_TEST(arithmetic, minus_zero_is_the_identity) {
  TypeParam const place;
  std::vector<float> const values = {0.0f, -0.0f, 0x1p-149f, -0x1p-149f, 1.0f, -std::numeric_limits<float>::infinity()};
  auto const source = place.array(values);
  auto const sums = place.array(std::vector<float>(values.size(), 77.0f));
  place.launch(tile_grid(values.size()), add_identity{}, static_cast<float const*>(source.data()), sums.data());
  EXPECT_EQ(bits(sums.values()), bits(values));
}

// Per pair: a + b, a * b, -a.
struct evaluate_integers {
  template <class Block, class T>
  TESSERA_TILE void operator()(Block& block, T const* a, T const* b, T* results) const {
    if (block.rank() != 0) return;
    auto const i = block.tile_id();
    results[3 * i] = add(a[i], b[i]);
    results[3 * i + 1] = multiply(a[i], b[i]);
    results[3 * i + 2] = negate(a[i]);
  }
};

template <class T, class Place>
void expect_integers_wrap(Place const& place) {
  using unsigned_type = std::make_unsigned_t<T>;
  auto a = testing_support::rounding_values<T>(20, 1), b = testing_support::rounding_values<T>(20, 2);
  constexpr T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  for (auto const& pair : {std::pair<T, T>{least, least},
                           {least, static_cast<T>(-1)},
                           {most, 1},
                           {most, most},
                           {static_cast<T>(-1), static_cast<T>(-1)},
                           {0, 0}}) {
    a.push_back(pair.first);
    b.push_back(pair.second);
  }
  std::vector<T> expected;
  for (std::size_t i = 0; i < a.size(); ++i) {
    // In 128 bits, which hold the product of two of 64; then the low bits.
    __extension__ using wide = unsigned __int128;
    auto const x = static_cast<wide>(static_cast<unsigned_type>(a[i])), y = static_cast<wide>(static_cast<unsigned_type>(b[i]));
    expected.push_back(static_cast<T>(static_cast<unsigned_type>(x + y)));
    expected.push_back(static_cast<T>(static_cast<unsigned_type>(x * y)));
    expected.push_back(static_cast<T>(static_cast<unsigned_type>(wide{0} - x)));
  }
  auto const as = place.array(a), bs = place.array(b), results = place.array(std::vector<T>(expected.size()));
  place.launch(tile_grid(a.size()), evaluate_integers{}, static_cast<T const*>(as.data()), static_cast<T const*>(bs.data()),
               results.data());
  EXPECT_EQ(results.values(), expected);
}

TYPED_TEST(arithmetic, integers_wrap) {
  expect_integers_wrap<std::int32_t>(TypeParam{});
  expect_integers_wrap<std::int64_t>(TypeParam{});
  expect_integers_wrap<std::uint32_t>(TypeParam{});
  expect_integers_wrap<std::uint64_t>(TypeParam{});
  expect_integers_wrap<std::int8_t>(TypeParam{});
  expect_integers_wrap<std::uint16_t>(TypeParam{});
}

}  // namespace
