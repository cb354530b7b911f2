// expect: bytes_of: the bits of an element that is not trivially copyable are not its value
#include <tessera/verify/bytes_of.hpp>

#include <string>

using namespace tessera;

void use(view<std::string, 1> strings, view<char, 1> characters) {
  (void)strings, (void)characters;
#ifdef TESSERA_COMPILE_FAIL_CONTROL
  (void)verify::bytes_of(characters);
#else
  (void)verify::bytes_of(strings);
#endif
}
