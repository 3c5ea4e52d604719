#include "dialects/interfaces/Interfaces.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

#include "dialects/interfaces/AttrInterfaces.cpp.inc"
#include "dialects/interfaces/Interfaces.cpp.inc"

SmallVector<Value> dyn::getInputs(Operation *op) {
  llvm::SetVector<Value> captures;
  // A value of a region whose op is still being built has no parent op: it is outside of `op`, which is built.
  auto isInside = [&](Value value) {
    Operation *parent = value.getParentRegion()->getParentOp();
    return parent && op->isAncestor(parent);
  };
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!isInside(operand))
          captures.insert(operand);
    });
  SmallVector<Value> inputs(op->getOperands());
  inputs.append(captures.begin(), captures.end());
  return inputs;
}

FailureOr<Attribute> dyn::mergeEncodings(Attribute a, Attribute b) {
  if (!a || a == b)
    return b;
  if (!b)
    return a;
  auto axes = dyn_cast<HiddenAxes>(a);
  Attribute merged = axes ? axes.mergeWith(b) : Attribute();
  if (!merged)
    return failure();
  return merged;
}

FailureOr<Attribute> dyn::mergeEncodings(TypeRange types) {
  Attribute merged;
  for (Type type : types)
    if (auto tensor = dyn_cast<RankedTensorType>(type)) {
      FailureOr<Attribute> next = mergeEncodings(merged, tensor.getEncoding());
      if (failed(next))
        return failure();
      merged = *next;
    }
  return merged;
}
