// The bootstrap particle filter: a crowd of particles, each a guess at the level, that moves, is weighed against what was observed, and is
// replaced by a crowd drawn from it in proportion to the weights; and so on for each observation.
//
// Written once: where the arrays lie, which backend runs the kernels and how the weights are scanned are given from outside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <tessera/tessera.hpp>
#include <tessera/verify/hash.hpp>

#include "model.hpp"

namespace particle_filter {

inline constexpr int particles_per_tile = 512;

// The particles of one tile, by their numbers.
template <class Block>
TESSERA_TILE auto tile_of_particles(Block& block) {
  return tessera::tile_arange<particles_per_tile>(block, static_cast<std::int32_t>(block.tile_id() * particles_per_tile));
}

// levels[i] moves; weights[i] says how well it then explains the observation.
struct move_and_weigh {
  move next_level;
  weigh weight_of;

  template <class Block>
  TESSERA_TILE void operator()(Block& block, tessera::view<float, 1> levels, tessera::view<float, 1> weights) const {
    auto const first = block.tile_id() * particles_per_tile;
    auto const before = tessera::tile_load<particles_per_tile>(block, levels, {first});
    auto const after = tessera::tile_map(block, next_level, before, tile_of_particles(block));
    tessera::tile_store(block, levels, after, {first});
    tessera::tile_store(block, weights, tessera::tile_map(block, weight_of, after), {first});
  }
};

// ancestors[i] is drawn from the scanned weights; drawn[i] is that particle's level.
struct draw {
  find_ancestor ancestor_of;

  template <class Block>
  TESSERA_TILE void operator()(Block& block, tessera::view<float const, 1> levels, tessera::view<std::int32_t, 1> ancestors,
                               tessera::view<float, 1> drawn) const {
    auto const first = block.tile_id() * particles_per_tile;
    auto const ancestor = tessera::tile_map(block, ancestor_of, tile_of_particles(block));
    tessera::tile_store(block, ancestors, ancestor, {first});
    tessera::tile_store(block, drawn, tessera::tile_load_indexed<0, particles_per_tile>(block, levels, ancestor), {first});
  }
};

// What one run of the filter leaves behind.
struct history {
  std::vector<std::uint64_t> steps;  // after each step: FNV-1a of all ancestors drawn so far
  std::vector<float> levels;         // of the last generation
  double estimate = 0;               // their mean, added up on the host from the first to the last
};

// Runs the filter over all observations, from particles that are all on time. A `place` has arrays, a backend to launch on, and reads an
// array back; scan(in, out) leaves the inclusive sums of `in` in `out`.
template <class Place, class Scan>
history run_filter(Place const& place, Scan const& scan, std::vector<float> const& observed, std::int64_t particles) {
  using tessera::make_view;
  auto const size = static_cast<std::size_t>(particles);
  std::vector<float> const zeros(size);
  typename Place::template array<float> levels(zeros), weights(zeros), sums(zeros), drawn(zeros);
  std::vector<std::int32_t> ancestors_read(size);
  typename Place::template array<std::int32_t> ancestors(ancestors_read);
  tessera::tile_grid const grid(tessera::ceil_div(particles, particles_per_tile));

  history result;
  tessera::verify::fnv1a hash;
  for (std::size_t t = 0; t < observed.size(); ++t) {
    auto const step = static_cast<std::int64_t>(t);
    auto const level_view = make_view(levels.data(), {particles});
    auto const weight_view = make_view(weights.data(), {particles});
    auto const sum_view = make_view(sums.data(), {particles});
    tessera::launch_tiled(place.backend, grid, move_and_weigh{{{step, purpose::move}}, {observed[t]}}, level_view, weight_view);
    scan(weight_view, sum_view);
    tessera::launch_tiled(place.backend, grid, draw{{{step, purpose::draw}, sum_view}}, level_view,
                          make_view(ancestors.data(), {particles}), make_view(drawn.data(), {particles}));
    std::swap(levels, drawn);

    place.read(ancestors, ancestors_read);
    result.steps.push_back(hash.add(std::span(ancestors_read)).value());
  }

  result.levels.resize(size);
  place.read(levels, result.levels);
  for (float const level : result.levels) result.estimate += static_cast<double>(level);
  result.estimate /= static_cast<double>(particles);
  return result;
}

}  // namespace particle_filter
