// expect: indices are integers of 8 to 64 bits
#include <tessera/tessera.hpp>

using namespace tessera;

void kernel(host_block<1>& block, view<float const, 2> values, view<float, 2> sums) {
  (void)values, (void)sums;
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  (void)detail::index_in_range(1, 0, 1);
#else
  (void)detail::index_in_range(true, 0, 1);
#endif
}
