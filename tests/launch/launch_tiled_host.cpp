// What only the host's launches have: threads of the caller's process, their floating-point mode, and exceptions.
#include <atomic>
#include <cfenv>
#include <string>
#include <thread>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "support/backend.hpp"
#include "support/oracle.hpp"

namespace {

using namespace tessera;
using testing_support::bits;

// How sums round: the vector unit's word where there is one, since std::fegetround reads that of another unit.
int rounding_mode() {
#if defined(__x86_64__)
  return static_cast<int>(_MM_GET_ROUNDING_MODE());
#else
  return std::fegetround();
#endif
}

struct sum_in_a_tile {
  template <class Block>
  void operator()(Block& block, float const* values, float* sums, int* modes) const {
    if (block.rank() == 0) {
      sums[block.tile_id()] = add(values[0], values[1]);
      modes[block.tile_id()] = rounding_mode();
    }
  }
};

#if defined(__x86_64__)

TEST(launch_tiled_host, subnormals_survive_a_caller_that_flushes_them) {
  float const values[2] = {0.0f, 1e-40f};
  std::vector<float> sums(64);
  std::vector<int> modes(64);
  unsigned const saved = _mm_getcsr();
  _mm_setcsr(saved | 0x8040u);  // flush to zero, denormals are zero
  unsigned const flushing = _mm_getcsr();
  launch_tiled(host_backend<1>{}, tile_grid(64), sum_in_a_tile{}, static_cast<float const*>(values), sums.data(), modes.data());
  unsigned const afterwards = _mm_getcsr();
  float volatile const zero = values[0], small = values[1];
  float volatile const flushed = zero + small;
  _mm_setcsr(saved);
  EXPECT_EQ(afterwards & ~0x3Fu, flushing & ~0x3Fu);  // but for the sticky flags
  EXPECT_EQ(bits(static_cast<float>(flushed)), 0u) << "the caller did not flush: this test shows nothing";
  EXPECT_EQ(bits(sums), std::vector<std::uint32_t>(64, bits(1e-40f)));
}

#endif

TEST(launch_tiled_host, sums_round_to_nearest_whatever_the_caller_does) {
  float const values[2] = {1.0f, 0x1.8p-25f};
  for (int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST}) {
    std::vector<float> sums(64);
    std::vector<int> modes(64);
    std::fesetround(mode);
    launch_tiled(host_backend<4>{}, tile_grid(64), sum_in_a_tile{}, static_cast<float const*>(values), sums.data(), modes.data());
    int const afterwards = rounding_mode();
    std::fesetround(mode);
    int const expected = rounding_mode();
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(afterwards, expected);
    EXPECT_EQ(modes, std::vector<int>(64, rounding_mode()));
    EXPECT_EQ(bits(sums), std::vector<std::uint32_t>(64, bits(1.0f)));
  }
}

struct throw_in_a_lane {
  template <class Block>
  void operator()(Block& block, std::int64_t tile, int lane) const {
    if (block.tile_id() == tile && block.rank() == lane) throw std::runtime_error("lane " + std::to_string(lane));
    for (int k = 0; k < 3; ++k) block.sync();
  }
};

// The exception of one lane arrives; the others, which wait for it at a barrier, do not hang. The mode is restored then, too.
template <int Lanes>
void expect_exceptions_arrive() {
  for (int lane = 0; lane < Lanes; ++lane) {
    for (std::int64_t tile : {0, 5, 9}) {
      std::fesetround(FE_UPWARD);
      std::string message;
      try {
        launch_tiled(host_backend<Lanes>{}, tile_grid(10), throw_in_a_lane{}, tile, lane);
      } catch (std::runtime_error const& error) {
        message = error.what();
      }
      int const mode = rounding_mode();
      std::fesetround(FE_TONEAREST);
      EXPECT_NE(mode, rounding_mode());
      EXPECT_EQ(message, "lane " + std::to_string(lane));
    }
  }
}

TEST(launch_tiled_host, an_exception_of_one_lane_arrives) {
  expect_exceptions_arrive<1>();
  expect_exceptions_arrive<4>();
  expect_exceptions_arrive<8>();
}

struct throw_everywhere {
  template <class Block>
  void operator()(Block&) const {
    throw std::runtime_error("everywhere");
  }
};

TEST(launch_tiled_host, of_many_exceptions_one_arrives) {
  EXPECT_THROW(launch_tiled(host_backend<8>{}, tile_grid(100), throw_everywhere{}), std::runtime_error);
}

// The library can be used from several threads at once, and from inside a tile.
struct launch_inside {
  template <class Block>
  void operator()(Block&, float const* values, std::atomic<int>* right) const {
    float sum = 0;
    int mode = 0;
    launch_tiled(host_backend<1>{1}, tile_grid(1), sum_in_a_tile{}, values, &sum, &mode);
    if (bits(sum) == bits(1e-40f)) ++*right;
  }
};

TEST(launch_tiled_host, launches_nest_and_run_side_by_side) {
  float const values[2] = {0.0f, 1e-40f};
  std::atomic<int> right{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back(
          [&] { launch_tiled(host_backend<1>{}, tile_grid(20), launch_inside{}, static_cast<float const*>(values), &right); });
    }
  }
  EXPECT_EQ(right, 60);
}

struct note_thread {
  template <class Block>
  void operator()(Block& block, std::vector<std::thread::id>* threads) const {
    (*threads)[static_cast<std::size_t>(block.tile_id())] = std::this_thread::get_id();
  }
};

TEST(launch_tiled_host, one_core_is_the_caller) {
  std::vector<std::thread::id> threads(100);
  launch_tiled(host_backend<1>{1}, tile_grid(100), note_thread{}, &threads);
  EXPECT_EQ(threads, std::vector<std::thread::id>(100, std::this_thread::get_id()));
}

}  // namespace
