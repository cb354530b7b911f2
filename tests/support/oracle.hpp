// The oracles: the dumbest code that says what the library must compute. Shares nothing with it.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

namespace testing_support {

// The sum of every oracle: rounded where it is made, since it goes through a volatile; integers wrap.
struct rounded_sum {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
    } else {
      T volatile result = a + b;
      return result;
    }
  }
};

// A product that is rounded before anything is done with it.
template <class T>
T rounded_product(T a, T b) {
  T volatile result = a * b;
  return result;
}

// D as a binary counter that carries, and is collapsed smallest first. For non-empty lists; compiled without contraction or reassociation,
// since every sum goes through a volatile. With `Join`, the tree of another operator.
template <class T, class Join = rounded_sum>
class dyadic_counter {
 public:
  explicit dyadic_counter(Join const& join = {}) : join_(join) {}
  void push(T value) {
    int level = 0;
    for (; !nodes_.empty() && nodes_.back().level == level; ++level) {
      value = join_(nodes_.back().value, value);
      nodes_.pop_back();
    }
    nodes_.push_back({value, level});
  }
  bool empty() const { return nodes_.empty(); }
  T collapse() const {
    T value = nodes_.back().value;
    for (std::size_t i = nodes_.size() - 1; i-- > 0;) value = join_(nodes_[i].value, value);
    return value;
  }

  static T sum(T a, T b) { return rounded_sum{}(a, b); }

 private:
  struct node {
    T value;
    int level;
  };
  Join join_;
  std::vector<node> nodes_;
};

// D of each prefix of a list, NaN as they come.
template <class T, class Join = rounded_sum>
std::vector<T> dyadic_prefixes(std::vector<T> const& values, Join const& join = {}) {
  dyadic_counter<T, Join> counter(join);
  std::vector<T> prefixes;
  prefixes.reserve(values.size());
  for (T const& value : values) {
    counter.push(value);
    prefixes.push_back(counter.collapse());
  }
  return prefixes;
}

template <class T>
T canonical_nan(T value) {
  if constexpr (std::is_same_v<T, float>) {
    std::uint32_t b;
    std::memcpy(&b, &value, sizeof(b));
    if ((b & 0x7FFFFFFFu) > 0x7F800000u) {
      b = 0x7FFFFFFFu;
      std::memcpy(&value, &b, sizeof(b));
    }
  } else if constexpr (std::is_same_v<T, double>) {
    std::uint64_t b;
    std::memcpy(&b, &value, sizeof(b));
    if ((b & 0x7FFFFFFFFFFFFFFFull) > 0x7FF0000000000000ull) {
      b = 0x7FFFFFFFFFFFFFFFull;
      std::memcpy(&value, &b, sizeof(b));
    }
  }
  return value;
}

// D of a non-empty list, a NaN canonical.
template <class T>
T dyadic_sum(std::vector<T> const& values) {
  dyadic_counter<T> counter;
  for (T value : values) counter.push(value);
  return canonical_nan(counter.collapse());
}

// What a deterministic row scatter leaves in a dense, row-major destination of `columns` columns: records in order of position, indices
// outside 0 .. rows - 1 skipped.
template <class T, class I>
std::vector<T> scatter_add(std::vector<T> destination, std::int64_t columns, std::vector<T> const& values, std::vector<I> const& indices) {
  std::int64_t const rows = columns == 0 ? 0 : static_cast<std::int64_t>(destination.size()) / columns;
  std::vector<dyadic_counter<T>> sums(destination.size());
  for (std::size_t record = 0; record < indices.size(); ++record) {
    auto const row = static_cast<std::int64_t>(indices[record]);
    if (row < 0 || row >= rows) continue;
    for (std::int64_t c = 0; c < columns; ++c) {
      sums[static_cast<std::size_t>(row * columns + c)].push(
          values[record * static_cast<std::size_t>(columns) + static_cast<std::size_t>(c)]);
    }
  }
  for (std::size_t i = 0; i < destination.size(); ++i) {
    if (!sums[i].empty()) destination[i] = canonical_nan(dyadic_counter<T>::sum(destination[i], sums[i].collapse()));
  }
  return destination;
}

// Integers from a generator that is the same everywhere (splitmix64).
class integers {
 public:
  explicit integers(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  // 0 .. bound - 1.
  std::int64_t below(std::int64_t bound) { return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(bound)); }

 private:
  std::uint64_t state_;
};

// Values that round: random sign and mantissa over 24 binades.
template <class T>
std::vector<T> rounding_values(std::size_t count, std::uint64_t seed) {
  integers random(seed);
  std::vector<T> values(count);
  for (T& value : values) {
    if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(random.next());
    } else {
      auto const mantissa = static_cast<double>(static_cast<std::int64_t>(random.next()) >> 11);
      value = static_cast<T>(std::ldexp(mantissa, -52 + static_cast<int>(random.below(24)) - 12));
    }
  }
  return values;
}

}  // namespace testing_support
