//===- Printer.h - From syntax tree to document -----------------*- C++ -*-===//
//
// One function a construct, split like the builder. Functions are called in source order, because comments are
// taken from one list as the places behind which they stand go by. Private to frontend/.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/Ast.h"
#include "frontend/print/Layout.h"

#include <functional>

namespace dyn::print {

class AstPrinter {
public:
  explicit AstPrinter(const std::vector<ast::Comment> &comments) : comments(comments) {}

  // AstPrinter.cpp
  Doc program(const ast::Program &program);

  // Values.cpp
  Doc expr(const ast::Expr &e);
  Doc type(const ast::Type &t);

private:
  // AstPrinter.cpp: comments and lists
  /// One line of a list with the comments that belong to it.
  using ItemDoc = std::function<Doc()>;
  void item(std::vector<Doc> &lines, const ast::Item &item, uint32_t next, const ItemDoc &doc);
  void ownLines(std::vector<Doc> &lines, uint32_t before);
  void rightOf(std::vector<Doc> &parts, uint32_t before);
  /// `{ … }` with one item a line, or on one line if the source had that and it fits.
  template <class T, class F>
  Doc braces(const std::vector<std::unique_ptr<T>> &items, uint32_t begin, uint32_t end, bool oneLine, F print);
  struct Element {
    uint32_t begin;
    std::function<Doc()> doc;
  };
  /// Elements between brackets, filled over as many lines as they need.
  Doc list(const char *open, const std::vector<Element> &elements, const char *close, uint32_t end);
  Doc commas(const std::vector<Element> &elements);
  static uint32_t end(const ast::Node &node) { return node.span.end; }

  // Values.cpp
  Doc binary(const ast::BinaryExpr &e);
  Doc conditional(const ast::ConditionalExpr &e);
  Doc literal(const ast::Expr &e);
  Doc bracketed(const ast::Expr &e);
  Doc exprs(const char *open, const std::vector<ast::ExprPtr> &list, const char *close, uint32_t end);
  Doc arguments(const std::vector<ast::Argument> &list, uint32_t end);
  Doc named(const ast::Named &n);
  Doc namedList(const std::vector<ast::Named> &list);
  Doc record(const ast::RecordType &t, const char *open, const char *close);
  Doc pattern(const ast::Pattern &p);

  // Statements.cpp
  Doc block(const ast::Block &b);
  Doc statement(const ast::Stmt &s);
  Doc definition(const ast::Stmt &s);
  Doc flow(const ast::Stmt &s);
  Doc outward(const ast::Stmt &s);
  Doc ifStatement(const ast::IfStmt &s);
  Doc label(const ast::Label &l);
  Doc typed(const ast::Ident &name, const ast::Type *t);
  Doc variant(const ast::Variant &v);
  Doc changePart(const ast::ChangePart &p);
  Doc seeds(const ast::Seeds &s);

  // Trains.cpp
  Doc clauses(const ast::ClauseBlock &b);
  Doc clause(const ast::Clause &c, size_t width);
  Doc clauseValue(const ast::Clause &c);
  Doc setting(const ast::Clause &c);
  Doc blockClause(const ast::Clause &c);
  Doc evalClause(const ast::EvalClause &c);
  Doc source(const ast::Source &s);
  Doc instance(const ast::Instance &i);
  Doc sourceOption(const ast::SourceOption &o);
  Doc ruleOption(const ast::RuleOption &o);
  Doc timing(const ast::Timing &t);

  // Declarations.cpp
  Doc declaration(const ast::Decl &d);
  Doc function(const ast::FnDecl &d);
  Doc model(const ast::ModelDecl &d);
  Doc rule(const ast::RuleDecl &d);
  Doc data(const ast::DataDecl &d);
  Doc body(const ast::Body &b);
  Doc parameters(const ast::Parameters &p);
  Doc parameter(const ast::Parameter &p);

  const std::vector<ast::Comment> &comments;
  size_t next = 0; ///< the first comment not yet printed
};

template <class T, class F>
Doc AstPrinter::braces(const std::vector<std::unique_ptr<T>> &items, uint32_t begin, uint32_t end, bool oneLine,
                       F print) {
  uint32_t first = items.empty() ? end : items.front()->span.begin;
  std::vector<Doc> head;
  while (next < comments.size() && !comments[next].ownLine && comments[next].span.begin < first &&
         comments[next].span.begin >= begin) {
    head.push_back(comment(comments[next].text));
    ++next;
  }
  if (oneLine && head.empty()) {
    if (items.empty())
      return text("{}");
    std::vector<Doc> parts;
    for (const auto &one : items) {
      parts.push_back(line(parts.empty() ? " " : ";  "));
      parts.push_back(print(*one));
    }
    return group({text("{"), nest(2, concat(std::move(parts))), line(" "), text("}")});
  }
  std::vector<Doc> lines;
  for (size_t i = 0; i < items.size(); ++i)
    item(lines, *items[i], i + 1 < items.size() ? items[i + 1]->span.begin : end, [&] { return print(*items[i]); });
  ownLines(lines, end);
  if (lines.empty() && head.empty())
    return text("{}");
  std::vector<Doc> parts{text("{"), concat(std::move(head))};
  parts.push_back(nest(2, concat(std::move(lines))));
  parts.push_back(hardLine());
  parts.push_back(text("}"));
  return concat(std::move(parts));
}

} // namespace dyn::print
