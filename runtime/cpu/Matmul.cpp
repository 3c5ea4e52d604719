//===- Matmul.cpp - how a product is cut and in what order ----------------===//
//
// Three layers: here pieces for threads and caches; in MatmulKernels.inc panels
// and tiles; in its innermost function registers.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/Matmul.h"

#include <algorithm>

namespace dyn::cpu {
namespace {

/// Multiplications below which a piece is not worth handing to a thread (a fork costs about half a microsecond).
constexpr int64_t pieceWork = int64_t(1) << 16;
/// Products below this many multiplications are one piece.
constexpr int64_t smallWork = int64_t(1) << 18;
/// Bytes of C that an epilogue finds in cache.
constexpr int64_t cachedBytes = int64_t(256) << 10;
constexpr int64_t firstCache = int64_t(32) << 10;
/// Rows of a block are a multiple of this, which all tile heights divide.
constexpr int64_t rowUnit = 24;
/// With so many rows a packed block of A (192 KiB of f32) fills a good part of L2.
constexpr int64_t mostBlockRows = 192;
/// A block of all rows may take so much of L2: B is then read once, and packed where it is used.
constexpr int64_t secondCacheShare = int64_t(256) << 10;

int64_t ceilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// a * b * c without overflow, at most `most`.
int64_t boundedProduct(int64_t a, int64_t b, int64_t c, int64_t most = int64_t(1) << 60) {
  __int128 product = static_cast<__int128>(a) * b;
  product = product > most ? most : product * c;
  return product > most ? most : int64_t(product);
}

} // namespace

#if defined(__x86_64__)
const KernelSet &chooseKernels() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
    return avx512Kernels;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return avx2Kernels;
  return baselineKernels;
}
#else
const KernelSet &chooseKernels() { return baselineKernels; }
#endif

template <typename T> Products::Prepared Products::prepare(const plan::Product &shape, int threads, const Kernels<T> &kernels) {
  constexpr int64_t bytes = sizeof(T);
  if (!shape.window.empty())
    return prepareWindow(shape, threads, kernels);
  Prepared p;
  p.shape = shape;
  p.panels = ceilDivide(shape.n, kernels.panel);
  int64_t work = boundedProduct(shape.m, shape.n, shape.k);
  p.epilogueRows = std::max<int64_t>(1, cachedBytes / std::max<int64_t>(1, shape.n * bytes) / rowUnit) * rowUnit;

  int64_t pieceRows = shape.m;
  if (work < smallWork) {
    p.pieces = shape.batch > 1 ? Pieces::members : Pieces::columns;
    // All of it in one piece, unless the batch makes it worth while.
    bool share = shape.batch > 1 && boundedProduct(work, shape.batch, 1) >= smallWork;
    p.grain = share ? std::max<int64_t>(1, pieceWork / std::max<int64_t>(work, 1)) : std::max(p.panels, shape.batch);
  } else if (boundedProduct(shape.m, std::min(shape.k, kBlock), bytes) <= secondCacheShare && p.panels >= 8) {
    // Each piece packs all of A for itself.
    int64_t each = threads > 1 ? ceilDivide(p.panels, 4 * int64_t(threads)) : p.panels;
    p.grain = std::max(each, ceilDivide(p.panels * pieceWork, work));
  } else {
    p.pieces = Pieces::rows;
    int64_t rows = std::min(ceilDivide(shape.m, 8), mostBlockRows);
    p.grain = pieceRows = ceilDivide(rows, rowUnit) * rowUnit;
  }
  // Reading B in place costs cache misses once it outgrows L1 and is read for many tiles of rows.
  bool reread = shape.m > 2 * kernels.tile && boundedProduct(shape.k, shape.n, bytes) > firstCache;
  p.packB = shape.transposeB || (reread && p.panels > 1);
  p.packA = shape.n >= 4 * kernels.panel && boundedProduct(pieceRows, shape.k, bytes) > firstCache;
  if (p.packA)
    p.tileElements = pieceRows * kBlock;
  bool wholeB = p.pieces == Pieces::rows && p.packB;
  int64_t depth = p.pieces == Pieces::rows ? shape.k : std::min(shape.k, kBlock);
  p.panelElements = boundedProduct(wholeB ? p.panels : std::min(p.panels, panelGroup), kernels.panel, depth);
  return p;
}

Expected<Products> Products::create(const std::vector<plan::Product> &list, ThreadPool &pool,
                                    const KernelSet &kernels) {
  Products products;
  products.pool = &pool;
  products.kernels = &kernels;
  int64_t panelBytes = 0, tileBytes = 0, windowBytes = 0;
  for (const plan::Product &shape : list) {
    bool f32 = shape.element == plan::Element::f32;
    if (!f32 && shape.element != plan::Element::f64)
      return Status::error("a matrix product of whole numbers has no kernel: cast to real first");
    if (std::min({shape.batch, shape.m, shape.n, shape.k}) < 0)
      return Status::error("a matrix product has a negative size");
    Prepared p = f32 ? prepare<float>(shape, pool.threads(), kernels.f32)
                     : prepare<double>(shape, pool.threads(), kernels.f64);
    int64_t bytes = plan::sizeOf(shape.element);
    panelBytes = std::max(panelBytes, boundedProduct(p.panelElements, bytes, 1));
    tileBytes = std::max(tileBytes, p.tileElements * bytes);
    if (p.pieces == Pieces::windows)
      windowBytes = std::max(windowBytes, (p.paddedElements + p.unfoldedElements + 16) * bytes);
    products.list.push_back(std::move(p));
  }
  // One a thread, as a product may be called from inside a piece.
  for (int thread = 0; thread < pool.threads(); ++thread) {
    Expected<Block> panels = Block::create(panelBytes), tiles = Block::create(tileBytes),
                    windows = Block::create(windowBytes);
    for (Expected<Block> *block : {&panels, &tiles, &windows})
      if (!*block)
        return Status::error("scratch for matrix products: " + block->status().message());
    products.panelBlocks.push_back(std::move(*panels));
    products.tileBlocks.push_back(std::move(*tiles));
    products.windowBlocks.push_back(std::move(*windows));
  }
  return products;
}

/// What the pieces of one call share.
template <typename T> struct Products::Call {
  const Products &products;
  const Prepared &prepared;
  const Kernels<T> &kernels;
  const T *a, *b;
  T *c;
  DynRange epilogue;
  void *closure;
  T *panels = nullptr; ///< packed B of the present member of the batch, when pieces are rows
  int64_t member = 0;

  Operands<T> operands(int64_t member) const {
    const plan::Product &s = prepared.shape;
    Operands<T> x;
    x.a = a + member * s.m * s.k;
    x.rowStride = s.transposeA ? 1 : s.k;
    x.kStride = s.transposeA ? s.m : 1;
    x.b = b + member * s.k * s.n;
    x.transposeB = s.transposeB;
    x.bStride = s.transposeB ? s.k : s.n;
    x.c = c + member * s.m * s.n;
    x.cStride = s.n;
    x.n = s.n;
    x.k = s.k;
    x.accumulate = false;
    x.packed = prepared.packB;
    x.panels = panels;
    x.tiles = prepared.packA ? products.tileScratch<T>() : nullptr;
    return x;
  }

  void finish(int64_t lo, int64_t hi) const {
    if (epilogue)
      epilogue(closure, lo, hi);
  }

  static void packPiece(void *self, int64_t lo, int64_t hi) {
    const Call &call = *static_cast<Call *>(self);
    T *out = call.panels + lo * call.kernels.panel * call.prepared.shape.k;
    call.kernels.packB(call.operands(call.member), lo, hi, out);
  }

  static void rowsPiece(void *self, int64_t lo, int64_t hi) {
    const Call &call = *static_cast<Call *>(self);
    call.kernels.rows(call.operands(call.member), lo, hi);
    int64_t before = call.member * call.prepared.shape.m;
    call.finish(before + lo, before + hi);
  }

  static void columnsPiece(void *self, int64_t lo, int64_t hi) {
    const Call &call = *static_cast<Call *>(self);
    call.kernels.columns(call.operands(call.member), call.prepared.shape.m, lo, hi, call.products.panelScratch<T>());
  }

  static void finishPiece(void *self, int64_t lo, int64_t hi) {
    const Call &call = *static_cast<Call *>(self);
    int64_t before = call.member * call.prepared.shape.m;
    call.finish(before + lo, before + hi);
  }

  static void membersPiece(void *self, int64_t lo, int64_t hi) {
    const Call &call = *static_cast<Call *>(self);
    const Prepared &p = call.prepared;
    for (int64_t member = lo; member < hi; ++member)
      call.kernels.columns(call.operands(member), p.shape.m, 0, p.panels, call.products.panelScratch<T>());
    call.finish(lo * p.shape.m, hi * p.shape.m);
  }

  void runRows(ThreadPool &pool) {
    panels = products.panelScratch<T>();
    if (prepared.packB)
      pool.parallelFor(packPiece, this, prepared.panels, ceilDivide(prepared.panels, 8));
    else if (prepared.shape.n % kernels.lanes != 0)
      kernels.packB(operands(member), prepared.panels - 1, prepared.panels, panels);
    pool.parallelFor(rowsPiece, this, prepared.shape.m, prepared.grain);
  }

  void runColumns(ThreadPool &pool) {
    bool onePiece = prepared.grain >= prepared.panels;
    if (onePiece) {
      columnsPiece(this, 0, prepared.panels);
      finishPiece(this, 0, prepared.shape.m);
      return;
    }
    pool.parallelFor(columnsPiece, this, prepared.panels, prepared.grain);
    if (epilogue)
      pool.parallelFor(finishPiece, this, prepared.shape.m, prepared.epilogueRows);
  }
};

template <typename T>
void Products::runAs(const Prepared &p, const Kernels<T> &kernels, const void *a, const void *b, void *c,
                     DynRange epilogue, void *closure) {
  Call<T> call{*this, p, kernels, static_cast<const T *>(a), static_cast<const T *>(b), static_cast<T *>(c),
               epilogue, closure};
  if (p.pieces == Pieces::windows)
    return runWindow(p, kernels, a, b, c, epilogue, closure);
  if (p.shape.m == 0)
    return;
  if (p.shape.n == 0) { // rows without elements are final at once, and an epilogue may sum over them
    call.finish(0, p.shape.batch * p.shape.m);
    return;
  }
  if (p.pieces == Pieces::members) {
    pool->parallelFor(Call<T>::membersPiece, &call, p.shape.batch, p.grain);
    return;
  }
  for (call.member = 0; call.member < p.shape.batch; ++call.member) {
    if (p.pieces == Pieces::rows)
      call.runRows(*pool);
    else
      call.runColumns(*pool);
  }
}

void Products::run(int64_t product, const void *a, const void *b, void *c, DynRange epilogue, void *closure) {
  const Prepared &p = list[static_cast<size_t>(product)];
  if (p.shape.element == plan::Element::f32)
    runAs<float>(p, kernels->f32, a, b, c, epilogue, closure);
  else
    runAs<double>(p, kernels->f64, a, b, c, epilogue, closure);
}

} // namespace dyn::cpu
