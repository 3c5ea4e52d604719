//===- Scratch.h - memory that routines of the runtime are lent -----------===//
//
// A routine that a step calls allocates nothing: the compiler asks here how
// many bytes it writes besides its results, and the plan gives it a place.
// Header only, so that the compiler need not link the routines.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <algorithm>
#include <cstdint>

namespace dyn::scratch {

/// LAPACK's block of columns: work space for so many makes its blocked code run.
constexpr int64_t block = 32;
/// Fortran's INTEGER.
constexpr int64_t intBytes = 4;

/// Keys and places of the longest line, twice: one is sorted into the other.
constexpr int64_t argsort(int64_t longest) { return 4 * longest * 8; }

/// All below: bytes for matrices of elements of `unit` bytes. Whole numbers stand behind the elements.
constexpr int64_t qr(int64_t rows, int64_t columns, int64_t unit) {
  return (rows * columns + columns + block * columns) * unit;
}

/// xSYEVD with vectors: 1 + 6n + 2n^2 elements, 3 + 5n whole numbers; and the matrix.
constexpr int64_t eighWork(int64_t n) { return 1 + 6 * n + 2 * n * n; }
constexpr int64_t eighInts(int64_t n) { return 3 + 5 * n; }
constexpr int64_t eigh(int64_t n, int64_t unit) { return (n * n + eighWork(n)) * unit + eighInts(n) * intBytes; }

/// xGESDD, job S: 4k^2 + 7k elements at least, 8k whole numbers; more lets it work on blocks.
constexpr int64_t svdWork(int64_t m, int64_t n) {
  int64_t k = std::min(m, n);
  return 4 * k * k + 7 * k + 2 * block * (m + n);
}
constexpr int64_t svd(int64_t m, int64_t n, int64_t unit) {
  int64_t k = std::min(m, n);
  return (m * n + n * k + svdWork(m, n)) * unit + 8 * k * intBytes;
}

/// The factors, the right sides by columns, the row exchanges.
constexpr int64_t solve(int64_t n, int64_t columns, int64_t unit) {
  return (n * n + n * columns) * unit + n * intBytes;
}
constexpr int64_t logDet(int64_t n, int64_t unit) { return n * n * unit + n * intBytes; }

/// The roots of unity and two copies of a line, complex doubles.
constexpr int64_t fft(int64_t n) { return 3 * n * 16; }

} // namespace dyn::scratch
