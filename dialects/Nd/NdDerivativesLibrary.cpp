// Derivatives of decompositions and solutions: M. B. Giles, Collected matrix derivative results for forward and reverse
// mode algorithmic differentiation, 2008; J. Townsend, Differentiating the singular value decomposition, 2016;
// S. F. Walter, L. Lehmann, Algorithmic differentiation of linear algebra functions, 2010.
#include "dialects/Nd/NdExpression.h"
#include "dialects/Nd/NdLibraryOps.h"
#include "dialects/Nd/NdSweep.h"

using namespace mlir;
using namespace dyn;
using namespace dyn::nd;

namespace {
//===----------------------------------------------------------------------===//
// Formulas of matrices, each with a batch in front
//===----------------------------------------------------------------------===//

struct Matrix {
  Ex x;

  Matrix with(Value value) const { return {x.with(value)}; }
  ArrayRef<int64_t> shape() const { return nd::shapeOf(x.value); }
  int64_t rank() const { return int64_t(shape().size()); }
  int64_t rows() const { return shape()[rank() - 2]; }
  int64_t columns() const { return shape()[rank() - 1]; }

  Matrix t() const {
    SmallVector<int64_t> perm = range(0, rank());
    std::swap(perm[rank() - 2], perm[rank() - 1]);
    return with(TransposeOp::create(*x.builder, x.loc, x.value, perm));
  }
  /// Element-by-element relation of the row's number to the column's.
  Value where(CompareKind kind) const {
    auto type = RankedTensorType::get(shape(), x.builder->getI64Type());
    Value row = IotaOp::create(*x.builder, x.loc, type, uint64_t(rank() - 2));
    Value column = IotaOp::create(*x.builder, x.loc, type, uint64_t(rank() - 1));
    return CompareOp::create(*x.builder, x.loc, kind, row, column);
  }
  Matrix kept(CompareKind kind) const { return {select(x.with(where(kind)), x, 0)}; }
  /// The elements of the diagonal of a square matrix.
  Ex diagonal() const {
    return x.with(ReduceOp::create(*x.builder, x.loc, kept(CompareKind::eq).x.value, ReduceKind::sum,
                                   ArrayRef<int64_t>{rank() - 1}));
  }
  /// A vector (with the batch) at each row, or in each column, of a matrix of this shape.
  Matrix acrossRows(Value v) const { return spread(v, rank() - 1); }
  Matrix acrossColumns(Value v) const { return spread(v, rank() - 2); }
  Matrix identity() const { return {select(x.with(where(CompareKind::eq)), x.like(1), x.like(0))}; }

private:
  /// v, which has no dimension but the batch and `dim`, over all.
  Matrix spread(Value v, int64_t dim) const {
    SmallVector<int64_t> dims = range(0, rank() - 2);
    dims.push_back(dim);
    return with(BroadcastOp::create(*x.builder, x.loc, v, shape(), dims));
  }
};

Matrix operator+(Matrix a, Matrix b) { return {a.x + b.x}; }
Matrix operator-(Matrix a, Matrix b) { return {a.x - b.x}; }
Matrix operator-(Matrix a) { return {-a.x}; }
/// Element by element.
Matrix times(Matrix a, Matrix b) { return {a.x * b.x}; }

/// The product of matrices.
Matrix operator*(Matrix a, Matrix b) {
  std::string batch;
  for (int64_t d = 2; d < a.rank(); ++d)
    batch += char('a' + d);
  return a.with(ContractOp::create(*a.x.builder, a.x.loc, a.x.value, b.x.value, batch + "XY", batch + "YZ",
                                   batch + "XZ"));
}

Matrix solve(Matrix a, Matrix b) { return a.with(SolveOp::create(*a.x.builder, a.x.loc, a.x.value, b.x.value)); }
/// T X = B.
Matrix solveLower(Matrix t, Matrix b) {
  return t.with(TriangularSolveOp::create(*t.x.builder, t.x.loc, t.x.value, b.x.value, false));
}
Matrix solveUpper(Matrix t, Matrix b) {
  return t.with(TriangularSolveOp::create(*t.x.builder, t.x.loc, t.x.value, b.x.value, true));
}
Matrix symmetric(Matrix a) { return {(a.x + a.t().x) * 0.5}; }

/// 1/x, and 0 where x is 0.
Matrix inverseOrZero(Matrix x) {
  Ex zero = compare(CompareKind::eq, x.x, 0);
  return {select(zero, 0, 1 / select(zero, 1, x.x))};
}
/// F_ij = 1/(d_j - d_i), and 0 where they are equal: vectors of equal values count as fixed.
Matrix inverseGaps(Matrix like, Value d) { return inverseOrZero(like.acrossRows(d) - like.acrossColumns(d)); }

//===----------------------------------------------------------------------===//
// Reverse rules from forward rules
//===----------------------------------------------------------------------===//

/// Drops what was built since `start` and is not needed.
void eraseUnused(OpBuilder &builder, Operation *start, ArrayRef<Value> kept) {
  Block *block = builder.getInsertionBlock();
  auto end = builder.getInsertionPoint();
  SmallVector<Operation *> built;
  for (auto at = start ? std::next(start->getIterator()) : block->begin(); at != end; ++at)
    built.push_back(&*at);
  for (Operation *op : llvm::reverse(built))
    if (op->use_empty() && llvm::none_of(op->getResults(), [&](Value v) { return llvm::is_contained(kept, v); }))
      op->erase();
}

/// A forward rule is linear in its tangents; cotangents pass backwards through the ops it consists of.
LogicalResult transposeForwardRule(Operation *op, OpBuilder &builder, ArrayRef<Value> cotangents,
                                   const VjpRequest &request, SmallVectorImpl<Value> &results) {
  Block *block = builder.getInsertionBlock();
  auto point = builder.getInsertionPoint();
  Operation *before = point == block->begin() ? nullptr : &*std::prev(point);
  SmallVector<Value> tangents, moving, outputs, given, gradients;
  for (auto [operand, needed] : llvm::zip(op->getOperands(), request.needed)) {
    tangents.push_back(needed ? zerosOf(builder, operand) : Value());
    if (needed)
      moving.push_back(tangents.back());
  }
  SmallVector<Value> forward;
  if (failed(cast<Differentiable>(op).buildJvp(builder, tangents, forward)))
    return failure();
  for (auto [tangent, cotangent] : llvm::zip(forward, cotangents))
    if (tangent && cotangent) {
      outputs.push_back(tangent);
      given.push_back(cotangent);
    }
  SmallVector<Value> fixed(op->getOperands());
  llvm::append_range(fixed, op->getResults());
  if (failed(reverseSweep(builder, outputs, given, moving, request.masked, request.refuse, gradients, fixed)))
    return failure();
  size_t next = 0;
  for (Value tangent : tangents)
    results.push_back(tangent ? gradients[next++] : Value());
  eraseUnused(builder, before, results);
  return success();
}
} // namespace

#define FORWARD(OP)                                                                                                    \
  StringRef OP::notDifferentiableReason() { return {}; }                                                               \
  LogicalResult OP::buildJvp(OpBuilder &builder, ArrayRef<Value> tangents, SmallVectorImpl<Value> &results)
#define REVERSE(OP)                                                                                                    \
  LogicalResult OP::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents, const VjpRequest &request,                \
                             SmallVectorImpl<Value> &results)
#define REVERSE_BY_FORWARD(OP)                                                                                         \
  REVERSE(OP) { return transposeForwardRule(*this, builder, cotangents, request, results); }
REVERSE_BY_FORWARD(CholeskyOp)
REVERSE_BY_FORWARD(QrOp)
REVERSE_BY_FORWARD(EighOp)
REVERSE_BY_FORWARD(SvdOp)
REVERSE_BY_FORWARD(LogDetOp)
#undef REVERSE_BY_FORWARD

//===----------------------------------------------------------------------===//
// argsort, fft
//===----------------------------------------------------------------------===//

StringRef ArgSortOp::notDifferentiableReason() { return "a position has no derivative"; }
LogicalResult ArgSortOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &results) {
  results.push_back(Value());
  return success();
}
REVERSE(ArgSortOp) {
  results.push_back(Value());
  return success();
}

// y = F x with F symmetric: over pairs of reals the transpose is its conjugate, the transform the other way.
FORWARD(FftOp) {
  results.push_back(FftOp::create(builder, getLoc(), tangents[0], getInverse()));
  return success();
}
REVERSE(FftOp) {
  results.push_back(FftOp::create(builder, getLoc(), cotangents[0], !getInverse()));
  return success();
}

//===----------------------------------------------------------------------===//
// Solutions
//===----------------------------------------------------------------------===//

/// dX = A^-1 (dB - dA X), `divide` being A^-1 and `part` what of A is read.
template <typename Divide, typename Part>
static Value solutionTangent(Matrix x, ArrayRef<Value> tangents, Divide divide, Part part) {
  std::optional<Matrix> change;
  if (tangents[1])
    change = x.with(tangents[1]);
  if (tangents[0]) {
    Matrix moved = part(x.with(tangents[0])) * x;
    change = change ? *change - moved : -moved;
  }
  return divide(*change).x;
}

FORWARD(SolveOp) {
  Matrix x{{&builder, getLoc(), getX()}}, a = x.with(getA());
  results.push_back(solutionTangent(
      x, tangents, [&](Matrix b) { return solve(a, b); }, [](Matrix da) { return da; }));
  return success();
}

// B' = A^-T G, A' = -B' X^T.
REVERSE(SolveOp) {
  Matrix x{{&builder, getLoc(), getX()}}, a = x.with(getA());
  Matrix b = solve(a.t(), x.with(cotangents[0]));
  results.push_back(request.needed[0] ? Value((-(b * x.t())).x) : Value());
  results.push_back(b.x);
  return success();
}

FORWARD(TriangularSolveOp) {
  Matrix x{{&builder, getLoc(), getX()}}, a = x.with(getA());
  CompareKind side = getUpper() ? CompareKind::le : CompareKind::ge;
  results.push_back(solutionTangent(
      x, tangents, [&](Matrix b) { return getUpper() ? solveUpper(a, b) : solveLower(a, b); },
      [&](Matrix da) { return da.kept(side); }));
  return success();
}

REVERSE(TriangularSolveOp) {
  Matrix x{{&builder, getLoc(), getX()}}, a = x.with(getA()), g = x.with(cotangents[0]);
  Matrix b = getUpper() ? solveLower(a.t(), g) : solveUpper(a.t(), g);
  CompareKind side = getUpper() ? CompareKind::le : CompareKind::ge;
  results.push_back(request.needed[0] ? Value((-(b * x.t())).kept(side).x) : Value());
  results.push_back(b.x);
  return success();
}

//===----------------------------------------------------------------------===//
// Decompositions
//===----------------------------------------------------------------------===//

// dL = L Phi(L^-1 dA L^-T), Phi the lower triangle with half of the diagonal.
FORWARD(CholeskyOp) {
  Matrix l{{&builder, getLoc(), getL()}};
  Matrix left = solveLower(l, symmetric(l.with(tangents[0])));
  Matrix both = solveLower(l, left.t());
  Matrix phi = both.kept(CompareKind::gt) + Matrix{both.kept(CompareKind::eq).x * 0.5};
  results.push_back((l * phi).x);
  return success();
}

// With M = dA R^-1, C = Q^T M and W = tril(C, -1) - tril(C, -1)^T: dR = (C - W) R, dQ = M - Q (C - W).
FORWARD(QrOp) {
  Matrix q{{&builder, getLoc(), getQ()}}, r = q.with(getR());
  Matrix m = solveLower(r.t(), q.with(tangents[0]).t()).t();
  Matrix c = q.t() * m, low = c.kept(CompareKind::gt);
  Matrix upper = c - low + low.t();
  results.push_back((m - q * upper).x);
  results.push_back((upper * r).x);
  return success();
}

// With D = V^T dA V: dw = diag D, dV = V (F o D).
FORWARD(EighOp) {
  Matrix v{{&builder, getLoc(), getV()}};
  Matrix d = v.t() * symmetric(v.with(tangents[0])) * v;
  results.push_back(d.diagonal());
  results.push_back((v * times(inverseGaps(d, getW()), d)).x);
  return success();
}

// With D = U^T dA V, F of the squares of s: ds = diag D, dU = U (F o (D S + S D^T)) + (dA V - U D) S^-1, and dV alike of
// A^T.
FORWARD(SvdOp) {
  Matrix u{{&builder, getLoc(), getU()}}, v = u.with(getV()), da = u.with(tangents[0]);
  Matrix d = u.t() * da * v;
  Ex s = u.x.with(getS());
  Matrix gaps = inverseGaps(d, (s * s).value);
  auto side = [&](Matrix vectors, Matrix moved, Matrix d) {
    Matrix scaled = times(d, d.acrossRows(s));
    Matrix result = vectors * times(gaps, scaled + scaled.t());
    if (vectors.rows() == vectors.columns())
      return result;
    return result + times(moved - vectors * d, inverseOrZero(vectors.acrossRows(s)));
  };
  results.push_back(side(u, da * v, d).x);
  results.push_back(d.diagonal());
  results.push_back(side(v, da.t() * u, d.t()).x);
  return success();
}

// d log|det A| = trace(A^-1 dA).
FORWARD(LogDetOp) {
  Matrix a{{&builder, getLoc(), getA()}};
  Ex diagonal = solve(a, a.with(tangents[0])).diagonal();
  results.push_back(Value());
  results.push_back(ReduceOp::create(builder, getLoc(), diagonal.value, ReduceKind::sum,
                                     ArrayRef<int64_t>{a.rank() - 2}));
  return success();
}
