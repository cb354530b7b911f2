// The floating-point mode of a thread while the host backend computes on it.
#pragma once

namespace tessera::inline v0_1::detail {

// Saves the calling thread's mode and sets round to nearest even, subnormals kept, exceptions masked; the destructor restores what was
// saved. A library that was linked with fast-math start-up code turns flush-to-zero on for its whole process.
class floating_point_mode {
 public:
  floating_point_mode();
  ~floating_point_mode();
  floating_point_mode(floating_point_mode const&) = delete;
  floating_point_mode& operator=(floating_point_mode const&) = delete;

 private:
  unsigned long long saved_;
};

}  // namespace tessera::inline v0_1::detail
