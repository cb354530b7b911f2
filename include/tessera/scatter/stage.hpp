// Staging: tile_atomic_add and tile_atomic_add_indexed into records. Knows nothing of sorting or of sums.
//
// Record k of a call is the slice of the tile at coordinate k along the axis. Its place in the target's buffer follows from its ordinal
// (launch, logical tile id, position in the tile), so that blocks fight over no counter and the order is the same on every run. Rows leave
// the block as coalesced runs: straight from the tile where its elements lie as the records' do, else through scratch, in pieces that fit.
#pragma once

#include <cuda/std/cstdint>
#include <cuda/std/type_traits>

#include <tessera/config.hpp>
#include <tessera/group/atomic.hpp>
#include <tessera/scatter/record_writer.hpp>
#include <tessera/tile/index_tile.hpp>
#include <tessera/tile/tile.hpp>
#include <tessera/tile/window.hpp>

namespace tessera::inline v0_1 {

namespace detail {

// A fault: sticky in the status, and fatal to this opening of the target. Any lane.
template <class Block, class T, int Rank, int Axis>
TESSERA_TILE void report_fault(Block& block, record_writer<T, Rank, Axis> const& writer, scatter_fault fault) {
  atomic_or(block, &writer.header->status.flags, static_cast<cuda::std::uint32_t>(fault));
  atomic_and(block, &writer.header->state, ~static_cast<cuda::std::uint32_t>(fault));
}

// Takes `count` places for the calling tile; gives the first, or -1 where there is no room. The same on every lane.
template <class Block, class T, int Rank, int Axis>
TESSERA_TILE cuda::std::int64_t take_places(Block& block, record_writer<T, Rank, Axis> const& writer, int count) {
  using u32 = cuda::std::uint32_t;
  cuda::std::int64_t const tile = block.tile_id();
  if (tile >= writer.tiles) {
    if (block.rank() == 0) report_fault(block, writer, scatter_stray_tile);
    return -1;
  }
  cuda::std::int64_t const slot = writer.launch * writer.tiles + tile;
  scratch_array<u32, 1, Block> taken(block);
  block.sync();
  if (block.rank() == 0) {
    u32 const before = atomic_fetch_add(block, writer.used + slot, static_cast<u32>(count)) + 1u;
    taken[0] = before;
    cuda::std::int64_t const need = static_cast<cuda::std::int64_t>(before) + count;
    if (need > writer.per_tile) {
      atomic_max(block, &writer.header->status.largest_need, static_cast<u32>(need < all_ones ? need : all_ones));
      report_fault(block, writer, scatter_overflow);
    }
  }
  block.sync();
  cuda::std::int64_t const before = taken[0];
  return before + count <= writer.per_tile ? slot * writer.per_tile + before : -1;
}

// The row-major position in a record of the element at c, a coordinate of the tile.
template <int Axis, int Rank>
TESSERA_TILE cuda::std::int64_t column_of(tile_coordinates<Rank> const& c, offsets<Rank> const& at, cuda::std::int64_t const* extents) {
  cuda::std::int64_t column = 0;
  for (int d = 0; d < Rank; ++d) {
    if (d != Axis) column = column * extents[d] + (at[d] + c[d]);
  }
  return column;
}

// The elements of a tile in the records' order: the axis first, the other dimensions row-major behind it.
template <int Axis, class Shape>
struct record_order {
  static constexpr int records = Shape::extent(Axis);
  static constexpr int elements = Shape::size / records;

  TESSERA_TILE static constexpr tile_coordinates<Shape::rank> coordinates(int position) {
    tile_coordinates<Shape::rank> c{};
    c.at[Axis] = position / elements;
    int rest = position % elements;
    for (int d = Shape::rank - 1; d >= 0; --d) {
      if (d == Axis) continue;
      c.at[d] = rest % Shape::extent(d);
      rest /= Shape::extent(d);
    }
    return c;
  }
  TESSERA_TILE static constexpr int position(tile_coordinates<Shape::rank> const& c) {
    int position = c[Axis];
    for (int d = 0; d < Shape::rank; ++d) {
      if (d != Axis) position = position * Shape::extent(d) + c[d];
    }
    return position;
  }
};

// Calls write(c, value) for each element of the tile, neighbouring lanes with neighbours in the records' order. Registers go through
// scratch, in pieces.
template <int Axis, class Block, class Tile, class Write>
TESSERA_TILE void in_record_order(Block& block, Tile const& tile, Write const& write) {
  using T = typename Tile::value_type;
  using shape = typename Tile::shape_type;
  using order = record_order<Axis, shape>;
  if constexpr (cuda::std::is_same_v<typename Tile::storage_type, shared_t>) {
    TESSERA_NO_UNROLL
    for (int position = block.rank(); position < shape::size; position += Block::size) {
      auto const c = order::coordinates(position);
      int linear = 0;
      for (int d = 0; d < shape::rank; ++d) linear = linear * shape::extent(d) + c[d];
      write(c, tile[linear]);
    }
  } else {
    // Half of the scratch at most, so that the caller's tiles keep theirs.
    constexpr int fits = Block::scratch_bytes / 2 / static_cast<int>(sizeof(T));
    constexpr int piece = shape::size < fits ? shape::size : (fits > 0 ? fits : 1);
    scratch_array<T, piece, Block> buffer(block);
    TESSERA_NO_UNROLL
    for (int begin = 0; begin < shape::size; begin += piece) {
      block.sync();
      for_each_element(block, tile, [&](int linear, T const& value) {
        int const position = order::position(shape::coordinates(linear)) - begin;
        if (position >= 0 && position < piece) buffer[position] = value;
      });
      block.sync();
      int const end = begin + piece < shape::size ? piece : shape::size - begin;
      TESSERA_NO_UNROLL
      for (int i = block.rank(); i < end; i += Block::size) write(order::coordinates(begin + i), buffer[i]);
    }
  }
}

// Stages a call: `index(k)` is the index that record k goes to, checked like an element's of an index tile.
template <int Axis, class Block, class T, int Rank, class Tile, class Index>
TESSERA_TILE void stage_records(Block& block, record_writer<T, Rank, Axis> const& writer, Index const& index, Tile const& tile,
                                offsets<Rank> const& at) {
  using traits = tile_traits<Tile>;
  using shape = typename traits::shape;
  using order = record_order<Axis, shape>;
  constexpr int records = order::records;

  bool empty = false, covers = true, whole = true;
  for (int d = 0; d < Rank; ++d) {
    if (d == Axis) continue;
    auto const part = clip(shape::extent(d), at[d], writer.extents[d]);
    empty = empty || part.first >= part.last;
    covers = covers && part.last - part.first == writer.extents[d];
    whole = whole && at[d] == 0 && writer.extents[d] == shape::extent(d);
  }
  cuda::std::int64_t const first_place = take_places(block, writer, records);
  if (first_place < 0 || empty) return;

  cuda::std::int64_t const row_offset = at[Axis], rows = writer.extents[Axis];
  for (int k = block.rank(); k < records; k += Block::size) {
    bool const valid = index_in_range(index(k), row_offset, rows);
    auto const row = static_cast<cuda::std::uint64_t>(row_offset) + static_cast<cuda::std::uint64_t>(index(k));
    writer.keys[first_place + k] = valid && covers ? static_cast<cuda::std::uint32_t>(row) : no_row;
    if (valid && !covers) report_fault(block, writer, scatter_window);
  }
  if (!covers) return;

  constexpr int chunk = traits::chunk;
  T* const first_row = writer.rows + first_place * writer.columns;
  if constexpr (Axis == 0) {
    bool const aligned = order::elements % chunk == 0 || first_place % chunk == 0;
    if (whole && aligned) {
      for_each_chunk<Tile>(block, [&](int slot, int first) {
        bool wanted = order::elements % chunk != 0;
        if (!wanted) wanted = index_in_range(index(first / order::elements), row_offset, rows);
        if (wanted) copy_chunk<chunk, T>(first_row + first, tile.chunk(slot, first));
      });
      return;
    }
  }
  in_record_order<Axis>(block, tile, [&](tile_coordinates<Rank> const& c, T const& value) {
    bool inside = index_in_range(index(c[Axis]), row_offset, rows);
    for (int d = 0; d < Rank; ++d) {
      if (d != Axis) inside = inside && at[d] + c[d] >= 0 && at[d] + c[d] < writer.extents[d];
    }
    if (inside) first_row[c[Axis] * writer.columns + column_of<Axis>(c, at, writer.extents)] = value;
  });
}

// The checks that both verbs make.
template <class T, int Rank, class Tile>
TESSERA_TILE constexpr void check_records() {
  using traits = tile_traits<Tile>;
  static_assert(cuda::std::is_same_v<T, typename traits::value_type>,
                "the tile and its destination have the same element type: convert the tile with tile_map first");
  static_assert(traits::shape::rank == Rank, "the tile and the array have the same number of dimensions");
}

// A row of the tile goes to the row of its own number.
struct own_row {
  TESSERA_TILE cuda::std::int64_t operator()(int k) const { return k; }
};
template <class I>
struct indexed_row {
  I const* rows;
  TESSERA_TILE I operator()(int k) const { return rows[k]; }
};

}  // namespace detail

// Leaves one record for each row of `tile` along `Axis`; the target's resolve adds them. Bounds, offsets and skipped indices are those of
// the form that adds into a view. A call covers the whole of the destination's other dimensions, clipped at its edges; one that covers a
// part sets scatter_window. There are no previous values to use. Called by every lane of the block.
template <int Axis, class Block, class T, int Rank, int WriterAxis, class Indices, class Tile>
TESSERA_TILE no_previous_values tile_atomic_add_indexed(Block& block, record_writer<T, Rank, WriterAxis> const& target,
                                                        Indices const& indices, Tile const& tile, offsets<Rank> const& at = {}) {
  static_assert(Axis == WriterAxis, "the target's records lie along another axis: make it with scatter_target<level, axis>");
  using I = typename tile_traits<Indices>::value_type;
  detail::check_records<T, Rank, Tile>();
  detail::check_index_tile<Axis, typename tile_traits<Tile>::shape, Indices>();
  detail::with_shared_indices(block, indices, [&](I const* rows) {
    detail::stage_records<WriterAxis>(block, target, detail::indexed_row<I>{rows}, tile, at);
  });
  return {};
}

// The same for rows that go to the places where they lie: row k along the target's axis to at[axis] + k.
template <class Block, class T, int Rank, int Axis, class Tile>
TESSERA_TILE no_previous_values tile_atomic_add(Block& block, record_writer<T, Rank, Axis> const& target, Tile const& tile,
                                                offsets<Rank> const& at = {}) {
  detail::check_records<T, Rank, Tile>();
  detail::stage_records<Axis>(block, target, detail::own_row{}, tile, at);
  return {};
}

}  // namespace tessera::inline v0_1
