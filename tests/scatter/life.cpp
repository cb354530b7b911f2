// The life of a scatter target: opened, written, resolved; what it does when its declaration is broken; what it refuses.
#include "emit.hpp"

namespace {

using namespace testing_support;
using tessera::gpu_to_gpu;
using tessera::make_view;
using tessera::not_guaranteed;
using tessera::records;
using tessera::tile_grid;

template <class Place>
class scatter_life : public testing::Test {};
TYPED_TEST_SUITE(scatter_life, main_places);

template <class Place>
class scatter_life_everywhere : public testing::Test {};
TYPED_TEST_SUITE(scatter_life_everywhere, all_places);

// --- Open, write, resolve

TYPED_TEST(scatter_life_everywhere, several_calls_of_a_tile) {
  small_target<TypeParam> t(TypeParam{}, {.tiles = 6, .per_tile = 20});
  std::vector<int> const calls{3, 20, 0, 1, 19, 8};
  t.write(calls);
  t.resolve();
  t.target.check(t.place.backend);
  EXPECT_TRUE(same_bits(t.after(t.start, {calls}), t.destination.values()));
  (void)t.workspace.values();
}

TYPED_TEST(scatter_life, not_resolved_is_not_applied) {
  small_target<TypeParam> t(TypeParam{}, {.tiles = 3, .per_tile = 10});
  t.target.open(t.place.backend);
  t.write({3, 10, 4});
  EXPECT_TRUE(same_bits(t.start, t.destination.values()));
}

TYPED_TEST(scatter_life, second_resolve_does_nothing) {
  small_target<TypeParam> t(TypeParam{}, {.tiles = 3, .per_tile = 10});
  t.write({3, 10, 4});
  t.resolve();
  auto const once = t.destination.values();
  EXPECT_TRUE(same_bits(t.after(t.start, {{3, 10, 4}}), once));
  t.resolve();
  t.resolve();
  EXPECT_TRUE(same_bits(once, t.destination.values()));
  t.target.check(t.place.backend);
}

TYPED_TEST(scatter_life, opened_again_forgets) {
  small_target<TypeParam> t(TypeParam{}, {.tiles = 3, .per_tile = 10});
  t.target.open(t.place.backend);
  t.write({3, 10, 4});
  t.target.open(t.place.backend);
  t.resolve();
  EXPECT_TRUE(same_bits(t.start, t.destination.values()));
  // And takes new records, all of its launches.
  t.target.open(t.place.backend);
  t.write({3, 10, 4});
  t.target.open(t.place.backend);
  t.write({1, 0, 7});
  t.resolve();
  EXPECT_TRUE(same_bits(t.after(t.start, {{1, 0, 7}}), t.destination.values()));
  t.target.check(t.place.backend);
}

TYPED_TEST(scatter_life, used_many_times) {
  small_target<TypeParam> t(TypeParam{}, {.tiles = 3, .per_tile = 10});
  auto expected = t.start;
  for (int i = 0; i < 5; ++i) {
    std::vector<int> const calls{i, 10 - i, 2 * i};
    t.write(calls);
    t.resolve();
    expected = t.after(expected, {calls});
    EXPECT_TRUE(same_bits(expected, t.destination.values())) << "use " << i;
  }
  t.target.check(t.place.backend);
}

// Records of an earlier launch come first in every row list, whatever the tile.
TYPED_TEST(scatter_life_everywhere, launches_in_order) {
  small_target<TypeParam> t(TypeParam{}, {.launches = 3, .tiles = 5, .per_tile = 9});
  std::vector<std::vector<int>> const launches{{9, 0, 2, 7, 9}, {1, 1, 9}, {0, 5, 9, 9, 1}};
  for (auto const& calls : launches) t.write(calls, 2);
  t.resolve();
  t.target.check(t.place.backend);
  EXPECT_TRUE(same_bits(t.after(t.start, launches), t.destination.values()));
}

// Launches of the same target may be of different kernels, and fewer than declared.
TYPED_TEST(scatter_life, fewer_launches_than_declared) {
  small_target<TypeParam> t(TypeParam{}, {.launches = 4, .tiles = 5, .per_tile = 9});
  t.write({9, 0, 2, 7, 9});
  t.resolve();
  EXPECT_TRUE(same_bits(t.after(t.start, {{9, 0, 2, 7, 9}}), t.destination.values()));
  t.write({1});
  t.write({0, 3});
  t.resolve();
  EXPECT_TRUE(same_bits(t.after(t.after(t.start, {{9, 0, 2, 7, 9}}), {{1}, {0, 3}}), t.destination.values()));
}

TYPED_TEST(scatter_life, empty_launches) {
  small_target<TypeParam> t(TypeParam{}, {.launches = 2, .tiles = 2, .per_tile = 9});
  t.write({});
  t.write({4, 2});
  t.resolve();
  EXPECT_TRUE(same_bits(t.after(t.start, {{}, {4, 2}}), t.destination.values()));
  t.write({0, 0});
  t.resolve();
  EXPECT_TRUE(same_bits(t.after(t.start, {{}, {4, 2}}), t.destination.values()));
  t.target.check(t.place.backend);
}

TYPED_TEST(scatter_life, never_opened) {
  small_target<TypeParam> t(TypeParam{}, {.tiles = 3, .per_tile = 10});
  t.resolve();
  EXPECT_TRUE(same_bits(t.start, t.destination.values()));
  EXPECT_EQ(t.status().flags, 0u);
  t.target.check(t.place.backend);
  t.write({1, 2, 3});
  t.resolve();
  EXPECT_TRUE(same_bits(t.after(t.start, {{1, 2, 3}}), t.destination.values()));
}

// The tile id of a grid of several dimensions is row-major, and so is the order of records.
TYPED_TEST(scatter_life, grids_of_several_dimensions) {
  small_target<TypeParam> t(TypeParam{}, {.tiles = 24, .per_tile = 3});
  std::vector<int> calls(24);
  for (std::size_t i = 0; i < calls.size(); ++i) calls[i] = static_cast<int>(i % 4);
  auto const device_calls = t.place.array(calls);
  t.place.launch(tile_grid(2, 3, 4).capped(5), emit{t.rows}, t.source(), list_of<int>(device_calls), t.target);
  t.resolve();
  EXPECT_TRUE(same_bits(t.after(t.start, {calls}), t.destination.values()));
}

// --- Capacity

TYPED_TEST(scatter_life_everywhere, overflow_leaves_the_destination_untouched) {
  for (int emitted : {9, 10, 11, 100}) {
    small_target<TypeParam> t(TypeParam{}, {.tiles = 4, .per_tile = 10});
    t.write({3, emitted, 0, 10});
    t.resolve();
    auto const status = t.status();
    if (emitted <= 10) {
      EXPECT_TRUE(same_bits(t.after(t.start, {{3, emitted, 0, 10}}), t.destination.values()));
      EXPECT_EQ(status.flags, 0u);
      EXPECT_NO_THROW(t.target.check(t.place.backend));
      continue;
    }
    EXPECT_TRUE(same_bits(t.start, t.destination.values())) << emitted;
    EXPECT_EQ(status.flags, static_cast<std::uint32_t>(tessera::scatter_overflow));
    EXPECT_EQ(status.largest_need, static_cast<std::uint32_t>(emitted));
    EXPECT_THROW(t.target.check(t.place.backend), tessera::scatter_error);
    auto const message = thrown_message([&] { t.target.check(t.place.backend); });
    EXPECT_TRUE(mentions(message, " " + std::to_string(emitted) + " ")) << message;
    EXPECT_TRUE(mentions(message, " 10")) << message;

    // The status is sticky: what would fit is not applied either, until it is cleared.
    t.write({1, 2, 3, 4});
    t.resolve();
    EXPECT_TRUE(same_bits(t.start, t.destination.values()));
    EXPECT_EQ(t.status().largest_need, static_cast<std::uint32_t>(emitted));
    t.target.clear(t.place.backend);
    EXPECT_EQ(t.status().flags, 0u);
    EXPECT_EQ(t.status().largest_need, 0u);
    t.resolve();
    EXPECT_TRUE(same_bits(t.start, t.destination.values())) << "records of before the clearing were applied";
    t.write({1, 2, 3, 4});
    t.resolve();
    EXPECT_TRUE(same_bits(t.after(t.start, {{1, 2, 3, 4}}), t.destination.values()));

    // With the room that it asked for, the launch is right.
    small_target<TypeParam> larger(TypeParam{}, {.tiles = 4, .per_tile = status.largest_need});
    larger.write({3, emitted, 0, 10});
    larger.resolve();
    EXPECT_TRUE(same_bits(larger.after(larger.start, {{3, emitted, 0, 10}}), larger.destination.values()));
    larger.target.check(larger.place.backend);
    (void)t.workspace.values();
    (void)larger.workspace.values();
  }
}

TYPED_TEST(scatter_life, largest_need_is_of_the_largest_tile) {
  small_target<TypeParam> t(TypeParam{}, {.launches = 2, .tiles = 4, .per_tile = 10});
  t.write({12, 4, 31, 11});
  t.write({10, 0, 15, 2});
  t.resolve();
  EXPECT_EQ(t.status().largest_need, 31u);
  EXPECT_TRUE(same_bits(t.start, t.destination.values()));
}

// A sum that lacks records is never published, whenever the status is cleared.
TYPED_TEST(scatter_life, cleared_between_overflow_and_resolve) {
  small_target<TypeParam> t(TypeParam{}, {.launches = 2, .tiles = 2, .per_tile = 10});
  t.write({3, 11});
  t.target.clear(t.place.backend);
  t.resolve();
  EXPECT_TRUE(same_bits(t.start, t.destination.values()));
  EXPECT_EQ(t.status().flags, 0u);
  t.write({3, 11});
  t.target.clear(t.place.backend);
  t.write({1, 1});
  t.resolve();
  EXPECT_TRUE(same_bits(t.start, t.destination.values()));
  // Opening again makes it whole.
  t.target.open(t.place.backend);
  t.write({1, 1});
  t.resolve();
  EXPECT_TRUE(same_bits(t.after(t.start, {{1, 1}}), t.destination.values()));
}

// A loop over pairs, n (n + 1) / 2 records where the author had one in mind.
TYPED_TEST(scatter_life, quadratic_loop_against_a_bound_of_one) {
  for (int n : {0, 1, 2, 5}) {
    int const calls = n * (n + 1) / 2;
    small_target<TypeParam> t(TypeParam{}, {.tiles = 3, .per_tile = 1});
    t.write({calls, 1, calls});
    t.resolve();
    if (calls <= 1) {
      EXPECT_TRUE(same_bits(t.after(t.start, {{calls, 1, calls}}), t.destination.values()));
      EXPECT_EQ(t.status().flags, 0u);
    } else {
      EXPECT_TRUE(same_bits(t.start, t.destination.values()));
      EXPECT_EQ(t.status().largest_need, static_cast<std::uint32_t>(calls));
    }
  }
}

// A call that begins inside the capacity and ends outside: none of it counts.
TYPED_TEST(scatter_life, call_across_the_capacity) {
  TypeParam place;
  row_problem<float> const problem(5, 3, chosen_rows(choice::uniform, 64, 5, 3));
  auto const values = place.array(problem.values);
  auto const indices = place.array(problem.indices);
  auto const destination = place.array(problem.destination);
  auto const sums = make_view(destination.data(), {5, 3});
  records const declared{.tiles = 2, .per_tile = 31};
  auto const workspace = rubbish_workspace(place, tessera::scatter_workspace_bytes<gpu_to_gpu>(place.backend, sums, declared));
  auto target = tessera::scatter_target<gpu_to_gpu>(place.backend, sums, declared, workspace_of(workspace));
  place.launch(tile_grid(2), add_rows<32, 8>{}, rows_of<float>(values, 64, 3), list_of<int>(indices), target);
  target.resolve(place.backend);
  EXPECT_TRUE(same_bits(problem.destination, destination.values()));
  EXPECT_EQ(target.status(place.backend).largest_need, 32u);
  (void)workspace.values();
}

// Skipped records take places too: the declaration is the extents of the calls, whatever the indices say.
TYPED_TEST(scatter_life, skipped_records_count) {
  TypeParam place;
  std::vector<float> const start(5, 1.0f);
  auto const values = place.array(std::vector<float>(32, 1.0f));
  auto const indices = place.array(std::vector<int>(32, -1));
  auto const destination = place.array(start);
  auto const sums = make_view(destination.data(), {5, 1});
  records const declared{.tiles = 1, .per_tile = 31};
  auto const workspace = rubbish_workspace(place, tessera::scatter_workspace_bytes<gpu_to_gpu>(place.backend, sums, declared));
  auto target = tessera::scatter_target<gpu_to_gpu>(place.backend, sums, declared, workspace_of(workspace));
  place.launch(tile_grid(1), add_rows<32, 8>{}, rows_of<float>(values, 32, 1), list_of<int>(indices), target);
  target.resolve(place.backend);
  EXPECT_TRUE(same_bits(start, destination.values()));
  EXPECT_EQ(target.status(place.backend).flags, static_cast<std::uint32_t>(tessera::scatter_overflow));
}

// --- Kernels that break the declaration

struct add_two_columns {
  std::int64_t offset;
  template <class Block, class Values, class Sums>
  TESSERA_TILE void operator()(Block& block, Values values, Sums sums) const {
    tessera::tile_atomic_add(block, sums, tessera::tile_load<1, 2>(block, values, {0, 0}), {3, offset});
  }
};

TYPED_TEST(scatter_life, part_of_the_columns_is_a_fault) {
  TypeParam place;
  // A tile of 2 columns on a destination of 3, at either side; and one that hangs over the edge and leaves a column out.
  for (std::int64_t offset : {0, 1, 2, -1}) {
    std::vector<float> const start = rounding_values<float>(21, 8);
    auto const destination = place.array(start);
    auto const values = place.array(rounding_values<float>(14, 9));
    auto const sums = make_view(destination.data(), {7, 3});
    records const declared{.tiles = 1, .per_tile = 1};
    auto const workspace = rubbish_workspace(place, tessera::scatter_workspace_bytes<gpu_to_gpu>(place.backend, sums, declared));
    auto target = tessera::scatter_target<gpu_to_gpu>(place.backend, sums, declared, workspace_of(workspace));
    place.launch(tile_grid(1), add_two_columns{offset}, rows_of<float>(values, 7, 2), target);
    target.resolve(place.backend);
    EXPECT_EQ(target.status(place.backend).flags, static_cast<std::uint32_t>(tessera::scatter_window)) << offset;
    EXPECT_THROW(target.check(place.backend), tessera::scatter_error);
    EXPECT_TRUE(mentions(thrown_message([&] { target.check(place.backend); }), "part"));
    EXPECT_TRUE(same_bits(start, destination.values())) << offset;
    (void)workspace.values();
  }
}

// A writer that is used in a larger grid than its launch was numbered for.
TYPED_TEST(scatter_life, stray_tile_is_a_fault) {
  small_target<TypeParam> t(TypeParam{}, {.tiles = 2, .per_tile = 10});
  auto const calls = t.place.array(std::vector<int>{1, 2, 0, 4});
  auto const writer = t.target.begin_launch(t.place.backend, tile_grid(2));
  t.target.end_launch();
  t.place.launch(tile_grid(4), emit{t.rows}, t.source(), list_of<int>(calls), writer);
  t.resolve();
  EXPECT_EQ(t.status().flags, static_cast<std::uint32_t>(tessera::scatter_stray_tile));
  EXPECT_THROW(t.target.check(t.place.backend), tessera::scatter_error);
  EXPECT_TRUE(mentions(thrown_message([&] { t.target.check(t.place.backend); }), "2"));
  EXPECT_TRUE(same_bits(t.start, t.destination.values()));
  (void)t.workspace.values();
}

// A launch that runs twice under one number: its places are taken.
TYPED_TEST(scatter_life, writer_used_twice_is_a_fault) {
  small_target<TypeParam> t(TypeParam{}, {.launches = 2, .tiles = 2, .per_tile = 10});
  auto const calls = t.place.array(std::vector<int>{6, 10});
  auto const writer = t.target.begin_launch(t.place.backend, tile_grid(2));
  t.target.end_launch();
  for (int i = 0; i < 2; ++i) t.place.launch(tile_grid(2), emit{t.rows}, t.source(), list_of<int>(calls), writer);
  t.resolve();
  EXPECT_EQ(t.status().flags, static_cast<std::uint32_t>(tessera::scatter_overflow));
  EXPECT_EQ(t.status().largest_need, 20u);
  EXPECT_TRUE(same_bits(t.start, t.destination.values()));
}

TYPED_TEST(scatter_life, more_launches_than_declared_are_refused) {
  small_target<TypeParam> t(TypeParam{}, {.launches = 2, .tiles = 2, .per_tile = 10});
  t.write({1, 2});
  t.write({3, 4});
  EXPECT_THROW(t.write({5, 6}), tessera::usage_error);
  auto const message = thrown_message([&] { t.write({5, 6}); });
  EXPECT_TRUE(mentions(message, "3") && mentions(message, "2")) << message;
  t.resolve();
  EXPECT_TRUE(same_bits(t.after(t.start, {{1, 2}, {3, 4}}), t.destination.values()));
}

TYPED_TEST(scatter_life, grid_larger_than_declared_is_refused) {
  small_target<TypeParam> t(TypeParam{}, {.tiles = 2, .per_tile = 10});
  EXPECT_THROW(t.write({1, 2, 3}), tessera::usage_error);
  auto const message = thrown_message([&] { t.write({1, 2, 3}); });
  EXPECT_TRUE(mentions(message, "3 tiles") && mentions(message, "= 2")) << message;
  t.write({1, 2});
  t.resolve();
  EXPECT_TRUE(same_bits(t.after(t.start, {{1, 2}}), t.destination.values()));
}

// --- Several targets together: all are applied, or none

TYPED_TEST(scatter_life, targets_resolved_together) {
  small_target<TypeParam> a(TypeParam{}, {.tiles = 3, .per_tile = 10});
  small_target<TypeParam, double> b(TypeParam{}, {.tiles = 2, .per_tile = 10});
  a.write({3, 10, 4});
  b.write({2, 2});
  tessera::resolve(a.place.backend, a.target, b.target);
  EXPECT_TRUE(same_bits(a.after(a.start, {{3, 10, 4}}), a.destination.values()));
  EXPECT_TRUE(same_bits(b.after(b.start, {{2, 2}}), b.destination.values()));
  tessera::resolve(a.place.backend, a.target, b.target);
  EXPECT_TRUE(same_bits(a.after(a.start, {{3, 10, 4}}), a.destination.values()));
  EXPECT_TRUE(same_bits(b.after(b.start, {{2, 2}}), b.destination.values()));
}

TYPED_TEST(scatter_life, one_fault_keeps_all_targets_from_being_applied) {
  small_target<TypeParam> a(TypeParam{}, {.tiles = 3, .per_tile = 10}), c(TypeParam{}, {.tiles = 1, .per_tile = 10});
  small_target<TypeParam, double> b(TypeParam{}, {.tiles = 2, .per_tile = 10});
  for (int faulty : {0, 1, 2}) {
    a.write({3, faulty == 0 ? 11 : 10, 4});
    b.write({faulty == 1 ? 12 : 2, 2});
    c.write({faulty == 2 ? 13 : 2});
    tessera::resolve(a.place.backend, a.target, b.target, c.target);
    EXPECT_TRUE(same_bits(a.start, a.destination.values()));
    EXPECT_TRUE(same_bits(b.start, b.destination.values()));
    EXPECT_TRUE(same_bits(c.start, c.destination.values()));
    EXPECT_EQ(a.status().largest_need, faulty == 0 ? 11u : 0u);
    EXPECT_EQ(b.status().largest_need, faulty == 1 ? 12u : 0u);
    EXPECT_EQ(c.status().largest_need, faulty == 2 ? 13u : 0u);
    a.target.clear(a.place.backend);
    b.target.clear(b.place.backend);
    c.target.clear(c.place.backend);
    // The records are gone with the resolve.
    tessera::resolve(a.place.backend, a.target, b.target, c.target);
    EXPECT_TRUE(same_bits(a.start, a.destination.values()));
  }
  // Nor does one that was never written: it is not complete.
  a.write({1, 2, 3});
  tessera::resolve(a.place.backend, a.target, b.target);
  EXPECT_TRUE(same_bits(a.start, a.destination.values()));
  a.write({1, 2, 3});
  b.target.open(b.place.backend);
  tessera::resolve(a.place.backend, a.target, b.target);
  EXPECT_TRUE(same_bits(a.after(a.start, {{1, 2, 3}}), a.destination.values()));
  EXPECT_TRUE(same_bits(b.start, b.destination.values()));
}

// --- What a target refuses, before anything is written

TYPED_TEST(scatter_life, workspaces_that_cannot_serve) {
  TypeParam place;
  std::vector<float> const start = rounding_values<float>(14, 8);
  auto const destination = place.array(start);
  auto const sums = make_view(destination.data(), {7, 2});
  records const declared{.tiles = 3, .per_tile = 10};
  auto const bytes = tessera::scatter_workspace_bytes<gpu_to_gpu>(place.backend, sums, declared);
  auto const image = rubbish_workspace(place, bytes + 256).values();
  auto const memory = rubbish_workspace(place, bytes + 256);
  auto const attempt = [&](tessera::workspace_view const& workspace) {
    return thrown_message([&] { (void)tessera::scatter_target<gpu_to_gpu>(place.backend, sums, declared, workspace); });
  };
  auto const null = attempt({nullptr, bytes});
  EXPECT_TRUE(mentions(null, "null") && mentions(null, std::to_string(bytes))) << null;
  auto const short_by_one = attempt({memory.data(), bytes - 1});
  EXPECT_TRUE(mentions(short_by_one, std::to_string(bytes - 1)) && mentions(short_by_one, std::to_string(bytes))) << short_by_one;
  auto const nothing = attempt({memory.data(), 0});
  EXPECT_TRUE(mentions(nothing, std::to_string(bytes))) << nothing;
  for (std::size_t shift : {std::size_t{1}, std::size_t{4}, std::size_t{16}, std::size_t{128}}) {
    auto const misaligned = attempt({memory.data() + shift, bytes});
    EXPECT_TRUE(mentions(misaligned, "aligned") && mentions(misaligned, "256")) << misaligned;
  }
  EXPECT_EQ(attempt({memory.data(), bytes}), "nothing was thrown");
  EXPECT_EQ(attempt({memory.data() + 256, bytes}), "nothing was thrown");
  EXPECT_EQ(memory.values(), image);
  EXPECT_TRUE(same_bits(start, destination.values()));
}

TYPED_TEST(scatter_life, destinations_that_cannot_serve) {
  TypeParam place;
  auto const destination = place.array(std::vector<float>(14));
  records const declared{.tiles = 3, .per_tile = 10};
  auto const attempt = [&](auto const& sums) {
    return thrown_message([&] { (void)tessera::scatter_workspace_bytes<gpu_to_gpu>(place.backend, sums, declared); });
  };
  for (int d : {0, 1}) {
    auto const broadcast = d == 0 ? make_view(destination.data(), {7, 2}, {0, 4}) : make_view(destination.data(), {7, 2}, {8, 0});
    auto const message = attempt(broadcast);
    EXPECT_TRUE(mentions(message, "stride 0") && mentions(message, "dimension " + std::to_string(d))) << message;
    EXPECT_THROW((void)tessera::scatter_target<gpu_to_gpu>(place.backend, broadcast, declared, {}), tessera::usage_error);
    EXPECT_THROW((void)tessera::scatter_target<not_guaranteed>(place.backend, broadcast, declared, {}), tessera::usage_error);
  }
  // One index of a dimension names one element, whatever the stride.
  EXPECT_EQ(attempt(make_view(destination.data(), {1, 2}, {0, 4})), "nothing was thrown");
}

TYPED_TEST(scatter_life, limits_are_named) {
  TypeParam place;
  auto const destination = place.array(std::vector<float>(14));
  auto const attempt = [&](std::int64_t rows, records const& declared) {
    return thrown_message([&] {
      (void)tessera::scatter_workspace_bytes<gpu_to_gpu>(place.backend, make_view(destination.data(), {rows, 1}), declared);
    });
  };
  auto const rows = attempt(std::int64_t{1} << 32, {.tiles = 1, .per_tile = 1});
  EXPECT_TRUE(mentions(rows, "4294967296") && mentions(rows, "4294967295")) << rows;
  EXPECT_EQ(attempt((std::int64_t{1} << 32) - 1, {.tiles = 1, .per_tile = 1}), "nothing was thrown");

  auto const many = attempt(7, {.tiles = std::int64_t{1} << 26, .per_tile = 32});
  EXPECT_TRUE(mentions(many, "2147483648") && mentions(many, "2147483647")) << many;
  auto const launches = attempt(7, {.launches = 3, .tiles = 1'000'000'000, .per_tile = 1});
  EXPECT_TRUE(mentions(launches, "3000000000")) << launches;
  EXPECT_EQ(attempt(7, {.tiles = 0x7FFFFFFF, .per_tile = 1}), "nothing was thrown");
  EXPECT_EQ(attempt(7, {.tiles = 1, .per_tile = 0x7FFFFFFF}), "nothing was thrown");
  EXPECT_TRUE(mentions(attempt(7, {.tiles = INT64_MAX, .per_tile = INT64_MAX}), "2147483647"));
  EXPECT_TRUE(mentions(attempt(7, {.tiles = -1, .per_tile = 1}), "-1"));
  EXPECT_TRUE(mentions(attempt(7, {.tiles = 1, .per_tile = -2}), "-2"));
  EXPECT_TRUE(mentions(attempt(7, {.launches = 0, .tiles = 1, .per_tile = 1}), "0"));
  auto const wide = thrown_message([&] {
    (void)tessera::scatter_workspace_bytes<gpu_to_gpu>(place.backend, make_view(destination.data(), {1, std::int64_t{1} << 40}),
                                                       {.tiles = 1 << 20, .per_tile = 1 << 10});
  });
  EXPECT_TRUE(mentions(wide, "1099511627776")) << wide;
}

// The size of a workspace: a header, a count a tile, a key a record, the records, and what the backend adds, each rounded up to 256 bytes.
TYPED_TEST(scatter_life, workspace_bytes_follow_their_formula) {
  TypeParam place;
  auto const destination = place.array(std::vector<float>(14));
  auto const up = [](std::int64_t bytes) { return (bytes + 255) / 256 * 256; };
  for (std::int64_t columns : {1, 2, 8, 128, 300}) {
    for (std::int64_t launches : {1, 3}) {
      for (std::int64_t tiles : {0, 1, 1000}) {
        for (std::int64_t per_tile : {0, 1, 32, 100}) {
          auto const bytes = static_cast<std::int64_t>(tessera::scatter_workspace_bytes<gpu_to_gpu>(
              place.backend, make_view(destination.data(), {1000, columns}), {.launches = launches, .tiles = tiles, .per_tile = per_tile}));
          std::int64_t const n = launches * tiles * per_tile, row = 4 * columns;
          std::int64_t const common = 256 + up(4 * launches * tiles) + up(4 * n) + up(n * row);
          if constexpr (!TypeParam::on_gpu) {
            EXPECT_EQ(bytes, up(common + 2 * n * 8) + up(2 * (n / 1024 + 1) * row));
          } else {
            // Sorted keys and two arrays of places; partial sums and counters of lists beyond 32 records; and what the sort asks for.
            std::int64_t windows = 0;
            for (std::int64_t size = 32, level = 0; n > 32 && level < 6; ++level, size *= 32) windows += n / size + 1;
            std::int64_t const counters = up(4 * windows * ((columns + 31) / 32)), partials = up(2 * windows * row);
            std::int64_t const ours = common + counters + 3 * up(4 * n) + partials;
            EXPECT_GE(bytes, ours);
            EXPECT_LE(bytes, ours + n + (1 << 20)) << "the sort's part is small";
            EXPECT_LE(2 * windows, n / 16 + 2 * 6 + n / 400) << "partial sums take a sixteenth of the rows";
          }
        }
      }
    }
  }
}

// --- Targets that need no order

template <class T>
struct add_ones {
  template <class Block, class Sums>
  TESSERA_TILE void operator()(Block& block, Sums sums) const {
    tessera::tile_atomic_add_indexed<0>(block, sums, tessera::tile_full<32>(block, static_cast<int>(block.tile_id() % 3)),
                                        tessera::tile_full<32, 2>(block, T{1}));
    tessera::tile_atomic_add(block, sums, tessera::tile_full<1, 2>(block, T{1}), {0, 0});
  }
};

template <tessera::determinism Level, class T, class Place>
void check_direct() {
  Place place;
  auto const destination = place.array(std::vector<T>(8, T{5}));
  auto const sums = make_view(destination.data(), {4, 2});
  records const declared{.tiles = 7, .per_tile = 33};
  EXPECT_EQ(tessera::scatter_workspace_bytes<Level>(place.backend, sums, declared), 0u);
  auto target = tessera::scatter_target<Level>(place.backend, sums, declared, {});
  static_assert(decltype(target)::applied_as_written);
  place.launch(tile_grid(7), add_ones<T>{}, target);
  std::vector<T> const expected{T{5 + 96 + 7}, T{5 + 96 + 7}, T{5 + 64}, T{5 + 64}, T{5 + 64}, T{5 + 64}, T{5}, T{5}};
  EXPECT_EQ(destination.values(), expected) << "before resolve";
  target.resolve(place.backend);
  target.resolve(place.backend);
  EXPECT_EQ(destination.values(), expected);
  target.open(place.backend);
  target.check(place.backend);
  EXPECT_EQ(destination.values(), expected);
}
TYPED_TEST(scatter_life, direct_targets_add_as_they_are_written) {
  check_direct<gpu_to_gpu, int, TypeParam>();
  check_direct<gpu_to_gpu, long long, TypeParam>();
  check_direct<not_guaranteed, float, TypeParam>();
  check_direct<not_guaranteed, double, TypeParam>();
}

// Sums of ones, and sums that pass 32 bits.
TYPED_TEST(scatter_life, integers_are_conserved) {
  TypeParam place;
  for (std::int64_t n : {1024, 1023, 1025, 4097}) {
    row_problem<double> const shape(5, 1, chosen_rows(choice::uniform, n, 5, 77));
    std::vector<std::int64_t> values = rounding_values<std::int64_t>(static_cast<std::size_t>(n), 5), expected(5);
    for (std::size_t i = 0; i < values.size(); ++i) {
      auto& sum = expected[static_cast<std::size_t>(shape.indices[i])];
      sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) + static_cast<std::uint64_t>(values[i]));
    }
    auto const device_values = place.array(values);
    auto const indices = place.array(shape.indices);
    auto const destination = place.array(std::vector<std::int64_t>(5));
    auto target = tessera::scatter_target<gpu_to_gpu>(place.backend, make_view(destination.data(), {5, 1}), {}, {});
    place.launch(tile_grid(tessera::ceil_div(n, 32)), add_rows<32, 2>{}, rows_of<std::int64_t>(device_values, n, 1), list_of<int>(indices),
                 target);
    EXPECT_EQ(destination.values(), expected);
  }
}

}  // namespace
