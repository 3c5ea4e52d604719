//===- Expressions.cpp - Values of the syntax tree --------------*- C++ -*-===//

#include "frontend/parse/Builder.h"

#include <charconv>

using namespace dyn;
using namespace dyn::parsing;
using namespace dyn::ast;
using P = DynParser;

//===----------------------------------------------------------------------===//
// Operators, from the loosest to the tightest
//===----------------------------------------------------------------------===//

ExprPtr Builder::value(P::ValueContext *c) {
  if (auto *plain = as<P::PlainContext>(c))
    return logic(plain->logic());
  if (auto *conditional = as<P::ConditionalContext>(c)) {
    auto node = make<ConditionalExpr>(c);
    node->condition = logic(conditional->logic());
    node->thenValue = value(conditional->value(0));
    node->elseValue = value(conditional->value(1));
    return node;
  }
  if (auto *collected = as<P::CollectedContext>(c)) {
    auto node = make<CollectExpr>(c);
    node->variable = ident(collected->name());
    node->range = logic(collected->logic());
    node->body = block(collected->block());
    return node;
  }
  auto node = make<ClosureExpr>(c);
  if (auto *closure = as<P::ClosureContext>(c)) {
    node->parameters.push_back(ident(closure->name()));
    node->body = value(closure->value());
  } else {
    auto *many = as<P::ClosureOfManyContext>(c);
    node->bracketed = true;
    for (auto *name : many->name())
      node->parameters.push_back(ident(name));
    node->body = value(many->value());
  }
  return node;
}

ExprPtr Builder::binary(BinaryOp op, antlr4::tree::ParseTree *token, ExprPtr lhs, ExprPtr rhs) {
  auto node = std::make_unique<BinaryExpr>();
  node->span = Span::cover(lhs->span, rhs->span);
  node->op = op;
  node->opSpan = spanOf(as<antlr4::tree::TerminalNode>(token)->getSymbol());
  node->lhs = std::move(lhs);
  node->rhs = std::move(rhs);
  return node;
}

ExprPtr Builder::logic(P::LogicContext *c) {
  if (auto *testing = as<P::TestingContext>(c))
    return test(testing->test());
  if (auto *negated = as<P::NegatedContext>(c)) {
    auto node = make<UnaryExpr>(c);
    node->op = UnaryOp::Not;
    node->operand = logic(negated->logic());
    return node;
  }
  BinaryOp op = as<P::ConjunctionContext>(c) ? BinaryOp::And : BinaryOp::Or;
  ExprPtr lhs = logic(as<P::LogicContext>(c->children[0]));
  return binary(op, c->children[1], std::move(lhs), logic(as<P::LogicContext>(c->children[2])));
}

static BinaryOp operatorOf(size_t token) {
  switch (token) {
  case P::EQEQ: return BinaryOp::Eq;
  case P::NE: return BinaryOp::Ne;
  case P::LT: return BinaryOp::Lt;
  case P::LE: return BinaryOp::Le;
  case P::GT: return BinaryOp::Gt;
  case P::GE: return BinaryOp::Ge;
  case P::PLUS: return BinaryOp::Add;
  case P::MINUS: return BinaryOp::Sub;
  case P::STAR: return BinaryOp::Mul;
  case P::SLASH: return BinaryOp::Div;
  case P::DSLASH: return BinaryOp::IntDiv;
  case P::PERCENT: return BinaryOp::Mod;
  case P::MATMUL: return BinaryOp::MatMul;
  default: return BinaryOp::Pow;
  }
}

ExprPtr Builder::test(P::TestContext *c) {
  ExprPtr lhs = span(c->span(0));
  if (c->span().size() == 1)
    return lhs;
  return binary(operatorOf(typeOf(c->children[1])), c->children[1], std::move(lhs), span(c->span(1)));
}

ExprPtr Builder::span(P::SpanContext *c) {
  ExprPtr low = arith(c->arith(0));
  if (c->arith().size() == 1)
    return low;
  auto node = make<RangeExpr>(c);
  node->low = std::move(low);
  node->high = arith(c->arith(1));
  return node;
}

ExprPtr Builder::arith(P::ArithContext *c) {
  if (auto *term = as<P::TermContext>(c))
    return unary(term->unary());
  ExprPtr lhs = arith(as<P::ArithContext>(c->children[0]));
  ExprPtr rhs = arith(as<P::ArithContext>(c->children[2]));
  return binary(operatorOf(typeOf(c->children[1])), c->children[1], std::move(lhs), std::move(rhs));
}

ExprPtr Builder::unary(P::UnaryContext *c) {
  if (auto *negative = as<P::NegativeContext>(c)) {
    auto node = make<UnaryExpr>(c);
    node->operand = unary(negative->unary());
    return node;
  }
  auto *power = as<P::PowerContext>(c);
  ExprPtr base = postfix(power->postfix());
  if (!power->HAT())
    return base;
  return binary(BinaryOp::Pow, power->HAT(), std::move(base), unary(power->unary()));
}

//===----------------------------------------------------------------------===//
// Members, calls, indices
//===----------------------------------------------------------------------===//

ExprPtr Builder::postfix(P::PostfixContext *c) {
  if (auto *simple = as<P::SimpleContext>(c))
    return atom(simple->atom());
  if (auto *member = as<P::MemberContext>(c)) {
    auto node = make<MemberExpr>(c);
    node->base = postfix(member->postfix());
    if (member->name())
      node->member = ident(member->name());
    else {
      Span span = spanOf(member->NUMBER()->getSymbol());
      node->member = {std::string(source.text(span)), span};
    }
    return node;
  }
  if (auto *call = as<P::CallContext>(c)) {
    auto node = make<CallExpr>(c);
    node->callee = postfix(call->postfix());
    for (auto *a : call->argument())
      node->args.push_back(argument(a));
    return node;
  }
  auto *indexed = as<P::IndexedContext>(c);
  auto node = make<IndexExpr>(c);
  node->base = postfix(indexed->postfix());
  node->indices = indices(indexed->index());
  return node;
}

ExprPtr Builder::reference(P::ReferenceContext *c) { return chain(c, 0, c->children.size()); }

/// A name, then `.name`, `(…)` and `[…]` in the flat list of children up to `end`.
ExprPtr Builder::chain(Context *c, size_t firstName, size_t end) {
  ExprPtr result = nameExpr(as<P::NameContext>(c->children[firstName]));
  uint32_t begin = result->span.begin;
  auto extend = [&](auto node, size_t last) {
    auto *terminal = as<antlr4::tree::TerminalNode>(c->children[last]);
    uint32_t stop = terminal ? spanOf(terminal->getSymbol()).end : spanOf(as<Context>(c->children[last])).end;
    node->span = {source.id(), begin, stop};
    result = std::move(node);
  };
  for (size_t i = firstName + 1; i < end;) {
    size_t mark = typeOf(c->children[i]);
    if (mark == P::DOT) {
      auto node = std::make_unique<MemberExpr>();
      node->base = std::move(result);
      node->member = ident(as<P::NameContext>(c->children[i + 1]));
      extend(std::move(node), i + 1);
      i += 2;
      continue;
    }
    size_t close = i + 1;
    if (mark == P::LPAREN) {
      auto node = std::make_unique<CallExpr>();
      node->callee = std::move(result);
      for (; typeOf(c->children[close]) != P::RPAREN; ++close)
        if (auto *a = as<P::ArgumentContext>(c->children[close]))
          node->args.push_back(argument(a));
      extend(std::move(node), close);
    } else {
      auto node = std::make_unique<IndexExpr>();
      node->base = std::move(result);
      for (; typeOf(c->children[close]) != P::RBRACK; ++close)
        if (auto *one = as<P::IndexContext>(c->children[close]))
          node->indices.push_back(index(one));
      extend(std::move(node), close);
    }
    i = close + 1;
  }
  return result;
}

ExprPtr Builder::slicing(P::SlicingContext *c) {
  auto node = make<SliceExpr>(c);
  bool past = false; // the colon
  for (auto *child : c->children) {
    past |= typeOf(child) == P::COLON;
    if (auto *bound = as<P::ValueContext>(child))
      (past ? node->high : node->low) = value(bound);
  }
  return node;
}

ExprPtr Builder::index(P::IndexContext *c) { return c->value() ? value(c->value()) : slicing(c->slicing()); }

Argument Builder::argument(P::ArgumentContext *c) {
  Argument result;
  result.span = spanOf(c);
  if (c->name())
    result.name = ident(c->name());
  result.value = c->value() ? value(c->value()) : slicing(c->slicing());
  return result;
}

Named Builder::named(P::NamedContext *c) { return {ident(c->name()), value(c->value()), spanOf(c)}; }

std::vector<Named> Builder::named(const std::vector<P::NamedContext *> &list) {
  std::vector<Named> result;
  for (auto *c : list)
    result.push_back(named(c));
  return result;
}

std::vector<ExprPtr> Builder::values(const std::vector<P::ValueContext *> &list) {
  std::vector<ExprPtr> result;
  for (auto *c : list)
    result.push_back(value(c));
  return result;
}

std::vector<ExprPtr> Builder::indices(const std::vector<P::IndexContext *> &list) {
  std::vector<ExprPtr> result;
  for (auto *c : list)
    result.push_back(index(c));
  return result;
}

//===----------------------------------------------------------------------===//
// Atoms
//===----------------------------------------------------------------------===//

ExprPtr Builder::nameExpr(P::NameContext *c) {
  auto node = make<NameExpr>(c);
  node->name = source.text(node->span);
  return node;
}

ExprPtr Builder::atom(P::AtomContext *c) {
  if (auto *variable = as<P::VariableContext>(c))
    return nameExpr(variable->name());
  if (auto *literal = as<P::NumberContext>(c))
    return number(literal->NUMBER());
  if (auto *literal = as<P::StringContext>(c))
    return string(literal->STRING());
  if (auto *truth = as<P::TruthContext>(c)) {
    auto node = make<BoolExpr>(c);
    node->value = truth->TRUE() != nullptr;
    return node;
  }
  if (as<P::NothingContext>(c))
    return make<NoneExpr>(c);
  if (auto *record = as<P::RecordContext>(c)) {
    auto node = make<RecordExpr>(c);
    node->fields = named(record->named());
    return node;
  }
  if (auto *group = as<P::GroupContext>(c)) {
    auto node = make<GroupExpr>(c);
    node->items = values(group->value());
    return node;
  }
  if (auto *comprehension = as<P::ComprehensionContext>(c)) {
    auto node = make<ComprehensionExpr>(c);
    node->body = value(comprehension->value());
    node->variable = ident(comprehension->name());
    node->range = logic(comprehension->logic());
    return node;
  }
  auto node = make<ArrayExpr>(c);
  node->elements = values(as<P::ArrayContext>(c)->value());
  return node;
}

ExprPtr Builder::number(antlr4::tree::TerminalNode *token) {
  auto node = std::make_unique<NumberExpr>();
  node->span = spanOf(token->getSymbol());
  node->text = source.text(node->span);
  std::string digits;
  for (char c : node->text)
    if (c != '_')
      digits += c;
  bool hex = digits.starts_with("0x");
  node->isInteger = hex || digits.find_first_of(".eE") == std::string::npos;
  const char *begin = digits.data() + (hex ? 2 : 0), *end = digits.data() + digits.size();
  bool fits = true;
  if (node->isInteger) {
    // The largest whole number that a double holds together with all below it.
    constexpr decltype(node->integer) most = 1LL << 53;
    fits = std::from_chars(begin, end, node->integer, hex ? 16 : 10).ec == std::errc() && node->integer <= most;
    node->value = static_cast<double>(node->integer);
  } else {
    fits = std::from_chars(begin, end, node->value).ec == std::errc();
  }
  if (!fits) {
    auto report = diags.report(Diag::number_out_of_range, node->span, node->text,
                               node->isInteger ? "53 bits" : "a double-precision number");
    if (node->isInteger && !hex)
      report.help("write a real: `" + digits + ".0`");
  }
  return node;
}

std::unique_ptr<StringExpr> Builder::string(antlr4::tree::TerminalNode *token) {
  auto node = std::make_unique<StringExpr>();
  node->span = spanOf(token->getSymbol());
  node->text = source.text(node->span);
  for (size_t i = 1; i + 1 < node->text.size(); ++i) {
    if (node->text[i] != '\\') {
      node->value += node->text[i];
      continue;
    }
    char escaped = node->text[++i];
    if (escaped == 'n' || escaped == 't')
      node->value += escaped == 'n' ? '\n' : '\t';
    else if (escaped == '"' || escaped == '\\')
      node->value += escaped;
    else
      diags.report(Diag::unknown_escape,
                   {source.id(), node->span.begin + static_cast<uint32_t>(i) - 1,
                    node->span.begin + static_cast<uint32_t>(i) + 1},
                   std::string("\\") + (static_cast<unsigned char>(escaped) < 0x80 ? escaped : '?'))
          .help("there are `\\\"`, `\\\\`, `\\n` and `\\t`");
  }
  return node;
}
