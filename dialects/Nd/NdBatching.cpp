// Batching rules of ops without regions, and the walk over a block.
#include "dialects/Nd/NdBatch.h"

#include "dialects/Nd/NdExpression.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace dyn;
using namespace dyn::nd;

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

RankedTensorType nd::withLeading(RankedTensorType type, int64_t size) {
  SmallVector<int64_t> shape{size};
  llvm::append_range(shape, type.getShape());
  return RankedTensorType::get(shape, type.getElementType(), type.getEncoding());
}

Value nd::batchedOf(OpBuilder &builder, BatchedValue value, int64_t size) {
  if (value.batched)
    return value.value;
  auto type = typeOf(value.value);
  return BroadcastOp::create(builder, value.value.getLoc(), value.value, withLeading(type, size).getShape(),
                             range(1, type.getRank() + 1));
}

/// What all rows have in common.
static Value firstRow(OpBuilder &builder, Value rows) {
  SmallVector<int64_t> shape(shapeOf(rows)), sizes(shape);
  sizes[0] = 1;
  Value first = SliceOp::create(builder, rows.getLoc(), rows, SmallVector<int64_t>(shape.size(), 0), sizes,
                                SmallVector<int64_t>(shape.size(), 1));
  return ReshapeOp::create(builder, rows.getLoc(), first, ArrayRef<int64_t>(shape).drop_front());
}

LogicalResult nd::batchOp(OpBuilder &builder, Operation *op, BatchMap &map, const BatchRequest &request) {
  SmallVector<Value> inputs;
  SmallVector<bool> batched;
  IRMapping plain;
  for (Value input : getInputs(op)) {
    auto found = map.find(input);
    inputs.push_back(found == map.end() ? input : found->second.value);
    batched.push_back(found != map.end() && found->second.batched);
    plain.map(input, inputs.back());
  }
  if (request.foreign && !isa<NdDialect>(op->getDialect())) {
    SmallVector<std::pair<Value, bool>> results;
    if (failed(request.foreign(builder, op, inputs, batched, results)))
      return failure();
    for (auto [old, result] : llvm::zip(op->getResults(), results))
      map[old] = {result.first, result.second};
    return success();
  }
  if (!llvm::is_contained(batched, true) && !(request.varies && request.varies(op))) {
    Operation *clone = builder.clone(*op, plain);
    for (auto [result, value] : llvm::zip(op->getResults(), clone->getResults()))
      map[result] = {value, false};
    return success();
  }
  // An op that must vary though no input does, and is neither a source nor a loop: the same value for each row.
  if (!llvm::is_contained(batched, true) && !op->getNumRegions() && !isa<DrawOp, ConstantOp, IotaOp>(op)) {
    Operation *clone = builder.clone(*op, plain);
    for (auto [result, value] : llvm::zip(op->getResults(), clone->getResults()))
      map[result] = {batchedOf(builder, {value, false}, request.size), true};
    return success();
  }
  auto rule = dyn_cast<Batchable>(op);
  if (!rule)
    return op->emitOpError("cannot be made for a batch");
  Block *block = builder.getInsertionBlock();
  auto end = builder.getInsertionPoint();
  Operation *before = end == block->begin() ? nullptr : &*std::prev(end);
  FailureOr<SmallVector<Value>> results = rule.buildBatched(builder, inputs, batched, request);
  if (failed(results))
    return failure();
  // What says where the op may fail goes with it.
  if (Attribute site = op->getAttr("site"))
    for (Operation &made : llvm::make_range(before ? std::next(before->getIterator()) : block->begin(), end))
      if (made.getName() == op->getName())
        made.setAttr("site", site);
  for (auto [result, value] : llvm::zip(op->getResults(), *results))
    map[result] = request.variesValue && !request.variesValue(result)
                      ? BatchedValue{firstRow(builder, value), false}
                      : BatchedValue{value, true};
  return success();
}

LogicalResult nd::batchBlock(OpBuilder &builder, Block &block, BatchMap &map, const BatchRequest &request) {
  for (Operation &op : block.without_terminator())
    if (failed(batchOp(builder, &op, map, request)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Elementwise ops
//===----------------------------------------------------------------------===//

using Results = FailureOr<SmallVector<Value>>;

static SmallVector<Value> allBatched(OpBuilder &builder, ArrayRef<Value> inputs, ArrayRef<bool> batched,
                                     int64_t size) {
  SmallVector<Value> values;
  for (auto [input, is] : llvm::zip(inputs, batched))
    values.push_back(batchedOf(builder, {input, is}, size));
  return values;
}

/// The same op on operands that all have the leading dimension.
static Results batchElementwise(OpBuilder &builder, Operation *op, ArrayRef<Value> inputs, ArrayRef<bool> batched,
                                const BatchRequest &request) {
  SmallVector<Value> operands = allBatched(builder, inputs, batched, request.size);
  auto element = typeOf(op->getResult(0)).getElementType();
  FailureOr<Attribute> encoding = mergeEncodings(ValueRange(operands).getTypes());
  if (failed(encoding))
    return op->emitOpError("operands vary over axes that cannot meet");
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(operands);
  state.addTypes(RankedTensorType::get(shapeOf(operands.front()), element, *encoding));
  state.attributes = op->getDiscardableAttrDictionary();
  if (op->getPropertiesStorageSize())
    state.propertiesAttr = op->getPropertiesAsAttribute();
  return SmallVector<Value>{builder.create(state)->getResult(0)};
}

#define ELEMENTWISE(OP, TIME, FLOPS)                                                                                   \
  Results OP::buildBatched(OpBuilder &builder, ArrayRef<Value> inputs, ArrayRef<bool> batched,                         \
                           const BatchRequest &request) {                                                              \
    return batchElementwise(builder, *this, inputs, batched, request);                                                 \
  }
#include "dialects/Nd/NdElementwise.def"
#define ELEMENTWISE(OP)                                                                                                \
  Results OP::buildBatched(OpBuilder &builder, ArrayRef<Value> inputs, ArrayRef<bool> batched,                         \
                           const BatchRequest &request) {                                                              \
    return batchElementwise(builder, *this, inputs, batched, request);                                                 \
  }
ELEMENTWISE(CompareOp)
ELEMENTWISE(SelectOp)
ELEMENTWISE(CastOp)
#undef ELEMENTWISE

//===----------------------------------------------------------------------===//
// Sources: batched only when they must vary
//===----------------------------------------------------------------------===//

static Results repeatSource(OpBuilder &builder, Operation *op, const BatchRequest &request) {
  Operation *clone = builder.clone(*op);
  if (request.strip)
    clone->getResult(0).setType(request.strip(typeOf(clone->getResult(0))));
  return SmallVector<Value>{batchedOf(builder, {clone->getResult(0), false}, request.size)};
}

Results ConstantOp::buildBatched(OpBuilder &builder, ArrayRef<Value>, ArrayRef<bool>, const BatchRequest &request) {
  auto type = typeOf(getResult());
  Value plain = ConstantOp::create(builder, getLoc(), getValue());
  if (request.strip && request.strip(type) != type) {
    auto dense = dyn_cast<DenseElementsAttr>(getValue());
    if (!dense)
      return emitOpError("is not dense");
    plain = ConstantOp::create(builder, getLoc(), dense.reshape(request.strip(type)));
  }
  return SmallVector<Value>{batchedOf(builder, {plain, false}, request.size)};
}

Results IotaOp::buildBatched(OpBuilder &builder, ArrayRef<Value>, ArrayRef<bool>, const BatchRequest &request) {
  return repeatSource(builder, *this, request);
}

/// Any op, by a scan over the rows of its batched operands.
static Results batchByLoop(OpBuilder &builder, Operation *op, ArrayRef<Value> inputs, ArrayRef<bool> batched,
                           const BatchRequest &request) {
  SmallVector<Value> xs;
  for (auto [input, is] : llvm::zip(inputs, batched))
    if (is)
      xs.push_back(input);
  auto scan = ScanOp::create(builder, op->getLoc(), ValueRange(), xs, request.size, /*reverse=*/false,
                             [&](OpBuilder &b, Location, Value, ValueRange, ValueRange rows) {
                               IRMapping mapping;
                               unsigned row = 0;
                               for (unsigned i = 0; i < op->getNumOperands(); ++i)
                                 mapping.map(op->getOperand(i), batched[i] ? rows[row++] : inputs[i]);
                               Operation *clone = b.clone(*op, mapping);
                               if (request.strip)
                                 for (Value result : clone->getResults())
                                   result.setType(request.strip(typeOf(result)));
                               return SmallVector<Value>(clone->getResults());
                             });
  return SmallVector<Value>(scan.getResults());
}

// Rows of a batched draw are different numbers: it is the draw of the larger shape. Rows with counters of their own
// are drawn one by one.
Results DrawOp::buildBatched(OpBuilder &builder, ArrayRef<Value> inputs, ArrayRef<bool> batched,
                             const BatchRequest &request) {
  if (batched[0] || batched[1])
    return batchByLoop(builder, *this, inputs, batched, request);
  auto type = typeOf(getResult());
  if (request.strip)
    type = request.strip(type);
  return SmallVector<Value>{DrawOp::create(builder, getLoc(), withLeading(type, request.size), getDist(), getStream(),
                                           inputs[0], inputs[1], getSite())};
}

//===----------------------------------------------------------------------===//
// Shape: dimension numbers move up by one
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> lead(int64_t first, ArrayRef<int64_t> rest, int64_t shift = 0) {
  SmallVector<int64_t> all{first};
  for (int64_t entry : rest)
    all.push_back(entry + shift);
  return all;
}

#define BATCHED(OP)                                                                                                    \
  Results OP::buildBatched(OpBuilder &builder, ArrayRef<Value> inputs, ArrayRef<bool> batched,                         \
                           const BatchRequest &request)

BATCHED(BroadcastOp) {
  return SmallVector<Value>{BroadcastOp::create(builder, getLoc(), inputs[0],
                                                lead(request.size, shapeOf(getResult())), lead(0, getDims(), 1))};
}
BATCHED(ReshapeOp) {
  return SmallVector<Value>{
      ReshapeOp::create(builder, getLoc(), inputs[0], lead(request.size, shapeOf(getResult())))};
}
BATCHED(TransposeOp) {
  return SmallVector<Value>{TransposeOp::create(builder, getLoc(), inputs[0], lead(0, getPerm(), 1))};
}
BATCHED(SliceOp) {
  return SmallVector<Value>{SliceOp::create(builder, getLoc(), inputs[0], lead(0, getOffsets()),
                                            lead(request.size, getSizes()), lead(1, getStrides()))};
}
BATCHED(PadOp) {
  return SmallVector<Value>{PadOp::create(builder, getLoc(), inputs[0], lead(0, getLow()), lead(0, getHigh()))};
}
BATCHED(ConcatOp) {
  return SmallVector<Value>{
      ConcatOp::create(builder, getLoc(), allBatched(builder, inputs, batched, request.size), getDim() + 1)};
}
BATCHED(ReduceOp) {
  SmallVector<int64_t> dims;
  for (int64_t dim : getDims())
    dims.push_back(dim + 1);
  return SmallVector<Value>{ReduceOp::create(builder, getLoc(), inputs[0], getKind(), dims)};
}
BATCHED(ArgReduceOp) {
  return SmallVector<Value>{ArgReduceOp::create(builder, getLoc(), inputs[0], getKind(), getDim() + 1)};
}
BATCHED(CumulateOp) {
  return SmallVector<Value>{CumulateOp::create(builder, getLoc(), inputs[0], getKind(), getDim() + 1)};
}

// One letter more, on each operand that has rows, and on the result.
BATCHED(ContractOp) {
  StringRef used[] = {getLhs(), getRhs(), getOut()};
  char fresh = 0;
  for (char letter : StringRef("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))
    if (!fresh && llvm::none_of(used, [&](StringRef letters) { return letters.contains(letter); }))
      fresh = letter;
  if (!fresh)
    return emitOpError("has no letter left for the batch");
  auto add = [&](bool to, StringRef letters) { return (to ? std::string(1, fresh) : std::string()) + letters.str(); };
  return SmallVector<Value>{ContractOp::create(builder, getLoc(), inputs[0], inputs[1], add(batched[0], getLhs()),
                                               add(batched[1], getRhs()), add(true, getOut()))};
}

//===----------------------------------------------------------------------===//
// Segments: the rows one after the other are one longer range
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> repeatOffsets(ArrayRef<int64_t> offsets, int64_t size) {
  SmallVector<int64_t> all{0};
  for (int64_t row = 0; row < size; ++row)
    for (int64_t offset : offsets.drop_front())
      all.push_back(row * offsets.back() + offset);
  return all;
}

/// Above this many pieces a loop over rows is shorter to write down.
static constexpr int64_t maxPieces = 1 << 16;

BATCHED(SegmentReduceOp) {
  int64_t pieces = int64_t(getOffsets().size()) - 1;
  if (pieces * request.size > maxPieces)
    return batchByLoop(builder, *this, inputs, batched, request);
  Value flat = ReshapeOp::create(builder, getLoc(), inputs[0],
                                 ArrayRef<int64_t>{request.size * shapeOf(getInput())[0]});
  Value values = SegmentReduceOp::create(builder, getLoc(), flat, getKind(), repeatOffsets(getOffsets(), request.size));
  return SmallVector<Value>{ReshapeOp::create(builder, getLoc(), values, ArrayRef<int64_t>{request.size, pieces})};
}
BATCHED(SegmentSpreadOp) {
  int64_t pieces = int64_t(getOffsets().size()) - 1;
  if (pieces * request.size > maxPieces)
    return batchByLoop(builder, *this, inputs, batched, request);
  Value flat = ReshapeOp::create(builder, getLoc(), inputs[0], ArrayRef<int64_t>{request.size * pieces});
  Value values = SegmentSpreadOp::create(builder, getLoc(), flat, repeatOffsets(getOffsets(), request.size));
  return SmallVector<Value>{
      ReshapeOp::create(builder, getLoc(), values, ArrayRef<int64_t>{request.size, getOffsets().back()})};
}

//===----------------------------------------------------------------------===//
// Indexing
//===----------------------------------------------------------------------===//

/// For x of shape [rows, before…, n, after…] with n at `dim`: shape [rows * n, before…, after…].
static Value foldRows(OpBuilder &builder, Location loc, Value x, int64_t dim) {
  SmallVector<int64_t> perm{0, dim}, shape;
  for (int64_t d = 1; d < typeOf(x).getRank(); ++d)
    if (d != dim)
      perm.push_back(d);
  x = TransposeOp::create(builder, loc, x, perm);
  shape.push_back(shapeOf(x)[0] * shapeOf(x)[1]);
  llvm::append_range(shape, shapeOf(x).drop_front(2));
  return ReshapeOp::create(builder, loc, x, shape);
}

/// The inverse, for n = size of the dimension.
static Value unfoldRows(OpBuilder &builder, Location loc, Value x, int64_t dim, int64_t rows, int64_t n) {
  SmallVector<int64_t> shape{rows, n}, perm{0};
  llvm::append_range(shape, shapeOf(x).drop_front());
  x = ReshapeOp::create(builder, loc, x, shape);
  // Dimensions now: rows, n, before…, after…; n goes to place `dim`.
  llvm::append_range(perm, range(2, dim + 1));
  perm.push_back(1);
  llvm::append_range(perm, range(dim + 1, int64_t(shape.size())));
  return TransposeOp::create(builder, loc, x, perm);
}

/// Indices of row r into a range of rows * n: index + r n; one out of range stays out of range.
static Value foldIndices(OpBuilder &builder, Location loc, Value indices, int64_t n) {
  Ex index{&builder, loc, indices};
  auto type = RankedTensorType::get(shapeOf(indices), builder.getI64Type());
  Ex row = index.with(IotaOp::create(builder, loc, type, 0));
  Ex good = logicalAnd(compare(CompareKind::ge, index, 0), compare(CompareKind::lt, index, double(n)));
  return select(good, index + row * double(n), index.like(double(shapeOf(indices)[0] * n)));
}

BATCHED(GatherOp) {
  int64_t dim = getDim(), rank = typeOf(getInput()).getRank(), places = typeOf(getIndices()).getRank();
  Location loc = getLoc();
  if (!batched[1])
    return SmallVector<Value>{GatherOp::create(builder, loc, inputs[0], inputs[1], dim + 1)};
  if (!batched[0]) {
    // x[.., idx[r, i], ..] has shape before ++ r ++ indices ++ after: the row goes to the front.
    Value result = GatherOp::create(builder, loc, inputs[0], inputs[1], dim);
    SmallVector<int64_t> perm{dim};
    for (int64_t d = 0; d < rank + places; ++d)
      if (d != dim)
        perm.push_back(d);
    return SmallVector<Value>{TransposeOp::create(builder, loc, result, perm)};
  }
  Value folded = foldRows(builder, loc, inputs[0], dim + 1);
  Value indices = foldIndices(builder, loc, inputs[1], shapeOf(getInput())[dim]);
  // Shape [rows, indices…, before…, after…]; before belongs in front of indices.
  Value result = GatherOp::create(builder, loc, folded, indices, 0);
  SmallVector<int64_t> perm{0};
  llvm::append_range(perm, range(1 + places, 1 + places + dim));
  llvm::append_range(perm, range(1, 1 + places));
  llvm::append_range(perm, range(1 + places + dim, typeOf(result).getRank()));
  return SmallVector<Value>{TransposeOp::create(builder, loc, result, perm)};
}

BATCHED(ScatterOp) {
  int64_t dim = getDim(), places = typeOf(getIndices()).getRank(), size = shapeOf(getBase())[dim];
  Location loc = getLoc();
  Value base = batchedOf(builder, {inputs[0], batched[0]}, request.size);
  Value updates = batchedOf(builder, {inputs[2], batched[2]}, request.size);
  if (!batched[1])
    return SmallVector<Value>{ScatterOp::create(builder, loc, base, inputs[1], updates, getMode(), dim + 1)};
  Value folded = foldRows(builder, loc, base, dim + 1);
  Value indices = foldIndices(builder, loc, inputs[1], size);
  // Updates are [rows, before…, indices…, after…]; the folded base wants [rows, indices…, before…, after…].
  SmallVector<int64_t> perm{0};
  llvm::append_range(perm, range(1 + dim, 1 + dim + places));
  llvm::append_range(perm, range(1, 1 + dim));
  llvm::append_range(perm, range(1 + dim + places, typeOf(updates).getRank()));
  updates = TransposeOp::create(builder, loc, updates, perm);
  Value result = ScatterOp::create(builder, loc, folded, indices, updates, getMode(), 0);
  return SmallVector<Value>{unfoldRows(builder, loc, result, dim + 1, request.size, size)};
}
