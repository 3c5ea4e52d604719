//===- Loops.cpp - for, while, repeat -------------------------------------===//
//
// A short loop over a known range is unrolled and its variable is a known
// number; others become nd.scan and nd.while. What their bodies give new values
// to is carried, records field by field.
//
//===----------------------------------------------------------------------===//
#include "frontend/elaborate/Elaborator.h"

#include "frontend/AstWalk.h"
#include "frontend/elaborate/RunResult.h"
#include "frontend/elaborate/Stacks.h"

using namespace mlir;

namespace dyn::elab {

/// Loops over a known range up to this long are unrolled: their variable is then a known number.
static constexpr int64_t unrollLimit = 16;
/// An unrolled loop that makes instances may be longer, but not without bound.
/// Outside a run passes are walked one by one.
static constexpr int64_t mostPasses = 1'000'000;
static constexpr int64_t unrollMost = 4096;
/// Types of carried values settle in few passes over a body: each pass only ever widens them.
static constexpr int attemptLimit = 6;

/// Whether code makes an instance of a model where it stands (`dense(8)(x)`): such a loop must be unrolled. A derivative
/// or a function that gives one (`hvp(loss)(params, v)`) makes none.
static bool makesInstances(const ast::Node &node, Scope &scope, const Library &library) {
  auto isModel = [&](const ast::Expr &callee) {
    auto *name = ast::dynCast<ast::NameExpr>(&callee);
    if (!name || scope.find(name->name))
      return true; // a model may stand in a parameter
    const ast::Decl *decl = library.find(name->name);
    return decl && ast::isa<ast::ModelDecl>(decl);
  };
  bool found = false;
  ast::walk(node, [&](const ast::Node &inner) {
    auto *outer = ast::dynCast<ast::CallExpr>(&inner);
    auto *made = outer ? ast::dynCast<ast::CallExpr>(outer->callee.get()) : nullptr;
    found |= made && isModel(*made->callee);
    return !found;
  });
  return found;
}

bool yieldsItself(const ast::Block &body) {
  bool found = false;
  ast::walk(body, [&](const ast::Node &inner) {
    found |= ast::isa<ast::YieldStmt>(&inner);
    return !found && !ast::isa<ast::CollectExpr>(&inner) && !ast::isa<ast::FnStmt>(&inner);
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
  bool stacked = std::exchange(yieldedStack, false);
  for (Value &value : yields)
    if (value.isInvalid())
      return {};
  if (yields.empty()) {
    if (!hasFailed())
      diags.report(Diag::collects_nothing, span).help("`yield e` gives the loop its elements");
    return {};
  }
  if (auto *sweep = items.as<std::shared_ptr<RunResult>>())
    return collected(**sweep, yields, span);
  // A scan yields its stack at once.
  return yields.size() == 1 && stacked ? yields.front() : stackValues(yields, span);
}

/// What a loop over the members of a sweep yields has the sweep's axes.
Value Elaborator::collected(const RunResult &sweep, const std::vector<Value> &yields, Span span) {
  std::vector<std::shared_ptr<Series>> members;
  for (const Value &value : yields) {
    members.push_back(asEntry(value, span));
    if (!members.back())
      return {};
  }
  if (members.size() != sweep.members.size())
    return stackValues(yields, span);
  const SourceFile *file = diags.sources().file(span);
  auto whole = stackMembers(file ? std::string(file->text(span)) : "this", sweep.axes, members);
  if (!whole) {
    diags.report(Diag::ragged_array, span, describe(yields.front()), describe(yields.back()));
    return {};
  }
  return Value(std::make_shared<Series>(std::move(*whole)), span);
}

void Elaborator::executeLoop(const ast::Ident *variable, const ast::Expr &range, const ast::Block &body, Span span,
                             Frame &frame, std::vector<Value> *yields) {
  Value items = evaluate(range, frame);
  if (!items.isInvalid())
    loop(variable, items, &body, nullptr, range.span, span, frame, yields);
}

/// Passes of a loop over an array, or over a stack of records; nothing after a report.
std::optional<int64_t> Elaborator::lengthOf(const Value &items, Span span) {
  std::optional<int64_t> length;
  for (const Value &leaf : leafValues({items})) {
    auto rows = tensor(leaf, span, "what a loop runs over");
    if (!rows)
      return std::nullopt;
    if (rows->type().getRank() == 0 || isOneRange(rows->type()) ||
        (length && *length != rows->type().getDimSize(0))) {
      diags.report(Diag::loop_over, span, length ? describe(items) : describeType(rows->type()))
          .help(length ? "the arrays of a stack of records have one length" : "loop over a range `0..n`, or over an array");
      return std::nullopt;
    }
    length = rows->type().getDimSize(0);
  }
  return length;
}

void Elaborator::loop(const ast::Ident *variable, const Value &items, const ast::Block *block, const ast::Expr *body,
                      Span rangeSpan, Span span, Frame &frame, std::vector<Value> *yields) {
  int64_t trip = 0;
  bool hasRows = false;
  auto *sweep = items.as<std::shared_ptr<RunResult>>();
  if (auto *range = items.as<Range>())
    trip = range->high - range->low;
  else if (sweep && (*sweep)->isSweep())
    trip = static_cast<int64_t>((*sweep)->members.size());
  else if (auto length = lengthOf(items, rangeSpan)) {
    hasRows = true;
    trip = *length;
  } else
    return;
  if (!numbersAreOperands && trip > mostPasses) {
    diags.report(Diag::cannot_compute, rangeSpan, "a loop of " + std::to_string(trip) + " passes; outside a run one has at most " +
                                                      std::to_string(mostPasses))
        .help("compute with arrays, `sum(arange(n))`, or let a train do it");
    return;
  }
  bool instances = makesInstances(block ? static_cast<const ast::Node &>(*block) : *body, *frame.scope, library);
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
    if (hasRows) {
      item = rowOf(items, i, span);
      if (!numbersAreOperands && !items.as<Record>())
        item = known(item, span);
    } else
      item = sweep ? Value((*sweep)->members[static_cast<size_t>(i)], rangeSpan) : integer(low + i, rangeSpan);
    if (variable)
      frame.scope->define(variable->text, item, NameKind::Local, Span());
    frame.passes.push_back(i);
    std::vector<Value> *outerYields = std::exchange(frame.yields, yields);
    size_t errors = diags.errorCount();
    auto pass = [&] {
      if (block)
        execute(*block, frame);
      else if (yields)
        yields->push_back(evaluate(*body, frame));
    };
    if (sweep) {
      InstantiationScope member(diags, "member " + (*sweep)->members[static_cast<size_t>(i)]->name, rangeSpan);
      pass();
    } else
      pass();
    frame.yields = outerYields;
    frame.passes.pop_back();
    frame.scope = outer;
    // What is wrong in one pass is wrong in the next.
    if (diags.errorCount() != errors) {
      if (yields)
        yields->push_back(Value());
      return;
    }
  }
}

//===----------------------------------------------------------------------===//
// Carried values
//===----------------------------------------------------------------------===//

/// Names that a loop carries, as the tensors that their values are made of.
struct Elaborator::Carried {
  std::vector<std::string> names;
  std::vector<Value> before; ///< of each name, as it was
  std::vector<Value> models; ///< of each name: its structure
  std::vector<Tensor> start;
  SmallVector<RankedTensorType> types;

  void restore(Frame &frame) const {
    for (size_t i = 0; i < names.size(); ++i)
      frame.scope->find(names[i])->value = before[i];
  }
  void invalidate(Frame &frame) const {
    for (const std::string &name : names)
      frame.scope->find(name)->value = Value();
  }
};

std::optional<Elaborator::Carried> Elaborator::carriedNow(std::vector<std::string> names, Span span, Frame &frame) {
  Carried made{std::move(names), {}, {}, {}, {}};
  for (auto &name : made.names)
    made.before.push_back(frame.scope->find(name)->value);
  made.models = made.before;
  for (const Value &leaf : leafValues(made.before)) {
    auto t = tensor(leaf, span, "a carried value");
    if (!t)
      return std::nullopt;
    made.start.push_back(*t);
    made.types.push_back(t->type());
  }
  return made;
}

std::optional<SmallVector<mlir::Value>> Elaborator::initsOf(const Carried &carried, Span span) {
  SmallVector<mlir::Value> inits;
  for (auto [start, type] : llvm::zip(carried.start, carried.types)) {
    auto init = asCarry(Value(start, span), type, span);
    if (!init)
      return std::nullopt;
    inits.push_back(*init);
  }
  return inits;
}

void Elaborator::bindCarried(const Carried &carried, ValueRange values, Span span, Frame &frame) {
  std::vector<Value> leaves;
  for (auto [i, start] : llvm::enumerate(carried.start))
    leaves.push_back(Value(Tensor{values[i], false, start.classes}, span));
  std::vector<Value> whole = rebuildAll(carried.models, leaves);
  for (size_t i = 0; i < carried.names.size(); ++i)
    frame.scope->find(carried.names[i])->value = whole[i];
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
static RankedTensorType meetTypes(RankedTensorType start, RankedTensorType next, Attribute axes, Type real) {
  auto encoding = mergeEncodings(start.getEncoding(), next.getEncoding());
  if (succeeded(encoding) && axes)
    encoding = mergeEncodings(*encoding, axes);
  bool scalarStart = start.getRank() == 0, scalarNext = next.getRank() == 0;
  if (failed(encoding) || (!scalarStart && !scalarNext && start.getShape() != next.getShape()))
    return {};
  Type element = start.getElementType();
  if (element != next.getElementType())
    element = isa<FloatType>(element) || isa<FloatType>(next.getElementType()) ? real
              : element.isInteger(1)                                           ? next.getElementType()
                                                                               : element;
  return RankedTensorType::get(scalarNext ? start.getShape() : next.getShape(), element, *encoding);
}

/// What a pass gives each carried value, converted to its type; `again` when types had to widen. `axes`: of the
/// condition, since elements that are done stay as they are.
bool Elaborator::nextCarried(Carried &carried, ValueRange before, Attribute axes, bool &again, Span span, Frame &frame,
                             SmallVectorImpl<mlir::Value> &results) {
  std::vector<Value> now;
  for (auto &name : carried.names)
    now.push_back(frame.scope->find(name)->value);
  auto changed = [&](const std::string &name, const Value &from, const Value &to) {
    if (!to.isInvalid())
      diags.report(Diag::carry_changes_type, span, name, describe(from), describe(to));
    return false;
  };
  for (size_t i = 0; i < now.size(); ++i) {
    std::vector<Value> one = {now[i]};
    if (now[i].isInvalid() || !alignAll({carried.models[i]}, one))
      return changed(carried.names[i], carried.models[i], now[i]);
    now[i] = one.front();
  }
  size_t slot = 0;
  for (size_t i = 0; i < now.size(); ++i)
    for (const Value &leaf : leafValues({now[i]})) {
      auto next = tensor(leaf, span, "a carried value");
      RankedTensorType &type = carried.types[slot];
      auto meet = next ? meetTypes(type, next->type(), axes, realType) : RankedTensorType();
      if (!meet)
        return changed(carried.names[i], Value(carried.start[slot], span), leaf);
      carried.start[slot].classes = carried.start[slot].classes == next->classes ? next->classes : 0;
      auto converted = meet == type ? asCarry(Value(*next, span), type, span) : std::nullopt;
      again |= meet != type;
      type = meet;
      results.push_back(converted ? *converted : before[slot]);
      ++slot;
    }
  return true;
}

//===----------------------------------------------------------------------===//
// Loops of the program
//===----------------------------------------------------------------------===//

/// Adds what one pass yields to its results.
bool Elaborator::yielded(const Value &value, Span span, std::vector<Tensor> &stacks,
                         SmallVectorImpl<mlir::Value> &results) {
  for (const Value &leaf : leafValues({value})) {
    auto t = tensor(leaf, span, "what is yielded");
    if (!t || !canStack(t->type(), diags, span))
      return false;
    stacks.push_back(cast(*t, elemOf(t->type().getElementType()), false, span));
    results.push_back(stacks.back().value);
  }
  return true;
}

/// The number of the present pass over all loops of the program around: what keys draws.
static mlir::Value passNumber(OpBuilder &b, Location loc, mlir::Value outer, int64_t trip, mlir::Value pass) {
  if (!outer)
    return pass;
  auto type = RankedTensorType::get({}, b.getI64Type());
  mlir::Value length = nd::ConstantOp::create(b, loc, type, DenseElementsAttr::get(type, b.getI64IntegerAttr(trip)));
  mlir::Value before = nd::MulOp::create(b, loc, outer, length).getResult();
  return nd::AddOp::create(b, loc, before, pass).getResult();
}

void Elaborator::scan(const ast::Ident *variable, const Value &items, int64_t trip, const ast::Block *block,
                      const ast::Expr *body, Span span, Frame &frame, std::vector<Value> *yields) {
  if (yields && !fitsMemory(trip, diags, span)) {
    yields->push_back(Value());
    return;
  }
  std::vector<std::string> names;
  if (block)
    names = this->carried(*block, *frame.scope);
  else
    addHeldStates(*body, *frame.scope, names);
  auto carried = carriedNow(std::move(names), span, frame);
  if (!carried)
    return;
  int64_t low = items.as<Range>() ? items.as<Range>()->low : 0;
  SmallVector<mlir::Value> xs;
  std::vector<Tensor> stacks;
  if (!items.as<Range>() && !items.as<std::shared_ptr<RunResult>>())
    for (const Value &leaf : leafValues({items})) {
      stacks.push_back(*tensor(leaf, span));
      xs.push_back(stacks.back().value);
    }
  for (int attempt = 0; attempt < attemptLimit; ++attempt) {
    auto inits = initsOf(*carried, span);
    if (!inits)
      return;
    size_t errors = diags.errorCount();
    bool again = false, good = true;
    std::vector<Tensor> stackInfo;
    Value element;
    auto op = nd::ScanOp::create(
        builder, loc(span), ValueRange(*inits), ValueRange(xs), trip, false,
        [&](OpBuilder &inner, Location where, mlir::Value pass, ValueRange carries, ValueRange rows) {
          OpBuilder::InsertionGuard guard(builder);
          builder.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
          numberCacheBlock = nullptr;
          bindCarried(*carried, carries, span, frame);
          ScopePtr outer = frame.scope;
          frame.scope = std::make_shared<Scope>(outer);
          if (variable) {
            Value item(Tensor{pass, true, 0}, span);
            std::vector<Value> parts;
            for (auto [row, stack] : llvm::zip(rows, stacks))
              parts.push_back(Value(Tensor{row, false, stack.classes}, span));
            if (!parts.empty())
              item = rebuildAll({items}, parts).front();
            else if (low != 0)
              item = elementwise("add", item, integer(low, span), span);
            frame.scope->define(variable->text, item, NameKind::Local, Span());
          }
          mlir::Value outerPass = drawPass;
          drawPass = passNumber(builder, where, outerPass, trip, pass);
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
          good = nextCarried(*carried, carries, {}, again, span, frame, results);
          if (yields && mine.size() != 1) {
            if (diags.errorCount() == errors)
              diags.report(Diag::yields_once, span, mine.size());
            good = false;
          } else if (yields) {
            element = mine.front();
            good = good && yielded(element, span, stackInfo, results);
          }
          numberCacheBlock = nullptr;
          return good ? results : SmallVector<mlir::Value>(carries);
        });
    carried->restore(frame);
    if (!good || diags.errorCount() != errors) {
      op.erase();
      carried->invalidate(frame);
      if (yields)
        yields->push_back(Value());
      return;
    }
    if (again) {
      op.erase();
      continue;
    }
    size_t slots = carried->types.size();
    bindCarried(*carried, op->getResults().take_front(slots), span, frame);
    if (yields) {
      std::vector<Value> stacks;
      for (size_t i = 0; i < stackInfo.size(); ++i)
        stacks.push_back(Value(Tensor{op->getResult(slots + i), false, stackInfo[i].classes}, span));
      yieldedStack = true;
      yields->push_back(rebuildAll({element}, stacks).front());
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

/// The condition of a `while` at the insertion point: false after a report.
Tensor Elaborator::whileCondition(const ast::WhileStmt &stmt, Frame &frame) {
  Span span = stmt.condition->span;
  bool outer = std::exchange(inWhileCondition, true);
  auto c = tensor(evaluate(*stmt.condition, frame), span, "a condition");
  inWhileCondition = outer;
  auto encoding = c ? c->type().getEncoding() : Attribute();
  if (c && elemOf(c->type().getElementType()) == Elem::Bool && c->type().getRank() == 0 &&
      (!encoding || isa<ir::AxesAttr>(encoding)))
    return *c;
  if (c)
    diags.report(Diag::condition_not_scalar, span, describeType(c->type()));
  return materialise(Const{0, Elem::Bool, false, ""}, stmt.span);
}

void Elaborator::executeWhile(const ast::WhileStmt &stmt, Frame &frame) {
  auto limit = knownInt(evaluate(*stmt.limit, frame), stmt.limit->span, "the limit of `while`");
  if (limit && *limit < 0) {
    diags.report(Diag::cannot_be, stmt.limit->span, "the limit of `while`", *limit);
    return;
  }
  auto carried = limit ? carriedNow(this->carried(*stmt.body, *frame.scope), stmt.span, frame) : std::nullopt;
  if (!carried)
    return;
  // Where the body draws, the number of the pass is carried beside the names.
  bool counts = false;
  auto passType = RankedTensorType::get({}, builder.getI64Type());
  for (int attempt = 0; attempt < attemptLimit; ++attempt) {
    auto inits = initsOf(*carried, stmt.span);
    if (!inits)
      return;
    size_t slots = inits->size();
    if (counts)
      inits->push_back(create<nd::ConstantOp>(stmt.span, passType,
                                              DenseElementsAttr::get(passType, builder.getI64IntegerAttr(0))));
    size_t errors = diags.errorCount();
    bool again = false, good = true;
    int draws = drawsMade;
    Attribute axes;
    auto within = [&](OpBuilder &inner, ValueRange carries, auto &&body) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
      numberCacheBlock = nullptr;
      bindCarried(*carried, carries, stmt.span, frame);
      auto result = body();
      numberCacheBlock = nullptr;
      return result;
    };
    auto condition = [&](OpBuilder &inner, Location, ValueRange carries) {
      Tensor c = within(inner, carries, [&] { return whileCondition(stmt, frame); });
      axes = c.type().getEncoding();
      return c.value;
    };
    auto body = [&](OpBuilder &inner, Location where, ValueRange carries) {
      return within(inner, carries, [&] {
        Block *block = builder.getInsertionBlock();
        mlir::Value outerPass = drawPass;
        if (counts)
          drawPass = passNumber(builder, where, outerPass, *limit, carries[slots]);
        ScopePtr outer = frame.scope;
        frame.scope = std::make_shared<Scope>(outer);
        bool branch = std::exchange(frame.inRuntimeBranch, true);
        std::vector<Value> *yields = std::exchange(frame.yields, nullptr);
        execute(*stmt.body, frame);
        frame.yields = yields;
        frame.inRuntimeBranch = branch;
        frame.scope = outer;
        drawPass = outerPass;
        SmallVector<mlir::Value> results;
        good = nextCarried(*carried, carries, axes, again, stmt.span, frame, results);
        if (!good)
          return SmallVector<mlir::Value>(carries);
        if (axes)
          guardPasses(stmt, *carried, carries, *block, frame);
        if (counts) {
          auto one = create<nd::ConstantOp>(stmt.span, passType,
                                            DenseElementsAttr::get(passType, builder.getI64IntegerAttr(1)));
          results.push_back(create<nd::AddOp>(stmt.span, carries[slots], one));
        }
        return results;
      });
    };
    auto op = nd::WhileOp::create(builder, loc(stmt.span), ValueRange(*inits), *limit, condition, body);
    carried->restore(frame);
    if (!good || diags.errorCount() != errors) {
      op.erase();
      return carried->invalidate(frame);
    }
    bool drew = drawsMade != draws && !counts;
    if (again || drew) {
      op.erase();
      counts |= drew;
      continue;
    }
    if (plan) {
      op->setAttr("site", builder.getI64IntegerAttr(plan->sites.size()));
      plan->sites.push_back({"while", "while", diags.sources().describe(stmt.span)});
    }
    bindCarried(*carried, op->getResults().take_front(slots), stmt.span, frame);
    return;
  }
  diags.report(Diag::carry_unsettled, stmt.span);
}

/// Elements that are done are computed once more beside the others, and look at place 0 then.
void Elaborator::guardPasses(const ast::WhileStmt &stmt, const Carried &carried, ValueRange carries, Block &block,
                             Frame &frame) {
  bool looks = llvm::any_of(block, [](Operation &op) {
    return op.walk([](Operation *inner) {
               return isa<nd::GatherOp, nd::ScatterOp>(inner) ? WalkResult::interrupt() : WalkResult::advance();
             })
        .wasInterrupted();
  });
  if (!looks)
    return;
  OpBuilder::InsertionGuard guard(builder);
  Operation *first = &block.front();
  builder.setInsertionPoint(first);
  bindCarried(carried, carries, stmt.span, frame);
  Tensor goesOn = whileCondition(stmt, frame);
  // The condition's own places are in range for those that are done too.
  Block rest;
  rest.getOperations().splice(rest.end(), block.getOperations(), first->getIterator(), block.end());
  builder.setInsertionPointToEnd(&block);
  guardPlaces(rest, goesOn, true, stmt.span);
  block.getOperations().splice(block.end(), rest.getOperations());
}

} // namespace dyn::elab
