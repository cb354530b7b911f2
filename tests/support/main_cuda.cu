#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace {

// Without a GPU every test of the program reports itself skipped, with the reason; TESSERA_REQUIRE_GPU makes that a failure.
class gpu : public testing::Environment {
  void SetUp() override {
    int devices = 0;
    cudaError_t const status = cudaGetDeviceCount(&devices);
    if (status == cudaSuccess && devices > 0) return;
    char const* const reason = status == cudaSuccess ? "no device" : cudaGetErrorString(status);
    if (std::getenv("TESSERA_REQUIRE_GPU") != nullptr) FAIL() << "no GPU that CUDA can use: " << reason;
    GTEST_SKIP() << "no GPU that CUDA can use: " << reason;
  }
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  testing::AddGlobalTestEnvironment(new gpu);
  return RUN_ALL_TESTS();
}
