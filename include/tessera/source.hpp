// What is read by index: a view of one dimension, counted numbers, or a function of such.
#pragma once

#include <cuda/std/cstdint>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>

#include <tessera/arithmetic.hpp>
#include <tessera/config.hpp>
#include <tessera/error.hpp>
#include <tessera/view.hpp>

namespace tessera::inline v0_1 {

// Anything with extent(0) elements, element i being source(i): a view, counting(), transformed(), a type of one's own. By value in a
// kernel.
template <class S>
concept source = cuda::std::is_copy_constructible_v<S> && requires(S const& s, cuda::std::int64_t i) {
  { s.extent(0) } -> cuda::std::convertible_to<cuda::std::int64_t>;
  s(i);
};

template <class S>
using source_value = cuda::std::remove_cvref_t<decltype(cuda::std::declval<S const&>()(cuda::std::int64_t{}))>;

namespace detail {

// Dimensions of a source.
template <class S>
inline constexpr int source_rank = 1;
template <array_like S>
inline constexpr int source_rank<S> = static_cast<int>(S::rank());

// A view in the library's own form; every other source as it is.
template <class S>
TESSERA_TILE constexpr auto as_source(S const& s) {
  if constexpr (array_like<S>) {
    return as_view(s);
  } else {
    return s;
  }
}

template <class T>
class counted_numbers {
 public:
  TESSERA_TILE constexpr counted_numbers(T first, index64 count) : first_(first), count_(count) {}
  TESSERA_TILE constexpr cuda::std::int64_t extent(int) const { return count_; }
  TESSERA_TILE constexpr T operator()(cuda::std::int64_t i) const { return add(first_, static_cast<T>(i)); }

 private:
  T first_;
  cuda::std::int64_t count_;
};

template <class Function, class... Sources>
class transformed_source {
 public:
  using value_type = cuda::std::remove_cvref_t<cuda::std::invoke_result_t<Function const&, source_value<Sources>...>>;

  TESSERA_TILE constexpr transformed_source(Function const& function, Sources const&... sources)
      : function_(function), sources_(sources...) {}
  TESSERA_TILE constexpr cuda::std::int64_t extent(int) const { return cuda::std::get<0>(sources_).extent(0); }
  TESSERA_CALLS_ARGUMENT
  TESSERA_TILE value_type operator()(cuda::std::int64_t i) const { return of(i, cuda::std::index_sequence_for<Sources...>{}); }

  // The function of an element that was read elsewhere.
  TESSERA_CALLS_ARGUMENT
  TESSERA_TILE value_type apply(source_value<Sources> const&... elements) const { return rounded(value_type(function_(elements...))); }
  TESSERA_TILE constexpr auto const& first_source() const { return cuda::std::get<0>(sources_); }

 private:
  TESSERA_CALLS_ARGUMENT
  template <cuda::std::size_t... I>
  TESSERA_TILE value_type of(cuda::std::int64_t i, cuda::std::index_sequence<I...>) const {
    return apply(cuda::std::get<I>(sources_)(i)...);
  }

  Function function_;
  cuda::std::tuple<Sources...> sources_;
};

inline void require_equal_extents(cuda::std::int64_t first, cuda::std::int64_t other) {
  if (first != other)
    throw usage_error("transformed: a source has " + std::to_string(other) + " elements, the first one " + std::to_string(first));
}

}  // namespace detail

// first, first + 1, ...: `count` numbers.
template <class T>
TESSERA_TILE constexpr auto counting(T first, index64 count) {
  return detail::counted_numbers<T>(first, count);
}

// Element i is function(a(i), b(i), ...), a floating-point result rounded before anything is done with it. The sources have the same number
// of elements, else usage_error (host). The function is called where the elements are read, on the device for the CUDA backend.
template <class Function, class First, class... Sources>
auto transformed(Function const& function, First const& first, Sources const&... sources) {
  (detail::require_equal_extents(first.extent(0), sources.extent(0)), ...);
  return detail::transformed_source<Function, decltype(detail::as_source(first)), decltype(detail::as_source(sources))...>(
      function, detail::as_source(first), detail::as_source(sources)...);
}

}  // namespace tessera::inline v0_1
