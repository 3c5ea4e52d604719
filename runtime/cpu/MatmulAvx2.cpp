// Product kernels for AVX2 with FMA: 12 of 16 registers are accumulators.
#define DYN_VECTOR_BYTES 32
#define DYN_TILE 6
#define DYN_TILE_NARROW 10
#define DYN_KERNEL_SET avx2Kernels
#define DYN_KERNEL_NAME "avx2"
#include "runtime/cpu/MatmulKernels.inc"
