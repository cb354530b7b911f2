// Teams of host threads with a barrier and a scratch.
#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include <tessera/launch/host_runtime.hpp>

#include "floating_point_mode.hpp"

namespace tessera::inline v0_1::detail {

namespace {

// Thrown on the lanes of a team that wait for one that left by an exception; never leaves this file.
struct team_abandoned {};

// The first exception of many threads.
class first_exception {
 public:
  void capture() {
    std::lock_guard const lock(mutex_);
    if (!exception_) exception_ = std::current_exception();
  }
  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr exception_;
};

// Runs body(0) .. body(threads - 1), the first on the calling thread.
template <class Body>
void run_threads(int threads, Body const& body) {
  std::vector<std::jthread> others;
  others.reserve(static_cast<std::size_t>(threads - 1));
  for (int i = 1; i < threads; ++i) others.emplace_back([&body, i] { body(i); });
  body(0);
}

}  // namespace

class host_team {
 public:
  host_team(int lanes, std::size_t scratch_bytes)
      : lanes_(lanes), scratch_(static_cast<std::byte*>(::operator new(std::max<std::size_t>(scratch_bytes, 1), alignment_))) {}
  ~host_team() { ::operator delete(scratch_, alignment_); }
  host_team(host_team const&) = delete;
  host_team& operator=(host_team const&) = delete;

  std::byte* scratch() const { return scratch_; }

  // The last lane to arrive opens the next phase. A team that a lane has left never opens one again.
  void sync() {
    unsigned const phase = phase_.load(std::memory_order_acquire);
    if ((phase & abandoned_) != 0) throw team_abandoned{};
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == lanes_) {
      arrived_.store(0, std::memory_order_relaxed);
      phase_.fetch_add(1, std::memory_order_acq_rel);
      phase_.notify_all();
      return;
    }
    unsigned now = phase;
    for (int spin = 0; spin < 100 && now == phase; ++spin) now = phase_.load(std::memory_order_acquire);
    while (now == phase) {
      phase_.wait(phase, std::memory_order_acquire);
      now = phase_.load(std::memory_order_acquire);
    }
    if ((now & abandoned_) != 0) throw team_abandoned{};
  }

  void abandon() {
    phase_.fetch_or(abandoned_, std::memory_order_acq_rel);
    phase_.notify_all();
  }

 private:
  static constexpr unsigned abandoned_ = 0x80000000u;
  static constexpr std::align_val_t alignment_{128};
  int lanes_;
  std::byte* scratch_;
  std::atomic<int> arrived_{0};
  std::atomic<unsigned> phase_{0};
};

void host_team_sync(host_team& team) { team.sync(); }

int host_cores(int requested) { return requested > 0 ? requested : static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

int host_teams(int requested, int lanes) {
  int const cores = host_cores(requested);
  // Two teams at least where a block is several threads: that is the testing form, and blocks that run at once are what it tests.
  return lanes == 1 ? cores : std::max(requested == 1 ? 1 : 2, cores / lanes);
}

void run_host_teams(int teams, int lanes, std::size_t scratch_bytes, callable_reference<host_lane const&> body) {
  std::vector<std::unique_ptr<host_team>> shared;
  for (int t = 0; t < teams; ++t) shared.push_back(std::make_unique<host_team>(lanes, scratch_bytes));
  first_exception failure;
  run_threads(teams * lanes, [&](int thread) {
    floating_point_mode const mode;
    host_team& team = *shared[static_cast<std::size_t>(thread / lanes)];
    try {
      body(host_lane{&team, team.scratch(), thread / lanes, thread % lanes});
    } catch (team_abandoned const&) {
      // another lane of the team has the reason
    } catch (...) {
      failure.capture();
      team.abandon();
    }
  });
  failure.rethrow();
}

void parallel_for(std::int64_t count, int cores, callable_reference<std::int64_t> body) {
  std::atomic<std::int64_t> next{0};
  first_exception failure;
  run_threads(static_cast<int>(std::min<std::int64_t>(std::max<std::int64_t>(count, 1), host_cores(cores))), [&](int) {
    floating_point_mode const mode;
    try {
      for (std::int64_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) body(i);
    } catch (...) {
      failure.capture();
      next.store(count);
    }
  });
  failure.rethrow();
}

}  // namespace tessera::inline v0_1::detail
