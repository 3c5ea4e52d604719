//===- KernelOps.h - the dialect kernel and its ops -----------------------===//
#ifndef DYN_DIALECTS_KERNEL_KERNELOPS_H
#define DYN_DIALECTS_KERNEL_KERNELOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Kernel/KernelDialect.h.inc"
#include "dialects/Kernel/KernelEnums.h.inc"

#include "runtime/Window.h"

#define GET_ATTRDEF_CLASSES
#include "dialects/Kernel/KernelAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialects/Kernel/KernelOps.h.inc"

namespace dyn::kernel {

/// Sizes of a product as the library counts them. With a window: images, filters of a group, places, elements of the
/// window.
struct ProductShape {
  int64_t batch = 1, m = 0, n = 0, k = 0;
};
ProductShape shapeOf(ProductOp op);
/// The window of a product that has one.
std::optional<plan::Window> windowOf(ProductOp op);

} // namespace dyn::kernel

#endif // DYN_DIALECTS_KERNEL_KERNELOPS_H
