//===- Stops.cpp - `stop when`, and what it sees of metrics ---------------===//
//
// A metric's past folds to a number as it is emitted: the last value, the first, the greatest, the least. Each fold has a
// place among the states, so that forks go on with it. The condition is code of its own, which raises a flag; the
// runtime looks at the flag before it lets the update run.
//
//===----------------------------------------------------------------------===//
#include "frontend/elaborate/TrainElaborator.h"

#include "frontend/AstWalk.h"

using namespace mlir;

namespace dyn::elab {

/// `metric.test.loss` as "test.loss"; empty for anything else.
static std::string metricOf(const ast::Expr &expr) {
  std::string path;
  const ast::Expr *base = &expr;
  while (auto *member = ast::dynCast<ast::MemberExpr>(base)) {
    path = member->member.text + (path.empty() ? "" : ".") + path;
    base = member->base.get();
  }
  auto *root = ast::dynCast<ast::NameExpr>(base);
  return root && root->name == "metric" ? path : "";
}

static constexpr const char *foldNames[] = {"first", "max", "min"};

/// The fold that a call is of a metric, and the metric; empty if it is none.
static std::pair<std::string, std::string> foldOf(const ast::CallExpr &call) {
  auto *callee = ast::dynCast<ast::NameExpr>(call.callee.get());
  bool isFold = callee && llvm::is_contained(foldNames, llvm::StringRef(callee->name)) && call.args.size() == 1;
  std::string metric = isFold ? metricOf(*call.args.front().value) : "";
  return metric.empty() ? std::pair<std::string, std::string>() : std::pair(callee->name, metric);
}

void TrainElaborator::addFold(const std::string &kind, const std::string &metric) {
  std::string key = kind + " " + metric;
  if (folds.count(key))
    return;
  Fold fold{kind, metric, 0, 0};
  auto &arenas = out->plan.arenas;
  auto arena = llvm::find_if(arenas, [](auto &each) { return each.name == "metrics"; });
  if (arena == arenas.end())
    arena = arenas.insert(arena, {"metrics", "state", 0});
  // Its value, and whether there is one: doubles, whatever the precision of the run.
  fold.arena = arena - arenas.begin();
  fold.offset = arena->bytes / 8;
  arena->bytes += 16;
  for (int64_t i : {0, 1})
    out->plan.states.push_back({"metric " + key + (i ? " measured" : ""), {}, plan::Element::f64, fold.arena, fold.offset + i, "metric"});
  folds.emplace(key, fold);
}

void TrainElaborator::findFolds(const Clauses &clauses) {
  for (const ast::StopClause *clause : clauses.stops)
    ast::walk(*clause->condition, [&](const ast::Node &node) {
      if (auto *call = ast::dynCast<ast::CallExpr>(&node))
        if (auto [kind, metric] = foldOf(*call); !metric.empty()) {
          addFold(kind, metric);
          return false;
        }
      auto *member = ast::dynCast<ast::MemberExpr>(&node);
      std::string metric = member ? metricOf(*member) : "";
      if (!metric.empty())
        addFold("last", metric);
      return metric.empty();
    });
}

Value TrainElaborator::foldPart(const Fold &fold, int64_t part, Span span) {
  return readRange(fold.arena, fold.offset + part, RankedTensorType::get({}, e.builder.getF64Type()), fold.metric, span);
}

void TrainElaborator::foldMetric(const std::string &name, const Tensor &value, Span span) {
  for (auto &[key, fold] : folds) {
    if (fold.metric != name)
      continue;
    if (value.type().getRank() != 0) {
      e.diags.report(Diag::not_a_number, span, "what `stop when` reads", describeType(value.type()));
      continue;
    }
    Value now(e.cast(value, Elem::Real, true, span), span), next = now;
    if (fold.kind != "last") {
      Value old = foldPart(fold, 0, span);
      next = fold.kind == "first" ? old : e.elementwise(fold.kind, old, now, span);
      Value isFirst = e.elementwise("eq", foldPart(fold, 1, span), e.integer(0, span), span);
      next = e.select(isFirst, now, next, span);
    }
    auto t = next.isInvalid() ? std::nullopt : e.tensor(next, span);
    if (!t)
      return;
    writeRange(fold.arena, fold.offset, e.cast(*t, Elem::Real, true, span), name, span);
    writeRange(fold.arena, fold.offset + 1, *e.full(1, RankedTensorType::get({}, e.builder.getF64Type()), true, span).as<Tensor>(), name, span);
  }
}

Value TrainElaborator::foldCall(const std::string &kind, const std::vector<ast::Argument> &args, Span span, Frame &frame) {
  std::string metric = args.size() == 1 ? metricOf(*args.front().value) : "";
  if (metric.empty())
    return e.callBuiltin(kind, args, span, frame);
  auto fold = folds.find(kind + " " + metric);
  return fold == folds.end() ? Value() : foldPart(fold->second, 0, span);
}

/// Puts a value into records by its path.
static void put(Record &into, llvm::StringRef path, Value value) {
  auto [name, rest] = path.split('.');
  auto field = llvm::find_if(into.fields, [&, &wanted = name](auto &each) { return each.first == wanted; });
  if (rest.empty())
    return void(into.fields.emplace_back(name.str(), std::move(value)));
  if (field == into.fields.end())
    field = into.fields.insert(field, {name.str(), Value(Record())});
  put(*field->second.as<Record>(), rest, std::move(value));
}

void TrainElaborator::stopSocket(const Clauses &clauses) {
  if (clauses.stops.empty())
    return;
  Span span = clauses.stops.front()->span;
  auto flag = static_cast<int64_t>(out->plan.arenas.size());
  out->plan.arenas.push_back({"stop", "stop", 8});
  socket("stop", ir::SocketKind::eval);
  auto inner = std::make_shared<Scope>(scope);
  Record metrics;
  for (auto &[key, fold] : folds)
    if (fold.kind == "last")
      put(metrics, fold.metric, foldPart(fold, 0, span));
  inner->define("metric", Value(metrics, span), NameKind::Socket, span);
  for (const char *name : foldNames)
    inner->define(name, Value(Builtin{std::string("@fold ") + name}, span), NameKind::Local, Span());
  Frame frame{inner, nullptr, "stop"};
  Value stops = e.boolean(false, span);
  for (const ast::StopClause *clause : clauses.stops) {
    Value condition = e.evaluate(*clause->condition, frame);
    auto t = condition.isInvalid() ? std::nullopt : e.tensor(condition, clause->condition->span, "a condition");
    if (!t)
      return;
    if (t->type().getRank() != 0 || !t->type().getElementType().isInteger(1)) {
      e.diags.report(Diag::needs_bool, clause->condition->span, "stop when", describe(condition));
      return;
    }
    stops = e.binary(ast::BinaryOp::Or, stops, Value(*t), span);
  }
  // What was not measured yet stops nothing.
  for (auto &[key, fold] : folds)
    stops = e.binary(ast::BinaryOp::And, stops, e.elementwise("lt", e.integer(0, span), foldPart(fold, 1, span), span), span);
  auto number = e.tensor(stops, span);
  if (number)
    writeRange(flag, 0, e.cast(*number, Elem::Real, true, span), "stop", span);
}

} // namespace dyn::elab
