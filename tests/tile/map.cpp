#include <tessera/tile/map.hpp>

#include "support/backend.hpp"
#include "support/layouts.hpp"
#include "support/oracle.hpp"

namespace {

using namespace tessera;
using testing_support::comparable;

struct product {
  template <class T>
  TESSERA_TILE T operator()(T a, T b) const {
    return a * b;
  }
};
struct to_double {
  TESSERA_TILE double operator()(float a) const { return static_cast<double>(a) * 3; }
};
struct is_positive {
  TESSERA_TILE int operator()(float a) const { return a > 0 ? 1 : 0; }
};

// The operators of register tiles: results in the order of the expressions below.
template <int... Extents>
struct operators {
  template <class Block, class T>
  TESSERA_TILE void operator()(Block& block, T const* values, T scalar, T* to) const {
    constexpr int size = tile_shape<Extents...>::size;
    index64 const extents[] = {Extents...};
    auto const a = tile_load<Extents...>(block, make_view(values, extents), {});
    auto const b = tile_load<Extents...>(block, make_view(values + size, extents), {});
    testing_support::dump(block, a + b, to);
    testing_support::dump(block, a - b, to + size);
    testing_support::dump(block, a * b, to + 2 * size);
    testing_support::dump(block, -a, to + 3 * size);
    testing_support::dump(block, a + scalar, to + 4 * size);
    testing_support::dump(block, a - scalar, to + 5 * size);
    testing_support::dump(block, a * scalar, to + 6 * size);
    testing_support::dump(block, a * b + a, to + 7 * size);
    testing_support::dump(block, tile_map(block, plus{}, tile_map(block, product{}, a, b), a), to + 8 * size);
  }
};

template <class T>
T rounded_product(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using u = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<u>(a) * static_cast<u>(b));
  } else {
    T volatile const result = a * b;
    return result;
  }
}
template <class T>
T opposite(T a) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(std::make_unsigned_t<T>{0} - static_cast<std::make_unsigned_t<T>>(a));
  } else {
    return -a;
  }
}

template <class T, int... Extents, class Place>
void expect_operators(Place const& place, T scalar) {
  constexpr auto size = static_cast<std::size_t>(tile_shape<Extents...>::size);
  auto values = testing_support::rounding_values<T>(2 * size, 1);
  // The sum undoes most of the product, so that a fused multiply-add shows.
  if constexpr (!std::is_integral_v<T>) {
    for (std::size_t i = size; i < 2 * size; ++i) values[i] = static_cast<T>(-1) + values[i] * static_cast<T>(1e-6);
  }
  auto const sum = [](T a, T b) { return testing_support::dyadic_counter<T>::sum(a, b); };
  std::vector<T> expected(9 * size);
  for (std::size_t i = 0; i < size; ++i) {
    T const a = values[i], b = values[size + i];
    expected[i] = sum(a, b);
    expected[size + i] = sum(a, opposite(b));
    expected[2 * size + i] = rounded_product(a, b);
    expected[3 * size + i] = opposite(a);
    expected[4 * size + i] = sum(a, scalar);
    expected[5 * size + i] = sum(a, opposite(scalar));
    expected[6 * size + i] = rounded_product(a, scalar);
    expected[7 * size + i] = sum(rounded_product(a, b), a);
    expected[8 * size + i] = expected[7 * size + i];
  }
  auto const source = place.array(values);
  auto const results = place.array(std::vector<T>(9 * size, T{77}));
  place.template launch<16384>(tile_grid(1), operators<Extents...>{}, static_cast<T const*>(source.data()), scalar, results.data());
  EXPECT_EQ(comparable(results.values()), comparable(expected));
}

template <class Place>
class tile_map_test : public testing::Test {};
TYPED_TEST_SUITE(tile_map_test, testing_support::all_places);

TYPED_TEST(tile_map_test, operators_round_one_by_one) {
  expect_operators<float, 6, 8>(TypeParam{}, 0.1f);
  expect_operators<double, 3, 5>(TypeParam{}, 0.1);
}

template <class Place>
class tile_map_all : public testing::Test {};
TYPED_TEST_SUITE(tile_map_all, testing_support::main_places);

TYPED_TEST(tile_map_all, operators_of_integers_wrap) {
  // Unsigned, since the test's own functor multiplies as the language does.
  expect_operators<std::uint32_t, 257>(TypeParam{}, 3);
  expect_operators<std::uint64_t, 6, 8>(TypeParam{}, UINT64_MAX - 2);
}

// Other result types; tiles in shared memory beside tiles in registers.
struct map_mixed {
  template <class Block>
  TESSERA_TILE void operator()(Block& block, view<float const, 2> values, double* doubles, int* signs, float* products) const {
    auto const kept = tile_load<6, 8>(block, shared, values, {});
    auto const held = tile_load<6, 8>(block, values, {});
    testing_support::dump(block, tile_map(block, to_double{}, kept), doubles);
    testing_support::dump(block, tile_map(block, is_positive{}, held), signs);
    testing_support::dump(block, tile_map(block, product{}, kept, held), products);
  }
};

TYPED_TEST(tile_map_test, types_and_storages) {
  TypeParam const place;
  auto const values = testing_support::rounding_values<float>(48, 5);
  std::vector<double> doubles;
  std::vector<int> signs;
  std::vector<float> products;
  for (float value : values) {
    doubles.push_back(static_cast<double>(value) * 3);
    signs.push_back(value > 0 ? 1 : 0);
    products.push_back(rounded_product(value, value));
  }
  auto const source = place.array(values);
  auto const d = place.array(std::vector<double>(48));
  auto const s = place.array(std::vector<int>(48));
  auto const p = place.array(std::vector<float>(48));
  place.launch(tile_grid(1), map_mixed{}, make_view(static_cast<float const*>(source.data()), {6, 8}), d.data(), s.data(), p.data());
  EXPECT_EQ(comparable(d.values()), comparable(doubles));
  EXPECT_EQ(s.values(), signs);
  EXPECT_EQ(comparable(p.values()), comparable(products));
}

}  // namespace
