// What the operations on whole arrays take of their workspace.
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

// What `take(parts)` takes of a workspace: how many bytes that is, and from one that the caller gave, in the name of `call`.
template <class Take>
std::size_t workspace_bytes(Take const& take) {
  workspace_parts parts;
  (void)take(parts);
  return parts.bytes();
}
template <class Take>
auto take_workspace(char const* call, workspace_view const& workspace, Take const& take) {
  workspace_parts parts(call, workspace, workspace_bytes(take));
  return take(parts);
}

// The header and so many nodes of a look-back.
template <class T>
struct lookback_workspace {
  lookback_header* header;
  node_word<T>* words;

  static lookback_workspace take(std::int64_t count, workspace_parts& parts) {
    lookback_workspace taken{};
    taken.header = parts.take<lookback_header>(1);
    taken.words = parts.take<node_word<T>>(count);
    return taken;
  }
};

}  // namespace tessera::inline v0_1::detail
