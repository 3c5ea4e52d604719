//===- Fft.cpp - discrete Fourier transforms ------------------------------===//
//
// T. G. Stockham, High-speed convolution and correlation, 1966, for any
// factors: each pass splits by one prime and leaves its output in order, from
// one copy of the line to the other. In double whatever the elements are. The
// libraries at hand allocate in each call; here the caller lends the memory.
//
//===----------------------------------------------------------------------===//
#include "runtime/abi.h"

#include <cmath>
#include <numbers>
#include <utility>

namespace {

struct Complex {
  double re, im;
};

Complex product(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }

/// root[k] = exp(-+2 pi i k / n)
void fillRoots(Complex *root, int64_t n, bool inverse) {
  for (int64_t k = 0; k < n; ++k) {
    double angle = 2 * std::numbers::pi * double(k) / double(n);
    root[k] = {std::cos(angle), inverse ? std::sin(angle) : -std::sin(angle)};
  }
}

int64_t leastFactor(int64_t n) {
  for (int64_t p = 2; p * p <= n; ++p)
    if (n % p == 0)
      return p;
  return n;
}

/// y[q + s (p j + t)] = w^(s j t) * sum over r of x[q + s (j + m r)] w^(r t n/p), with w the root of `n` elements,
/// m = n / (s p), for all q < s, j < m, t < p.
void split(const Complex *x, Complex *y, const Complex *root, int64_t n, int64_t s, int64_t p) {
  int64_t m = n / (s * p);
  for (int64_t j = 0; j < m; ++j)
    for (int64_t t = 0; t < p; ++t) {
      Complex turn = root[s * j * t % n];
      for (int64_t q = 0; q < s; ++q) {
        Complex sum = x[q + s * j];
        for (int64_t r = 1; r < p; ++r) {
          Complex part = product(x[q + s * (j + m * r)], root[r * t % p * (n / p)]);
          sum = {sum.re + part.re, sum.im + part.im};
        }
        y[q + s * (p * j + t)] = product(sum, turn);
      }
    }
}

/// Factors of 2 take half of the products.
void splitInHalves(const Complex *x, Complex *y, const Complex *root, int64_t n, int64_t s) {
  int64_t m = n / (2 * s);
  for (int64_t j = 0; j < m; ++j)
    for (int64_t q = 0; q < s; ++q) {
      Complex a = x[q + s * j], b = x[q + s * (j + m)];
      y[q + s * 2 * j] = {a.re + b.re, a.im + b.im};
      y[q + s * (2 * j + 1)] = product({a.re - b.re, a.im - b.im}, root[s * j]);
    }
}

template <typename T> void transform(const int64_t *numbers, void *const *arrays) {
  int64_t lines = numbers[0], n = numbers[1];
  auto *x = static_cast<const T *>(arrays[0]);
  auto *y = static_cast<T *>(arrays[1]);
  auto *root = static_cast<Complex *>(arrays[2]);
  fillRoots(root, n, numbers[2] != 0);
  for (int64_t line = 0; line < lines; ++line, x += 2 * n, y += 2 * n) {
    Complex *from = root + n, *to = root + 2 * n;
    for (int64_t i = 0; i < n; ++i)
      from[i] = {double(x[2 * i]), double(x[2 * i + 1])};
    for (int64_t s = 1; s < n;) {
      int64_t p = leastFactor(n / s);
      p == 2 ? splitInHalves(from, to, root, n, s) : split(from, to, root, n, s, p);
      std::swap(from, to);
      s *= p;
    }
    for (int64_t i = 0; i < n; ++i) {
      y[2 * i] = T(from[i].re);
      y[2 * i + 1] = T(from[i].im);
    }
  }
}

} // namespace

extern "C" void dyn_fft(DynContext *, int32_t, int32_t element, const int64_t *numbers, void *const *arrays) {
  element == 0 ? transform<float>(numbers, arrays) : transform<double>(numbers, arrays);
}
