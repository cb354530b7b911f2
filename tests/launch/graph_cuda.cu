// Stream capture: what is captured is replayed as it would have run, for launches and for scatter targets.
#include <memory>
#include <new>

#include "scatter/emit.hpp"

namespace {

using namespace testing_support;
using tessera::gpu_to_gpu;
using tessera::make_view;
using tessera::tile_grid;

constexpr int threads = 128;

class stream {
 public:
  stream() { require_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~stream() { (void)cudaStreamDestroy(stream_); }
  stream(stream const&) = delete;
  stream& operator=(stream const&) = delete;
  operator cudaStream_t() const { return stream_; }
  tessera::cuda_backend backend() const { return {stream_}; }
  void wait() const { require_cuda(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
};

// What `work` does on the stream, as a graph. The strictest mode: any call that is not fit for capture fails.
class graph {
 public:
  template <class Work>
  graph(cudaStream_t stream, Work const& work) {
    require_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    try {
      work();
    } catch (...) {
      (void)cudaStreamEndCapture(stream, &graph_);
      if (graph_ != nullptr) (void)cudaGraphDestroy(graph_);
      throw;
    }
    require_cuda(cudaStreamEndCapture(stream, &graph_));
    require_cuda(cudaGraphInstantiate(&executable_, graph_, 0));
  }
  ~graph() {
    if (executable_ != nullptr) (void)cudaGraphExecDestroy(executable_);
    if (graph_ != nullptr) (void)cudaGraphDestroy(graph_);
  }
  graph(graph const&) = delete;
  graph& operator=(graph const&) = delete;
  void replay(cudaStream_t stream) const { require_cuda(cudaGraphLaunch(executable_, stream)); }

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

using kernel = add_rows<32, 8>;
using place_type = cuda_place<threads>;

// A problem with its arrays and workspace on the device.
struct device_problem {
  explicit device_problem(row_problem<float> const& problem_)
      : problem(problem_),
        values(place.array(problem.values)),
        indices(place.array(problem.indices)),
        destination(place.array(problem.destination)),
        tiles(tessera::ceil_div(problem.size(), kernel::rows_per_tile)),
        workspace(rubbish_workspace(place, tessera::scatter_workspace_bytes<gpu_to_gpu>(place.backend, sums(), declared()))) {
    require_cuda(cudaDeviceSynchronize());  // the tests' streams do not wait for the copies
  }

  tessera::view<float, 2> sums() const { return make_view(destination.data(), {problem.rows, problem.columns}); }
  tessera::records declared() const { return {.tiles = tiles, .per_tile = kernel::rows_per_tile}; }
  auto make_target(cudaStream_t on) const {
    return tessera::scatter_target<gpu_to_gpu>(tessera::cuda_backend{on}, sums(), declared(), workspace_of(workspace));
  }
  template <class Target>
  void launch(cudaStream_t on, Target& target) const {
    tessera::launch_tiled<threads>(tessera::cuda_backend{on}, tile_grid(tiles), kernel{},
                                   rows_of<float>(values, problem.size(), problem.columns), list_of<int>(indices), target);
  }
  // All of it, with a target that is gone afterwards, and its memory written by somebody else.
  void scatter(cudaStream_t on) const {
    using target_type = decltype(make_target(on));
    std::vector<unsigned char> memory(sizeof(target_type));
    auto* const target = new (memory.data()) target_type(make_target(on));
    target->open(tessera::cuda_backend{on});
    launch(on, *target);
    target->resolve(tessera::cuda_backend{on});
    target->~target_type();
    std::fill(memory.begin(), memory.end(), static_cast<unsigned char>(0xDD));
  }
  std::vector<float> expected(int times) const {
    auto result = problem.destination;
    for (int i = 0; i < times; ++i) result = scatter_add(result, problem.columns, problem.values, problem.indices);
    return result;
  }

  place_type place;
  row_problem<float> problem;
  place_type::array_type<float> values;
  place_type::array_type<int> indices;
  place_type::array_type<float> destination;
  std::int64_t tiles;
  place_type::array_type<unsigned char> workspace;
};

row_problem<float> problem_of(std::int64_t n, std::int64_t rows, std::uint64_t seed) {
  return row_problem<float>(rows, 8, chosen_rows(choice::hot, n, rows, seed), seed);
}

// Device memory that was freed lately is written by somebody else.
void scribble() {
  for (std::size_t bytes : {std::size_t{1} << 12, std::size_t{1} << 20, std::size_t{1} << 24, std::size_t{1} << 28}) {
    void* memory = nullptr;
    require_cuda(cudaMalloc(&memory, bytes));
    require_cuda(cudaMemset(memory, 0xEE, bytes));
    require_cuda(cudaDeviceSynchronize());
    require_cuda(cudaFree(memory));
    require_cuda(cudaMallocAsync(&memory, bytes, cudaStreamPerThread));
    require_cuda(cudaMemsetAsync(memory, 0xEE, bytes, cudaStreamPerThread));
    require_cuda(cudaFreeAsync(memory, cudaStreamPerThread));
    require_cuda(cudaStreamSynchronize(cudaStreamPerThread));
  }
}

TEST(graph, open_launch_resolve_replayed) {
  stream s;
  device_problem p(problem_of(1003, 40, 1));
  auto target = p.make_target(s);
  graph const g(s, [&] {
    target.open(s.backend());
    p.launch(s, target);
    target.resolve(s.backend());
  });
  s.wait();
  EXPECT_TRUE(same_bits(p.problem.destination, p.destination.values())) << "capturing runs nothing";
  for (int i = 0; i < 10; ++i) g.replay(s);
  s.wait();
  EXPECT_TRUE(same_bits(p.expected(10), p.destination.values()));
  target.check(s.backend());
  (void)p.workspace.values();
}

// Opening is left to the launch, inside the capture.
TEST(graph, opened_by_the_launch) {
  stream s;
  device_problem p(problem_of(95, 10, 2));
  auto target = p.make_target(s);
  graph const g(s, [&] {
    p.launch(s, target);
    target.resolve(s.backend());
  });
  for (int i = 0; i < 3; ++i) g.replay(s);
  s.wait();
  EXPECT_TRUE(same_bits(p.expected(3), p.destination.values()));
}

// Opened before the capture and meant so: the graph adds a launch and resolves; a second replay finds nothing opened.
TEST(graph, opened_by_hand_outside) {
  stream s;
  device_problem p(problem_of(95, 10, 3));
  auto target = p.make_target(s);
  target.open(s.backend());
  graph const g(s, [&] {
    p.launch(s, target);
    target.resolve(s.backend());
  });
  g.replay(s);
  s.wait();
  EXPECT_TRUE(same_bits(p.expected(1), p.destination.values()));
}

TEST(graph, launch_opened_target_is_not_captured) {
  stream s, other;
  device_problem p(problem_of(95, 10, 4));
  tessera::records const two_launches{.launches = 2, .tiles = p.tiles, .per_tile = 32};
  auto const workspace = rubbish_workspace(p.place, tessera::scatter_workspace_bytes<gpu_to_gpu>(s.backend(), p.sums(), two_launches));
  auto target = tessera::scatter_target<gpu_to_gpu>(s.backend(), p.sums(), two_launches, workspace_of(workspace));
  p.launch(s, target);
  EXPECT_THROW(graph(other, [&] { p.launch(other, target); }), tessera::usage_error);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  // And from one capture into none.
  auto second = tessera::scatter_target<gpu_to_gpu>(s.backend(), p.sums(), two_launches, workspace_of(workspace));
  graph const g(other, [&] { p.launch(other, second); });
  EXPECT_THROW(p.launch(s, second), tessera::usage_error);
  // The first target is as it was.
  target.open(s.backend());
  p.launch(s, target);
  target.resolve(s.backend());
  s.wait();
  EXPECT_TRUE(same_bits(p.expected(1), p.destination.values()));
}

__global__ void copy_status(tessera::scatter_status const* status, tessera::scatter_status* to) { *to = *status; }

TEST(graph, replay_with_data_that_does_not_fit) {
  stream s;
  small_target<place_type> t(place_type{}, {.tiles = 3, .per_tile = 10});
  auto const calls = t.place.array(std::vector<int>{3, 10, 4});
  auto const seen = t.place.array(std::vector<tessera::scatter_status>(1));
  auto const set_calls = [&](std::vector<int> const& now) {
    require_cuda(cudaMemcpyAsync(calls.data(), now.data(), now.size() * sizeof(int), cudaMemcpyHostToDevice, s));
    s.wait();
  };
  require_cuda(cudaDeviceSynchronize());
  graph const g(s, [&] {
    t.target.open(s.backend());
    tessera::launch_tiled<threads>(s.backend(), tile_grid(3), emit{t.rows}, t.source(), list_of<int>(calls), t.target);
    t.target.resolve(s.backend());
    copy_status<<<1, 1, 0, s>>>(t.target.device_status(), seen.data());
  });
  g.replay(s);
  s.wait();
  auto const once = t.after(t.start, {{3, 10, 4}});
  EXPECT_TRUE(same_bits(once, t.destination.values()));
  EXPECT_EQ(seen.values()[0].flags, 0u);

  set_calls({3, 25, 4});
  g.replay(s);
  s.wait();
  EXPECT_TRUE(same_bits(once, t.destination.values()));
  EXPECT_EQ(seen.values()[0].flags, static_cast<std::uint32_t>(tessera::scatter_overflow));
  EXPECT_EQ(seen.values()[0].largest_need, 25u);
  EXPECT_EQ(t.target.status(s.backend()).largest_need, 25u);
  EXPECT_THROW(t.target.check(s.backend()), tessera::scatter_error);

  set_calls({1, 2, 3});
  g.replay(s);
  s.wait();
  EXPECT_TRUE(same_bits(once, t.destination.values())) << "the status is sticky";
  EXPECT_EQ(seen.values()[0].largest_need, 25u);
  t.target.clear(s.backend());
  g.replay(s);
  s.wait();
  EXPECT_TRUE(same_bits(t.after(once, {{1, 2, 3}}), t.destination.values()));
  EXPECT_EQ(seen.values()[0].flags, 0u);
  t.target.check(s.backend());
}

// Nothing of a capture needs to outlive it but the arrays and the workspaces.
TEST(graph, small_and_large_problem_in_one_graph) {
  stream s;
  device_problem small(problem_of(3, 2, 5)), large(problem_of(50'001, 3000, 6)), none(problem_of(0, 4, 7));
  std::unique_ptr<graph> g;
  {
    auto const temporary = place_type{}.array(std::vector<float>(1 << 20));
    g = std::make_unique<graph>(s, [&] {
      small.scatter(s);
      large.scatter(s);
      none.scatter(s);
    });
  }
  scribble();
  for (int i = 0; i < 10; ++i) {
    g->replay(s);
    s.wait();
    scribble();
  }
  EXPECT_TRUE(same_bits(small.expected(10), small.destination.values()));
  EXPECT_TRUE(same_bits(large.expected(10), large.destination.values()));
  EXPECT_TRUE(same_bits(none.problem.destination, none.destination.values()));
  (void)small.workspace.values();
  (void)large.workspace.values();
}

TEST(graph, two_graphs_at_once) {
  stream a, b;
  device_problem first(problem_of(20'001, 500, 8)), second(problem_of(30'001, 70, 9));
  graph const first_graph(a, [&] { first.scatter(a); }), second_graph(b, [&] { second.scatter(b); });
  for (int i = 0; i < 10; ++i) {
    first_graph.replay(a);
    second_graph.replay(b);
  }
  a.wait();
  b.wait();
  EXPECT_TRUE(same_bits(first.expected(10), first.destination.values()));
  EXPECT_TRUE(same_bits(second.expected(10), second.destination.values()));
}

// The body of a loop in a graph, which may hold no cooperative launch and no call to the host.
__global__ void count_down(cudaGraphConditionalHandle handle, int* left) {
  *left -= 1;
  cudaGraphSetConditional(handle, *left > 0 ? 1u : 0u);
}
// compute-sanitizer does not follow conditional bodies: synccheck reports CUB's sort there and nowhere else, racecheck ends by itself.
TEST(graph, body_of_a_while_node_NotSanitized) {
  stream s;
  device_problem p(problem_of(5003, 90, 10));
  auto const left = p.place.array(std::vector<int>{7});
  cudaGraph_t outer = nullptr;
  require_cuda(cudaGraphCreate(&outer, 0));
  cudaGraphConditionalHandle handle{};
  require_cuda(cudaGraphConditionalHandleCreate(&handle, outer, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams parameters{};
  parameters.type = cudaGraphNodeTypeConditional;
  parameters.conditional.handle = handle;
  parameters.conditional.type = cudaGraphCondTypeWhile;
  parameters.conditional.size = 1;
  cudaGraphNode_t node = nullptr;
#if CUDART_VERSION >= 13000
  require_cuda(cudaGraphAddNode(&node, outer, nullptr, nullptr, 0, &parameters));
#else
  require_cuda(cudaGraphAddNode(&node, outer, nullptr, 0, &parameters));
#endif
  cudaGraph_t const body = parameters.conditional.phGraph_out[0];
  require_cuda(cudaStreamBeginCaptureToGraph(s, body, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
  p.scatter(s);
  count_down<<<1, 1, 0, s>>>(handle, left.data());
  cudaGraph_t captured = nullptr;
  require_cuda(cudaStreamEndCapture(s, &captured));
  cudaGraphExec_t executable = nullptr;
  require_cuda(cudaGraphInstantiate(&executable, outer, 0));
  require_cuda(cudaGraphLaunch(executable, s));
  s.wait();
  EXPECT_EQ(left.values(), std::vector<int>{0});
  EXPECT_TRUE(same_bits(p.expected(7), p.destination.values()));
  require_cuda(cudaGraphExecDestroy(executable));
  require_cuda(cudaGraphDestroy(outer));
}

// Queries and targets may be made while the stream is captured, also for nothing.
TEST(graph, size_queries_while_capturing) {
  stream s;
  device_problem p(problem_of(95, 10, 11));
  auto const nothing_outside = tessera::scatter_workspace_bytes<gpu_to_gpu>(s.backend(), p.sums(), {});
  auto const size_outside = tessera::scatter_workspace_bytes<gpu_to_gpu>(s.backend(), p.sums(), p.declared());
  EXPECT_GE(nothing_outside, 256u);
  std::size_t nothing = 0, no_rows = 0, no_columns = 0, size = 0;
  graph const g(s, [&] {
    nothing = tessera::scatter_workspace_bytes<gpu_to_gpu>(s.backend(), p.sums(), {});
    no_rows = tessera::scatter_workspace_bytes<gpu_to_gpu>(s.backend(), make_view(p.destination.data(), {0, 8}), p.declared());
    no_columns = tessera::scatter_workspace_bytes<gpu_to_gpu>(s.backend(), make_view(p.destination.data(), {10, 0}), p.declared());
    size = tessera::scatter_workspace_bytes<gpu_to_gpu>(s.backend(), p.sums(), p.declared());
    p.scatter(s);
  });
  EXPECT_EQ(nothing, nothing_outside);
  EXPECT_EQ(size, size_outside);
  EXPECT_GE(no_rows, 256u);
  EXPECT_GE(no_columns, 256u);
  g.replay(s);
  s.wait();
  EXPECT_TRUE(same_bits(p.expected(1), p.destination.values()));
}

// --- Memory

std::size_t free_memory() {
  require_cuda(cudaDeviceSynchronize());
  std::size_t free = 0, total = 0;
  require_cuda(cudaMemGetInfo(&free, &total));
  return free;
}
// The driver takes and gives memory in pieces of this size; a leak of a kilobyte a call would be many of them.
constexpr std::size_t driver_piece = std::size_t{4} << 20;

TEST(graph, launches_keep_no_memory_Long) {
  stream s;
  device_problem p(problem_of(300, 10, 12));
  for (int i = 0; i < 100; ++i) p.scatter(s);
  std::size_t const before = free_memory();
  for (int i = 0; i < 10'000; ++i) p.scatter(s);
  EXPECT_GE(free_memory() + driver_piece, before);
}
TEST(graph, graphs_keep_no_memory_Long) {
  stream s;
  device_problem p(problem_of(300, 10, 13));
  auto const one = [&] {
    graph const g(s, [&] { p.scatter(s); });
    g.replay(s);
    s.wait();
  };
  for (int i = 0; i < 100; ++i) one();
  std::size_t const before = free_memory();
  for (int i = 0; i < 1000; ++i) one();
  EXPECT_GE(free_memory() + driver_piece, before);
}

// --- Errors of earlier work

TEST(graph, pending_error_is_thrown_as_what_it_is) {
  stream s;
  device_problem p(problem_of(95, 10, 14));
  auto target = p.make_target(s);
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, std::size_t{1} << 60), cudaErrorMemoryAllocation);
  auto const expect_pending = [&](auto const& call, char const* name) {
    try {
      call();
      ADD_FAILURE() << name << " threw nothing";
    } catch (tessera::cuda_error const& error) {
      EXPECT_EQ(error.code(), static_cast<int>(cudaErrorMemoryAllocation)) << name;
      EXPECT_TRUE(mentions(error.what(), "earlier") && mentions(error.what(), cudaGetErrorName(cudaErrorMemoryAllocation))) << error.what();
    }
    EXPECT_EQ(cudaPeekAtLastError(), cudaErrorMemoryAllocation) << name << " swallowed the error";
  };
  expect_pending([&] { p.launch(s, target); }, "launch_tiled");
  expect_pending([&] { target.open(s.backend()); }, "open");
  expect_pending([&] { target.resolve(s.backend()); }, "resolve");
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  s.wait();
  EXPECT_TRUE(same_bits(p.problem.destination, p.destination.values()));
  // Nothing was done: the target works as if nothing had been tried.
  p.launch(s, target);
  target.resolve(s.backend());
  s.wait();
  EXPECT_TRUE(same_bits(p.expected(1), p.destination.values()));
}

}  // namespace
