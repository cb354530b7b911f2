// Workspaces: memory that the caller gives to an operation. Nothing in the library allocates behind a call; these two classes are for
// callers who want it done in one line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include <tessera/config.hpp>

namespace tessera::inline v0_1 {

// Memory for one operation, aligned to 256 bytes. For a scatter target its first 256 bytes are zeroed once, before the first use; the rest
// may hold anything. It lives until the last use of the operation, replays of a captured graph included.
struct workspace_view {
  void* data = nullptr;
  std::size_t bytes = 0;
};

// A workspace in host memory, zeroed at its start.
class host_workspace {
 public:
  explicit host_workspace(std::size_t bytes)
      : memory_(bytes == 0 ? nullptr : static_cast<std::byte*>(::operator new(bytes, alignment_))), bytes_(bytes) {
    if (bytes_ > 0) std::memset(memory_.get(), 0, bytes_ < 256 ? bytes_ : 256);
  }
  operator workspace_view() const { return {memory_.get(), bytes_}; }

 private:
  static constexpr std::align_val_t alignment_{256};
  struct release {
    void operator()(std::byte* memory) const { ::operator delete(memory, alignment_); }
  };
  std::unique_ptr<std::byte, release> memory_;
  std::size_t bytes_;
};

}  // namespace tessera::inline v0_1
