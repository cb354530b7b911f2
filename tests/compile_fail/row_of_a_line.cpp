// expect: row, column: the view has two dimensions or more
#include <tessera/tessera.hpp>

using namespace tessera;

void kernel(host_block<1>& block, view<float const, 2> values, view<float, 2> sums) {
  (void)values, (void)sums;
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  (void)row(values, 0);
#else
  (void)row(row(values, 0), 0);
#endif
}
