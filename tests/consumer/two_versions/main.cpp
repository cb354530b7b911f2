#include <cstdint>
#include <cstdio>
#include <cstring>

std::uint64_t use_v0_1(char const** name);
std::uint64_t use_v9_9(char const** name);

int main() {
  char const *first = nullptr, *second = nullptr;
  std::uint64_t const a = use_v0_1(&first), b = use_v9_9(&second);
  std::printf("%s %llx\n%s %llx\n", first, static_cast<unsigned long long>(a), second, static_cast<unsigned long long>(b));
  return a != 0 && a == b && std::strcmp(first, second) != 0 ? 0 : 1;
}
