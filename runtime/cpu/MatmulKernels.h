//===- MatmulKernels.h - what each instruction set offers to Matmul -------===//
//
// One source, MatmulKernels.inc, is compiled once per instruction set, each
// object with flags of its own; Matmul.cpp chooses at start by what the CPU has.
//
// C is cut in panels of columns (two vectors wide; the last may be narrower and
// is padded with zeros) and tiles of rows. The accumulators of a tile times a
// panel stay in registers through a block of k. An element of C is one chain of
// additions in the order of k, wherever tiles and threads cut.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_RUNTIME_CPU_MATMULKERNELS_H
#define DYN_RUNTIME_CPU_MATMULKERNELS_H

#include "runtime/Window.h"

#include <cstdint>

namespace dyn::cpu {

/// One matrix product C[m, n] = A B, or += A B with `accumulate`. Element (i, l) of A is a[i * rowStride + l * kStride],
/// one of the two strides being 1. B has rows [k, n], or with transposeB [n, k].
template <typename T> struct Operands {
  const T *a;
  int64_t rowStride, kStride;
  const T *b;
  int64_t bStride; ///< from row to row, as stored
  bool transposeB;
  T *c;
  int64_t cStride;
  int64_t n, k;
  bool accumulate;
  bool packed;     ///< B is read from packed panels; else in place, but for a ragged last panel
  const T *panels; ///< for rows(): what packB made of all panels, or of the last
  T *tiles;        ///< scratch for packed rows of A, kBlock steps of k; null: A is read in place
};

template <typename T> struct Kernels {
  int64_t lanes;        ///< elements a vector
  int64_t panel;        ///< columns a panel: 2 * lanes
  int64_t tile;         ///< most rows a tile
  /// Packs panels first … last - 1 of B to `out`: each [k, its padded width], one after the other.
  void (*packB)(const Operands<T> &operands, int64_t first, int64_t last, T *out);
  /// Makes rows [lo, hi) of C final; panels are packed already.
  void (*rows)(const Operands<T> &operands, int64_t lo, int64_t hi);
  /// Makes panels first … last - 1 of all m rows of C final, packing slices of B as it goes into `slice`
  /// (kBlock * panelGroup * panel elements): B is touched once.
  void (*columns)(const Operands<T> &operands, int64_t m, int64_t first, int64_t last, T *slice);
  /// An image within zeros, and back.
  void (*padImage)(const plan::Window &window, const T *image, T *padded);
  void (*cropImage)(const plan::Window &window, const T *padded, T *image);
  /// Elements [kLo, kHi) of the window at rows [yLo, yHi) of places: `out` is [kHi - kLo, places]. Reads and writes up to
  /// a vector more.
  void (*unfold)(const plan::Window &window, const T *padded, int64_t kLo, int64_t kHi, int64_t yLo, int64_t yHi, T *out);
  /// Adds all elements of the window at rows [yLo, yHi) of places to the padded image.
  void (*fold)(const plan::Window &window, const T *in, int64_t yLo, int64_t yHi, T *padded);
  /// `rounds` steps of as many independent chains of multiply-adds as a tile keeps in registers: nothing that is done
  /// with this element type is faster. The sum is there so that nothing is left out.
  T (*chains)(int64_t rounds, T scale, T shift);
  int64_t chainFlops; ///< operations of one round
  /// a = b + scale c, `count` elements: what memory, or a cache, can do.
  void (*triad)(T *a, const T *b, const T *c, T scale, int64_t count);
};

/// k is taken in blocks of this many, so that a panel of B stays in L1.
constexpr int64_t kBlock = 256;
/// Panels of B that `columns` packs together, so that it reads more than one cache line of a row at a time.
constexpr int64_t panelGroup = 4;

struct KernelSet {
  const char *name;
  Kernels<float> f32;
  Kernels<double> f64;
};

/// Always there: what the compiler's target has without asking (SSE2, NEON).
extern const KernelSet baselineKernels;
#if defined(__x86_64__)
extern const KernelSet avx2Kernels;
extern const KernelSet avx512Kernels;
#endif

/// The best set that this CPU runs.
const KernelSet &chooseKernels();

} // namespace dyn::cpu
#endif // DYN_RUNTIME_CPU_MATMULKERNELS_H
