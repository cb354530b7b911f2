// Reads and writes .npy files (numpy.save), versions 1 to 3. Strict: what is read is exactly what the file says, or an exception whose one
// sentence names the file and the fault.
#pragma once

#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace npy {

static_assert(std::endian::native == std::endian::little, "npy.hpp reads and writes little-endian files on little-endian machines");

// A file that cannot be read or written as asked.
class error : public std::runtime_error {
 public:
  error(std::string const& path, std::string const& fault) : std::runtime_error(path + ": " + fault) {}
};

// The type of an element, as .npy files call it.
template <class T>
inline constexpr std::string_view descr = "";
template <>
inline constexpr std::string_view descr<float> = "<f4";
template <>
inline constexpr std::string_view descr<double> = "<f8";
template <>
inline constexpr std::string_view descr<std::int32_t> = "<i4";
template <>
inline constexpr std::string_view descr<std::int64_t> = "<i8";

// What a file says about its array.
struct header {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
  std::uint64_t data_offset = 0;  // bytes before the first element
};

// An array of any rank, in C order.
template <class T>
struct array {
  std::vector<std::uint64_t> shape;
  std::vector<T> elements;
};

inline std::string shape_text(std::vector<std::uint64_t> const& shape) {
  std::string text = "(";
  for (std::size_t d = 0; d < shape.size(); ++d)
    text += (d == 0 ? "" : " ") + std::to_string(shape[d]) + (d + 1 < shape.size() || d == 0 ? "," : "");
  return text + ")";
}

namespace detail {

// The header's dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }, keys in any order, each once.
class header_parser {
 public:
  header_parser(std::string const& path, std::string_view text) : path_(path), text_(text) {}

  header parse() {
    header result;
    bool descr_seen = false, order_seen = false, shape_seen = false;
    expect('{');
    while (!take('}')) {
      auto const key = string();
      expect(':');
      if (key == "descr" && !descr_seen) {
        descr_seen = true;
        result.descr = peek() == '[' ? structured() : string();
      } else if (key == "fortran_order" && !order_seen) {
        order_seen = true;
        result.fortran_order = boolean();
      } else if (key == "shape" && !shape_seen) {
        shape_seen = true;
        result.shape = tuple();
      } else {
        fail("the key '" + std::string(key) + "' is unknown or comes twice");
      }
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    if (peek() != '\0') fail("something follows the dictionary");
    if (!descr_seen || !order_seen || !shape_seen) fail("one of 'descr', 'fortran_order' and 'shape' is missing");
    return result;
  }

 private:
  [[noreturn]] void fail(std::string const& what) const { throw error(path_, "its header is malformed: " + what); }

  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(std::string("'") + c + "' is missing at byte " + std::to_string(at_));
  }
  std::string string() {
    auto const quote = peek();
    if (quote != '\'' && quote != '"') fail("a string is missing at byte " + std::to_string(at_));
    auto const end = text_.find(quote, ++at_);
    if (end == std::string_view::npos) fail("a string has no end");
    auto const result = text_.substr(at_, end - at_);
    at_ = end + 1;
    return std::string(result);
  }
  // The list of fields of a structured type, as it stands: no reader here takes one.
  std::string structured() {
    auto const begin = at_;
    int depth = 0;
    do {
      auto const c = peek();
      if (c == '\0') fail("the list of fields has no end");
      if (c == '\'' || c == '"') {
        string();
        continue;
      }
      depth += c == '[' ? 1 : c == ']' ? -1 : 0;
      ++at_;
    } while (depth > 0);
    return std::string(text_.substr(begin, at_ - begin));
  }
  bool boolean() {
    peek();
    for (bool const value : {false, true}) {
      std::string_view const word = value ? "True" : "False";
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return value;
      }
    }
    fail("'fortran_order' is neither True nor False");
  }
  std::vector<std::uint64_t> tuple() {
    std::vector<std::uint64_t> result;
    expect('(');
    while (!take(')')) {
      result.push_back(number());
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return result;
  }
  std::uint64_t number() {
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    std::uint64_t value = 0;
    auto const begin = (peek(), at_);
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      auto const digit = static_cast<std::uint64_t>(text_[at_] - '0');
      if (value > (most - digit) / 10) fail("an extent of its shape is beyond 2^63 - 1");
      value = value * 10 + digit;
    }
    if (at_ == begin) fail("a number of its shape is missing at byte " + std::to_string(at_));
    return value;
  }

  std::string const& path_;
  std::string_view text_;
  std::size_t at_ = 0;
};

inline std::ifstream open(std::string const& path) {
  std::error_code code;
  auto const status = std::filesystem::status(path, code);
  if (!std::filesystem::exists(status)) throw error(path, "there is no such file");
  if (std::filesystem::is_directory(status)) throw error(path, "is a folder, not a .npy file");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw error(path, std::string("cannot be opened: ") + std::strerror(errno));
  return file;
}

// Reads up to `size` bytes; tells how many there were.
inline std::size_t read(std::ifstream& file, void* to, std::size_t size) {
  file.read(static_cast<char*>(to), static_cast<std::streamsize>(size));
  return static_cast<std::size_t>(file.gcount());
}

inline header read_header(std::string const& path, std::ifstream& file) {
  std::array<unsigned char, 12> start{};
  auto const truncated = [&] { return error(path, "is truncated: it ends within its header"); };
  if (read(file, start.data(), 8) < 8) {
    if (std::memcmp(start.data(), "\x93NUMPY", 6) == 0) throw truncated();
    throw error(path, "is no .npy file: it is shorter than the mark that each begins with");
  }
  if (std::memcmp(start.data(), "\x93NUMPY", 6) != 0) throw error(path, "is no .npy file: it does not begin with \\x93NUMPY");
  unsigned const major = start[6];
  unsigned const minor = start[7];
  if (major < 1 || major > 3 || minor != 0) {
    throw error(path, "has .npy version " + std::to_string(major) + "." + std::to_string(minor) + "; versions 1.0, 2.0 and 3.0 are known");
  }
  std::size_t const length_bytes = major == 1 ? 2 : 4;
  if (read(file, start.data() + 8, length_bytes) < length_bytes) throw truncated();
  std::uint64_t length = 0;
  for (std::size_t i = length_bytes; i-- > 0;) length = length << 8 | start[8 + i];
  if (length > (1u << 24)) throw error(path, "its header is malformed: it claims " + std::to_string(length) + " bytes");
  std::string text(static_cast<std::size_t>(length), '\0');
  if (read(file, text.data(), text.size()) < text.size()) throw truncated();
  auto result = header_parser(path, text).parse();
  result.data_offset = 8 + length_bytes + length;
  return result;
}

}  // namespace detail

// What the file says about its array; reads no elements.
inline header read_header(std::string const& path) {
  auto file = detail::open(path);
  return detail::read_header(path, file);
}

// The array in the file. T is float, double, int32 or int64, and the file must hold exactly that, little-endian and in C order; its size
// must be what the header says.
template <class T>
array<T> load(std::string const& path) {
  static_assert(!descr<T>.empty(), "npy::load reads float, double, std::int32_t and std::int64_t");
  auto file = detail::open(path);
  auto const head = detail::read_header(path, file);
  if (head.descr != descr<T>) {
    auto const swapped = head.descr.size() > 1 && head.descr[0] == '>' && head.descr.substr(1) == descr<T>.substr(1);
    if (swapped)
      throw error(path, "holds '" + head.descr + "', which is big-endian; '" + std::string(descr<T>) + "' is needed: array.astype('" +
                            std::string(descr<T>) + "')");
    throw error(path, "holds elements of type '" + head.descr + "'; '" + std::string(descr<T>) + "' is needed");
  }
  if (head.fortran_order && head.shape.size() > 1) {
    throw error(path, "is in Fortran order; C order is needed: numpy.ascontiguousarray(array)");
  }

  std::uint64_t count = 1;
  auto const empty = [&] {
    for (auto const extent : head.shape) {
      if (extent == 0) return true;
    }
    return false;
  }();
  for (auto const extent : head.shape) {
    if (empty) {
      count = 0;
      break;
    }
    if (extent > std::numeric_limits<std::int64_t>::max() / sizeof(T) / count)
      throw error(path, "its shape " + shape_text(head.shape) + " is beyond all memory");
    count *= extent;
  }
  // Asked of the file, not of the header, so that a damaged header cannot make us reserve what is not there.
  std::error_code code;
  auto const size = std::filesystem::file_size(path, code);
  auto const expected = head.data_offset + count * sizeof(T);
  if (!code && size < expected) {
    throw error(path, "is truncated: shape " + shape_text(head.shape) + " of '" + head.descr + "' takes " + std::to_string(expected) +
                          " bytes, and there are " + std::to_string(size));
  }
  if (!code && size > expected) {
    throw error(path, "is longer than its header says: shape " + shape_text(head.shape) + " of '" + head.descr + "' takes " +
                          std::to_string(expected) + " bytes, and there are " + std::to_string(size));
  }

  array<T> result{head.shape, std::vector<T>(static_cast<std::size_t>(count))};
  auto const bytes = result.elements.size() * sizeof(T);
  if (detail::read(file, result.elements.data(), bytes) < bytes) throw error(path, "is truncated: it ends before its last element");
  return result;
}

// Writes elements of the given shape, in C order, as a version 1.0 file.
template <class T>
void save(std::string const& path, std::vector<std::uint64_t> const& shape, std::span<T const> elements) {
  static_assert(!descr<T>.empty(), "npy::save writes float, double, std::int32_t and std::int64_t");
  std::uint64_t count = 1;
  for (auto const extent : shape) count *= extent;
  if (count != elements.size())
    throw error(path, "not written: shape " + shape_text(shape) + " does not have " + std::to_string(elements.size()) + " elements");
  auto text = "{'descr': '" + std::string(descr<T>) + "', 'fortran_order': False, 'shape': " + shape_text(shape) + ", }";
  text.append(63 - (10 + text.size()) % 64, ' ');
  text += '\n';
  std::string const start{
      '\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  std::ofstream file(path, std::ios::binary);
  if (!file) throw error(path, std::string("cannot be written: ") + std::strerror(errno));
  file << start << text;
  file.write(reinterpret_cast<char const*>(elements.data()), static_cast<std::streamsize>(elements.size_bytes()));
  file.close();
  if (!file) throw error(path, "could not be written whole: is the disk full?");
}

}  // namespace npy
