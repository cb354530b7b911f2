// Arrays beyond 2^31 bytes and elements, in address space that is only reserved: the few pages that are touched are all that exists.
#include <sys/mman.h>

#include "support/backend.hpp"
#include "support/oracle.hpp"

namespace {

using namespace tessera;

class reserved_memory {
 public:
  explicit reserved_memory(std::size_t bytes)
      : bytes_(bytes), data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~reserved_memory() {
    if (*this) munmap(data_, bytes_);
  }
  reserved_memory(reserved_memory const&) = delete;
  reserved_memory& operator=(reserved_memory const&) = delete;
  explicit operator bool() const { return data_ != MAP_FAILED; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  std::size_t bytes_;
  void* data_;
};

// Stores a tile, adds one to it by both kinds of addition, and gives what it then loads, directly and by index.
template <int Rows, int Columns, class T>
struct store_add_load {
  template <class Block>
  void operator()(Block& block, view<T, 2> array, std::int64_t row, std::int64_t column, T* loaded) const {
    auto const ones = tile_full<Rows, Columns>(block, T{1});
    index64 const extents[] = {Rows, Columns};
    tile_store(block, array, tile_load<Rows, Columns>(block, make_view(static_cast<T const*>(loaded), extents), {}), {row, column});
    tile_atomic_add(block, array, ones, {row, column});
    auto const rows = tile_arange<Rows>(block, row, std::int64_t{1});
    tile_atomic_add_indexed<0>(block, array, rows, ones, {0, column});
    put(block, tile_load<Rows, Columns>(block, array, {row, column}), loaded);
    put(block, tile_load_indexed<0, Rows, Columns>(block, array, rows, {0, column}), loaded + Rows * Columns);
  }
  template <class Block, class Tile>
  static void put(Block& block, Tile const& tile, T* to) {
    for_each_element(block, tile, [&](int linear, T value) { to[linear] = value; });
  }
};

template <class T>
T at(view<T, 2> const& array, std::int64_t i, std::int64_t j) {
  return array.accessor().access(array.data_handle(), static_cast<std::size_t>(array.mapping()(i, j)));
}

// A 2 x 4 tile at (row, column): all of it inside, on the vector path or off it.
template <class T>
void expect_works_at(view<T, 2> const& array, std::int64_t row, std::int64_t column) {
  std::vector<T> loaded = {1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0};
  launch_tiled(host_backend<1>{}, tile_grid(1), store_add_load<2, 4, T>{}, array, row, column, loaded.data());
  EXPECT_EQ(loaded, (std::vector<T>{3, 4, 5, 6, 7, 8, 9, 10, 3, 4, 5, 6, 7, 8, 9, 10})) << row << ", " << column;
  for (std::int64_t i = 0; i < 2; ++i) {
    for (std::int64_t j = 0; j < 4; ++j) EXPECT_EQ(at(array, row + i, column + j), static_cast<T>(3 + 4 * i + j));
  }
}

TEST(view_huge, more_than_2_gib) {
  std::int64_t const rows = (1 << 15) + 1, columns = 1 << 16;  // of float: 8 GiB and a row
  reserved_memory const memory(static_cast<std::size_t>(rows * columns) * sizeof(float));
  if (!memory) GTEST_SKIP() << "8 GiB of address space could not be reserved";
  auto const array = make_view(memory.as<float>(), {rows, columns});
  for (std::int64_t row : {std::int64_t{0}, std::int64_t{8191}, std::int64_t{16383}, rows - 2}) {
    for (std::int64_t column : {std::int64_t{0}, std::int64_t{5}, columns - 4}) expect_works_at(array, row, column);
  }
}

// int32 indices, the last row's update.
struct add_last_row {
  template <class Block>
  void operator()(Block& block, view<float, 2> array, view<std::int32_t const, 1> rows) const {
    tile_atomic_add_indexed<0>(block, array, tile_load<2>(block, rows, {}), tile_full<2, 256>(block, 1.0f), {0, block.tile_index(0) * 256});
  }
};

TEST(view_huge, indices_of_32_bits_reach_the_last_row) {
  std::int64_t const rows = (1 << 15) + 1, columns = 1 << 16;
  reserved_memory const memory(static_cast<std::size_t>(rows * columns) * sizeof(float));
  if (!memory) GTEST_SKIP() << "8 GiB of address space could not be reserved";
  auto const array = make_view(memory.as<float>(), {rows, columns});
  std::int32_t const indices[2] = {static_cast<std::int32_t>(rows - 1), static_cast<std::int32_t>(rows)};
  launch_tiled(host_backend<1>{}, tile_grid(columns / 256), add_last_row{}, array,
               make_view(static_cast<std::int32_t const*>(indices), {2}));
  for (std::int64_t j = 0; j < columns; ++j) ASSERT_EQ(at(array, rows - 1, j), 1.0f);
  EXPECT_EQ(at(array, 0, 0), 0.0f);
}

TEST(view_huge, more_than_2_to_31_elements_in_one_dimension) {
  std::int64_t const n = (std::int64_t{1} << 32) + 10;
  reserved_memory const memory(static_cast<std::size_t>(2 * n) * sizeof(std::int32_t));
  if (!memory) GTEST_SKIP() << "32 GiB of address space could not be reserved";
  auto const wide = make_view(memory.as<std::int32_t>(), {2, n});
  for (std::int64_t column : {std::int64_t{0}, (std::int64_t{1} << 31) - 2, std::int64_t{1} << 31, (std::int64_t{1} << 32) + 1, n - 4})
    expect_works_at(wide, 0, column);
  auto const tall = make_view(memory.as<std::int32_t>() + n, {n / 4, 4});
  for (std::int64_t row : {std::int64_t{0}, n / 8, n / 4 - 2}) expect_works_at(tall, row, 0);
  // Beyond the end, and where 32 bits would wrap into the array: nothing.
  auto const narrow = make_view(memory.as<std::int32_t>(), {2, 8});
  std::vector<std::int32_t> loaded = {1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9, 9, 9, 9, 9};
  std::vector<std::int32_t> const before(memory.as<std::int32_t>(), memory.as<std::int32_t>() + 16);
  for (std::int64_t far : {std::int64_t{1} << 32, -(std::int64_t{1} << 32), std::int64_t{1} << 62, INT64_MIN, INT64_MAX}) {
    launch_tiled(host_backend<1>{}, tile_grid(1), store_add_load<2, 4, std::int32_t>{}, narrow, std::int64_t{0}, far, loaded.data());
    EXPECT_EQ(loaded, std::vector<std::int32_t>(16, 0));
    EXPECT_EQ(std::vector<std::int32_t>(memory.as<std::int32_t>(), memory.as<std::int32_t>() + 16), before);
  }
}

TEST(view_huge, two_rows_3_gib_apart) {
  std::int64_t const pitch = std::int64_t{3} << 30;
  reserved_memory const memory(static_cast<std::size_t>(pitch) + 4096);
  if (!memory) GTEST_SKIP() << "3 GiB of address space could not be reserved";
  auto const floats = make_view(memory.as<float>(), {2, 16}, {pitch, sizeof(float)});
  for (std::int64_t column : {0, 4, 5, 12}) expect_works_at(floats, 0, column);
  expect_works_at(make_view(memory.as<double>(), {2, 16}, {pitch, sizeof(double)}), 0, 8);
  expect_works_at(make_view(memory.as<double>(), {2, 16}, {pitch + 8, sizeof(double)}), 0, 3);
}

}  // namespace
