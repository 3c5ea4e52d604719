#include "dialects/Run/RunOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dyn::run;

#include "dialects/Run/RunDialect.cpp.inc"
#include "dialects/Run/RunEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Run/RunAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/Run/RunOps.cpp.inc"

void RunDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Run/RunAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Run/RunOps.cpp.inc"
      >();
}

/// The result is one element of `type`.
static LogicalResult verifyScalar(Operation *op, Type type) {
  auto expected = RankedTensorType::get({}, type);
  if (op->getResult(0).getType() == expected)
    return success();
  return op->emitOpError("gives ") << expected << ", not " << op->getResult(0).getType();
}

LogicalResult NumberOp::verify() { return verifyScalar(*this, Float64Type::get(getContext())); }
LogicalResult ClockOp::verify() { return verifyScalar(*this, IntegerType::get(getContext(), 64)); }
LogicalResult CountOp::verify() { return verifyScalar(*this, IntegerType::get(getContext(), 64)); }

LogicalResult RowsOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (type.getRank() == 1 && type.getElementType().isInteger(64))
    return success();
  return emitOpError("gives a list of i64, not ") << type;
}

LogicalResult GuardOp::verify() {
  auto type = cast<RankedTensorType>(getValue().getType());
  if (isa<FloatType>(type.getElementType()))
    return success();
  return emitOpError("guards floating-point values, not ") << type;
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // Before sockets become functions the callee is a symbol of another dialect, which checks itself.
  Operation *symbol = symbols.lookupNearestSymbolFrom(*this, getCalleeAttr());
  auto callee = dyn_cast_if_present<func::FuncOp>(symbol);
  if (symbol && !callee)
    return success();
  if (!callee)
    return emitOpError("calls `") << getCallee() << "`, which is not a function of this module";
  if (callee.getNumArguments() || callee.getNumResults())
    return emitOpError("calls `") << getCallee() << "` of type " << callee.getFunctionType()
                                  << "; a function of effects is () -> ()";
  return success();
}
