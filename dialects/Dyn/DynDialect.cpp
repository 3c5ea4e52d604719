#include "dialects/Dyn/DynOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dyn::ir;

#include "dialects/Dyn/DynDialect.cpp.inc"
#include "dialects/Dyn/DynEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Dyn/DynAttrs.cpp.inc"

void DynDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Dyn/DynAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Dyn/DynOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Encodings
//===----------------------------------------------------------------------===//

bool AxesAttr::contains(StringRef name) const {
  return llvm::any_of(getNames(), [&](StringAttr axis) { return axis.getValue() == name; });
}

AxesAttr AxesAttr::of(MLIRContext *context, ArrayRef<StringRef> names) {
  SmallVector<StringRef> sorted(names);
  llvm::sort(sorted);
  sorted.erase(llvm::unique(sorted), sorted.end());
  SmallVector<StringAttr> attrs;
  for (StringRef name : sorted)
    attrs.push_back(StringAttr::get(context, name));
  return get(context, attrs);
}

Attribute AxesAttr::without(StringRef name) const {
  SmallVector<StringAttr> rest;
  for (StringAttr axis : getNames())
    if (axis.getValue() != name)
      rest.push_back(axis);
  return rest.empty() ? Attribute() : Attribute(get(getContext(), rest));
}

Attribute AxesAttr::mergeWith(Attribute other) const {
  auto axes = dyn_cast<AxesAttr>(other);
  if (!axes)
    return {};
  SmallVector<StringRef> names;
  for (StringAttr axis : llvm::concat<const StringAttr>(getNames(), axes.getNames()))
    names.push_back(axis.getValue());
  return of(getContext(), names);
}

static SmallVector<int64_t> offsetsOf(ArrayRef<DenseI64ArrayAttr> shapes) {
  SmallVector<int64_t> offsets = {0};
  for (DenseI64ArrayAttr shape : shapes) {
    int64_t size = 1;
    for (int64_t extent : shape.asArrayRef())
      size *= extent;
    offsets.push_back(offsets.back() + size);
  }
  return offsets;
}

SmallVector<int64_t> LeavesAttr::offsets() const { return offsetsOf(getShapes()); }
SmallVector<int64_t> TreeAttr::offsets() const { return offsetsOf(getShapes()); }

// Ranges are cut in one way only: unequal cuts never meet.
Attribute LeavesAttr::mergeWith(Attribute) const { return {}; }
Attribute TreeAttr::mergeWith(Attribute) const { return {}; }
Attribute PerLeafAttr::mergeWith(Attribute) const { return {}; }

bool dyn::ir::carries(Type type, StringRef name) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto axes = tensor ? dyn_cast_if_present<AxesAttr>(tensor.getEncoding()) : AxesAttr();
  return axes && axes.contains(name);
}

RankedTensorType dyn::ir::withEncoding(Type type, Attribute encoding) {
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(tensor.getShape(), tensor.getElementType(), encoding);
}
