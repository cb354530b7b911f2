// Records along every axis, for destinations of every rank and layout, with offsets.
#include <array>

#include "row_scatter.hpp"

namespace {

using namespace testing_support;
using tessera::gpu_to_gpu;
using tessera::tile_grid;

template <class Place>
class scatter_axis_everywhere : public testing::Test {};
TYPED_TEST_SUITE(scatter_axis_everywhere, all_places);

template <class Place>
class scatter_axis : public testing::Test {};
TYPED_TEST_SUITE(scatter_axis, main_places);

using coordinates = std::vector<std::int64_t>;

// Calls body(c) for all coordinates, row-major.
template <class Body>
void for_each_coordinate(coordinates const& extents, Body const& body) {
  coordinates c(extents.size(), 0);
  for (std::int64_t extent : extents) {
    if (extent == 0) return;
  }
  while (true) {
    body(c);
    std::size_t d = extents.size();
    while (d > 0 && ++c[d - 1] == extents[d - 1]) c[--d] = 0;
    if (d == 0) return;
  }
}

// One call a tile. The tiles lie behind one another along dimension 0 of `values`, their indices likewise.
template <int Axis, bool Indexed, class Storage, int... Extents>
struct add_along {
  static constexpr int rank = sizeof...(Extents);
  static constexpr std::array<std::int64_t, sizeof...(Extents)> extents{Extents...};
  tessera::offsets<rank> at;

  template <class Block, class Values, class Indices, class Sums>
  TESSERA_TILE void operator()(Block& block, Values values, Indices indices, Sums sums) const {
    using shape = tessera::tile_shape<Extents...>;
    tessera::offsets<rank> from{};
    from.at[0] = block.tile_id() * shape::extent(0);
    auto const tile = tessera::tile_load<Extents...>(block, Storage{}, values, from);
    if constexpr (Indexed) {
      constexpr int records = shape::extent(Axis);
      auto const rows = tessera::tile_load<records>(block, Storage{}, indices, {block.tile_id() * records}, tessera::skip_index<int>);
      tessera::tile_atomic_add_indexed<Axis>(block, sums, rows, tile, at);
    } else {
      tessera::tile_atomic_add(block, sums, tile, at);
    }
  }
};

// The destination as memory: elements of `extents` at byte strides, in a buffer that holds other things too.
struct layout {
  coordinates extents, byte_strides;
  std::int64_t first_byte = 0, buffer_bytes = 0;
  std::int64_t byte(coordinates const& c) const {
    std::int64_t b = first_byte;
    for (std::size_t d = 0; d < c.size(); ++d) b += c[d] * byte_strides[d];
    return b;
  }
};
template <class T>
layout dense(coordinates extents) {
  layout result{std::move(extents), {}, 0, 0};
  result.byte_strides.resize(result.extents.size());
  std::int64_t stride = sizeof(T);
  for (std::size_t d = result.extents.size(); d-- > 0;) {
    result.byte_strides[d] = stride;
    stride *= result.extents[d];
  }
  result.buffer_bytes = stride;
  return result;
}

// Runs `tiles` tiles of the kernel into the destination and compares every byte of its buffer with the oracle's.
template <class Kernel, int Axis, bool Indexed, class T, class Place>
void check(Place const& place, layout const& out, coordinates const& at, std::int64_t tiles = 5) {
  constexpr int rank = Kernel::rank;
  coordinates const shape(Kernel::extents.begin(), Kernel::extents.end());
  std::int64_t const records = shape[Axis], rows = out.extents[Axis];
  std::int64_t tile_size = 1;
  for (std::int64_t extent : shape) tile_size *= extent;
  auto const values = rounding_values<T>(static_cast<std::size_t>(tiles * tile_size), 3);
  integers random(17);
  std::vector<int> indices(static_cast<std::size_t>(tiles * records));
  // Some land before the array, some behind it, many on the same rows.
  for (int& index : indices) index = static_cast<int>(random.below(rows + 4) - 2 - at[Axis]);

  // The buffer: rounding values everywhere, so that an element at a wrong place shows.
  auto const noise = rounding_values<T>(static_cast<std::size_t>(out.buffer_bytes) / sizeof(T) + 1, 4);
  std::vector<unsigned char> buffer(static_cast<std::size_t>(out.buffer_bytes));
  std::memcpy(buffer.data(), noise.data(), buffer.size());

  // The oracle: the row list of each element in order of tile and of position along the axis.
  auto expected = buffer;
  std::int64_t elements = 1;
  for (std::int64_t extent : out.extents) elements *= extent;
  std::vector<dyadic_counter<T>> sums(static_cast<std::size_t>(elements));
  for (std::int64_t t = 0; t < tiles; ++t) {
    for (std::int64_t k = 0; k < records; ++k) {
      std::size_t linear = static_cast<std::size_t>(t * tile_size);
      for_each_coordinate(shape, [&](coordinates const& c) {
        std::size_t const from = linear++;
        if (c[Axis] != k) return;
        std::int64_t flat = 0;
        for (int d = 0; d < rank; ++d) {
          auto const dimension = static_cast<std::size_t>(d);
          std::int64_t const along = d == Axis && Indexed ? indices[static_cast<std::size_t>(t * records + k)] : c[dimension];
          std::int64_t const to = at[dimension] + along;
          if (to < 0 || to >= out.extents[dimension]) return;
          flat = flat * out.extents[dimension] + to;
        }
        sums[static_cast<std::size_t>(flat)].push(values[from]);
      });
    }
  }
  std::size_t flat = 0, reached = 0;
  for_each_coordinate(out.extents, [&](coordinates const& c) {
    auto const& sum = sums[flat++];
    if (sum.empty()) return;
    ++reached;
    T element;
    unsigned char* const place_of_element = expected.data() + out.byte(c);
    std::memcpy(&element, place_of_element, sizeof(T));
    element = canonical_nan(dyadic_counter<T>::sum(element, sum.collapse()));
    std::memcpy(place_of_element, &element, sizeof(T));
  });

  auto const device_values = place.array(values);
  auto const device_indices = place.array(indices);
  auto const device_buffer = place.array(buffer);
  tessera::detail::stride_array<rank> value_extents{}, value_strides{}, out_extents{}, out_strides{};
  auto const value_layout = dense<T>([&] {
    auto e = shape;
    e[0] *= tiles;
    return e;
  }());
  for (std::size_t d = 0; d < static_cast<std::size_t>(rank); ++d) {
    value_extents[d] = value_layout.extents[d];
    value_strides[d] = value_layout.byte_strides[d];
    out_extents[d] = out.extents[d];
    out_strides[d] = out.byte_strides[d];
  }
  auto const source = tessera::detail::assemble_view<T const, rank>(device_values.data(), value_extents, value_strides);
  auto const destination =
      tessera::detail::assemble_view<T, rank>(reinterpret_cast<T*>(device_buffer.data() + out.first_byte), out_extents, out_strides);
  Kernel kernel{};
  for (int d = 0; d < rank; ++d) kernel.at.at[d] = at[static_cast<std::size_t>(d)];
  tessera::records const declared{.tiles = tiles, .per_tile = records};
  auto const workspace = rubbish_workspace(place, tessera::scatter_workspace_bytes<gpu_to_gpu, Axis>(place.backend, destination, declared));
  auto target = tessera::scatter_target<gpu_to_gpu, Axis>(place.backend, destination, declared, workspace_of(workspace));
  place.launch(tile_grid(tiles), kernel, source, list_of<int>(device_indices), target);
  target.resolve(place.backend);
  target.check(place.backend);
  EXPECT_EQ(device_buffer.values(), expected) << "axis " << Axis << ", offset " << at[Axis] << " along it, " << reached
                                              << " elements reached";
  (void)workspace.values();
}

// Offsets along the axis on both sides of the array, and destinations that are smaller and larger than the tile along it.
template <int Axis, class T, class Storage, int... Extents>
struct cases {
  template <class Place>
  static void run(Place const& place, coordinates extents) {
    for (std::int64_t rows : {1, 3, 40}) {
      extents[Axis] = rows;
      for (std::int64_t offset : {-3, 0, 2}) {
        coordinates at(extents.size(), 0);
        at[Axis] = offset;
        check<add_along<Axis, true, Storage, Extents...>, Axis, true, T>(place, dense<T>(extents), at);
      }
    }
  }
};
using tessera::registers_t;
using tessera::shared_t;

TYPED_TEST(scatter_axis_everywhere, rank_2_from_registers) {
  TypeParam place;
  cases<0, float, registers_t, 8, 6>::run(place, {0, 6});
  cases<1, float, registers_t, 6, 8>::run(place, {6, 0});
}
TYPED_TEST(scatter_axis_everywhere, rank_2_from_shared_memory) {
  TypeParam place;
  cases<0, float, shared_t, 8, 6>::run(place, {0, 6});
  cases<1, float, shared_t, 6, 8>::run(place, {6, 0});
}
TYPED_TEST(scatter_axis, rank_1) {
  TypeParam place;
  cases<0, float, registers_t, 19>::run(place, {0});
  cases<0, double, shared_t, 16>::run(place, {0});
}
TYPED_TEST(scatter_axis, rank_3) {
  TypeParam place;
  cases<0, float, registers_t, 4, 2, 8>::run(place, {0, 2, 8});
  cases<1, double, shared_t, 2, 8, 3>::run(place, {2, 0, 3});
  cases<2, float, registers_t, 3, 2, 8>::run(place, {3, 2, 0});
}
TYPED_TEST(scatter_axis, rank_4) {
  TypeParam place;
  cases<0, double, registers_t, 4, 2, 3, 2>::run(place, {0, 2, 3, 2});
  cases<1, float, registers_t, 2, 4, 3, 2>::run(place, {2, 0, 3, 2});
  cases<2, float, shared_t, 2, 3, 4, 2>::run(place, {2, 3, 0, 2});
  cases<3, float, registers_t, 2, 3, 2, 4>::run(place, {2, 3, 2, 0});
}

// More elements than half of the block's scratch: records leave in several pieces.
TYPED_TEST(scatter_axis, tiles_larger_than_the_scratch) {
  TypeParam place;
  cases<1, float, registers_t, 24, 64>::run(place, {24, 0});
  cases<0, double, registers_t, 64, 12>::run(place, {0, 12});
}

// The destination is narrower than the tile: the tile is clipped, at either edge.
TYPED_TEST(scatter_axis, narrower_destinations) {
  TypeParam place;
  for (coordinates const& at : {coordinates{0, 0}, coordinates{-2, -1}, coordinates{1, -3}}) {
    check<add_along<0, true, registers_t, 8, 6>, 0, true, float>(place, dense<float>({7, 3}), at);
  }
  for (coordinates const& at : {coordinates{0, 0}, coordinates{-2, -1}, coordinates{-3, 1}}) {
    check<add_along<1, true, shared_t, 6, 8>, 1, true, float>(place, dense<float>({3, 9}), at);
  }
  check<add_along<1, true, shared_t, 2, 8, 3>, 1, true, double>(place, dense<double>({1, 5, 2}), {-1, 0, 0});
  // No part of the tile lies inside: nothing happens, and nothing is wrong.
  for (coordinates const& at : {coordinates{0, 6}, coordinates{0, -6}, coordinates{0, 3}}) {
    check<add_along<0, true, registers_t, 8, 6>, 0, true, float>(place, dense<float>({7, 3}), at);
  }
}

// Without indices: the tile's own rows.
TYPED_TEST(scatter_axis, plain_add) {
  TypeParam place;
  for (std::int64_t rows : {1, 8, 30}) {
    for (std::int64_t offset : {-8, -7, -3, 0, 5, 29, 30}) {
      check<add_along<0, false, registers_t, 8, 6>, 0, false, float>(place, dense<float>({rows, 6}), {offset, 0});
      check<add_along<1, false, shared_t, 6, 8>, 1, false, float>(place, dense<float>({6, rows}), {0, offset});
    }
  }
}

// Destinations with strides: transposed, padded, one field of a struct, a base that is aligned to its elements only.
TYPED_TEST(scatter_axis, strided_destinations) {
  TypeParam place;
  using rows_first = add_along<0, true, registers_t, 8, 6>;
  using columns_first = add_along<1, true, shared_t, 6, 8>;
  coordinates const none{0, 0};
  // rows, columns, byte strides, first byte, bytes
  check<rows_first, 0, true, float>(place, {{9, 6}, {4, 36}, 0, 216}, none);     // transposed
  check<columns_first, 1, true, float>(place, {{6, 9}, {4, 24}, 0, 216}, none);  // transposed
  check<rows_first, 0, true, float>(place, {{9, 6}, {40, 4}, 0, 360}, none);     // padded
  check<rows_first, 0, true, float>(place, {{9, 6}, {32, 4}, 8, 296}, none);     // padded, slid
  check<columns_first, 1, true, float>(place, {{6, 9}, {40, 4}, 4, 244}, none);
  check<rows_first, 0, true, float>(place, {{9, 6}, {120, 20}, 12, 1080}, none);  // a field of a struct of 20 bytes
  check<columns_first, 1, true, float>(place, {{6, 9}, {180, 20}, 8, 1080}, none);
  check<rows_first, 0, true, float>(place, {{9, 6}, {-24, 4}, 192, 216}, none);  // rows from the end
  using wide = add_along<0, true, registers_t, 4, 8>;
  for (std::int64_t first_byte : {4, 8, 12}) check<wide, 0, true, float>(place, {{9, 8}, {32, 4}, first_byte, 300 + 16}, none);
  check<wide, 0, true, float>(place, {{9, 8}, {36, 4}, 0, 324}, none);
}

struct particle {
  double mass;
  float x;
  std::int16_t kind;
};

// The same through the library's own views of a struct's field and of a transpose.
TYPED_TEST(scatter_axis, field_and_transpose_views) {
  TypeParam place;
  constexpr std::int64_t rows = 9, columns = 8, n = 20;
  row_problem<float> problem(rows, columns, chosen_rows(choice::negative, n, rows, 6));
  std::vector<particle> particles(rows * columns);
  for (std::size_t i = 0; i < particles.size(); ++i) {
    std::memset(static_cast<void*>(&particles[i]), 0x5A, sizeof(particle));
    particles[i].mass = static_cast<double>(i);
    particles[i].x = problem.destination[i];
  }
  auto expected = particles;
  auto const sums = problem.expected();
  for (std::size_t i = 0; i < particles.size(); ++i) std::memcpy(&expected[i].x, &sums[i], sizeof(float));

  auto const values = place.array(problem.values);
  auto const indices = place.array(problem.indices);
  auto const destination = place.array(particles);
  auto const view = tessera::field(tessera::make_view(destination.data(), {rows, columns}), &particle::x);
  tessera::records const declared{.tiles = 1, .per_tile = 32};
  auto const workspace = rubbish_workspace(place, tessera::scatter_workspace_bytes<gpu_to_gpu>(place.backend, view, declared));
  auto target = tessera::scatter_target<gpu_to_gpu>(place.backend, view, declared, workspace_of(workspace));
  place.launch(tile_grid(1), add_rows<32, 8>{}, rows_of<float>(values, n, columns), list_of<int>(indices), target);
  target.resolve(place.backend);
  target.check(place.backend);
  auto const result = destination.values();
  EXPECT_EQ(std::memcmp(result.data(), expected.data(), sizeof(particle) * expected.size()), 0);

  // Columns of a row-major array as the rows of its transpose.
  std::vector<float> turned(problem.destination.size()), expected_turned(turned.size());
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      std::memcpy(&turned[c * rows + r], &problem.destination[r * columns + c], sizeof(float));
      std::memcpy(&expected_turned[c * rows + r], &sums[r * columns + c], sizeof(float));
    }
  }
  auto const turned_destination = place.array(turned);
  auto const turned_view = tessera::transposed(tessera::make_view(turned_destination.data(), {columns, rows}));
  auto turned_target = tessera::scatter_target<gpu_to_gpu>(place.backend, turned_view, declared, workspace_of(workspace));
  place.launch(tile_grid(1), add_rows<32, 8>{}, rows_of<float>(values, n, columns), list_of<int>(indices), turned_target);
  turned_target.resolve(place.backend);
  EXPECT_TRUE(same_bits(expected_turned, turned_destination.values()));
}

}  // namespace
