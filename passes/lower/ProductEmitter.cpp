//===- ProductEmitter.cpp - a small matrix product as code of its own -----===//
//
// The library finds its tiles through tables and packs what is ragged; for a
// product of a few thousand multiplications that is as much work as the sums.
// Here sizes are literals: C is cut in panels of two vectors of columns and
// tiles of rows whose sums stay in registers through all of k.
//
//===----------------------------------------------------------------------===//
#include "passes/lower/ProductEmitter.h"

#include "passes/lower/Abi.h"
#include "passes/lower/Elements.h"
#include "passes/lower/Passes.h"

using namespace mlir;

namespace dyn::lower {

/// Multiplications below which the library has one piece (smallWork in runtime/cpu/Matmul.cpp).
static constexpr int64_t writtenWork = int64_t(1) << 18;
/// Bytes of B that stay in L1 unpacked; a transposed B is copied to the stack.
static constexpr int64_t plainBytes = int64_t(32) << 10, transposedBytes = int64_t(16) << 10;
/// Steps of k without a loop, and in one pass of a loop.
static constexpr int64_t straightSteps = 16, stepsAPass = 4;
static constexpr int64_t mostTileRows = 14;
/// Columns of a panel, in vectors.
static constexpr int64_t panelVectors = 2;

bool isWrittenOut(kernel::ProductOp op, int64_t vectorBytes) {
  if (op.getWindow())
    return false;
  Type element = elementOf(op.getResult());
  kernel::ProductShape s = kernel::shapeOf(op);
  if (!(element.isF32() || element.isF64()) || std::min({s.batch, s.m, s.n, s.k}) < 1)
    return false;
  int64_t left = writtenWork;
  for (int64_t size : {s.batch, s.m, s.n, s.k})
    left /= size;
  int64_t bytes = element.getIntOrFloatBitWidth() / 8, rows = s.k;
  int64_t columns = llvm::alignTo(s.n, vectorBytes / bytes);
  return left > 0 && rows * columns * bytes <= (op.getTransposeB() ? transposedBytes : plainBytes);
}

bool isSameProduct(kernel::ProductOp x, kernel::ProductOp y) {
  return x.getA().getType() == y.getA().getType() && x.getB().getType() == y.getB().getType() &&
         x.getType() == y.getType() && x.getTransposeA() == y.getTransposeA() &&
         x.getTransposeB() == y.getTransposeB();
}

namespace {

class ProductEmitter {
public:
  ProductEmitter(ModuleOp module, kernel::ProductOp op, int64_t vectorBytes)
      : module(module), shape(kernel::shapeOf(op)), transposeA(op.getTransposeA()), transposeB(op.getTransposeB()),
        element(elementOf(op.getResult())), lanes(vectorBytes * 8 / element.getIntOrFloatBitWidth()),
        registers(vectorBytes >= 64 ? 32 : 16), b(module.getContext()), loc(op.getLoc()) {}

  LLVM::LLVMFuncOp emit(StringRef name) {
    Type pointer = pointerType(b.getContext());
    b.setInsertionPointToEnd(module.getBody());
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), {pointer, pointer, pointer});
    auto function = LLVM::LLVMFuncOp::create(b, loc, name, type, LLVM::Linkage::Internal);
    Block *entry = function.addEntryBlock(b);
    b.setInsertionPointToStart(entry);
    Type vector = laneType(element, lanes);
    zero = arith::ConstantOp::create(b, loc, vector, b.getZeroAttr(vector));
    int64_t padded = llvm::alignTo(shape.n, lanes);
    bStride = transposeB ? padded : shape.n;
    if (transposeB)
      copied = LLVM::AllocaOp::create(b, loc, pointer, element, number(shape.k * padded), 64);
    forEach(0, shape.batch, 1, [&](Value member) {
      rowsOfA = at(entry->getArgument(0), member, shape.m * shape.k);
      rowsOfB = at(entry->getArgument(1), member, shape.k * shape.n);
      rowsOfC = at(entry->getArgument(2), member, shape.m * shape.n);
      if (transposeB)
        copyTransposed();
      emitPanels();
    });
    LLVM::ReturnOp::create(b, loc, ValueRange());
    return function;
  }

private:
  /// Columns of C whose sums are made together. Of the last vector `rest` lanes exist, all of them for 0.
  struct Panel {
    Value column;
    int64_t vectors, rest;
  };

  Value number(int64_t value) { return i64Constant(b, loc, value); }
  Value at(Value base, int64_t elements) {
    if (elements == 0)
      return base;
    return LLVM::GEPOp::create(b, loc, pointerType(b.getContext()), element, base,
                               ArrayRef<LLVM::GEPArg>{int32_t(elements)}, LLVM::GEPNoWrapFlags::inbounds);
  }
  Value at(Value base, Value index, int64_t stride) {
    Value offset = stride == 1 ? index : arith::MulIOp::create(b, loc, index, number(stride)).getResult();
    return elementPointer(b, loc, base, element, offset);
  }
  /// A loop, where one pass is not all of it.
  void forEach(int64_t from, int64_t to, int64_t step, llvm::function_ref<void(Value)> body) {
    if (from >= to)
      return;
    if (to - from <= step)
      return body(number(from));
    auto loop = scf::ForOp::create(b, loc, number(from), number(to), number(step));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  }
  Value laneMask(int64_t count) {
    SmallVector<bool> bits(lanes, false);
    std::fill_n(bits.begin(), count, true);
    auto type = VectorType::get({lanes}, b.getI1Type());
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, ArrayRef<bool>(bits)));
  }
  /// `count` elements at a place and zeros; all lanes for 0.
  Value loadLanes(Value from, int64_t count) {
    return loadElement(b, loc, from, laneType(element, lanes), count ? laneMask(count) : Value());
  }

  void emitPanels() {
    int64_t width = panelVectors * lanes, whole = shape.n / width * width;
    forEach(0, whole, width, [&](Value column) { emitPanel({column, panelVectors, 0}); });
    if (int64_t left = shape.n - whole)
      emitPanel({number(whole), int64_t(llvm::divideCeil(left, lanes)), left % lanes});
  }

  /// Tiles of nearly equal height: 32 rows in tiles of at most 6 are 6 6 5 5 5 5.
  void emitPanel(const Panel &panel) {
    // A vector of B each, one for the element of A, one for a product where there is no multiply-add.
    int64_t most = std::min(mostTileRows, (registers - panel.vectors - 2) / panel.vectors);
    int64_t tiles = llvm::divideCeil(shape.m, most), small = shape.m / tiles, taller = shape.m % tiles;
    int64_t middle = taller * (small + 1);
    forEach(0, middle, small + 1, [&](Value row) { emitTile(panel, row, small + 1); });
    forEach(middle, shape.m, small, [&](Value row) { emitTile(panel, row, small); });
  }

  void emitTile(const Panel &panel, Value row, int64_t rows) {
    Value fromA = at(rowsOfA, row, transposeA ? 1 : shape.k);
    Value fromB = at(transposeB ? copied : rowsOfB, panel.column, 1);
    Value to = at(at(rowsOfC, row, shape.n), panel.column, 1);
    int64_t aStride = transposeA ? shape.m : 1;
    SmallVector<Value> sums(rows * panel.vectors, zero);
    auto steps = [&](Value a, Value bHere, int64_t count, SmallVectorImpl<Value> &all) {
      for (int64_t l = 0; l < count; ++l)
        emitStep(panel, at(a, l * aStride), at(bHere, l * bStride), all);
    };
    int64_t looped = shape.k <= straightSteps ? 0 : shape.k / stepsAPass * stepsAPass;
    if (looped) {
      auto loop = scf::ForOp::create(b, loc, number(0), number(looped), number(stepsAPass), sums);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      SmallVector<Value> inner(loop.getRegionIterArgs());
      Value l = loop.getInductionVar();
      steps(at(fromA, l, aStride), at(fromB, l, bStride), stepsAPass, inner);
      scf::YieldOp::create(b, loc, inner);
      sums.assign(loop.getResults().begin(), loop.getResults().end());
    }
    steps(at(fromA, looped * aStride), at(fromB, looped * bStride), shape.k - looped, sums);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t v = 0; v < panel.vectors; ++v)
        storeElement(b, loc, sums[r * panel.vectors + v], at(to, r * shape.n + v * lanes), maskOf(panel, v));
  }

  Value maskOf(const Panel &panel, int64_t vector) {
    return panel.rest && vector == panel.vectors - 1 ? laneMask(panel.rest) : Value();
  }

  /// One step of k: a row of B times each element of a column of A.
  void emitStep(const Panel &panel, Value fromA, Value fromB, SmallVectorImpl<Value> &sums) {
    SmallVector<Value> row;
    for (int64_t v = 0; v < panel.vectors; ++v)
      row.push_back(loadElement(b, loc, at(fromB, v * lanes), laneType(element, lanes),
                                transposeB ? Value() : maskOf(panel, v)));
    int64_t rows = int64_t(sums.size()) / panel.vectors, stride = transposeA ? 1 : shape.k;
    for (int64_t r = 0; r < rows; ++r) {
      Value x = spread(b, loc, loadElement(b, loc, at(fromA, r * stride), element), lanes);
      for (int64_t v = 0; v < panel.vectors; ++v) {
        Value &sum = sums[r * panel.vectors + v];
        sum = LLVM::FMulAddOp::create(b, loc, x, row[v], sum);
      }
    }
  }

  /// B^T, its rows padded with zeros to whole vectors.
  void copyTransposed() {
    int64_t wholeColumns = shape.n / lanes * lanes, wholeSteps = shape.k / lanes * lanes;
    auto columns = [&](Value column, int64_t count) {
      forEach(0, wholeSteps, lanes, [&](Value l) { transposeSquare(column, count, l, lanes); });
      if (shape.k > wholeSteps)
        transposeSquare(column, count, number(wholeSteps), shape.k - wholeSteps);
    };
    forEach(0, wholeColumns, lanes, [&](Value column) { columns(column, lanes); });
    if (shape.n > wholeColumns)
      columns(number(wholeColumns), shape.n - wholeColumns);
  }

  /// `columns` rows of B from `column` on, `steps` elements of each from `l` on: in registers, where blocks of 1, 2, 4, …
  /// lanes change sides.
  void transposeSquare(Value column, int64_t columns, Value l, int64_t steps) {
    Value from = at(at(rowsOfB, column, shape.k), l, 1), to = at(at(copied, l, bStride), column, 1);
    SmallVector<Value> square(lanes, zero);
    for (int64_t j = 0; j < columns; ++j)
      square[j] = loadLanes(at(from, j * shape.k), steps % lanes);
    for (int64_t bit = 1; bit < lanes; bit *= 2)
      for (int64_t i = 0; i < lanes; ++i)
        if (!(i & bit))
          exchange(square[i], square[i | bit], bit);
    for (int64_t i = 0; i < steps; ++i)
      storeElement(b, loc, square[i], at(to, i * bStride));
  }

  void exchange(Value &x, Value &y, int64_t bit) {
    SmallVector<int64_t> low, high;
    for (int64_t j = 0; j < lanes; ++j) {
      low.push_back(j & bit ? lanes + j - bit : j);
      high.push_back(j & bit ? lanes + j : j + bit);
    }
    Value first = vector::ShuffleOp::create(b, loc, x, y, low);
    y = vector::ShuffleOp::create(b, loc, x, y, high);
    x = first;
  }

  ModuleOp module;
  kernel::ProductShape shape;
  bool transposeA, transposeB;
  Type element;
  int64_t lanes, registers, bStride = 0;
  OpBuilder b;
  Location loc;
  Value zero, copied; ///< `copied`: B^T on the stack
  Value rowsOfA, rowsOfB, rowsOfC;
};

} // namespace

LLVM::LLVMFuncOp emitProduct(ModuleOp module, kernel::ProductOp op, StringRef name, int64_t vectorBytes) {
  return ProductEmitter(module, op, vectorBytes).emit(name);
}

} // namespace dyn::lower
