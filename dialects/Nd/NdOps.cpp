#include "dialects/Nd/NdOps.h"

#include "dialects/Nd/NdShapes.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace dyn;
using namespace dyn::nd;

//===----------------------------------------------------------------------===//
// Syntax of elementwise ops: one type when all agree, else a function type
//===----------------------------------------------------------------------===//

static ParseResult parseTypeList(OpAsmParser &parser, MutableArrayRef<Type *> types) {
  if (succeeded(parser.parseOptionalLParen())) {
    for (size_t i = 0; i + 1 < types.size(); ++i)
      if ((i && parser.parseComma()) || parser.parseType(*types[i]))
        return failure();
    return failure(parser.parseRParen() || parser.parseArrow() || parser.parseType(*types.back()));
  }
  if (parser.parseType(*types[0]))
    return failure();
  for (Type *type : types)
    *type = *types[0];
  return success();
}

static void printTypeList(OpAsmPrinter &printer, ArrayRef<Type> types) {
  if (llvm::all_equal(types)) {
    printer << types.front();
    return;
  }
  printer << '(';
  llvm::interleaveComma(types.drop_back(), printer);
  printer << ") -> " << types.back();
}

static ParseResult parseSameTypes(OpAsmParser &parser, Type &x, Type &result) {
  Type *types[] = {&x, &result};
  return parseTypeList(parser, types);
}
static ParseResult parseSameTypes(OpAsmParser &parser, Type &x, Type &y, Type &result) {
  Type *types[] = {&x, &y, &result};
  return parseTypeList(parser, types);
}
static void printSameTypes(OpAsmPrinter &printer, Operation *, Type x, Type result) {
  printTypeList(printer, {x, result});
}
static void printSameTypes(OpAsmPrinter &printer, Operation *, Type x, Type y, Type result) {
  printTypeList(printer, {x, y, result});
}

#define GET_OP_CLASSES
#include "dialects/Nd/NdOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Inferred result types
//===----------------------------------------------------------------------===//

#define ELEMENTWISE(OP, TIME, FLOPS)                                                                                   \
  LogicalResult OP::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor, SmallVectorImpl<Type> &types) {     \
    ShapeResult type = inferElementwise(loc, getOperationName().drop_front(3), adaptor.getOperands());                 \
    if (failed(type))                                                                                                  \
      return failure();                                                                                                \
    types.push_back(*type);                                                                                            \
    return success();                                                                                                  \
  }
#include "dialects/Nd/NdElementwise.def"

#define INFER(OP, CALL)                                                                                                \
  LogicalResult OP::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor op, SmallVectorImpl<Type> &types) {          \
    ShapeResult type = CALL;                                                                                           \
    if (failed(type))                                                                                                  \
      return failure();                                                                                                \
    types.push_back(*type);                                                                                            \
    return success();                                                                                                  \
  }
INFER(CompareOp, inferCompare(loc, op.getX(), op.getY()))
INFER(SelectOp, inferSelect(loc, op.getCondition(), op.getA(), op.getB()))
INFER(TransposeOp, inferTranspose(loc, typeOf(op.getInput()), op.getPerm()))
INFER(SliceOp, inferSlice(loc, typeOf(op.getInput()), op.getOffsets(), op.getSizes(), op.getStrides()))
INFER(PadOp, inferPad(loc, typeOf(op.getInput()), op.getLow(), op.getHigh()))
INFER(ConcatOp, inferConcat(loc, op.getInputs(), op.getDim()))
INFER(GatherOp, inferGather(loc, typeOf(op.getInput()), typeOf(op.getIndices()), op.getDim()))
INFER(ScatterOp, inferScatter(loc, typeOf(op.getBase()), typeOf(op.getIndices()), typeOf(op.getUpdates()),
                              op.getMode(), op.getDim()))
INFER(ReduceOp, inferReduce(loc, typeOf(op.getInput()), op.getKind(), op.getDims()))
INFER(ArgReduceOp, inferArgReduce(loc, typeOf(op.getInput()), op.getKind(), op.getDim()))
INFER(ContractOp, inferContract(loc, typeOf(op.getA()), typeOf(op.getB()), op.getLhs(), op.getRhs(), op.getOut()))
INFER(SegmentReduceOp, inferSegmentReduce(loc, typeOf(op.getInput()), op.getKind(), op.getOffsets()))
INFER(SegmentSpreadOp, inferSegmentSpread(loc, typeOf(op.getInput()), op.getOffsets()))
INFER(CumulateOp, inferCumulate(loc, typeOf(op.getInput()), op.getKind(), op.getDim()))
#undef INFER

//===----------------------------------------------------------------------===//
// Verifiers of ops whose result type is free
//===----------------------------------------------------------------------===//

/// The result keeps the operand's element type (unless `elementMayChange`) and hidden axes.
static LogicalResult verifyKept(Operation *op, bool elementMayChange = false) {
  auto from = typeOf(op->getOperand(0)), to = typeOf(op->getResult(0));
  if (!elementMayChange && from.getElementType() != to.getElementType())
    return op->emitOpError("changes the element type from ") << from.getElementType() << " to " << to.getElementType();
  if (from.getEncoding() != to.getEncoding())
    return op->emitOpError("changes the hidden axes from ") << from << " to " << to;
  return success();
}

LogicalResult CastOp::verify() {
  if (shapeOf(getX()) != shapeOf(getResult()))
    return emitOpError("changes the shape from ") << getX().getType() << " to " << getType();
  return verifyKept(*this, /*elementMayChange=*/true);
}

LogicalResult ReshapeOp::verify() {
  if (typeOf(getInput()).getNumElements() != typeOf(getResult()).getNumElements())
    return emitOpError("changes the number of elements from ")
           << typeOf(getInput()).getNumElements() << " to " << typeOf(getResult()).getNumElements();
  return verifyKept(*this);
}

LogicalResult BroadcastOp::verify() {
  auto from = typeOf(getInput()), to = typeOf(getResult());
  if (int64_t(getDims().size()) != from.getRank())
    return emitOpError("`dims` has ") << getDims().size() << " entries for the " << from.getRank()
                                      << " dimensions of " << from;
  int64_t last = -1;
  for (auto [i, dim] : llvm::enumerate(getDims())) {
    if (dim <= last || dim >= to.getRank())
      return emitOpError("`dims` does not increase within the ") << to.getRank() << " dimensions of the result";
    if (from.getDimSize(i) != to.getDimSize(dim))
      return emitOpError("operand dimension ") << i << " of size " << from.getDimSize(i)
                                               << " becomes result dimension " << dim << " of size "
                                               << to.getDimSize(dim);
    last = dim;
  }
  return verifyKept(*this);
}

LogicalResult IotaOp::verify() {
  int64_t rank = typeOf(getResult()).getRank(), dim = getDim();
  if (dim < 0 || dim >= rank)
    return emitOpError("dimension ") << dim << " is not one of the " << rank << " dimensions of " << getType();
  return success();
}

LogicalResult DrawOp::verify() {
  if (shapeOf(getCounter()) != ArrayRef<int64_t>{4} || !shapeOf(getBase()).empty())
    return emitOpError("takes a counter of four words and one base, not ")
           << getCounter().getType() << " and " << getBase().getType();
  Type element = typeOf(getResult()).getElementType();
  bool fits = getDist() == Dist::bits ? element.isInteger(64) : isa<FloatType>(element);
  if (!fits)
    return emitOpError("`") << stringifyDist(getDist()) << "` does not give elements of type " << element;
  return success();
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// Arguments of `region` are of `types`, and it ends in a yield.
static LogicalResult verifyRegion(Operation *op, Region &region, StringRef name, TypeRange types) {
  if (region.front().getArgumentTypes() != types) {
    InFlightDiagnostic diagnostic = op->emitOpError(name) << " takes (";
    llvm::interleaveComma(region.front().getArgumentTypes(), diagnostic);
    diagnostic << ") where (";
    llvm::interleaveComma(types, diagnostic);
    return diagnostic << ") is handed to it";
  }
  if (region.front().empty() || !isa<YieldOp>(region.front().back()))
    return op->emitOpError(name) << " does not end in nd.yield";
  return success();
}

static LogicalResult verifyYields(Operation *op, Region &region, StringRef name, TypeRange types) {
  TypeRange yielded = region.front().back().getOperandTypes();
  if (yielded == types)
    return success();
  InFlightDiagnostic diagnostic = op->emitOpError(name) << " yields (";
  llvm::interleaveComma(yielded, diagnostic);
  diagnostic << ") where (";
  llvm::interleaveComma(types, diagnostic);
  return diagnostic << ") is expected";
}

static RankedTensorType scalarI64(MLIRContext *context) {
  return RankedTensorType::get({}, IntegerType::get(context, 64));
}

/// The type without its leading dimension; the type with one more.
static RankedTensorType rowOf(RankedTensorType type) {
  return RankedTensorType::get(type.getShape().drop_front(), type.getElementType(), type.getEncoding());
}
static RankedTensorType stackOf(RankedTensorType type, int64_t size) {
  SmallVector<int64_t> shape{size};
  llvm::append_range(shape, type.getShape());
  return RankedTensorType::get(shape, type.getElementType(), type.getEncoding());
}

LogicalResult ScanOp::verify() {
  int64_t trip = getTrip();
  if (trip < 0)
    return emitOpError("trip count ") << trip << " is negative";
  SmallVector<Type> arguments{scalarI64(getContext())};
  llvm::append_range(arguments, getInits().getTypes());
  for (Value x : getXs()) {
    auto type = typeOf(x);
    if (type.getRank() == 0 || type.getDimSize(0) != trip)
      return emitOpError("cannot take rows of ") << type << " in " << trip << " passes";
    arguments.push_back(rowOf(type));
  }
  if (failed(verifyRegion(*this, getBody(), "body", arguments)))
    return failure();
  if (getNumResults() < getInits().size())
    return emitOpError("has fewer results than carried values");
  SmallVector<Type> yields(getInits().getTypes());
  TypeRange results = getResultTypes();
  if (results.take_front(yields.size()) != TypeRange(yields))
    return emitOpError("results do not begin with the types of the carried values");
  for (Type type : results.drop_front(yields.size())) {
    auto stack = cast<RankedTensorType>(type);
    if (stack.getRank() == 0 || stack.getDimSize(0) != trip)
      return emitOpError("cannot stack ") << trip << " rows into " << type;
    yields.push_back(rowOf(stack));
  }
  return verifyYields(*this, getBody(), "body", yields);
}

void ScanOp::build(
    OpBuilder &builder, OperationState &state, ValueRange inits, ValueRange xs, int64_t trip, bool reverse,
    function_ref<SmallVector<Value>(OpBuilder &, Location, Value, ValueRange, ValueRange)> body) {
  OpBuilder::InsertionGuard guard(builder);
  state.addOperands(inits);
  state.addOperands(xs);
  auto &properties = state.getOrAddProperties<Properties>();
  properties.operandSegmentSizes = {int32_t(inits.size()), int32_t(xs.size())};
  properties.trip = builder.getI64IntegerAttr(trip);
  if (reverse)
    properties.reverse = builder.getUnitAttr();
  SmallVector<Type> types{scalarI64(builder.getContext())};
  llvm::append_range(types, inits.getTypes());
  for (Value x : xs)
    types.push_back(rowOf(typeOf(x)));
  SmallVector<Location> locs(types.size(), state.location);
  Block *block = builder.createBlock(state.addRegion(), {}, types, locs);
  ValueRange arguments = block->getArguments();
  SmallVector<Value> yields = body(builder, state.location, arguments[0], arguments.slice(1, inits.size()),
                                   arguments.drop_front(1 + inits.size()));
  YieldOp::create(builder, state.location, yields);
  state.addTypes(inits.getTypes());
  for (Value y : ArrayRef(yields).drop_front(inits.size()))
    state.addTypes(stackOf(typeOf(y), trip));
}

LogicalResult WhileOp::verify() {
  if (int64_t(getLimit()) < 0)
    return emitOpError("limit is negative");
  TypeRange carried = getInits().getTypes();
  auto boolean = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  if (failed(verifyRegion(*this, getCondition(), "condition", carried)) ||
      failed(verifyRegion(*this, getBody(), "body", carried)) ||
      failed(verifyYields(*this, getBody(), "body", carried)))
    return failure();
  auto condition = getCondition().front().back().getOperandTypes();
  auto type = condition.size() == 1 ? dyn_cast<RankedTensorType>(condition[0]) : RankedTensorType();
  if (!type || type.getShape() != boolean.getShape() || type.getElementType() != boolean.getElementType())
    return emitOpError("condition does not yield one tensor<i1>");
  SmallVector<Type> expected(carried);
  expected.push_back(scalarI64(getContext()));
  if (getResultTypes() != TypeRange(expected))
    return emitOpError("results are not the carried values and the number of passes");
  return success();
}

void WhileOp::build(OpBuilder &builder, OperationState &state, ValueRange inits, int64_t limit,
                    function_ref<Value(OpBuilder &, Location, ValueRange)> condition,
                    function_ref<SmallVector<Value>(OpBuilder &, Location, ValueRange)> body) {
  OpBuilder::InsertionGuard guard(builder);
  state.addOperands(inits);
  state.getOrAddProperties<Properties>().limit = builder.getI64IntegerAttr(limit);
  SmallVector<Location> locs(inits.size(), state.location);
  Block *block = builder.createBlock(state.addRegion(), {}, inits.getTypes(), locs);
  YieldOp::create(builder, state.location, condition(builder, state.location, block->getArguments()));
  block = builder.createBlock(state.addRegion(), {}, inits.getTypes(), locs);
  YieldOp::create(builder, state.location, body(builder, state.location, block->getArguments()));
  state.addTypes(inits.getTypes());
  state.addTypes(scalarI64(builder.getContext()));
}

LogicalResult CondOp::verify() {
  if (!shapeOf(getCondition()).empty())
    return emitOpError("condition ") << getCondition().getType() << " is not a scalar; use nd.select";
  for (Region *region : {&getThenRegion(), &getElseRegion()}) {
    StringRef name = region == &getThenRegion() ? "then region" : "else region";
    if (failed(verifyRegion(*this, *region, name, {})) || failed(verifyYields(*this, *region, name, getResultTypes())))
      return failure();
  }
  return success();
}

void CondOp::build(OpBuilder &builder, OperationState &state, Value condition,
                   function_ref<SmallVector<Value>(OpBuilder &, Location)> thenBody,
                   function_ref<SmallVector<Value>(OpBuilder &, Location)> elseBody) {
  OpBuilder::InsertionGuard guard(builder);
  state.addOperands(condition);
  builder.createBlock(state.addRegion());
  SmallVector<Value> results = thenBody(builder, state.location);
  YieldOp::create(builder, state.location, results);
  builder.createBlock(state.addRegion());
  YieldOp::create(builder, state.location, elseBody(builder, state.location));
  state.addTypes(ValueRange(results).getTypes());
}

//===----------------------------------------------------------------------===//
// Builders
//===----------------------------------------------------------------------===//

void CastOp::build(OpBuilder &builder, OperationState &state, Value x, Type elementType) {
  auto type = typeOf(x);
  build(builder, state, RankedTensorType::get(type.getShape(), elementType, type.getEncoding()), x);
}

void ReshapeOp::build(OpBuilder &builder, OperationState &state, Value input, ArrayRef<int64_t> shape) {
  auto type = typeOf(input);
  build(builder, state, RankedTensorType::get(shape, type.getElementType(), type.getEncoding()), input);
}

void BroadcastOp::build(OpBuilder &builder, OperationState &state, Value input, ArrayRef<int64_t> shape,
                        ArrayRef<int64_t> dims) {
  auto type = typeOf(input);
  build(builder, state, RankedTensorType::get(shape, type.getElementType(), type.getEncoding()), input, dims);
}

Value nd::splat(OpBuilder &builder, Location loc, RankedTensorType type, double number) {
  auto plain = RankedTensorType::get(type.getShape(), type.getElementType());
  Attribute element = isa<FloatType>(type.getElementType())
                          ? Attribute(builder.getFloatAttr(type.getElementType(), number))
                          : Attribute(builder.getIntegerAttr(type.getElementType(), int64_t(number)));
  return ConstantOp::create(builder, loc, DenseElementsAttr::get(plain, element));
}

SmallVector<int64_t> nd::range(int64_t lo, int64_t hi) { return llvm::to_vector(llvm::seq(lo, hi)); }

Value nd::broadcastTo(OpBuilder &builder, Location loc, Value x, ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  if (shapeOf(x) == shape)
    return x;
  return BroadcastOp::create(builder, loc, x, shape, dims);
}
