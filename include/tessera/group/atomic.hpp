// Read-modify-write of an array's element, one overload a backend (the device's is in atomic.cuh). Relaxed: the order of the updates is
// nobody's.
#pragma once

#include <atomic>
#include <cstdint>

#include <nv/target>

#include <tessera/config.hpp>
#include <tessera/group/host_block.hpp>

namespace tessera::inline v0_1 {

// *address += value; gives the value before. Any lane.
template <int Lanes, int Scratch, class T>
TESSERA_TILE T atomic_fetch_add(host_block<Lanes, Scratch> const&, T* address, T value) {
  NV_IF_ELSE_TARGET(NV_IS_HOST, (return std::atomic_ref<T>(*address).fetch_add(value, std::memory_order_relaxed);), (return value;))
}

// The same for N neighbours at an address that is aligned to all of them; before[i] is what element i was.
template <int N, int Lanes, int Scratch, class T>
TESSERA_TILE void atomic_fetch_add_vector(host_block<Lanes, Scratch> const& block, T* address, T const (&values)[N], T (&before)[N]) {
  for (int i = 0; i < N; ++i) before[i] = atomic_fetch_add(block, address + i, values[i]);
}

// *address &= value, *address = max(*address, value): for status words. Any lane.
template <int Lanes, int Scratch>
TESSERA_TILE void atomic_and(host_block<Lanes, Scratch> const&, std::uint32_t* address, std::uint32_t value) {
  NV_IF_TARGET(NV_IS_HOST, (std::atomic_ref<std::uint32_t>(*address).fetch_and(value, std::memory_order_relaxed);))
}
template <int Lanes, int Scratch>
TESSERA_TILE void atomic_or(host_block<Lanes, Scratch> const&, std::uint32_t* address, std::uint32_t value) {
  NV_IF_TARGET(NV_IS_HOST, (std::atomic_ref<std::uint32_t>(*address).fetch_or(value, std::memory_order_relaxed);))
}
template <int Lanes, int Scratch>
TESSERA_TILE void atomic_max(host_block<Lanes, Scratch> const&, std::uint32_t* address, std::uint32_t value) {
  NV_IF_TARGET(NV_IS_HOST, (std::atomic_ref<std::uint32_t> cell(*address); std::uint32_t seen = cell.load(std::memory_order_relaxed);
                            while (seen < value && !cell.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {}))
}

}  // namespace tessera::inline v0_1
