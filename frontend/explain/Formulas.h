//===- Formulas.h - Expressions as mathematics ------------------*- C++ -*-===//

#pragma once

#include "frontend/Ast.h"
#include "frontend/explain/Notation.h"

#include <map>

namespace dyn::explain {

/// Writes expressions in a notation. Brackets of the source stay, but where the notation says the same without them.
class Formulas {
public:
  /// `symbols`: names that stand for something else in this rule, such as g for `grad`.
  Formulas(const Notation &notation, std::map<std::string, std::string, std::less<>> symbols)
      : notation(notation), symbols(std::move(symbols)) {}

  Formula of(const ast::Expr &expr) const;
  /// Without brackets around all of it.
  Formula inside(const ast::Expr &expr) const;
  std::string variable(const std::string &name) const;
  std::string type(const ast::Type &type) const;

private:
  Formula literal(const ast::Expr &expr) const;
  Formula unary(const ast::UnaryExpr &expr) const;
  Formula binary(const ast::BinaryExpr &expr) const;
  Formula chain(const ast::BinaryExpr &expr) const;
  Formula factor(const Formula &before, ast::BinaryOp op, const ast::Expr &next, bool isDivided) const;
  Formula member(const ast::MemberExpr &expr) const;
  Formula call(const ast::CallExpr &expr) const;
  Formula derivative(const ast::CallExpr &expr) const;
  Formula named(const ast::CallExpr &expr, const std::string &function) const;
  Formula listed(const ast::Expr &expr) const;
  std::string listOf(const std::vector<ast::ExprPtr> &items) const;

  const Notation &notation;
  std::map<std::string, std::string, std::less<>> symbols;
};

/// A value without the brackets around it.
const ast::Expr &withoutBrackets(const ast::Expr &expr);

} // namespace dyn::explain
