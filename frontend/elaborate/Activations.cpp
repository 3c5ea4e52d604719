//===- Activations.cpp - values that `as NAME` names, for probes ----------===//
//
// A probe that asks for `activations` runs the objective once more in its own
// code, at the present parameters and batch, with the objective's draws. What
// both compute is one computation to the passes behind.
//
//===----------------------------------------------------------------------===//
#include "frontend/elaborate/TrainElaborator.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace dyn::elab {

namespace {
/// What stands under one name: one value, or those of `as NAME[i]` by i.
struct Named {
  Span span;
  std::map<int64_t, Value> values;
  bool indexed = false;
};
} // namespace

/// Adds a named value to the others; false after a report.
static bool add(Elaborator &e, const ast::Label &label, Value value, std::optional<int64_t> index, Named &named) {
  named.span = label.name.span;
  bool first = named.values.empty();
  if ((!first && named.indexed != index.has_value()) || !named.values.emplace(index.value_or(0), std::move(value)).second) {
    e.diags.report(Diag::activation_twice, label.name.span, label.name.text)
        .help("give each its place: `as " + label.name.text + "[i]`");
    return false;
  }
  named.indexed = index.has_value();
  return true;
}

/// The objective's named values as a record, over the axis `example`.
Value TrainElaborator::activations(const Clauses &clauses, Span span) {
  OpBuilder::InsertionGuard guard(e.builder);
  e.builder.setInsertionPointToStart(modelBlock);
  std::map<std::string, Named> found;
  bool good = true;
  auto record = [&](const ast::Label &label, const Value &value, Frame &frame) {
    if (e.builder.getInsertionBlock() != modelBlock) {
      e.diags.report(Diag::not_supported, label.name.span, "naming an activation in a loop or branch of the run is")
          .help("name what comes out of it");
      good = false;
      return;
    }
    std::optional<int64_t> index;
    if (!label.indices.empty())
      index = e.knownInt(e.evaluate(*label.indices.front(), frame), label.indices.front()->span, "the place of an activation");
    good &= (label.indices.empty() || index) && add(e, label, value, index, found[label.name.text]);
  };
  llvm::SaveAndRestore place(e.place, Attribute());
  llvm::SaveAndRestore draws(e.mayDraw, true), steps(e.drawsByStep, true);
  llvm::SaveAndRestore stream(e.drawStream, nd::Stream::noise);
  llvm::SaveAndRestore look(e.onActivation, std::function<void(const ast::Label &, const Value &, Frame &)>(record));
  enterModels(true);
  Frame frame{scope};
  Value loss = evaluateLoss(clauses, frame);
  enterModels(false);
  if (loss.isInvalid() || !good)
    return {};
  Record all;
  for (auto &[name, named] : found) {
    std::vector<Value> values;
    for (auto &[index, value] : named.values)
      values.push_back(value);
    all.fields.emplace_back(name, named.indexed ? e.stackValues(values, named.span) : values.front());
  }
  return Value(std::move(all), span);
}

/// `activations` in a probe's scope, made where it is first read.
void TrainElaborator::offerActivations(const Clauses &clauses, ScopePtr scope, Span span) {
  auto made = std::make_shared<Value>();
  scope->defineLazy("activations", NameKind::Socket, span, [this, &clauses, made, span] {
    if (made->isInvalid())
      *made = activations(clauses, span);
    return *made;
  });
}

} // namespace dyn::elab
