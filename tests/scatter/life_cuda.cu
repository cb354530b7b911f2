// What only a target on the device has: kernels launched with <<<>>>, memory of the wrong kind, a status that kernels read.
#include "emit.hpp"

#include <memory>

namespace {

using namespace testing_support;
using place_type = cuda_place<128>;

template <class Writer>
__global__ void emit_kernel(tessera::view<float const, 2> values, tessera::view<int const, 1> calls, Writer sums, std::int64_t rows) {
  __shared__ alignas(16) cuda::std::byte scratch[1024];
  tessera::cuda_block<96, 1024> block(scratch, tessera::tile_grid(gridDim.x), blockIdx.x);
  emit{rows}(block, values, calls, sums);
}

TEST(scatter_life_cuda, kernels_of_ones_own) {
  small_target<place_type> t(place_type{}, {.launches = 2, .tiles = 3, .per_tile = 10});
  std::vector<std::vector<int>> const launches{{3, 10, 4}, {0, 1, 9}};
  for (auto const& calls : launches) {
    auto const device_calls = t.place.array(calls);
    emit_kernel<<<3, 96, 0, t.place.backend.stream>>>(t.source(), list_of<int>(device_calls),
                                                      t.target.next_launch(t.place.backend, tessera::tile_grid(3)), t.rows);
    require_cuda(cudaGetLastError());
    t.place.wait();
  }
  EXPECT_THROW((void)t.target.next_launch(t.place.backend, tessera::tile_grid(3)), tessera::usage_error);
  t.resolve();
  t.target.check(t.place.backend);
  EXPECT_TRUE(same_bits(t.after(t.start, launches), t.destination.values()));
}

__global__ void copy_status(tessera::scatter_status const* status, tessera::scatter_status* to) { *to = *status; }

TEST(scatter_life_cuda, status_is_readable_in_kernels) {
  small_target<place_type> t(place_type{}, {.tiles = 3, .per_tile = 10});
  auto const seen = t.place.array(std::vector<tessera::scatter_status>(1, {77, 77}));
  for (int emitted : {10, 23}) {
    t.write({3, emitted, 4});
    copy_status<<<1, 1, 0, t.place.backend.stream>>>(t.target.device_status(), seen.data());
    EXPECT_EQ(seen.values()[0].flags, emitted > 10 ? tessera::scatter_overflow : 0u);
    EXPECT_EQ(seen.values()[0].largest_need, emitted > 10 ? 23u : 0u);
    t.resolve();
  }
}

// Memory that the device cannot reach is refused when the target is made, not when a kernel faults.
TEST(scatter_life_cuda, memory_of_the_host_is_refused) {
  place_type place;
  auto const destination = place.array(std::vector<float>(14));
  std::vector<float> host(14);
  auto const sums = tessera::make_view(destination.data(), {7, 2});
  auto const host_sums = tessera::make_view(host.data(), {7, 2});
  tessera::records const declared{.tiles = 3, .per_tile = 10};
  auto const bytes = tessera::scatter_workspace_bytes<tessera::gpu_to_gpu>(place.backend, sums, declared);
  auto const workspace = place.workspace(bytes);
  tessera::host_workspace const host_workspace(bytes);
  EXPECT_THROW((void)tessera::scatter_target<tessera::gpu_to_gpu>(place.backend, host_sums, declared, workspace), tessera::usage_error);
  EXPECT_THROW((void)tessera::scatter_target<tessera::gpu_to_gpu>(place.backend, sums, declared, host_workspace), tessera::usage_error);
  EXPECT_NO_THROW((void)tessera::scatter_target<tessera::gpu_to_gpu>(place.backend, sums, declared, workspace));
}

// Targets of different types in one call, up to the most that a call takes.
template <std::size_t... I>
void resolve_all(std::vector<std::unique_ptr<small_target<place_type>>>& targets, std::index_sequence<I...>) {
  tessera::resolve(targets[0]->place.backend, targets[I]->target...);
}
TEST(scatter_life_cuda, sixteen_targets_together) {
  for (bool faulty : {false, true}) {
    std::vector<std::unique_ptr<small_target<place_type>>> targets;
    for (int i = 0; i < 16; ++i) {
      targets.push_back(std::make_unique<small_target<place_type>>(place_type{}, tessera::records{.tiles = 3, .per_tile = 10}));
      targets.back()->write({i % 11, faulty && i == 15 ? 11 : 2, 3});
    }
    resolve_all(targets, std::make_index_sequence<16>{});
    for (int i = 0; i < 16; ++i) {
      auto const& t = *targets[static_cast<std::size_t>(i)];
      EXPECT_TRUE(same_bits(faulty ? t.start : t.after(t.start, {{i % 11, 2, 3}}), t.destination.values())) << "target " << i;
    }
  }
}

}  // namespace
