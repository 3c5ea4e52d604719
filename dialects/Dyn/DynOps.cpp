//===- DynOps.cpp - verifiers, and derivatives of what has them here ------===//
#include "dialects/Dyn/DynOps.h"

#include "dialects/Nd/NdSweep.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace dyn;
using namespace dyn::ir;

#define GET_OP_CLASSES
#include "dialects/Dyn/DynOps.cpp.inc"

static RankedTensorType tensorOf(Value value) { return cast<RankedTensorType>(value.getType()); }

LogicalResult ObjectiveOp::verify() {
  auto yield = dyn_cast<YieldOp>(getBody().front().back());
  if (!yield)
    return emitOpError("ends without dyn.yield");
  if (yield.getValues().empty())
    return emitOpError("yields nothing: first comes its value, then the next states of its models");
  auto type = cast<RankedTensorType>(yield.getValues().front().getType());
  if (type.getRank() || type.getEncoding() || !isa<FloatType>(type.getElementType()))
    return emitOpError("yields ") << type << ", not one number without hidden axes";
  for (Value state : yield.getValues().drop_front())
    if (tensorOf(state).getEncoding())
      return emitOpError("yields a state of type ") << state.getType() << ", which carries a hidden axis";
  return success();
}

LogicalResult FieldOp::verify() {
  if (!carries(getType(), "example"))
    return emitOpError("gives ") << getType() << ", which does not carry `example`";
  return success();
}

LogicalResult RowOp::verify() {
  RankedTensorType type = tensorOf(getResult());
  if (!carries(type, "example") || type.getRank() || !type.getElementType().isInteger(64))
    return emitOpError("gives ") << type << ", not one i64 that carries `example`";
  return success();
}

LogicalResult OverOp::verify() {
  RankedTensorType input = tensorOf(getInput());
  if (!carries(input, getAxis()))
    return emitOpError("reduces over `") << getAxis() << "`, which " << input << " does not carry";
  Attribute rest = cast<AxesAttr>(input.getEncoding()).without(getAxis());
  Type element = getKind() == OverKind::count ? IntegerType::get(getContext(), 64) : input.getElementType();
  auto expected = RankedTensorType::get(input.getShape(), element, rest);
  if (getType() != expected)
    return emitOpError("gives ") << getType() << "; " << expected << " was expected";
  return success();
}

LogicalResult ElementsOp::verify() {
  RankedTensorType present = tensorOf(getPresent());
  if (present.getRank() != 1 || present.getEncoding())
    return emitOpError("has ") << present << ", not one bool for each element";
  return success();
}

/// `narrow` carries `axis`, which is the first dimension of `wide`.
static LogicalResult verifyStack(Operation *op, RankedTensorType narrow, RankedTensorType wide, StringRef axis) {
  if (!carries(narrow, axis))
    return op->emitOpError("has no `") << axis << "` in " << narrow;
  bool fits = wide.getRank() == narrow.getRank() + 1 && wide.getShape().drop_front() == narrow.getShape() &&
              wide.getElementType() == narrow.getElementType() &&
              wide.getEncoding() == cast<AxesAttr>(narrow.getEncoding()).without(axis);
  return fits ? success() : op->emitOpError("makes other elements of it: ") << narrow << " and " << wide;
}

LogicalResult StackOp::verify() { return verifyStack(*this, tensorOf(getInput()), tensorOf(getResult()), getAxis()); }

LogicalResult UnstackOp::verify() { return verifyStack(*this, tensorOf(getResult()), tensorOf(getInput()), getAxis()); }

/// Shape and element type stay.
static LogicalResult verifySameElements(Operation *op) {
  auto input = tensorOf(op->getOperand(0)), result = tensorOf(op->getResult(0));
  if (input.getShape() == result.getShape() && input.getElementType() == result.getElementType())
    return success();
  return op->emitOpError("changes more than the encoding: ") << input << " to " << result;
}

LogicalResult VaryOp::verify() {
  if (auto axes = dyn_cast_if_present<AxesAttr>(tensorOf(getInput()).getEncoding()))
    for (StringAttr axis : axes.getNames())
      if (!carries(getType(), axis.getValue()))
        return emitOpError("drops the axis `") << axis.getValue() << "`";
  return verifySameElements(*this);
}

LogicalResult RecastOp::verify() { return verifySameElements(*this); }

/// The same elements: the cotangent is read as the input was.
LogicalResult RecastOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents, const VjpRequest &,
                                 SmallVectorImpl<Value> &inputCotangents) {
  Value g = cotangents.front();
  if (g && g.getType() != getInput().getType())
    g = RecastOp::create(builder, getLoc(), getInput().getType(), g).getResult();
  inputCotangents.push_back(g);
  return success();
}

LogicalResult RecastOp::buildJvp(OpBuilder &builder, ArrayRef<Value> tangents, SmallVectorImpl<Value> &results) {
  Value v = tangents.front();
  if (v && v.getType() != getType())
    v = RecastOp::create(builder, getLoc(), getType(), v).getResult();
  results.push_back(v);
  return success();
}

static Attribute rangeIn(Value value) { return rangeOf(tensorOf(value).getEncoding()); }

LogicalResult LeafReduceOp::verify() {
  auto leaves = dyn_cast_if_present<LeavesAttr>(rangeIn(getInput()));
  if (!leaves)
    return emitOpError("reduces ") << getInput().getType() << ", which is not leaf-wise";
  int64_t count = leaves.getShapes().size();
  if (tensorOf(getResult()).getShape() != ArrayRef<int64_t>(count))
    return emitOpError("gives ") << getType() << " for " << count << " leaves";
  return success();
}

LogicalResult LeafSpreadOp::verify() {
  auto leaves = dyn_cast_if_present<LeavesAttr>(rangeIn(getResult()));
  auto count = dyn_cast_if_present<PerLeafAttr>(rangeIn(getInput()));
  if (!leaves || !count || count.getCount() != static_cast<int64_t>(leaves.getShapes().size()))
    return emitOpError("spreads ") << getInput().getType() << " to " << getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Functions with derivatives
//===----------------------------------------------------------------------===//

static LogicalResult verifyArguments(Operation *op, Region &region, TypeRange expected) {
  if (region.getArgumentTypes() != expected)
    return op->emitOpError("has a region whose arguments are not what it is given");
  return isa<YieldOp>(region.front().back()) ? success() : op->emitOpError("has a region that ends without dyn.yield");
}

LogicalResult DerivativeOp::verify() {
  if (failed(verifyArguments(*this, getBody(), getPoints().getTypes())))
    return failure();
  TypeRange values = getValues().getTypes();
  size_t derivatives = getMode() == DerivativeMode::forward   ? values.size()
                       : getMode() == DerivativeMode::reverse ? getPoints().size()
                                                              : values.size() * getPoints().size();
  TypeRange along = getMode() == DerivativeMode::forward   ? TypeRange(getPoints().getTypes())
                    : getMode() == DerivativeMode::reverse ? values
                                                           : TypeRange();
  if (TypeRange(getDirections().getTypes()) != along)
    return emitOpError("has directions that are not like ")
           << (getMode() == DerivativeMode::reverse ? "its values" : "its points");
  if (getNumResults() != values.size() + derivatives || TypeRange(getResultTypes()).take_front(values.size()) != values)
    return emitOpError("does not give the function's values, then ") << derivatives << " derivatives";
  return success();
}

LogicalResult WithBackwardOp::verify() {
  SmallVector<Type> both(getInputs().getTypes());
  llvm::append_range(both, getResultTypes());
  if (failed(verifyArguments(*this, getFunction(), getInputs().getTypes())) ||
      failed(verifyArguments(*this, getBackward(), both)))
    return failure();
  if (getFunction().front().getTerminator()->getOperandTypes() != getResultTypes() ||
      getBackward().front().getTerminator()->getOperandTypes() != getInputs().getTypes())
    return emitOpError("yields other types than its results, or backwards than its operands");
  return success();
}

/// The ops of a region's block with `arguments` for its own; gives what it yields.
static SmallVector<Value> inlined(OpBuilder &builder, Region &region, ValueRange arguments) {
  IRMapping map;
  map.map(region.getArguments(), arguments);
  for (Operation &op : region.front().without_terminator())
    builder.clone(op, map);
  return llvm::map_to_vector(region.front().getTerminator()->getOperands(),
                             [&](Value value) { return map.lookupOrDefault(value); });
}

LogicalResult WithBackwardOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents, const VjpRequest &request,
                                       SmallVectorImpl<Value> &inputCotangents) {
  if (llvm::is_contained(request.needed.drop_front(getInputs().size()), true)) {
    request.refuse(*this, "its `backward` says nothing of values that the function takes from around it");
    return failure();
  }
  SmallVector<Value> arguments(getInputs());
  for (auto [cotangent, result] : llvm::zip(cotangents, getResults()))
    arguments.push_back(cotangent ? cotangent : nd::zerosOf(builder, result));
  llvm::append_range(inputCotangents, inlined(builder, getBackward(), arguments));
  inputCotangents.resize(request.needed.size());
  return success();
}

// `backward` is u -> J^T u, whatever u: J v is the cotangent of u for the cotangent v.
LogicalResult WithBackwardOp::buildJvp(OpBuilder &builder, ArrayRef<Value> tangents,
                                       SmallVectorImpl<Value> &resultTangents) {
  size_t count = getInputs().size();
  if (llvm::any_of(tangents.drop_front(count), [](Value tangent) { return bool(tangent); }))
    return failure();
  SmallVector<Value> arguments(getInputs()), at;
  for (Value result : getResults())
    at.push_back(nd::zerosOf(builder, result));
  llvm::append_range(arguments, at);
  SmallVector<Value> back = inlined(builder, getBackward(), arguments);
  return nd::reverseSweep(builder, back, tangents.take_front(count), at, /*masked=*/false,
                          [](Operation *, const Twine &) {}, resultTangents);
}
