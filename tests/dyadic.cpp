#include <tessera/dyadic.hpp>

#include <span>

#include <tessera/verify/hash.hpp>

#include "support/backend.hpp"
#include "support/oracle.hpp"

namespace {

using namespace tessera;
using testing_support::bits;

// One lane sums each list of many: list k is lengths[k] values from begins[k] on.
struct reduce_lists {
  template <class Block, class T>
  TESSERA_TILE void operator()(Block& block, T const* values, std::int64_t const* begins, std::int64_t const* lengths, T* sums) const {
    if (block.rank() != 0) return;
    auto const k = block.tile_id();
    sums[k] = dyadic_reduce([=](std::int64_t i) { return values[i]; }, plus{}, begins[k], lengths[k]);
  }
};

template <class T, class Place>
std::vector<T> reduced(Place const& place, std::vector<T> const& values, std::vector<std::int64_t> const& begins,
                       std::vector<std::int64_t> const& lengths) {
  auto const source = place.array(values);
  auto const first = place.array(begins), count = place.array(lengths);
  auto const sums = place.array(std::vector<T>(lengths.size(), T{77}));
  place.launch(tile_grid(lengths.size()), reduce_lists{}, static_cast<T const*>(source.data()),
               static_cast<std::int64_t const*>(first.data()), static_cast<std::int64_t const*>(count.data()), sums.data());
  return sums.values();
}

template <class T>
std::vector<T> expected_sums(std::vector<T> const& values, std::vector<std::int64_t> const& begins,
                             std::vector<std::int64_t> const& lengths) {
  std::vector<T> sums;
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    auto const from = values.begin() + begins[k];
    sums.push_back(testing_support::dyadic_sum(std::vector<T>(from, from + lengths[k])));
  }
  return sums;
}

template <class Place>
class dyadic : public testing::Test {};
TYPED_TEST_SUITE(dyadic, testing_support::main_places);

TYPED_TEST(dyadic, lengths_up_to_300) {
  std::vector<std::int64_t> begins, lengths;
  for (std::int64_t n = 1; n <= 300; ++n) {
    begins.push_back(n % 37);
    lengths.push_back(n);
  }
  auto const floats = testing_support::rounding_values<float>(400, 1);
  EXPECT_EQ(bits(reduced(TypeParam{}, floats, begins, lengths)), bits(expected_sums(floats, begins, lengths)));
  auto const doubles = testing_support::rounding_values<double>(400, 2);
  EXPECT_EQ(bits(reduced(TypeParam{}, doubles, begins, lengths)), bits(expected_sums(doubles, begins, lengths)));
}

TYPED_TEST(dyadic, powers_of_two_and_their_neighbours) {
  std::vector<std::int64_t> begins, lengths;
  for (int k = 1; k <= (TypeParam::on_gpu ? 14 : 20); ++k) {
    for (int beside : {-16, -9, -8, -1, 0, 1}) {  // some leave a node of every size
      if ((std::int64_t{1} << k) + beside < 1) continue;
      begins.push_back(0);
      lengths.push_back((std::int64_t{1} << k) + beside);
    }
  }
  auto const values = testing_support::rounding_values<float>((std::size_t{1} << 20) + 1, 3);
  EXPECT_EQ(bits(reduced(TypeParam{}, values, begins, lengths)), bits(expected_sums(values, begins, lengths)));
}

TYPED_TEST(dyadic, signed_zeros_subnormals_and_infinities) {
  float const max = std::numeric_limits<float>::max(), inf = std::numeric_limits<float>::infinity(), denorm = testing_support::float_of(1);
  std::vector<float> const values = {0.0f, -0.0f, -0.0f, -0.0f, denorm, -denorm, denorm, max, max, -max, inf, 1, -0.0f};
  std::vector<std::int64_t> const begins = {0, 1, 0, 1, 1, 4, 4, 6, 7, 8, 10, 1};
  std::vector<std::int64_t> const lengths = {1, 1, 2, 2, 3, 2, 3, 1, 3, 2, 2, 4};
  auto const sums = reduced(TypeParam{}, values, begins, lengths);
  EXPECT_EQ(bits(sums), (std::vector<std::uint32_t>{0, 0x80000000u, 0, 0x80000000u, 0x80000000u, 0, 1, 1, 0x7F800000u, 0, 0x7F800000u, 1}));
}

// The nodes that chunks are made of, by every number of leaves and at other places than 0.
template <int Leaves, int InFlight>
struct reduce_node {
  template <class Block>
  TESSERA_TILE void operator()(Block& block, float const* values, int begin, float* sums) const {
    if (block.rank() != 0) return;
    int const count = begin + 1 + static_cast<int>(block.tile_id());
    sums[block.tile_id()] = dyadic_node<Leaves, InFlight>([=](int i) { return values[i]; }, plus{}, begin, count);
  }
};

template <int Leaves, int InFlight, class Place>
void expect_nodes(Place const& place) {
  for (int begin : {0, Leaves, 3 * Leaves}) {
    // Leaves beyond the node and values beyond the count must not be read.
    auto const values = testing_support::rounding_values<float>(static_cast<std::size_t>(begin + Leaves), 4);
    std::vector<std::int64_t> begins, lengths;
    for (int n = 1; n <= Leaves; ++n) {
      begins.push_back(begin);
      lengths.push_back(n);
    }
    auto const source = place.array(values);
    auto const sums = place.array(std::vector<float>(static_cast<std::size_t>(Leaves)));
    place.launch(tile_grid(Leaves), reduce_node<Leaves, InFlight>{}, static_cast<float const*>(source.data()), begin, sums.data());
    EXPECT_EQ(bits(sums.values()), bits(expected_sums(values, begins, lengths))) << Leaves << " leaves from " << begin;
  }
}

TYPED_TEST(dyadic, nodes) {
  expect_nodes<1, 1>(TypeParam{});
  expect_nodes<2, 1>(TypeParam{});
  expect_nodes<8, 8>(TypeParam{});
  expect_nodes<16, 4>(TypeParam{});
  expect_nodes<64, 8>(TypeParam{});
}

TYPED_TEST(dyadic, splits_at_the_largest_power_of_two_below) {
  EXPECT_EQ(dyadic_split(2), 1);
  EXPECT_EQ(dyadic_split(3), 2);
  EXPECT_EQ(dyadic_split(4), 2);
  EXPECT_EQ(dyadic_split(5), 4);
  EXPECT_EQ(dyadic_split((std::int64_t{1} << 40) + 1), std::int64_t{1} << 40);
  EXPECT_EQ(dyadic_split(INT64_MAX), std::int64_t{1} << 62);
}

// Inputs from an integer generator, so that every machine has the same: 24-bit signed integers times powers of two.
template <class T>
std::vector<T> golden_values(std::size_t n) {
  std::vector<T> values(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    std::uint32_t const a = i * 2654435761u;
    int const m = static_cast<int>(a >> 8) - (1 << 23), e = static_cast<int>(((i * 40503u) >> 4) & 31u);
    values[i] = static_cast<T>(std::ldexp(static_cast<T>(m), e - 39));
  }
  return values;
}

// The FNV-1a hash of the inclusive scan: every prefix's D.
template <class T>
std::uint64_t scan_hash(std::vector<T> const& values) {
  testing_support::dyadic_counter<T> counter;
  verify::fnv1a hash;
  for (T const value : values) {
    counter.push(value);
    T const prefix = counter.collapse();
    hash.add(std::span<T const>(&prefix, 1));
  }
  return hash.value();
}

template <class T>
T left_fold(std::vector<T> const& values) {
  T volatile sum = values[0];
  for (std::size_t i = 1; i < values.size(); ++i) sum = sum + values[i];
  return sum;
}

template <class T, class Place>
T d_of(Place const& place, std::vector<T> const& values) {
  return reduced(place, values, {0}, {static_cast<std::int64_t>(values.size())})[0];
}

// Values from outside of this library.
TYPED_TEST(dyadic, golden_million) {
  auto const values = golden_values<float>(1'000'003);
  EXPECT_EQ(bits(d_of(TypeParam{}, values)), 0xC6AD2C68u);
  EXPECT_EQ(bits(left_fold(values)), 0xC6AD3380u);
  EXPECT_EQ(scan_hash(values), 0x52AE69B7298BD5EFu);
}

// Values from golden/dyadic_golden.py.
TYPED_TEST(dyadic, golden_values_that_leave_nodes_of_every_size) {
  EXPECT_EQ(bits(d_of(TypeParam{}, golden_values<float>(16376))), 0x4713C0F8u);
  EXPECT_EQ(bits(d_of(TypeParam{}, golden_values<float>(32760))), 0x4702FA30u);
  EXPECT_EQ(bits(d_of(TypeParam{}, golden_values<float>(65528))), 0x47A51F9Fu);
  EXPECT_EQ(bits(d_of(TypeParam{}, golden_values<float>(131064))), 0x482554B0u);
}

TYPED_TEST(dyadic, golden_hash_of_2000_prefixes) {
  std::vector<std::int64_t> lengths(2000);
  for (std::size_t k = 0; k < lengths.size(); ++k) lengths[k] = static_cast<std::int64_t>(k) + 1;
  auto const sums = reduced(TypeParam{}, golden_values<float>(2000), std::vector<std::int64_t>(2000, 0), lengths);
  EXPECT_EQ(verify::hash_of(std::span(sums)), 0x387215C46D9189A5u);
}

TYPED_TEST(dyadic, golden_values_of_the_script) {
  auto const floats = golden_values<float>(164'738);
  EXPECT_EQ(bits(d_of(TypeParam{}, floats)), 0x485E6966u);
  EXPECT_EQ(bits(left_fold(floats)), 0x485E6961u);
  EXPECT_EQ(scan_hash(floats), 0xBB698C69D678446Fu);
  auto thirds = golden_values<double>(164'738);
  for (double& value : thirds) value /= 3;
  EXPECT_EQ(bits(d_of(TypeParam{}, thirds)), 0x40F288C531B7BC95u);
  EXPECT_EQ(bits(left_fold(thirds)), 0x40F288C531B7BC75u);
  EXPECT_EQ(scan_hash(thirds), 0x59430ABD09CD85E0u);
  std::vector<double> const tenths(250'000, 0.1);
  EXPECT_EQ(bits(d_of(TypeParam{}, tenths)), 0x40D86A0000000000u);
  EXPECT_EQ(bits(left_fold(tenths)), 0x40D869FFFFFFA68Du);
  EXPECT_EQ(scan_hash(tenths), 0x41A543B823CAF15Cu);
}

}  // namespace
