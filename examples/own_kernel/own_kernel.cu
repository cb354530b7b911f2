// A kernel of one's own, launched with <<<>>>. It makes a block from its shared memory and its tile, and then calls the same primitives as
// a kernel of launch_tiled; its destination may be a view (atomics) or the writer of a scatter target (one fixed order, the same bits on
// every run and on the host).
#include <cstdint>
#include <cstdio>
#include <exception>
#include <span>
#include <stdexcept>
#include <vector>

#include <tessera/tessera.cuh>
#include <tessera/verify/hash.hpp>
#include <tessera/verify/repeat.hpp>

namespace {

constexpr int threads = 128;
constexpr int scratch_bytes = 1024;
constexpr int rows_per_tile = 64;
constexpr int columns = 16;

// What one block does with one tile.
template <class Block, class Sums>
TESSERA_TILE void add_tile(Block& block, tessera::view<float const, 2> values, tessera::view<int const, 1> rows, Sums const& sums) {
  auto const first = block.tile_id() * rows_per_tile;
  auto const tile = tessera::tile_load<rows_per_tile, columns>(block, values, {first, 0});
  auto const indices = tessera::tile_load<rows_per_tile>(block, tessera::shared, rows, {first}, tessera::skip_index<int>);
  tessera::tile_atomic_add_indexed<0>(block, sums, indices, tile);
}

// The kernel: block b of the launch works on tile b.
template <class Sums>
__global__ void __launch_bounds__(threads) add_rows(tessera::view<float const, 2> values, tessera::view<int const, 1> rows, Sums sums) {
  __shared__ alignas(16) cuda::std::byte scratch[scratch_bytes];
  tessera::cuda_block<threads, scratch_bytes> block(scratch, tessera::tile_grid(gridDim.x), blockIdx.x);
  add_tile(block, values, rows, sums);
}

// The same for the host backend, to compare with.
struct add_rows_on_host {
  template <class Block, class Sums>
  TESSERA_TILE void operator()(Block& block, tessera::view<float const, 2> values, tessera::view<int const, 1> rows, Sums sums) const {
    add_tile(block, values, rows, sums);
  }
};

void check(cudaError_t code) {
  if (code != cudaSuccess) throw std::runtime_error(cudaGetErrorString(code));
}

template <class T>
T* on_device(std::vector<T> const& elements) {
  T* memory = nullptr;
  check(cudaMalloc(&memory, elements.size() * sizeof(T)));
  check(cudaMemcpy(memory, elements.data(), elements.size() * sizeof(T), cudaMemcpyHostToDevice));
  return memory;
}

int run() {
  constexpr std::int64_t n = 100'003;  // the last tile is ragged
  constexpr std::int64_t groups = 37;
  std::vector<float> values(n * columns);
  std::vector<int> rows(n);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1.0f / static_cast<float>(1 + i * 7919 % 1000);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int>(i * 31 % groups);
  std::vector<float> sums(groups * columns);

  float* const device_values = on_device(values);
  int* const device_rows = on_device(rows);
  float* const device_sums = on_device(sums);
  auto const values_view = tessera::make_view(static_cast<float const*>(device_values), {n, columns});
  auto const rows_view = tessera::make_view(static_cast<int const*>(device_rows), {n});
  auto const sums_view = tessera::make_view(device_sums, {groups, columns});

  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream));
  tessera::cuda_backend const backend{stream};
  auto const tiles = tessera::ceil_div(n, rows_per_tile);
  auto const blocks = static_cast<unsigned>(tiles);
  tessera::records const declared{.tiles = tiles, .per_tile = rows_per_tile};
  tessera::cuda_workspace workspace(backend, tessera::scatter_workspace_bytes<tessera::gpu_to_gpu>(backend, sums_view, declared));
  auto target = tessera::scatter_target<tessera::gpu_to_gpu>(backend, sums_view, declared, workspace);

  auto const fetch = [&] {
    check(cudaMemcpyAsync(sums.data(), device_sums, sums.size() * sizeof(float), cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
    return tessera::verify::bytes_of(sums)();
  };
  auto const clear = [&] { check(cudaMemsetAsync(device_sums, 0, sums.size() * sizeof(float), stream)); };

  auto const atomics = tessera::verify::repeat(
      100,
      [&] {
        clear();
        add_rows<<<blocks, threads, 0, stream>>>(values_view, rows_view, sums_view);
        check(cudaGetLastError());
      },
      fetch);
  auto const ordered = tessera::verify::repeat(
      100,
      [&] {
        clear();
        add_rows<<<blocks, threads, 0, stream>>>(values_view, rows_view, target.next_launch(backend, tessera::tile_grid(tiles)));
        check(cudaGetLastError());
        target.resolve(backend);
      },
      fetch);
  target.check(backend);

  std::vector<float> host_sums(groups * columns);
  auto const host_view = tessera::make_view(host_sums.data(), {groups, columns});
  tessera::host_backend<> const host;
  tessera::host_workspace host_workspace(tessera::scatter_workspace_bytes<tessera::gpu_to_gpu>(host, host_view, declared));
  auto host_target = tessera::scatter_target<tessera::gpu_to_gpu>(host, host_view, declared, host_workspace);
  tessera::launch_tiled(host, tessera::tile_grid(tiles), add_rows_on_host{},
                        tessera::make_view(static_cast<float const*>(values.data()), {n, columns}),
                        tessera::make_view(static_cast<int const*>(rows.data()), {n}), host_target);
  host_target.resolve(host);

  auto const host_hash = tessera::verify::hash_of(std::span(host_sums));
  std::printf("atomics:    %s\n", tessera::verify::to_string(atomics).c_str());
  std::printf("gpu_to_gpu: %s\n", tessera::verify::to_string(ordered).c_str());
  std::printf("the host:   %s\n", tessera::verify::hash_text(host_hash).c_str());
  return ordered.pattern_count() == 1 && ordered.hash() == host_hash ? 0 : 1;
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("skipped: there is no GPU that CUDA can use");
    return 77;
  }
  try {
    return run();
  } catch (std::exception const& e) {
    std::fprintf(stderr, "own_kernel: %s\n", e.what());
    return 1;
  }
}
