#include "huge.hpp"

namespace {

using namespace testing_support;

class zeroed_memory {
 public:
  explicit zeroed_memory(std::int64_t bytes) : memory_(static_cast<std::size_t>(bytes)) {
    require_cuda(cudaMemset(memory_.data(), 0, static_cast<std::size_t>(bytes)));
  }
  void* data() const { return memory_.data(); }
  template <class T>
  std::vector<T> values(std::int64_t first, std::int64_t count) const {
    std::vector<T> result(static_cast<std::size_t>(count));
    require_cuda(cudaDeviceSynchronize());
    require_cuda(cudaMemcpy(result.data(), static_cast<T const*>(data()) + first, result.size() * sizeof(T), cudaMemcpyDeviceToHost));
    return result;
  }

 private:
  device_memory memory_;
};

bool has_room(std::size_t gigabytes) {
  std::size_t free = 0, total = 0;
  require_cuda(cudaMemGetInfo(&free, &total));
  return free >= gigabytes << 30;
}

TEST(scatter_huge, more_than_2_to_the_31_elements_Long) {
  if (!has_room(24)) GTEST_SKIP() << "needs 24 GiB of free device memory";
  check_more_than_2_to_the_31_elements<zeroed_memory>(cuda_place<128>{});
}
TEST(scatter_huge, the_highest_row_Long) {
  if (!has_room(18)) GTEST_SKIP() << "needs 18 GiB of free device memory";
  check_the_highest_row<zeroed_memory>(cuda_place<128>{});
}

}  // namespace
