// Reductions of whole arrays on the device: one value, D of all elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <cuda/std/type_traits>

#include <tessera/arithmetic.hpp>
#include <tessera/determinism.hpp>
#include <tessera/launch/cuda_backend.cuh>
#include <tessera/scatter/workspace.hpp>
#include <tessera/tile/load.hpp>
#include <tessera/tile/reduce.hpp>

namespace tessera::inline v0_1 {

namespace detail {

// Speed choices; no bit depends on them.
inline constexpr int reduce_threads = 256;
template <class T>
inline constexpr int reduce_elements = 8192 / (sizeof(T) / 4);  // of a tile
inline constexpr int reduce_most_runs = 1024;                   // partial sums, one a block

// The workspace: how many blocks have come, zeroed once and zero again after each run, then the partial sums.
inline constexpr std::size_t reduce_header_bytes = 256;

// Each block takes an aligned run of `tiles_per_run` tiles, a power of two, and leaves D of it; the last to come joins the runs.
template <bool HasInitial>
struct reduce_array {
  template <class Block, class T, class In, class Operation>
  TESSERA_TILE void operator()(Block& block, In in, T* out, T initial, Operation operation, std::uint32_t* arrived, T* partials,
                               std::int64_t runs, std::int64_t tiles_per_run) const {
    NV_IF_TARGET(NV_IS_DEVICE, (reduce(block, in, out, initial, operation, arrived, partials, runs, tiles_per_run);))
  }

 private:
  template <class Block, class T, class In, class Operation>
  __device__ void reduce(Block& block, In const& in, T* out, T initial, Operation const& operation, std::uint32_t* arrived, T* partials,
                         std::int64_t runs, std::int64_t tiles_per_run) const {
    constexpr int elements = reduce_elements<T>;
    std::int64_t const first = block.tile_id() * tiles_per_run * elements, rest = in.extent(0) - first;
    std::int64_t const mine = rest < tiles_per_run * elements ? rest : tiles_per_run * elements;
    auto const tile_sum = [&](std::int64_t tile) {
      std::int64_t const at = first + tile * elements, left = mine - tile * elements;
      auto const values = tile_load<elements>(block, in, {at});
      return reduce_tile(block, values, operation, left < elements ? static_cast<int>(left) : elements);
    };
    T sum = dyadic_reduce<1>(tile_sum, operation, 0, ceil_div(mine, elements));

    scratch_array<int, 1, Block> last(block);
    block.sync();
    if (block.rank() == 0) {
      __stcg(partials + block.tile_id(), sum);
      __threadfence();
      last[0] = atomicInc(arrived, static_cast<unsigned>(runs - 1)) == static_cast<unsigned>(runs - 1);
      __threadfence();
    }
    block.sync();
    if (last[0] == 0) return;
    auto const all = make_tile<T, tile_shape<reduce_most_runs>>(block, registers, [&](auto& tile) {
      fill_tile(block, tile, [&](int, int begin, T* values) {
        for (int i = 0; i < chunk_elements<T, tile_shape<reduce_most_runs>>(); ++i)
          values[i] = begin + i < runs ? __ldcg(partials + begin + i) : T{};
      });
    });
    sum = reduce_tile(block, all, operation, static_cast<int>(runs));
    if (block.rank() == 0) *out = canonical(HasInitial ? operation(initial, sum) : sum);
  }
};

// The reduction of nothing.
struct store_value {
  template <class Block, class T>
  TESSERA_TILE void operator()(Block&, T* out, T value) const {
    *out = value;
  }
};

template <bool HasInitial, class In, class T, class Operation>
void reduce_on_device(cuda_backend const& backend, In const& in, T* out, T initial, workspace_view const& workspace,
                      Operation const& operation);

}  // namespace detail

// Bytes of workspace for a reduction to one T, of any number of elements. Zeroed as a whole once, before its first use; then valid for any
// number of reductions, one at a time. After a launch that was aborted, zero it again.
template <class T>
constexpr std::size_t reduce_workspace_bytes() {
  return detail::reduce_header_bytes + detail::reduce_most_runs * sizeof(T);
}

// *out = D(in[0] .. in[n-1]), a NaN canonical, on the device; of no elements, `out` is left alone. `in` has one dimension, any stride and
// alignment. `operation` is plus{} or any other operator on device values, applied in the tree of D, the left operand first. Asynchronous
// on the backend's stream, may be captured. Level: gpu_to_gpu, which is also the fast one.
template <determinism Level = gpu_to_gpu, class In, class T, class Operation = plus>
void reduce(cuda_backend const& backend, In const& in, T* out, workspace_view const& workspace, Operation const& operation = {}) {
  detail::reduce_on_device<false>(backend, as_view(in), out, T{}, workspace, operation);
}

// *out = operation(initial, D(in)), each operation rounded; of no elements, `initial`.
template <determinism Level = gpu_to_gpu, class In, class T, class Operation = plus>
void reduce(cuda_backend const& backend, In const& in, T* out, cuda::std::type_identity_t<T> initial, workspace_view const& workspace,
            Operation const& operation = {}) {
  detail::reduce_on_device<true>(backend, as_view(in), out, initial, workspace, operation);
}

namespace detail {

template <bool HasInitial, class In, class T, class Operation>
void reduce_on_device(cuda_backend const& backend, In const& in, T* out, T initial, workspace_view const& workspace,
                      Operation const& operation) {
  static_assert(In::rank() == 1, "a reduction's array has one dimension");
  constexpr std::size_t needed = reduce_workspace_bytes<T>();
  if (workspace.data == nullptr || reinterpret_cast<std::uintptr_t>(workspace.data) % 256 != 0 || workspace.bytes < needed) {
    throw usage_error("reduce: the workspace of " + std::to_string(workspace.bytes) + " bytes at address " +
                      std::to_string(reinterpret_cast<std::uintptr_t>(workspace.data)) +
                      " is too small or not aligned to 256 bytes; it needs " + std::to_string(needed) + " bytes (reduce_workspace_bytes)");
  }
  std::int64_t const count = in.extent(0);
  if (count == 0) {
    // By a kernel, since a captured copy would read this frame again at each replay.
    if constexpr (HasInitial) launch_walk<1, 16, 32>(backend, tile_grid(1), static_stride{}, store_value{}, out, initial);
    return;
  }
  std::int64_t const tiles = ceil_div(count, reduce_elements<T>);
  std::int64_t tiles_per_run = 1;
  while (ceil_div(tiles, tiles_per_run) > reduce_most_runs) tiles_per_run *= 2;
  std::int64_t const runs = ceil_div(tiles, tiles_per_run);
  launch_walk<reduce_threads, 512, 1024>(backend, tile_grid(runs), static_stride{}, reduce_array<HasInitial>{}, in, out, initial, operation,
                                         static_cast<std::uint32_t*>(workspace.data),
                                         reinterpret_cast<T*>(static_cast<std::byte*>(workspace.data) + reduce_header_bytes), runs,
                                         tiles_per_run);
}

}  // namespace detail

}  // namespace tessera::inline v0_1
