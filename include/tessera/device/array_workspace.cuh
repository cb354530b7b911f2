// What the operations on whole arrays ask of their workspace and their arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <tessera/config.hpp>
#include <tessera/error.hpp>
#include <tessera/lookback/lookback.cuh>
#include <tessera/scatter/workspace.hpp>

namespace tessera::inline v0_1::detail {

// Parts of a workspace, each aligned to 256 bytes, the look-back's header first. Without a workspace it counts bytes.
class workspace_parts {
 public:
  workspace_parts() = default;
  // Throws usage_error in the name of `call` where the workspace does not hold `needed` bytes.
  workspace_parts(char const* call, workspace_view const& workspace, std::size_t needed) : next_(static_cast<std::byte*>(workspace.data)) {
    if (workspace.data == nullptr)
      throw usage_error(std::string(call) + ": the workspace is null; it needs " + std::to_string(needed) + " bytes");
    if (reinterpret_cast<std::uintptr_t>(workspace.data) % 256 != 0)
      throw usage_error(std::string(call) + ": the workspace is not aligned to 256 bytes");
    if (workspace.bytes < needed) {
      throw usage_error(std::string(call) + ": the workspace has " + std::to_string(workspace.bytes) + " bytes; it needs " +
                        std::to_string(needed));
    }
  }
  template <class T>
  T* take(std::int64_t count) {
    std::size_t const size = (static_cast<std::size_t>(count) * sizeof(T) + 255) / 256 * 256;
    bytes_ += size;
    std::byte* const at = next_;
    if (next_ != nullptr) next_ += size;
    return reinterpret_cast<T*>(at);
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::byte* next_ = nullptr;
  std::size_t bytes_ = 0;
};

// Throws usage_error where an array that has elements is null. Sources that are computed have no address.
template <class S>
void require_memory(char const* call, char const* what, S const& array) {
  if constexpr (requires { array.data_handle(); }) {
    if (array.size() > 0 && array.data_handle() == nullptr) throw usage_error(std::string(call) + ": the " + what + " is null");
  }
}

inline void require_extent_is(char const* call, char const* what, std::int64_t got, std::int64_t wanted) {
  if (got != wanted) {
    throw usage_error(std::string(call) + ": " + what + " " + std::to_string(got) + " elements; " + std::to_string(wanted) + " are needed");
  }
}

}  // namespace tessera::inline v0_1::detail
