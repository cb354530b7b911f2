#include "blocks.hpp"

#include <span>
#include <string>
#include <utility>
#include <vector>

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <nv/target>

#include <tessera/tessera.cuh>

#include "calls.cuh"
#include "expected.hpp"

namespace benchmark {
namespace {

// The value as it was, since zero is 0, which no compiler knows: each pass needs the whole result of the pass before it, so that nothing
// can be left out or be done once for all passes. One instruction. (An empty asm statement is none to the assembler, which then moves what
// does not depend on other threads out of the loop.)
TESSERA_TILE void feed([[maybe_unused]] float& value, [[maybe_unused]] float result, [[maybe_unused]] float zero) {
  NV_IF_TARGET(NV_IS_DEVICE, (value = __fmaf_rn(result, zero, value);))
}

// The first tile, by loads as plain as those of CUB's kernels below: those of tile_load take registers that are then missing in the loop.
template <int Elements, class Block>
TESSERA_TILE auto load_plainly(Block& block, float const* in) {
  auto tile = tessera::tile_full<Elements>(block, 0.0f);
  tessera::for_each_element(block, tile, [&](int i, float& value) { value = in[i]; });
  return tile;
}

// Each block loads the first tile and scans it `times` times from registers.
template <int Elements>
struct scan_often {
  template <class Block>
  TESSERA_TILE void operator()(Block& block, float const* in, float* out, int times, float zero) const {
    auto tile = load_plainly<Elements>(block, in);
    auto sums = tile;
    for (int i = 0; i < times; ++i) {
      sums = tessera::tile_inclusive_scan(block, tile);
      tile = tessera::tile_map(block, [&](float value, float sum) { feed(value, sum, zero); return value; }, tile, sums);
    }
    float* const to = out + block.tile_index(0) * Elements;
    tessera::for_each_element(block, sums, [&](int i, float value) { to[i] = value; });
  }
};

template <int Elements>
struct reduce_often {
  template <class Block>
  TESSERA_TILE void operator()(Block& block, float const* in, float* out, int times, float zero) const {
    auto tile = load_plainly<Elements>(block, in);
    float sum = 0;
    for (int i = 0; i < times; ++i) {
      sum = tessera::tile_reduce(block, tile);
      tessera::for_each_element(block, tile, [&](int, float& value) { feed(value, sum, zero); });
    }
    if (block.rank() == 0) out[block.tile_index(0)] = sum;
  }
};

// As many threads on a multiprocessor as a tessera launch keeps room for.
template <int Threads>
inline constexpr int resident = tessera::default_resident_threads / Threads;

template <int Threads, int Items>
__global__ void __launch_bounds__(Threads, resident<Threads>) cub_scan_often(float const* in, float* out, int times, float zero) {
  using scan = cub::BlockScan<float, Threads, cub::BLOCK_SCAN_WARP_SCANS>;
  __shared__ typename scan::TempStorage memory;
  float values[Items], sums[Items];
  for (int k = 0; k < Items; ++k) sums[k] = values[k] = in[threadIdx.x * Items + k];
  for (int i = 0; i < times; ++i) {
    scan(memory).InclusiveSum(values, sums);
    for (int k = 0; k < Items; ++k) feed(values[k], sums[k], zero);
    __syncthreads();
  }
  for (int k = 0; k < Items; ++k) out[(blockIdx.x * Threads + threadIdx.x) * Items + k] = sums[k];
}

// The sum is thread 0's alone, ours is every thread's.
template <int Threads, int Items>
__global__ void __launch_bounds__(Threads, resident<Threads>) cub_reduce_often(float const* in, float* out, int times, float zero) {
  using reduce = cub::BlockReduce<float, Threads>;
  __shared__ typename reduce::TempStorage memory;
  float values[Items], sum = 0;
  for (int k = 0; k < Items; ++k) values[k] = in[threadIdx.x * Items + k];
  for (int i = 0; i < times; ++i) {
    sum = reduce(memory).Sum(values);
    for (float& value : values) feed(value, sum, zero);
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

struct block_launch {
  int blocks, times;
};

template <class Tessera, class Cub>
void measure_block(session& s, std::string const& name, int threads, int items, block_launch const& launch, int results,
                   Tessera const& ours, Cub const& cub, std::vector<float> const& expected, std::vector<double> const& magnitudes) {
  constexpr std::uint64_t seed = 5;
  std::int64_t const elements = std::int64_t{threads} * items;
  device_array<float> const in(static_cast<std::size_t>(elements));
  device_array<float> const out(static_cast<std::size_t>(launch.blocks) * static_cast<std::size_t>(results));
  make_elements(s.stream, in.data(), elements, seed);
  contest c(s.stream, s.chosen.quick ? replay_plan{1, 1, 3} : replay_plan{2, 3, 21},
            [&] { check(cudaMemsetAsync(out.data(), 0x5A, out.size() * sizeof(float), s.stream), "cudaMemset"); });
  auto const last = [&] { return download(out.data() + out.size() - static_cast<std::size_t>(results), results); };
  // Nanoseconds of a tile on one multiprocessor.
  double const scale = 1e6 * (launch.blocks == 1 ? 1 : s.multiprocessors) / launch.blocks / launch.times;
  c.add(
      "cub",
      [&] {
        cub(in.data(), out.data(), launch);
        check(cudaGetLastError(), "CUB's block");
      },
      [&] { return compare_sums<float>(expected, last(), magnitudes, elements); }, scale);
  c.add(
      "tessera", [&] { ours(static_cast<float const*>(in.data()), out.data(), launch); },
      [&] { return compare_bits<float>(expected, last()); }, scale);
  case_result result{"block", name, {}, {{"threads", threads}, {"items", items}, {"blocks", launch.blocks}}, "nanoseconds_a_tile"};
  c.run(result);
  s.take(std::move(result));
}

template <int Threads, int Items>
void measure_size(session& s) {
  constexpr int elements = Threads * Items;
  tessera::cuda_backend const gpu{s.stream};
  auto const values = elements_on_host<float>(0, elements, 5);
  std::vector<float> scanned(static_cast<std::size_t>(elements)), reduced(1);
  tessera::host_backend<> const host;
  float const* const in_on_host = values.data();
  tessera::launch_tiled(host, tessera::tile_grid(1), scan_often<elements>{}, in_on_host, scanned.data(), 1, 0.0f);
  tessera::launch_tiled(host, tessera::tile_grid(1), reduce_often<elements>{}, in_on_host, reduced.data(), 1, 0.0f);
  std::vector<double> const magnitudes = magnitudes_of<float>(values);

  for (bool const full : {true, false}) {
    // One block alone shows the latency; many waves of blocks on all multiprocessors the throughput.
    block_launch const launch{full ? 64 * s.multiprocessors : 1, s.chosen.quick ? 4 : full ? 256 : 2048};
    std::string const size = std::to_string(Threads) + " threads x " + std::to_string(Items) + (full ? "" : ", one block");
    if (std::string const name = "block scan, " + size; s.wanted(name)) {
      measure_block(
          s, name, Threads, Items, launch, elements,
          [&](float const* in, float* out, block_launch const& l) {
            tessera::launch_tiled<Threads>(gpu, tessera::tile_grid(l.blocks), scan_often<elements>{}, in, out, l.times, 0.0f);
          },
          [&](float const* in, float* out, block_launch const& l) {
            cub_scan_often<Threads, Items><<<static_cast<unsigned>(l.blocks), Threads, 0, s.stream>>>(in, out, l.times, 0.0f);
          },
          scanned, magnitudes);
    }
    if (std::string const name = "block reduce, " + size; s.wanted(name)) {
      measure_block(
          s, name, Threads, Items, launch, 1,
          [&](float const* in, float* out, block_launch const& l) {
            tessera::launch_tiled<Threads>(gpu, tessera::tile_grid(l.blocks), reduce_often<elements>{}, in, out, l.times, 0.0f);
          },
          [&](float const* in, float* out, block_launch const& l) {
            cub_reduce_often<Threads, Items><<<static_cast<unsigned>(l.blocks), Threads, 0, s.stream>>>(in, out, l.times, 0.0f);
          },
          reduced, {magnitudes.back()});
    }
  }
}

}  // namespace

void measure_blocks(session& s) {
  measure_size<128, 4>(s);
  measure_size<128, 8>(s);
  measure_size<128, 16>(s);
  measure_size<256, 4>(s);
  measure_size<256, 8>(s);
  measure_size<256, 16>(s);
}

}  // namespace benchmark
