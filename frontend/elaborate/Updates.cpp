//===- Updates.cpp - what the last update added, for probes ---------------===//
//
// A probe may ask for `update` (leaf by leaf) or `updates` (the whole tree): the parameters at its step less those one step
// before. A train with such a probe has an array beside its parameters, in the same order, which the update's own loop
// writes; before the first update it is 0.
//
//===----------------------------------------------------------------------===//
#include "frontend/elaborate/TrainElaborator.h"

using namespace mlir;

namespace dyn::elab {

/// Finds the rules of the probes, and makes a place for updates if one of them reads them.
bool TrainElaborator::placeProbes(const Clauses &clauses) {
  for (auto *clause : clauses.probes) {
    auto rule = ruleOf(*clause);
    if (!rule)
      return false;
    probes.emplace_back(*rule, clause);
  }
  bool asked = llvm::any_of(probes, [](auto &probe) { return mentions(*probe.first.decl, "update") || mentions(*probe.first.decl, "updates"); });
  if (!asked)
    return true;
  updateArena = static_cast<int64_t>(out->plan.arenas.size());
  out->plan.arenas.push_back({"update", "state", out->plan.arenas[paramsArena].bytes});
  return true;
}

void TrainElaborator::startUpdates() {
  if (updateArena < 0)
    return;
  Span span = clauses->loss->span;
  auto type = RankedTensorType::get({elements(e.treeLeaves)}, e.real());
  writeRange(updateArena, 0, *e.full(0, type, false, span).as<Tensor>(), "update", span);
}

/// What a rule added to the parameters from `from` on, flat; its rounding is part of it.
void TrainElaborator::keepUpdate(int64_t from, mlir::Value before, mlir::Value after, Span span) {
  if (updateArena >= 0)
    writeRange(updateArena, from, Tensor{e.create<nd::SubOp>(span, after, before), false, 0}, "update", span);
}

/// The names `update` and `updates` of a probe.
void TrainElaborator::offerUpdates(ScopePtr scope, Span span) {
  for (bool leafwise : {true, false})
    scope->defineLazy(leafwise ? "update" : "updates", NameKind::Socket, span, [this, leafwise, span] {
      return readRange(updateArena, 0, treeType(e.treeLeaves, leafwise), "update", span);
    });
}

} // namespace dyn::elab
