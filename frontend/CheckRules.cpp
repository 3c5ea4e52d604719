//===- CheckRules.cpp - Rules do what their kind must -----------*- C++ -*-===//
//
// By the rows of RuleKinds.def. Which names a rule may read and write is CheckNames' question.
//
//===----------------------------------------------------------------------===//

#include "frontend/CheckInternals.h"

#include <set>

using namespace dyn;
using namespace dyn::ast;
using namespace dyn::checks;

namespace {

/// What stands around a statement.
struct Around {
  const Decl *decl = nullptr;
  bool inFunction = false;   ///< a function inside the declaration, or a top one
  bool inCollection = false; ///< the innermost loop is a collecting `for`
  bool inLoop = false;       ///< passes of one loop, in one function or model
  bool inStep = false;       ///< `step { }`
  bool inEvent = false;      ///< `when`, `at`
  bool isClause = false;     ///< stands among the clauses of a train
};

/// Whether statements stand where they mean something.
class PlaceChecker {
public:
  explicit PlaceChecker(DiagnosticEngine &diags) : diags(diags) {}

  void visit(const Node &node, Around around) {
    if (auto *stmt = dynCast<Stmt>(&node))
      check(*stmt, around);
    around.isClause = isa<StmtClause>(&node);
    switch (node.kind) {
    case Kind::FnDecl:
      around.inFunction = true;
      around.inCollection = around.inLoop = false;
      break;
    case Kind::StepClause:
      around.inStep = true;
      break;
    case Kind::WhenClause:
    case Kind::AtClause:
      around.inEvent = true;
      break;
    case Kind::CollectExpr:
      around.inCollection = around.inLoop = true;
      break;
    case Kind::ForStmt:
    case Kind::WhileStmt:
    case Kind::RepeatStmt:
      around.inCollection = false;
      around.inLoop = true;
      break;
    default:
      break;
    }
    forEachChild(node, [&](const Node &child) { visit(child, around); });
  }

private:
  void refuse(const Stmt &stmt, const char *word, const char *places, const char *help = "") {
    auto message = diags.report(Diag::misplaced, stmt.span, word, places);
    if (*help)
      message.help(help);
  }

  static const RuleDecl *rule(const Around &around) { return dynCast<RuleDecl>(around.decl); }
  static bool isRule(const Around &around, std::initializer_list<RuleKind> kinds) {
    for (RuleKind kind : kinds)
      if (rule(around) && rule(around)->rule == kind)
        return true;
    return false;
  }

  void checkReturn(const Stmt &stmt, const Around &around) {
    if (around.inFunction || isa<ModelDecl>(around.decl))
      return;
    if (!rule(around))
      return refuse(stmt, "return", "a function, a model or a rule that returns a value");
    auto &info = ruleKindInfo(rule(around)->rule);
    if (info.must == RuleMust::Return)
      return;
    std::string writes = info.mustWrite.empty() ? "nothing" : listed(info.mustWrite);
    if (info.must == RuleMust::Emit)
      diags.report(Diag::misplaced, stmt.span, "return", "a function, a model or a rule that returns a value")
          .help("a probe reports: `emit name = …`");
    else
      diags.report(Diag::unexpected_return, stmt.span, withArticle(spelling(rule(around)->rule)), writes)
          .help("write `" + (info.mustWrite.empty() ? std::string("send") : info.mustWrite.front()) + " <- …`");
  }

  void check(const Stmt &stmt, const Around &around) {
    bool isTrain = isa<TrainDecl>(around.decl), isExperiment = isa<ExperimentDecl>(around.decl);
    switch (stmt.kind) {
    case Kind::ReturnStmt:
      return checkReturn(stmt, around);
    case Kind::YieldStmt:
      if (!around.inCollection)
        refuse(stmt, "yield", "a `for` whose values are collected", "write `xs = for … { …; yield … }`");
      return;
    case Kind::RunStmt:
      if (!isExperiment)
        refuse(stmt, cast<RunStmt>(&stmt)->sweep ? "sweep" : "run", "an experiment");
      return;
    case Kind::PlotStmt:
      if (!isExperiment)
        refuse(stmt, "plot", "an experiment");
      return;
    case Kind::ExpectStmt:
      if (!isExperiment && !around.isClause)
        refuse(stmt, "expect", "a train or an experiment");
      return;
    case Kind::SeedStmt:
      if (!isExperiment && !around.isClause)
        refuse(stmt, "seed", "a train or an experiment");
      return;
    case Kind::MinimizeStmt:
      if (!around.inStep && !around.inEvent)
        refuse(stmt, "minimize", "the `step` of a train");
      return;
    case Kind::RestoreStmt:
      if (!around.inEvent)
        refuse(stmt, "restore", "a `when` or an `at` of a train");
      return;
    case Kind::LeafStmt:
      if (around.inFunction || !(isa<ModelDecl>(around.decl) || isTrain))
        refuse(stmt, cast<LeafStmt>(&stmt)->frozen ? "frozen" : "param", "a model or a train");
      else if (around.inLoop)
        diags.report(Diag::param_in_loop, stmt.span, cast<LeafStmt>(&stmt)->name.text)
            .help("declare it before the loop, or in a model that the loop makes");
      return;
    case Kind::StateStmt:
      if (around.inFunction || isExperiment)
        refuse(stmt, "state", "a model, a rule, an env or a train");
      return;
    case Kind::SendStmt:
      if (!isRule(around, {RuleKind::Compressor, RuleKind::Federated, RuleKind::Decentral, RuleKind::Aggregator}))
        refuse(stmt, "send", "a compressor, an aggregator, a federated or a decentral rule");
      return;
    case Kind::SideStmt:
      if (!isRule(around, {RuleKind::Federated, RuleKind::Decentral}))
        refuse(stmt, spelling(cast<SideStmt>(&stmt)->side), "a federated or a decentral rule");
      return;
    default:
      return;
    }
  }

  DiagnosticEngine &diags;
};

/// What a rule does, wherever in it.
struct Deeds {
  std::set<std::string> writes;
  bool returns = false, emits = false, sends = false;

  explicit Deeds(const RuleDecl &rule);
  bool meets(const RuleKindInfo &info) const;
};

class RuleChecker {
public:
  explicit RuleChecker(DiagnosticEngine &diags) : diags(diags) {}

  void check(const RuleDecl &rule) {
    auto &info = ruleKindInfo(rule.rule);
    checkHeads(rule, info);
    if (info.allowsHead("bounds"))
      checkBound(rule);
    checkDeeds(rule, info, Deeds(rule));
    if (rule.body.block) {
      emits(*rule.body.block, {});
      if (rule.rule == RuleKind::Optimizer)
        checkServed(*rule.body.block);
    }
    for (const Parameter &parameter : rule.parameters.items)
      checkApplied(rule, parameter);
  }

private:
  using Emitted = std::map<std::string, Span>;

  void checkHeads(const RuleDecl &rule, const RuleKindInfo &info) {
    auto head = [&](bool given, const char *word, Span span) {
      if (given && !info.allowsHead(word))
        diags.report(Diag::head_not_allowed, span, word, withArticle(spelling(rule.rule)))
            .help(info.heads.empty() ? "leave it out"
                                     : withArticle(spelling(rule.rule)) + " may say " + listed(info.heads));
    };
    head(rule.bounds != nullptr, "bounds", rule.bounds ? rule.bounds->span : Span());
    head(bool(rule.per), "per", rule.per.span);
    head(bool(rule.over), "over", rule.over.span);
    head(rule.on != nullptr, "on", rule.on ? rule.on->span : Span());
    if (rule.rule == RuleKind::Privacy && !rule.per)
      diags.report(Diag::head_missing, rule.name.span, spelling(rule.rule), rule.name.text, "per")
          .help("say what is private: `per example` or `per client`");
    if (rule.rule == RuleKind::Sampler && !rule.over)
      diags.report(Diag::head_missing, rule.name.span, spelling(rule.rule), rule.name.text, "over")
          .help("say what is sampled: `over example` or `over domain`");
  }

  /// What a rule serves is no memory: it is read behind the write of the same pass only.
  void checkServed(const Block &block) {
    bool isWritten = false;
    walk(block, [&](const Node &node) {
      if (auto *write = dynCast<WriteStmt>(&node)) {
        checkServedIn(*write->value, isWritten);
        const NameExpr *root = rootName(*write->target);
        isWritten |= root && root->name == "served";
        return false;
      }
      if (auto *name = dynCast<NameExpr>(&node))
        checkServedIn(*name, isWritten);
      return true;
    });
  }

  void checkServedIn(const Node &value, bool isWritten) {
    walk(value, [&](const Node &node) {
      if (auto *name = dynCast<NameExpr>(&node); name && name->name == "served" && !isWritten)
        diags.report(Diag::served_early, name->span).help("keep what the next step needs in a `state`, and serve that");
      return true;
    });
  }

  /// A rule that is held is called, or passed to who calls it; reading its numbers alone leaves it idle.
  void checkApplied(const RuleDecl &rule, const Parameter &parameter) {
    auto *type = dynCast<NamedType>(parameter.type.get());
    const char *call = !type                            ? nullptr
                       : type->name.text == "optimizer" ? "(params, grads)"
                       : type->name.text == "clip"      ? "(grads)"
                       : type->name.text == "schedule"  ? "(t)"
                                                        : nullptr;
    if (!call)
      return;
    bool isRead = false, isApplied = false;
    std::set<const Node *> numbers, callees; // a member that is called and unknown is told at its place, by the elaborator
    walk(rule.body.block ? static_cast<const Node &>(*rule.body.block) : *rule.body.value, [&](const Node &node) {
      if (auto *call = dynCast<CallExpr>(&node))
        callees.insert(call->callee.get());
      if (auto *member = dynCast<MemberExpr>(&node); member && member->member.text != "delta" && !callees.count(member))
        numbers.insert(member->base.get());
      auto *name = dynCast<NameExpr>(&node);
      if (!name || name->name != parameter.name.text)
        return true;
      isRead = true;
      isApplied |= !numbers.count(name);
      return true;
    });
    if (isRead && !isApplied)
      diags.report(Diag::never_applied, parameter.name.span, parameter.name.text)
          .help("call it: `" + parameter.name.text + call + "`");
  }

  /// A bound says that something is at most something.
  void checkBound(const RuleDecl &rule) {
    auto *compare = dynCast<BinaryExpr>(rule.bounds.get());
    if (rule.bounds && (!compare || (compare->op != BinaryOp::Le && compare->op != BinaryOp::Lt)))
      diags.report(Diag::bound_form, rule.bounds->span).help("write `bounds norm(grads) <= bound`");
  }

  void checkDeeds(const RuleDecl &rule, const RuleKindInfo &info, const Deeds &deeds) {
    if (deeds.meets(info))
      return;
    const char *kind = spelling(rule.rule);
    if (!info.mustWrite.empty())
      diags.report(Diag::must_write, rule.name.span, kind, rule.name.text, listed(info.mustWrite))
          .help("write `" + info.mustWrite.front() + " <- …`");
    else if (info.must == RuleMust::Return)
      diags.report(Diag::must_return, rule.name.span, kind, rule.name.text).help("end with `return …`");
    else if (info.must == RuleMust::Emit)
      diags.report(Diag::must_emit, rule.name.span, rule.name.text).help("add `emit " + rule.name.text + " = …`");
    else
      diags.report(Diag::must_send, rule.name.span, rule.name.text).help("end with `send …`");
  }

  /// Names emitted by a block after those in `seen`; two branches may emit the same name, one path may not.
  Emitted emits(const Block &block, Emitted seen) {
    for (auto &stmt : block.statements)
      emitsOf(*stmt, seen);
    return seen;
  }

  void emitsOf(const Stmt &stmt, Emitted &seen) {
    if (auto *emit = dynCast<EmitStmt>(&stmt)) {
      for (const Named &metric : emit->values) {
        auto [first, isNew] = seen.emplace(metric.name.text, metric.name.span);
        if (!isNew)
          diags.report(Diag::emitted_twice, metric.name.span, metric.name.text)
              .note(first->second, "`" + metric.name.text + "` is emitted here first")
              .help("give one of them another name");
      }
      return;
    }
    if (auto *condition = dynCast<IfStmt>(&stmt)) {
      Emitted then = emits(*condition->thenBlock, seen);
      if (condition->elseBlock)
        seen = emits(*condition->elseBlock, seen);
      else if (condition->elseIf)
        emitsOf(*condition->elseIf, seen);
      seen.merge(then);
      return;
    }
    forEachChild(stmt, [&](const Node &child) {
      if (auto *block = dynCast<Block>(&child))
        seen = emits(*block, std::move(seen));
    });
  }

  DiagnosticEngine &diags;
};

} // namespace

Deeds::Deeds(const RuleDecl &rule) : returns(rule.body.value != nullptr) {
  walk(rule, [&](const Node &node) {
    if (auto *write = dynCast<WriteStmt>(&node)) {
      if (auto *root = rootName(*write->target))
        writes.insert(root->name);
    }
    returns |= isa<ReturnStmt>(&node);
    emits |= isa<EmitStmt>(&node);
    sends |= isa<SendStmt>(&node);
    return node.kind != Kind::FnStmt;
  });
}

bool Deeds::meets(const RuleKindInfo &info) const {
  bool isWritten = info.mustWrite.empty();
  for (const std::string &name : info.mustWrite)
    isWritten |= writes.count(name) != 0;
  switch (info.must) {
  case RuleMust::Return:
    return isWritten && returns;
  case RuleMust::Emit:
    return isWritten && emits;
  case RuleMust::Send:
    return isWritten && sends;
  case RuleMust::Nothing:
    return isWritten;
  }
  return isWritten;
}

bool dyn::checks::meetsDuty(const RuleDecl &rule) { return Deeds(rule).meets(ruleKindInfo(rule.rule)); }

void dyn::checkRules(const Program &program, DiagnosticEngine &diags) {
  for (const DeclPtr &decl : program.declarations) {
    Around around;
    around.decl = decl.get();
    PlaceChecker(diags).visit(*decl, around);
    if (auto *rule = dynCast<RuleDecl>(decl.get()))
      RuleChecker(diags).check(*rule);
  }
}
