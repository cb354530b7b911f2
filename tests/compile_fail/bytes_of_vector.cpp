// expect: bytes_of: the bits of an element that is not trivially copyable are not its value
#include <tessera/verify/bytes_of.hpp>

#include <string>
#include <vector>

using namespace tessera;

void use() {
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  std::vector<char> const elements(3);
  (void)verify::bytes_of(elements);
#else
  std::vector<std::string> const elements(3);
  (void)verify::bytes_of(elements);
#endif
}
