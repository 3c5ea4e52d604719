//===- Lapack.cpp - decompositions of matrices ----------------------------===//
//
// Between row-major matrices in the plan's memory and LAPACK, which has them
// by columns and takes all work space from its caller. The reference LAPACK
// and BLAS run in one thread and in one order, so bits depend on nothing else.
//
//===----------------------------------------------------------------------===//
#include "runtime/Scratch.h"
#include "runtime/abi.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace {

using Int = int32_t;

//===----------------------------------------------------------------------===//
// LAPACK by element type. Lengths of the letters follow the arguments, as gfortran passes them.
//===----------------------------------------------------------------------===//

extern "C" {
#define DYN_LAPACK(P, T)                                                                                               \
  void P##potrf_(const char *, const Int *, T *, const Int *, Int *, size_t);                                          \
  void P##geqrf_(const Int *, const Int *, T *, const Int *, T *, T *, const Int *, Int *);                            \
  void P##orgqr_(const Int *, const Int *, const Int *, T *, const Int *, const T *, T *, const Int *, Int *);         \
  void P##syevd_(const char *, const char *, const Int *, T *, const Int *, T *, T *, const Int *, Int *, const Int *, \
                 Int *, size_t, size_t);                                                                               \
  void P##gesdd_(const char *, const Int *, const Int *, T *, const Int *, T *, T *, const Int *, T *, const Int *,    \
                 T *, const Int *, Int *, Int *, size_t);                                                              \
  void P##getrf_(const Int *, const Int *, T *, const Int *, Int *, Int *);                                            \
  void P##getrs_(const char *, const Int *, const Int *, const T *, const Int *, const Int *, T *, const Int *, Int *, \
                 size_t);                                                                                              \
  void P##trsm_(const char *, const char *, const char *, const char *, const Int *, const Int *, const T *,           \
                const T *, const Int *, T *, const Int *, size_t, size_t, size_t, size_t);
DYN_LAPACK(s, float)
DYN_LAPACK(d, double)
#undef DYN_LAPACK
}

template <typename T> struct Lapack;
#define DYN_LAPACK(P, T)                                                                                               \
  template <> struct Lapack<T> {                                                                                       \
    static constexpr auto potrf = P##potrf_;                                                                           \
    static constexpr auto geqrf = P##geqrf_;                                                                           \
    static constexpr auto orgqr = P##orgqr_;                                                                           \
    static constexpr auto syevd = P##syevd_;                                                                           \
    static constexpr auto gesdd = P##gesdd_;                                                                           \
    static constexpr auto getrf = P##getrf_;                                                                           \
    static constexpr auto getrs = P##getrs_;                                                                           \
    static constexpr auto trsm = P##trsm_;                                                                             \
  };
DYN_LAPACK(s, float)
DYN_LAPACK(d, double)
#undef DYN_LAPACK

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

template <typename T> bool isFinite(const T *x, int64_t count) {
  return std::all_of(x, x + count, [](T value) { return std::isfinite(value); });
}

/// The transpose of a row-major [rows, columns]: the same matrix by columns.
template <typename T> void transpose(const T *from, T *to, int64_t rows, int64_t columns) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      to[j * rows + i] = from[i * columns + j];
}

template <typename T> void symmetrize(const T *from, T *to, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j)
      to[i * n + j] = to[j * n + i] = T(0.5) * (from[i * n + j] + from[j * n + i]);
}

/// Vectors that lie one after the other, each of `size` elements. One whose first element at least half as large as the
/// largest is negative is turned round, and so is its partner in `also`.
template <typename T> void orient(T *vectors, int64_t count, int64_t size, T *also, int64_t alsoSize) {
  for (int64_t j = 0; j < count; ++j) {
    T *vector = vectors + j * size, largest = 0;
    for (int64_t i = 0; i < size; ++i)
      largest = std::max(largest, std::fabs(vector[i]));
    T *first = std::find_if(vector, vector + size, [&](T x) { return std::fabs(x) >= largest / 2; });
    if (first == vector + size || *first >= 0)
      continue;
    std::transform(vector, vector + size, vector, [](T x) { return -x; });
    if (also)
      std::transform(also + j * alsoSize, also + (j + 1) * alsoSize, also + j * alsoSize, [](T x) { return -x; });
  }
}

/// One call: what generated code handed over, and where its arrays are for each matrix of the batch.
template <typename T> struct Call {
  DynContext *ctx;
  int32_t site;
  const int64_t *numbers;
  void *const *arrays;

  T *array(int number) const { return static_cast<T *>(arrays[number]); }
  void fail(DynMatrixFault fault, int64_t pivot) const { dyn_fail(ctx, DYN_NO_RESULT, site, fault, pivot); }
};

template <typename T> void fillWithNan(T *x, int64_t count) {
  std::fill_n(x, count, std::numeric_limits<T>::quiet_NaN());
}

//===----------------------------------------------------------------------===//
// One routine each
//===----------------------------------------------------------------------===//

/// The upper factor of the columns is the lower one of the rows.
template <typename T> void cholesky(const Call<T> &call) {
  int64_t n = call.numbers[1];
  Int size = Int(n), info = 0;
  for (int64_t b = 0; n && b < call.numbers[0]; ++b) {
    const T *a = call.array(0) + b * n * n;
    T *l = call.array(1) + b * n * n;
    if (!isFinite(a, n * n)) {
      fillWithNan(l, n * n);
      continue;
    }
    symmetrize(a, l, n);
    Lapack<T>::potrf("U", &size, l, &size, &info, 1);
    if (info > 0)
      return call.fail(DYN_NOT_POSITIVE, info - 1);
    for (int64_t i = 0; i < n; ++i)
      std::fill(l + i * n + i + 1, l + (i + 1) * n, T(0));
  }
}

template <typename T> void qr(const Call<T> &call) {
  int64_t m = call.numbers[1], n = call.numbers[2];
  T *a = call.array(3), *tau = a + m * n, *work = tau + n;
  Int rows = Int(m), columns = Int(n), length = Int(dyn::scratch::block * n), info = 0;
  for (int64_t b = 0; n && b < call.numbers[0]; ++b) {
    const T *from = call.array(0) + b * m * n;
    T *q = call.array(1) + b * m * n, *r = call.array(2) + b * n * n;
    if (!isFinite(from, m * n)) {
      fillWithNan(q, m * n);
      fillWithNan(r, n * n);
      continue;
    }
    transpose(from, a, m, n);
    Lapack<T>::geqrf(&rows, &columns, a, &rows, tau, work, &length, &info);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j)
        r[i * n + j] = j < i ? T(0) : a[i * m + i] < 0 ? -a[j * m + i] : a[j * m + i];
    // Which columns turn, before Q takes the place of the factors: a first row of Q keeps it.
    for (int64_t j = 0; j < n; ++j)
      q[j] = a[j * m + j];
    Lapack<T>::orgqr(&rows, &columns, &columns, a, &rows, tau, work, &length, &info);
    for (int64_t j = 0; j < n; ++j)
      if (q[j] < 0)
        std::transform(a + j * m, a + (j + 1) * m, a + j * m, [](T x) { return -x; });
    transpose(a, q, n, m);
  }
}

template <typename T> void eigh(const Call<T> &call) {
  int64_t n = call.numbers[1];
  T *a = call.array(3), *work = a + n * n;
  Int *ints = reinterpret_cast<Int *>(work + dyn::scratch::eighWork(n));
  Int size = Int(n), length = Int(dyn::scratch::eighWork(n)), intLength = Int(dyn::scratch::eighInts(n)), info = 0;
  for (int64_t b = 0; n && b < call.numbers[0]; ++b) {
    const T *from = call.array(0) + b * n * n;
    T *w = call.array(1) + b * n, *v = call.array(2) + b * n * n;
    if (!isFinite(from, n * n)) {
      fillWithNan(w, n);
      fillWithNan(v, n * n);
      continue;
    }
    symmetrize(from, a, n);
    Lapack<T>::syevd("V", "L", &size, a, &size, w, work, &length, ints, &intLength, &info, 1, 1);
    if (info != 0)
      return call.fail(DYN_NOT_CONVERGED, 0);
    orient(a, n, n, static_cast<T *>(nullptr), 0);
    transpose(a, v, n, n);
  }
}

/// By columns the rows are A^T = V diag(s) U^T: its right vectors, as LAPACK leaves them, are U by rows.
template <typename T> void svd(const Call<T> &call) {
  int64_t m = call.numbers[1], n = call.numbers[2], k = std::min(m, n);
  T *a = call.array(4), *vectors = a + m * n, *work = vectors + n * k;
  Int *ints = reinterpret_cast<Int *>(work + dyn::scratch::svdWork(m, n));
  Int rows = Int(n), columns = Int(m), least = Int(k), length = Int(dyn::scratch::svdWork(m, n)), info = 0;
  for (int64_t b = 0; k && b < call.numbers[0]; ++b) {
    const T *from = call.array(0) + b * m * n;
    T *u = call.array(1) + b * m * k, *s = call.array(2) + b * k, *v = call.array(3) + b * n * k;
    if (!isFinite(from, m * n)) {
      fillWithNan(u, m * k);
      fillWithNan(s, k);
      fillWithNan(v, n * k);
      continue;
    }
    std::copy_n(from, m * n, a);
    Lapack<T>::gesdd("S", &rows, &columns, a, &rows, s, vectors, &rows, u, &least, work, &length, ints, &info, 1);
    if (info != 0)
      return call.fail(DYN_NOT_CONVERGED, 0);
    transpose(u, a, m, k);
    orient(a, k, m, vectors, n);
    transpose(a, u, k, m);
    transpose(vectors, v, k, n);
  }
}

template <typename T> void solve(const Call<T> &call) {
  int64_t n = call.numbers[1], k = call.numbers[2];
  T *a = call.array(3), *x = a + n * n;
  Int *exchanges = reinterpret_cast<Int *>(x + n * k);
  Int size = Int(n), columns = Int(k), info = 0;
  for (int64_t b = 0; n && b < call.numbers[0]; ++b) {
    const T *left = call.array(0) + b * n * n, *right = call.array(1) + b * n * k;
    T *to = call.array(2) + b * n * k;
    if (!isFinite(left, n * n) || !isFinite(right, n * k)) {
      fillWithNan(to, n * k);
      continue;
    }
    std::copy_n(left, n * n, a);
    Lapack<T>::getrf(&size, &size, a, &size, exchanges, &info);
    if (info > 0)
      return call.fail(DYN_SINGULAR, info - 1);
    transpose(right, x, n, k);
    if (k)
      Lapack<T>::getrs("T", &size, &columns, a, &size, exchanges, x, &size, &info, 1);
    transpose(x, to, k, n);
  }
}

/// By columns the rows of A X = B are X^T A^T = B^T: the other triangle, from the right.
template <typename T> void triangularSolve(const Call<T> &call) {
  int64_t n = call.numbers[1], k = call.numbers[2];
  bool upper = call.numbers[3] != 0;
  Int size = Int(n), columns = Int(k);
  T one = 1;
  for (int64_t b = 0; n && b < call.numbers[0]; ++b) {
    const T *a = call.array(0) + b * n * n, *right = call.array(1) + b * n * k;
    T *x = call.array(2) + b * n * k;
    if (!isFinite(a, n * n) || !isFinite(right, n * k)) {
      fillWithNan(x, n * k);
      continue;
    }
    for (int64_t i = 0; i < n; ++i)
      if (a[i * n + i] == 0)
        return call.fail(DYN_SINGULAR, i);
    std::copy_n(right, n * k, x);
    if (k)
      Lapack<T>::trsm("R", upper ? "L" : "U", "N", "N", &columns, &size, &one, a, &size, x, &columns, 1, 1, 1, 1);
  }
}

template <typename T> void logDet(const Call<T> &call) {
  int64_t n = call.numbers[1];
  T *a = call.array(3);
  Int *exchanges = reinterpret_cast<Int *>(a + n * n);
  Int size = Int(n), info = 0;
  for (int64_t b = 0; b < call.numbers[0]; ++b) {
    const T *from = call.array(0) + b * n * n;
    T &sign = call.array(1)[b], &log = call.array(2)[b];
    if (!isFinite(from, n * n)) {
      sign = log = std::numeric_limits<T>::quiet_NaN();
      continue;
    }
    std::copy_n(from, n * n, a);
    if (n)
      Lapack<T>::getrf(&size, &size, a, &size, exchanges, &info);
    double sum = 0;
    bool negative = false;
    for (int64_t i = 0; i < n; ++i) {
      sum += std::log(std::fabs(double(a[i * n + i])));
      negative ^= (a[i * n + i] < 0) ^ (exchanges[i] != i + 1);
    }
    sign = info > 0 ? T(0) : negative ? T(-1) : T(1);
    log = info > 0 ? -std::numeric_limits<T>::infinity() : T(sum);
    info = 0;
  }
}

} // namespace

#define DYN_ROUTINE(NAME, ROUTINE)                                                                                     \
  extern "C" void NAME(DynContext *ctx, int32_t site, int32_t element, const int64_t *numbers, void *const *arrays) {  \
    element == 0 ? ROUTINE(Call<float>{ctx, site, numbers, arrays})                                                    \
                 : ROUTINE(Call<double>{ctx, site, numbers, arrays});                                                  \
  }
DYN_ROUTINE(dyn_cholesky, cholesky)
DYN_ROUTINE(dyn_qr, qr)
DYN_ROUTINE(dyn_eigh, eigh)
DYN_ROUTINE(dyn_svd, svd)
DYN_ROUTINE(dyn_solve, solve)
DYN_ROUTINE(dyn_triangular_solve, triangularSolve)
DYN_ROUTINE(dyn_log_det, logDet)
#undef DYN_ROUTINE
