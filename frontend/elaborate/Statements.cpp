//===- Statements.cpp - blocks, assignments, loops, conditions ------------===//
#include "frontend/elaborate/Elaborator.h"

#include "frontend/AstWalk.h"

using namespace mlir;

namespace dyn::elab {

/// Loops over a known range up to this long are unrolled: their variable is then a known number.
static constexpr int64_t unrollLimit = 16;
/// An unrolled loop that makes instances may be longer, but not without bound.
static constexpr int64_t unrollMost = 4096;

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
    return onState ? onState(*ast::cast<ast::StateStmt>(&stmt), frame) : notHere(stmt.span, "state");
  case ast::Kind::EmitStmt:
    return onEmit ? onEmit(*ast::cast<ast::EmitStmt>(&stmt), frame) : notHere(stmt.span, "emit");
  case ast::Kind::IfStmt:
    return executeIf(*ast::cast<ast::IfStmt>(&stmt), frame);
  case ast::Kind::ForStmt: {
    auto &loop = *ast::cast<ast::ForStmt>(&stmt);
    return executeLoop(&loop.variable, *loop.range, *loop.body, stmt.span, frame, frame.yields);
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
    frame.result = evaluate(*ast::cast<ast::ReturnStmt>(&stmt)->value, frame);
    return;
  }
  case ast::Kind::YieldStmt: {
    Value value = evaluate(*ast::cast<ast::YieldStmt>(&stmt)->value, frame);
    if (frame.yields)
      frame.yields->push_back(std::move(value));
    else
      notHere(stmt.span, "yield");
    return;
  }
  case ast::Kind::FnStmt: {
    auto *fn = ast::cast<ast::FnStmt>(&stmt)->function.get();
    frame.scope->define(fn->name.text, Value(Function{fn, frame.scope}, stmt.span), NameKind::Local, stmt.span);
    return;
  }
  case ast::Kind::RunStmt: {
    auto &run = *ast::cast<ast::RunStmt>(&stmt);
    if (!onRun)
      return notHere(stmt.span, "run");
    Value value = onRun(run, frame);
    frame.scope->define(run.name.text, std::move(value), NameKind::Local, run.name.span);
    return;
  }
  case ast::Kind::ExpectStmt:
    return onExpect ? onExpect(*ast::cast<ast::ExpectStmt>(&stmt), frame) : notHere(stmt.span, "expect");
  default:
    return notHere(stmt.span, "this statement");
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

void Elaborator::executeLet(const ast::LetStmt &stmt, Frame &frame) { assign(stmt.name, letValue(stmt, frame), frame); }

void Elaborator::executeDraw(const ast::DrawStmt &stmt, Frame &frame) {
  frame.assigning = stmt.name.text;
  Value dist = evaluate(*stmt.distribution, frame);
  Value drawn;
  if (auto *d = dist.as<Distribution>()) {
    SmallVector<int64_t> shape;
    bool good = true;
    Elem elem = Elem::Real;
    if (stmt.type)
      good = declaredShape(*stmt.type, frame.scope, shape, elem);
    if (good)
      drawn = drawFrom(*d, shape, place, stmt.span, frame);
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
  ArrayRef<int64_t> shape = base->type().getShape();
  if (index.indices.size() > shape.size()) {
    diags.report(Diag::too_many_indices, index.span, describeType(base->type()), index.indices.size());
    return {};
  }
  // The place of each element in row-major order, from which the indexed ones are taken.
  int64_t count = base->type().getNumElements();
  SmallVector<int64_t> flat = {count};
  auto iota = create<nd::IotaOp>(index.span, RankedTensorType::get(flat, builder.getI64Type()), uint64_t(0));
  Tensor places{create<nd::ReshapeOp>(index.span, iota, shape), false, 0};
  size_t dim = 0;
  for (auto &one : index.indices) {
    int64_t before = places.type().getRank();
    bool dropped = false;
    Value next = indexOne(places, dim, *one, dropped, frame);
    if (next.isInvalid())
      return {};
    places = *next.as<Tensor>();
    dim += places.type().getRank() - before + 1;
  }
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

void Elaborator::executeWrite(const ast::WriteStmt &stmt, Frame &frame) {
  const ast::Expr *root = stmt.target.get();
  auto *index = ast::dynCast<ast::IndexExpr>(root);
  if (index)
    root = index->base.get();
  auto *name = ast::dynCast<ast::NameExpr>(root);
  Binding *binding = name ? frame.scope->find(name->name) : nullptr;
  if (!name || !binding) {
    diags.report(Diag::write_target, stmt.target->span);
    return;
  }
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
  Attribute have = t->type().getEncoding();
  if (isa_and_present<ir::PerLeafAttr>(have) && isa_and_present<ir::LeavesAttr>(wanted.getEncoding()))
    *t = spread(*t, wanted, stmt.span);
  if (auto axes = dyn_cast_if_present<ir::AxesAttr>(t->type().getEncoding()); axes && axes != wanted.getEncoding()) {
    std::string axis = axes.getNames().front().str();
    diags.report(Diag::axis_in_write, stmt.span, name->name, axis)
        .help("reduce over `" + axis + "` (`mean(…, over=" + axis + ")`), or declare `" + axis + " state`");
    return;
  }
  if (t->type().getShape() != wanted.getShape() || t->type().getEncoding() != wanted.getEncoding()) {
    diags.report(Diag::write_type, stmt.span, name->name, describeType(wanted), describeType(t->type()))
        .note(binding->span, "`" + name->name + "` is " + describeType(wanted));
    return;
  }
  binding->value = Value(*t, stmt.span);
  binding->state->written = true;
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

namespace {
/// Names that statements give new values to.
struct Assigned {
  std::vector<std::string> names;
  void add(const std::string &name) {
    if (!llvm::is_contained(names, name))
      names.push_back(name);
  }
  void visit(const ast::Block &block) {
    for (auto &stmt : block.statements)
      visit(*stmt);
  }
  static const ast::NameExpr *root(const ast::Expr *expr) {
    for (;;) {
      if (auto *index = ast::dynCast<ast::IndexExpr>(expr))
        expr = index->base.get();
      else if (auto *member = ast::dynCast<ast::MemberExpr>(expr))
        expr = member->base.get();
      else
        return ast::dynCast<ast::NameExpr>(expr);
    }
  }
  void visit(const ast::Stmt &stmt) {
    if (auto *let = ast::dynCast<ast::LetStmt>(&stmt))
      add(let->name.text);
    else if (auto *draw = ast::dynCast<ast::DrawStmt>(&stmt))
      add(draw->name.text);
    else if (auto *place = ast::dynCast<ast::PlaceStmt>(&stmt)) {
      if (auto *name = root(place->target.get()))
        add(name->name);
    } else if (auto *write = ast::dynCast<ast::WriteStmt>(&stmt)) {
      if (auto *name = root(write->target.get()))
        add(name->name);
    } else if (auto *branch = ast::dynCast<ast::IfStmt>(&stmt)) {
      visit(*branch->thenBlock);
      if (branch->elseBlock)
        visit(*branch->elseBlock);
      if (branch->elseIf)
        visit(*branch->elseIf);
    } else if (auto *loop = ast::dynCast<ast::ForStmt>(&stmt))
      visit(*loop->body);
    else if (auto *loop = ast::dynCast<ast::WhileStmt>(&stmt))
      visit(*loop->body);
    else if (auto *loop = ast::dynCast<ast::RepeatStmt>(&stmt))
      visit(*loop->body);
  }
};
} // namespace

std::vector<std::string> Elaborator::carried(const ast::Block &block, Scope &scope) {
  Assigned assigned;
  assigned.visit(block);
  std::vector<std::string> names;
  for (const std::string &name : assigned.names)
    if (Binding *binding = scope.find(name); binding && !binding->value.isInvalid())
      names.push_back(name);
  return names;
}

void Elaborator::executeIf(const ast::IfStmt &stmt, Frame &frame) {
  Value condition = evaluate(*stmt.condition, frame);
  if (condition.isInvalid())
    return;
  auto runElse = [&] {
    if (stmt.elseBlock)
      execute(*stmt.elseBlock, frame);
    else if (stmt.elseIf)
      executeIf(*stmt.elseIf, frame);
  };
  if (auto known = knownBool(condition))
    return *known ? execute(*stmt.thenBlock, frame) : runElse();
  auto c = tensor(condition, stmt.condition->span, "a condition");
  if (!c)
    return;
  bool perLeaf = isa_and_present<ir::PerLeafAttr>(c->type().getEncoding());
  if (elemOf(c->type().getElementType()) != Elem::Bool || (c->type().getRank() != 0 && !perLeaf)) {
    diags.report(Diag::condition_not_scalar, stmt.condition->span, describeType(c->type()))
        .help("`where(condition, a, b)` chooses element by element");
    return;
  }
  // Each side starts from the same values; what either gives a new value to is chosen behind them.
  std::vector<std::string> names = carried(*stmt.thenBlock, *frame.scope);
  if (stmt.elseBlock)
    for (auto &name : carried(*stmt.elseBlock, *frame.scope))
      if (!llvm::is_contained(names, name))
        names.push_back(name);
  if (stmt.elseIf) {
    Assigned assigned;
    assigned.visit(*stmt.elseIf);
    for (auto &name : assigned.names)
      if (frame.scope->find(name) && !llvm::is_contained(names, name))
        names.push_back(name);
  }
  std::vector<Value> start;
  for (auto &name : names)
    start.push_back(frame.scope->find(name)->value);
  auto side = [&](auto &&body) {
    std::vector<Value> results;
    ScopePtr outer = frame.scope;
    bool branch = frame.inRuntimeBranch;
    frame.inRuntimeBranch = true;
    frame.scope = std::make_shared<Scope>(outer);
    body();
    frame.scope = outer;
    frame.inRuntimeBranch = branch;
    for (size_t i = 0; i < names.size(); ++i) {
      Binding *binding = frame.scope->find(names[i]);
      results.push_back(binding->value);
      binding->value = start[i];
    }
    return results;
  };
  std::vector<Value> results = branch(
      *c, [&] { return side([&] { execute(*stmt.thenBlock, frame); }); }, [&] { return side(runElse); }, stmt.span);
  for (size_t i = 0; i < results.size(); ++i)
    frame.scope->find(names[i])->value = results[i];
}

/// Computing both sides and choosing is cheaper than a branch, unless a side may fail or costs much.
static bool cheapToSpeculate(Block &block) {
  return llvm::all_of(block, [](Operation &op) {
    return !isa<nd::GatherOp, nd::ScatterOp, nd::ScanOp, nd::WhileOp, nd::CondOp, nd::ContractOp, ir::LossOp,
                ir::GradientOp>(op);
  });
}

std::vector<Value> Elaborator::branch(Tensor condition, const std::function<std::vector<Value>()> &thenSide,
                                      const std::function<std::vector<Value>()> &elseSide, Span span) {
  Block thenBlock, elseBlock;
  std::vector<Value> a, b;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&thenBlock);
    numberCacheBlock = nullptr;
    a = thenSide();
    builder.setInsertionPointToEnd(&elseBlock);
    numberCacheBlock = nullptr;
    b = elseSide();
    numberCacheBlock = nullptr;
  }
  Block *here = builder.getInsertionBlock();
  auto splice = [&](Block &from, Block *to, Block::iterator at) { to->getOperations().splice(at, from.getOperations()); };
  auto giveUp = [&] {
    // Values of either side may be used nowhere: drop them together.
    splice(thenBlock, here, builder.getInsertionPoint());
    splice(elseBlock, here, builder.getInsertionPoint());
    return std::vector<Value>(a.size());
  };
  for (auto *side : {&a, &b})
    for (Value &value : *side)
      if (value.isInvalid())
        return giveUp();
  bool speculate = cheapToSpeculate(thenBlock) && cheapToSpeculate(elseBlock);
  std::vector<Value> results;
  // Where each element decides for itself, both sides are computed anyway.
  if (speculate || condition.type().getEncoding()) {
    splice(thenBlock, here, builder.getInsertionPoint());
    splice(elseBlock, here, builder.getInsertionPoint());
    for (size_t i = 0; i < a.size(); ++i)
      results.push_back(select(Value(condition, span), a[i], b[i], span));
    return results;
  }
  // Both sides must give the same types: what meets is decided on copies of the sides' last values.
  SmallVector<mlir::Value> thenValues, elseValues;
  std::vector<Tensor> meet;
  for (size_t i = 0; i < a.size(); ++i) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&thenBlock);
    auto x = tensor(a[i], span);
    builder.setInsertionPointToEnd(&elseBlock);
    auto y = tensor(b[i], span);
    if (!x || !y)
      return giveUp();
    Elem elem = std::max(elemOf(x->type().getElementType()), elemOf(y->type().getElementType()));
    bool number = x->number && y->number;
    builder.setInsertionPointToEnd(&thenBlock);
    Tensor xs = cast(*x, elem, number, span);
    builder.setInsertionPointToEnd(&elseBlock);
    Tensor ys = cast(*y, elem, number, span);
    if (xs.type().getRank() == 0 && ys.type().getRank() != 0) {
      builder.setInsertionPointToEnd(&thenBlock);
      xs = broadcastScalar(xs, ys.type(), span);
    } else if (ys.type().getRank() == 0 && xs.type().getRank() != 0) {
      ys = broadcastScalar(ys, xs.type(), span);
    }
    if (xs.type() != ys.type()) {
      auto merged = mergeEncodings(xs.type().getEncoding(), ys.type().getEncoding());
      if (failed(merged) || xs.type().getShape() != ys.type().getShape() ||
          xs.type().getElementType() != ys.type().getElementType()) {
        diags.report(Diag::branches_differ, span, describeType(xs.type()), describeType(ys.type()));
        return giveUp();
      }
      auto type = ir::withEncoding(xs.type(), *merged);
      if (ys.type() != type)
        ys.value = create<ir::VaryOp>(span, type, ys.value);
      builder.setInsertionPointToEnd(&thenBlock);
      if (xs.type() != type)
        xs.value = create<ir::VaryOp>(span, type, xs.value);
    }
    thenValues.push_back(xs.value);
    elseValues.push_back(ys.value);
    meet.push_back({mlir::Value(), xs.number && ys.number, std::max(xs.classes, ys.classes)});
  }
  auto side = [&](Block &from, SmallVector<mlir::Value> &values) {
    return [&](OpBuilder &inner, Location) {
      splice(from, inner.getInsertionBlock(), inner.getInsertionPoint());
      return values;
    };
  };
  auto op = nd::CondOp::create(builder, loc(span), condition.value, side(thenBlock, thenValues), side(elseBlock, elseValues));
  for (size_t i = 0; i < meet.size(); ++i) {
    meet[i].value = op->getResult(i);
    results.push_back(Value(meet[i], span));
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Whether code makes an instance of a model where it stands (`dense(8)(x)`): such a loop must be unrolled.
static bool makesInstances(const ast::Node &node) {
  bool found = false;
  ast::walk(node, [&](const ast::Node &inner) {
    if (auto *callExpr = ast::dynCast<ast::CallExpr>(&inner))
      found |= ast::isa<ast::CallExpr>(callExpr->callee.get());
    return !found;
  });
  return found;
}

Value Elaborator::collect(const ast::Ident &variable, const ast::Expr &range, const ast::Block *block,
                          const ast::Expr *body, Span span, Frame &frame) {
  std::vector<Value> yields;
  Value items = evaluate(range, frame);
  if (items.isInvalid())
    return {};
  loop(&variable, items, block, body, range.span, span, frame, &yields);
  for (Value &value : yields)
    if (value.isInvalid())
      return {};
  if (yields.empty()) {
    if (!diags.hasErrors())
      diags.report(Diag::collects_nothing, span).help("`yield e` gives the loop its elements");
    return {};
  }
  // A scan yields its stack at once, marked by an array one level deeper.
  if (yields.size() == 1 && yieldedStack) {
    yieldedStack = false;
    return yields.front();
  }
  return stackValues(yields, span);
}

void Elaborator::executeLoop(const ast::Ident *variable, const ast::Expr &range, const ast::Block &body, Span span,
                             Frame &frame, std::vector<Value> *yields) {
  Value items = evaluate(range, frame);
  if (!items.isInvalid())
    loop(variable, items, &body, nullptr, range.span, span, frame, yields);
}

void Elaborator::loop(const ast::Ident *variable, const Value &items, const ast::Block *block, const ast::Expr *body,
                      Span rangeSpan, Span span, Frame &frame, std::vector<Value> *yields) {
  int64_t trip = 0;
  std::optional<Tensor> rows;
  if (auto *range = items.as<Range>())
    trip = range->high - range->low;
  else if ((rows = tensor(items, rangeSpan, "what a loop runs over"))) {
    if (rows->type().getRank() == 0 || isa_and_present<ir::LeavesAttr, ir::TreeAttr>(rows->type().getEncoding())) {
      diags.report(Diag::loop_over, rangeSpan, describeType(rows->type())).help("loop over a range `0..n`, or over an array");
      return;
    }
    trip = rows->type().getDimSize(0);
  } else
    return;
  bool instances = makesInstances(block ? static_cast<const ast::Node &>(*block) : *body);
  bool unroll = trip <= unrollLimit || instances || !numbersAreOperands;
  if (unroll && trip > unrollMost && numbersAreOperands) {
    diags.report(Diag::loop_too_long, span, trip, unrollMost);
    return;
  }
  if (!unroll)
    return scan(variable, items, trip, block, body, span, frame, yields);
  int64_t low = items.as<Range>() ? items.as<Range>()->low : 0;
  for (int64_t i = 0; i < trip && !frame.result; ++i) {
    ScopePtr outer = frame.scope;
    frame.scope = std::make_shared<Scope>(outer);
    Value item;
    if (rows) {
      SmallVector<int64_t> offsets(rows->type().getRank(), 0), sizes(rows->type().getShape()),
          strides(rows->type().getRank(), 1);
      offsets[0] = i;
      sizes[0] = 1;
      auto row = create<nd::SliceOp>(span, rows->value, ArrayRef<int64_t>(offsets), ArrayRef<int64_t>(sizes),
                                     ArrayRef<int64_t>(strides));
      item = Value(Tensor{create<nd::ReshapeOp>(span, row, rows->type().getShape().drop_front()), rows->number,
                          rows->classes},
                   span);
      if (!numbersAreOperands)
        item = known(item, span);
    } else
      item = integer(low + i, rangeSpan);
    if (variable)
      frame.scope->define(variable->text, item, NameKind::Local, Span());
    frame.passes.push_back(i);
    std::vector<Value> *outerYields = std::exchange(frame.yields, yields);
    if (block)
      execute(*block, frame);
    else if (yields)
      yields->push_back(evaluate(*body, frame));
    frame.yields = outerYields;
    frame.passes.pop_back();
    frame.scope = outer;
  }
}

std::optional<mlir::Value> Elaborator::asCarry(const Value &value, mlir::Type wanted, Span span) {
  auto t = tensor(value, span, "a carried value");
  if (!t)
    return std::nullopt;
  auto type = mlir::cast<RankedTensorType>(wanted);
  if (t->type().getElementType() != type.getElementType())
    t->value = create<nd::CastOp>(span, t->value, type.getElementType());
  if (t->type().getRank() == 0 && type.getRank() != 0)
    *t = broadcastScalar(*t, type, span);
  if (t->type() != type && t->type().getShape() == type.getShape())
    t->value = create<ir::VaryOp>(span, type, t->value);
  if (t->type() != type)
    return std::nullopt;
  return t->value;
}

/// The type of a carried value that holds both its start and what a pass gives it: nothing when they do not meet.
static RankedTensorType meetTypes(RankedTensorType start, RankedTensorType next, Type real) {
  auto encoding = mergeEncodings(start.getEncoding(), next.getEncoding());
  bool scalarStart = start.getRank() == 0;
  if (failed(encoding) || (!scalarStart && start.getShape() != next.getShape()))
    return {};
  Type element = start.getElementType();
  if (element != next.getElementType())
    element = isa<FloatType>(element) || isa<FloatType>(next.getElementType()) ? real : next.getElementType();
  return RankedTensorType::get(next.getShape(), element, *encoding);
}

void Elaborator::scan(const ast::Ident *variable, const Value &items, int64_t trip, const ast::Block *block,
                      const ast::Expr *body, Span span, Frame &frame, std::vector<Value> *yields) {
  std::vector<std::string> names = block ? carried(*block, *frame.scope) : std::vector<std::string>();
  std::vector<Value> start;
  std::vector<RankedTensorType> types;
  for (auto &name : names) {
    start.push_back(frame.scope->find(name)->value);
    auto t = tensor(start.back(), span, "a carried value");
    if (!t)
      return;
    start.back() = Value(*t, span);
    types.push_back(t->type());
  }
  auto restore = [&] {
    for (size_t i = 0; i < names.size(); ++i)
      frame.scope->find(names[i])->value = start[i];
  };
  int64_t low = items.as<Range>() ? items.as<Range>()->low : 0;
  SmallVector<mlir::Value> xs;
  if (auto *rows = items.as<Tensor>())
    xs.push_back(rows->value);
  // The types of carried values are a fixed point, reached from their start upwards.
  for (int attempt = 0; attempt < 4; ++attempt) {
    SmallVector<mlir::Value> inits;
    for (size_t i = 0; i < names.size(); ++i) {
      auto init = asCarry(start[i], types[i], span);
      if (!init)
        return;
      inits.push_back(*init);
    }
    size_t errors = diags.errorCount();
    bool again = false, failed = false;
    std::vector<Tensor> stackInfo;
    SmallVector<Record> recordShape;
    auto op = nd::ScanOp::create(
        builder, loc(span), ValueRange(inits), ValueRange(xs), trip, false,
        [&](OpBuilder &inner, Location, mlir::Value pass, ValueRange carries, ValueRange rows) {
          OpBuilder::InsertionGuard guard(builder);
          builder.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
          numberCacheBlock = nullptr;
          ScopePtr outer = frame.scope;
          for (size_t i = 0; i < names.size(); ++i)
            outer->find(names[i])->value =
                Value(Tensor{carries[i], false, 0}, span);
          frame.scope = std::make_shared<Scope>(outer);
          if (variable) {
            Tensor item{pass, true, 0};
            if (!rows.empty())
              item = {rows.front(), false, items.as<Tensor>()->classes};
            else if (low != 0)
              item = *elementwise("add", Value(item, span), integer(low, span), span).as<Tensor>();
            frame.scope->define(variable->text, Value(item, span), NameKind::Local, Span());
          }
          mlir::Value outerPass = std::exchange(drawPass, pass);
          std::vector<Value> mine;
          std::vector<Value> *outerYields = std::exchange(frame.yields, yields ? &mine : nullptr);
          bool branch = std::exchange(frame.inRuntimeBranch, true);
          if (block)
            execute(*block, frame);
          else
            mine.push_back(evaluate(*body, frame));
          frame.inRuntimeBranch = branch;
          frame.yields = outerYields;
          drawPass = outerPass;
          frame.scope = outer;
          SmallVector<mlir::Value> results;
          for (size_t i = 0; i < names.size(); ++i) {
            auto next = tensor(frame.scope->find(names[i])->value, span);
            if (!next) {
              failed = true;
              results.push_back(carries[i]);
              continue;
            }
            auto type = meetTypes(types[i], next->type(), realType);
            if (!type) {
              failed = true;
              diags.report(Diag::carry_changes_type, span, names[i], describeType(types[i]), describeType(next->type()));
              results.push_back(carries[i]);
              continue;
            }
            if (type != types[i]) {
              types[i] = type;
              again = true;
              results.push_back(carries[i]);
              continue;
            }
            auto converted = asCarry(Value(*next, span), type, span);
            results.push_back(converted ? *converted : carries[i]);
          }
          if (yields && mine.size() != 1) {
            if (diags.errorCount() == errors)
              diags.report(Diag::yields_once, span, mine.size());
            failed = true;
          } else if (yields) {
            if (auto *record = mine.front().as<Record>()) {
              recordShape.push_back(*record);
              for (auto &[name, field] : record->fields)
                if (auto t = tensor(field, span)) {
                  Tensor stored = cast(*t, elemOf(t->type().getElementType()), false, span);
                  stackInfo.push_back(stored);
                  results.push_back(stored.value);
                }
            } else if (auto t = tensor(mine.front(), span, "what is yielded")) {
              Tensor stored = cast(*t, elemOf(t->type().getElementType()), false, span);
              stackInfo.push_back(stored);
              results.push_back(stored.value);
            } else
              failed = true;
          }
          numberCacheBlock = nullptr;
          return results;
        });
    restore();
    if (failed || diags.errorCount() != errors) {
      op.erase();
      return;
    }
    if (again) {
      op.erase();
      continue;
    }
    for (size_t i = 0; i < names.size(); ++i)
      frame.scope->find(names[i])->value = Value(Tensor{op->getResult(i), false, 0}, span);
    if (yields) {
      std::vector<Value> stacks;
      for (size_t i = 0; i < stackInfo.size(); ++i)
        stacks.push_back(Value(Tensor{op->getResult(names.size() + i), false, stackInfo[i].classes}, span));
      yieldedStack = true;
      if (!recordShape.empty()) {
        Record record = recordShape.front();
        for (size_t i = 0; i < stacks.size(); ++i)
          record.fields[i].second = stacks[i];
        yields->push_back(Value(record, span));
      } else
        yields->push_back(stacks.front());
    }
    return;
  }
  diags.report(Diag::carry_unsettled, span);
}

void Elaborator::executeRepeat(const ast::RepeatStmt &stmt, Frame &frame) {
  Value count = evaluate(*stmt.count, frame);
  auto trip = knownInt(count, stmt.count->span, "the count of `repeat`");
  if (!trip)
    return;
  if (*trip < 0) {
    diags.report(Diag::negative_count, stmt.count->span, *trip);
    return;
  }
  loop(nullptr, Value(Range{0, *trip}, stmt.count->span), stmt.body.get(), nullptr, stmt.count->span, stmt.span, frame,
       nullptr);
}

void Elaborator::executeWhile(const ast::WhileStmt &stmt, Frame &frame) {
  auto limit = knownInt(evaluate(*stmt.limit, frame), stmt.limit->span, "the limit of `while`");
  if (!limit)
    return;
  std::vector<std::string> names = carried(*stmt.body, *frame.scope);
  std::vector<Value> start;
  std::vector<RankedTensorType> types;
  for (auto &name : names) {
    auto t = tensor(frame.scope->find(name)->value, stmt.span, "a carried value");
    if (!t)
      return;
    start.push_back(Value(*t, stmt.span));
    types.push_back(t->type());
  }
  auto bindTo = [&](ValueRange values) {
    for (size_t i = 0; i < names.size(); ++i)
      frame.scope->find(names[i])->value = Value(Tensor{values[i], false, 0}, stmt.span);
  };
  for (int attempt = 0; attempt < 4; ++attempt) {
    SmallVector<mlir::Value> inits;
    for (size_t i = 0; i < names.size(); ++i)
      inits.push_back(*asCarry(start[i], types[i], stmt.span));
    size_t errors = diags.errorCount();
    bool again = false;
    auto within = [&](OpBuilder &inner, auto &&body) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
      numberCacheBlock = nullptr;
      auto result = body();
      numberCacheBlock = nullptr;
      return result;
    };
    auto op = nd::WhileOp::create(
        builder, loc(stmt.span), ValueRange(inits), *limit,
        [&](OpBuilder &inner, Location, ValueRange carries) {
          return within(inner, [&]() -> mlir::Value {
            bindTo(carries);
            Value condition = evaluate(*stmt.condition, frame);
            auto c = tensor(condition, stmt.condition->span, "a condition");
            if (c && (elemOf(c->type().getElementType()) != Elem::Bool || c->type().getRank() != 0 ||
                      c->type().getEncoding()))
              diags.report(Diag::condition_not_scalar, stmt.condition->span, describeType(c->type()));
            if (c)
              return c->value;
            return materialise(Const{0, Elem::Bool, false, ""}, stmt.span).value;
          });
        },
        [&](OpBuilder &inner, Location, ValueRange carries) {
          return within(inner, [&] {
            bindTo(carries);
            ScopePtr outer = frame.scope;
            frame.scope = std::make_shared<Scope>(outer);
            bool branch = std::exchange(frame.inRuntimeBranch, true);
            execute(*stmt.body, frame);
            frame.inRuntimeBranch = branch;
            frame.scope = outer;
            SmallVector<mlir::Value> results;
            for (size_t i = 0; i < names.size(); ++i) {
              auto next = tensor(frame.scope->find(names[i])->value, stmt.span);
              auto type = next ? meetTypes(types[i], next->type(), realType) : RankedTensorType();
              if (next && !type)
                diags.report(Diag::carry_changes_type, stmt.span, names[i], describeType(types[i]),
                             describeType(next->type()));
              if (!type || type != types[i]) {
                again |= type && type != types[i];
                if (type)
                  types[i] = type;
                results.push_back(carries[i]);
                continue;
              }
              results.push_back(*asCarry(Value(*next, stmt.span), type, stmt.span));
            }
            return results;
          });
        });
    for (size_t i = 0; i < names.size(); ++i)
      frame.scope->find(names[i])->value = start[i];
    if (diags.errorCount() != errors || again) {
      op.erase();
      if (diags.errorCount() != errors)
        return;
      continue;
    }
    if (plan) {
      op->setAttr("site", builder.getI64IntegerAttr(plan->sites.size()));
      plan->sites.push_back({"while", "while", diags.sources().describe(stmt.span)});
    }
    for (size_t i = 0; i < names.size(); ++i)
      frame.scope->find(names[i])->value = Value(Tensor{op->getResult(i), false, 0}, stmt.span);
    return;
  }
  diags.report(Diag::carry_unsettled, stmt.span);
}

} // namespace dyn::elab
