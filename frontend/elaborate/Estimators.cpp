//===- Estimators.cpp - rules that stand for the gradient -----------------===//
//
// An estimator is where gradients come from: what is behind it, clips and
// optimizers, sees what it writes to `grads`, and asks it again where it asks
// for `gradient(p)`. In its own body `gradient` and `grad(loss)` are the
// derivatives of the loss.
//
//===----------------------------------------------------------------------===//
#include "frontend/elaborate/TrainElaborator.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace dyn::elab {

void TrainElaborator::lossAlone(const Value &params, Span span) {
  auto number = RankedTensorType::get({}, e.real());
  reportLoss(e.create<ir::LossOp>(span, number, "loss", params.as<Tensor>()->value), span);
}

Value TrainElaborator::estimated(const Value &at, bool keeps) {
  auto &[rule, clause] = *estimator;
  Span span = clause->span;
  InstantiationScope chain(e.diags, rule.decl->name.text, span);
  llvm::SaveAndRestore looking(quiet, quiet || !keeps), now(estimating, true);
  // Its models run as in the objective, at the tree that is asked about.
  Tensor tree = *at.as<Tensor>();
  llvm::SaveAndRestore reading(e.readParam, std::function<mlir::Value(ParamInfo &)>([&](ParamInfo &info) -> mlir::Value {
    return e.leafOf(tree, info.path, info.from).as<Tensor>()->value;
  }));
  bool outer = e.training;
  llvm::SaveAndRestore block(modelBlock);
  enterModels(true);
  RulePlace place{"estimator " + rule.decl->name.text, "", e.treeLeaves, 0, false};
  std::vector<std::string> held;
  ScopePtr inner = ruleScope(rule, &place, &held);
  auto type = treeType(e.treeLeaves, false);
  Value zeros = e.full(0, type, false, span);
  inner->define("params", at, NameKind::Socket, span);
  Binding grads{zeros, NameKind::Socket, span, std::make_shared<StateInfo>(StateInfo{"grads", type, false}), nullptr};
  inner->names["grads"] = grads;
  offerSocket(inner, applications(span), span);
  for (auto &[word, binding] : scope->names)
    if (binding.value.as<std::shared_ptr<Instance>>())
      inner->names.emplace(word, binding);
  runRule(rule, inner, place, held, keeps);
  enterModels(outer);
  return e.hasFailed() ? Value() : inFormOf(written(*inner, "grad", *flatOf(zeros, span), span), type, span);
}

} // namespace dyn::elab
