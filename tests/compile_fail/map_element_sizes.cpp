// expect: register tiles of one operation have elements of the same size, since a lane reaches its own elements only
#include <tessera/tessera.hpp>

using namespace tessera;

struct sum {
  template <class A, class B>
  TESSERA_TILE float operator()(A a, B b) const {
    return static_cast<float>(a) + static_cast<float>(b);
  }
};

void kernel(host_block<1>& block, view<float const, 2> values, view<float, 2> sums) {
  (void)values, (void)sums;
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  (void)tile_map(block, sum{}, tile_full<8>(block, 1.0f), tile_full<8>(block, 1));
#else
  (void)tile_map(block, sum{}, tile_full<8>(block, 1.0f), tile_full<8>(block, 1.0));
#endif
}
