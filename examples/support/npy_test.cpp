#include "npy.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace std::string_literals;

class npy_file : public testing::Test {
 protected:
  npy_file() {
    auto const* const test = testing::UnitTest::GetInstance()->current_test_info();
    path_ = (std::filesystem::temp_directory_path() / ("tessera_npy_test_"s + test->name() + ".npy")).string();
  }
  ~npy_file() override { std::filesystem::remove(path_); }

  void write(std::string const& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }

  // A file of the given version whose header is `dictionary`, and then `data`.
  void write(std::string const& dictionary, std::string const& data, int version = 1) const {
    std::string bytes = "\x93NUMPY";
    bytes += {static_cast<char>(version), '\0'};
    auto const size = dictionary.size();
    bytes += {static_cast<char>(size & 0xff), static_cast<char>(size >> 8)};
    if (version > 1) bytes += {'\0', '\0'};
    write(bytes + dictionary + data);
  }

  // The sentence that load throws.
  template <class T>
  std::string fault() const {
    try {
      (void)npy::load<T>(path_);
    } catch (npy::error const& e) {
      std::string const text = e.what();
      EXPECT_EQ(text.rfind(path_ + ": ", 0), 0u) << text;
      return text.substr(path_.size() + 2);
    }
    return "no fault";
  }

  std::string path_;
};

std::string dictionary(std::string const& descr, std::string const& order, std::string const& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

template <class T>
std::string bytes_of(std::vector<T> const& v) {
  return {reinterpret_cast<char const*>(v.data()), v.size() * sizeof(T)};
}

TEST_F(npy_file, round_trip) {
  std::vector<float> const floats = {1, -0.0f, 3.5f, 4, 5, 6};
  npy::save<float>(path_, {2, 3}, floats);
  EXPECT_EQ(std::filesystem::file_size(path_), 128u + 24u);  // as numpy.save writes it
  auto const back = npy::load<float>(path_);
  EXPECT_EQ(back.shape, (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(bytes_of(back.elements), bytes_of(floats));

  std::vector<std::int64_t> const integers = {1, std::int64_t{-1} << 63};
  npy::save<std::int64_t>(path_, {2}, integers);
  EXPECT_EQ(npy::load<std::int64_t>(path_).elements, integers);
  EXPECT_EQ(npy::read_header(path_).shape, std::vector<std::uint64_t>{2});

  npy::save<double>(path_, {0, 7}, {});
  EXPECT_TRUE(npy::load<double>(path_).elements.empty());
  npy::save<double>(path_, {}, std::vector<double>{2.5});
  EXPECT_EQ(npy::load<double>(path_).elements, std::vector<double>{2.5});
}

TEST_F(npy_file, every_version_and_spelling) {
  std::vector<std::int32_t> const values = {1, 2, 3};
  for (int version = 1; version <= 3; ++version) {
    write(dictionary("<i4", "False", "(3,)"), bytes_of(values), version);
    EXPECT_EQ(npy::load<std::int32_t>(path_).elements, values) << version;
  }
  write("{\"shape\":(3),\"fortran_order\":False,\"descr\":\"<i4\"}   \n", bytes_of(values));
  EXPECT_EQ(npy::load<std::int32_t>(path_).elements, values);
  write(dictionary("<i4", "True", "(3,)"), bytes_of(values));  // one dimension has one order
  EXPECT_EQ(npy::load<std::int32_t>(path_).elements, values);
}

TEST_F(npy_file, missing_and_unreadable) {
  EXPECT_EQ(fault<float>(), "there is no such file");
  std::filesystem::create_directory(path_);
  EXPECT_EQ(fault<float>(), "is a folder, not a .npy file");
}

TEST_F(npy_file, no_npy_file) {
  write("");
  EXPECT_EQ(fault<float>(), "is no .npy file: it is shorter than the mark that each begins with");
  write("a,b,c\n1,2,3\n");
  EXPECT_EQ(fault<float>(), "is no .npy file: it does not begin with \\x93NUMPY");
  write(dictionary("<f4", "False", "(1,)"), "1234", 4);
  EXPECT_EQ(fault<float>(), "has .npy version 4.0; versions 1.0, 2.0 and 3.0 are known");
}

TEST_F(npy_file, truncated_anywhere) {
  std::vector<float> const floats = {1, 2, 3, 4, 5, 6};
  npy::save<float>(path_, {2, 3}, floats);
  std::string whole(152, '\0');
  std::ifstream(path_, std::ios::binary).read(whole.data(), 152);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write(whole.substr(0, size));
    auto const text = fault<float>();
    if (size < 6) {
      EXPECT_EQ(text, "is no .npy file: it is shorter than the mark that each begins with") << size;
    } else if (size < 128) {
      EXPECT_EQ(text, "is truncated: it ends within its header") << size;
    } else {
      EXPECT_EQ(text, "is truncated: shape (2, 3) of '<f4' takes 152 bytes, and there are " + std::to_string(size)) << size;
    }
  }
  write(whole + "x");
  EXPECT_EQ(fault<float>(), "is longer than its header says: shape (2, 3) of '<f4' takes 152 bytes, and there are 153");
}

TEST_F(npy_file, other_types_and_orders) {
  write(dictionary(">f4", "False", "(1,)"), "1234");
  EXPECT_EQ(fault<float>(), "holds '>f4', which is big-endian; '<f4' is needed: array.astype('<f4')");
  EXPECT_EQ(fault<double>(), "holds elements of type '>f4'; '<f8' is needed");
  write(dictionary("<f8", "False", "(1,)"), "12345678");
  EXPECT_EQ(fault<float>(), "holds elements of type '<f8'; '<f4' is needed");
  write(dictionary("|b1", "False", "(1,)"), "1");
  EXPECT_EQ(fault<std::int32_t>(), "holds elements of type '|b1'; '<i4' is needed");
  write("{'descr': [('a', '<f4'), ('b', '<i4', (2, 2))], 'fortran_order': False, 'shape': (1,), }", "12345678");
  EXPECT_EQ(fault<float>(), "holds elements of type '[('a', '<f4'), ('b', '<i4', (2, 2))]'; '<f4' is needed");
  write(dictionary("<f4", "True", "(1, 2)"), "12345678");
  EXPECT_EQ(fault<float>(), "is in Fortran order; C order is needed: numpy.ascontiguousarray(array)");
}

TEST_F(npy_file, malformed_headers) {
  auto const malformed = [&](std::string const& text) {
    write(text, "1234");
    return fault<float>();
  };
  auto const begins = [](std::string const& text) { return text.rfind("its header is malformed: ", 0) == 0; };
  EXPECT_TRUE(begins(malformed("")));
  EXPECT_TRUE(begins(malformed("{")));
  EXPECT_TRUE(begins(malformed("{}")));
  EXPECT_TRUE(begins(malformed("{'descr': '<f4', 'fortran_order': False}")));
  EXPECT_TRUE(begins(malformed("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,)}")));
  EXPECT_TRUE(begins(malformed("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}")));
  EXPECT_TRUE(begins(malformed("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}")));
  EXPECT_TRUE(begins(malformed("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}")));
  EXPECT_TRUE(begins(malformed("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x")));
  EXPECT_TRUE(begins(malformed("{'descr': '<f4")));
  EXPECT_TRUE(begins(malformed("{'descr': [('a'")));
  EXPECT_EQ(malformed("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}"),
            "its header is malformed: an extent of its shape is beyond 2^63 - 1");
}

// A shape whose product overflows is refused; a zero anywhere makes the array empty, whatever the other extents.
TEST_F(npy_file, monstrous_shapes) {
  write(dictionary("<f4", "False", "(4294967296, 4294967296, 4294967296)"), "");
  EXPECT_EQ(fault<float>(), "its shape (4294967296, 4294967296, 4294967296) is beyond all memory");
  write(dictionary("<f4", "False", "(4294967296, 4294967296, 4294967296, 0)"), "");
  EXPECT_EQ(fault<float>(), "no fault");
  write(dictionary("<f4", "False", "(1000000000000,)"), "1234");  // refused by the file's size, before any memory is asked for
  EXPECT_NE(fault<float>().find("is truncated: shape (1000000000000,)"), std::string::npos);
}

TEST_F(npy_file, cannot_be_written) {
  std::vector<float> const floats = {1, 2};
  EXPECT_THROW(npy::save<float>("/nonexistent/folder/x.npy", {2}, floats), npy::error);
  EXPECT_THROW(npy::save<float>(path_, {3}, floats), npy::error);
}

}  // namespace
