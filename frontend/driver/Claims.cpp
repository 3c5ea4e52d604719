#include "frontend/driver/Claims.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace dyn {
namespace {

class FormulaWriter {
public:
  FormulaWriter(const plan::Plan &plan, const std::vector<standalone::Hyperparameter> &hyperparameters)
      : plan(plan), hyperparameters(hyperparameters) {}

  /// Empty when the value needs more than a formula can say.
  std::string write(const ast::Expr &expr) {
    if (auto *number = ast::dynCast<ast::NumberExpr>(&expr))
      return literal(number->value);
    if (auto *group = ast::dynCast<ast::GroupExpr>(&expr))
      return group->isTuple() ? "" : write(*group->items.front());
    if (auto *unary = ast::dynCast<ast::UnaryExpr>(&expr))
      return apply(unary->op == ast::UnaryOp::Neg ? "neg" : "not", {unary->operand.get()});
    if (auto *binary = ast::dynCast<ast::BinaryExpr>(&expr))
      return binary->op == ast::BinaryOp::MatMul
                 ? ""
                 : apply(ast::spelling(binary->op), {binary->lhs.get(), binary->rhs.get()});
    if (auto *call = ast::dynCast<ast::CallExpr>(&expr)) {
      auto *callee = ast::dynCast<ast::NameExpr>(call->callee.get());
      if (callee && callee->name == "abs" && call->args.size() == 1 && !call->args.front().name)
        return apply("abs", {call->args.front().value.get()});
      return "";
    }
    return variable(pathOf(expr));
  }

private:
  static std::string literal(double value) {
    llvm::SmallString<32> text;
    llvm::raw_svector_ostream(text) << llvm::format("%.17g", value);
    return text.str().str();
  }
  std::string apply(std::string op, std::vector<const ast::Expr *> operands) {
    for (const ast::Expr *operand : operands) {
      std::string text = write(*operand);
      if (text.empty())
        return "";
      op += " " + text;
    }
    return op;
  }
  static std::string pathOf(const ast::Expr &expr) {
    if (auto *name = ast::dynCast<ast::NameExpr>(&expr))
      return name->name;
    auto *member = ast::dynCast<ast::MemberExpr>(&expr);
    std::string base = member ? pathOf(*member->base) : "";
    return base.empty() ? "" : base + "." + member->member.text;
  }
  std::string variable(const std::string &path) {
    auto metric = llvm::find_if(plan.metrics, [&](auto &each) { return each.name == path; });
    if (metric != plan.metrics.end())
      return metric->shape.empty() ? "$" + path : "";
    bool known = llvm::any_of(hyperparameters, [&](auto &each) { return each.name == path; });
    return known ? "$" + path : "";
  }

  const plan::Plan &plan;
  const std::vector<standalone::Hyperparameter> &hyperparameters;
};

} // namespace

std::vector<standalone::Claim> claimsOf(const std::vector<const ast::Expr *> &expects, const plan::Plan &plan,
                                        const std::vector<standalone::Hyperparameter> &hyperparameters) {
  std::vector<standalone::Claim> claims;
  for (const ast::Expr *expect : expects)
    claims.push_back({ast::print(*expect), FormulaWriter(plan, hyperparameters).write(*expect)});
  return claims;
}

} // namespace dyn
