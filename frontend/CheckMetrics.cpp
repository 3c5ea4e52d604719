//===- CheckMetrics.cpp - What a train expects is emitted -------*- C++ -*-===//

#include "frontend/CheckInternals.h"

#include <algorithm>
#include <set>

using namespace dyn;
using namespace dyn::ast;
using namespace dyn::checks;

namespace {

/// The metrics of one train, and the places that name some.
class MetricChecker {
public:
  MetricChecker(const World &world, const TrainDecl &train, DiagnosticEngine &diags)
      : world(world), train(train), diags(diags) {}

  void check() {
    collect();
    if (isOpen)
      return;
    walk(*train.body, [&](const Node &node) {
      if (auto *expect = dynCast<ExpectStmt>(&node))
        checkExpected(*expect->value);
      else if (auto *member = dynCast<MemberExpr>(&node))
        return !checkMember(*member);
      return true;
    });
  }

private:
  void add(const Node &node) {
    walk(node, [&](const Node &inner) {
      if (auto *emit = dynCast<EmitStmt>(&inner))
        for (const Named &metric : emit->values)
          metrics.insert(metric.name.text);
      return true;
    });
  }

  void addEval(const EvalClause &eval) {
    for (auto &item : eval.items)
      metrics.insert(eval.name ? eval.name.text + "." + item->name.text : item->name.text);
  }

  /// Everything that the train, its rules and the file's models and functions emit. A rule that comes as a
  /// hyperparameter may emit anything.
  void collect() {
    metrics = {"loss", "sent.bytes", "sent.messages"};
    for (const DeclPtr &decl : world.program().declarations)
      if (isa<ModelDecl>(decl.get()) || isa<FnDecl>(decl.get()))
        add(*decl);
    add(*train.body);
    walk(*train.body, [&](const Node &node) {
      if (auto *eval = dynCast<EvalClause>(&node))
        addEval(*eval);
      if (auto *loss = dynCast<LossClause>(&node); loss && loss->name)
        metrics.insert(loss->name.text);
      if (auto *rule = dynCast<RuleClause>(&node))
        addRule(*rule->value);
      return true;
    });
  }

  void addRule(const Expr &value) {
    const Decl *decl = world.root(value);
    if (!decl || !isa<RuleDecl>(decl)) {
      isOpen = true;
      return;
    }
    add(*decl);
    // Rules given to rules, as in `sam(base=adamw())`.
    walk(value, [&](const Node &node) {
      if (auto *name = dynCast<NameExpr>(&node))
        if (auto *inner = dynCast<RuleDecl>(world.find(name->name)))
          add(*inner);
      return true;
    });
  }

  bool isMetric(const std::vector<std::string> &path, size_t from) const {
    std::string text;
    for (size_t i = from; i < path.size(); ++i) {
      text += (i == from ? "" : ".") + path[i];
      if (metrics.count(text))
        return true;
    }
    return false;
  }

  void refuse(Span span, const std::vector<std::string> &path, size_t from) {
    std::string text;
    for (size_t i = from; i < path.size(); ++i)
      text += (i == from ? "" : ".") + path[i];
    auto message = diags.report(Diag::unknown_metric, span, text);
    std::vector<std::string> all(metrics.begin(), metrics.end());
    if (std::string near = nearest(text, all); !near.empty())
      message.help("write `" + near + "`");
    else
      message.help("add an `eval` or a `probe` that gives it");
  }

  /// `metric.x` anywhere in the train; true if that is what it is.
  bool checkMember(const MemberExpr &member) {
    std::vector<std::string> path = memberPath(member);
    if (path.empty() || path.front() != "metric")
      return false;
    if (!isMetric(path, 1))
      refuse(member.span, path, 1);
    return true;
  }

  bool isKnown(std::string_view name) const {
    static const std::set<std::string, std::less<>> axes = {"step", "epoch", "round", "example", "seed", "new",
                                                            "metric"};
    if (axes.count(name) || findBuiltin(name) || isBuiltinConstant(name) || isLaterBuiltin(name))
      return true;
    for (const Parameter &p : train.parameters.items)
      if (p.name.text == name)
        return true;
    bool isLocal = false;
    walk(*train.body, [&](const Node &node) {
      auto *let = dynCast<LetStmt>(&node);
      auto *fn = dynCast<FnStmt>(&node);
      isLocal |= (let && let->name.text == name) || (fn && fn->function->name.text == name);
      return !isLocal;
    });
    return isLocal;
  }

  void checkPath(const Expr &expr) {
    std::vector<std::string> path = memberPath(expr);
    if (path.empty() || isMetric(path, 0) || isKnown(path.front()))
      return;
    const Decl *decl = world.find(path.front());
    bool isValue = decl && (isa<FnDecl>(decl) || isa<ConstantDecl>(decl));
    if (!isValue)
      refuse(expr.span, path, 0);
  }

  void checkExpected(const Expr &expr) {
    if (auto *call = dynCast<CallExpr>(&expr)) {
      if (auto *method = dynCast<MemberExpr>(call->callee.get()))
        checkExpected(*method->base);
      for (const Argument &arg : call->args)
        if (arg.name.text != "over" && arg.name.text != "per")
          checkExpected(*arg.value);
      return;
    }
    if (isa<NameExpr>(&expr))
      return checkPath(expr);
    if (isa<MemberExpr>(&expr) && !memberPath(expr).empty())
      return checkPath(expr);
    if (isa<ClosureExpr>(&expr) || isa<ComprehensionExpr>(&expr) || isa<CollectExpr>(&expr))
      return; // they bind names of their own
    forEachChild(expr, [&](const Node &child) {
      if (auto *inner = dynCast<Expr>(&child))
        checkExpected(*inner);
    });
  }

  const World &world;
  const TrainDecl &train;
  DiagnosticEngine &diags;
  std::set<std::string> metrics;
  bool isOpen = false;
};

} // namespace

void dyn::checks::checkMetrics(const World &world, const TrainDecl &train, DiagnosticEngine &diags) {
  MetricChecker(world, train, diags).check();
}
