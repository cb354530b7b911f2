// One kernel template at several levels, in one translation unit and in two: each use is right.
#include "levels.hpp"

namespace {

using namespace testing_support;

template <class Place>
class scatter_levels : public testing::Test {};
TYPED_TEST_SUITE(scatter_levels, main_places);

// Sums that are exact at a level that promises no order: whole numbers.
row_problem<float> whole_numbers() {
  row_problem<float> problem(20, 4, chosen_rows(choice::hot, 500, 20, 3));
  integers random(5);
  for (float& value : problem.values) value = static_cast<float>(random.below(2001) - 1000);
  for (float& value : problem.destination) value = static_cast<float>(random.below(2001) - 1000);
  return problem;
}

TYPED_TEST(scatter_levels, one_kernel_at_every_level) {
  TypeParam place;
  auto const exact = whole_numbers();
  row_problem<float> const rounding(20, 4, chosen_rows(choice::hot, 500, 20, 3));
  EXPECT_TRUE(same_bits(exact.expected(), scattered_at<tessera::not_guaranteed>(place, exact)));
  EXPECT_TRUE(same_bits(exact.expected(), scattered_at<tessera::gpu_to_gpu>(place, exact)));
  EXPECT_TRUE(same_bits(rounding.expected(), scattered_at<tessera::gpu_to_gpu>(place, rounding)));
  EXPECT_TRUE(same_bits(rounding.expected(), scattered_at<tessera::run_to_run>(place, rounding)));
}

TYPED_TEST(scatter_levels, one_kernel_in_two_translation_units) {
  TypeParam place;
  auto const exact = whole_numbers();
  row_problem<float> const rounding(20, 4, chosen_rows(choice::hot, 500, 20, 3));
  EXPECT_TRUE(same_bits(exact.expected(), scattered_without_guarantee_elsewhere(exact)));
  EXPECT_TRUE(same_bits(rounding.expected(), scattered_at<tessera::gpu_to_gpu>(place, rounding)));
  EXPECT_TRUE(same_bits(rounding.expected(), scattered_gpu_to_gpu_elsewhere(rounding)));
}

// The level decides what a target is.
TYPED_TEST(scatter_levels, types_say_which) {
  TypeParam place;
  using tessera::make_view;
  auto const array = place.array(std::vector<float>(4));
  auto const integers_array = place.array(std::vector<int>(4));
  auto const floats = make_view(array.data(), {4});
  auto const ints = make_view(integers_array.data(), {4});
  tessera::records const declared{.tiles = 1, .per_tile = 1};
  auto const workspace = rubbish_workspace(place, tessera::scatter_workspace_bytes<tessera::gpu_to_gpu>(place.backend, floats, declared));
  auto const sorted = tessera::scatter_target<tessera::gpu_to_gpu>(place.backend, floats, declared, workspace_of(workspace));
  auto const same = tessera::scatter_target<tessera::run_to_run>(place.backend, floats, declared, workspace_of(workspace));
  auto const direct = tessera::scatter_target<tessera::not_guaranteed>(place.backend, floats, declared, {});
  auto const exact = tessera::scatter_target<tessera::gpu_to_gpu>(place.backend, ints, declared, {});
  static_assert(!decltype(sorted)::applied_as_written && !decltype(same)::applied_as_written);
  static_assert(decltype(direct)::applied_as_written && decltype(exact)::applied_as_written);
  EXPECT_EQ(tessera::scatter_workspace_bytes<tessera::not_guaranteed>(place.backend, floats, declared), 0u);
  EXPECT_EQ(tessera::scatter_workspace_bytes<tessera::gpu_to_gpu>(place.backend, ints, declared), 0u);
}

}  // namespace
