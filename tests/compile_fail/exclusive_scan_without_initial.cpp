// expect: exclusive_scan: name an initial value
#include <tessera/device/host_scan.hpp>

using namespace tessera;

void run(view<float const, 1> list, view<float, 1> list_out) {
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  exclusive_scan(host_backend{}, list, list_out, 1.0f, minimum{});
#else
  exclusive_scan(host_backend{}, list, list_out, minimum{});
#endif
}
