// expect: a published value is trivially copyable, its size a multiple of 4 bytes
#include <tessera/lookback/node_word.cuh>

#ifdef TESSERA_COMPILE_FAIL_CONTROL
using value = float;
#else
using value = short;
#endif

unsigned long long size() { return sizeof(tessera::detail::node_word<value>); }
