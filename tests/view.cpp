#include <tessera/view.hpp>

#include <array>
#include <string>

#include "support/backend.hpp"
#include "support/oracle.hpp"

namespace {

using namespace tessera;

struct particle {
  double time;
  float mass;
  float position[3];
  std::int32_t kind;
};

// Reads every element through the view's own mapping and accessor.
struct read_all {
  template <class Block>
  TESSERA_TILE void operator()(Block& block, view<float const, 2> array, float* to) const {
    if (block.rank() != 0) return;
    std::int64_t k = 0;
    for (std::int64_t i = 0; i < array.extent(0); ++i) {
      for (std::int64_t j = 0; j < array.extent(1); ++j) {
        to[k++] = array.accessor().access(array.data_handle(), static_cast<cuda::std::size_t>(array.mapping()(i, j)));
      }
    }
  }
};
// The same by a tile that is larger than the array.
struct load_all {
  template <class Block>
  TESSERA_TILE void operator()(Block& block, view<float const, 2> array, float* to) const {
    auto const tile = tile_load<8, 8>(block, shared, array, {});
    if (block.rank() != 0) return;
    std::int64_t k = 0;
    for (int i = 0; i < array.extent(0); ++i) {
      for (int j = 0; j < array.extent(1); ++j) to[k++] = tile(i, j);
    }
  }
};

template <class Place, class Array>
void expect_elements(Place const& place, Array const& array, std::vector<float> const& expected) {
  auto const read = place.array(std::vector<float>(expected.size(), 77.0f));
  place.launch(tile_grid(1), read_all{}, view<float const, 2>(array), read.data());
  EXPECT_EQ(read.values(), expected);
  auto const loaded = place.array(std::vector<float>(expected.size(), 77.0f));
  place.launch(tile_grid(1), load_all{}, view<float const, 2>(array), loaded.data());
  EXPECT_EQ(loaded.values(), expected);
}

template <class Place>
class view_test : public testing::Test {};
TYPED_TEST_SUITE(view_test, testing_support::main_places);

std::vector<float> counting(std::size_t n) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<float>(i);
  return values;
}

TYPED_TEST(view_test, strides_slices_rows_columns_and_transposes) {
  TypeParam const place;
  auto const memory = place.array(counting(60));
  auto const dense = make_view(memory.data(), {6, 5});
  EXPECT_EQ(dense.extent(0), 6);
  EXPECT_EQ(dense.extent(1), 5);
  EXPECT_EQ(dense.mapping().byte_stride(0), 20);
  expect_elements(place, slice<0>(dense, 4, 2), {20, 21, 22, 23, 24, 25, 26, 27, 28, 29});
  expect_elements(place, slice<1>(slice<0>(dense, 1, 2), 3, 2), {8, 9, 13, 14});
  expect_elements(place, slice<0>(dense, 3, 0), {});
  expect_elements(place, transposed(slice<0>(dense, 0, 2)), {0, 5, 1, 6, 2, 7, 3, 8, 4, 9});
  expect_elements(place, make_view(memory.data() + 2, {2, 3}, {40, 8}), {2, 4, 6, 12, 14, 16});                     // a pitch and a step
  expect_elements(place, make_view(memory.data() + 59, {2, 3}, {-40, -4}), {59, 58, 57, 49, 48, 47});               // backwards
  expect_elements(place, make_view(static_cast<float const*>(memory.data()), {2, 3}, {0, 4}), {0, 1, 2, 0, 1, 2});  // broadcast

  auto const cube = make_view(memory.data(), {3, 4, 5});
  expect_elements(place, row(cube, 1), [] {
    auto all = counting(60);
    return std::vector<float>(all.begin() + 20, all.begin() + 40);
  }());
  expect_elements(place, column(cube, 4), {4, 9, 14, 19, 24, 29, 34, 39, 44, 49, 54, 59});
  auto const line = row(row(cube, 2), 3);
  EXPECT_EQ(line.extent(0), 5);
  EXPECT_EQ(line.data_handle(), memory.data() + 55);
  auto const turned = transposed(cube);
  EXPECT_EQ(turned.extent(0), 5);
  EXPECT_EQ(turned.extent(2), 3);
  EXPECT_EQ(turned.mapping().byte_stride(0), 4);
  EXPECT_EQ(turned.mapping().byte_stride(2), 80);
}

TYPED_TEST(view_test, a_field_of_an_array_of_structs) {
  TypeParam const place;
  std::vector<particle> particles(6);
  for (std::size_t i = 0; i < 6; ++i) particles[i] = {0.5, static_cast<float>(i), {1, 2, 3}, static_cast<std::int32_t>(i)};
  auto const memory = place.array(particles);
  auto const structs = make_view(memory.data(), {2, 3});
  auto const masses = field(structs, &particle::mass);
  EXPECT_EQ(masses.mapping().byte_stride(1), static_cast<std::int64_t>(sizeof(particle)));
  static_assert(std::is_same_v<typename decltype(masses)::element_type, float>);
  expect_elements(place, masses, {0, 1, 2, 3, 4, 5});
  auto const fixed = field(make_view(static_cast<particle const*>(memory.data()), {2, 3}), &particle::mass);
  static_assert(std::is_same_v<typename decltype(fixed)::element_type, float const>);
  expect_elements(place, slice<1>(fixed, 1, 2), {1, 2, 4, 5});
}

// Adds to one field: the others keep their bits.
struct add_to_masses {
  template <class Block>
  TESSERA_TILE void operator()(Block& block, view<float, 1> masses, view<std::int32_t, 1> kinds) const {
    tile_atomic_add(block, masses, tile_full<4>(block, 0.5f), {1});
    tile_store(block, kinds, tile_full<4>(block, 9), {-2});
  }
};

TYPED_TEST(view_test, writing_a_field_leaves_the_others) {
  TypeParam const place;
  std::vector<particle> particles(6);
  for (std::size_t i = 0; i < 6; ++i) particles[i] = {0.25, static_cast<float>(i), {1, 2, 3}, static_cast<std::int32_t>(i)};
  auto const memory = place.array(particles);
  auto const structs = make_view(memory.data(), {6});
  place.launch(tile_grid(1), add_to_masses{}, field(structs, &particle::mass), field(structs, &particle::kind));
  auto const now = memory.values();
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(now[i].time, 0.25);
    EXPECT_EQ(now[i].mass, static_cast<float>(i) + (i >= 1 && i < 5 ? 0.5f : 0.0f));
    EXPECT_EQ(now[i].position[0] + 10 * now[i].position[1] + 100 * now[i].position[2], 321.0f);
    EXPECT_EQ(now[i].kind, i < 2 ? 9 : static_cast<std::int32_t>(i));
  }
}

TYPED_TEST(view_test, any_strided_mdspan_is_a_view) {
  namespace cs = cuda::std;
  TypeParam const place;
  auto const memory = place.array(counting(60));
  float* const data = memory.data();
  std::vector<float> const rows = {0, 1, 2, 3, 4, 5};
  expect_elements(place, cs::mdspan<float, cs::dextents<int, 2>>(data, 2, 3), rows);
  expect_elements(place, cs::mdspan<float, cs::extents<int, 2, 3>>(data), rows);
  expect_elements(place, cs::mdspan<float const, cs::extents<std::size_t, 2, cs::dynamic_extent>>(data, 3), rows);
  expect_elements(place, cs::mdspan<float, cs::dextents<std::int64_t, 2>, cs::layout_left>(data, 2, 3), {0, 2, 4, 1, 3, 5});
  using strided = cs::layout_stride::mapping<cs::dextents<int, 2>>;
  expect_elements(
      place,
      cs::mdspan<float, cs::dextents<int, 2>, cs::layout_stride>(data, strided(cs::dextents<int, 2>(2, 3), cs::array<int, 2>{10, 3})),
      {0, 3, 6, 10, 13, 16});
  // As they are, as arguments of the primitives.
  auto const span = cs::mdspan<float, cs::extents<int, 2, 3>, cs::layout_left>(data);
  static_assert(std::is_same_v<decltype(as_view(span)), view<float, 2>>);
  expect_elements(place, as_view(span), {0, 2, 4, 1, 3, 5});
  expect_elements(place, transposed(span), rows);
  expect_elements(place, row(cs::mdspan<float, cs::dextents<int, 3>>(data, 3, 4, 5), 1), [] {
    auto all = counting(60);
    return std::vector<float>(all.begin() + 20, all.begin() + 40);
  }());
}

TYPED_TEST(view_test, negative_extents_are_named) {
  float value = 0;
  auto const message = [&](auto const& make) -> std::string {
    try {
      make();
    } catch (usage_error const& error) {
      return error.what();
    }
    return "no usage_error";
  };
  auto const one = message([&] { (void)make_view(&value, {3, -7}); });
  EXPECT_NE(one.find("-7"), std::string::npos) << one;
  EXPECT_NE(one.find("dimension 1"), std::string::npos) << one;
  auto const two = message([&] { (void)make_view(&value, {-1}, {4}); });
  EXPECT_NE(two.find("-1"), std::string::npos) << two;
  EXPECT_EQ(make_view(&value, {0, 5}).size(), 0u);
}

TYPED_TEST(view_test, counts_of_any_integer_type_saturate) {
  EXPECT_EQ(index64(std::int8_t{-1}).value, -1);
  EXPECT_EQ(index64(4'000'000'000u).value, 4'000'000'000);
  EXPECT_EQ(index64(INT64_MIN).value, INT64_MIN);
  EXPECT_EQ(index64(UINT64_MAX).value, INT64_MAX);
  EXPECT_EQ(index64((std::uint64_t{1} << 63) + 5).value, INT64_MAX);
  EXPECT_EQ(index64((std::uint64_t{1} << 63) - 1).value, INT64_MAX);
  EXPECT_EQ(index64(std::uint64_t{7}).value, 7);
  float value = 0;
  EXPECT_EQ(make_view(&value, {UINT64_MAX}, {0}).extent(0), INT64_MAX);
}

TYPED_TEST(view_test, two_indices_for_one_element_are_not_unique) {
  float value[12] = {};
  EXPECT_TRUE(make_view(value, {3, 4}).is_unique());
  EXPECT_FALSE(make_view(value, {3, 4}, {0, 4}).is_unique());
  EXPECT_TRUE(make_view(value, {1, 4}, {0, 4}).is_unique());
}

}  // namespace
