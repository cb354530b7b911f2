// What the host side throws. Every message names the call, the value that was wrong, and the limit.
#pragma once

#include <stdexcept>
#include <string>

#include <tessera/config.hpp>

namespace tessera::inline v0_1 {

// The base of all exceptions of the library.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// An argument that the call cannot take; nothing was done.
class usage_error : public error {
 public:
  using error::error;
};

// A CUDA call that failed. `code` is the cudaError_t.
class cuda_error : public error {
 public:
  cuda_error(std::string const& what, int code) : error(what), code_(code) {}
  int code() const { return code_; }

 private:
  int code_;
};

// A scatter target whose records did not fit or whose kernel broke its declaration; its destination was left untouched.
class scatter_error : public error {
 public:
  using error::error;
};

}  // namespace tessera::inline v0_1
