//===- RegisterAll.h - dialects and passes for the tools ------------------===//
#ifndef DYN_PASSES_REGISTERALL_H
#define DYN_PASSES_REGISTERALL_H

#include "mlir/IR/DialectRegistry.h"

namespace dyn {

/// Every dialect that a program may be in between the spec and LLVM.
void registerAllDynDialects(mlir::DialectRegistry &registry);
/// Every pass of ours, one line a phase.
void registerAllDynPasses();

} // namespace dyn

#endif // DYN_PASSES_REGISTERALL_H
