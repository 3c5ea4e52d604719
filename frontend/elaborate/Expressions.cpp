//===- Expressions.cpp - names, operators, indexing -----------------------===//
#include "frontend/elaborate/Elaborator.h"
#include "frontend/elaborate/RunResult.h"

#include <cmath>
#include <limits>
#include <numbers>

using namespace mlir;

namespace dyn::elab {

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
    Value callee = evaluate(*callExpr.callee, frame);
    return callee.isInvalid() ? Value() : call(callee, callExpr.args, span, frame);
  }
  case ast::Kind::IndexExpr:
    return evaluateIndex(*ast::cast<ast::IndexExpr>(&expr), frame);
  case ast::Kind::UnaryExpr:
    return evaluateUnary(*ast::cast<ast::UnaryExpr>(&expr), frame);
  case ast::Kind::BinaryExpr: {
    auto &op = *ast::cast<ast::BinaryExpr>(&expr);
    Value a = evaluate(*op.lhs, frame), b = evaluate(*op.rhs, frame);
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
    if (auto *run = value.as<std::shared_ptr<RunResult>>())
      return (*run)->member(names, i, diags, span);
    if (auto *data = value.as<Data>(); data && data->split.empty()) {
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
      if (name == "T" && t->type().getRank() == 2 && !isa_and_present<ir::PerLeafAttr>(t->type().getEncoding())) {
        value = Value(Tensor{create<nd::TransposeOp>(span, t->value, ArrayRef<int64_t>{1, 0}), t->number, 0}, span);
        continue;
      }
      if (isa_and_present<ir::TreeAttr>(t->type().getEncoding()))
        return leafOf(*t, joined(names, i), span);
    }
    diags.report(Diag::no_member, span, describe(value), name);
    return {};
  }
  return value;
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

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

Value Elaborator::evaluateUnary(const ast::UnaryExpr &expr, Frame &frame) {
  Value x = evaluate(*expr.operand, frame);
  if (meetsByName(x))
    return overNames(x, expr.span, [&](ArrayRef<Value> one) { return unary(expr.op, one[0], expr.span); });
  return x.isInvalid() ? Value() : unary(expr.op, x, expr.span);
}

Value Elaborator::unary(ast::UnaryOp op, const Value &x, Span span) {
  if (op == ast::UnaryOp::Not) {
    if (auto known = x.as<Const>(); known && known->elem == Elem::Bool)
      return boolean(known->number == 0, span);
    auto t = tensor(x, span);
    if (!t)
      return {};
    if (elemOf(t->type().getElementType()) != Elem::Bool) {
      diags.report(Diag::needs_bool, span, "not", describe(x));
      return {};
    }
    return Value(Tensor{create<nd::NotOp>(span, t->value), t->number, 0}, span);
  }
  if (auto *c = x.as<Const>()) {
    Const negated = *c;
    negated.number = -negated.number;
    negated.name = "-" + negated.name;
    negated.formula = formulaOf("neg", {c});
    return Value(negated, span);
  }
  auto t = tensor(x, span);
  if (!t)
    return {};
  if (elemOf(t->type().getElementType()) == Elem::Bool)
    *t = cast(*t, Elem::Int, t->number, span);
  return Value(Tensor{create<nd::NegOp>(span, t->value), t->number, 0}, span);
}

Value Elaborator::foldBinary(ast::BinaryOp op, const Const &a, const Const &b, Span span) {
  bool ints = a.elem != Elem::Real && b.elem != Elem::Real;
  double x = a.number, y = b.number;
  Const result{0, ints ? Elem::Int : Elem::Real, a.operand || b.operand, ""};
  // A name is for people to read; of a loop unrolled it would double with each pass.
  if (a.name.size() + b.name.size() < 120)
    result.name = "(" + a.name + " " + ast::spelling(op) + " " + b.name + ")";
  else
    result.name = "…";
  result.formula = formulaOf(ast::spelling(op), {&a, &b});
  if (op >= ast::BinaryOp::Eq && op <= ast::BinaryOp::Ge && !result.formula.empty())
    decisions.push_back(result.formula);
  switch (op) {
  case ast::BinaryOp::Add: result.number = x + y; break;
  case ast::BinaryOp::Sub: result.number = x - y; break;
  case ast::BinaryOp::Mul: result.number = x * y; break;
  case ast::BinaryOp::Div: result.number = x / y; result.elem = Elem::Real; result.operand = true; break;
  case ast::BinaryOp::IntDiv:
  case ast::BinaryOp::Mod:
    if (y == 0) {
      diags.report(Diag::division_by_zero, span);
      return {};
    }
    result.number = op == ast::BinaryOp::Mod ? x - y * std::floor(x / y) : std::floor(x / y);
    break;
  case ast::BinaryOp::Pow:
    result.number = std::pow(x, y);
    if (ints && y < 0)
      result.elem = Elem::Real;
    break;
  case ast::BinaryOp::Eq: return boolean(x == y, span);
  case ast::BinaryOp::Ne: return boolean(x != y, span);
  case ast::BinaryOp::Lt: return boolean(x < y, span);
  case ast::BinaryOp::Le: return boolean(x <= y, span);
  case ast::BinaryOp::Gt: return boolean(x > y, span);
  case ast::BinaryOp::Ge: return boolean(x >= y, span);
  case ast::BinaryOp::And: return boolean(x != 0 && y != 0, span);
  case ast::BinaryOp::Or: return boolean(x != 0 || y != 0, span);
  case ast::BinaryOp::MatMul:
    diags.report(Diag::matmul_ranks, span, "a number", "a number");
    return {};
  }
  // Whole numbers are kept in a double: beyond 2^53 they would lose digits unseen.
  if (result.elem == Elem::Int && std::abs(result.number) > 0x1p53) {
    diags.report(Diag::number_out_of_range, span, describeKnown(Value(result)), "53 bits").help("write a real: `1e16`");
    return {};
  }
  return Value(result, span);
}

Value Elaborator::binary(ast::BinaryOp op, const Value &a, const Value &b, Span span) {
  if (auto *x = a.as<Const>())
    if (auto *y = b.as<Const>())
      return foldBinary(op, *x, *y, span);
  switch (op) {
  case ast::BinaryOp::Add: return elementwise("add", a, b, span);
  case ast::BinaryOp::Sub: return elementwise("sub", a, b, span);
  case ast::BinaryOp::Mul: return elementwise("mul", a, b, span);
  case ast::BinaryOp::Div: return elementwise("div", a, b, span);
  case ast::BinaryOp::IntDiv: return elementwise("floordiv", a, b, span);
  case ast::BinaryOp::Mod: return elementwise("rem", a, b, span);
  case ast::BinaryOp::Pow: return elementwise("pow", a, b, span);
  case ast::BinaryOp::Eq: return elementwise("eq", a, b, span);
  case ast::BinaryOp::Ne: return elementwise("ne", a, b, span);
  case ast::BinaryOp::Lt: return elementwise("lt", a, b, span);
  case ast::BinaryOp::Le: return elementwise("le", a, b, span);
  case ast::BinaryOp::Gt: return elementwise("gt", a, b, span);
  case ast::BinaryOp::Ge: return elementwise("ge", a, b, span);
  case ast::BinaryOp::And: return elementwise("and", a, b, span);
  case ast::BinaryOp::Or: return elementwise("or", a, b, span);
  case ast::BinaryOp::MatMul: return matmul(a, b, span);
  }
  return {};
}

/// Two-operand functions of arrays, by name: what they take and the op that they are.
namespace {
using Builder2 = mlir::Value (*)(OpBuilder &, Location, mlir::Value, mlir::Value);
template <class OpT>
mlir::Value make2(OpBuilder &b, Location loc, mlir::Value x, mlir::Value y) {
  return OpT::create(b, loc, x, y).getResult();
}
template <nd::CompareKind kind>
mlir::Value makeCompare(OpBuilder &b, Location loc, mlir::Value x, mlir::Value y) {
  return nd::CompareOp::create(b, loc, kind, x, y).getResult();
}
enum class Takes { Numbers, Reals, Bools, Anything };
struct BinaryRow {
  const char *name;
  const char *spelling;
  Takes takes;
  Builder2 make;
};
const BinaryRow binaryRows[] = {
    {"add", "+", Takes::Numbers, make2<nd::AddOp>},
    {"sub", "-", Takes::Numbers, make2<nd::SubOp>},
    {"mul", "*", Takes::Numbers, make2<nd::MulOp>},
    {"div", "/", Takes::Reals, make2<nd::DivOp>},
    {"pow", "^", Takes::Reals, make2<nd::PowOp>},
    {"rem", "%", Takes::Numbers, make2<nd::RemOp>},
    {"floordiv", "//", Takes::Numbers, make2<nd::FloordivOp>},
    {"min", "min", Takes::Numbers, make2<nd::MinOp>},
    {"max", "max", Takes::Numbers, make2<nd::MaxOp>},
    {"and", "and", Takes::Bools, make2<nd::AndOp>},
    {"or", "or", Takes::Bools, make2<nd::OrOp>},
    {"eq", "==", Takes::Anything, makeCompare<nd::CompareKind::eq>},
    {"ne", "!=", Takes::Anything, makeCompare<nd::CompareKind::ne>},
    {"lt", "<", Takes::Numbers, makeCompare<nd::CompareKind::lt>},
    {"le", "<=", Takes::Numbers, makeCompare<nd::CompareKind::le>},
    {"gt", ">", Takes::Numbers, makeCompare<nd::CompareKind::gt>},
    {"ge", ">=", Takes::Numbers, makeCompare<nd::CompareKind::ge>},
};
} // namespace

Value Elaborator::elementwise(StringRef name, const Value &a, const Value &b, Span span) {
  const BinaryRow *row = llvm::find_if(binaryRows, [&](const BinaryRow &r) { return name == r.name; });
  if (meetsByName(a) || meetsByName(b))
    return overNames({a, b}, span, [&](ArrayRef<Value> both) { return elementwise(name, both[0], both[1], span); });
  auto x = tensor(a, a.origin.isValid() ? a.origin : span);
  auto y = x ? tensor(b, b.origin.isValid() ? b.origin : span) : std::nullopt;
  if (!x || !y)
    return {};
  for (Tensor *t : {&*x, &*y}) {
    bool isBool = elemOf(t->type().getElementType()) == Elem::Bool;
    if (row->takes == Takes::Bools && !isBool) {
      diags.report(Diag::needs_bool, span, row->spelling, describeType(t->type()));
      return {};
    }
    if (row->takes == Takes::Numbers && isBool)
      *t = cast(*t, Elem::Int, t->number, span);
  }
  if (row->takes == Takes::Reals)
    for (Tensor *t : {&*x, &*y})
      if (elemOf(t->type().getElementType()) != Elem::Real)
        *t = cast(*t, Elem::Real, t->number, span);
  if (!unify(*x, *y, span, row->spelling, a.origin, b.origin))
    return {};
  return Value(Tensor{row->make(builder, loc(span), x->value, y->value), x->number && y->number, 0}, span);
}

Value Elaborator::matmul(const Value &a, const Value &b, Span span) {
  auto x = tensor(a, span);
  auto y = x ? tensor(b, span) : std::nullopt;
  if (!x || !y)
    return {};
  for (Tensor *t : {&*x, &*y})
    *t = cast(*t, Elem::Real, t->number && x->number && y->number, span);
  int64_t rx = x->type().getRank(), ry = y->type().getRank();
  auto ranged = [](const Tensor &t) {
    return isa_and_present<ir::LeavesAttr, ir::TreeAttr, ir::PerLeafAttr>(t.type().getEncoding());
  };
  if (rx < 1 || rx > 2 || ry < 1 || ry > 2 || ranged(*x) || ranged(*y)) {
    auto report = diags.report(Diag::matmul_ranks, span, describeType(x->type()), describeType(y->type()));
    if (ranged(*x) || ranged(*y))
      report.help("a rule that multiplies matrices says so: `on [m, n]`");
    return {};
  }
  int64_t inner = x->type().getShape().back(), other = y->type().getShape().front();
  if (inner != other) {
    diags.report(Diag::shape_mismatch, span, "@", describeShape(x->type().getShape()),
                 describeShape(y->type().getShape()))
        .note(a.origin, "this is " + describeShape(x->type().getShape()))
        .note(b.origin, "this is " + describeShape(y->type().getShape()))
        .help("the last size on the left must be the first on the right; `.T` transposes");
    return {};
  }
  if (rx == 2 && ry == 2 && !fitsMemory({x->type().getDimSize(0), y->type().getDimSize(1)}, diags, span))
    return {};
  std::string lhs = rx == 2 ? "ik" : "k", rhs = ry == 2 ? "kj" : "k";
  std::string out = std::string(rx == 2 ? "i" : "") + (ry == 2 ? "j" : "");
  auto attr = [&](const std::string &text) { return builder.getStringAttr(text); };
  return Value(Tensor{create<nd::ContractOp>(span, x->value, y->value, attr(lhs), attr(rhs), attr(out)),
                      x->number && y->number, 0},
               span);
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
  if (c->type().getRank() != 0 && !isa_and_present<ir::PerLeafAttr>(c->type().getEncoding())) {
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
