// expect: a published value has 4 or 8 bytes
#include <tessera/lookback/node_word.cuh>

#ifdef TESSERA_COMPILE_FAIL_CONTROL
using value = float;
#else
using value = short;
#endif

unsigned long long size() { return sizeof(tessera::detail::node_word<value>); }
