#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>

namespace {

// Without a GPU each test of the program is skipped, with the reason, before its fixture's SetUp; TESSERA_REQUIRE_GPU makes that a failure.
class skip_all_tests : public testing::EmptyTestEventListener {
 public:
  explicit skip_all_tests(std::string reason) : reason_(std::move(reason)) {}
  void OnTestStart(testing::TestInfo const&) override { GTEST_SKIP() << reason_; }

 private:
  std::string reason_;
};

std::string reason_for_no_gpu() {
  int devices = 0;
  cudaError_t const status = cudaGetDeviceCount(&devices);
  if (status == cudaSuccess && devices > 0) return "";
  return std::string("no GPU that CUDA can use: ") + (status == cudaSuccess ? "there is no device" : cudaGetErrorString(status));
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (!testing::GTEST_FLAG(list_tests)) {
    if (auto const reason = reason_for_no_gpu(); !reason.empty()) {
      if (std::getenv("TESSERA_REQUIRE_GPU") != nullptr) {
        std::cerr << reason << '\n';
        return 1;
      }
      testing::UnitTest::GetInstance()->listeners().Append(new skip_all_tests(reason));
    }
  }
  return RUN_ALL_TESTS();
}
