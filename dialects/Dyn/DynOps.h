//===- DynOps.h - the dialect dyn, its encodings and its ops --------------===//
#ifndef DYN_DIALECTS_DYN_DYNOPS_H
#define DYN_DIALECTS_DYN_DYNOPS_H

#include "dialects/interfaces/Interfaces.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Dyn/DynDialect.h.inc"
#include "dialects/Dyn/DynEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Dyn/DynAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialects/Dyn/DynOps.h.inc"

namespace dyn::ir {
/// Whether values of this type vary over the hidden axis `name`.
bool carries(mlir::Type type, llvm::StringRef name);
/// The type with another encoding (null: none).
mlir::RankedTensorType withEncoding(mlir::Type type, mlir::Attribute encoding);
/// How the visible dimension of a value is cut (leaves, tree, one a leaf); null: not at all.
mlir::Attribute rangeOf(mlir::Attribute encoding);
/// Its named axes alone; null: none.
mlir::Attribute axesOf(mlir::Attribute encoding);
/// The type cut in another way (null: not at all), over the same axes.
mlir::RankedTensorType withRange(mlir::Type type, mlir::Attribute range);
} // namespace dyn::ir

#endif // DYN_DIALECTS_DYN_DYNOPS_H
