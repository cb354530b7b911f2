#if defined(__CUDACC__)
#include <tessera/device/cuda_reduce.cuh>
#include <tessera/device/cuda_scan.cuh>
#endif
#include <tessera/device/host_reduce.hpp>
#include <tessera/device/host_scan.hpp>

#include <tessera/verify/hash.hpp>

#include "support/backend.hpp"
#include "support/oracle.hpp"

namespace {

using namespace tessera;
using namespace testing_support;
using sizes = std::vector<std::size_t>;

// The array operations with one signature for both backends.
template <class Place, class T>
struct arrays {
  Place place;

  template <bool Exclusive, scan_direction Direction, class In, class Out>
  void scan(In const& in, Out const& out, T initial) {
    if constexpr (Place::on_gpu) {
#if defined(__CUDACC__)
      static device_memory memory = zeroed(scan_workspace_bytes<T>(1 << 23));
      workspace_view const workspace{memory.data(), scan_workspace_bytes<T>(1 << 23)};
      if constexpr (Exclusive) {
        exclusive_scan<gpu_to_gpu, Direction>(place.backend, in, out, initial, workspace);
      } else {
        inclusive_scan<gpu_to_gpu, Direction>(place.backend, in, out, workspace);
      }
      place.wait();
#endif
    } else if constexpr (Exclusive) {
      exclusive_scan<gpu_to_gpu, Direction>(place.backend, in, out, initial);
    } else {
      inclusive_scan<gpu_to_gpu, Direction>(place.backend, in, out);
    }
  }

  template <class In>
  T sum(In const& in) {
    if constexpr (Place::on_gpu) {
      auto result = place.array(std::vector<T>(1));
#if defined(__CUDACC__)
      static device_memory memory = zeroed(reduce_workspace_bytes<T>());
      reduce(place.backend, in, result.data(), workspace_view{memory.data(), reduce_workspace_bytes<T>()});
      place.wait();
#endif
      return result.values()[0];
    } else {
      T sum{};
      reduce(place.backend, in, &sum);
      return sum;
    }
  }

  T sum_from(std::vector<T> const& values, T initial) {
    auto in = place.array(values);
    auto const source = make_view(static_cast<T const*>(in.data()), {values.size()});
    if constexpr (Place::on_gpu) {
      auto result = place.array(std::vector<T>(1));
#if defined(__CUDACC__)
      device_memory const memory = zeroed(reduce_workspace_bytes<T>());
      reduce(place.backend, source, result.data(), initial, workspace_view{memory.data(), reduce_workspace_bytes<T>()});
      place.wait();
#endif
      return result.values()[0];
    } else {
      T sum{};
      reduce(place.backend, source, &sum, initial);
      return sum;
    }
  }

#if defined(__CUDACC__)
  static device_memory zeroed(std::size_t bytes) {
    device_memory memory(bytes);
    memory.write(std::vector<unsigned char>(bytes));
    return memory;
  }
#endif
};

template <class T>
void expect_same(std::vector<T> const& got, std::vector<T> const& expected, char const* what) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(0, std::memcmp(&got[i], &expected[i], sizeof(T)))
        << what << ", element " << i << " of " << got.size() << ": " << got[i] << " for " << expected[i];
  }
}

// Both scans in both directions and the reduction, of n elements that start `shift` elements past an aligned address.
template <class Place, class T>
void expect_all(std::vector<T> const& values, T initial, std::size_t shift) {
  std::size_t const n = values.size();
  arrays<Place, T> on;
  auto in = on.place.array(values, shift);
  auto const source = make_view(static_cast<T const*>(in.data()), {n});
  dyadic_counter<T> ahead, behind;
  std::vector<T> inclusive(n), exclusive(n), backward_inclusive(n), backward_exclusive(n);
  for (std::size_t i = 0; i < n; ++i) {
    exclusive[i] = i == 0 ? initial : canonical_nan(dyadic_counter<T>::sum(initial, ahead.collapse()));
    ahead.push(values[i]);
    inclusive[i] = canonical_nan(ahead.collapse());
    std::size_t const j = n - 1 - i;
    backward_exclusive[j] = i == 0 ? initial : canonical_nan(dyadic_counter<T>::sum(initial, behind.collapse()));
    behind.push(values[j]);
    backward_inclusive[j] = canonical_nan(behind.collapse());
  }
  auto const scanned = [&](auto exclusive_scan_wanted, auto direction) {
    auto out = on.place.array(std::vector<T>(n), shift % 3);
    on.template scan<exclusive_scan_wanted(), direction()>(source, make_view(out.data(), {n}), initial);
    return out.values();
  };
  using no = std::false_type;
  using yes = std::true_type;
  std::integral_constant<scan_direction, forward> const ahead_direction;
  std::integral_constant<scan_direction, backward> const back_direction;
  expect_same(scanned(no{}, ahead_direction), inclusive, "inclusive");
  expect_same(scanned(yes{}, ahead_direction), exclusive, "exclusive");
  expect_same(scanned(no{}, back_direction), backward_inclusive, "inclusive, backward");
  expect_same(scanned(yes{}, back_direction), backward_exclusive, "exclusive, backward");
  if (n > 0) expect_same(std::vector<T>{on.sum(source)}, std::vector<T>{inclusive.back()}, "reduce");
  // In place.
  on.template scan<false, forward>(source, make_view(in.data(), {n}), initial);
  expect_same(in.values(), inclusive, "in place");
}

template <class Place>
class scan_and_reduce : public testing::Test {};
TYPED_TEST_SUITE(scan_and_reduce, main_places);

TYPED_TEST(scan_and_reduce, every_prefix_is_its_own_dyadic_sum) {
  for (std::size_t const n : sizes{0, 1, 2, 3, 31, 32, 33, 127, 128, 129, 1000, 2047, 2048, 2049, 4095, 4096, 4097, 20001}) {
    expect_all<TypeParam, float>(rounding_values<float>(n, n + 1), 0.75f, n % 5);
  }
  for (std::size_t const n : sizes{1, 5, 1023, 1025, 5000}) expect_all<TypeParam, double>(rounding_values<double>(n, n), -3.0, n % 2);
  if constexpr (!TypeParam::on_gpu) {  // each type is twelve kernels
    for (std::size_t const n : sizes{3, 4100}) expect_all<TypeParam, std::int32_t>(rounding_values<std::int32_t>(n, n), 5, 1);
    for (std::size_t const n : sizes{2, 4099}) expect_all<TypeParam, std::int64_t>(rounding_values<std::int64_t>(n, n), -5, 1);
  }
}

TYPED_TEST(scan_and_reduce, special_values) {
  auto values = rounding_values<float>(5000, 9);
  values[0] = float_of(0x7FA12345u);
  expect_all<TypeParam, float>(values, 0.0f, 0);
  values[0] = -0.0f;
  values[1] = 1e-42f;
  values[2500] = std::numeric_limits<float>::infinity();
  values[4500] = -std::numeric_limits<float>::infinity();
  expect_all<TypeParam, float>(values, -0.0f, 1);
}

TYPED_TEST(scan_and_reduce, reduction_with_an_initial_value) {
  arrays<TypeParam, float> on;
  auto const values = rounding_values<float>(3001, 12);
  EXPECT_EQ(bits(on.sum_from(values, 0.3f)), bits(canonical_nan(dyadic_counter<float>::sum(0.3f, dyadic_sum(values)))));
  EXPECT_EQ(bits(on.sum_from({}, -0.0f)), bits(-0.0f));
}

TYPED_TEST(scan_and_reduce, many_tiles_Long) {
  for (std::size_t const n : sizes{131072, 131073, 262143, 1000003, 4194304, 4194305, 8388000}) {
    expect_all<TypeParam, float>(rounding_values<float>(n, n), 1.0f, n % 4);
  }
  expect_all<TypeParam, double>(rounding_values<double>(1000003, 4), 1.0, 0);
}

TYPED_TEST(scan_and_reduce, golden_hash) {
  std::vector<float> values(1000003);
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    std::uint32_t const a = i * 2654435761u;
    int const mantissa = static_cast<int>(a >> 8) - (1 << 23), exponent = static_cast<int>(((i * 40503u) >> 4) & 31u) - 39;
    values[i] = std::ldexp(static_cast<float>(mantissa), exponent);
  }
  arrays<TypeParam, float> on;
  auto in = on.place.array(values);
  auto out = on.place.array(std::vector<float>(values.size()));
  auto const source = make_view(static_cast<float const*>(in.data()), {values.size()});
  on.template scan<false, forward>(source, make_view(out.data(), {values.size()}), 0.0f);
  auto const prefixes = out.values();
  EXPECT_EQ(bits(prefixes.back()), 0xC6AD2C68u);
  EXPECT_EQ(bits(on.sum(source)), 0xC6AD2C68u);
  EXPECT_EQ(verify::hash_of(std::span<float const>(prefixes)), 0x52AE69B7298BD5EFull);
}

}  // namespace
