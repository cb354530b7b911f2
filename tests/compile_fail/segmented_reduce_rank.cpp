// expect: segmented_reduce: the input has one dimension, or two and rows are added; the output has as many
#include <tessera/device/host_segmented.hpp>

using namespace tessera;

void run(view<float const, 2> table, view<float, 1> list_out, view<float, 2> table_out) {
  (void)list_out, (void)table_out;
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  segmented_reduce(host_backend{}, table, segments_of_length(3, 2), table_out);
#else
  segmented_reduce(host_backend{}, table, segments_of_length(3, 2), list_out);
#endif
}
