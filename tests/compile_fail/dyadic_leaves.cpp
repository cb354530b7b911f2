// expect: the leaves of a node of D are a power of two
#include <tessera/tessera.hpp>

using namespace tessera;

void kernel(host_block<1>& block, view<float const, 2> values, view<float, 2> sums) {
  (void)values, (void)sums;
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  (void)dyadic_node<8, 2>([](int i) { return i; }, plus{}, 0, 6);
#else
  (void)dyadic_node<6, 2>([](int i) { return i; }, plus{}, 0, 6);
#endif
}
