//===- Expressions.cpp - names, operators, indexing -----------------------===//
#include "frontend/elaborate/Elaborator.h"
#include "frontend/elaborate/RunResult.h"
#include "frontend/elaborate/Streams.h"

#include <cmath>
#include <limits>
#include <numbers>

using namespace mlir;

namespace dyn::elab {

bool decides(ast::BinaryOp op, const Value &left) {
  auto *known = left.as<Const>();
  return known && known->elem == Elem::Bool && op == (known->number != 0 ? ast::BinaryOp::Or : ast::BinaryOp::And);
}

/// The instance `net` of a call `net.at(…)`, or null.
static const Instance *atOfInstance(const ast::CallExpr &call, Scope &scope) {
  auto *method = ast::dynCast<ast::MemberExpr>(call.callee.get());
  auto *name = method && method->member.text == "at" ? ast::dynCast<ast::NameExpr>(method->base.get()) : nullptr;
  Binding *binding = name ? scope.find(name->name) : nullptr;
  auto *instance = binding ? binding->value.as<std::shared_ptr<Instance>>() : nullptr;
  return instance ? instance->get() : nullptr;
}

Value Elaborator::evaluate(const ast::Expr &expr, Frame &frame) {
  Span span = expr.span;
  switch (expr.kind) {
  case ast::Kind::NumberExpr: {
    auto &number = *ast::cast<ast::NumberExpr>(&expr);
    if (number.isInteger)
      return Value(Const{number.value, Elem::Int, false, number.text}, span);
    return Value(Const{number.value, Elem::Real, true, number.text}, span);
  }
  case ast::Kind::StringExpr:
    return Value(Text{ast::cast<ast::StringExpr>(&expr)->value}, span);
  case ast::Kind::BoolExpr:
    return boolean(ast::cast<ast::BoolExpr>(&expr)->value, span);
  case ast::Kind::NoneExpr:
    return Value(None{}, span);
  case ast::Kind::NameExpr:
    return evaluateName(*ast::cast<ast::NameExpr>(&expr), frame);
  case ast::Kind::RecordExpr: {
    Record record;
    for (auto &field : ast::cast<ast::RecordExpr>(&expr)->fields) {
      Value value = evaluate(*field.value, frame);
      if (value.isInvalid())
        return {};
      if (llvm::any_of(record.fields, [&](auto &have) { return have.first == field.name.text; })) {
        diags.report(Diag::repeated_field, field.span, field.name.text);
        return {};
      }
      record.fields.emplace_back(field.name.text, std::move(value));
    }
    return Value(std::move(record), span);
  }
  case ast::Kind::GroupExpr: {
    auto &group = *ast::cast<ast::GroupExpr>(&expr);
    if (!group.isTuple())
      return evaluate(*group.items.front(), frame);
    Tuple tuple;
    for (auto &item : group.items)
      tuple.items.push_back(evaluate(*item, frame));
    return Value(std::move(tuple), span);
  }
  case ast::Kind::ArrayExpr:
    return evaluateArray(*ast::cast<ast::ArrayExpr>(&expr), frame);
  case ast::Kind::ComprehensionExpr: {
    auto &comprehension = *ast::cast<ast::ComprehensionExpr>(&expr);
    return collect(comprehension.variable, *comprehension.range, nullptr, comprehension.body.get(), span, frame);
  }
  case ast::Kind::CollectExpr: {
    auto &loop = *ast::cast<ast::CollectExpr>(&expr);
    return collect(loop.variable, *loop.range, loop.body.get(), nullptr, span, frame);
  }
  case ast::Kind::MemberExpr:
    return evaluateMember(*ast::cast<ast::MemberExpr>(&expr), frame);
  case ast::Kind::CallExpr: {
    auto &callExpr = *ast::cast<ast::CallExpr>(&expr);
    if (auto *method = ast::dynCast<ast::MemberExpr>(callExpr.callee.get()); method && method->member.text == "at" && onRun) {
      Value base = evaluate(*method->base, frame);
      if (base.isInvalid() || base.as<std::shared_ptr<RunResult>>() || isNamed(base))
        return base.isInvalid() ? Value() : atLabels(base, callExpr, frame);
      // Nothing is left of the axes, whatever the values will be.
      if (isSketch(base)) {
        diags.report(Diag::no_member, span, describe(base), "at");
        return {};
      }
    }
    if (const Instance *instance = atOfInstance(callExpr, *frame.scope))
      return instanceAt(*instance, callExpr.args, span, frame);
    // `grad` alone is a value of a rule, and called it is the function.
    auto *name = ast::dynCast<ast::NameExpr>(callExpr.callee.get());
    Binding *socket = name ? frame.scope->find(name->name) : nullptr;
    bool isFunction = socket && socket->kind == NameKind::Socket && isBuiltin(name->name);
    Value callee = isFunction ? Value(Builtin{name->name}, name->span) : evaluate(*callExpr.callee, frame);
    return callee.isInvalid() ? Value() : call(callee, callExpr.args, span, frame);
  }
  case ast::Kind::IndexExpr:
    return evaluateIndex(*ast::cast<ast::IndexExpr>(&expr), frame);
  case ast::Kind::UnaryExpr:
    return evaluateUnary(*ast::cast<ast::UnaryExpr>(&expr), frame);
  case ast::Kind::BinaryExpr: {
    auto &op = *ast::cast<ast::BinaryExpr>(&expr);
    Value a = evaluate(*op.lhs, frame);
    if (onRun && (op.op == ast::BinaryOp::And || op.op == ast::BinaryOp::Or))
      a = known(a, op.lhs->span);
    // `a.diverged or last(a.loss) < 3`: what one side decides does not ask the other for a value that may be missing.
    if (onRun && decides(op.op, a))
      return a;
    Value b = evaluate(*op.rhs, frame);
    if (a.isInvalid() || b.isInvalid())
      return {};
    a.origin = op.lhs->span;
    b.origin = op.rhs->span;
    return binary(op.op, a, b, span);
  }
  case ast::Kind::RangeExpr: {
    auto &range = *ast::cast<ast::RangeExpr>(&expr);
    auto low = knownInt(evaluate(*range.low, frame), range.low->span, "the start of a range");
    auto high = knownInt(evaluate(*range.high, frame), range.high->span, "the end of a range");
    if (!low || !high)
      return {};
    return Value(Range{*low, std::max(*low, *high)}, span);
  }
  case ast::Kind::ConditionalExpr:
    return evaluateConditional(*ast::cast<ast::ConditionalExpr>(&expr), frame);
  case ast::Kind::ClosureExpr:
    return Value(Closure{ast::cast<ast::ClosureExpr>(&expr), capture(frame.scope)}, span);
  default:
    diags.report(Diag::misplaced_expression, span);
    return {};
  }
}

Value Elaborator::evaluateName(const ast::NameExpr &expr, Frame &frame) {
  if (Binding *binding = frame.scope->find(expr.name)) {
    Value value = binding->lazy ? binding->lazy() : binding->value;
    if (value.origin.file == 0)
      value.origin = expr.span;
    return value;
  }
  if (expr.name == "pi")
    return Value(Const{std::numbers::pi, Elem::Real, false, "pi"}, expr.span);
  if (expr.name == "inf")
    return Value(Const{std::numeric_limits<double>::infinity(), Elem::Real, false, "inf"}, expr.span);
  if (expr.name == "training" && !library.find(expr.name))
    return boolean(training, expr.span);
  return lookupGlobal(expr.name, expr.span);
}

//===----------------------------------------------------------------------===//
// Members
//===----------------------------------------------------------------------===//

/// `a.b.c` as its root expression and the names behind it.
static const ast::Expr *splitChain(const ast::MemberExpr &expr, std::vector<std::string> &names) {
  const ast::Expr *base = expr.base.get();
  names.insert(names.begin(), expr.member.text);
  while (auto *member = ast::dynCast<ast::MemberExpr>(base)) {
    names.insert(names.begin(), member->member.text);
    base = member->base.get();
  }
  return base;
}

static std::string joined(const std::vector<std::string> &names, size_t from = 0) {
  std::string text;
  for (size_t i = from; i < names.size(); ++i)
    text += (text.empty() ? "" : ".") + names[i];
  return text;
}

static std::string fieldName(const ast::DataItem &item) {
  auto *let = ast::dynCast<ast::LetStmt>(item.binding.get());
  auto *draw = ast::dynCast<ast::DrawStmt>(item.binding.get());
  return let ? let->name.text : draw ? draw->name.text : "";
}

Value Elaborator::evaluateMember(const ast::MemberExpr &expr, Frame &frame) {
  std::vector<std::string> names;
  const ast::Expr *root = splitChain(expr, names);
  if (auto *name = ast::dynCast<ast::NameExpr>(root); name && name->name == "batch" && names.size() == 1 &&
                                                      names.front() != "size" && frame.scope->find("batch") && onSocketCall)
    return onSocketCall("batch." + names.front(), {}, expr.span, frame);
  Value value = evaluate(*root, frame);
  for (size_t i = 0; i < names.size() && !value.isInvalid(); ++i) {
    const std::string &name = names[i];
    Span span = expr.span;
    if (auto *record = value.as<Record>()) {
      Value found;
      std::vector<std::string> fields;
      for (auto &[field, fieldValue] : record->fields) {
        fields.push_back(field);
        if (field == name)
          found = fieldValue;
      }
      if (found.isInvalid()) {
        auto report = diags.report(Diag::no_member, span, "this record", name);
        if (std::string near = nearest(name, fields); !near.empty())
          report.help("did you mean `" + near + "`?");
        return {};
      }
      value = found;
      continue;
    }
    if (auto *run = value.as<std::shared_ptr<RunResult>>()) {
      auto model = onRunModel ? onRunModel(*run, name, span) : std::nullopt;
      if (!model)
        return (*run)->member(names, i, diags, span);
      value = *model;
      continue;
    }
    if (auto *trees = value.as<std::shared_ptr<Series>>(); trees && !(*trees)->tree.empty())
      return partOf(**trees, joined(names, i), span);
    if (auto *data = value.as<Data>(); data && data->split.empty()) {
      if (isStream(*data->decl) && name == takenRows) {
        value = Value(Data{data->decl, takenRows, data->args, 0}, span);
        continue;
      }
      std::vector<std::string> splits;
      for (auto &part : data->decl->split)
        if (part.name.text != "seed")
          splits.push_back(part.name.text);
      if (std::find(splits.begin(), splits.end(), name) == splits.end()) {
        auto report = diags.report(Diag::no_member, span, "the data `" + data->decl->name.text + "`", name);
        if (std::string near = nearest(name, splits); !near.empty())
          report.help("did you mean `" + near + "`?");
        else if (llvm::any_of(data->decl->items, [&](auto &item) { return fieldName(*item) == name; }))
          report.help("a field is read where examples are: in a loss, an eval, a train's locals");
        else if (splits.empty())
          report.help("add `split(" + name + "=…)` to the declaration");
        return {};
      }
      Data part = *data;
      part.split = name;
      value = Value(part, span);
      continue;
    }
    if (auto *builtin = value.as<Builtin>(); builtin && builtin->name == "@loss" && name == "on") {
      value = Value(Builtin{"@loss.on"}, span);
      continue;
    }
    if (auto *held = value.as<Held>()) {
      value = memberOf(*held, name, span);
      continue;
    }
    if (auto *rule = value.as<Rule>(); rule && rule->hyper) {
      if (auto it = rule->hyper->names.find(name); it != rule->hyper->names.end()) {
        value = it->second.value;
        continue;
      }
    }
    if (auto *instance = value.as<std::shared_ptr<Instance>>(); instance && name == "params") {
      // A model without inputs has its parameters as soon as it is asked for them.
      if ((*instance)->decl->inputs.items.empty() && callInstance(**instance, {}, span, frame).isInvalid())
        return {};
      value = treeOf((*instance)->path, span);
      continue;
    }
    if (auto *t = value.as<Tensor>()) {
      if (name == "T" && t->type().getRank() == 2 && !isa_and_present<ir::PerLeafAttr>(ir::rangeOf(t->type().getEncoding()))) {
        value = Value(Tensor{create<nd::TransposeOp>(span, t->value, ArrayRef<int64_t>{1, 0}), t->number, 0}, span);
        continue;
      }
      if (isa_and_present<ir::TreeAttr>(ir::rangeOf(t->type().getEncoding())))
        return leafOf(*t, joined(names, i), span);
    }
    diags.report(Diag::no_member, span, describe(value), name);
    return {};
  }
  return value;
}

/// The leaf of a path, or the tree below it, in each of some trees.
Value Elaborator::partOf(const Series &trees, const std::string &path, Span span) {
  if (auto part = trees.below(path))
    return settled(std::move(*part), span);
  std::vector<std::string> paths;
  for (const TreeLeaf &leaf : trees.tree)
    paths.push_back(leaf.path);
  auto report = diags.report(Diag::no_leaf, span, path);
  if (std::string near = nearest(path, paths); !near.empty())
    report.help("did you mean `" + near + "`?");
  return {};
}

/// `base.lr` as it is now, or `base.delta`.
Value Elaborator::memberOf(const Held &held, const std::string &name, Span span) {
  const ast::RuleDecl &decl = *held.rule->decl;
  if (name == "delta" && decl.rule == ast::RuleKind::Optimizer && !held.delta)
    return Value(Held{held.rule, true}, span);
  std::vector<std::string> names;
  for (auto &parameter : decl.parameters.items)
    names.push_back(parameter.name.text);
  if (llvm::is_contained(names, name) && !held.delta)
    return held.rule->parts.front().scope->find(name)->value;
  auto report = diags.report(Diag::no_member, span, describe(Value(held)), name);
  if (std::string near = nearest(name, names); !near.empty())
    report.help("did you mean `" + near + "`?");
  return {};
}

Value Elaborator::evaluateConditional(const ast::ConditionalExpr &expr, Frame &frame) {
  Value condition = evaluate(*expr.condition, frame);
  if (condition.isInvalid())
    return {};
  if (auto known = knownBool(condition))
    return evaluate(*known ? *expr.thenValue : *expr.elseValue, frame);
  auto c = tensor(condition, expr.condition->span, "a condition");
  if (!c)
    return {};
  if (elemOf(c->type().getElementType()) != Elem::Bool) {
    diags.report(Diag::needs_bool, expr.condition->span, "if", describe(condition));
    return {};
  }
  if (c->type().getRank() != 0 && !isa_and_present<ir::PerLeafAttr>(ir::rangeOf(c->type().getEncoding()))) {
    diags.report(Diag::condition_not_scalar, expr.condition->span, describeType(c->type()))
        .help("`where(condition, a, b)` chooses element by element");
    return {};
  }
  // A held rule that one side applies goes on from there, or from where it was.
  std::vector<std::string> held;
  addHeldStates(*expr.thenValue, *frame.scope, held);
  addHeldStates(*expr.elseValue, *frame.scope, held);
  std::vector<Value> start;
  for (auto &name : held)
    start.push_back(frame.scope->find(name)->value);
  auto side = [&](const ast::Expr &value) {
    return [&] {
      std::vector<Value> results = {evaluate(value, frame)};
      for (size_t i = 0; i < held.size(); ++i)
        results.push_back(std::exchange(frame.scope->find(held[i])->value, start[i]));
      return results;
    };
  };
  std::vector<Value> results = branch(*c, side(*expr.thenValue), side(*expr.elseValue), expr.span);
  for (size_t i = 0; i < held.size(); ++i)
    frame.scope->find(held[i])->value = results[i + 1];
  return results.front();
}

} // namespace dyn::elab
