//===- Served.cpp - what evals and saved files use in place of the parameters -===//
//
// An optimizer that writes `served` has a second array beside its parameters, in the same order and with their initial
// values. Evals and final.safetensors read that one; losses, gradients and `params` in probes are those of the
// parameters that are trained.
//
//===----------------------------------------------------------------------===//
#include "frontend/elaborate/TrainElaborator.h"

#include "frontend/AstWalk.h"

using namespace mlir;

namespace dyn::elab {

bool TrainElaborator::writesServed(const ast::RuleDecl &rule) {
  bool found = false;
  ast::walk(rule, [&](const ast::Node &node) {
    auto *write = ast::dynCast<ast::WriteStmt>(&node);
    const ast::NameExpr *root = write ? ast::rootName(*write->target) : nullptr;
    found |= root && root->name == "served";
    return !found;
  });
  return found;
}

void TrainElaborator::placeServed() {
  for (Owner &owner : owners)
    for (ParamInfo *leaf : owner.leaves)
      leaf->served = writesServed(*owner.rule.decl);
  if (llvm::none_of(e.treeLeaves, [](ParamInfo *leaf) { return leaf->served; }))
    return;
  plan::Plan &plan = out->plan;
  servedArena = static_cast<int64_t>(plan.arenas.size());
  plan.arenas.push_back({"served", "served", plan.arenas[paramsArena].bytes});
  plan.served = plan.params;
  for (auto [leaf, info] : llvm::zip(plan.served, e.treeLeaves))
    if (info->served)
      leaf.arena = servedArena;
}

/// Before the first step parameters and what is served are the same.
void TrainElaborator::startServed() {
  for (Owner &owner : owners) {
    if (!owner.leaves.front()->served)
      continue;
    Span span = owner.clause->span;
    auto type = RankedTensorType::get({owner.size}, e.real());
    writeRange(servedArena, owner.offset, *readRange(paramsArena, owner.offset, type, "params", span).as<Tensor>(), "served", span);
  }
}

/// The whole tree as evals see it.
Value TrainElaborator::servedTree(Span span) {
  SmallVector<mlir::Value> flat;
  for (ParamInfo *leaf : e.treeLeaves) {
    auto type = RankedTensorType::get({elements({leaf})}, e.real());
    flat.push_back(readRange(leaf->served ? servedArena : paramsArena, leaf->offset, type, leaf->path, span).as<Tensor>()->value);
  }
  auto whole = flat.size() == 1 ? flat.front() : e.create<nd::ConcatOp>(span, ValueRange(flat), uint64_t(0));
  return inFormOf(whole, treeType(e.treeLeaves, false), span);
}

} // namespace dyn::elab
