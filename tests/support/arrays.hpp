// The array operations with one signature for both backends: on a GPU each call brings its workspace along, and waits.
//
//     arrays<TypeParam> on;
//     auto in = on.array(values), out = on.array(std::vector<float>(n));
//     on.template inclusive_scan<backward>(on.source(in), on.destination(out));
#pragma once

#if defined(__CUDACC__)
#include <tessera/device/cuda_reduce.cuh>
#include <tessera/device/cuda_scan.cuh>
#include <tessera/device/cuda_segmented.cuh>
#endif
#include <tessera/device/host_reduce.hpp>
#include <tessera/device/host_scan.hpp>
#include <tessera/device/host_segmented.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <string>

#include "support/backend.hpp"
#include "support/halves.hpp"
#include "support/oracle.hpp"

namespace testing_support {

using tessera::backward;
using tessera::forward;
using tessera::gpu_to_gpu;
using tessera::plus;
using tessera::scan_direction;

template <class Place>
class arrays {
 public:
  Place place{};

  template <class T>
  auto array(std::vector<T> const& values, std::size_t shift = 0) const {
    return place.template array<T>(values, shift);
  }
  template <class T, class Memory>
  static auto source(guarded_array<T, Memory> const& from) {
    return tessera::make_view(static_cast<T const*>(from.data()), {from.size()});
  }
  template <class T, class Memory>
  static auto destination(guarded_array<T, Memory> const& to) {
    return tessera::make_view(to.data(), {to.size()});
  }

  template <scan_direction Direction = forward, class In, class Out, class Operation = plus>
  void inclusive_scan(In const& in, Out const& out, Operation const& operation = {}) const {
    with_workspace<scan_space, element<Operation, Out>>(in.extent(0), 1, [&](auto const&... workspace) {
      tessera::inclusive_scan<gpu_to_gpu, Direction>(place.backend, in, out, workspace..., operation);
    });
  }
  template <scan_direction Direction = forward, class In, class Out, class Initial, class Operation = plus>
  void inclusive_scan_from(In const& in, Out const& out, Initial const& initial, Operation const& operation = {}) const {
    with_workspace<scan_space, element<Operation, Out>>(in.extent(0), 1, [&](auto const&... workspace) {
      tessera::inclusive_scan<gpu_to_gpu, Direction>(place.backend, in, out, initial, workspace..., operation);
    });
  }
  template <scan_direction Direction = forward, class In, class Out>
  void exclusive_scan(In const& in, Out const& out) const {
    with_workspace<scan_space, element<plus, Out>>(in.extent(0), 1, [&](auto const&... workspace) {
      tessera::exclusive_scan<gpu_to_gpu, Direction>(place.backend, in, out, workspace...);
    });
  }
  template <scan_direction Direction = forward, class In, class Out, class Initial, class Operation = plus>
  void exclusive_scan_from(In const& in, Out const& out, Initial const& initial, Operation const& operation = {}) const {
    with_workspace<scan_space, element<Operation, Out>>(in.extent(0), 1, [&](auto const&... workspace) {
      tessera::exclusive_scan<gpu_to_gpu, Direction>(place.backend, in, out, initial, workspace..., operation);
    });
  }

  template <scan_direction Direction = forward, class In, class Segments, class Out, class Operation = plus>
  void segmented_inclusive_scan(In const& in, Segments const& segments, Out const& out, Operation const& operation = {}) const {
    with_workspace<segmented_scan_space, element<Operation, Out>>(in.extent(0), 1, [&](auto const&... workspace) {
      tessera::segmented_inclusive_scan<gpu_to_gpu, Direction>(place.backend, in, segments, out, workspace..., operation);
    });
  }
  template <scan_direction Direction = forward, class In, class Segments, class Out, class Initial, class Operation = plus>
  void segmented_exclusive_scan(In const& in, Segments const& segments, Out const& out, Initial const& initial,
                                Operation const& operation = {}) const {
    with_workspace<segmented_scan_space, element<Operation, Out>>(in.extent(0), 1, [&](auto const&... workspace) {
      tessera::segmented_exclusive_scan<gpu_to_gpu, Direction>(place.backend, in, segments, out, initial, workspace..., operation);
    });
  }

  template <class In, class Segments, class Out, class Operation = plus>
  void segmented_reduce(In const& in, Segments const& segments, Out const& out, Operation const& operation = {}) const {
    with_workspace<segmented_reduce_space, element<Operation, Out>>(in.extent(0), columns_of(in), [&](auto const&... workspace) {
      tessera::segmented_reduce(place.backend, in, segments, out, workspace..., operation);
    });
  }
  template <class In, class Segments, class Out, class Initial, class Operation = plus>
  void segmented_reduce_from(In const& in, Segments const& segments, Out const& out, Initial const& initial,
                             Operation const& operation = {}) const {
    with_workspace<segmented_reduce_space, element<Operation, Out>>(in.extent(0), columns_of(in), [&](auto const&... workspace) {
      tessera::segmented_reduce(place.backend, in, segments, out, initial, workspace..., operation);
    });
  }

  // What lies at the result's address after the reduction; `before` lay there.
  template <class T, class In, class Operation = plus>
  T reduce(In const& in, T before, Operation const& operation = {}) const {
    return result<tessera::accumulator_t<Operation, T>>(
        before, [&](T* out, auto const&... workspace) { tessera::reduce(place.backend, in, out, workspace..., operation); });
  }
  template <class T, class In, class Initial, class Operation = plus>
  T reduce_from(In const& in, T before, Initial const& initial, Operation const& operation = {}) const {
    return result<tessera::accumulator_t<Operation, T>>(
        before, [&](T* out, auto const&... workspace) { tessera::reduce(place.backend, in, out, initial, workspace..., operation); });
  }
  template <class T, class In, class Operation = plus>
  T mean(In const& in, T before, Operation const& operation = {}) const {
    return result<tessera::accumulator_t<Operation, T>>(
        before, [&](T* out, auto const&... workspace) { tessera::mean(place.backend, in, out, workspace..., operation); });
  }
  template <class T, class A, class B, class Operation = plus>
  T dot(A const& a, B const& b, T before, Operation const& operation = {}) const {
    return result<tessera::accumulator_t<Operation, T>>(
        before, [&](T* out, auto const&... workspace) { tessera::dot(place.backend, a, b, out, workspace..., operation); });
  }
  template <class In>
  std::int64_t arg_min(In const& in, std::int64_t before) const {
    return result<found_in<In>>(
        before, [&](std::int64_t* out, auto const&... workspace) { tessera::arg_min(place.backend, in, out, workspace...); });
  }
  template <class In>
  std::int64_t arg_max(In const& in, std::int64_t before) const {
    return result<found_in<In>>(
        before, [&](std::int64_t* out, auto const&... workspace) { tessera::arg_max(place.backend, in, out, workspace...); });
  }

 private:
  enum space { scan_space, segmented_scan_space, reduce_space, segmented_reduce_space };

  template <class Operation, class Out>
  using element = tessera::accumulator_t<Operation, typename Out::element_type>;
  template <class In>
  using found_in = tessera::indexed<tessera::accumulator_t<plus, tessera::source_value<In>>>;

  template <class In>
  static std::int64_t columns_of(In const& in) {
    if constexpr (tessera::detail::array_like<In>) {
      if constexpr (In::rank() == 2) return in.extent(1);
    }
    return 1;
  }

  template <class A, class T, class Call>
  T result(T before, Call const& call) const {
    auto out = array(std::vector<T>{before});
    with_workspace<reduce_space, A>(1, 1, [&](auto const&... workspace) { call(out.data(), workspace...); });
    return out.values()[0];
  }

#if defined(__CUDACC__)
  template <space Space, class A>
  static std::size_t bytes_of_workspace(std::int64_t count, std::int64_t columns) {
    if constexpr (Space == scan_space) return tessera::scan_workspace_bytes<A>(count);
    if constexpr (Space == segmented_scan_space) return tessera::segmented_scan_workspace_bytes<A>(count);
    if constexpr (Space == reduce_space) return tessera::reduce_workspace_bytes<A>();
    if constexpr (Space == segmented_reduce_space) return tessera::segmented_reduce_workspace_bytes<A>(count, columns);
  }
#endif

  // call(workspace) where there is one, zeroed once and then used again and again; else call().
  template <space Space, class A, class Call>
  void with_workspace(std::int64_t count, std::int64_t columns, Call const& call) const {
    (void)count, (void)columns;
    if constexpr (Place::on_gpu) {
#if defined(__CUDACC__)
      static std::unique_ptr<device_memory> memory;
      static std::size_t bytes = 0;
      std::size_t const needed = bytes_of_workspace<Space, A>(count, columns);
      if (!memory || bytes < needed) {
        memory = std::make_unique<device_memory>(needed);
        memory->write(std::vector<unsigned char>(needed));
        bytes = needed;
      }
      call(tessera::workspace_view{memory->data(), bytes});
      place.wait();
#endif
    } else {
      call();
    }
  }
};

// Fails where an element differs in any bit.
template <class T>
bool expect_same(std::vector<T> const& got, std::vector<T> const& expected, std::string const& what) {
  EXPECT_EQ(got.size(), expected.size()) << what;
  if (got.size() == expected.size() && (got.empty() || std::memcmp(got.data(), expected.data(), got.size() * sizeof(T)) == 0)) return true;
  for (std::size_t i = 0; i < std::min(got.size(), expected.size()); ++i) {
    if (std::memcmp(&got[i], &expected[i], sizeof(T)) == 0) continue;
    ADD_FAILURE() << what << ", element " << i << " of " << got.size() << ": " << testing::PrintToString(got[i]) << " for "
                  << testing::PrintToString(expected[i]);
    return false;
  }
  return false;
}
template <class T>
bool expect_same(T const& got, T const& expected, std::string const& what) {
  return expect_same(std::vector<T>{got}, std::vector<T>{expected}, what);
}

// Fails unless `call` throws usage_error with all of these words.
template <class Call>
void expect_usage_error(Call const& call, std::vector<std::string> const& words) {
  try {
    call();
    ADD_FAILURE() << "no error, for " << words[0];
  } catch (tessera::usage_error const& error) {
    for (std::string const& word : words) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << "'" << word << "' is not in: " << error.what();
    }
  }
}

// The oracle of a scan: what each element of a list becomes. `Join` is the operator on values of type A.
template <class T, class A, class Join>
std::vector<T> expected_inclusive(std::vector<A> const& values, Join const& join) {
  std::vector<T> expected;
  for (A const& prefix : dyadic_prefixes(values, join)) expected.push_back(narrowed<T>(canonical_nan(prefix)));
  return expected;
}
template <class T, class A, class Join>
std::vector<T> expected_inclusive(std::vector<A> const& values, A const& initial, Join const& join) {
  std::vector<T> expected;
  for (A const& prefix : dyadic_prefixes(values, join)) expected.push_back(narrowed<T>(canonical_nan(join(initial, prefix))));
  return expected;
}
template <class T, class A, class Join>
std::vector<T> expected_exclusive(std::vector<A> const& values, A const& initial, Join const& join) {
  std::vector<T> expected = expected_inclusive<T>(values, initial, join);
  if (expected.empty()) return expected;
  expected.insert(expected.begin(), narrowed<T>(initial));
  expected.pop_back();
  return expected;
}

template <class T>
std::vector<T> reversed(std::vector<T> values) {
  std::reverse(values.begin(), values.end());
  return values;
}

// Scans of the first n elements of an array, or of the last n, give what they give of all, whatever n is, and write nothing else. An
// inclusive and an exclusive scan, scan(first, to) from element `first` on, take turns in one output, so that an element that one of them
// leaves out shows. `sizes` ascend.
enum class part_of_array { first, last };
template <class T, class Place, class Inclusive, class Exclusive>
void expect_scans_of_parts(arrays<Place> const& on, part_of_array part, std::vector<std::size_t> const& sizes, std::size_t shift,
                           std::vector<T> const& inclusive, std::vector<T> const& exclusive, Inclusive const& inclusive_scan,
                           Exclusive const& exclusive_scan) {
  std::size_t const all = inclusive.size();
  std::string const of = part == part_of_array::first ? " of the first " : " of the last ";
  std::vector<T> expected(all, T{77});
  auto const out = on.array(expected, shift);
  for (std::size_t n : sizes) {
    std::size_t const first = part == part_of_array::first ? 0 : all - n;
    auto const to = tessera::make_view(out.data() + first, {n});
    auto const expect = [&](std::vector<T> const& scanned, auto const& scan, std::string const& what) {
      auto const begin = static_cast<std::ptrdiff_t>(first), end = static_cast<std::ptrdiff_t>(first + n);
      std::copy(scanned.begin() + begin, scanned.begin() + end, expected.begin() + begin);
      scan(first, to);
      return expect_same(out.values(), expected, what + of + std::to_string(n));
    };
    if (!expect(inclusive, inclusive_scan, "inclusive") || !expect(exclusive, exclusive_scan, "exclusive")) return;
  }
}

// 0 .. most.
inline std::vector<std::size_t> sizes_up_to(std::size_t most) {
  std::vector<std::size_t> sizes(most + 1);
  std::iota(sizes.begin(), sizes.end(), std::size_t{0});
  return sizes;
}

template <class A, class T>
std::vector<A> widened(std::vector<T> const& elements) {
  std::vector<A> values;
  for (T const& element : elements) values.push_back(widened<A>(element));
  return values;
}

// --- Operators that are not sums

// x -> a x + b of integers that wrap: composed, first the left one. Associative, not commutative.
struct affine {
  std::uint32_t a, b;
  friend bool operator==(affine const&, affine const&) = default;
};
struct compose {
  TESSERA_TILE affine operator()(affine const& first, affine const& second) const {
    return {first.a * second.a, first.b * second.a + second.b};
  }
};
inline std::vector<affine> affine_values(std::size_t count, std::uint64_t seed) {
  integers random(seed);
  std::vector<affine> values(count);
  for (affine& value : values) value = {static_cast<std::uint32_t>(random.next()), static_cast<std::uint32_t>(random.next())};
  return values;
}

// 2 a + b, which is not even associative: its result shows the tree.
struct twice_the_left {
  TESSERA_TILE float operator()(float a, float b) const { return tessera::add(tessera::add(a, a), b); }
};
struct twice_the_left_oracle {
  float operator()(float a, float b) const { return rounded_sum{}(rounded_sum{}(a, a), b); }
};

// minimumNumber and maximumNumber by cases.
template <bool Least>
struct number_oracle {
  template <class T>
  T operator()(T a, T b) const {
    if (a != a) return b;
    if (b != b) return a;
    if (a == b) {
      if constexpr (std::is_floating_point_v<T>) return std::signbit(a) == Least ? a : b;
      return a;
    }
    return (a < b) == Least ? a : b;
  }
};
using least_oracle = number_oracle<true>;
using most_oracle = number_oracle<false>;

// --- Elements that are special

// Subnormal floats and zeros of both signs.
inline std::vector<float> subnormal_values(std::size_t count) {
  std::vector<float> values(count);
  for (std::uint32_t i = 0; i < count; ++i) values[i] = float_of((i * 2654435761u) & 0x807FFFFFu);
  return values;
}

// expect(values, shift) for doubles with a subnormal, and a NaN that has a payload or infinities of both signs.
template <class Expect>
void for_special_doubles(Expect const& expect) {
  auto values = rounding_values<double>(3000, 9);
  values[1] = double_of(0x8000000000000001ull);
  values[2000] = double_of(0xFFF4123456789ABCull);
  expect(values, 1);
  values[2000] = std::numeric_limits<double>::infinity();
  values[2500] = -std::numeric_limits<double>::infinity();
  expect(values, 0);
}

}  // namespace testing_support
