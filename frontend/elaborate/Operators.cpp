//===- Operators.cpp - operators on numbers and arrays --------------------===//
#include "frontend/elaborate/Elaborator.h"
#include "frontend/elaborate/RunResult.h"

#include <cmath>

using namespace mlir;

namespace dyn::elab {

Value Elaborator::evaluateUnary(const ast::UnaryExpr &expr, Frame &frame) {
  Value x = evaluate(*expr.operand, frame);
  if (meetsByName(x))
    return overNames(x, expr.span, ast::spelling(expr.op), [&](ArrayRef<Value> one) { return unary(expr.op, one[0], expr.span); });
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
    return Value(Tensor{create<nd::NotOp>(span, t->value), t->number, 0, t->fresh}, span);
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
  return Value(Tensor{create<nd::NegOp>(span, t->value), t->number, 0, t->fresh}, span);
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
  // `probs == none`: whether a parameter was given that may be left out.
  bool asks = op == ast::BinaryOp::Eq || op == ast::BinaryOp::Ne;
  if (asks && (a.as<None>() || b.as<None>()))
    return boolean((a.as<None>() && b.as<None>()) == (op == ast::BinaryOp::Eq), span);
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

/// A divisor that the run computes, which stops the run where it is 0: it is looked up in a table of one place, and the
/// place of a 0 is outside.
static Tensor checkedDivisor(OpBuilder &b, Location loc, Tensor y, const char *spelling, std::string place, plan::Plan &plan) {
  auto type = y.type(), plain = ir::withEncoding(type, {});
  if (isa_and_present<ir::LeavesAttr, ir::TreeAttr, ir::PerLeafAttr>(ir::rangeOf(type.getEncoding())))
    return y;
  auto zeros = [&](RankedTensorType like) {
    return nd::ConstantOp::create(b, loc, like, DenseElementsAttr::get(like, b.getI64IntegerAttr(0))).getResult();
  };
  mlir::Value isZero = nd::CompareOp::create(b, loc, nd::CompareKind::eq, y.value, zeros(plain)).getResult();
  mlir::Value outside = nd::CastOp::create(b, loc, isZero, b.getI64Type()).getResult();
  auto looked = nd::GatherOp::create(b, loc, zeros(RankedTensorType::get({1}, b.getI64Type())), outside, uint64_t(0));
  looked->setAttr("site", b.getI64IntegerAttr(static_cast<int64_t>(plan.sites.size())));
  plan.sites.push_back({"division", spelling, std::move(place)});
  y.value = nd::AddOp::create(b, loc, y.value, looked.getResult()).getResult();
  return y;
}

Value Elaborator::elementwise(StringRef name, const Value &a, const Value &b, Span span) {
  const BinaryRow *row = llvm::find_if(binaryRows, [&](const BinaryRow &r) { return name == r.name; });
  if (meetsByName(a) || meetsByName(b))
    return overNames({a, b}, span, row->spelling, [&](ArrayRef<Value> both) { return elementwise(name, both[0], both[1], span); });
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
  bool divides = (name == "floordiv" || name == "rem") && elemOf(x->type().getElementType()) == Elem::Int;
  auto *known = b.as<Const>();
  if (divides && known && known->number == 0) {
    diags.report(Diag::division_by_zero, span);
    return {};
  }
  if (divides && !known && plan)
    *y = checkedDivisor(builder, loc(span), *y, row->spelling, diags.sources().describe(span), *plan);
  return Value(Tensor{row->make(builder, loc(span), x->value, y->value), x->number && y->number, 0, x->fresh}, span);
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
    return isa_and_present<ir::LeavesAttr, ir::TreeAttr, ir::PerLeafAttr>(ir::rangeOf(t.type().getEncoding()));
  };
  bool stacks = rx == 3 && ry == 3 && x->type().getDimSize(0) == y->type().getDimSize(0);
  if ((!stacks && (rx < 1 || rx > 2 || ry < 1 || ry > 2)) || ranged(*x) || ranged(*y)) {
    auto report = diags.report(Diag::matmul_ranks, span, describeType(x->type()), describeType(y->type()));
    if (ranged(*x) || ranged(*y))
      report.help("a rule that multiplies matrices says so: `on [m, n]`");
    return {};
  }
  int64_t inner = x->type().getShape().back(), other = y->type().getShape()[stacks];
  if (inner != other) {
    diags.report(Diag::shape_mismatch, span, "@", describeShape(x->type().getShape()),
                 describeShape(y->type().getShape()))
        .note(a.origin, "this is " + describeShape(x->type().getShape()))
        .note(b.origin, "this is " + describeShape(y->type().getShape()))
        .help("the last size on the left must be the first on the right; `.T` transposes");
    return {};
  }
  // [.., i, k] @ [.., k, j], `s` counting the matrices of two stacks.
  std::string stack = stacks ? "s" : "", i = rx >= 2 ? "i" : "", j = ry >= 2 ? "j" : "";
  std::string lhs = stack + i + "k", rhs = stack + "k" + j, out = stack + i + j;
  SmallVector<int64_t> shape(x->type().getShape().drop_back());
  if (ry >= 2)
    shape.push_back(y->type().getShape().back());
  if (!fitsMemory(shape, diags, span))
    return {};
  auto attr = [&](const std::string &text) { return builder.getStringAttr(text); };
  return Value(Tensor{create<nd::ContractOp>(span, x->value, y->value, attr(lhs), attr(rhs), attr(out)),
                      x->number && y->number, 0},
               span);
}

} // namespace dyn::elab
