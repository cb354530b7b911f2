// expect: bytes_of: the bits of an element that is not trivially copyable are not its value
#include <tessera/verify/bytes_of.hpp>

#include <span>
#include <string>

using namespace tessera;

void use() {
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  char elements[3] = {};
  (void)verify::bytes_of(std::span(elements));
#else
  std::string elements[3];
  (void)verify::bytes_of(std::span(elements));
#endif
}
