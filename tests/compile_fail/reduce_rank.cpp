// expect: a reduction's array has one dimension
#include <tessera/device/host_reduce.hpp>

using namespace tessera;

float run(view<float const, 1> list, view<float const, 2> table) {
  (void)list, (void)table;
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  return reduce(host_backend{}, list);
#else
  return reduce(host_backend{}, table);
#endif
}
