// Scans of whole arrays on the device: one pass over the data, every prefix its own D.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda/std/type_traits>

#include <tessera/arithmetic.hpp>
#include <tessera/determinism.hpp>
#include <tessera/launch/cuda_backend.cuh>
#include <tessera/lookback/lookback.cuh>
#include <tessera/scatter/workspace.hpp>
#include <tessera/tile/load.hpp>
#include <tessera/tile/scan.hpp>
#include <tessera/tile/store.hpp>

namespace tessera::inline v0_1 {

namespace detail {

// Elements of a tile and threads of a block, by the size of the array. Speed choices: no bit depends on them.
template <int Threads, int Elements>
struct scan_tuning {
  static constexpr int threads = Threads, elements = Elements;
};
template <class T, class Use>
void with_scan_tuning(std::int64_t count, Use const& use) {
  constexpr int words = sizeof(T) / 4;
  if (count <= (1 << 17)) return use(scan_tuning<128, 2048 / words>{});
  if (count <= (1 << 22)) return use(scan_tuning<256, 4096 / words>{});
  use(scan_tuning<256, 8192 / words>{});
}

// One tile of a scan: load, scan, publish and gather, add what lies in front, store. Tiles are numbered in the scan's direction.
template <scan_direction Direction, bool Exclusive, int Elements>
struct scan_array {
  template <class Block, class T, class In, class Operation>
  TESSERA_TILE void operator()(Block& block, In in, view<T, 1> out, T initial, bool has_initial, Operation operation, lookback<T> nodes,
                               ticket_walk walk) const {
    NV_IF_TARGET(NV_IS_DEVICE, (scan(block, in, out, initial, has_initial, operation, nodes, walk);))
  }

 private:
  template <class Block, class T, class In, class Operation>
  __device__ void scan(Block& block, In const& in, view<T, 1> const& out, T initial, bool has_initial, Operation const& operation,
                       lookback<T> const& nodes, ticket_walk const& walk) const {
    std::int64_t const tile = block.tile_id(), count = in.extent(0);
    std::int64_t const first = Direction == forward ? tile * Elements : count - (tile + 1) * Elements;
    std::uint32_t const run = nodes.run();
    auto const values = tile_load<Elements>(block, in, {first});
    tile_prefixes<T, tile_shape<Elements>, Block::size, Direction, Exclusive> prefixes(block, values, operation);

    scratch_array<T, 5 * lookback_levels + 2, Block> in_front(block);
    scratch_array<int, 1, Block> found(block);
    constexpr int total_at = 5 * lookback_levels;
    block.sync();
    if (prefixes.holds_total(block)) in_front[total_at] = prefixes.total();
    block.sync();
    if (block.rank() < 32) {
      int const number = nodes.gather(run, tile, in_front[total_at], operation, in_front.data());
      if (block.rank() == 0) {
        found[0] = number;
        if (tile + 1 == nodes.layout.tiles) nodes.finish(walk);
      }
    }
    block.sync();
    for (int k = 0; k < found[0]; ++k) prefixes.prepend(in_front[k], operation);
    tile_store(block, out, prefixes.finished(block, [&](bool exists, T value) {
      if (!exists) return initial;
      return canonical(has_initial ? operation(initial, value) : value);
    }), {first});
  }
};

template <class T>
std::int64_t scan_tiles(std::int64_t count) {
  std::int64_t tiles = 0;
  with_scan_tuning<T>(count, [&](auto tuning) { tiles = ceil_div(count, tuning.elements); });
  return tiles;
}

inline void check_scan_workspace(workspace_view const& workspace, std::size_t needed) {
  if (workspace.data == nullptr) throw usage_error("scan: the workspace is null; it needs " + std::to_string(needed) + " bytes");
  if (reinterpret_cast<std::uintptr_t>(workspace.data) % 256 != 0) throw usage_error("scan: the workspace is not aligned to 256 bytes");
  if (workspace.bytes < needed) {
    throw usage_error("scan: the workspace has " + std::to_string(workspace.bytes) + " bytes; it needs " + std::to_string(needed) +
                      " (scan_workspace_bytes)");
  }
}

template <scan_direction Direction, bool Exclusive, class In, class Out, class Operation>
void scan_on_device(cuda_backend const& backend, In const& in, Out const& out, typename Out::element_type initial, bool has_initial,
                    workspace_view const& workspace, Operation const& operation) {
  static_assert(In::rank() == 1 && Out::rank() == 1, "a scan's arrays have one dimension");
  using T = typename Out::element_type;
  std::int64_t const count = in.extent(0);
  if (out.extent(0) != count) {
    throw usage_error("scan: the input has " + std::to_string(count) + " elements, the output " + std::to_string(out.extent(0)));
  }
  if (count == 0) return;
  std::int64_t const tiles = scan_tiles<T>(count);
  check_scan_workspace(workspace, lookback<T>::bytes(tiles));
  lookback<T> nodes{static_cast<lookback_header*>(workspace.data),
                    reinterpret_cast<node_word<T>*>(static_cast<std::byte*>(workspace.data) + sizeof(lookback_header)),
                    make_lookback_layout(tiles)};
  with_scan_tuning<T>(count, [&](auto tuning) {
    tile_grid const grid(tiles);
    ticket_walk const walk(nodes.header, tiles, blocks_of(grid));
    launch_walk<tuning.threads, 1024, 1024>(backend, grid, walk, scan_array<Direction, Exclusive, tuning.elements>{}, in, out, initial,
                                            has_initial, operation, nodes, walk);
  });
}

}  // namespace detail

// Bytes of workspace for a scan of `count` elements of T. The workspace is zeroed as a whole once, before its first use, and stays valid
// for any number of scans of up to that many elements, of this type, one at a time. After a launch that was aborted, zero it again.
template <class T>
std::size_t scan_workspace_bytes(std::int64_t count) {
  // The smallest tiles give the most nodes.
  return detail::lookback<T>::bytes(ceil_div(count, 2048 / static_cast<int>(sizeof(T) / 4)));
}

// out[i] = D(in[0] .. in[i]), a NaN canonical; with `backward`, D(in[n-1] .. in[i]). `in` and `out` have one dimension, any stride and
// alignment, and may be the same array; element types of 4 and 8 bytes. `operation` is plus{} or any other operator on device values,
// applied in the tree of D, the earlier operand first. Asynchronous on the backend's stream, may be captured. Level: gpu_to_gpu, which is
// also the fast one.
template <determinism Level = gpu_to_gpu, scan_direction Direction = forward, class Source, class View, class Operation = plus>
void inclusive_scan(cuda_backend const& backend, Source const& in, View const& out, workspace_view const& workspace,
                    Operation const& operation = {}) {
  using T = typename View::element_type;
  detail::scan_on_device<Direction, false>(backend, as_view(in), as_view(out), T{}, false, workspace, operation);
}

// out[0] = initial, out[i] = operation(initial, D(in[0] .. in[i-1])); backward likewise from the end.
template <determinism Level = gpu_to_gpu, scan_direction Direction = forward, class Source, class View, class Operation = plus>
void exclusive_scan(cuda_backend const& backend, Source const& in, View const& out, typename View::element_type initial,
                    workspace_view const& workspace, Operation const& operation = {}) {
  detail::scan_on_device<Direction, true>(backend, as_view(in), as_view(out), initial, true, workspace, operation);
}

}  // namespace tessera::inline v0_1
