//===- RowLosses.cpp - the objective row by row, and its gradients --------===//
//
// `loss(p, per=example)` elaborates the loss clause once more where it is
// asked for, at the parameters that are asked about; the value keeps its axis.
// `gradient(p, per=example)` is the derivative of that by `p`, which is then
// one tree for each example (rule 10 of the axes).
//
//===----------------------------------------------------------------------===//
#include "frontend/elaborate/TrainElaborator.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace dyn::elab {

ScopePtr TrainElaborator::presentRows() {
  socketNow.setFeed(batch.feed);
  socketNow.setBatch(batch.size);
  socketNow.setMasked(batch.masked);
  return exampleScope(*batchData, out->plan.feeds[0].set, batch, batchIsWhole);
}

Value TrainElaborator::batchField(const std::string &name, Span span) {
  ScopePtr rows = batchData ? presentRows() : nullptr;
  Binding *field = rows ? rows->find(name) : nullptr;
  if (field && field->lazy)
    return field->lazy();
  e.diags.report(Diag::no_member, span, "`batch`", name);
  return {};
}

Value TrainElaborator::placeOn(const std::string &axis, Span span) {
  Attribute axes = ir::AxesAttr::of(&e.context, {axis});
  if (e.place != axes && (axis != "example" || !batchData)) {
    e.diags.report(Diag::over_absent_axis, span, axis, "nothing here").help("`index(example)` is an example's place in the batch");
    return {};
  }
  if (e.place != axes)
    presentRows();
  auto type = RankedTensorType::get({}, e.builder.getI64Type(), axes);
  return Value(Tensor{e.create<ir::IndexOp>(span, type, e.builder.getStringAttr(axis)), false, 0}, span);
}

Value TrainElaborator::rowLosses(const Tensor &tree, Span span) {
  llvm::SaveAndRestore reading(e.readParam, std::function<mlir::Value(ParamInfo &)>([&](ParamInfo &info) -> mlir::Value {
    return e.leafOf(tree, info.path, info.from).as<Tensor>()->value;
  }));
  llvm::SaveAndRestore place(e.place, Attribute(ir::AxesAttr::of(&e.context, {"example"})));
  llvm::SaveAndRestore stream(e.drawStream, nd::Stream::noise);
  llvm::SaveAndRestore draws(e.mayDraw, true), steps(e.drawsByStep, true);
  // Models run as in the objective, from the states that the step began with; what they write is the objective's affair.
  bool outer = e.training;
  llvm::SaveAndRestore block(modelBlock);
  enterModels(true);
  Frame frame{presentRows()};
  frame.site = "loss";
  const ast::Expr &loss = *clauses->loss->value;
  Value value = e.evaluate(loss, frame);
  enterModels(outer);
  auto t = value.isInvalid() ? std::nullopt : e.tensor(value, loss.span, "the loss");
  if (t)
    *t = e.varied(e.cast(*t, Elem::Real, false, loss.span), e.place, span);
  return t ? Value(*t, span) : Value();
}

bool TrainElaborator::isPerExample(const ast::Expr &per) {
  auto *name = ast::dynCast<ast::NameExpr>(&per);
  if (!name || name->name != "example") {
    e.diags.report(Diag::not_supported, per.span, "`per=" + print(per) + "` is").help("write `per=example`");
    return false;
  }
  if (!batchData) {
    e.diags.report(Diag::over_absent_axis, per.span, "example", "the loss").help("give the train `data`: its rows are the examples");
    return false;
  }
  return true;
}

Value TrainElaborator::gradientsPer(const ast::Expr &per, const Value &tree, Span span, Frame &frame) {
  if (!isPerExample(per))
    return {};
  Derivative rows{Derivative::Kind::gradient, "gradient", Value(Builtin{"@rows"}, span), ""};
  return e.callDerivative(rows, std::vector<Value>{tree}, span, frame);
}

} // namespace dyn::elab
