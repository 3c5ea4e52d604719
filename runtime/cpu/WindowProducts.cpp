//===- WindowProducts.cpp - products with windows over images -------------===//
//
// Image by image: the window's elements at some rows of places are written to
// scratch that stays in the second cache, and multiplied there by the kernels
// of ordinary products. An element of the result is one chain of additions in
// the order of images, places and k, wherever threads cut.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/Matmul.h"

#include <algorithm>
#include <cstring>

namespace dyn::cpu {
namespace {

/// Bytes of unfolded windows, a share of the second cache.
constexpr int64_t unfoldedBytes = int64_t(256) << 10;
constexpr int64_t firstCache = int64_t(32) << 10;
/// Multiplications below which images are not worth handing to a thread.
constexpr int64_t pieceWork = int64_t(1) << 16;

} // namespace

template <typename T>
Products::Prepared Products::prepareWindow(const plan::Product &shape, int threads, const Kernels<T> &kernels) {
  constexpr int64_t bytes = sizeof(T);
  Prepared p;
  p.shape = shape;
  p.pieces = Pieces::windows;
  p.window = plan::Window::from(shape.window.data());
  const plan::WindowAxis &rows = p.window.axes[0], &columns = p.window.axes[1];
  int64_t most = std::clamp<int64_t>(unfoldedBytes / std::max<int64_t>(1, shape.k * columns.places * bytes), 1, rows.places);
  int64_t blocks = (rows.places + most - 1) / most;
  p.windowRows = (rows.places + blocks - 1) / blocks;
  p.paddedElements = p.window.padded() + kernels.lanes;
  p.unfoldedElements = shape.k * p.windowRows * columns.places + kernels.lanes;
  p.panelElements = panelGroup * kernels.panel * kBlock;
  p.packA = p.window.role != plan::WindowRole::sums && shape.m * shape.k * bytes > firstCache;
  if (p.packA)
    p.tileElements = (p.window.role == plan::WindowRole::reads ? shape.m : shape.k) * kBlock;
  int64_t work = std::max<int64_t>(1, shape.m * shape.n * shape.k);
  if (p.window.role == plan::WindowRole::sums)
    p.grain = threads > 1 ? std::max<int64_t>(kernels.tile, (shape.k + threads - 1) / threads) : shape.k;
  else
    p.grain = std::max<int64_t>(1, pieceWork / work);
  return p;
}

/// What the pieces of one call share.
template <typename T> struct Products::WindowCall {
  const Products &products;
  const Prepared &p;
  const Kernels<T> &kernels;
  const T *a, *b;
  T *c;
  DynRange epilogue;
  void *closure;
  int64_t group = 0;

  T *padded() const {
    return static_cast<T *>(products.windowBlocks[static_cast<size_t>(ThreadPool::threadIndex())].data());
  }
  T *unfolded() const { return padded() + (p.paddedElements + 15) / 16 * 16; }
  const T *filters(int64_t image) const { return a + image % p.window.groups * p.shape.m * p.shape.k; }

  /// Calls body(first row, end row) for the blocks of rows of places.
  template <typename Body> void overRows(Body body) const {
    for (int64_t y = 0; y < p.window.axes[0].places; y += p.windowRows)
      body(y, std::min(p.window.axes[0].places, y + p.windowRows));
  }
  int64_t placesOf(int64_t lo, int64_t hi) const { return (hi - lo) * p.window.axes[1].places; }
  int64_t placesBefore(int64_t row) const { return row * p.window.axes[1].places; }

  void multiply(Operands<T> x, int64_t rows) const {
    bool reread = rows > 2 * kernels.tile && x.k * x.n * int64_t(sizeof(T)) > firstCache;
    x.packed = x.transposeB || (reread && x.n > kernels.panel);
    x.panels = nullptr;
    x.tiles = p.packA ? products.tileScratch<T>() : nullptr;
    kernels.columns(x, rows, 0, (x.n + kernels.panel - 1) / kernels.panel, products.panelScratch<T>());
  }

  void read(int64_t image) const {
    const plan::Product &s = p.shape;
    kernels.padImage(p.window, b + image * p.window.image(), padded());
    overRows([&](int64_t lo, int64_t hi) {
      kernels.unfold(p.window, padded(), 0, s.k, lo, hi, unfolded());
      Operands<T> x{};
      x.a = filters(image), x.rowStride = s.k, x.kStride = 1;
      x.b = unfolded(), x.bStride = placesOf(lo, hi);
      x.c = c + image * s.m * s.n + placesBefore(lo), x.cStride = s.n;
      x.n = placesOf(lo, hi), x.k = s.k;
      multiply(x, s.m);
    });
  }

  void spread(int64_t image) const {
    const plan::Product &s = p.shape;
    std::memset(padded(), 0, static_cast<size_t>(p.paddedElements) * sizeof(T));
    overRows([&](int64_t lo, int64_t hi) {
      Operands<T> x{};
      x.a = filters(image), x.rowStride = 1, x.kStride = s.k;
      x.b = b + image * s.m * s.n + placesBefore(lo), x.bStride = s.n;
      x.c = unfolded(), x.cStride = placesOf(lo, hi);
      x.n = placesOf(lo, hi), x.k = s.m;
      multiply(x, s.k);
      kernels.fold(p.window, unfolded(), lo, hi, padded());
    });
    kernels.cropImage(p.window, padded(), c + image * p.window.image());
  }

  /// Rows [kLo, kHi) of the sum over all images of the group.
  void sum(int64_t kLo, int64_t kHi) const {
    const plan::Product &s = p.shape;
    T *to = c + (group * s.k + kLo) * s.m;
    std::memset(to, 0, static_cast<size_t>((kHi - kLo) * s.m) * sizeof(T));
    for (int64_t image = group; image < s.batch; image += p.window.groups) {
      kernels.padImage(p.window, b + image * p.window.image(), padded());
      overRows([&](int64_t lo, int64_t hi) {
        kernels.unfold(p.window, padded(), kLo, kHi, lo, hi, unfolded());
        Operands<T> x{};
        x.a = unfolded(), x.rowStride = placesOf(lo, hi), x.kStride = 1;
        x.b = a + image * s.m * s.n + placesBefore(lo), x.bStride = s.n, x.transposeB = true;
        x.c = to, x.cStride = s.m, x.accumulate = true;
        x.n = s.m, x.k = placesOf(lo, hi);
        multiply(x, kHi - kLo);
      });
    }
  }

  static void readPiece(void *self, int64_t lo, int64_t hi) {
    const WindowCall &call = *static_cast<WindowCall *>(self);
    int64_t m = call.p.shape.m;
    for (int64_t image = lo; image < hi; ++image) {
      call.read(image);
      if (call.epilogue)
        call.epilogue(call.closure, image * m, (image + 1) * m);
    }
  }
  static void spreadPiece(void *self, int64_t lo, int64_t hi) {
    for (int64_t image = lo; image < hi; ++image)
      static_cast<WindowCall *>(self)->spread(image);
  }
  static void sumPiece(void *self, int64_t lo, int64_t hi) { static_cast<WindowCall *>(self)->sum(lo, hi); }
};

template <typename T>
void Products::runWindow(const Prepared &p, const Kernels<T> &kernels, const void *a, const void *b, void *c,
                         DynRange epilogue, void *closure) {
  WindowCall<T> call{*this, p, kernels, static_cast<const T *>(a), static_cast<const T *>(b), static_cast<T *>(c),
                     epilogue, closure};
  switch (p.window.role) {
  case plan::WindowRole::reads:
    return pool->parallelFor(WindowCall<T>::readPiece, &call, p.shape.batch, p.grain);
  case plan::WindowRole::spreads:
    return pool->parallelFor(WindowCall<T>::spreadPiece, &call, p.shape.batch, p.grain);
  case plan::WindowRole::sums:
    for (call.group = 0; call.group < p.window.groups; ++call.group)
      pool->parallelFor(WindowCall<T>::sumPiece, &call, p.shape.k, p.grain);
  }
}

template Products::Prepared Products::prepareWindow<float>(const plan::Product &, int, const Kernels<float> &);
template Products::Prepared Products::prepareWindow<double>(const plan::Product &, int, const Kernels<double> &);
template void Products::runWindow<float>(const Prepared &, const Kernels<float> &, const void *, const void *, void *,
                                         DynRange, void *);
template void Products::runWindow<double>(const Prepared &, const Kernels<double> &, const void *, const void *, void *,
                                          DynRange, void *);

} // namespace dyn::cpu
