// Product kernels for what the compiler assumes of every CPU: SSE2 on x86-64, NEON on aarch64.
#define DYN_VECTOR_BYTES 16
#if defined(__aarch64__)
#define DYN_TILE 8
#define DYN_TILE_NARROW 12
#else
#define DYN_TILE 6
#define DYN_TILE_NARROW 8
#endif
#define DYN_KERNEL_SET baselineKernels
#define DYN_KERNEL_NAME "baseline"
#include "runtime/cpu/MatmulKernels.inc"
