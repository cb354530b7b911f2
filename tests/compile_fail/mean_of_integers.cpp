// expect: mean: a quotient is a floating-point number
#include <tessera/device/host_reduce.hpp>

using namespace tessera;

void run(view<int const, 1> list, int* out) {
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  mean(host_backend{}, list, out, accumulate_as<double>{});
#else
  mean(host_backend{}, list, out);
#endif
}
