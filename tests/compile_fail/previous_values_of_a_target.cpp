// expect: a scatter target gives no previous values to the kernel: name an array for them with previous_out, or add into a view
#include <tessera/tessera.hpp>

using namespace tessera;

void kernel(host_block<1>& block, view<float const, 2> values, view<float, 2> sums) {
  auto const i = tile_arange<4>(block, 0);
  auto const t = tile_load<4, 4>(block, values, {});
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  tile_store(block, sums, tile_atomic_add_indexed<0>(block, sums, i, t));
#else
  tile_store(block, sums, tile_atomic_add_indexed<0>(block, direct_writer<float, 2, 0>{sums}, i, t));
#endif
}
