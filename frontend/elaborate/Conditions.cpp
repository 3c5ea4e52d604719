//===- Conditions.cpp - `if`, and what a block gives new values to --------===//
#include "frontend/elaborate/Elaborator.h"

#include "frontend/AstWalk.h"

#include <functional>
#include <set>

using namespace mlir;

namespace dyn::elab {

namespace {
/// Names that statements give new values to.
struct Assigned {
  std::vector<std::string> names;
  void add(const std::string &name) {
    if (!llvm::is_contained(names, name))
      names.push_back(name);
  }
  /// What is written leaf by leaf is written as a tree too.
  void addWritten(const std::string &name) {
    add(name);
    if (std::string twin = twinOf(name); !twin.empty())
      add(twin);
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
        addWritten(name->name);
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

void Elaborator::addHeldStates(const ast::Node &code, Scope &scope, std::vector<std::string> &names) {
  std::set<const ast::Node *> seen;
  std::function<void(const ast::Node &, Scope &)> visit = [&](const ast::Node &node, Scope &where) {
    if (!seen.insert(&node).second)
      return;
    ast::walk(node, [&](const ast::Node &inner) {
      auto *name = ast::dynCast<ast::NameExpr>(&inner);
      Binding *binding = name ? where.find(name->name) : nullptr;
      if (!binding)
        return true;
      // A function that is differentiated changes no state (heldCall), so what `grad(f)` names is not looked into.
      if (auto *held = binding->value.as<Held>()) {
        for (auto &state : held->rule->states)
          if (!llvm::is_contained(names, state))
            names.push_back(state);
      } else if (auto *fn = binding->value.as<Function>())
        visit(*fn->decl, *fn->scope);
      else if (auto *closure = binding->value.as<Closure>())
        visit(*closure->expr, *closure->scope);
      return true;
    });
  };
  visit(code, scope);
}

std::vector<std::string> Elaborator::carried(const ast::Block &block, Scope &scope) {
  Assigned assigned;
  assigned.visit(block);
  std::vector<std::string> names;
  for (const std::string &name : assigned.names)
    if (Binding *binding = scope.find(name); binding && !binding->value.isInvalid())
      names.push_back(name);
  addHeldStates(block, scope, names);
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
  bool perLeaf = isa_and_present<ir::PerLeafAttr>(ir::rangeOf(c->type().getEncoding()));
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
    addHeldStates(*stmt.elseIf, *frame.scope, names);
  }
  std::vector<Value> start;
  for (auto &name : names)
    start.push_back(frame.scope->find(name)->value);
  auto side = [&](auto &&body) {
    std::vector<Value> results;
    ScopePtr outer = frame.scope;
    bool branch = std::exchange(frame.inRuntimeBranch, true);
    // An array has as many elements whichever side is taken.
    std::vector<Value> *yields = std::exchange(frame.yields, nullptr);
    frame.scope = std::make_shared<Scope>(outer);
    body();
    frame.scope = outer;
    frame.yields = yields;
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

/// Gathers and scatters in `block` look at their own places for elements whose `condition` is `wanted`, and at place 0
/// for the others.
void Elaborator::guardPlaces(Block &block, Tensor condition, bool wanted, Span span) {
  auto axes = dyn_cast_if_present<ir::AxesAttr>(condition.type().getEncoding());
  if (!axes)
    return;
  SmallVector<std::pair<Operation *, unsigned>> uses;
  block.walk([&](Operation *op) {
    if (isa<nd::GatherOp, nd::ScatterOp>(op))
      uses.push_back({op, 1});
  });
  if (uses.empty())
    return;
  mlir::Value takes = wanted ? condition.value : create<nd::NotOp>(span, condition.value);
  // Places that are one for all elements are looked at if some element takes this side.
  mlir::Value any = takes;
  for (StringAttr axis : axes.getNames()) {
    auto type = mlir::cast<RankedTensorType>(any.getType());
    auto rest = RankedTensorType::get({}, type.getElementType(), mlir::cast<ir::AxesAttr>(type.getEncoding()).without(axis));
    any = create<ir::OverOp>(span, rest, ir::OverKind::any, any, axis);
  }
  for (auto [op, operand] : uses) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(op);
    mlir::Value places = op->getOperand(operand);
    auto type = mlir::cast<RankedTensorType>(places.getType());
    mlir::Value flag = type.getEncoding() ? takes : any;
    if (type.getRank())
      flag = create<nd::BroadcastOp>(span, flag, type.getShape(), ArrayRef<int64_t>{});
    auto plain = ir::withEncoding(type, {});
    mlir::Value zeros = create<nd::ConstantOp>(span, plain, DenseElementsAttr::get(plain, builder.getI64IntegerAttr(0)));
    op->setOperand(operand, create<nd::SelectOp>(span, flag, places, zeros));
  }
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
  // Records meet field by field.
  std::vector<Value> models = a;
  if (!alignAll(a, b)) {
    diags.report(Diag::branches_differ, span, describe(a.front()), describe(b.front()));
    a.assign(a.size(), Value());
  } else {
    a = leafValues(a);
    b = leafValues(b);
  }
  Block *here = builder.getInsertionBlock();
  auto splice = [&](Block &from, Block *to, Block::iterator at) { to->getOperations().splice(at, from.getOperations()); };
  auto giveUp = [&] {
    // Values of either side may be used nowhere: drop them together.
    splice(thenBlock, here, builder.getInsertionPoint());
    splice(elseBlock, here, builder.getInsertionPoint());
    return std::vector<Value>(models.size());
  };
  for (auto *side : {&a, &b})
    for (Value &value : *side)
      if (value.isInvalid())
        return giveUp();
  bool speculate = cheapToSpeculate(thenBlock) && cheapToSpeculate(elseBlock);
  std::vector<Value> results;
  // Where each element decides for itself, both sides are computed anyway; places that only the other side's
  // elements would look at are then the first one.
  bool each = bool(condition.type().getEncoding());
  if (each) {
    guardPlaces(thenBlock, condition, true, span);
    guardPlaces(elseBlock, condition, false, span);
  }
  if (speculate || each) {
    splice(thenBlock, here, builder.getInsertionPoint());
    splice(elseBlock, here, builder.getInsertionPoint());
    for (size_t i = 0; i < a.size(); ++i)
      results.push_back(select(Value(condition, span), a[i], b[i], span));
    return rebuildAll(models, results);
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
      if (mlir::failed(merged) || xs.type().getShape() != ys.type().getShape() ||
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
  return rebuildAll(models, results);
}

} // namespace dyn::elab
