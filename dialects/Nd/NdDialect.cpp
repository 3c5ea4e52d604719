#include "dialects/Nd/NdLibraryOps.h"
#include "dialects/Nd/NdWindow.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dyn::nd;

#include "dialects/Nd/NdDialect.cpp.inc"
#include "dialects/Nd/NdEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Nd/NdAttrs.cpp.inc"


namespace dyn::nd {
void addFolder(NdDialect &dialect); // NdFolds.cpp
} // namespace dyn::nd

void NdDialect::initialize() {
  addFolder(*this);
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Nd/NdAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Nd/NdOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Nd/NdWindow.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Nd/NdLibraryOps.cpp.inc"
      >();
}

Operation *NdDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, elements);
}
