#include <tessera/verify/repeat.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/error.hpp>
#include <tessera/verify/hash.hpp>
#include <tessera/view.hpp>

namespace {

namespace verify = tessera::verify;

TEST(repeat, one_pattern) {
  std::vector<float> out(100);
  auto const report = verify::repeat(
      50, [&] { out.assign(100, 0.5f); }, verify::bytes_of(out));
  EXPECT_EQ(report.runs, 50);
  EXPECT_EQ(report.pattern_count(), 1u);
  EXPECT_FALSE(report.first_difference);
  EXPECT_EQ(report.hash(), verify::hash_of(std::span(out)));
  EXPECT_GE(report.median_milliseconds, report.least_milliseconds);
}

TEST(repeat, patterns_and_their_first_difference) {
  std::vector<float> out(100);
  auto const report = verify::repeat(
      11,
      [&](int run) {
        out.assign(100, 1.0f);
        if (run % 5 == 3) out[17] = 1.5f;
        if (run == 4) out[0] = 2.0f;
        return 11.0 - run;  // the launch's own time
      },
      verify::bytes_of(out));
  EXPECT_EQ(report.pattern_count(), 3u);
  ASSERT_TRUE(report.first_difference);
  EXPECT_EQ(report.first_difference->index, 17u);
  EXPECT_EQ(report.patterns[1].first_result, 3u);
  EXPECT_EQ(report.patterns[1].results, 2u);
  EXPECT_EQ(report.least_milliseconds, 1.0);
  EXPECT_EQ(report.median_milliseconds, 6.0);
  auto const text = verify::to_string(report);
  EXPECT_EQ(text, "11 runs, 3 patterns, first " + verify::hash_text(report.hash()) +
                      "; run 3: element 17 of 100: 3f800000 and 3fc00000; 1 differs; 1 ms (median 6)");
}

TEST(repeat, element_size_of_the_difference) {
  std::vector<double> out(3);
  auto const report = verify::repeat(2, [&](int run) { out[2] = run; }, verify::bytes_of(out), {.element_bytes = 8});
  ASSERT_TRUE(report.first_difference);
  EXPECT_EQ(report.first_difference->index, 2u);
  EXPECT_EQ(report.first_difference->right_bits, 0x3ff0000000000000u);
}

TEST(repeat, no_runs) {
  std::vector<float> out;
  auto const report = verify::repeat(
      0, [] { FAIL(); }, verify::bytes_of(out));
  EXPECT_EQ(report.pattern_count(), 0u);
  EXPECT_EQ(verify::to_string(report), "0 runs, 0 patterns");
  EXPECT_THROW((void)verify::repeat(
                   -1, [] {}, verify::bytes_of(out)),
               tessera::usage_error);
}

TEST(repeat, exceptions_pass_through) {
  std::vector<float> out;
  EXPECT_THROW((void)verify::repeat(
                   3, [] { throw std::runtime_error("launch"); }, verify::bytes_of(out)),
               std::runtime_error);
}

TEST(repeat, progress_comes_when_due_and_at_the_end) {
  std::vector<float> out(1);
  std::ostringstream lines;
  (void)verify::repeat(3, [&](int run) { out[0] = static_cast<float>(run); }, verify::bytes_of(out),
                       {.progress = verify::progress_to(lines, "test", false), .progress_seconds = 0});
  EXPECT_EQ(lines.str(), "test: run 1 of 3, 1 pattern\ntest: run 2 of 3, 2 patterns\ntest: run 3 of 3, 3 patterns\n");

  std::ostringstream none;
  (void)verify::repeat(3, [] {}, verify::bytes_of(out), {.progress = verify::progress_to(none, "test", true), .progress_seconds = 1000});
  EXPECT_EQ(none.str(), "");
}

TEST(bytes_of, strided_views_are_gathered) {
  std::vector<int> const memory = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  auto const whole = tessera::make_view(memory.data(), {3, 4});
  auto const elements = [](auto const& fetch) {
    auto const bytes = fetch();
    auto const* const first = reinterpret_cast<int const*>(bytes.data());
    return std::vector<int>(first, first + bytes.size() / sizeof(int));
  };
  EXPECT_EQ(elements(verify::bytes_of(whole)), memory);
  EXPECT_EQ(elements(verify::bytes_of(tessera::column(whole, 1))), (std::vector<int>{1, 5, 9}));
  EXPECT_EQ(elements(verify::bytes_of(tessera::transposed(tessera::slice<1>(whole, 2, 2)))), (std::vector<int>{2, 6, 10, 3, 7, 11}));
  EXPECT_EQ(elements(verify::bytes_of(tessera::make_view(static_cast<int*>(nullptr), {0, 4}))), std::vector<int>{});
}

// The canary of all repeat tests: additions in order of arrival, by two threads that run at once, give more than one pattern. On a busy
// machine they may run one after the other for a while, so it looks again.
TEST(repeat, a_race_shows) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one core shows no race";
  std::vector<float> out(1);
  auto const race = [&] {
    return verify::repeat(
        200,
        [&] {
          std::atomic<int> ready = 0;
          std::atomic<float> sum = 0.0f;
          auto const add = [&](float first) {
            ++ready;
            while (ready < 2) std::this_thread::yield();
            for (int i = 0; i < 20000; ++i) sum.fetch_add(first / static_cast<float>(i + 1));
          };
          std::thread other(add, 1e4f);
          add(0.7f);
          other.join();
          out[0] = sum;
        },
        verify::bytes_of(out));
  };
  auto report = race();
  for (int again = 0; again < 100 && report.pattern_count() == 1; ++again) report = race();
  EXPECT_GT(report.pattern_count(), 1u);
  EXPECT_TRUE(report.first_difference);
}

}  // namespace
