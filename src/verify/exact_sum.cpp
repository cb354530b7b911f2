#include <tessera/verify/exact_sum.hpp>

#include <bit>
#include <cmath>
#include <limits>

namespace tessera::inline v0_1::verify {
namespace {

constexpr std::int64_t limb_base = std::int64_t{1} << 32;
constexpr int lowest_exponent = -1074;  // the weight of the last bit of a subnormal double

}  // namespace

// fraction * 2^exponent, with the fraction an integer of at most 53 bits: a double without a limit to its exponent.
struct exact_sum::magnitude {
  bool negative = false;
  std::uint64_t fraction = 0;
  int exponent = 0;
};

void exact_sum::add(float x) noexcept {
  auto const bits = std::bit_cast<std::uint32_t>(x);
  auto const negative = (bits >> 31) != 0;
  auto const biased = (bits >> 23) & 0xff;
  auto const fraction = bits & 0x7fffffu;
  if (biased == 0xff) return count_special(negative, fraction != 0);
  constexpr auto lowest = 1074 - 149;  // the last bit of a subnormal float, seen from that of a double
  add_integer(negative, biased == 0 ? fraction : fraction | 0x800000u, lowest + (biased == 0 ? 0 : biased - 1));
}

void exact_sum::add(double x) noexcept {
  auto const bits = std::bit_cast<std::uint64_t>(x);
  auto const negative = (bits >> 63) != 0;
  auto const biased = static_cast<unsigned>((bits >> 52) & 0x7ff);
  auto const fraction = bits & ((std::uint64_t{1} << 52) - 1);
  if (biased == 0x7ff) return count_special(negative, fraction != 0);
  add_integer(negative, biased == 0 ? fraction : fraction | (std::uint64_t{1} << 52), biased == 0 ? 0 : biased - 1);
}

void exact_sum::count_special(bool negative, bool nan) noexcept {
  ++(nan ? nans_ : negative ? negative_infinities_ : positive_infinities_);
}

// fraction * 2^(position - 1074): 53 bits, moved up by less than a limb, meet at most three limbs.
void exact_sum::add_integer(bool negative, std::uint64_t fraction, unsigned position) noexcept {
  auto const limb = position / 32;
  auto const shift = position % 32;
  auto const low = (fraction & 0xffffffffu) << shift;
  auto const high = (fraction >> 32) << shift;
  auto const middle = (low >> 32) + (high & 0xffffffffu);
  auto const sign = negative ? std::int64_t{-1} : std::int64_t{1};
  limbs_[limb] += sign * static_cast<std::int64_t>(low & 0xffffffffu);
  limbs_[limb + 1] += sign * static_cast<std::int64_t>(middle);
  limbs_[limb + 2] += sign * static_cast<std::int64_t>(high >> 32);
  if (++additions_since_carry_ == limb_base / 8) carry();  // a limb grows by less than 2^33 an addition
}

// Afterwards every limb but the last is in [0, 2^32), and the last has the sign of the sum.
void exact_sum::carry() noexcept {
  std::int64_t moved = 0;
  for (std::size_t i = 0; i + 1 < limbs_.size(); ++i) {
    auto const sum = limbs_[i] + moved;
    moved = sum >> 32;
    limbs_[i] = sum - moved * limb_base;
  }
  limbs_.back() += moved;
  additions_since_carry_ = 0;
}

exact_sum::magnitude exact_sum::rounded() const noexcept {
  auto sum = *this;
  sum.carry();
  magnitude m;
  if (sum.limbs_.back() < 0) {
    m.negative = true;
    for (auto& limb : sum.limbs_) limb = -limb;
    sum.carry();
  }
  auto top = limb_count - 1;
  while (top >= 0 && sum.limbs_[static_cast<std::size_t>(top)] == 0) --top;
  if (top < 0) return magnitude{};

  // The highest 64 bits in `head`, its leading bit set; `rest` tells whether anything lies below.
  auto const limb = [&](int i) { return i < 0 ? std::uint64_t{0} : static_cast<std::uint64_t>(sum.limbs_[static_cast<std::size_t>(i)]); };
  auto const leading = std::countl_zero(static_cast<std::uint32_t>(limb(top)));
  auto const head = (limb(top) << (32 + leading)) | (limb(top - 1) << leading) | (leading == 0 ? 0 : limb(top - 2) >> (32 - leading));
  auto rest = ((limb(top - 2) << leading) & 0xffffffffu) != 0;
  for (int i = top - 3; i >= 0 && !rest; --i) rest = limb(i) != 0;

  // To nearest, ties to even: 53 bits stay, 11 go.
  m.fraction = head >> 11;
  m.exponent = lowest_exponent + 32 * (top - 1) - leading + 11;
  auto const gone = head & 0x7ff;
  if (gone > 0x400 || (gone == 0x400 && (rest || (m.fraction & 1) != 0))) ++m.fraction;
  return m;
}

double exact_sum::value() const noexcept {
  if (nans_ != 0 || (positive_infinities_ != 0 && negative_infinities_ != 0)) return std::numeric_limits<double>::quiet_NaN();
  if (positive_infinities_ != 0) return std::numeric_limits<double>::infinity();
  if (negative_infinities_ != 0) return -std::numeric_limits<double>::infinity();
  auto const m = rounded();
  // Not a second rounding: a sum among the subnormals is a multiple of 2^-1074, hence exact.
  auto const x = std::ldexp(static_cast<double>(m.fraction), m.exponent);
  return m.negative ? -x : x;
}

double exact_sum::relative_error(double computed) const noexcept {
  constexpr auto missed = std::numeric_limits<double>::infinity();
  if (!finite()) {
    auto const exact = value();
    auto const same = std::isnan(exact) ? std::isnan(computed) : exact == computed;
    return same ? 0 : missed;
  }
  if (!std::isfinite(computed)) return missed;
  auto difference = *this;
  difference.add(-computed);
  auto const error = difference.rounded();
  auto const exact = rounded();
  if (error.fraction == 0) return 0;
  if (exact.fraction == 0) return missed;
  return std::ldexp(static_cast<double>(error.fraction) / static_cast<double>(exact.fraction), error.exponent - exact.exponent);
}

}  // namespace tessera::inline v0_1::verify
