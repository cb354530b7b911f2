// expect: a CUDA block has 1 to 1,024 threads
#include <tessera/tessera.cuh>

using namespace tessera;

using block =
#ifdef TESSERA_COMPILE_FAIL_CONTROL
    cuda_block<1024>;
#else
    cuda_block<1025>;
#endif
static_assert(block::size > 0);
