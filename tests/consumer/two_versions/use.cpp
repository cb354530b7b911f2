// Compiled twice: for this version of the library, and, with the copy's names, for the other.
#include <cstdint>
#include <span>
#include <typeinfo>
#include <vector>

#include <tessera/tessera.hpp>
#include <tessera/verify/exact_sum.hpp>
#include <tessera/verify/hash.hpp>

namespace {

struct add_rows {
  template <class Block, class Sums>
  TESSERA_TILE void operator()(Block& block, tessera::view<float const, 2> values, tessera::view<int const, 1> rows, Sums sums) const {
    auto const t = tessera::tile_load<4, 8>(block, values, {block.tile_index(0) * 4, 0});
    auto const i = tessera::tile_load<4>(block, tessera::shared, rows, {block.tile_index(0) * 4}, tessera::skip_index<int>);
    tessera::tile_atomic_add_indexed<0>(block, sums, i, t);
  }
};

}  // namespace

// The hash of a small deterministic scatter, 0 if it is wrong; and the mangled name of a class of this version.
std::uint64_t use_v0_1(char const** name) {
  std::vector<float> const values(10 * 8, 0.5f);
  std::vector<int> const rows{0, 1, 2, 0, 1, 2, 0, 1, -1, 0};
  std::vector<float> sums(3 * 8, 0.0f);
  auto const array = tessera::make_view(sums.data(), {3, 8});

  tessera::host_backend<> const backend;
  tessera::records const declared{.tiles = 3, .per_tile = 4};
  tessera::host_workspace workspace(tessera::scatter_workspace_bytes<tessera::gpu_to_gpu>(backend, array, declared));
  auto target = tessera::scatter_target<tessera::gpu_to_gpu>(backend, array, declared, workspace);
  tessera::launch_tiled<128>(backend, tessera::tile_grid(3), add_rows{}, tessera::make_view(values.data(), {10, 8}),
                             tessera::make_view(rows.data(), {10}), target);
  target.resolve(backend);

  tessera::verify::exact_sum exact;
  for (float const sum : sums) exact.add(sum);
  *name = typeid(exact).name();
  return exact.value() == 36.0 ? tessera::verify::hash_of(std::span(sums)) : 0;
}
