// CUB's radix sort, and the kernels that are a few lines each.
#include <cub/device/device_radix_sort.cuh>

#include <tessera/launch/cuda_error.cuh>
#include <tessera/scatter/cuda_resolve.cuh>

namespace tessera::inline v0_1::detail {

namespace {

__global__ void number_places(std::uint32_t* places, std::uint32_t count) {
  std::uint32_t const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) places[i] = i;
}

// The number of keys before the first no_row. One warp; each round looks at 32 points of what is left.
__device__ std::uint32_t count_valid(std::uint32_t const* keys, std::uint32_t capacity) {
  std::uint32_t low = 0, high = capacity;  // the answer lies in [low, high]
  while (low < high) {
    std::uint32_t const step = (high - low + 31) / 32;
    std::uint64_t const probe = low + std::uint64_t{threadIdx.x} * step;
    bool const valid = probe < high && keys[probe] != no_row;
    auto const passed = static_cast<std::uint32_t>(__popc(__ballot_sync(0xFFFFFFFFu, valid)));
    if (passed == 0) return low;
    std::uint64_t const last_valid = low + std::uint64_t{passed - 1} * step;
    std::uint64_t const next = last_valid + step;
    low = static_cast<std::uint32_t>(last_valid + 1);
    if (next < high) high = static_cast<std::uint32_t>(next);
  }
  return low;
}

__global__ void gate(gate_entries entries) {
  bool applies = true;
  for (int e = 0; e < entries.count; ++e) {
    scatter_header const& header = *entries.entry[e].header;
    applies = applies && header.state == all_ones && header.status.flags == 0;
  }
  for (int e = 0; e < entries.count; ++e) {
    gate_entry const& entry = entries.entry[e];
    std::uint32_t const count = applies ? count_valid(entry.sorted_keys, static_cast<std::uint32_t>(entry.capacity)) : 0;
    __syncwarp();
    if (threadIdx.x == 0) {
      entry.header->count = count;
      entry.header->state = 0;
    }
  }
}

}  // namespace

std::size_t sort_temporary_bytes(std::int64_t capacity, int bits) {
  std::size_t bytes = 0;
  cub::DoubleBuffer<std::uint32_t> keys, places;
  check_cuda(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, places, static_cast<int>(capacity), 0, bits),
             "scatter_workspace_bytes: cub::DeviceRadixSort::SortPairs(size query for " + std::to_string(capacity) + " records)");
  return bytes;
}

sorted_records sort_records(cudaStream_t stream, std::uint32_t* keys, std::uint32_t* other_keys, std::uint32_t* places,
                            std::uint32_t* other_places, std::int64_t capacity, int bits, void* temporary, std::size_t temporary_bytes) {
  constexpr int threads = 256;
  number_places<<<static_cast<unsigned>((capacity + threads - 1) / threads), threads, 0, stream>>>(places,
                                                                                                   static_cast<std::uint32_t>(capacity));
  check_cuda(cudaPeekAtLastError(), "resolve: numbering of the records");
  cub::DoubleBuffer<std::uint32_t> key_buffers(keys, other_keys), place_buffers(places, other_places);
  check_cuda(
      cub::DeviceRadixSort::SortPairs(temporary, temporary_bytes, key_buffers, place_buffers, static_cast<int>(capacity), 0, bits, stream),
      "resolve: cub::DeviceRadixSort::SortPairs(" + std::to_string(capacity) + " records)");
  return {key_buffers.Current(), place_buffers.Current()};
}

void run_gate(cudaStream_t stream, gate_entries const& entries) {
  gate<<<1, 32, 0, stream>>>(entries);
  check_cuda(cudaPeekAtLastError(), "resolve: gate");
}

}  // namespace tessera::inline v0_1::detail
