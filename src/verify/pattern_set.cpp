#include <tessera/verify/pattern_set.hpp>

#include <algorithm>
#include <cstring>

#include <tessera/verify/hash.hpp>

namespace tessera::inline v0_1::verify {

// The index of the result's pattern, or size(); the hash is computed only where no kept pattern matched.
std::size_t pattern_set::find(std::span<std::byte const> result, std::uint64_t& hash) const {
  auto const kept = std::min(kept_, patterns_.size());
  for (std::size_t i = 0; i < kept; ++i) {
    auto const& copy = patterns_[i].copy;
    if (copy.size() == result.size() && (copy.empty() || std::memcmp(copy.data(), result.data(), copy.size()) == 0)) return i;
  }
  hash = hash_of(result);
  for (std::size_t i = kept; i < patterns_.size(); ++i) {
    if (patterns_[i].hash == hash && patterns_[i].bytes == result.size()) return i;
  }
  return patterns_.size();
}

std::size_t pattern_set::add(std::span<std::byte const> result) {
  std::uint64_t hash = 0;
  auto const index = find(result, hash);
  if (index == patterns_.size()) {
    pattern p{.hash = hash, .first_result = results_, .results = 0, .bytes = result.size(), .copy = {}};
    if (index < kept_) p.copy.assign(result.begin(), result.end());
    patterns_.push_back(std::move(p));
  }
  ++patterns_[index].results;
  ++results_;
  return index;
}

}  // namespace tessera::inline v0_1::verify
