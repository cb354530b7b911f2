#include "huge.hpp"

#include <sys/mman.h>

#include <stdexcept>

namespace {

using namespace testing_support;

// Address space, of which the pages that are touched become memory.
class reserved_memory {
 public:
  explicit reserved_memory(std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes)) {
    data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data_ == MAP_FAILED) throw std::runtime_error("test support: no address space");
  }
  ~reserved_memory() { munmap(data_, bytes_); }
  reserved_memory(reserved_memory const&) = delete;
  reserved_memory& operator=(reserved_memory const&) = delete;
  void* data() const { return data_; }
  template <class T>
  std::vector<T> values(std::int64_t first, std::int64_t count) const {
    T const* const begin = static_cast<T const*>(data_) + first;
    return {begin, begin + count};
  }

 private:
  std::size_t bytes_;
  void* data_;
};

TEST(scatter_huge, more_than_2_to_the_31_elements_Long) { check_more_than_2_to_the_31_elements<reserved_memory>(host_place<1>{}); }
TEST(scatter_huge, the_highest_row) { check_the_highest_row<reserved_memory>(host_place<1>{}); }

}  // namespace
