// The host's threads and its floating-point mode. Compiled in src/host, away from the flags of whoever includes this.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tessera/arithmetic.hpp>
#include <tessera/config.hpp>
#include <tessera/error.hpp>
#include <tessera/group/host_block.hpp>

namespace tessera::inline v0_1 {

namespace detail {

// One lane of one team, as the runtime hands it to a launch.
struct host_lane {
  host_team* team;
  std::byte* scratch;
  int team_index;
  int rank;
};

// A reference to a callable, valid during the call that it is passed to.
template <class Argument>
class callable_reference {
 public:
  template <class Callable>
  callable_reference(Callable const& callable)
      : object_(&callable), call_([](void const* object, Argument argument) { (*static_cast<Callable const*>(object))(argument); }) {}
  void operator()(Argument argument) const { call_(object_, argument); }

 private:
  void const* object_;
  void (*call_)(void const*, Argument);
};

// Runs `body` on teams * lanes threads, one of them the caller's, each with the contract's floating-point mode, which is restored. The
// first exception is thrown after all threads ended.
void run_host_teams(int teams, int lanes, std::size_t scratch_bytes, callable_reference<host_lane const&> body);

// Runs body(i) for i in 0 .. count - 1, spread over `cores` cores (0: all), in the contract's floating-point mode.
void parallel_for(std::int64_t count, int cores, callable_reference<std::int64_t> body);

// Cores that `requested` (0: all) stands for, and teams of `lanes` lanes that share them.
int host_cores(int requested);
int host_teams(int requested, int lanes);

// What `test` says when it runs in the contract's floating-point mode, whatever mode the caller is in.
bool in_contract_mode(bool (*test)());

// Throws if the library's own unit does not compute as the contract says (after the mode was set).
void check_library_arithmetic();

// The same for the unit that includes this: has its compiler been told to reassociate or to contract, by a flag that no macro shows?
// Internal linkage, so that each unit tests itself.
[[maybe_unused]] static bool unit_arithmetic_is_ieee() {
  volatile float const big = 16777216.0f, one = 1.0f;
  float const a = big, b = one;
  bool const kept_order = add(add(a, b), negate(a)) == 0.0f;  // 1 if (a + b) - a became b
  volatile float const near_one = 1.000244140625f;            // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: a tie, rounds to 1 + 2^-11
  float const x = near_one;
  bool const rounded_product = add(multiply(x, x), -1.00048828125f) == 0.0f;  // 2^-24 if contracted
  volatile float const zero = -0.0f;
  float const z = zero;
  bool const signed_zero = bits_of(add(z, plus::identity<float>())) == 0x80000000u;
  return kept_order && rounded_product && signed_zero;
}

[[maybe_unused]] static void check_host_arithmetic() {
  static bool const ieee = in_contract_mode(unit_arithmetic_is_ieee);
  if (!ieee) {
    throw usage_error(
        "tessera: this translation unit reassociates or contracts floating-point arithmetic; compile it without -ffast-math, "
        "-fassociative-math and -ffp-model=fast");
  }
  check_library_arithmetic();
}

}  // namespace detail

}  // namespace tessera::inline v0_1
