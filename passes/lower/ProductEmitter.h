//===- ProductEmitter.h - a small matrix product as code of its own -------===//
#ifndef DYN_PASSES_LOWER_PRODUCTEMITTER_H
#define DYN_PASSES_LOWER_PRODUCTEMITTER_H

#include "dialects/Kernel/KernelOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace dyn::lower {

/// Whether a product is written out where it is used instead of being a call of the library: it is one piece of work
/// there too, and needs no packed panels. Depends on the shape and the vector only.
bool isWrittenOut(kernel::ProductOp op, int64_t vectorBytes);
/// Whether one function serves both.
bool isSameProduct(kernel::ProductOp x, kernel::ProductOp y);
/// The function (a, b, c) of a product that is written out. An element is one chain of multiply-adds in the order of k,
/// as in the library, so its bits depend on the operands alone.
mlir::LLVM::LLVMFuncOp emitProduct(mlir::ModuleOp module, kernel::ProductOp op, llvm::StringRef name,
                                   int64_t vectorBytes);

} // namespace dyn::lower

#endif // DYN_PASSES_LOWER_PRODUCTEMITTER_H
