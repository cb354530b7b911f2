// expect: a reduction's array has one dimension
#include <tessera/device/cuda_reduce.cuh>

using namespace tessera;

void run(view<float const, 1> list, view<float const, 2> table, float* out, workspace_view workspace) {
  (void)list, (void)table;
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  reduce(cuda_backend{nullptr}, list, out, workspace);
#else
  reduce(cuda_backend{nullptr}, table, out, workspace);
#endif
}
