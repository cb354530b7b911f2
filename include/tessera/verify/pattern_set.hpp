// How many different results there were, and what they looked like.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tessera::inline v0_1::verify {

// The distinct bit patterns among many results, in order of first appearance.
//
// The first few are kept whole and compared as bytes, which is fast where all are equal; the others are told apart by their hashes.
// Results of different sizes are different. An object belongs to one thread.
class pattern_set {
 public:
  struct pattern {
    std::uint64_t hash = 0;        // FNV-1a of the bytes
    std::size_t first_result = 0;  // the number of the result that showed it first, from 0
    std::size_t results = 0;       // how many results showed it
    std::size_t bytes = 0;
    std::vector<std::byte> copy;  // the bytes themselves; empty for all but the first few patterns
  };

  // Keeps copies of the first `kept` patterns, at least 1.
  explicit pattern_set(std::size_t kept = 4) : kept_(kept == 0 ? 1 : kept) {}

  // Takes in the next result; returns the index of its pattern.
  std::size_t add(std::span<std::byte const> result);

  [[nodiscard]] std::size_t size() const { return patterns_.size(); }  // patterns
  [[nodiscard]] std::size_t results() const { return results_; }       // results taken in
  [[nodiscard]] pattern const& operator[](std::size_t i) const { return patterns_[i]; }
  [[nodiscard]] auto begin() const { return patterns_.begin(); }
  [[nodiscard]] auto end() const { return patterns_.end(); }

 private:
  [[nodiscard]] std::size_t find(std::span<std::byte const> result, std::uint64_t& hash) const;

  std::size_t kept_;
  std::size_t results_ = 0;
  std::vector<pattern> patterns_;
};

}  // namespace tessera::inline v0_1::verify
