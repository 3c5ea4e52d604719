//===- PerClass.cpp - `gradient(p, per=label)` ----------------------------===//
//
// A field of classes cuts the batch into one part a class. The gradient of each is the mean of those of its examples, so
// examples stay apart in the loss, as for `per=example`. Values get an axis that is called as the field is. A class without
// a row in the batch is no element of it: reductions leave it out. Its own gradient, where one looks, is 0.
//
//===----------------------------------------------------------------------===//
#include "frontend/elaborate/TrainElaborator.h"

using namespace mlir;

namespace dyn::elab {

/// The class of each example of the batch, which the field `per` names; nothing if it is no such field.
std::optional<Tensor> TrainElaborator::classOf(const ast::Expr &per) {
  auto *name = ast::dynCast<ast::NameExpr>(&per);
  ScopePtr rows = name && batchData ? presentRows() : nullptr;
  Binding *field = rows ? rows->find(name->name) : nullptr;
  if (!field || field->kind != NameKind::Socket || !field->lazy)
    return std::nullopt;
  Value value = field->lazy();
  auto *label = value.as<Tensor>();
  return label && label->classes > 0 && label->type().getRank() == 0 ? std::optional(*label) : std::nullopt;
}

/// Of each example, for each class, whether it is of that class.
Value TrainElaborator::membership(const Tensor &label, Span span) {
  return e.elementwise("eq", e.iota(label.classes, span), Value(label, span), span);
}

/// A value of each example, combined over the batch.
mlir::Value TrainElaborator::overExamples(ir::OverKind kind, mlir::Value each, Span span) {
  auto type = mlir::cast<RankedTensorType>(each.getType());
  auto rest = ir::withEncoding(type, mlir::cast<ir::AxesAttr>(type.getEncoding()).without("example"));
  return e.create<ir::OverOp>(span, rest, kind, each, e.builder.getStringAttr("example"));
}

/// Says once a socket, before all else, which classes are there.
void TrainElaborator::beginClasses(const std::string &axis, const Tensor &label, Span span) {
  for (auto elements : top->getOps<ir::ElementsOp>())
    if (elements.getAxis() == axis)
      return;
  OpBuilder::InsertionGuard guard(e.builder);
  e.builder.setInsertionPointAfter(label.value.getDefiningOp());
  mlir::Value present = overExamples(ir::OverKind::any, membership(label, span).as<Tensor>()->value, span);
  ir::ElementsOp::create(e.builder, e.loc(span), e.builder.getStringAttr(axis), present);
}

Value TrainElaborator::byClass(const std::string &axis, const Tensor &label, const Value &each, Span span) {
  beginClasses(axis, label, span);
  Tensor value = *each.as<Tensor>();
  Attribute range = ir::rangeOf(value.type().getEncoding());
  if (range)
    value.value = e.create<ir::RecastOp>(span, ir::withRange(value.type(), {}), value.value);
  SmallVector<int64_t> shape = {label.classes}, own;
  llvm::append_range(shape, value.type().getShape());
  for (int64_t d = 1; d < static_cast<int64_t>(shape.size()); ++d)
    own.push_back(d);
  auto wide = [&](mlir::Value x, ArrayRef<int64_t> dims) -> mlir::Value {
    return e.create<nd::BroadcastOp>(span, x, ArrayRef<int64_t>(shape), dims);
  };
  mlir::Value weights = e.cast(*membership(label, span).as<Tensor>(), Elem::Real, false, span).value;
  mlir::Value counts = overExamples(ir::OverKind::sum, weights, span);
  counts = e.create<nd::MaxOp>(span, counts, nd::splat(e.builder, e.loc(span), mlir::cast<RankedTensorType>(counts.getType()), 1));
  mlir::Value sums = overExamples(ir::OverKind::sum, e.create<nd::MulOp>(span, wide(weights, {0}), wide(value.value, own)), span);
  mlir::Value means = e.create<nd::DivOp>(span, sums, wide(counts, {0}));
  if (range)
    means = e.create<ir::RecastOp>(span, ir::withRange(means.getType(), range), means);
  auto type = ir::withEncoding(value.type(), *mergeEncodings(ir::AxesAttr::of(&e.context, {axis}), range));
  return Value(Tensor{e.create<ir::UnstackOp>(span, type, means, e.builder.getStringAttr(axis)), false, 0}, span);
}

} // namespace dyn::elab
