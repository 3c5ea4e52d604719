//===- Places.cpp - where an array is -------------------------------------===//
#include "passes/memory/Places.h"

#include "dialects/Run/RunOps.h"
#include "passes/fuse/Clusters.h"

using namespace mlir;

namespace dyn::memory {

int64_t elementBytes(Type type) {
  unsigned bits = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  return bits == 1 ? 1 : bits / 8;
}

int64_t bytesOf(Value value) {
  auto type = nd::typeOf(value);
  return type.getNumElements() * elementBytes(type);
}

View viewOf(Value value) {
  View view{value, 0};
  while (Operation *op = view.base.getDefiningOp()) {
    if (!fuse::isView(op))
      break;
    if (auto slice = dyn_cast<nd::SliceOp>(op)) {
      int64_t position = 0;
      for (auto [size, offset] : llvm::zip(nd::shapeOf(slice.getInput()), slice.getOffsets()))
        position = position * size + offset;
      view.bytes += position * elementBytes(slice.getType());
    }
    view.base = op->getOperand(0);
  }
  return view;
}

std::optional<int64_t> concatSlot(nd::ConcatOp op, unsigned i) {
  ArrayRef<int64_t> shape = nd::shapeOf(op);
  if (llvm::any_of(shape.take_front(op.getDim()), [](int64_t size) { return size != 1; }))
    return std::nullopt;
  int64_t bytes = 0;
  for (Value input : op.getInputs().take_front(i))
    bytes += bytesOf(input);
  return bytes;
}

std::optional<Place> placeOfResult(Operation *op, unsigned i) {
  auto places = op->getAttrOfType<ArrayAttr>("places");
  if (!places || i >= places.size())
    return std::nullopt;
  ArrayRef<int64_t> place = cast<DenseI64ArrayAttr>(places[i]).asArrayRef();
  if (place.size() != 3)
    return std::nullopt;
  return Place{place[0], place[1], place[2]};
}

std::optional<Place> placeOf(Value value) {
  View view = viewOf(value);
  std::optional<Place> place;
  if (auto result = dyn_cast<OpResult>(view.base)) {
    place = placeOfResult(result.getOwner(), result.getResultNumber());
    auto read = dyn_cast<run::ReadOp>(result.getOwner());
    if (!place && read)
      place = Place{int64_t(read.getArena()), int64_t(read.getOffset()) * elementBytes(read.getType())};
  } else {
    auto argument = cast<BlockArgument>(view.base);
    Operation *loop = argument.getOwner()->getParentOp();
    unsigned number = argument.getArgNumber();
    if (auto scan = dyn_cast<nd::ScanOp>(loop); scan && number >= 1 && number <= scan.getInits().size())
      place = placeOfResult(loop, number - 1);
    if (isa<nd::WhileOp>(loop))
      place = placeOfResult(loop, number);
  }
  if (place)
    place->offset += view.bytes;
  return place;
}

bool isFlat(kernel::FusedOp op) {
  if (op.getForm() == kernel::Form::row)
    return false;
  ArrayRef<int64_t> domain = op.getDomain();
  if (domain.size() == 1)
    return true;
  for (Operation &inner : op.getBody().front()) {
    if (isa<kernel::YieldOp>(inner))
      continue;
    auto dense = isa<nd::ConstantOp>(inner);
    auto broadcast = dyn_cast<nd::BroadcastOp>(inner);
    auto reduce = dyn_cast<nd::ReduceOp>(inner);
    bool scalarSpread = broadcast && isScalar(broadcast.getInput());
    bool total = reduce && op.getForm() == kernel::Form::total;
    if (!dense && !scalarSpread && !total && !inner.hasTrait<Elementwise>())
      return false;
  }
  return true;
}

TotalShape totalShapeOf(kernel::FusedOp op) {
  TotalShape shape;
  ArrayRef<int64_t> domain = op.getDomain();
  int64_t elements = ShapedType::getNumElements(domain);
  int64_t width = isFlat(op) || domain.empty() ? 1 : domain.back();
  shape.items = width ? elements / width : 0;
  shape.blockItems = std::max<int64_t>(1, reductionBlock / std::max<int64_t>(width, 1));
  shape.blocks = std::max<int64_t>(1, llvm::divideCeil(shape.items, shape.blockItems));
  return shape;
}

bool readsOwnIndex(kernel::FusedOp op, unsigned i) {
  BlockArgument argument = op.getBody().getArgument(i);
  ArrayRef<int64_t> shape = nd::shapeOf(argument), domain = op.getDomain();
  bool rows = op.getForm() == kernel::Form::row;
  if (shape != domain && !(rows && shape == domain.drop_back()))
    return false;
  return llvm::all_of(argument.getUsers(), [&](Operation *user) {
    if (isa<kernel::YieldOp>(user))
      return true;
    auto reduce = dyn_cast<nd::ReduceOp>(user);
    // A reduction of a row, or of everything, passes each element once; in a map it runs elsewhere.
    if (reduce)
      return op.getForm() != kernel::Form::map && shape == domain;
    return user->hasTrait<Elementwise>() && nd::shapeOf(user->getResult(0)) == shape;
  });
}

} // namespace dyn::memory
