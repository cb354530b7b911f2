#include <tessera/verify/difference.hpp>

#include <cstring>
#include <iomanip>
#include <sstream>

#include <tessera/error.hpp>

namespace tessera::inline v0_1::verify {
namespace {

// Little-endian, as hash.hpp demands.
std::uint64_t bits_at(std::span<std::byte const> bytes, std::size_t index, std::size_t element_bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + index * element_bytes, element_bytes);
  return bits;
}

}  // namespace

std::optional<difference> first_difference(std::span<std::byte const> left, std::span<std::byte const> right, std::size_t element_bytes) {
  if (element_bytes != 1 && element_bytes != 2 && element_bytes != 4 && element_bytes != 8) {
    throw usage_error("first_difference: element_bytes is " + std::to_string(element_bytes) + ", and must be 1, 2, 4 or 8");
  }
  if (left.size() != right.size()) {
    throw usage_error("first_difference: the buffers have " + std::to_string(left.size()) + " and " + std::to_string(right.size()) +
                      " bytes");
  }
  if (left.size() % element_bytes != 0) {
    throw usage_error("first_difference: " + std::to_string(left.size()) + " bytes are no whole number of elements of " +
                      std::to_string(element_bytes) + " bytes");
  }
  if (left.empty() || std::memcmp(left.data(), right.data(), left.size()) == 0) return std::nullopt;

  difference d{.elements = left.size() / element_bytes, .element_bytes = element_bytes};
  for (std::size_t i = 0; i < d.elements; ++i) {
    auto const l = bits_at(left, i, element_bytes);
    auto const r = bits_at(right, i, element_bytes);
    if (l == r) continue;
    if (d.differing++ == 0) {
      d.index = i;
      d.left_bits = l;
      d.right_bits = r;
    }
  }
  return d;
}

std::string to_string(difference const& d) {
  auto const digits = static_cast<int>(2 * d.element_bytes);
  std::ostringstream out;
  out << "element " << d.index << " of " << d.elements << ": " << std::hex << std::setfill('0');
  out << std::setw(digits) << d.left_bits << " and " << std::setw(digits) << d.right_bits;
  out << std::dec << "; " << d.differing << (d.differing == 1 ? " differs" : " differ");
  return out.str();
}

}  // namespace tessera::inline v0_1::verify
