// Derivatives of ops that move elements: all linear, so the forward rule is the op itself.
#include "dialects/Nd/NdDerivativesInternals.h"
#include "dialects/Nd/NdExpression.h"

using namespace mlir;
using namespace dyn;
using namespace dyn::nd;

#define DIFFERENTIABLE(OP)                                                                                             \
  StringRef OP::notDifferentiableReason() { return {}; }
DIFFERENTIABLE(BroadcastOp)
DIFFERENTIABLE(ReshapeOp)
DIFFERENTIABLE(TransposeOp)
DIFFERENTIABLE(SliceOp)
DIFFERENTIABLE(PadOp)
DIFFERENTIABLE(ConcatOp)
DIFFERENTIABLE(GatherOp)
DIFFERENTIABLE(ScatterOp)
#undef DIFFERENTIABLE

SmallVector<int64_t> nd::otherDims(int64_t rank, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> others;
  for (int64_t d = 0; d < rank; ++d)
    if (!llvm::is_contained(dims, d))
      others.push_back(d);
  return others;
}

Value nd::reversed(OpBuilder &builder, Location loc, Value x, int64_t dim) {
  int64_t size = shapeOf(x)[dim];
  SmallVector<int64_t> order = llvm::to_vector(llvm::reverse(range(0, size)));
  auto type = RankedTensorType::get({size}, builder.getI64Type());
  Value indices = ConstantOp::create(builder, loc, DenseElementsAttr::get(type, ArrayRef<int64_t>(order)));
  return GatherOp::create(builder, loc, x, indices, dim);
}

Value nd::dimToFront(OpBuilder &builder, Location loc, Value x, int64_t dim) {
  if (dim == 0)
    return x;
  SmallVector<int64_t> perm{dim};
  llvm::append_range(perm, otherDims(typeOf(x).getRank(), {dim}));
  return TransposeOp::create(builder, loc, x, perm);
}

Value nd::dimFromFront(OpBuilder &builder, Location loc, Value x, int64_t dim) {
  if (dim == 0)
    return x;
  SmallVector<int64_t> perm = range(1, dim + 1);
  perm.push_back(0);
  llvm::append_range(perm, range(dim + 1, typeOf(x).getRank()));
  return TransposeOp::create(builder, loc, x, perm);
}

// y[.., j, ..] = x[..]: dx sums over the new dimensions.
LogicalResult BroadcastOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents, const VjpRequest &,
                                    SmallVectorImpl<Value> &results) {
  SmallVector<int64_t> added = otherDims(typeOf(getResult()).getRank(), getDims());
  results.push_back(ReduceOp::create(builder, getLoc(), cotangents[0], ReduceKind::sum, added));
  return success();
}
LogicalResult BroadcastOp::buildJvp(OpBuilder &builder, ArrayRef<Value> tangents, SmallVectorImpl<Value> &results) {
  results.push_back(BroadcastOp::create(builder, getLoc(), tangents[0], shapeOf(getResult()), getDims()));
  return success();
}

LogicalResult ReshapeOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents, const VjpRequest &,
                                  SmallVectorImpl<Value> &results) {
  results.push_back(ReshapeOp::create(builder, getLoc(), cotangents[0], shapeOf(getInput())));
  return success();
}
LogicalResult ReshapeOp::buildJvp(OpBuilder &builder, ArrayRef<Value> tangents, SmallVectorImpl<Value> &results) {
  results.push_back(ReshapeOp::create(builder, getLoc(), tangents[0], shapeOf(getResult())));
  return success();
}

LogicalResult TransposeOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents, const VjpRequest &,
                                    SmallVectorImpl<Value> &results) {
  SmallVector<int64_t> inverse(getPerm().size());
  for (auto [i, d] : llvm::enumerate(getPerm()))
    inverse[d] = int64_t(i);
  results.push_back(TransposeOp::create(builder, getLoc(), cotangents[0], inverse));
  return success();
}
LogicalResult TransposeOp::buildJvp(OpBuilder &builder, ArrayRef<Value> tangents, SmallVectorImpl<Value> &results) {
  results.push_back(TransposeOp::create(builder, getLoc(), tangents[0], getPerm()));
  return success();
}

/// Elements of dimension d apart by `stride`, zeros between: n becomes (n - 1) stride + 1.
static Value dilate(OpBuilder &builder, Location loc, Value x, int64_t d, int64_t stride) {
  SmallVector<int64_t> shape(shapeOf(x));
  int64_t rank = int64_t(shape.size()), size = shape[d];
  if (stride == 1 || size <= 1)
    return x;
  SmallVector<int64_t> split(shape), low(rank + 1, 0), high(rank + 1, 0);
  split.insert(split.begin() + d + 1, 1);
  high[d + 1] = stride - 1;
  x = PadOp::create(builder, loc, ReshapeOp::create(builder, loc, x, split), low, high);
  shape[d] = size * stride;
  x = ReshapeOp::create(builder, loc, x, shape);
  shape[d] = (size - 1) * stride + 1;
  return SliceOp::create(builder, loc, x, SmallVector<int64_t>(rank, 0), shape, SmallVector<int64_t>(rank, 1));
}

// y[i] = x[offset + stride i]: dx is g, spread by the strides, within zeros.
LogicalResult SliceOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents, const VjpRequest &,
                                SmallVectorImpl<Value> &results) {
  Value g = cotangents[0];
  SmallVector<int64_t> high;
  for (int64_t d = 0, rank = typeOf(getInput()).getRank(); d < rank; ++d) {
    g = dilate(builder, getLoc(), g, d, getStrides()[d]);
    high.push_back(shapeOf(getInput())[d] - getOffsets()[d] - shapeOf(g)[d]);
  }
  results.push_back(PadOp::create(builder, getLoc(), g, getOffsets(), high));
  return success();
}
LogicalResult SliceOp::buildJvp(OpBuilder &builder, ArrayRef<Value> tangents, SmallVectorImpl<Value> &results) {
  results.push_back(SliceOp::create(builder, getLoc(), tangents[0], getOffsets(), getSizes(), getStrides()));
  return success();
}

LogicalResult PadOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents, const VjpRequest &,
                              SmallVectorImpl<Value> &results) {
  SmallVector<int64_t> strides(getLow().size(), 1);
  results.push_back(
      SliceOp::create(builder, getLoc(), cotangents[0], getLow(), shapeOf(getInput()), strides));
  return success();
}
LogicalResult PadOp::buildJvp(OpBuilder &builder, ArrayRef<Value> tangents, SmallVectorImpl<Value> &results) {
  results.push_back(PadOp::create(builder, getLoc(), tangents[0], getLow(), getHigh()));
  return success();
}

LogicalResult ConcatOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents, const VjpRequest &request,
                                 SmallVectorImpl<Value> &results) {
  int64_t rank = typeOf(getResult()).getRank(), dim = getDim();
  SmallVector<int64_t> offsets(rank, 0), strides(rank, 1);
  for (auto [input, needed] : llvm::zip(getInputs(), request.needed)) {
    results.push_back(needed ? Value(SliceOp::create(builder, getLoc(), cotangents[0], offsets, shapeOf(input),
                                                     strides))
                             : Value());
    offsets[dim] += shapeOf(input)[dim];
  }
  return success();
}
LogicalResult ConcatOp::buildJvp(OpBuilder &builder, ArrayRef<Value> tangents, SmallVectorImpl<Value> &results) {
  SmallVector<Value> parts;
  for (auto [input, tangent] : llvm::zip(getInputs(), tangents))
    parts.push_back(tangent ? tangent : zerosOf(builder, input));
  results.push_back(ConcatOp::create(builder, getLoc(), parts, getDim()));
  return success();
}

// y[i] = x[idx[i]]: dx[idx[i]] += g[i].
LogicalResult GatherOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents, const VjpRequest &,
                                 SmallVectorImpl<Value> &results) {
  Value zeros = zerosOf(builder, getInput());
  results.push_back(ScatterOp::create(builder, getLoc(), zeros, getIndices(), cotangents[0], ScatterMode::add,
                                      getDim()));
  results.push_back(Value());
  return success();
}
LogicalResult GatherOp::buildJvp(OpBuilder &builder, ArrayRef<Value> tangents, SmallVectorImpl<Value> &results) {
  results.push_back(GatherOp::create(builder, getLoc(), tangents[0], getIndices(), getDim()));
  return success();
}

/// True where an update is the one that stays: of those with one index, the last. Of the updates' shape.
static Value lastWriter(OpBuilder &builder, ScatterOp op) {
  Location loc = op.getLoc();
  auto indexType = typeOf(op.getIndices());
  int64_t count = indexType.getNumElements(), dim = op.getDim();
  Value flat = ReshapeOp::create(builder, loc, op.getIndices(), ArrayRef<int64_t>{count});
  auto flatType = RankedTensorType::get({count}, builder.getI64Type());
  Value position = IotaOp::create(builder, loc, flatType, 0);
  auto slots = RankedTensorType::get({shapeOf(op.getBase())[dim]}, builder.getI64Type());
  Value writer = ScatterOp::create(builder, loc, splat(builder, loc, slots, 0), flat, position, ScatterMode::set, 0);
  Value mine = CompareOp::create(builder, loc, CompareKind::eq, GatherOp::create(builder, loc, writer, flat, 0),
                                 position);
  mine = ReshapeOp::create(builder, loc, mine, indexType.getShape());
  return broadcastTo(builder, loc, mine, shapeOf(op.getUpdates()), range(dim, dim + indexType.getRank()));
}

// add: db = g, du[i] = g[idx[i]]. set: db is g with zeros at idx, du[i] = g[idx[i]] for the update that stays.
LogicalResult ScatterOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents, const VjpRequest &request,
                                  SmallVectorImpl<Value> &results) {
  Ex g{&builder, getLoc(), cotangents[0]};
  bool set = getMode() == ScatterMode::set;
  Value base = g;
  if (set && request.needed[0])
    base = ScatterOp::create(builder, getLoc(), g.value, getIndices(), zerosOf(builder, getUpdates()),
                             ScatterMode::set, getDim());
  results.push_back(base);
  results.push_back(Value());
  Value updates;
  if (request.needed[2]) {
    updates = GatherOp::create(builder, getLoc(), g.value, getIndices(), getDim());
    if (set && typeOf(getIndices()).getNumElements() > 1)
      updates = select(g.with(lastWriter(builder, *this)), g.with(updates), 0);
  }
  results.push_back(updates);
  return success();
}
LogicalResult ScatterOp::buildJvp(OpBuilder &builder, ArrayRef<Value> tangents, SmallVectorImpl<Value> &results) {
  Value base = tangents[0] ? tangents[0] : zerosOf(builder, getBase());
  Value updates = tangents[2] ? tangents[2] : zerosOf(builder, getUpdates());
  results.push_back(ScatterOp::create(builder, getLoc(), base, getIndices(), updates, getMode(), getDim()));
  return success();
}
