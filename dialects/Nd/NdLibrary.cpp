// Result types, calls and batching of the ops that a routine of the runtime does.
#include "dialects/Nd/NdLibraryOps.h"

#include "dialects/Nd/NdBatch.h"
#include "dialects/Nd/NdShapes.h"
#include "runtime/Scratch.h"

using namespace mlir;
using namespace dyn;
using namespace dyn::nd;

#include "dialects/Nd/NdLibraryInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/Nd/NdLibraryOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Result types
//===----------------------------------------------------------------------===//

namespace {
/// Fails after an error at loc, if there is one.
template <typename... Parts>
LogicalResult refuse(MaybeLoc loc, StringRef op, Parts &&...parts) {
  if (loc)
    ((emitError(*loc) << "'nd." << op << "' op ") << ... << std::forward<Parts>(parts));
  return failure();
}

/// Matrices with a batch of them in front.
struct Matrices {
  RankedTensorType type;
  int64_t rows = 0, columns = 0;

  static FailureOr<Matrices> of(MaybeLoc loc, StringRef op, Value value) {
    auto type = typeOf(value);
    int64_t rank = type.getRank();
    if (rank < 2)
      return refuse(loc, op, "takes matrices, not ", type);
    return Matrices{type, type.getDimSize(rank - 2), type.getDimSize(rank - 1)};
  }
  static FailureOr<Matrices> squareOf(MaybeLoc loc, StringRef op, Value value) {
    FailureOr<Matrices> found = of(loc, op, value);
    if (succeeded(found) && found->rows != found->columns)
      return refuse(loc, op, "takes square matrices, not ", found->type);
    return found;
  }

  ArrayRef<int64_t> batch() const { return type.getShape().drop_back(2); }
  int64_t count() const { return ShapedType::getNumElements(batch()); }
  int64_t least() const { return std::min(rows, columns); }
  int64_t unit() const { return type.getElementTypeBitWidth() / 8; }
  /// The batch with these dimensions behind it.
  RankedTensorType with(ArrayRef<int64_t> dims) const {
    SmallVector<int64_t> shape(batch());
    llvm::append_range(shape, dims);
    return RankedTensorType::get(shape, type.getElementType(), type.getEncoding());
  }
};

/// The matrices of an op that has been verified.
Matrices matricesOf(Value value) { return *Matrices::of(std::nullopt, "", value); }

/// X of A X = B.
ShapeResult inferSolution(MaybeLoc loc, StringRef op, Value a, Value b) {
  FailureOr<Matrices> left = Matrices::squareOf(loc, op, a), right = Matrices::of(loc, op, b);
  if (failed(left) || failed(right))
    return failure();
  if (left->batch() != right->batch() || left->rows != right->rows ||
      left->type.getElementType() != right->type.getElementType())
    return refuse(loc, op, "cannot solve ", left->type, " for ", right->type);
  FailureOr<Attribute> encoding = mergeEncodings(TypeRange{left->type, right->type});
  if (failed(encoding))
    return refuse(loc, op, "operands vary over axes that cannot meet");
  return RankedTensorType::get(right->type.getShape(), right->type.getElementType(), *encoding);
}

LogicalResult checkOffsets(MaybeLoc loc, RankedTensorType x, ArrayRef<int64_t> offsets) {
  if (x.getRank() != 1)
    return refuse(loc, "argsort", "has pieces of ", x, ", which is not one-dimensional");
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != x.getDimSize(0) || !llvm::is_sorted(offsets))
    return refuse(loc, "argsort", "`offsets` does not rise from 0 to ", x.getDimSize(0));
  return success();
}
} // namespace

#define INFER(OP)                                                                                                      \
  LogicalResult OP::inferReturnTypes(MLIRContext *context, MaybeLoc loc, Adaptor op, SmallVectorImpl<Type> &types)

INFER(ArgSortOp) {
  auto type = typeOf(op.getInput());
  if (op.getDim() >= uint64_t(type.getRank()))
    return refuse(loc, "argsort", "dimension ", int64_t(op.getDim()), " is not one of the ", type.getRank(),
                  " dimensions of ", type);
  if (op.getOffsets() && failed(checkOffsets(loc, type, *op.getOffsets())))
    return failure();
  types.push_back(RankedTensorType::get(type.getShape(), IntegerType::get(context, 64), type.getEncoding()));
  return success();
}

INFER(CholeskyOp) {
  FailureOr<Matrices> a = Matrices::squareOf(loc, "cholesky", op.getA());
  if (succeeded(a))
    types.push_back(a->type);
  return a;
}

INFER(QrOp) {
  FailureOr<Matrices> a = Matrices::of(loc, "qr", op.getA());
  if (failed(a))
    return failure();
  if (a->rows < a->columns)
    return refuse(loc, "qr", "takes matrices with at least as many rows as columns, not ", a->type);
  types.append({a->type, a->with({a->columns, a->columns})});
  return success();
}

INFER(EighOp) {
  FailureOr<Matrices> a = Matrices::squareOf(loc, "eigh", op.getA());
  if (succeeded(a))
    types.append({a->with({a->rows}), a->type});
  return a;
}

INFER(SvdOp) {
  FailureOr<Matrices> a = Matrices::of(loc, "svd", op.getA());
  if (succeeded(a))
    types.append({a->with({a->rows, a->least()}), a->with({a->least()}), a->with({a->columns, a->least()})});
  return a;
}

INFER(SolveOp) {
  ShapeResult type = inferSolution(loc, "solve", op.getA(), op.getB());
  if (succeeded(type))
    types.push_back(*type);
  return type;
}

INFER(TriangularSolveOp) {
  ShapeResult type = inferSolution(loc, "triangular_solve", op.getA(), op.getB());
  if (succeeded(type))
    types.push_back(*type);
  return type;
}

INFER(LogDetOp) {
  FailureOr<Matrices> a = Matrices::squareOf(loc, "log_det", op.getA());
  if (succeeded(a))
    types.append({a->with({}), a->with({})});
  return a;
}

INFER(FftOp) {
  FailureOr<Matrices> x = Matrices::of(loc, "fft", op.getInput());
  if (failed(x))
    return failure();
  if (x->columns != 2)
    return refuse(loc, "fft", "takes pairs of real and imaginary parts in the last dimension, not ", x->type);
  types.push_back(x->type);
  return success();
}

//===----------------------------------------------------------------------===//
// Calls: numbers and scratch are those that the routine's row in Functions.def says
//===----------------------------------------------------------------------===//

#define CALL(OP, ROUTINE)                                                                                              \
  StringRef OP::getRoutine() { return ROUTINE; }
CALL(ArgSortOp, "dyn_argsort")
CALL(CholeskyOp, "dyn_cholesky")
CALL(QrOp, "dyn_qr")
CALL(EighOp, "dyn_eigh")
CALL(SvdOp, "dyn_svd")
CALL(SolveOp, "dyn_solve")
CALL(TriangularSolveOp, "dyn_triangular_solve")
CALL(LogDetOp, "dyn_log_det")
CALL(FftOp, "dyn_fft")
#undef CALL

bool ArgSortOp::canFail() { return false; }
bool QrOp::canFail() { return false; }
bool LogDetOp::canFail() { return false; }
bool FftOp::canFail() { return false; }

SmallVector<int64_t> ArgSortOp::getNumbers() {
  ArrayRef<int64_t> shape = shapeOf(getInput());
  int64_t size = shape[getDim()];
  SmallVector<int64_t> numbers{ShapedType::getNumElements(shape.take_front(getDim())), size,
                               ShapedType::getNumElements(shape.drop_front(getDim() + 1))};
  SmallVector<int64_t> offsets{0, size};
  if (getOffsets())
    offsets.assign(getOffsets()->begin(), getOffsets()->end());
  numbers.push_back(int64_t(offsets.size()) - 1);
  llvm::append_range(numbers, offsets);
  return numbers;
}
int64_t ArgSortOp::getScratchBytes() { return scratch::argsort(shapeOf(getInput())[getDim()]); }

SmallVector<int64_t> CholeskyOp::getNumbers() {
  Matrices a = matricesOf(getA());
  return {a.count(), a.rows};
}
int64_t CholeskyOp::getScratchBytes() { return 0; }

SmallVector<int64_t> QrOp::getNumbers() {
  Matrices a = matricesOf(getA());
  return {a.count(), a.rows, a.columns};
}
int64_t QrOp::getScratchBytes() {
  Matrices a = matricesOf(getA());
  return scratch::qr(a.rows, a.columns, a.unit());
}

SmallVector<int64_t> EighOp::getNumbers() {
  Matrices a = matricesOf(getA());
  return {a.count(), a.rows};
}
int64_t EighOp::getScratchBytes() {
  Matrices a = matricesOf(getA());
  return scratch::eigh(a.rows, a.unit());
}

SmallVector<int64_t> SvdOp::getNumbers() {
  Matrices a = matricesOf(getA());
  return {a.count(), a.rows, a.columns};
}
int64_t SvdOp::getScratchBytes() {
  Matrices a = matricesOf(getA());
  return scratch::svd(a.rows, a.columns, a.unit());
}

SmallVector<int64_t> SolveOp::getNumbers() {
  Matrices b = matricesOf(getB());
  return {b.count(), b.rows, b.columns};
}
int64_t SolveOp::getScratchBytes() {
  Matrices b = matricesOf(getB());
  return scratch::solve(b.rows, b.columns, b.unit());
}

SmallVector<int64_t> TriangularSolveOp::getNumbers() {
  Matrices b = matricesOf(getB());
  return {b.count(), b.rows, b.columns, getUpper()};
}
int64_t TriangularSolveOp::getScratchBytes() { return 0; }

SmallVector<int64_t> LogDetOp::getNumbers() {
  Matrices a = matricesOf(getA());
  return {a.count(), a.rows};
}
int64_t LogDetOp::getScratchBytes() {
  Matrices a = matricesOf(getA());
  return scratch::logDet(a.rows, a.unit());
}

SmallVector<int64_t> FftOp::getNumbers() {
  Matrices x = matricesOf(getInput());
  return {x.count(), x.rows, getInverse()};
}
int64_t FftOp::getScratchBytes() { return scratch::fft(matricesOf(getInput()).rows); }

//===----------------------------------------------------------------------===//
// Batching: one more dimension in front of the batch
//===----------------------------------------------------------------------===//

using Results = FailureOr<SmallVector<Value>>;

#define BATCHED(OP)                                                                                                    \
  Results OP::buildBatched(OpBuilder &builder, ArrayRef<Value> inputs, ArrayRef<bool> batched,                         \
                           const BatchRequest &request)

#define BATCHED_ALONE(OP)                                                                                              \
  BATCHED(OP) { return SmallVector<Value>(OP::create(builder, getLoc(), inputs[0])->getResults()); }
BATCHED_ALONE(CholeskyOp)
BATCHED_ALONE(QrOp)
BATCHED_ALONE(EighOp)
BATCHED_ALONE(SvdOp)
BATCHED_ALONE(LogDetOp)
#undef BATCHED_ALONE

BATCHED(FftOp) { return SmallVector<Value>{FftOp::create(builder, getLoc(), inputs[0], getInverse())}; }

// Pieces of several rows are pieces of one longer range; its places count from the beginning of each row.
BATCHED(ArgSortOp) {
  if (!getOffsets())
    return SmallVector<Value>{ArgSortOp::create(builder, getLoc(), inputs[0], getDim() + 1, DenseI64ArrayAttr())};
  int64_t size = shapeOf(getInput())[0], rows = request.size;
  SmallVector<int64_t> offsets{0};
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t offset : getOffsets()->drop_front())
      offsets.push_back(row * size + offset);
  Value flat = ReshapeOp::create(builder, getLoc(), inputs[0], ArrayRef<int64_t>{rows * size});
  Value places = ArgSortOp::create(builder, getLoc(), flat, uint64_t(0), builder.getDenseI64ArrayAttr(offsets));
  places = ReshapeOp::create(builder, getLoc(), places, ArrayRef<int64_t>{rows, size});
  auto plain = RankedTensorType::get({rows, size}, builder.getI64Type());
  Value row = IotaOp::create(builder, getLoc(), plain, uint64_t(0));
  Value start = MulOp::create(builder, getLoc(), row, splat(builder, getLoc(), plain, double(size)));
  return SmallVector<Value>{SubOp::create(builder, getLoc(), places, start)};
}

/// One matrix for all rows: their right sides stand beside one another, and it is decomposed once.
template <typename Solve>
static Value solveBesides(OpBuilder &builder, Location loc, Value b, Solve solve) {
  ArrayRef<int64_t> shape = shapeOf(b);
  int64_t rows = shape[0], n = shape[1], columns = shape[2];
  constexpr int64_t swap[] = {1, 0, 2};
  Value wide = TransposeOp::create(builder, loc, b, swap);
  wide = solve(ReshapeOp::create(builder, loc, wide, ArrayRef<int64_t>{n, rows * columns}));
  Value apart = ReshapeOp::create(builder, loc, wide, ArrayRef<int64_t>{n, rows, columns});
  return TransposeOp::create(builder, loc, apart, swap);
}

template <typename Solve>
static SmallVector<Value> batchSolve(OpBuilder &builder, Location loc, ArrayRef<Value> inputs, ArrayRef<bool> batched,
                                     int64_t size, Solve solve) {
  if (!batched[0] && typeOf(inputs[0]).getRank() == 2)
    return {solveBesides(builder, loc, inputs[1], [&](Value b) { return solve(inputs[0], b); })};
  return {solve(batchedOf(builder, {inputs[0], batched[0]}, size), batchedOf(builder, {inputs[1], batched[1]}, size))};
}

BATCHED(SolveOp) {
  return batchSolve(builder, getLoc(), inputs, batched, request.size,
                    [&](Value a, Value b) -> Value { return SolveOp::create(builder, getLoc(), a, b); });
}
BATCHED(TriangularSolveOp) {
  return batchSolve(builder, getLoc(), inputs, batched, request.size, [&](Value a, Value b) -> Value {
    return TriangularSolveOp::create(builder, getLoc(), a, b, getUpper());
  });
}
