// expect: a scan's arrays have one dimension
#include <tessera/device/cuda_scan.cuh>

using namespace tessera;

void run(view<float const, 1> list, view<float, 1> list_out, view<float const, 2> table, view<float, 2> table_out,
         workspace_view workspace) {
  (void)list, (void)list_out, (void)table, (void)table_out;
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  inclusive_scan(cuda_backend{nullptr}, list, list_out, workspace);
#else
  inclusive_scan(cuda_backend{nullptr}, table, table_out, workspace);
#endif
}
