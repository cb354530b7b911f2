// Array operations on the GPU: one pattern in many runs under noise that makes CUB's scan vary, progress beside a kernel that holds the
// card, a way back after an aborted launch, long arrays, and graph replay.
#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <random>
#include <thread>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // in CUB's own code
#include <cub/device/device_scan.cuh>
#pragma GCC diagnostic pop

#include <tessera/device/cuda_reduce.cuh>
#include <tessera/device/cuda_scan.cuh>
#include <tessera/device/cuda_segmented.cuh>
#include <tessera/device/host_reduce.hpp>
#include <tessera/device/host_scan.hpp>
#include <tessera/device/host_segmented.hpp>
#include <tessera/verify/noise.cuh>
#include <tessera/verify/repeat.hpp>

#include "support/arrays.hpp"
#include "support/backend.hpp"
#include "support/halves.hpp"
#include "support/oracle.hpp"

namespace {

using namespace tessera;
using namespace testing_support;

// Memory of a test, zeroed.
struct zeroed_memory {
  explicit zeroed_memory(std::size_t bytes) : memory(bytes), size(bytes) { zero(); }
  void zero() const {
    require_cuda(cudaMemset(memory.data(), 0, size));
    require_cuda(cudaDeviceSynchronize());
  }
  operator workspace_view() const { return {memory.data(), size}; }
  device_memory memory;
  std::size_t size;
};

// Floats from the first on; waits for the whole device.
std::vector<float> read(float const* first, std::size_t count) {
  std::vector<float> values(count);
  require_cuda(cudaDeviceSynchronize());
  require_cuda(cudaMemcpy(values.data(), first, count * sizeof(float), cudaMemcpyDeviceToHost));
  return values;
}
std::vector<float> read(device_memory const& memory, std::size_t count) { return read(static_cast<float const*>(memory.data()), count); }

template <class T>
auto source_of(T const* data, std::size_t n) {
  return make_view(data, {n});
}

template <class T>
std::vector<T> oracle_scan(std::vector<T> const& values) {
  std::vector<T> prefixes(values.size());
  dyadic_counter<T> counter;
  for (std::size_t i = 0; i < values.size(); ++i) {
    counter.push(values[i]);
    prefixes[i] = canonical_nan(counter.collapse());
  }
  return prefixes;
}

// --- Many runs under noise

template <class T, class Launch>
verify::repeat_report runs_under_noise(verify::noise& noise, int runs, cudaStream_t stream, device_memory const& result_memory,
                                       std::vector<T>& result, Launch const& launch) {
  return verify::repeat(
      runs,
      [&](int) {
        noise.open(stream);
        launch();
        noise.close(stream);
        require_cuda(cudaMemcpyAsync(result.data(), result_memory.data(), result.size() * sizeof(T), cudaMemcpyDeviceToHost, stream));
        require_cuda(cudaStreamSynchronize(stream));
      },
      verify::bytes_of(result));
}

template <class T>
void check_scan_under_noise(int runs, std::vector<T> const& values) {
  cuda_place<128> const place;
  auto const stream = place.backend.stream;
  std::size_t const n = values.size();
  auto const in = place.array(values);
  device_memory out(n * sizeof(T));
  zeroed_memory const workspace(
      std::max(scan_workspace_bytes<T>(static_cast<std::int64_t>(n)), segmented_scan_workspace_bytes<T>(static_cast<std::int64_t>(n))));
  auto* const results = static_cast<T*>(out.data());
  auto const source = source_of(static_cast<T const*>(in.data()), n);
  auto const destination = make_view(results, {n});
  auto const expected = oracle_scan(values);
  std::vector<T> result(n);
  verify::noise noise;
  auto const ours =
      runs_under_noise(noise, runs, stream, out, result, [&] { inclusive_scan(place.backend, source, destination, workspace); });
  EXPECT_EQ(ours.pattern_count(), 1u) << ours;
  EXPECT_EQ(bits(result), bits(expected));
  auto const in_place = runs_under_noise(noise, runs / 5, stream, out, result, [&] {
    require_cuda(cudaMemcpyAsync(results, in.data(), n * sizeof(T), cudaMemcpyDeviceToDevice, stream));
    inclusive_scan(place.backend, source_of(static_cast<T const*>(results), n), destination, workspace);
  });
  EXPECT_EQ(in_place.pattern_count(), 1u) << in_place;
  EXPECT_EQ(bits(result), bits(expected));
  auto const segmented = runs_under_noise(noise, runs / 5, stream, out, result, [&] {
    segmented_inclusive_scan(place.backend, source, segments_of_length(static_cast<std::int64_t>(n), 1), destination, workspace);
  });
  EXPECT_EQ(segmented.pattern_count(), 1u) << segmented;
  EXPECT_EQ(bits(result), bits(expected));
  // The canary, under the same noise.
  std::size_t bytes = 0;
  require_cuda(cub::DeviceScan::InclusiveSum(nullptr, bytes, in.data(), results, static_cast<int>(n), stream));
  device_memory const temporary(bytes);
  auto const theirs = runs_under_noise(noise, std::min(runs, 100), stream, out, result, [&] {
    require_cuda(cub::DeviceScan::InclusiveSum(temporary.data(), bytes, in.data(), results, static_cast<int>(n), stream));
  });
  EXPECT_GT(theirs.pattern_count(), 1u) << theirs;
  noise.stop();
  EXPECT_GE(noise.overlap().overlapped_windows, static_cast<std::uint64_t>(runs / 2)) << verify::to_string(noise.overlap());
  std::cout << n << " elements: scan " << ours << "\n  in place: " << in_place << "\n  segmented: " << segmented << "\n  CUB: " << theirs
            << "\n  " << verify::to_string(noise.overlap()) << "\n";
}
TEST(arrays_under_noise, one_pattern_where_cub_varies_NotSanitized) { check_scan_under_noise(25, rounding_values<float>(1'000'003, 61)); }
TEST(arrays_under_noise, one_pattern_in_a_thousand_runs_Long) {
  check_scan_under_noise(1000, rounding_values<float>(1'000'003, 61));
  check_scan_under_noise(1000, rounding_values<float>(164'738, 61));
  check_scan_under_noise(1000, std::vector<double>(250'000, 0.1));
  check_scan_under_noise(1000, rounding_values<float>(4'500'001, 61));
}

// --- Segments, in arrays of which each block has more windows than fit into it at a time

// Lengths that leave windows with many chunks, with one, and with one that is nearly as long as two.
std::vector<std::int64_t> offsets_of_all_kinds(std::int64_t n) {
  std::vector<std::int64_t> offsets{3};
  std::mt19937 random(5);
  while (offsets.back() < n - 5) {
    static constexpr int longest[] = {3, 40, 16, 300, 5000, 4097, 200'000, 1};
    int const most = longest[offsets.size() / 500 % 8];
    int const length = most == 4097 || most == 16 ? most : static_cast<int>(random() % static_cast<unsigned>(most)) + (most == 40 ? 0 : 1);
    offsets.push_back(std::min(n - 5, offsets.back() + length));
  }
  return offsets;
}

TEST(arrays_segmented, more_windows_than_stages_NotSanitized) {
  cuda_place<128> const place;
  host_backend<> const host;
  constexpr int n = 12'000'000;
  auto const values = rounding_values<float>(n, 67);
  auto const offsets = offsets_of_all_kinds(n);
  auto const in = place.array(values);
  auto const starts = place.array(offsets);
  auto const out = place.array(std::vector<float>(n));
  zeroed_memory const workspace(segmented_scan_workspace_bytes<float>(n));
  auto const here = make_view(static_cast<float const*>(values.data()), {n});
  auto const there = source_of(static_cast<float const*>(in.data()), n);
  segments_at const segments(source_of(offsets.data(), offsets.size()));
  segments_at const segments_there(source_of<std::int64_t>(starts.data(), offsets.size()));
  std::vector<float> expected(n);
  auto const results = make_view(expected.data(), {n});
  auto const results_there = make_view(out.data(), {n});
  segmented_inclusive_scan(host, here, segments, results);
  segmented_inclusive_scan(place.backend, there, segments_there, results_there, workspace);
  EXPECT_EQ(bits(out.values()), bits(expected));
  segmented_exclusive_scan<gpu_to_gpu, backward>(host, here, segments, results, 0.5f);
  segmented_exclusive_scan<gpu_to_gpu, backward>(place.backend, there, segments_there, results_there, 0.5f, workspace);
  EXPECT_EQ(bits(out.values()), bits(expected));
  segmented_reduce(host, here, segments, make_view(expected.data(), {offsets.size() - 1}));
  segmented_reduce(place.backend, there, segments_there, make_view(out.data(), {offsets.size() - 1}), workspace);
  EXPECT_EQ(bits(out.values()), bits(expected));
  // In place, by keys.
  std::vector<int> keys(n, static_cast<int>(offsets.size()));  // of no segment
  for (std::size_t k = 0; k + 1 < offsets.size(); ++k)
    std::fill(keys.begin() + offsets[k], keys.begin() + offsets[k + 1], static_cast<int>(k));
  auto const keys_there = place.array(keys);
  segmented_inclusive_scan(host, here, segments_by_key(make_view(static_cast<int const*>(keys.data()), {n})), results);
  segmented_inclusive_scan(place.backend, there, segments_by_key(source_of(static_cast<int const*>(keys_there.data()), n)),
                           make_view(in.data(), {n}), workspace);
  EXPECT_EQ(bits(in.values()), bits(expected));
}

// Three numbers, composed like affine functions: as wide as no type of the language.
struct wide {
  std::uint32_t a, b, c;
  friend bool operator==(wide const&, wide const&) = default;
};
struct compose_wide {
  TESSERA_TILE wide operator()(wide const& x, wide const& y) const { return {x.a * y.a, x.b * y.a + y.b, x.c * y.b + y.c}; }
};
std::vector<wide> wide_values(std::size_t count) {
  integers random(83);
  std::vector<wide> values(count);
  for (wide& value : values)
    value = {static_cast<std::uint32_t>(random.next()), static_cast<std::uint32_t>(random.next()),
             static_cast<std::uint32_t>(random.next())};
  return values;
}
template <class T>
bool same(std::vector<T> const& a, std::vector<T> const& b) {
  if constexpr (std::is_floating_point_v<T>) {
    return bits(a) == bits(b);
  } else {
    return a == b;
  }
}

// Segments of more chunks than a node of the level above has, with all that may come between; which the warps take one window each, and
// several. `Chunk` is the length of a chunk.
template <class T, class Operation>
void check_reductions_of_many_chunks(std::int64_t chunk, std::vector<T> const& values, Operation const& operation) {
  cuda_place<128> const place;
  host_backend<> const host;
  auto const n = static_cast<std::int64_t>(values.size());
  T const untouched = values[0];
  std::vector<std::int64_t> offsets{3};
  integers random(79);
  auto const add = [&](std::int64_t length) { offsets.push_back(std::min(offsets.back() + length, n - 5)); };
  add(300 * chunk + 17);
  for (std::int64_t const length : {std::int64_t{0}, chunk - 1, chunk, chunk + 1, 2 * chunk, 129 * chunk}) add(length);
  for (int k = 0; k < 300; ++k) add(random.below(40));
  for (int k = 0; k < 100; ++k) add(random.below(3 * chunk));
  for (int k = 0; k < 40; ++k) add(0);
  for (int k = 0; k < 2000; ++k) add(1 + random.below(8));
  while (offsets.back() < n - 5) add(random.below(300 * chunk));
  auto const segments = static_cast<std::int64_t>(offsets.size()) - 1;
  std::vector<std::int32_t> keys(static_cast<std::size_t>(n), -1);
  for (std::size_t k = 0; k + 1 < offsets.size(); ++k)
    std::fill(keys.begin() + offsets[k], keys.begin() + offsets[k + 1], static_cast<std::int32_t>(k));
  std::fill(keys.begin() + offsets.back(), keys.end(), static_cast<std::int32_t>(segments));
  std::vector<T> expected(static_cast<std::size_t>(segments), untouched), of_all(1);
  segmented_reduce(host, make_view(values.data(), {n}), segments_at(make_view(offsets.data(), {segments + 1})),
                   make_view(expected.data(), {segments}), operation);
  segmented_reduce(host, make_view(values.data(), {n}), segments_of_length(n, 1), make_view(of_all.data(), {1}), operation);
  auto const in = place.array(values);
  auto const starts = place.array(offsets);
  auto const keys_there = place.array(keys);
  zeroed_memory const workspace(segmented_reduce_workspace_bytes<T>(n));
  EXPECT_LE(segmented_reduce_workspace_bytes<T>(n), segmented_scan_workspace_bytes<T>(n));
  auto const there = make_view(static_cast<T const*>(in.data()), {n});
  auto const expect_sums = [&](auto const& lists, std::vector<T> const& sums, char const* what) {
    auto const out = place.array(std::vector<T>(sums.size(), untouched));
    segmented_reduce(place.backend, there, lists, make_view(out.data(), {sums.size()}), workspace, operation);
    place.wait();
    EXPECT_TRUE(same(out.values(), sums)) << what << ", " << n;
  };
  expect_sums(segments_at(make_view(static_cast<std::int64_t const*>(starts.data()), {segments + 1})), expected, "by offsets");
  expect_sums(segments_by_key(make_view(static_cast<std::int32_t const*>(keys_there.data()), {n}), segments), expected, "by keys");
  expect_sums(segments_of_length(n, 1), of_all, "one");
}
TEST(arrays_segmented, reductions_of_many_chunks) {
  check_reductions_of_many_chunks(1024, rounding_values<float>(1'200'000, 73), plus{});
  check_reductions_of_many_chunks(1024, rounding_values<float>(1'200'000, 73), twice_the_left{});
  check_reductions_of_many_chunks(512, rounding_values<double>(700'001, 73), plus{});
  check_reductions_of_many_chunks(256, wide_values(350'001), compose_wide{});
}
TEST(arrays_segmented, reductions_of_many_chunks_by_several_windows_NotSanitized) {
  check_reductions_of_many_chunks(1024, rounding_values<float>(40'000'000, 73), plus{});
}

// Rows are summed with the help of numbers that could be taken for words of a run, where a longer array's nodes lie.
TEST(arrays_segmented, rows_leave_nothing_in_the_workspace) {
  cuda_place<128> const place;
  constexpr int rows = 4096, columns = 2;
  auto const in = place.array(rounding_values<float>(rows * columns, 71));
  auto const out = place.array(std::vector<float>(rows / 64 * columns));
  zeroed_memory const workspace(segmented_reduce_workspace_bytes<float>(1 << 20, columns));
  segmented_reduce(place.backend, make_view(static_cast<float const*>(in.data()), {rows, columns}), segments_of_length(64, rows / 64),
                   make_view(out.data(), {rows / 64, columns}), workspace);
  EXPECT_NE(bits(out.values()), bits(std::vector<float>(rows / 64 * columns)));
  auto const left = workspace.memory.read();
  EXPECT_EQ(std::count(left.begin(), left.end(), 0), static_cast<std::ptrdiff_t>(left.size()));
}

// Lengths around those where a kernel, or the number of levels of nodes, changes; and rows.
TEST(arrays_workspace, what_serves_an_array_serves_shorter_ones) {
  auto const expect_growth = [](char const* what, auto const& bytes_for) {
    std::size_t before = 0;
    for (std::int64_t n = 0; n < std::int64_t{1} << 33; n += n < 1 << 22 ? 61 : n / 499) {
      std::size_t const bytes = bytes_for(n);
      ASSERT_GE(bytes, before) << what << ", " << n;
      before = bytes;
    }
  };
  expect_growth("scan of f32", [](std::int64_t n) { return scan_workspace_bytes<float>(n); });
  expect_growth("scan of f64", [](std::int64_t n) { return scan_workspace_bytes<double>(n); });
  expect_growth("segmented scan of f32", [](std::int64_t n) { return segmented_scan_workspace_bytes<float>(n); });
  expect_growth("segmented scan of f64", [](std::int64_t n) { return segmented_scan_workspace_bytes<double>(n); });
  expect_growth("segmented reduction of f32", [](std::int64_t n) { return segmented_reduce_workspace_bytes<float>(n); });
  expect_growth("segmented reduction of rows", [](std::int64_t n) { return segmented_reduce_workspace_bytes<float>(n / 8, 8); });
}

// --- No tuning shows in a bit

// A scan by the kernels themselves, of a workspace that is large enough: claims in its upper half. T is the accumulator.
template <class T, scan_direction Direction = forward, class Source, class View>
auto scan_by_kernel(Source const& source, View const& destination, std::size_t n, workspace_view const& workspace) {
  auto* const header = static_cast<detail::lookback_header*>(workspace.data);
  auto* const words = reinterpret_cast<detail::node_word<T>*>(header + 1);
  auto* const claims = reinterpret_cast<detail::tile_claims::word_type*>(static_cast<std::byte*>(workspace.data) + workspace.bytes / 2);
  return detail::scan_arguments<Direction, false, Source, View, T, plus>{
      source, destination, static_cast<std::int64_t>(n), 0, 0, false, true, true, T{}, plus{}, header, {words, {}}, {claims}, 0, 0};
}

// Both kernels of a reduction; of the long one, runs of many tiles that are joined one, two or sixteen at a time.
template <class Operation, class Source>
void expect_reductions_by_kernels(cuda_place<128> const& place, Operation const& operation, Source const& source, std::size_t n,
                                  std::uint32_t expected, workspace_view const& workspace) {
  auto const out = place.array(std::vector<float>(1));
  auto* const header = static_cast<detail::lookback_header*>(workspace.data);
  auto* const words = reinterpret_cast<detail::node_word<float>*>(header + 1);
  using finish = detail::store_sum<float, float>;
  // Aligned pieces, and those of which that is not known.
  for (std::int64_t const aligned : {std::int64_t{0}, static_cast<std::int64_t>(n)}) {
    detail::reduce_arguments<Source, float, Operation, finish, float> sum{
        source, static_cast<std::int64_t>(n), true, aligned, operation, finish{}, out.data(), header, words, 1};
    auto const expect_reduced = [&](auto const& launch, char const* what) {
      require_cuda(cudaMemset(out.data(), 0x5A, sizeof(float)));
      require_cuda(cudaDeviceSynchronize());
      launch();
      place.wait();
      EXPECT_EQ(bits(out.values()[0]), expected) << what << ", " << n;
    };
    if (n <= 128 * 512) {
      expect_reduced([&] { EXPECT_TRUE((detail::launch_short_reduce<64, 2, 4>(place.backend, "reduce", sum))); }, "short, 64 x 2");
    } else {
      EXPECT_FALSE((detail::launch_short_reduce<64, 2, 4>(place.backend, "reduce", sum))) << "more tiles than a warp collects";
    }
    expect_reduced([&] { EXPECT_TRUE((detail::launch_short_reduce<512, 8, 8>(place.backend, "reduce", sum))); }, "short, 512 x 8");
    expect_reduced([&] { detail::launch_long_reduce<32, 1, 1, 8>(place.backend, "reduce", sum); }, "32 x 1");
    expect_reduced([&] { detail::launch_long_reduce<32, 1, 2, 1>(place.backend, "reduce", sum); }, "32 x 1, two tiles");
    expect_reduced([&] { detail::launch_long_reduce<64, 32, 2, 1>(place.backend, "reduce", sum); }, "64 x 32");
    expect_reduced([&] { detail::launch_long_reduce<128, 2, 16, 1>(place.backend, "reduce", sum); }, "128 x 2");
    expect_reduced([&] { detail::launch_long_reduce<1024, 4, 4, 4>(place.backend, "reduce", sum); }, "1024 x 4");
  }
}

TEST(arrays_tuning, every_block_and_tile_has_the_same_bits) {
  cuda_place<128> const place;
  for (std::size_t const n : {std::size_t{1}, std::size_t{5000}, std::size_t{300'001}}) {
    auto const values = rounding_values<float>(n, n);
    auto const expected = bits(oracle_scan(values));
    auto const in = place.array(values);
    auto const out = place.array(std::vector<float>(n));
    zeroed_memory const workspace(std::size_t{1} << 20);
    auto const source = source_of(static_cast<float const*>(in.data()), n);
    auto const destination = make_view(out.data(), {n});
    auto scan = scan_by_kernel<float>(source, destination, n, workspace);
    auto const expect_scanned = [&](auto const& launch, char const* what) {
      launch();
      place.wait();
      EXPECT_EQ(bits(out.values()), expected) << what << ", " << n;
      require_cuda(cudaMemset(out.data(), 0x5A, n * sizeof(float)));
      require_cuda(cudaDeviceSynchronize());
    };
    expect_scanned([&] { detail::launch_scan_tiles<32, 1>(place.backend, "scan", scan); }, "32 x 1");
    expect_scanned([&] { detail::launch_scan_tiles<64, 2>(place.backend, "scan", scan); }, "64 x 2");
    expect_scanned([&] { detail::launch_scan_tiles<128, 8>(place.backend, "scan", scan); }, "128 x 8");
    expect_scanned([&] { detail::launch_scan_tiles<512, 1>(place.backend, "scan", scan); }, "512 x 1");
    if (detail::runs_scan_stream<decltype(scan)>("scan"))
      expect_scanned([&] { detail::launch_scan_stream(place.backend, "scan", scan); }, "streaming");
    expect_reductions_by_kernels(place, plus{}, source, n, expected.back(), workspace);
    dyadic_counter<float, twice_the_left_oracle> doubling;
    for (float const value : values) doubling.push(value);
    expect_reductions_by_kernels(place, twice_the_left{}, source, n, bits(doubling.collapse()), workspace);
  }
}

// Where the kernels of a reduction, and the runs that are collected, change; by elements of few bytes at other sizes than by others.
template <class E>
void check_reductions_of_all_lengths() {
  using T = std::conditional_t<std::is_integral_v<E>, std::int32_t, accumulator_t<plus, E>>;
  cuda_place<128> const place;
  constexpr std::size_t most = (std::size_t{1} << 22) + 1;
  std::vector<E> values;
  if constexpr (std::is_integral_v<E>) {
    integers random(89);
    for (std::size_t i = 0; i < most; ++i) values.push_back(static_cast<E>(random.next()));
  } else {
    values = rounding_elements<E>(most, 89);
  }
  auto const in = place.array(values);
  zeroed_memory const workspace(reduce_workspace_bytes<T>());
  for (std::size_t const n : {std::size_t{1} << 18, std::size_t{1} << 19, (std::size_t{1} << 20) - 1, std::size_t{1} << 20,
                              (std::size_t{1} << 20) + 1, std::size_t{3} << 19, (std::size_t{1} << 21) + 1, std::size_t{3} << 20, most}) {
    std::vector<T> sum(1);
    reduce(host_backend<>{}, make_view(static_cast<E const*>(values.data()), {n}), sum.data());
    auto const out = place.array(std::vector<T>(1));
    reduce(place.backend, make_view(static_cast<E const*>(in.data()), {n}), out.data(), workspace);
    place.wait();
    EXPECT_TRUE(same(out.values(), sum)) << n << " elements of " << sizeof(E) << " bytes";
  }
}
TEST(arrays_tuning, reductions_of_all_lengths) {
  check_reductions_of_all_lengths<std::int8_t>();
  check_reductions_of_all_lengths<__half>();
  check_reductions_of_all_lengths<float>();
  check_reductions_of_all_lengths<double>();
}

// --- Arrays at any address

// The streaming kernel, two blocks of it, so that stages are filled again; elements of type E, of arrays that begin anywhere in a line of
// 128 bytes: what lies around them is neither used nor written.
template <class E, scan_direction Direction>
void check_streaming_from_any_address(std::size_t n) {
  using T = accumulator_t<plus, E>;
  constexpr std::size_t size = sizeof(E), line = 128, around = 2 * line;
  cuda_place<128> const place;
  zeroed_memory const workspace(std::size_t{1} << 20);
  auto const values = rounding_elements<E>(n, n + size);
  std::vector<E> expected(n);
  inclusive_scan<gpu_to_gpu, Direction>(host_backend<1>{}, make_view(values.data(), {n}), make_view(expected.data(), {n}));
  std::vector<unsigned char> image(n * size + around);
  device_memory in(image.size()), out(image.size());
  for (std::size_t at = 0; at < line; at += size) {
    std::size_t const to = (5 * at + 3 * size) % line;                        // each once
    std::fill(image.begin(), image.end(), static_cast<unsigned char>(0xFF));  // NaN
    std::memcpy(image.data() + line / 2 + at, values.data(), n * size);
    in.write(image);
    std::fill(image.begin(), image.end(), static_cast<unsigned char>(0x5A));
    out.write(image);
    std::memcpy(image.data() + line / 2 + to, expected.data(), n * size);
    auto const begin = [&](device_memory const& memory, std::size_t bytes) {
      return reinterpret_cast<E*>(static_cast<std::byte*>(memory.data()) + line / 2 + bytes);
    };
    auto const source = source_of(static_cast<E const*>(begin(in, at)), n);
    auto const destination = make_view(begin(out, to), {n});
    auto scan = scan_by_kernel<T, Direction>(source, destination, n, workspace);
    if (!detail::runs_scan_stream<decltype(scan)>("scan")) GTEST_SKIP() << "no streaming kernel for this device";
    detail::launch_scan_stream(place.backend, "scan", scan, 2);
    place.wait();
    EXPECT_EQ(out.read(), image) << n << " elements, " << at << " to " << to;
  }
}
template <class E>
void check_streaming_from_any_address() {
  for (std::size_t const n : {std::size_t{1}, std::size_t{4099}, std::size_t{130'011}}) {
    check_streaming_from_any_address<E, forward>(n);
    check_streaming_from_any_address<E, backward>(n);
  }
}
TEST(arrays_streamed, f16_from_any_address) { check_streaming_from_any_address<__half>(); }
TEST(arrays_streamed, f32_from_any_address) { check_streaming_from_any_address<float>(); }
TEST(arrays_streamed, f64_from_any_address) { check_streaming_from_any_address<double>(); }

// A pair of numbers may begin at any multiple of 4 bytes, and so may an array of pairs.
TEST(arrays_streamed, elements_at_half_their_size) {
  static_assert(sizeof(affine) == 8 && alignof(affine) == 4);
  cuda_place<128> const place;
  std::size_t const most = detail::stream_from / sizeof(affine) + 100;
  auto const values = affine_values(most, 5);
  device_memory const in((most + 1) * sizeof(affine)), out((most + 1) * sizeof(affine)), sum(sizeof(affine));
  auto* const first = reinterpret_cast<affine*>(static_cast<std::byte*>(in.data()) + alignof(affine));
  auto* const first_out = reinterpret_cast<affine*>(static_cast<std::byte*>(out.data()) + alignof(affine));
  require_cuda(cudaMemcpy(first, values.data(), most * sizeof(affine), cudaMemcpyHostToDevice));
  zeroed_memory const scan_space(scan_workspace_bytes<affine>(static_cast<std::int64_t>(most))),
      sum_space(reduce_workspace_bytes<affine>());
  for (std::size_t const n : {std::size_t{1000}, std::size_t{70'001}, most}) {
    auto const source = source_of(static_cast<affine const*>(first), n);
    inclusive_scan(place.backend, source, make_view(first_out, {n}), scan_space, compose{});
    reduce(place.backend, source, static_cast<affine*>(sum.data()), sum_space, compose{});
    place.wait();
    std::vector<affine> result(n), expected(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n));
    affine total{};
    require_cuda(cudaMemcpy(result.data(), first_out, n * sizeof(affine), cudaMemcpyDeviceToHost));
    require_cuda(cudaMemcpy(&total, sum.data(), sizeof(total), cudaMemcpyDeviceToHost));
    for (std::size_t i = 1; i < n; ++i) expected[i] = compose{}(expected[i - 1], expected[i]);
    EXPECT_EQ(result, expected) << n;
    EXPECT_EQ(total, expected.back()) << n;
  }
}

// The name of the kernel that `launch` launches.
template <class Launch>
std::string kernel_of(cudaStream_t stream, Launch const& launch) {
  cudaGraph_t graph = nullptr;
  require_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  try {
    launch();
  } catch (...) {
    (void)cudaStreamEndCapture(stream, &graph);
    throw;
  }
  require_cuda(cudaStreamEndCapture(stream, &graph));
  std::size_t nodes = 0;
  require_cuda(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT_EQ(nodes, 1u);
  cudaGraphNode_t node = nullptr;
  nodes = 1;
  require_cuda(cudaGraphGetNodes(graph, &node, &nodes));
  cudaKernelNodeParams parameters{};
  require_cuda(cudaGraphKernelNodeGetParams(node, &parameters));
  char const* name = nullptr;
  require_cuda(cudaFuncGetName(&name, parameters.func));
  std::string const of_kernel = name;
  require_cuda(cudaGraphDestroy(graph));
  return of_kernel;
}

// Both kernels have the same bits, so that only their names tell which one ran.
TEST(arrays_streamed, long_arrays_where_the_device_can) {
  cuda_place<128> const place;
  std::size_t const streamed = detail::stream_from / sizeof(float);
  device_memory const in((streamed + 1) * sizeof(float)), out((streamed + 1) * sizeof(float));
  zeroed_memory const workspace(scan_workspace_bytes<float>(static_cast<std::int64_t>(streamed)));
  auto const kernel = [&](std::size_t n, std::size_t first) {
    return kernel_of(place.backend.stream, [&] {
      inclusive_scan(place.backend, source_of(static_cast<float const*>(in.data()) + first, n),
                     make_view(static_cast<float*>(out.data()) + first, {n}), workspace);
    });
  };
  using of_floats = decltype(scan_by_kernel<float>(source_of(static_cast<float const*>(nullptr), 1),
                                                   make_view(static_cast<float*>(nullptr), {1}), 1, workspace_view{}));
  char const* const of_long_arrays = detail::runs_scan_stream<of_floats>("scan") ? "scan_stream_kernel" : "scan_tiles_kernel";
  EXPECT_NE(kernel(streamed, 0).find(of_long_arrays), std::string::npos);
  EXPECT_NE(kernel(streamed, 1).find(of_long_arrays), std::string::npos);
  EXPECT_NE(kernel(streamed - 1, 0).find("scan_tiles_kernel"), std::string::npos);
}

TEST(arrays_under_noise, one_sum_in_a_thousand_runs_Long) {
  cuda_place<128> const place;
  std::size_t const n = 12'000'017;  // long enough to have company
  auto const values = rounding_values<float>(n, 62);
  auto const in = place.array(values);
  device_memory out(sizeof(float));
  zeroed_memory const workspace(reduce_workspace_bytes<float>());
  std::vector<float> result(1);
  verify::noise noise;
  auto const report = runs_under_noise(noise, 1000, place.backend.stream, out, result, [&] {
    reduce(place.backend, source_of(static_cast<float const*>(in.data()), n), static_cast<float*>(out.data()), workspace);
  });
  noise.stop();
  EXPECT_EQ(report.pattern_count(), 1u) << report;
  EXPECT_EQ(bits(result[0]), bits(dyadic_sum(values)));
  EXPECT_GT(noise.overlap().overlapped_windows, 500u);
}

// --- Progress whatever blocks start first

struct impatient : detail::tiles_in_order {
  static constexpr int looks = 0;
};
struct last_tile_first {
  static constexpr int looks = 1;
  __device__ static cuda::std::uint32_t tile_of(cuda::std::uint32_t block, cuda::std::uint32_t blocks) { return blocks - 1 - block; }
};
struct in_strides {
  static constexpr int looks = 0;
  __device__ static cuda::std::uint32_t tile_of(cuda::std::uint32_t block, cuda::std::uint32_t blocks) {
    return blocks % 7 == 0 ? block : static_cast<cuda::std::uint32_t>(7ull * block % blocks);
  }
};

// More tiles than blocks run at once, so that tiles wait for some whose blocks come last.
TEST(arrays_progress, whichever_block_starts_first) {
  cuda_place<128> const place;
  for (std::size_t const n : {std::size_t{257}, std::size_t{65'536}, std::size_t{1'000'003}}) {
    auto const values = rounding_values<float>(n, n);
    auto const expected = bits(oracle_scan(values));
    auto const in = place.array(values);
    auto const out = place.array(std::vector<float>(n));
    zeroed_memory const workspace(std::size_t{1} << 20);
    auto const destination = make_view(out.data(), {n});
    auto apart = scan_by_kernel<float>(source_of(static_cast<float const*>(in.data()), n), destination, n, workspace);
    auto in_place = scan_by_kernel<float>(source_of(static_cast<float const*>(out.data()), n), destination, n, workspace);
    auto const check = [&](auto order, char const* what) {
      using order_type = decltype(order);
      require_cuda(cudaMemset(out.data(), 0x5A, n * sizeof(float)));
      require_cuda(cudaDeviceSynchronize());
      detail::launch_scan_tiles<32, 1, order_type>(place.backend, "scan", apart);
      place.wait();
      EXPECT_EQ(bits(out.values()), expected) << what << ", " << n;
      require_cuda(cudaMemcpy(out.data(), in.data(), n * sizeof(float), cudaMemcpyDeviceToDevice));
      require_cuda(cudaDeviceSynchronize());
      detail::launch_scan_tiles<32, 1, order_type>(place.backend, "scan", in_place);
      place.wait();
      EXPECT_EQ(bits(out.values()), expected) << what << " in place, " << n;
    };
    check(detail::tiles_in_order{}, "in order");
    check(impatient{}, "impatient");
    check(last_tile_first{}, "last tile first");
    check(in_strides{}, "in strides");
  }
}

// --- Progress beside a kernel that holds all of the card but one place

__global__ void hold(volatile int* release, int* holding) {
  extern __shared__ char held[];
  held[threadIdx.x] = 0;
  if (threadIdx.x == 0) atomicAdd(holding, 1);
  while (*release == 0) __nanosleep(1000);
}

// Waits until `condition` holds; false after a minute.
template <class Condition>
bool within_a_minute(Condition const& condition) {
  auto const deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

// Whether all that was put on the stream before the event has ended.
bool has_ended(cudaEvent_t event) {
  cudaError_t const status = cudaEventQuery(event);
  if (status == cudaErrorNotReady) {
    (void)cudaGetLastError();
    return false;
  }
  require_cuda(status);
  return true;
}

// Holds all multiprocessors but one until it is released. Nothing is launched for the first time, allocated or freed meanwhile: a kernel's
// first launch loads it, which may wait for all that runs, and so may the others.
class held_card {
 public:
  held_card() {
    int device = 0, multiprocessors = 0, shared = 0;
    require_cuda(cudaGetDevice(&device));
    require_cuda(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    require_cuda(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    require_cuda(cudaHostAlloc(&words_, 2 * sizeof(int), cudaHostAllocMapped));
    words_[0] = words_[1] = 0;
    require_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    require_cuda(cudaFuncSetAttribute(&hold, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    require_cuda(cudaDeviceSynchronize());
    blocks_ = multiprocessors - 1;
    hold<<<static_cast<unsigned>(blocks_), 1024, static_cast<std::size_t>(shared), stream_>>>(words_, words_ + 1);
    require_cuda(cudaGetLastError());
  }
  ~held_card() {
    release();
    (void)cudaStreamDestroy(stream_);
    (void)cudaFreeHost(words_);
  }
  held_card(held_card const&) = delete;
  held_card& operator=(held_card const&) = delete;

  bool is_held() const { return *static_cast<int volatile*>(words_ + 1) == blocks_; }
  void release() {
    *static_cast<int volatile*>(words_) = 1;
    (void)cudaStreamSynchronize(stream_);
  }

 private:
  int* words_ = nullptr;  // whether to let go, and how many blocks hold
  cudaStream_t stream_ = nullptr;
  int blocks_ = 0;
};

TEST(arrays_progress, beside_a_kernel_that_holds_the_card_NotSanitized) {
  cuda_place<128> const place;
  auto const stream = place.backend.stream;
  std::size_t const n = 3'500'003, fewer = 1'000'001;
  auto const values = rounding_values<float>(n, 63);
  auto const expected = oracle_scan(values);
  auto const in = place.array(values);
  auto const source = source_of(static_cast<float const*>(in.data()), n);
  auto const space = static_cast<std::int64_t>(n);
  zeroed_memory const scan_space(scan_workspace_bytes<float>(space)), segmented_space(segmented_scan_workspace_bytes<float>(space)),
      reduce_space(reduce_workspace_bytes<float>());
  device_memory tiles(fewer * sizeof(float)), streamed(n * sizeof(float)), segmented(n * sizeof(float)), sum(sizeof(float));
  auto const array = [](device_memory const& memory, std::size_t size) { return make_view(static_cast<float*>(memory.data()), {size}); };
  segments_of_length const one_segment(space, 1);
  auto const launch_all = [&] {
    inclusive_scan(place.backend, slice<0>(source, 0, fewer), array(tiles, fewer), scan_space);
    inclusive_scan(place.backend, source, array(streamed, n), scan_space);
    segmented_inclusive_scan(place.backend, source, one_segment, array(segmented, n), segmented_space);
    reduce(place.backend, source, static_cast<float*>(sum.data()), reduce_space);
  };
  launch_all();  // which loads the kernels
  place.wait();
  for (auto const* memory : {&tiles, &streamed, &segmented, &sum})
    require_cuda(cudaMemset(memory->data(), 0x5A,
                            memory == &tiles ? fewer * sizeof(float)
                            : memory == &sum ? sizeof(float)
                                             : n * sizeof(float)));

  cudaEvent_t ended = nullptr;
  require_cuda(cudaEventCreateWithFlags(&ended, cudaEventDisableTiming));
  {
    held_card const card;
    EXPECT_TRUE(within_a_minute([&] { return card.is_held(); }));
    // Tiles, streaming blocks, segments and a reduction: one multiprocessor for all of them.
    launch_all();
    require_cuda(cudaEventRecord(ended, stream));
    EXPECT_TRUE(within_a_minute([&] { return has_ended(ended); })) << "no progress in a minute";
    EXPECT_TRUE(card.is_held());
  }
  place.wait();

  EXPECT_EQ(bits(read(tiles, fewer)), bits(std::vector<float>(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(fewer))));
  EXPECT_EQ(bits(read(streamed, n)), bits(expected));
  EXPECT_EQ(bits(read(segmented, n)), bits(expected));
  EXPECT_EQ(bits(read(sum, 1)[0]), bits(expected.back()));
  require_cuda(cudaEventDestroy(ended));
}

// --- A way back after a launch that was aborted: the workspace is zeroed again

// A launch with a workspace and results of its own.
struct watched_launch {
  char const* name;
  std::vector<float> expected;
  zeroed_memory workspace;
  std::function<void(float* results, workspace_view const& workspace)> launch;
  device_memory results{expected.size() * sizeof(float)};
  std::vector<unsigned char> midway = {};  // the workspace as a launch left it that was stopped

  void run() const { launch(static_cast<float*>(results.data()), workspace); }
};

// Whether this is the workspace of a first run that has started, has published something and has not ended.
bool is_midway(unsigned char const* image, std::size_t bytes) {
  detail::lookback_header header;
  std::memcpy(&header, image, sizeof(header));
  auto const is_used = [](unsigned char byte) { return byte != 0; };
  return header.runs == 0 && std::any_of(image, image + sizeof(header), is_used) &&
         std::any_of(image + sizeof(header), image + bytes, is_used);
}

// Looks at the workspaces through a second stream while the launches crawl over the one multiprocessor that is left to them. (A launch that
// is really stopped takes the program's memory along.)
void watch_launches(cudaStream_t stream, std::vector<watched_launch>& launches) {
  std::size_t most = 0;
  for (auto const& watched : launches) most = std::max(most, watched.workspace.size);
  unsigned char* image = nullptr;
  cudaStream_t onlooker = nullptr;
  cudaEvent_t ended = nullptr;
  require_cuda(cudaHostAlloc(&image, most, cudaHostAllocDefault));
  require_cuda(cudaStreamCreateWithFlags(&onlooker, cudaStreamNonBlocking));
  require_cuda(cudaEventCreateWithFlags(&ended, cudaEventDisableTiming));
  auto const start = [&](watched_launch const& watched) {
    require_cuda(cudaMemsetAsync(watched.workspace.memory.data(), 0, watched.workspace.size, stream));
    watched.run();
    require_cuda(cudaEventRecord(ended, stream));
  };
  auto const look = [&](watched_launch const& watched) {
    require_cuda(cudaMemcpyAsync(image, watched.workspace.memory.data(), watched.workspace.size, cudaMemcpyDeviceToHost, onlooker));
    require_cuda(cudaStreamSynchronize(onlooker));
  };
  for (auto const& watched : launches) {  // which loads the kernels
    start(watched);
    look(watched);
  }
  {
    held_card const card;
    EXPECT_TRUE(within_a_minute([&] { return card.is_held(); }));
    for (auto& watched : launches) {
      auto const is_seen_midway = [&] {
        start(watched);
        bool const ends = within_a_minute([&] {
          look(watched);
          if (watched.midway.empty() && is_midway(image, watched.workspace.size)) {
            watched.midway.assign(image, image + watched.workspace.size);
          }
          return has_ended(ended);
        });
        return ends && !watched.midway.empty();
      };
      EXPECT_TRUE(within_a_minute(is_seen_midway)) << watched.name;
    }
  }
  require_cuda(cudaStreamSynchronize(stream));
  require_cuda(cudaEventDestroy(ended));
  require_cuda(cudaStreamDestroy(onlooker));
  require_cuda(cudaFreeHost(image));
}

TEST(arrays_abort, a_workspace_that_is_zeroed_again_serves_as_before_NotSanitized) {
  cuda_place<128> const place;
  host_backend<> const host;
  auto const& gpu = place.backend;
  constexpr std::int64_t n = 8'000'003, fewer = 3'000'001;
  auto const values = rounding_values<float>(n, 68);
  auto const offsets = offsets_of_all_kinds(n);
  auto const in = place.array(values);
  auto const starts = place.array(offsets);
  auto const here = source_of(values.data(), n), there = source_of<float>(in.data(), n);
  segments_at const segments(source_of(offsets.data(), offsets.size()));
  segments_at const segments_there(source_of<std::int64_t>(starts.data(), offsets.size()));
  auto const number = static_cast<std::size_t>(segments.count());

  std::vector<float> prefixes(n), prefixes_of_segments(n), sums(number), sum(1);
  inclusive_scan(host, here, make_view(prefixes.data(), {n}));
  segmented_inclusive_scan(host, here, segments, make_view(prefixes_of_segments.data(), {n}));
  segmented_reduce(host, here, segments, make_view(sums.data(), {number}));
  reduce(host, here, sum.data());
  std::vector<watched_launch> launches;
  launches.push_back({"scan of tiles",
                      {prefixes.begin(), prefixes.begin() + fewer},
                      zeroed_memory(scan_workspace_bytes<float>(fewer)),
                      [=](float* results, workspace_view const& workspace) {
                        inclusive_scan(gpu, slice<0>(there, 0, fewer), make_view(results, {fewer}), workspace);
                      }});
  launches.push_back(
      {"streaming scan", prefixes, zeroed_memory(scan_workspace_bytes<float>(n)),
       [=](float* results, workspace_view const& workspace) { inclusive_scan(gpu, there, make_view(results, {n}), workspace); }});
  launches.push_back({"reduction", sum, zeroed_memory(reduce_workspace_bytes<float>()),
                      [=](float* results, workspace_view const& workspace) { reduce(gpu, there, results, workspace); }});
  launches.push_back({"segmented scan", prefixes_of_segments, zeroed_memory(segmented_scan_workspace_bytes<float>(n)),
                      [=](float* results, workspace_view const& workspace) {
                        segmented_inclusive_scan(gpu, there, segments_there, make_view(results, {n}), workspace);
                      }});
  launches.push_back({"segmented reduction", sums, zeroed_memory(segmented_reduce_workspace_bytes<float>(n)),
                      [=](float* results, workspace_view const& workspace) {
                        segmented_reduce(gpu, there, segments_there, make_view(results, {number}), workspace);
                      }});
  auto const expect_right = [&](watched_launch const& watched) {
    std::size_t const size = watched.expected.size();
    // What belongs to no segment is not written.
    require_cuda(cudaMemset(watched.results.data(), 0, size * sizeof(float)));
    require_cuda(cudaDeviceSynchronize());
    watched.run();
    place.wait();
    EXPECT_EQ(bits(read(watched.results, size)), bits(watched.expected)) << watched.name;
  };
  for (auto const& watched : launches) expect_right(watched);
  watch_launches(gpu.stream, launches);
  for (auto& watched : launches) {
    if (watched.midway.empty()) continue;  // was reported
    for (int stopped = 0; stopped < 3; ++stopped) {
      watched.workspace.memory.write(watched.midway);
      watched.workspace.zero();
      for (int run = 0; run < 3; ++run) expect_right(watched);
    }
  }
}

// --- Graphs: a replay with other data

TEST(arrays_graph, replays_with_other_data) {
  std::size_t const n = 200'003;
  cudaStream_t stream = nullptr;
  require_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  cuda_backend const backend{stream};
  device_memory in(n * sizeof(float)), out(n * sizeof(float)), sum(sizeof(float));
  zeroed_memory const scan_space(scan_workspace_bytes<float>(static_cast<std::int64_t>(n))), reduce_space(reduce_workspace_bytes<float>());
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  require_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  auto const source = source_of(static_cast<float const*>(in.data()), n);
  inclusive_scan(backend, source, make_view(static_cast<float*>(out.data()), {n}), scan_space);
  reduce(backend, source, static_cast<float*>(sum.data()), reduce_space);
  require_cuda(cudaStreamEndCapture(stream, &graph));
  require_cuda(cudaGraphInstantiate(&executable, graph, 0));
  for (std::uint64_t seed : {1u, 2u, 3u}) {
    auto const values = rounding_values<float>(n, seed);
    auto const expected = oracle_scan(values);
    std::vector<float> result(n);
    float total = 0;
    require_cuda(cudaMemcpy(in.data(), values.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    require_cuda(cudaDeviceSynchronize());
    require_cuda(cudaGraphLaunch(executable, stream));
    require_cuda(cudaStreamSynchronize(stream));
    require_cuda(cudaMemcpy(result.data(), out.data(), n * sizeof(float), cudaMemcpyDeviceToHost));
    require_cuda(cudaMemcpy(&total, sum.data(), sizeof(float), cudaMemcpyDeviceToHost));
    EXPECT_EQ(bits(result), bits(expected)) << "replay " << seed;
    EXPECT_EQ(bits(total), bits(expected.back()));
  }
  require_cuda(cudaGraphExecDestroy(executable));
  require_cuda(cudaGraphDestroy(graph));
  require_cuda(cudaStreamDestroy(stream));
}

// --- Long arrays

// Element i, the same on host and device: 24 random bits at one of 16 scales.
struct scattered_value {
  TESSERA_TILE float operator()(std::int64_t i) const {
    auto z = static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15ull;
    z ^= z >> 32;
    z *= 0xD6E8FEB86659FD93ull;
    z ^= z >> 32;
    auto const mantissa = static_cast<float>(static_cast<std::int32_t>(z >> 40) - (1 << 23));  // exact
    return multiply(mantissa, static_cast<float>(1u << ((z >> 8) & 15u)));
  }
};
__global__ void fill_scattered(float* data, std::int64_t n) {
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += std::int64_t{gridDim.x} * blockDim.x)
    data[i] = scattered_value{}(i);
}

// `n` scattered values on the device.
struct scattered_array {
  explicit scattered_array(std::int64_t n) : memory(static_cast<std::size_t>(n) * sizeof(float)) {
    fill_scattered<<<4096, 256, 0, cudaStreamPerThread>>>(static_cast<float*>(memory.data()), n);
    require_cuda(cudaGetLastError());
  }
  float const* data() const { return static_cast<float const*>(memory.data()); }
  device_memory memory;
};
// The same on the host, from `first` on.
std::vector<float> scattered_values(std::int64_t first, std::int64_t count) {
  std::vector<float> values;
  for (std::int64_t i = first; i < first + count; ++i) values.push_back(scattered_value{}(i));
  return values;
}

// Empty, or why a test that needs so much device memory is skipped.
std::string lacks_memory(std::size_t needed) {
  std::size_t free_bytes = 0, all = 0;
  require_cuda(cudaMemGetInfo(&free_bytes, &all));
  if (free_bytes >= needed) return {};
  return "the card has " + std::to_string(free_bytes) + " bytes free of " + std::to_string(needed);
}

// Sums on the device.
class device_sum {
 public:
  float operator()(cuda_place<128> const& place, view<float const, 1> const& source) const {
    reduce(place.backend, source, static_cast<float*>(sum_.data()), workspace_);
    return read(sum_, 1)[0];
  }

 private:
  device_memory sum_{sizeof(float)};
  zeroed_memory workspace_{reduce_workspace_bytes<float>()};
};

// Sampled prefixes of the scan, and of a segmented scan of one segment, against the reduction of each; some of them, and the ends of all
// tiles near 2^k, against the host's oracle.
void check_long_array(std::int64_t n, int samples, std::int64_t oracle_up_to) {
  cuda_place<128> const place;
  auto const size = static_cast<std::size_t>(n);
  std::size_t const space = std::max(scan_workspace_bytes<float>(n), segmented_scan_workspace_bytes<float>(n));
  if (auto const why = lacks_memory(size * 2 * sizeof(float) + space + (std::size_t{1} << 28)); !why.empty()) GTEST_SKIP() << why;
  scattered_array const in(n);
  device_memory const out(size * sizeof(float));
  device_sum const sum;
  zeroed_memory const workspace(space);
  auto const source = source_of(in.data(), size);
  auto* const results = static_cast<float*>(out.data());
  auto const prefix = [&](std::int64_t i) { return read(results + i, 1)[0]; };
  auto const expect_prefixes = [&](char const* what) {
    integers random(64);
    for (int k = 0; k < samples; ++k) {
      std::int64_t const last = k == 0 ? n - 1 : random.below(n);
      ASSERT_EQ(bits(sum(place, slice<0>(source, 0, last + 1))), bits(prefix(last))) << what << ", prefix " << last << " of " << n;
    }
  };
  segmented_inclusive_scan(place.backend, source, segments_of_length(n, 1), make_view(results, {n}), workspace);
  expect_prefixes("one segment");
  require_cuda(cudaMemset(results, 0x5A, size * sizeof(float)));
  inclusive_scan(place.backend, source, make_view(results, {n}), workspace);
  expect_prefixes("scan");
  dyadic_counter<float> counter;
  for (std::int64_t i = 0; i < oracle_up_to; ++i) {
    counter.push(scattered_value{}(i));
    if (i % 100'003 == 0 || i + 1 == oracle_up_to) ASSERT_EQ(bits(canonical_nan(counter.collapse())), bits(prefix(i))) << i;
  }
}
TEST(long_arrays, around_two_to_the_26_Long) {
  for (std::int64_t const n : {(std::int64_t{1} << 26) - 1, std::int64_t{1} << 26, (std::int64_t{1} << 26) + 1})
    check_long_array(n, 1000, n);
}

constexpr std::int64_t two_to_the_32 = std::int64_t{1} << 32;

TEST(long_arrays, more_than_two_to_the_32_Long) { check_long_array(two_to_the_32 + 4099, 100, 20'000'000); }

// Sampled segments against the host backend.
TEST(long_arrays, segments_in_more_than_two_to_the_32_Long) {
  cuda_place<128> const place;
  host_backend<> const host;
  constexpr std::int64_t n = two_to_the_32 + 4099;
  std::size_t const space = segmented_scan_workspace_bytes<float>(n);  // enough for reductions too
  if (auto const why = lacks_memory(n * 2 * sizeof(float) + space + (std::size_t{1} << 28)); !why.empty()) GTEST_SKIP() << why;
  auto const offsets = offsets_of_all_kinds(n);
  auto const number = static_cast<std::int64_t>(offsets.size()) - 1;
  scattered_array const in(n);
  device_memory const out(n * sizeof(float));
  zeroed_memory const workspace(space);
  auto const starts = place.array(offsets);
  auto const sums = place.array(std::vector<float>(offsets.size() - 1));
  auto* const results = static_cast<float*>(out.data());
  auto const source = source_of(in.data(), n);
  segments_at const segments(source_of<std::int64_t>(starts.data(), offsets.size()));
  segmented_reduce(place.backend, source, segments, make_view(sums.data(), {number}), workspace);
  auto const all_sums = sums.values();

  auto const begin_of = [&](std::int64_t segment) { return offsets[static_cast<std::size_t>(segment)]; };
  // The first and the last, those that have 2^31 and 2^32, and some others; none is empty.
  std::vector<std::int64_t> samples{0, number - 1};
  for (std::int64_t const position : {two_to_the_32 / 2, two_to_the_32 - 1, two_to_the_32})
    samples.push_back(std::upper_bound(offsets.begin(), offsets.end(), position) - offsets.begin() - 1);
  integers random(65);
  while (samples.size() < 1000) {
    std::int64_t const k = random.below(number);
    if (begin_of(k) < begin_of(k + 1)) samples.push_back(k);
  }
  // expected(values, scanned) of a segment, on the host.
  auto const expect_segments = [&](char const* what, auto const& expected) {
    for (std::int64_t const k : samples) {
      std::int64_t const first = begin_of(k), length = begin_of(k + 1) - first;
      auto const values = scattered_values(first, length);
      std::vector<float> scanned(values.size());
      expected(source_of(values.data(), values.size()), make_view(scanned.data(), {length}));
      ASSERT_EQ(bits(read(results + first, values.size())), bits(scanned)) << what << ", segment " << k << " from " << first << " on";
    }
  };
  segmented_inclusive_scan(place.backend, source, segments, make_view(results, {n}), workspace);
  expect_segments("inclusive", [&](auto const& values, auto const& scanned) { inclusive_scan(host, values, scanned); });
  for (std::int64_t const k : samples) {
    ASSERT_EQ(bits(all_sums[static_cast<std::size_t>(k)]), bits(read(results + begin_of(k + 1) - 1, 1)[0])) << "sum of segment " << k;
  }
  segmented_exclusive_scan<gpu_to_gpu, backward>(place.backend, source, segments, make_view(results, {n}), 0.5f, workspace);
  expect_segments("exclusive, backward",
                  [&](auto const& values, auto const& scanned) { exclusive_scan<gpu_to_gpu, backward>(host, values, scanned, 0.5f); });
  // One segment that is nearly all.
  auto const ends = place.array(std::vector<std::int64_t>{7, n - 3});
  segmented_reduce(place.backend, source, segments_at(source_of<std::int64_t>(ends.data(), 2)), make_view(sums.data(), {1}), workspace);
  place.wait();
  EXPECT_EQ(bits(device_sum{}(place, slice<0>(source, 7, n - 10))), bits(sums.values()[0]));
}

// Segments of 64 rows, sampled, and one of all rows.
TEST(long_arrays, rows_of_more_than_two_to_the_32_elements_Long) {
  cuda_place<128> const place;
  constexpr std::int64_t columns = 128, rows = two_to_the_32 / columns + 64, number = rows / 64;
  std::size_t const space = segmented_reduce_workspace_bytes<float>(rows, columns);
  constexpr std::size_t bytes = rows * columns * sizeof(float);
  if (auto const why = lacks_memory(bytes + bytes / 64 + space + (std::size_t{1} << 28)); !why.empty()) GTEST_SKIP() << why;
  scattered_array const in(rows * columns);
  device_memory const out(bytes / 64);
  device_sum const sum;
  zeroed_memory const workspace(space);
  auto const source = make_view(in.data(), {rows, columns});
  auto* const results = static_cast<float*>(out.data());
  segmented_reduce(place.backend, source, segments_of_length(64, number), make_view(results, {number, columns}), workspace);
  integers random(66);
  for (int sample = 0; sample < 200; ++sample) {
    std::int64_t const k = sample == 0 ? number - 1 : random.below(number);
    auto const values = scattered_values(k * 64 * columns, 64 * columns);
    std::vector<float> expected;
    for (std::size_t c = 0; c < columns; ++c) {
      std::vector<float> list;
      for (std::size_t row = 0; row < 64; ++row) list.push_back(values[row * columns + c]);
      expected.push_back(dyadic_sum(list));
    }
    ASSERT_EQ(bits(read(results + k * columns, columns)), bits(expected)) << "rows from " << k * 64 << " on";
  }
  segmented_reduce(place.backend, source, segments_of_length(rows, 1), make_view(results, {1, columns}), workspace);
  auto const all = read(results, columns);
  for (std::int64_t const c : {0, 77, 127})
    EXPECT_EQ(bits(sum(place, column(source, c))), bits(all[static_cast<std::size_t>(c)])) << "column " << c;
}

}  // namespace
