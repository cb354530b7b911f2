// FNV-1a, 64 bits, over the little-endian bytes of a result: the short name by which two machines compare their bits.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace tessera::inline v0_1::verify {

static_assert(std::endian::native == std::endian::little,
              "tessera's hashes are over little-endian elements: this machine is not little-endian");

// The hash of a stream of bytes that arrives in pieces; the pieces do not show in the value.
//
// Source: G. Fowler, L. C. Noll, K.-P. Vo, "The FNV Non-Cryptographic Hash Algorithm".
class fnv1a {
 public:
  // Takes in `bytes`, in order.
  constexpr fnv1a& add(std::span<std::byte const> bytes) noexcept {
    auto hash = value_;
    for (auto const byte : bytes) hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3u;
    value_ = hash;
    return *this;
  }

  // Takes in the elements of `elements`, each as its little-endian bytes.
  template <class T, std::size_t Extent>
  requires(std::has_unique_object_representations_v<T> || std::is_floating_point_v<T>) fnv1a& add(std::span<T, Extent> elements) noexcept {
    return add(std::as_bytes(std::span<T const>(elements)));
  }

  // The hash of all that was added so far.
  [[nodiscard]] constexpr std::uint64_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

// The hash of `elements` (bytes, integers or floats).
template <class T, std::size_t Extent>
[[nodiscard]] constexpr std::uint64_t hash_of(std::span<T, Extent> elements) noexcept {
  return fnv1a{}.add(elements).value();
}

}  // namespace tessera::inline v0_1::verify
