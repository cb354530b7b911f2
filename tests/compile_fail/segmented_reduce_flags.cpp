// expect: segmented_reduce: flags do not say how many segments there are; use segments_at, segments_of_length or segments_by_key
#include <tessera/device/host_segmented.hpp>

using namespace tessera;

void run(view<float const, 1> list, view<int const, 1> described, view<float, 1> list_out) {
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  segmented_reduce(host_backend{}, list, segments_by_key(described, 3), list_out);
#else
  segmented_reduce(host_backend{}, list, segments_from_flags(described), list_out);
#endif
}
