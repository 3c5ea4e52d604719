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

AxesAttr AxesAttr::of(MLIRContext *context, ArrayRef<StringRef> names, Attribute range) {
  SmallVector<StringRef> sorted(names);
  llvm::sort(sorted);
  sorted.erase(llvm::unique(sorted), sorted.end());
  SmallVector<StringAttr> attrs;
  for (StringRef name : sorted)
    attrs.push_back(StringAttr::get(context, name));
  return get(context, attrs, range);
}

Attribute AxesAttr::without(StringRef name) const {
  SmallVector<StringAttr> rest;
  for (StringAttr axis : getNames())
    if (axis.getValue() != name)
      rest.push_back(axis);
  return rest.empty() ? getRange() : Attribute(get(getContext(), rest, getRange()));
}

Attribute AxesAttr::mergeWith(Attribute other) const {
  Attribute range = rangeOf(other);
  if (range && getRange() && range != getRange())
    return {};
  SmallVector<StringRef> names;
  for (StringAttr axis : getNames())
    names.push_back(axis.getValue());
  if (auto axes = dyn_cast<AxesAttr>(other))
    for (StringAttr axis : axes.getNames())
      names.push_back(axis.getValue());
  return of(getContext(), names, range ? range : getRange());
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

/// Ranges are cut in one way only: unequal cuts never meet.
static Attribute mergeRange(Attribute range, Attribute other) {
  auto axes = dyn_cast<AxesAttr>(other);
  return axes ? axes.mergeWith(range) : Attribute();
}
Attribute LeavesAttr::mergeWith(Attribute other) const { return mergeRange(*this, other); }
Attribute TreeAttr::mergeWith(Attribute other) const { return mergeRange(*this, other); }
Attribute PerLeafAttr::mergeWith(Attribute other) const { return mergeRange(*this, other); }

Attribute dyn::ir::rangeOf(Attribute encoding) {
  auto axes = dyn_cast_if_present<AxesAttr>(encoding);
  return axes ? axes.getRange() : encoding;
}

Attribute dyn::ir::axesOf(Attribute encoding) {
  auto axes = dyn_cast_if_present<AxesAttr>(encoding);
  return axes ? Attribute(AxesAttr::get(axes.getContext(), axes.getNames(), Attribute())) : Attribute();
}

RankedTensorType dyn::ir::withRange(Type type, Attribute range) {
  auto axes = dyn_cast_if_present<AxesAttr>(cast<RankedTensorType>(type).getEncoding());
  return withEncoding(type, axes ? Attribute(AxesAttr::get(axes.getContext(), axes.getNames(), range)) : range);
}

bool dyn::ir::carries(Type type, StringRef name) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto axes = tensor ? dyn_cast_if_present<AxesAttr>(tensor.getEncoding()) : AxesAttr();
  return axes && axes.contains(name);
}

RankedTensorType dyn::ir::withEncoding(Type type, Attribute encoding) {
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(tensor.getShape(), tensor.getElementType(), encoding);
}
