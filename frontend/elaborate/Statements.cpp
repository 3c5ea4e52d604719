//===- Statements.cpp - blocks, assignments, writes -----------------------===//
#include "frontend/elaborate/Elaborator.h"

using namespace mlir;

namespace dyn::elab {

void Elaborator::execute(const ast::Block &block, Frame &frame) {
  for (auto &stmt : block.statements) {
    if (frame.result)
      return;
    execute(*stmt, frame);
  }
}

void Elaborator::execute(const ast::Stmt &stmt, Frame &frame) {
  switch (stmt.kind) {
  case ast::Kind::LetStmt:
    return executeLet(*ast::cast<ast::LetStmt>(&stmt), frame);
  case ast::Kind::DrawStmt:
    return executeDraw(*ast::cast<ast::DrawStmt>(&stmt), frame);
  case ast::Kind::PlaceStmt:
    return executePlace(*ast::cast<ast::PlaceStmt>(&stmt), frame);
  case ast::Kind::WriteStmt:
    return executeWrite(*ast::cast<ast::WriteStmt>(&stmt), frame);
  case ast::Kind::LeafStmt:
    return declareParam(*ast::cast<ast::LeafStmt>(&stmt), frame);
  case ast::Kind::StateStmt:
    return onState ? onState(*ast::cast<ast::StateStmt>(&stmt), frame) : notHere(stmt.span, "`state`");
  case ast::Kind::EmitStmt:
    if (frame.inRuntimeBranch)
      return notHere(stmt.span, "an `emit` that depends on the run");
    return onEmit ? onEmit(*ast::cast<ast::EmitStmt>(&stmt), frame) : notHere(stmt.span, "`emit`");
  case ast::Kind::IfStmt:
    return executeIf(*ast::cast<ast::IfStmt>(&stmt), frame);
  case ast::Kind::ForStmt: {
    auto &loop = *ast::cast<ast::ForStmt>(&stmt);
    // Only a loop that yields itself fills the array around it.
    return executeLoop(&loop.variable, *loop.range, *loop.body, stmt.span, frame,
                       yieldsItself(*loop.body) ? frame.yields : nullptr);
  }
  case ast::Kind::RepeatStmt:
    return executeRepeat(*ast::cast<ast::RepeatStmt>(&stmt), frame);
  case ast::Kind::WhileStmt:
    return executeWhile(*ast::cast<ast::WhileStmt>(&stmt), frame);
  case ast::Kind::ReturnStmt: {
    if (frame.inRuntimeBranch) {
      diags.report(Diag::return_in_branch, stmt.span)
          .help("give the value a name in both branches and return it behind them, or write `if … then … else …`");
      frame.result = Value();
      return;
    }
    frame.resultSpan = ast::cast<ast::ReturnStmt>(&stmt)->value->span;
    frame.result = evaluate(*ast::cast<ast::ReturnStmt>(&stmt)->value, frame);
    if (auto &label = ast::cast<ast::ReturnStmt>(&stmt)->label; label && onActivation && !frame.result->isInvalid())
      onActivation(label, *frame.result, frame);
    return;
  }
  case ast::Kind::YieldStmt: {
    Value value = evaluate(*ast::cast<ast::YieldStmt>(&stmt)->value, frame);
    if (frame.yields)
      frame.yields->push_back(std::move(value));
    else
      notHere(stmt.span, "`yield`");
    return;
  }
  case ast::Kind::FnStmt: {
    auto *fn = ast::cast<ast::FnStmt>(&stmt)->function.get();
    frame.scope->define(fn->name.text, Value(Function{fn, capture(frame.scope)}, stmt.span), NameKind::Local, stmt.span);
    return;
  }
  case ast::Kind::RunStmt: {
    auto &run = *ast::cast<ast::RunStmt>(&stmt);
    if (!onRun)
      return notHere(stmt.span, "`run`");
    Value value = onRun(run, frame);
    frame.scope->define(run.name.text, std::move(value), NameKind::Local, run.name.span);
    return;
  }
  case ast::Kind::ExpectStmt:
    return onExpect ? onExpect(*ast::cast<ast::ExpectStmt>(&stmt), frame) : notHere(stmt.span, "`expect`");
  default:
    return notHere(stmt.span, "this");
  }
}

void Elaborator::notHere(Span span, const char *what) { diags.report(Diag::statement_not_here, span, what); }

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

Value Elaborator::assign(const ast::Ident &name, Value value, Frame &frame) {
  Binding *old = frame.scope->find(name.text);
  if (old && old->kind == NameKind::Local && old->span.isValid()) {
    // A redefinition keeps the kind of value; its shape may change where the program is unrolled anyway.
    auto kindOf = [](const Value &v) { return v.as<Tensor>() || v.as<Const>() ? (elemOf(v) == Elem::Bool ? "a bool" : "a number or an array") : "another value"; };
    if (!value.isInvalid() && !old->value.isInvalid() && std::string_view(kindOf(old->value)) != kindOf(value)) {
      diags.report(Diag::local_changes_type, name.span, name.text, describe(old->value), describe(value))
          .note(old->span, "`" + name.text + "` is defined here")
          .help("give the new value a name of its own");
      old->value = Value();
      return {};
    }
    old->value = value;
    return value;
  }
  frame.scope->define(name.text, value, NameKind::Local, name.span);
  return value;
}

Value Elaborator::letValue(const ast::LetStmt &stmt, Frame &frame) {
  frame.assigning = stmt.name.text;
  Value value = evaluate(*stmt.value, frame);
  frame.assigning.clear();
  if (!value.isInvalid() && stmt.type) {
    auto typed = conform(value, *stmt.type, frame.scope, "`" + stmt.name.text + "`", stmt.value->span);
    value = typed ? *typed : Value();
  }
  if (auto *instance = value.as<std::shared_ptr<Instance>>())
    placeInstance(**instance, stmt.name.text, frame);
  value.origin = stmt.name.span;
  return value;
}

void Elaborator::executeLet(const ast::LetStmt &stmt, Frame &frame) {
  Value value = letValue(stmt, frame);
  if (stmt.label && onActivation && !value.isInvalid())
    onActivation(stmt.label, value, frame);
  assign(stmt.name, std::move(value), frame);
}

void Elaborator::executeDraw(const ast::DrawStmt &stmt, Frame &frame) {
  frame.assigning = stmt.name.text;
  Value dist = evaluate(*stmt.distribution, frame);
  Value drawn;
  if (isDistribution(dist)) {
    SmallVector<int64_t> shape;
    bool good = true;
    Elem elem = Elem::Real;
    if (stmt.type)
      good = declaredShape(*stmt.type, frame.scope, shape, elem);
    if (good)
      drawn = drawValue(dist, shape, place, stmt.span, frame);
    if (dist.as<Record>() && stmt.type && !drawn.isInvalid()) {
      auto typed = conform(drawn, *stmt.type, frame.scope, "`" + stmt.name.text + "`", stmt.distribution->span);
      drawn = typed ? *typed : Value();
    }
  } else if (!dist.isInvalid()) {
    diags.report(Diag::not_a_distribution, stmt.distribution->span, describe(dist))
        .help("`~ normal()` draws; `= …` gives a value");
  }
  frame.assigning.clear();
  drawn.origin = stmt.name.span;
  assign(stmt.name, std::move(drawn), frame);
}

void Elaborator::executePlace(const ast::PlaceStmt &stmt, Frame &frame) {
  const ast::Expr *root = stmt.target.get();
  while (auto *index = ast::dynCast<ast::IndexExpr>(root))
    root = index->base.get();
  while (auto *member = ast::dynCast<ast::MemberExpr>(root))
    root = member->base.get();
  auto *name = ast::dynCast<ast::NameExpr>(root);
  auto *index = ast::dynCast<ast::IndexExpr>(stmt.target.get());
  Binding *binding = name ? frame.scope->find(name->name) : nullptr;
  if (!binding || !index || index->base.get() != root) {
    diags.report(Diag::place_target, stmt.target->span);
    return;
  }
  if (binding->kind == NameKind::State || binding->state) {
    diags.report(Diag::assign_state, stmt.span, name->name, std::string("a ") + describe(binding->kind))
        .help("`<-` writes what outlives the block");
    return;
  }
  Value value = evaluate(*stmt.value, frame);
  Value updated = placeInto(binding->value, *index, value, frame);
  binding->value = updated;
}

Value Elaborator::placeInto(const Value &whole, const ast::IndexExpr &index, const Value &part, Frame &frame) {
  auto base = tensor(whole, index.span), update = tensor(part, index.span);
  if (!base || !update)
    return {};
  if (base->number && !update->number)
    *base = cast(*base, elemOf(base->type().getElementType()), false, index.span);
  *update = cast(*update, elemOf(base->type().getElementType()), base->number, index.span);
  if (update->type().getElementType() != base->type().getElementType())
    *update = {create<nd::CastOp>(index.span, update->value, base->type().getElementType()), base->number, 0};
  if (!canIndex(*base, index))
    return {};
  ArrayRef<int64_t> shape = base->type().getShape();
  // The place of each element in row-major order, from which the indexed ones are taken.
  int64_t count = base->type().getNumElements();
  SmallVector<int64_t> flat = {count};
  auto iota = create<nd::IotaOp>(index.span, RankedTensorType::get(flat, builder.getI64Type()), uint64_t(0));
  auto taken = indexAll(Tensor{create<nd::ReshapeOp>(index.span, iota, shape), false, 0}, index, frame);
  if (!taken)
    return {};
  Tensor places = *taken;
  if (update->type().getRank() == 0 && places.type().getRank() != 0)
    *update = broadcastScalar(*update, places.type(), index.span);
  if (update->type().getShape() != places.type().getShape()) {
    diags.report(Diag::shape_mismatch, index.span, "=", describeShape(places.type().getShape()),
                 describeShape(update->type().getShape()))
        .help("the value must have the shape of the place");
    return {};
  }
  int64_t updates = update->type().getNumElements();
  auto flatBase = create<nd::ReshapeOp>(index.span, base->value, ArrayRef<int64_t>{count});
  auto flatPlaces = create<nd::ReshapeOp>(index.span, places.value, ArrayRef<int64_t>{updates});
  auto flatUpdate = create<nd::ReshapeOp>(index.span, update->value, ArrayRef<int64_t>{updates});
  auto scattered = create<nd::ScatterOp>(index.span, flatBase, flatPlaces, flatUpdate, nd::ScatterMode::set, uint64_t(0));
  return Value(Tensor{create<nd::ReshapeOp>(index.span, scattered, shape), base->number, base->classes}, index.span);
}

std::string twinOf(llvm::StringRef name) {
  for (auto [leafwise, tree] : {std::pair{"param", "params"}, std::pair{"grad", "grads"}})
    if (name == leafwise || name == tree)
      return name == tree ? leafwise : tree;
  return "";
}

void Elaborator::executeWrite(const ast::WriteStmt &stmt, Frame &frame) {
  const ast::Expr *root = stmt.target.get();
  auto *index = ast::dynCast<ast::IndexExpr>(root);
  if (index)
    root = index->base.get();
  auto *name = ast::dynCast<ast::NameExpr>(root);
  Binding *binding = name ? frame.scope->find(name->name) : nullptr;
  if (!name || !binding) {
    diags.report(Diag::write_target, stmt.target->span, print(*stmt.target));
    return;
  }
  // A state whose declaration was refused is no local.
  if (!binding->state && binding->kind == NameKind::State)
    return;
  if (!binding->state) {
    diags.report(Diag::write_local, stmt.span, name->name, std::string("a ") + describe(binding->kind))
        .help("`=` defines a local; `<-` writes a state or what the rule's kind lets it write");
    return;
  }
  Value value = evaluate(*stmt.value, frame);
  if (index && !value.isInvalid())
    value = placeInto(binding->value, *index, value, frame);
  if (value.isInvalid())
    return;
  auto t = tensor(value, stmt.value->span);
  if (!t)
    return;
  RankedTensorType wanted = binding->state->type;
  *t = cast(*t, elemOf(t->type().getElementType()), false, stmt.span);
  if (t->type().getElementType() != wanted.getElementType())
    *t = {create<nd::CastOp>(stmt.span, t->value, wanted.getElementType()), false, 0};
  if (t->type().getRank() == 0 && wanted.getRank() != 0)
    *t = broadcastScalar(*t, wanted, stmt.span);
  Attribute have = ir::rangeOf(t->type().getEncoding());
  if (isa_and_present<ir::PerLeafAttr>(have) && isa_and_present<ir::LeavesAttr>(ir::rangeOf(wanted.getEncoding())))
    *t = spread(*t, wanted, stmt.span);
  *t = varied(*t, ir::axesOf(wanted.getEncoding()), stmt.span);
  auto axes = dyn_cast_if_present<ir::AxesAttr>(t->type().getEncoding());
  auto strange = [&](StringAttr axis) { return !ir::carries(wanted, axis.getValue()); };
  if (auto names = axes ? axes.getNames() : ArrayRef<StringAttr>(); llvm::any_of(names, strange)) {
    std::string axis = llvm::find_if(names, strange)->str();
    diags.report(Diag::axis_in_write, stmt.span, name->name, axis)
        .help("reduce over `" + axis + "` (`mean(…, over=" + axis + ")`), or declare `" + axis + " state`");
    return;
  }
  bool otherForm = binding->state->eitherForm && isa_and_present<ir::LeavesAttr>(ir::rangeOf(t->type().getEncoding()));
  if (otherForm && isa_and_present<ir::TreeAttr>(ir::rangeOf(wanted.getEncoding())))
    t->value = recast(Value(*t), true, stmt.span).as<Tensor>()->value;
  if (isa_and_present<ir::PerLeafAttr>(ir::rangeOf(t->type().getEncoding())) && !wanted.getEncoding() && wanted.getRank() == 0) {
    diags.report(Diag::axis_in_write, stmt.span, name->name, "leaf")
        .help("reduce over `leaf` (`sum(…, over=leaf)`), or declare `leaf state`");
    return;
  }
  if (t->type().getShape() != wanted.getShape() || t->type().getEncoding() != wanted.getEncoding()) {
    diags.report(Diag::write_type, stmt.span, name->name, describeType(wanted), describeType(t->type()))
        .note(binding->span, "`" + name->name + "` is " + describeType(wanted));
    return;
  }
  binding->value = Value(*t, stmt.span);
  binding->state->written = true;
  std::string other = twinOf(name->name);
  Binding *twin = other.empty() ? nullptr : frame.scope->find(other);
  if (twin && twin->state && isa_and_present<ir::LeavesAttr, ir::TreeAttr>(ir::rangeOf(twin->state->type.getEncoding())))
    twin->value = Value(Tensor{create<ir::RecastOp>(stmt.span, twin->state->type, t->value), false, 0}, stmt.span);
}

} // namespace dyn::elab
