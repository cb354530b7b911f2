// The other translation unit of levels.cpp.
#include "levels.hpp"

namespace testing_support {

namespace {
template <class Type>
struct first;
template <class Place, class... Places>
struct first<testing::Types<Place, Places...>> {
  using type = Place;
};
}  // namespace

std::vector<float> scattered_without_guarantee_elsewhere(row_problem<float> const& problem) {
  return scattered_at<tessera::not_guaranteed>(first<main_places>::type{}, problem);
}
std::vector<float> scattered_gpu_to_gpu_elsewhere(row_problem<float> const& problem) {
  return scattered_at<tessera::gpu_to_gpu>(first<main_places>::type{}, problem);
}

}  // namespace testing_support
