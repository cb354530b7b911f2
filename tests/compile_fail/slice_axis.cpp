// expect: slice: the axis is a dimension of the view
#include <tessera/tessera.hpp>

using namespace tessera;

void kernel(host_block<1>& block, view<float const, 2> values, view<float, 2> sums) {
  (void)values, (void)sums;
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  (void)slice<1>(values, 0, 1);
#else
  (void)slice<2>(values, 0, 1);
#endif
}
