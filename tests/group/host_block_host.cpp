#include <tessera/group/host_block.hpp>

#include <string>

#include "support/backend.hpp"

namespace {

using namespace tessera;

// Every lane of every block writes its rank before the barrier and reads its neighbour's behind it, many times.
struct pass_around {
  template <class Block>
  void operator()(Block& block, int rounds, int* wrong) const {
    int const own = block.rank(), next = (own + 1) % Block::size;
    scratch_array<int, Block::size, Block> seen(block);
    for (int round = 0; round < rounds; ++round) {
      block.sync();
      seen[own] = round * 100 + own;
      block.sync();
      if (seen[next] != round * 100 + next) ++wrong[own];
    }
  }
};

template <int Lanes>
void expect_barriers() {
  std::vector<int> wrong(Lanes, 0);
  launch_tiled(host_backend<Lanes>{1}, tile_grid(3), pass_around{}, 200, wrong.data());
  EXPECT_EQ(wrong, std::vector<int>(Lanes, 0));
}

TEST(host_block, barriers_separate_writers_and_readers) {
  expect_barriers<1>();
  expect_barriers<2>();
  expect_barriers<4>();
  expect_barriers<8>();
}

// Two tiles that fit alone, but not together.
struct take_too_much {
  template <class Block>
  void operator()(Block& block) const {
    auto const a = tile_full<16, 8>(block, shared, 1.0f);
    auto const b = tile_full<16, 8>(block, shared, 2.0f);
    (void)a;
    (void)b;
  }
};

template <int Lanes>
std::string overflow_message() {
  try {
    launch_tiled<128, 1000>(host_backend<Lanes>{}, tile_grid(5), take_too_much{});
  } catch (usage_error const& error) {
    return error.what();
  }
  return "no usage_error";
}

TEST(host_block, scratch_that_is_too_small_is_an_error_with_both_numbers) {
  for (std::string const& message : {overflow_message<1>(), overflow_message<4>()}) {
    EXPECT_NE(message.find("1024 bytes"), std::string::npos) << message;
    EXPECT_NE(message.find("1000"), std::string::npos) << message;
  }
}

}  // namespace
