// One test body for all backends. A place is where kernels run in a test: the host with some lanes, or a GPU with some block size. Compiled
// by nvcc, the places are the GPU's; compiled by a C++ compiler, the host's.
//
//     template <class Place> class tile_load : public testing::Test {};
//     TYPED_TEST_SUITE(tile_load, testing_support::all_places);
//     TYPED_TEST(tile_load, zero_fills_what_lies_outside) {
//       TypeParam place;
//       auto values = place.array(std::vector<float>{...});              // lives where the kernels run
//       place.launch(tile_grid(4), some_kernel{}, make_view(values.data(), {n}));
//       EXPECT_EQ(values.values(), expected);
//     }
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#if defined(__CUDACC__)
#include <tessera/tessera.cuh>
#else
#include <tessera/tessera.hpp>
#endif

namespace testing_support {

// The builds with other flags are many: they take fewer lane counts, and fewer element types where a type takes long to compile. On the GPU
// each type is many kernels.
#if defined(TESSERA_TEST_FEWER_PLACES)
inline constexpr bool fewer_places = true;
#else
inline constexpr bool fewer_places = false;
#endif
template <class Place>
inline constexpr bool takes_all_types = !Place::on_gpu && !fewer_places;

// --use_fast_math is about single precision alone (and what is converted from it and to it): the kernels of other types are the same
// instructions without it, where they are tested.
#if defined(TESSERA_TEST_FAST_MATH)
inline constexpr bool float_alone = true;
#else
inline constexpr bool float_alone = false;
#endif

// An array of a test's, between sentinel margins on both sides that must survive; `shift` elements past an aligned address.
template <class T, class Memory>
class guarded_array {
 public:
  explicit guarded_array(std::vector<T> const& values, std::size_t shift = 0)
      : size_(values.size()), shift_(shift), bytes_(2 * margin_ + (shift + size_) * sizeof(T)), memory_(bytes_) {
    std::vector<unsigned char> image(bytes_, sentinel_);
    if (size_ > 0) std::memcpy(image.data() + margin_ + shift_ * sizeof(T), values.data(), size_ * sizeof(T));
    memory_.write(image);
  }
  explicit guarded_array(std::size_t size) : guarded_array(std::vector<T>(size)) {}

  T* data() const { return reinterpret_cast<T*>(static_cast<unsigned char*>(memory_.data()) + margin_ + shift_ * sizeof(T)); }
  std::size_t size() const { return size_; }

  // The values now; fails the test where a margin was written.
  std::vector<T> values() const {
    std::vector<unsigned char> const image = memory_.read();
    std::size_t const begin = margin_ + shift_ * sizeof(T), end = begin + size_ * sizeof(T);
    for (std::size_t i = 0; i < bytes_; ++i) {
      if ((i < begin || i >= end) && image[i] != sentinel_) {
        ADD_FAILURE() << "byte " << static_cast<long long>(i) - static_cast<long long>(begin) << " of the array, outside of its "
                      << end - begin << " bytes, was written";
        break;
      }
    }
    std::vector<T> result(size_);
    if (size_ > 0) std::memcpy(result.data(), image.data() + begin, size_ * sizeof(T));
    return result;
  }

 private:
  static constexpr std::size_t margin_ = 1024;
  static constexpr unsigned char sentinel_ = 0xA5;
  std::size_t size_, shift_, bytes_;
  Memory memory_;
};

class host_memory {
 public:
  explicit host_memory(std::size_t bytes) : bytes_(bytes), workspace_(bytes) {}
  void* data() const { return tessera::workspace_view(workspace_).data; }
  void write(std::vector<unsigned char> const& image) { std::memcpy(data(), image.data(), bytes_); }
  std::vector<unsigned char> read() const {
    auto const* const begin = static_cast<unsigned char const*>(data());
    return {begin, begin + bytes_};
  }

 private:
  std::size_t bytes_;
  tessera::host_workspace workspace_;
};

template <int Lanes>
struct host_place {
  static constexpr bool on_gpu = false;
  static constexpr int lanes = Lanes;
  template <class T>
  using array_type = guarded_array<T, host_memory>;
  using workspace_type = tessera::host_workspace;

  tessera::host_backend<Lanes> backend;

  template <class T>
  array_type<T> array(std::vector<T> const& values, std::size_t shift = 0) const {
    return array_type<T>(values, shift);
  }
  workspace_type workspace(std::size_t bytes) const { return workspace_type(bytes); }
  template <int ScratchBytes = tessera::default_scratch_bytes, class Functor, class... Arguments>
  void launch(tessera::tile_grid const& grid, Functor const& functor, Arguments&&... arguments) const {
    tessera::launch_tiled<128, ScratchBytes>(backend, grid, functor, std::forward<Arguments>(arguments)...);
  }
  void wait() const {}
};

#if defined(__CUDACC__)

inline void require_cuda(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(std::string("test support: ") + cudaGetErrorString(status));
}

class device_memory {
 public:
  explicit device_memory(std::size_t bytes) : bytes_(bytes) { require_cuda(cudaMalloc(&data_, bytes == 0 ? 1 : bytes)); }
  ~device_memory() { (void)cudaFree(data_); }
  device_memory(device_memory const&) = delete;
  device_memory& operator=(device_memory const&) = delete;
  device_memory(device_memory&& other) noexcept : bytes_(other.bytes_), data_(std::exchange(other.data_, nullptr)) {}
  void* data() const { return data_; }
  // Done when it returns; cudaMemcpy alone only promises that it has read the image, and streams that do not block would not wait for the
  // rest.
  void write(std::vector<unsigned char> const& image) {
    require_cuda(cudaMemcpy(data_, image.data(), bytes_, cudaMemcpyHostToDevice));
    require_cuda(cudaDeviceSynchronize());
  }
  std::vector<unsigned char> read() const {
    std::vector<unsigned char> image(bytes_);
    require_cuda(cudaDeviceSynchronize());
    require_cuda(cudaMemcpy(image.data(), data_, bytes_, cudaMemcpyDeviceToHost));
    return image;
  }

 private:
  std::size_t bytes_;
  void* data_ = nullptr;
};

template <int Threads>
struct cuda_place {
  static constexpr bool on_gpu = true;
  static constexpr int lanes = Threads;
  template <class T>
  using array_type = guarded_array<T, device_memory>;
  using workspace_type = tessera::cuda_workspace;

  tessera::cuda_backend backend{cudaStreamPerThread};

  template <class T>
  array_type<T> array(std::vector<T> const& values, std::size_t shift = 0) const {
    return array_type<T>(values, shift);
  }
  workspace_type workspace(std::size_t bytes) const { return workspace_type(backend, bytes); }
  template <int ScratchBytes = tessera::default_scratch_bytes, class Functor, class... Arguments>
  void launch(tessera::tile_grid const& grid, Functor const& functor, Arguments&&... arguments) const {
    tessera::launch_tiled<Threads, ScratchBytes>(backend, grid, functor, std::forward<Arguments>(arguments)...);
  }
  void wait() const { require_cuda(cudaStreamSynchronize(backend.stream)); }
};

// Few block sizes, since each is compiled: one warp, a size that is no power of two, the usual one. Suites that must see all list them
// themselves.
using all_places = testing::Types<cuda_place<32>, cuda_place<96>, cuda_place<128>>;
using main_places = testing::Types<cuda_place<128>>;

#else

#if defined(TESSERA_TEST_FEWER_PLACES)
using all_places = testing::Types<host_place<1>, host_place<8>>;
#else
using all_places = testing::Types<host_place<1>, host_place<4>, host_place<8>>;
#endif
using main_places = testing::Types<host_place<1>>;

#endif

// The bits of a value, to compare floats with.
inline std::uint32_t bits(float value) {
  std::uint32_t b;
  std::memcpy(&b, &value, sizeof(b));
  return b;
}
inline std::uint64_t bits(double value) {
  std::uint64_t b;
  std::memcpy(&b, &value, sizeof(b));
  return b;
}
inline float float_of(std::uint32_t b) {
  float value;
  std::memcpy(&value, &b, sizeof(b));
  return value;
}
inline double double_of(std::uint64_t b) {
  double value;
  std::memcpy(&value, &b, sizeof(b));
  return value;
}

template <class T>
auto bits(std::vector<T> const& values) {
  std::vector<decltype(bits(T{}))> result;
  result.reserve(values.size());
  for (T value : values) result.push_back(bits(value));
  return result;
}

}  // namespace testing_support
