#include <atomic>
#include <string>
#include <thread>

#include "support/backend.hpp"
#include "support/oracle.hpp"

namespace {

using namespace tessera;
using testing_support::bits;

// Counts visits of each logical tile, and writes where the tile says that it is.
struct visit {
  template <class Block>
  TESSERA_TILE void operator()(Block& block, std::int32_t* visits, std::int64_t* places) const {
    auto const id = block.tile_id();
    if (block.rank() == 0) {
      atomic_fetch_add(block, visits + id, 1);
      for (int d = 0; d < 3; ++d) {
        places[6 * id + d] = block.tile_index(d);
        places[6 * id + 3 + d] = block.tile_count(d);
      }
    }
  }
};

template <class Place>
class launch_tiled_test : public testing::Test {};
TYPED_TEST_SUITE(launch_tiled_test, testing_support::all_places);

TYPED_TEST(launch_tiled_test, every_logical_tile_once_whatever_the_cap) {
  TypeParam const place;
  std::int64_t const shapes[][3] = {{1, 1, 1}, {7, 1, 1}, {1000, 1, 1}, {3, 5, 1}, {2, 3, 4}, {1, 1, 9}, {5, 1, 2}, {1, 6, 1}};
  for (auto const& shape : shapes) {
    for (std::int64_t cap : {0, 1, 2, 3, 7, 100000}) {
      std::int64_t const tiles = shape[0] * shape[1] * shape[2];
      auto const visits = place.array(std::vector<std::int32_t>(static_cast<std::size_t>(tiles), 0));
      auto const places = place.array(std::vector<std::int64_t>(static_cast<std::size_t>(tiles) * 6, -1));
      place.launch(tile_grid(shape[0], shape[1], shape[2]).capped(cap), visit{}, visits.data(), places.data());
      std::vector<std::int64_t> expected;
      for (std::int64_t i = 0; i < shape[0]; ++i) {
        for (std::int64_t j = 0; j < shape[1]; ++j) {
          for (std::int64_t k = 0; k < shape[2]; ++k) expected.insert(expected.end(), {i, j, k, shape[0], shape[1], shape[2]});
        }
      }
      EXPECT_EQ(visits.values(), std::vector<std::int32_t>(static_cast<std::size_t>(tiles), 1)) << tiles << " tiles, cap " << cap;
      EXPECT_EQ(places.values(), expected) << tiles << " tiles, cap " << cap;
    }
  }
}

TYPED_TEST(launch_tiled_test, empty_grids_launch_nothing) {
  TypeParam const place;
  auto const visits = place.array(std::vector<std::int32_t>(1, 0));
  auto const places = place.array(std::vector<std::int64_t>(6, -1));
  for (auto const& grid : {tile_grid(0), tile_grid(0, 5), tile_grid(5, 0), tile_grid(3, 4, 0), tile_grid(0).capped(7)}) {
    place.launch(grid, visit{}, visits.data(), places.data());
  }
  EXPECT_EQ(visits.values(), std::vector<std::int32_t>{0});
}

template <class Action>
std::string usage_error_of(Action const& action) {
  try {
    action();
  } catch (usage_error const& error) {
    return error.what();
  }
  return "no usage_error";
}

TYPED_TEST(launch_tiled_test, grids_that_cannot_be_are_named) {
  TypeParam const place;
  auto const visits = place.array(std::vector<std::int32_t>(1, 0));
  auto const places = place.array(std::vector<std::int64_t>(6, -1));
  auto const message = [&](tile_grid const& grid) {
    return usage_error_of([&] { place.launch(grid, visit{}, visits.data(), places.data()); });
  };
  EXPECT_NE(message(tile_grid(-3)).find("dimension 0 has -3 tiles"), std::string::npos) << message(tile_grid(-3));
  EXPECT_NE(message(tile_grid(1, -4)).find("dimension 1 has -4 tiles"), std::string::npos);
  EXPECT_NE(message(tile_grid(0, 1, -5)).find("dimension 2 has -5 tiles"), std::string::npos);
  EXPECT_NE(message(tile_grid(1).capped(-2)).find("-2"), std::string::npos);
  EXPECT_NE(message(tile_grid(INT64_MAX, 2)).find("more than 2^63 - 1"), std::string::npos);
  EXPECT_EQ(visits.values(), std::vector<std::int32_t>{0});
}

// Stages a tile in shared memory of every size and reduces it.
template <int Rows>
struct reduce_rows {
  template <class Block>
  TESSERA_TILE void operator()(Block& block, view<float const, 2> values, float* sums) const {
    auto const tile = tile_load<Rows, 32>(block, shared, values, {block.tile_index(0) * Rows, 0});
    float const sum = tile_reduce(block, tile);
    if (block.rank() == 0) sums[block.tile_id()] = sum;
  }
};

template <int ScratchBytes, int Rows, class Place>
void expect_row_sums(Place const& place, std::int64_t tiles) {
  auto const n = static_cast<std::size_t>(tiles) * Rows * 32;
  auto const values = testing_support::rounding_values<float>(n, 1);
  std::vector<float> expected;
  for (std::size_t begin = 0; begin < n; begin += Rows * 32) {
    auto const from = values.begin() + static_cast<std::ptrdiff_t>(begin);
    expected.push_back(testing_support::dyadic_sum(std::vector<float>(from, from + Rows * 32)));
  }
  auto const source = place.array(values);
  auto const sums = place.array(std::vector<float>(static_cast<std::size_t>(tiles)));
  place.template launch<ScratchBytes>(tile_grid(tiles), reduce_rows<Rows>{},
                                      make_view(static_cast<float const*>(source.data()), {tiles * Rows, 32}), sums.data());
  EXPECT_EQ(bits(sums.values()), bits(expected));
}

template <class Place>
class launch_tiled_scratch : public testing::Test {};
TYPED_TEST_SUITE(launch_tiled_scratch, testing_support::main_places);

// Two threads, two kernels, small and large in turn: neither lowers what the other was allowed.
TYPED_TEST(launch_tiled_scratch, more_than_48_kib_from_two_threads) {
  expect_row_sums<64 * 1024, 400>(TypeParam{}, 3);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([t] {
      for (int k = 0; k < 20; ++k) {
        if ((k + t) % 2 == 0) {
          expect_row_sums<64 * 1024, 400>(TypeParam{}, 3);
        } else {
          expect_row_sums<8 * 1024, 40>(TypeParam{}, 30);
        }
      }
    });
  }
}

// Arguments go by value: what the caller does with them afterwards is no business of the tiles.
struct write_value {
  template <class Block>
  TESSERA_TILE void operator()(Block& block, int value, int* to) const {
    if (block.rank() == 0) *to = value;
  }
};

TYPED_TEST(launch_tiled_scratch, arguments_are_copied) {
  TypeParam const place;
  auto const result = place.array(std::vector<int>{0});
  int value = 41;
  place.launch(tile_grid(1), write_value{}, value, result.data());
  value = 0;
  EXPECT_EQ(result.values(), std::vector<int>{41});
}

// A destination that repeats an element is refused; a source may.
struct store_ones {
  template <class Block, class Destination>
  TESSERA_TILE void operator()(Block& block, Destination const& destination) const {
    tile_store(block, destination, tile_full<4, 4>(block, 1.0f));
  }
};

TYPED_TEST(launch_tiled_scratch, destinations_with_stride_zero_are_refused) {
  TypeParam const place;
  auto const memory = place.array(std::vector<float>(16, 0.0f));
  auto const message = usage_error_of([&] { place.launch(tile_grid(1), store_ones{}, make_view(memory.data(), {4, 4}, {0, 4})); });
  EXPECT_NE(message.find("stride 0"), std::string::npos) << message;
  EXPECT_EQ(memory.values(), std::vector<float>(16, 0.0f));
  place.launch(tile_grid(1), store_ones{}, make_view(memory.data(), {1, 4}, {0, 4}));  // one row repeats nothing
  EXPECT_EQ(memory.values()[3], 1.0f);
}

}  // namespace
