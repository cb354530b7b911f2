// expect: a reduction's array has one dimension
#include <tessera/device/host_reduce.hpp>

using namespace tessera;

void run(view<float const, 1> list, view<float const, 2> table, float* out) {
  (void)list, (void)table;
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  reduce(host_backend{}, list, out);
#else
  reduce(host_backend{}, table, out);
#endif
}
