//===- DynOps.cpp - verifiers ---------------------------------------------===//
#include "dialects/Dyn/DynOps.h"

#include "mlir/IR/Builders.h"
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
  auto type = cast<RankedTensorType>(yield.getValue().getType());
  if (type.getRank() || type.getEncoding())
    return emitOpError("yields ") << type << ", not one number without hidden axes";
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

LogicalResult LeafReduceOp::verify() {
  auto leaves = dyn_cast_if_present<LeavesAttr>(tensorOf(getInput()).getEncoding());
  if (!leaves)
    return emitOpError("reduces ") << getInput().getType() << ", which is not leaf-wise";
  int64_t count = leaves.getShapes().size();
  if (tensorOf(getResult()).getShape() != ArrayRef<int64_t>(count))
    return emitOpError("gives ") << getType() << " for " << count << " leaves";
  return success();
}

LogicalResult LeafSpreadOp::verify() {
  auto leaves = dyn_cast_if_present<LeavesAttr>(tensorOf(getResult()).getEncoding());
  auto count = dyn_cast_if_present<PerLeafAttr>(tensorOf(getInput()).getEncoding());
  if (!leaves || !count || count.getCount() != static_cast<int64_t>(leaves.getShapes().size()))
    return emitOpError("spreads ") << getInput().getType() << " to " << getType();
  return success();
}
