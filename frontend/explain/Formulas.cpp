#include "frontend/explain/Formulas.h"

#include <algorithm>
#include <cctype>

using namespace dyn::ast;

namespace dyn::explain {

const Expr &withoutBrackets(const Expr &expr) {
  const Expr *inner = &expr;
  for (auto *group = dynCast<GroupExpr>(inner); group && !group->isTuple(); group = dynCast<GroupExpr>(inner))
    inner = group->items.front().get();
  return *inner;
}

Formula Formulas::inside(const Expr &expr) const { return of(withoutBrackets(expr)); }

std::string Formulas::variable(const std::string &name) const {
  auto found = symbols.find(name);
  return found == symbols.end() ? notation.variable(name) : found->second;
}

Formula Formulas::of(const Expr &expr) const {
  switch (expr.kind) {
  case Kind::UnaryExpr:
    return unary(*cast<UnaryExpr>(&expr));
  case Kind::BinaryExpr:
    return binary(*cast<BinaryExpr>(&expr));
  case Kind::CallExpr:
    return call(*cast<CallExpr>(&expr));
  case Kind::MemberExpr:
    return member(*cast<MemberExpr>(&expr));
  case Kind::IndexExpr: {
    auto &index = *cast<IndexExpr>(&expr);
    return {notation.within(of(*index.base), Strength::Atom) + "[" + listOf(index.indices) + "]"};
  }
  case Kind::ConditionalExpr: {
    auto &choice = *cast<ConditionalExpr>(&expr);
    return notation.choice("if", inside(*choice.condition).text, inside(*choice.thenValue), inside(*choice.elseValue));
  }
  case Kind::ClosureExpr: {
    auto &closure = *cast<ClosureExpr>(&expr);
    std::string names;
    for (const Ident &name : closure.parameters)
      names += (names.empty() ? "" : ", ") + variable(name.text);
    std::string left = closure.parameters.size() == 1 ? names : notation.brackets(names);
    return {left + " " + notation.sign(Sign::MapsTo) + " " + of(*closure.body).text, Strength::Open};
  }
  case Kind::RangeExpr: {
    auto &range = *cast<RangeExpr>(&expr);
    return {of(*range.low).text + ".." + of(*range.high).text, Strength::Relation};
  }
  case Kind::SliceExpr: {
    auto &slice = *cast<SliceExpr>(&expr);
    return {(slice.low ? of(*slice.low).text : "") + ":" + (slice.high ? of(*slice.high).text : "")};
  }
  case Kind::GroupExpr:
  case Kind::ArrayExpr:
  case Kind::RecordExpr:
  case Kind::ComprehensionExpr:
    return listed(expr);
  default:
    return literal(expr);
  }
}

Formula Formulas::literal(const Expr &expr) const {
  if (auto *number = dynCast<NumberExpr>(&expr))
    return {notation.number(number->text)};
  if (auto *name = dynCast<NameExpr>(&expr))
    return {name->name == "inf" ? notation.sign(Sign::Infinity) : variable(name->name)};
  if (auto *string = dynCast<StringExpr>(&expr))
    return {notation.prose(string->text)};
  if (auto *truth = dynCast<BoolExpr>(&expr))
    return {notation.prose(truth->value ? "true" : "false")};
  return {notation.prose("none")};
}

std::string Formulas::listOf(const std::vector<ExprPtr> &items) const {
  std::string text;
  for (const ExprPtr &item : items)
    text += (text.empty() ? "" : ", ") + of(*item).text;
  return text;
}

Formula Formulas::listed(const Expr &expr) const {
  if (auto *group = dynCast<GroupExpr>(&expr)) {
    // What a notation encloses by itself, such as |x| or a choice in LaTeX, needs no brackets more.
    Formula inner = group->isTuple() ? Formula{listOf(group->items), Strength::Open} : inside(expr);
    return {inner.strength == Strength::Atom ? inner.text : notation.brackets(inner.text)};
  }
  if (auto *array = dynCast<ArrayExpr>(&expr))
    return {"[" + listOf(array->elements) + "]"};
  if (auto *record = dynCast<RecordExpr>(&expr)) {
    std::string text;
    for (const Named &field : record->fields)
      text += (text.empty() ? "" : ", ") + variable(field.name.text) + " = " + of(*field.value).text;
    return {notation.brackets(text)};
  }
  auto &each = *cast<ComprehensionExpr>(&expr);
  return {"[" + of(*each.body).text + notation.prose(" for ") + variable(each.variable.text) + " " +
          notation.sign(Sign::Element) + " " + of(*each.range).text + "]"};
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

Formula Formulas::unary(const UnaryExpr &expr) const {
  if (expr.op == UnaryOp::Not)
    return {notation.prose("not ") + notation.within(of(*expr.operand), Strength::Sum), Strength::Relation};
  return {notation.sign(Sign::Minus) + notation.within(of(*expr.operand), Strength::Product), Strength::Prefix};
}

Formula Formulas::binary(const BinaryExpr &expr) const {
  switch (expr.op) {
  case BinaryOp::Or:
  case BinaryOp::And:
    return {of(*expr.lhs).text + notation.prose(expr.op == BinaryOp::Or ? " or " : " and ") + of(*expr.rhs).text,
            Strength::Open};
  case BinaryOp::Add:
  case BinaryOp::Sub: {
    std::string sign = expr.op == BinaryOp::Add ? "+" : notation.sign(Sign::Minus);
    // To the right of a minus, a sum is other than it was.
    Strength right = expr.op == BinaryOp::Add ? Strength::Sum : Strength::Product;
    return {notation.within(of(*expr.lhs), Strength::Sum) + " " + sign + " " + notation.within(of(*expr.rhs), right),
            Strength::Sum};
  }
  case BinaryOp::Pow:
    return notation.power(of(*expr.lhs), inside(*expr.rhs));
  case BinaryOp::Mul:
  case BinaryOp::Div:
  case BinaryOp::MatMul:
  case BinaryOp::IntDiv:
  case BinaryOp::Mod:
    return chain(expr);
  default:
    return {notation.within(of(*expr.lhs), Strength::Sum) + " " + notation.relation(spelling(expr.op)) + " " +
                notation.within(of(*expr.rhs), Strength::Sum),
            Strength::Relation};
  }
}

static bool isFactor(BinaryOp op) {
  return op == BinaryOp::Mul || op == BinaryOp::Div || op == BinaryOp::MatMul || op == BinaryOp::IntDiv || op == BinaryOp::Mod;
}

/// Factors from the left.
Formula Formulas::chain(const BinaryExpr &expr) const {
  std::vector<const BinaryExpr *> steps;
  const Expr *first = &expr;
  for (auto *step = dynCast<BinaryExpr>(first); step && isFactor(step->op); step = dynCast<BinaryExpr>(first)) {
    steps.push_back(step);
    first = step->lhs.get();
  }
  std::reverse(steps.begin(), steps.end());
  bool stacks = notation.stacksFractions() && steps.front()->op == BinaryOp::Div;
  Formula made = stacks ? inside(*first) : of(*first);
  // A factor that is a product by itself has a `/` where a function is written so: x/‖x‖.
  auto divides = [&](const Formula &one) { return one.strength == Strength::Product && !notation.stacksFractions(); };
  bool isDivided = divides(made);
  for (const BinaryExpr *step : steps) {
    made = factor(made, step->op, *step->rhs, isDivided);
    bool isProduct = step->op == BinaryOp::Mul || step->op == BinaryOp::MatMul;
    isDivided |= isProduct ? divides(of(*step->rhs)) : !notation.stacksFractions();
  }
  return made;
}

/// `isDivided`: there is a `/` before it, behind which a factor beside it would be read as part of the denominator.
Formula Formulas::factor(const Formula &before, BinaryOp op, const Expr &next, bool isDivided) const {
  if (op == BinaryOp::Div && notation.stacksFractions())
    return {notation.fraction(before.text, inside(next).text), Strength::Product};
  std::string left = notation.within(before, Strength::Product);
  std::string right = notation.within(of(next), op == BinaryOp::Mul ? Strength::Product : Strength::Prefix);
  if (op == BinaryOp::Div)
    return {notation.fraction(left, right), Strength::Product};
  if (op == BinaryOp::IntDiv) {
    std::string quotient = notation.fraction(left, right);
    return notation.filled(*shapeOf("floor", 1), {{quotient, Strength::Product}});
  }
  if (op == BinaryOp::Mod)
    return {left + notation.prose(" mod ") + right, Strength::Product};
  bool isApart = isDivided || std::isdigit(static_cast<unsigned char>(right.front())) || right.starts_with(notation.sign(Sign::Minus));
  return {left + notation.sign(isApart ? Sign::Times : Sign::Apart) + right, Strength::Product};
}

//===----------------------------------------------------------------------===//
// Members and calls
//===----------------------------------------------------------------------===//

Formula Formulas::member(const MemberExpr &expr) const {
  if (expr.member.text == "T")
    return notation.filled(*shapeOf("transpose", 1), {of(*expr.base)});
  return {notation.within(of(*expr.base), Strength::Atom) + "." + notation.word(expr.member.text)};
}

Formula Formulas::call(const CallExpr &expr) const {
  if (auto *name = dynCast<NameExpr>(expr.callee.get()))
    return named(expr, name->name);
  if (isa<CallExpr>(expr.callee.get()))
    return derivative(expr);
  std::string arguments;
  for (const Argument &argument : expr.args)
    arguments += (arguments.empty() ? "" : ", ") + of(*argument.value).text;
  return {notation.within(of(*expr.callee), Strength::Atom) + notation.brackets(arguments)};
}

/// `hvp(loss)(p, v)`, `convolution(8)(x)`.
Formula Formulas::derivative(const CallExpr &expr) const {
  auto &made = *cast<CallExpr>(expr.callee.get());
  auto *kind = dynCast<NameExpr>(made.callee.get());
  std::vector<Formula> parts;
  std::string arguments;
  if (!made.args.empty()) {
    auto *function = dynCast<NameExpr>(made.args.front().value.get());
    parts.push_back(function && function->name == "loss" ? Formula{"L"} : of(*made.args.front().value));
  }
  for (const Argument &argument : expr.args) {
    parts.push_back(of(*argument.value));
    arguments += (arguments.empty() ? "" : ", ") + parts.back().text;
  }
  const Shape *shape = kind && made.args.size() == 1 ? derivativeOf(kind->name, parts.size()) : nullptr;
  return shape ? notation.filled(*shape, parts) : Formula{call(made).text + notation.brackets(arguments)};
}

/// Functions that only say in which form a value is.
static bool changesForm(const std::string &function) {
  return function == "tree" || function == "leaf" || function == "real" || function == "int";
}

/// Whether a value is a bool by its form.
static bool isStatement(const Expr &expr) {
  auto *binary = dynCast<BinaryExpr>(&expr);
  auto *unary = dynCast<UnaryExpr>(&expr);
  return binary ? binary->op <= BinaryOp::Ge : unary && unary->op == UnaryOp::Not;
}

Formula Formulas::named(const CallExpr &expr, const std::string &function) const {
  std::vector<Formula> plain;
  std::string arguments, below;
  for (const Argument &argument : expr.args) {
    // Where a draw goes is said by what it is assigned to.
    if (argument.name.text == "like" || argument.name.text == "shape")
      continue;
    if (argument.name.text == "over" || argument.name.text == "per") {
      auto *axis = dynCast<NameExpr>(argument.value.get());
      below = axis ? axis->name : print(*argument.value);
      continue;
    }
    Formula value = inside(*argument.value);
    if (expr.args.size() > 1 && value.strength == Strength::Open)
      value = {notation.brackets(value.text)};
    arguments += (arguments.empty() ? "" : ", ") +
                 (argument.name ? notation.word(argument.name.text) + " = " + value.text : value.text);
    if (!argument.name)
      plain.push_back(value);
  }
  if (function == "where" && expr.args.size() == 3)
    return notation.choice("where", inside(*expr.args[0].value).text, inside(*expr.args[1].value), inside(*expr.args[2].value));
  if (changesForm(function) && plain.size() == 1)
    return isStatement(withoutBrackets(*expr.args.front().value)) ? Formula{"1[" + plain.front().text + "]"} : plain.front();
  if (function == "normalize" && plain.size() == 1 && below.empty() && isa<NameExpr>(expr.args.front().value.get())) {
    std::string length = notation.filled(*shapeOf("norm", 1), {plain.front()}).text;
    return {notation.fraction(plain.front().text, length), Strength::Product};
  }
  if (const Shape *shape = below.empty() ? shapeOf(function, plain.size()) : nullptr; shape && plain.size() == expr.args.size())
    return notation.filled(*shape, plain);
  std::string word = function == "loss" ? "L" : notation.word(function);
  return {(below.empty() ? word : notation.lowered(word, below)) + notation.brackets(arguments)};
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

std::string Formulas::type(const Type &type) const {
  auto *array = dynCast<ArrayType>(&type);
  if (!array)
    return notation.word(print(type));
  if (array->element)
    return notation.word(print(*array->element)) + "[" + listOf(array->shape) + "]";
  std::string sizes;
  for (const ExprPtr &size : array->shape)
    sizes += (sizes.empty() ? "" : std::string(" ") + notation.sign(Sign::By) + " ") + of(*size).text;
  return notation.power({notation.sign(Sign::Reals)}, {sizes, array->shape.size() > 1 ? Strength::Product : of(*array->shape.front()).strength}).text;
}

} // namespace dyn::explain
