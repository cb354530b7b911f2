#include <tessera/group/scratch.hpp>

#include "support/backend.hpp"

namespace {

using namespace tessera;

// What the stack holds inside and behind scopes, at each step.
struct note_usage {
  template <class Block>
  TESSERA_TILE void operator()(Block& block, int* used, int* distance) const {
    bool const note = block.rank() == 0;
    int step = 0;
    auto const put = [&] {
      if (note) used[step] = block.scratch().used();
      ++step;
    };
    put();
    {
      scratch_array<float, 5, Block> first(block);
      put();
      {
        scratch_array<char, 1, Block> second(block);
        put();
        scratch_array<double, 4, Block> third(block);
        put();
        if (note) {
          distance[0] = static_cast<int>(reinterpret_cast<char*>(third.data()) - reinterpret_cast<char*>(first.data()));
          distance[1] = static_cast<int>(reinterpret_cast<cuda::std::uintptr_t>(second.data()) % 16);
        }
      }
      put();
      auto const tile = tile_full<8, 8>(block, shared, 1.0f);
      put();
      (void)tile_reduce(block, tile);
      put();
      auto const indices = tile_arange<8>(block, 0);
      auto const gathered = tile_load_indexed<0, 8, 8>(block, make_view(tile.data(), {8, 8}), indices);
      (void)gathered;
      put();
    }
    put();
  }
};

template <class Place>
class scratch : public testing::Test {};
TYPED_TEST_SUITE(scratch, testing_support::all_places);

TYPED_TEST(scratch, scopes_give_back_what_they_took) {
  TypeParam const place;
  auto const used = place.array(std::vector<int>(9, -1));
  auto const distance = place.array(std::vector<int>(2, -1));
  place.launch(tile_grid(1), note_usage{}, used.data(), distance.data());
  EXPECT_EQ(used.values(), (std::vector<int>{0, 32, 48, 80, 32, 288, 288, 288, 0}));
  EXPECT_EQ(distance.values(), (std::vector<int>{48, 0}));
}

// A block's scratch, filled to the last byte.
struct fill_exactly {
  template <class Block>
  TESSERA_TILE void operator()(Block& block, float* to) const {
    auto const a = tile_full<64>(block, shared, 1.0f);
    auto const b = tile_full<64>(block, shared, 2.0f);
    if (block.rank() == 0) to[block.tile_id()] = a[63] + b[0] + static_cast<float>(block.scratch().used());
  }
};

TYPED_TEST(scratch, may_be_used_to_the_last_byte) {
  TypeParam const place;
  auto const result = place.array(std::vector<float>(3));
  place.template launch<512>(tile_grid(3), fill_exactly{}, result.data());
  EXPECT_EQ(result.values(), std::vector<float>(3, 515.0f));
}

}  // namespace
