//===- Abi.h - generated code's view of runtime/abi.h ---------------------===//
#ifndef DYN_PASSES_LOWER_ABI_H
#define DYN_PASSES_LOWER_ABI_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace dyn::lower {

mlir::Type pointerType(mlir::MLIRContext *context);
/// Declares every row of Functions.def; types are read off the C signatures.
void declareRuntime(mlir::ModuleOp module);
/// Calls a row; the result, or null.
mlir::Value callRuntime(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef name, mlir::ValueRange arguments);
/// Element code of dyn_draw and dyn_emit: 0 f32, 1 f64, 2 i64, 3 i1.
int32_t elementCode(mlir::Type element);

/// Loads of DynContext's fields.
mlir::Value loadArena(mlir::OpBuilder &b, mlir::Location loc, mlir::Value context, int64_t arena);
mlir::Value loadNumber(mlir::OpBuilder &b, mlir::Location loc, mlir::Value context, int64_t index);
mlir::Value loadClock(mlir::OpBuilder &b, mlir::Location loc, mlir::Value context, int64_t kind);
mlir::Value loadBatchRows(mlir::OpBuilder &b, mlir::Location loc, mlir::Value context, int64_t feed);
mlir::Value loadBatchCount(mlir::OpBuilder &b, mlir::Location loc, mlir::Value context, int64_t feed);
/// Whether the status is still DYN_OK.
mlir::Value loadIsOk(mlir::OpBuilder &b, mlir::Location loc, mlir::Value context);
/// Records a failure.
void callFail(mlir::OpBuilder &b, mlir::Location loc, mlir::Value context, int32_t status, int64_t site,
              mlir::Value value, mlir::Value bound);

/// Says that a part of a profile begins or ends: `name` is dyn_part_begin or dyn_part_end.
void callPart(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef name, mlir::Value context, mlir::IntegerAttr part);

} // namespace dyn::lower

#endif // DYN_PASSES_LOWER_ABI_H
