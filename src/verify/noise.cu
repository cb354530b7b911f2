#include <tessera/verify/noise.cuh>

#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <random>
#include <string>
#include <thread>

#include <cuda_runtime.h>

#include <tessera/error.hpp>
#include <tessera/launch/cuda_error.cuh>

namespace tessera::inline v0_1::verify {
namespace {

// In device memory. `sequence` is odd while a window's words are being written (a sequence lock with one writer); window k has sequence 2
// k.
struct noise_board {
  unsigned long long sequence;
  unsigned long long begin;  // of the latest window, by the global timer
  unsigned long long end;    // 0 while it is open
  unsigned long long latest_overlapped;
  unsigned long long overlapped_windows;
  unsigned long long overlapping_blocks;
  unsigned long long all_blocks;
};

__device__ unsigned long long now() {
  unsigned long long nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds)::"memory");
  return nanoseconds;
}

__global__ void open_window(noise_board volatile* board) {
  board->sequence = board->sequence + 1;
  __threadfence();
  board->end = 0;
  board->begin = now();
  __threadfence();
  board->sequence = board->sequence + 1;
}

__global__ void close_window(noise_board volatile* board) { board->end = now(); }

__device__ void report_block(noise_board* board, unsigned long long start) {
  atomicAdd(&board->all_blocks, 1ull);
  auto volatile* const words = board;
  auto const before = words->sequence;
  __threadfence();
  auto const begin = words->begin;
  auto const end = words->end;
  __threadfence();
  auto const after = words->sequence;
  if (before == 0 || before % 2 != 0 || before != after) return;
  auto const overlaps = now() >= begin && (end == 0 || start <= end);
  if (!overlaps) return;
  atomicAdd(&board->overlapping_blocks, 1ull);
  if (atomicMax(&board->latest_overlapped, before) < before) atomicAdd(&board->overlapped_windows, 1ull);
}

__device__ unsigned mixed(unsigned x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

// Every block computes, streams or does atomics, for 1 to `rounds` rounds: a bounded time, tens of microseconds.
__global__ void make_noise(noise_board* board, float* memory, unsigned words, unsigned seed, unsigned rounds) {
  auto const start = now();
  auto const block = mixed(seed + blockIdx.x);
  auto const length = 1 + block % rounds;
  auto const kind = (block >> 16) % 3;
  for (unsigned round = 0; round < length; ++round) {
    auto const at = (mixed(block + round) + threadIdx.x) % words;
    if (kind == 0) {
      memory[at] = memory[(at + words / 2) % words] + 1.0f;
    } else if (kind == 1) {
      atomicAdd(&memory[at % 4096], 1.0f);
    } else {
      auto x = static_cast<float>(at);
      for (int i = 0; i < 256; ++i) x = x * 0.999f + 1.0f;
      if (x == -1.0f) memory[at] = x;  // never: it keeps the computation
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) report_block(board, start);
}

void check(cudaError_t code, char const* call) { tessera::detail::check_cuda(code, std::string("verify::noise: ") + call); }

constexpr int stream_count = 2;
constexpr int in_flight = 4;  // kernels of one stream that are launched and not waited for
constexpr unsigned longest_rounds = 48;

}  // namespace

struct noise::state {
  explicit state(noise_options const& given) : options(given) {
    if (options.memory_bytes < 4096 * sizeof(float) || options.memory_bytes / sizeof(float) > 0xffffffffu ||
        options.blocks_per_multiprocessor < 1) {
      throw usage_error("verify::noise: it needs 16 KiB to 16 GiB of memory and at least 1 block per multiprocessor; it was given " +
                        std::to_string(options.memory_bytes) + " bytes and " + std::to_string(options.blocks_per_multiprocessor) +
                        " blocks");
    }
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  }

  // Also after half a set-up: what was not made is null.
  ~state() {
    silence();
    for (auto& events : finished) {
      for (auto const event : events) {
        if (event != nullptr) (void)cudaEventDestroy(event);
      }
    }
    for (auto const stream : streams) {
      if (stream != nullptr) (void)cudaStreamDestroy(stream);
    }
    (void)cudaFree(memory);
    (void)cudaFree(board);
  }

  void set_up() {
    tessera::detail::check_nothing_pending("verify::noise");
    check(cudaMalloc(&board, sizeof(noise_board)), "cudaMalloc");
    check(cudaMalloc(&memory, options.memory_bytes), "cudaMalloc");
    for (auto& stream : streams) check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    for (auto& events : finished) {
      for (auto& event : events)
        check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventBlockingSync), "cudaEventCreateWithFlags");
    }
    check(cudaMemsetAsync(board, 0, sizeof(noise_board), streams[0]), "cudaMemsetAsync");
    check(cudaMemsetAsync(memory, 0, options.memory_bytes, streams[0]), "cudaMemsetAsync");
    check(cudaStreamSynchronize(streams[0]), "cudaStreamSynchronize");
    make_noise<<<1, 32, 0, streams[0]>>>(board, memory, words(), options.seed, 1);
    check(cudaGetLastError(), "the launch of the noise kernel");
    check(cudaStreamSynchronize(streams[0]), "cudaStreamSynchronize");
    thread = std::thread([this] {
      try {
        run();
      } catch (...) {
        failure = std::current_exception();
      }
    });
  }

  unsigned words() const { return static_cast<unsigned>(options.memory_bytes / sizeof(float)); }

  // The noise thread.
  void run() {
    check(cudaSetDevice(device), "cudaSetDevice");
    auto mode = cudaStreamCaptureModeRelaxed;  // a capture elsewhere in the process is none of this thread's business
    check(cudaThreadExchangeStreamCaptureMode(&mode), "cudaThreadExchangeStreamCaptureMode");
    std::mt19937 engine(options.seed);
    auto const random = [&engine] { return static_cast<unsigned>(engine()); };
    auto const most_blocks = static_cast<unsigned>(multiprocessors * options.blocks_per_multiprocessor);
    auto const end = std::chrono::steady_clock::now() + std::chrono::duration<double>(options.seconds_at_most);
    for (std::size_t i = 0; !stopping && std::chrono::steady_clock::now() < end; ++i) {
      auto const stream = i % stream_count;
      auto const event = finished[stream][i / stream_count % in_flight];
      check(cudaEventSynchronize(event), "cudaEventSynchronize");  // of in_flight launches ago; a new event is done
      auto const blocks = 1 + random() % most_blocks;
      auto const threads = 32u << random() % 5;
      make_noise<<<blocks, threads, 0, streams[stream]>>>(board, memory, words(), random(), 1 + random() % longest_rounds);
      check(cudaGetLastError(), "the launch of a noise kernel");
      check(cudaEventRecord(event, streams[stream]), "cudaEventRecord");
    }
    for (auto const stream : streams) check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }

  void silence() {
    stopping = true;
    if (thread.joinable()) thread.join();
  }

  noise_options options;
  int device = 0;
  int multiprocessors = 0;
  noise_board* board = nullptr;
  float* memory = nullptr;
  std::array<cudaStream_t, stream_count> streams{};
  std::array<std::array<cudaEvent_t, in_flight>, stream_count> finished{};
  std::atomic<bool> stopping = false;
  std::exception_ptr failure;  // written by the thread, read after it was joined
  std::thread thread;
};

noise::noise(noise_options const& options) : state_(std::make_unique<state>(options)) { state_->set_up(); }

noise::~noise() = default;

void noise::open(cudaStream_t stream) {
  tessera::detail::check_nothing_pending("verify::noise::open");
  open_window<<<1, 1, 0, stream>>>(state_->board);
  check(cudaGetLastError(), "the launch that opens a window");
}

void noise::close(cudaStream_t stream) {
  tessera::detail::check_nothing_pending("verify::noise::close");
  close_window<<<1, 1, 0, stream>>>(state_->board);
  check(cudaGetLastError(), "the launch that closes a window");
}

void noise::stop() {
  state_->silence();
  if (state_->failure) std::rethrow_exception(state_->failure);
}

noise_overlap noise::overlap() {
  noise_board board;
  if (!state_->thread.joinable() && state_->failure) std::rethrow_exception(state_->failure);
  check(cudaMemcpyAsync(&board, state_->board, sizeof(board), cudaMemcpyDeviceToHost, state_->streams[0]), "cudaMemcpyAsync");
  check(cudaStreamSynchronize(state_->streams[0]), "cudaStreamSynchronize");
  return {.windows = board.sequence / 2,
          .overlapped_windows = board.overlapped_windows,
          .blocks = board.overlapping_blocks,
          .all_blocks = board.all_blocks};
}

std::string to_string(noise_overlap const& overlap) {
  return "noise ran in " + std::to_string(overlap.overlapped_windows) + " of " + std::to_string(overlap.windows) + " launches, " +
         std::to_string(overlap.blocks) + " blocks";
}

}  // namespace tessera::inline v0_1::verify
