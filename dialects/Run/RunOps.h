//===- RunOps.h - the dialect run and its ops -----------------------------===//
#ifndef DYN_DIALECTS_RUN_RUNOPS_H
#define DYN_DIALECTS_RUN_RUNOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace dyn::run {
/// What effects act on; see RunOps.td.
#define DYN_RESOURCE(NAME, TEXT)                                                                                       \
  struct NAME : public mlir::SideEffects::Resource::Base<NAME> {                                                       \
    llvm::StringRef getName() override { return TEXT; }                                                                \
  }
DYN_RESOURCE(ArenaResource, "arena");
DYN_RESOURCE(ClockResource, "clock");
DYN_RESOURCE(BatchResource, "batch");
DYN_RESOURCE(MetricsResource, "metrics");
DYN_RESOURCE(StatusResource, "status");
#undef DYN_RESOURCE
} // namespace dyn::run

#include "dialects/Run/RunDialect.h.inc"
#include "dialects/Run/RunEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Run/RunAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialects/Run/RunOps.h.inc"

#endif // DYN_DIALECTS_RUN_RUNOPS_H
