// Product kernels for AVX-512: 24 of 32 registers are accumulators.
#define DYN_VECTOR_BYTES 64
#define DYN_TILE 12
#define DYN_TILE_NARROW 14
#define DYN_KERNEL_SET avx512Kernels
#define DYN_KERNEL_NAME "avx512"
#include "runtime/cpu/MatmulKernels.inc"
