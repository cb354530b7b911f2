// Where `repeat` finds a result on the host: containers, spans and views as bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include <tessera/view.hpp>

namespace tessera::inline v0_1::verify {

// A function that returns the bytes which `elements` has when it is called. The memory behind the span must live as long.
template <class T, std::size_t Extent>
[[nodiscard]] auto bytes_of(std::span<T, Extent> elements) {
  static_assert(std::is_trivially_copyable_v<T>, "bytes_of: the bits of an element that is not trivially copyable are not its value");
  return [elements] { return std::as_bytes(std::span<T const>(elements)); };
}

// The same for a vector, an array, or whatever else has data() and size(); the container may grow or move its memory between calls.
template <class Container>
requires requires(Container const& c) { std::span(c.data(), c.size()); }
[[nodiscard]] auto bytes_of(Container const& container) {
  static_assert(std::is_trivially_copyable_v<typename Container::value_type>,
                "bytes_of: the bits of an element that is not trivially copyable are not its value");
  return [&container] { return std::as_bytes(std::span(container.data(), container.size())); };
}

template <class Container>
requires requires(Container const& c) { std::span(c.data(), c.size()); }
auto bytes_of(Container const&& container) = delete;  // the container would be gone before the first call

namespace detail {

template <int Axis, class View, class Element>
void append_row_major(View const& array, Element const* data, std::vector<Element>& out) {
  if constexpr (Axis == static_cast<int>(View::rank())) {
    out.push_back(*data);
  } else {
    for (cuda::std::int64_t i = 0; i < array.extent(Axis); ++i) {
      auto const bytes = static_cast<std::size_t>(i * array.mapping().byte_stride(Axis));
      append_row_major<Axis + 1>(array, byte_accessor<Element const>{}.offset(data, bytes), out);
    }
  }
}

}  // namespace detail

// The same for a view of host memory, in row-major order of its elements, whatever its strides; what lies between them is left out.
template <tessera::detail::array_like M>
[[nodiscard]] auto bytes_of(M const& array) {
  using element = std::remove_const_t<typename M::element_type>;
  static_assert(std::is_trivially_copyable_v<element>, "bytes_of: the bits of an element that is not trivially copyable are not its value");
  return [v = as_view(array), copy = std::make_shared<std::vector<element>>()] {
    copy->clear();
    detail::append_row_major<0>(v, static_cast<element const*>(v.data_handle()), *copy);
    return std::as_bytes(std::span<element const>(*copy));
  };
}

}  // namespace tessera::inline v0_1::verify
