//===- Values.cpp - Printing values, types and patterns ---------*- C++ -*-===//

#include "frontend/print/Printer.h"

#include <algorithm>

using namespace dyn;
using namespace dyn::print;
using namespace dyn::ast;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Doc AstPrinter::expr(const Expr &e) {
  switch (e.kind) {
  case Kind::MemberExpr: {
    auto &member = *cast<MemberExpr>(&e);
    // `0.1` is another number.
    bool ofNumber = isa<NumberExpr>(member.base.get());
    return concat({expr(*member.base), text((ofNumber ? " ." : ".") + member.member.text)});
  }
  case Kind::CallExpr: {
    auto &call = *cast<CallExpr>(&e);
    Doc callee = expr(*call.callee);
    return concat({callee, arguments(call.args, end(e))});
  }
  case Kind::IndexExpr: {
    auto &index = *cast<IndexExpr>(&e);
    Doc base = expr(*index.base);
    return concat({base, exprs("[", index.indices, "]", end(e))});
  }
  case Kind::UnaryExpr: {
    auto &unary = *cast<UnaryExpr>(&e);
    return concat({text(unary.op == UnaryOp::Neg ? "-" : "not "), expr(*unary.operand)});
  }
  case Kind::BinaryExpr:
    return binary(*cast<BinaryExpr>(&e));
  case Kind::RangeExpr: {
    auto &range = *cast<RangeExpr>(&e);
    Doc low = expr(*range.low);
    return concat({low, text(".."), expr(*range.high)});
  }
  case Kind::SliceExpr: {
    auto &slice = *cast<SliceExpr>(&e);
    Doc low = slice.low ? expr(*slice.low) : text("");
    return concat({low, text(":"), slice.high ? expr(*slice.high) : text("")});
  }
  case Kind::ConditionalExpr:
    return conditional(*cast<ConditionalExpr>(&e));
  case Kind::CollectExpr: {
    auto &collect = *cast<CollectExpr>(&e);
    Doc range = expr(*collect.range);
    return concat({text("for " + collect.variable.text + " in "), range, text(" "), block(*collect.body)});
  }
  case Kind::ClosureExpr: {
    auto &closure = *cast<ClosureExpr>(&e);
    std::string names;
    for (const Ident &name : closure.parameters)
      names += (names.empty() ? "" : ", ") + name.text;
    return concat({text(closure.bracketed ? "(" + names + ") -> " : names + " -> "), expr(*closure.body)});
  }
  case Kind::RecordExpr:
  case Kind::GroupExpr:
  case Kind::ArrayExpr:
  case Kind::ComprehensionExpr:
    return bracketed(e);
  default:
    return literal(e);
  }
}

Doc AstPrinter::literal(const Expr &e) {
  if (auto *number = dynCast<NumberExpr>(&e))
    return text(number->text);
  if (auto *string = dynCast<StringExpr>(&e))
    return text(string->text);
  if (auto *truth = dynCast<BoolExpr>(&e))
    return text(truth->value ? "true" : "false");
  if (auto *name = dynCast<NameExpr>(&e))
    return text(name->name);
  return text("none");
}

Doc AstPrinter::bracketed(const Expr &e) {
  if (auto *record = dynCast<RecordExpr>(&e)) {
    std::vector<Element> elements;
    for (const Named &field : record->fields)
      elements.push_back({field.span.begin, [&] { return named(field); }});
    return list("(", elements, ")", end(e));
  }
  if (auto *grouped = dynCast<GroupExpr>(&e))
    return exprs("(", grouped->items, ")", end(e));
  if (auto *array = dynCast<ArrayExpr>(&e))
    return exprs("[", array->elements, "]", end(e));
  auto &comprehension = *cast<ComprehensionExpr>(&e);
  Doc body = expr(*comprehension.body);
  Doc range = expr(*comprehension.range);
  Doc loop = concat({text("for " + comprehension.variable.text + " in "), range});
  return concat({text("["), align(fill({body, line(), loop})), text("]")});
}

/// How tightly an operator binds; equal ones form a chain that breaks together.
static int level(BinaryOp op) {
  switch (op) {
  case BinaryOp::Or:
    return 0;
  case BinaryOp::And:
    return 1;
  case BinaryOp::Add:
  case BinaryOp::Sub:
    return 3;
  case BinaryOp::Mul:
  case BinaryOp::Div:
  case BinaryOp::IntDiv:
  case BinaryOp::Mod:
  case BinaryOp::MatMul:
    return 4;
  case BinaryOp::Pow:
    return 5;
  default:
    return 2;
  }
}

/// Written without spaces, and then no place to break a line.
static bool isTight(BinaryOp op) { return op == BinaryOp::Mul || op == BinaryOp::Div || op == BinaryOp::Pow; }

Doc AstPrinter::binary(const BinaryExpr &e) {
  std::vector<const BinaryExpr *> chain; // from the leftmost operator to this one
  const Expr *first = &e;
  while (auto *left = dynCast<BinaryExpr>(first)) {
    if (level(left->op) != level(e.op) || (e.op == BinaryOp::Pow && !chain.empty()))
      break;
    chain.push_back(left);
    first = left->lhs.get();
  }
  std::reverse(chain.begin(), chain.end());

  std::vector<Doc> parts, content{expr(*first)};
  for (const BinaryExpr *one : chain) {
    if (isTight(one->op)) {
      content.push_back(text(spelling(one->op)));
      content.push_back(expr(*one->rhs));
      continue;
    }
    content.push_back(text(std::string(" ") + spelling(one->op)));
    size_t before = next;
    rightOf(content, one->rhs->span.begin);
    parts.push_back(concat(std::move(content)));
    parts.push_back(next != before ? hardLine() : line());
    content = {expr(*one->rhs)};
  }
  parts.push_back(concat(std::move(content)));
  return parts.size() == 1 ? parts[0] : align(fill(std::move(parts)));
}

/// `if … then … else …` on one line if it fits; a chain of several has a line for each.
Doc AstPrinter::conditional(const ConditionalExpr &e) {
  bool chained = isa<ConditionalExpr>(e.elseValue.get());
  std::vector<Doc> parts;
  const Expr *rest = &e;
  while (auto *one = dynCast<ConditionalExpr>(rest)) {
    parts.push_back(text("if "));
    parts.push_back(expr(*one->condition));
    parts.push_back(text(" then "));
    parts.push_back(expr(*one->thenValue));
    size_t before = next;
    rightOf(parts, one->elseValue->span.begin);
    parts.push_back(chained || next != before ? hardLine() : line());
    parts.push_back(text("else "));
    rest = one->elseValue.get();
  }
  parts.push_back(expr(*rest));
  return align(group(std::move(parts)));
}

Doc AstPrinter::exprs(const char *open, const std::vector<ExprPtr> &values, const char *close, uint32_t end) {
  std::vector<Element> elements;
  for (const ExprPtr &value : values)
    elements.push_back({value->span.begin, [&] { return expr(*value); }});
  return list(open, elements, close, end);
}

Doc AstPrinter::arguments(const std::vector<Argument> &args, uint32_t end) {
  std::vector<Element> elements;
  for (const Argument &argument : args)
    elements.push_back({argument.span.begin, [&] {
                          std::string name = argument.name ? argument.name.text + "=" : "";
                          return concat({text(name), expr(*argument.value)});
                        }});
  return list("(", elements, ")", end);
}

Doc AstPrinter::named(const Named &n) { return concat({text(n.name.text + " = "), expr(*n.value)}); }

Doc AstPrinter::namedList(const std::vector<Named> &values) {
  std::vector<Element> elements;
  for (const Named &value : values)
    elements.push_back({value.span.begin, [&] { return named(value); }});
  return commas(elements);
}

//===----------------------------------------------------------------------===//
// Types and patterns
//===----------------------------------------------------------------------===//

Doc AstPrinter::type(const Type &t) {
  if (auto *one = dynCast<NamedType>(&t))
    return one->args.empty() ? text(one->name.text)
                             : concat({text(one->name.text), exprs("(", one->args, ")", end(t))});
  if (auto *array = dynCast<ArrayType>(&t)) {
    Doc element = array->element ? type(*array->element) : text("");
    return concat({element, exprs("[", array->shape, "]", end(t))});
  }
  if (auto *fields = dynCast<RecordType>(&t))
    return record(*fields, "{", "}");
  auto &fn = *cast<FnType>(&t);
  std::vector<Element> elements;
  for (const TypePtr &parameter : fn.parameters)
    elements.push_back({parameter->span.begin, [&] { return type(*parameter); }});
  Doc parameters = list("fn(", elements, ")", fn.result->span.begin);
  return concat({parameters, text(" -> "), type(*fn.result)});
}

Doc AstPrinter::record(const RecordType &t, const char *open, const char *close) {
  std::vector<Element> elements;
  for (const TypeField &field : t.fields)
    elements.push_back({field.name.span.begin, [&] { return typed(field.name, field.type.get()); }});
  return list(open, elements, close, 0);
}

Doc AstPrinter::pattern(const Pattern &p) {
  if (auto *shape = dynCast<ShapePattern>(&p))
    return exprs("[", shape->shape, "]", end(p));
  if (auto *path = dynCast<PathPattern>(&p))
    return text(path->path->text);
  if (auto *module = dynCast<ModulePattern>(&p))
    return concat({text("module " + module->model.text + " "), record(*module->leaves, "{ ", " }")});
  return expr(*cast<ReferencePattern>(&p)->reference);
}
