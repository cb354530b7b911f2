// expect: a scan's arrays have one dimension
#include <tessera/device/host_scan.hpp>

using namespace tessera;

void run(view<float const, 1> list, view<float, 1> list_out, view<float const, 2> table, view<float, 2> table_out) {
  (void)list, (void)list_out, (void)table, (void)table_out;
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  inclusive_scan(host_backend{}, list, list_out);
#else
  inclusive_scan(host_backend{}, table, table_out);
#endif
}
