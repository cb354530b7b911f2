// A user's program: ten rows of ones go to rows 0, 1 and 2 of a small array; an index of -1 is skipped.
#include <cstdio>
#include <vector>

#include "kernel.hpp"

#if defined(CONSUMER_CUDA)
bool run_on_device(std::vector<float> const& values, std::vector<int> const& rows, std::vector<float>& sums);
#endif

namespace {

bool right(char const* where, std::vector<float> const& sums) {
  float const expected[] = {4, 3, 2};
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i] != expected[i / 8]) {
      std::printf("%s: element %zu is %g, should be %g\n", where, i, static_cast<double>(sums[i]), static_cast<double>(expected[i / 8]));
      return false;
    }
  }
  return true;
}

}  // namespace

int main() {
  std::vector<float> const values(10 * 8, 1.0f);
  std::vector<int> const rows{0, 1, 2, 0, 1, 2, 0, 1, -1, 0};
  std::vector<float> sums(3 * 8, 0.0f);
  auto const array = tessera::make_view(sums.data(), {3, 8});
  tessera::launch_tiled<128>(tessera::host_backend{}, tessera::tile_grid(3), add_rows{}, tessera::make_view(values.data(), {10, 8}),
                             tessera::make_view(rows.data(), {10}), array);
  bool good = right("host", sums);
#if defined(CONSUMER_CUDA)
  std::vector<float> device_sums(3 * 8, 0.0f);
  if (run_on_device(values, rows, device_sums)) good = right("device", device_sums) && good;
#endif
  return good ? 0 : 1;
}
