// The configuration header: the only place in the library where the preprocessor decides anything.
#pragma once

#define TESSERA_VERSION_MAJOR 0
#define TESSERA_VERSION_MINOR 1
#define TESSERA_VERSION_PATCH 0

// A function that runs inside a kernel, on every lane of a block, on both backends; also what a user writes before the call operator of
// a kernel functor. Inlining is asked for because the state of a block (its scratch stack) must fold to constants.
#if defined(__CUDACC__)
#define TESSERA_TILE __host__ __device__ __forceinline__
// In front of a template that calls what it was given: whether that is host or device code is the caller's business.
#define TESSERA_CALLS_ARGUMENT _Pragma("nv_exec_check_disable")
#else
#define TESSERA_TILE inline
#define TESSERA_CALLS_ARGUMENT
#endif

// Loops over registers must vanish on the device; on the host they stay loops.
#if defined(__CUDA_ARCH__)
#define TESSERA_UNROLL _Pragma("unroll")
#define TESSERA_NO_UNROLL _Pragma("unroll 1")
#else
#define TESSERA_UNROLL
#define TESSERA_NO_UNROLL
#endif

// Threads that a multiprocessor holds at once.
#if defined(__CUDA_ARCH__)
#if __CUDA_ARCH__ < 800
#define TESSERA_RESIDENT_THREADS 1024
#elif __CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 870 || __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1100
#define TESSERA_RESIDENT_THREADS 1536
#else
#define TESSERA_RESIDENT_THREADS 2048
#endif
#else
#define TESSERA_RESIDENT_THREADS 2048
#endif

// The host backend computes the same bits as the device; a compiler that was told to reassociate, to contract across statements or to
// forget about NaN and signed zeros cannot. Compilers that set no macro for it are found by a self-test when the backend starts.
#if !defined(__CUDA_ARCH__)
#if defined(__FAST_MATH__)
#error "tessera: the host backend needs IEEE arithmetic; compile this file without -ffast-math"
#endif
#if defined(__ASSOCIATIVE_MATH__)
#error "tessera: the host backend needs IEEE arithmetic; compile this file without -fassociative-math"
#endif
#if defined(__NO_SIGNED_ZEROS__)
#error "tessera: the host backend needs IEEE arithmetic; compile this file without -fno-signed-zeros"
#endif
#if defined(__FINITE_MATH_ONLY__)
#if __FINITE_MATH_ONLY__ == 1
#error "tessera: the host backend needs IEEE arithmetic; compile this file without -ffinite-math-only"
#endif
#endif
#if defined(__FLT_EVAL_METHOD__)
#if __FLT_EVAL_METHOD__ != 0 && __FLT_EVAL_METHOD__ != 16
#error "tessera: the host backend needs arithmetic in the type itself; compile this file with -mfpmath=sse or for a 64-bit target"
#endif
#endif
#endif

// A value that the host compiler can see neither through nor around: what was a product before it can take part in no contraction after it.
#if defined(__x86_64__)
#define TESSERA_HOST_BARRIER(value) asm volatile("" : "+x"(value))
#elif defined(__aarch64__)
#define TESSERA_HOST_BARRIER(value) asm volatile("" : "+w"(value))
#else
#define TESSERA_HOST_BARRIER(value) asm volatile("" : "+m"(value))
#endif

// Sixteen bytes to an address aligned to them, past the caches where the machine can: what is larger than these need not go through them,
// and is not read before it is written. What was streamed is in order for other threads after the fence.
#if defined(__x86_64__)
#define TESSERA_HOST_STREAM(to, vector) asm volatile("movntps %1, %0" : "=m"(*(to)) : "x"(vector))
#define TESSERA_HOST_STREAM_FENCE() asm volatile("sfence" : : : "memory")
#else
#define TESSERA_HOST_STREAM(to, vector) (*(to) = (vector))
#define TESSERA_HOST_STREAM_FENCE() (void)0
#endif

namespace tessera::inline v0_1 {

// Bytes of block scratch when a launch names none: small, since occupancy is the user's.
inline constexpr int default_scratch_bytes = 4096;

// Threads that shall fit on one multiprocessor together when a launch says nothing else: enough to keep the memory busy.
inline constexpr int default_resident_threads = 640;

}  // namespace tessera::inline v0_1
