//===- CheckSupported.cpp - What this release has not -----------*- C++ -*-===//
//
// The grammar reads the whole language. What is not built yet is refused here by name, so that nothing behind has to
// ask. Whoever builds something takes its line away.
//
//===----------------------------------------------------------------------===//

#include "frontend/CheckInternals.h"

using namespace dyn;
using namespace dyn::ast;
using namespace dyn::checks;

namespace {

/// How a refused construct is called, and the near way if there is one.
struct Refused {
  Kind kind;
  const char *what;
  const char *help;
};

/// Constructs that are refused wherever they stand.
const Refused table[] = {
    {Kind::EnvDecl, "`env` is", ""},
    {Kind::ModulePattern, "`on module` is", "write `on [m, n]` or `on \"net.dense.*\"`"},
    {Kind::SendStmt, "`send` is", ""},
    {Kind::MinimizeStmt, "`minimize` is", "give the train a `loss` and an `optimizer`"},
    {Kind::RestoreStmt, "`restore` is", ""},
    {Kind::PlotStmt, "`plot` is", ""},
    {Kind::ParticipationClause, "`participation` is", ""},
    {Kind::ClientsClause, "`clients` is", ""},
    {Kind::SharedClause, "`shared` is", ""},
    {Kind::PhaseClause, "`phase` is", "write one train a phase"},
    {Kind::WhenClause, "`when` is", ""},
    {Kind::AtClause, "`at` as a clause is", ""},
    {Kind::StepClause, "a train's own `step` is", "write an optimizer and a `loss`"},
};

class SupportChecker {
public:
  SupportChecker(const World &world, DiagnosticEngine &diags) : world(world), diags(diags) {}

  void visit(const Node &node) {
    if (!refuses(node))
      forEachChild(node, [&](const Node &child) { visit(child); });
  }

private:
  bool refuse(Span span, const std::string &what, const std::string &help = "") {
    auto message = diags.report(Diag::not_supported, span, what);
    if (!help.empty())
      message.help(help);
    return true;
  }
  bool refuseWord(Span span, const std::string &word, const std::string &help = "") {
    return refuse(span, "`" + word + "` is", help);
  }

  bool refuses(const Node &node) {
    for (const Refused &row : table)
      if (row.kind == node.kind)
        return refuse(node.span, row.what, row.help);
    if (auto *decl = dynCast<Decl>(&node))
      return declaration(*decl);
    if (auto *clause = dynCast<Clause>(&node))
      return this->clause(*clause);
    if (auto *stmt = dynCast<Stmt>(&node))
      return statement(*stmt);
    if (auto *expr = dynCast<Expr>(&node))
      return expression(*expr);
    if (auto *type = dynCast<NamedType>(&node))
      return elementType(*type);
    if (auto *item = dynCast<EvalItem>(&node)) {
      if (item->each)
        return refuseWord(node.span, "each", "an item is averaged over the examples without it");
      return item->by && refuseWord(item->by->span, "by");
    }
    return false;
  }

  /// Types of one width: the run has one float and one whole number.
  bool elementType(const NamedType &type) {
    for (const char *word : {"f16", "bf16", "f32", "f64"})
      if (type.name.text == word)
        return refuse(type.span, "the type `" + type.name.text + "` is",
                      "write `real`; `precision` in the train says how wide it is");
    for (const char *word : {"i32", "u8"})
      if (type.name.text == word)
        return refuse(type.span, "the type `" + type.name.text + "` is", "write `int`");
    return false;
  }

  //===--------------------------------------------------------------------===//
  // Declarations
  //===--------------------------------------------------------------------===//

  void live(const Parameters &parameters) {
    for (const Parameter &p : parameters.items)
      if (p.live)
        refuseWord(p.span, "live", "leave `live` out");
  }

  bool source(const DataDecl &data) {
    const NameExpr *root = data.source ? rootName(*data.source) : nullptr;
    std::optional<bool> known = root && !world.find(root->name) ? dataSource(root->name) : std::nullopt;
    return known && !*known &&
           refuse(root->span, "the source `" + root->name + "` is", "there are " + supportedSources());
  }

  bool rule(const RuleDecl &rule) {
    if (!ruleKindInfo(rule.rule).supported)
      return refuseWord(rule.name.span, spelling(rule.rule));
    bool isForSome = rule.rule == RuleKind::Optimizer || rule.rule == RuleKind::Clip;
    if (rule.on && !isForSome && ruleKindInfo(rule.rule).allowsHead("on"))
      return refuse(rule.on->span, "`on` at " + withArticle(spelling(rule.rule)) + " is");
    return false;
  }

  bool declaration(const Decl &decl) {
    if (const Parameters *parameters = callParameters(decl))
      live(*parameters);
    if (auto *data = dynCast<DataDecl>(&decl))
      return source(*data);
    auto *rule = dynCast<RuleDecl>(&decl);
    return rule && this->rule(*rule);
  }

  //===--------------------------------------------------------------------===//
  // Clauses
  //===--------------------------------------------------------------------===//

  bool sourceOptions(const std::vector<SourceOption> &options) {
    for (const SourceOption &option : options) {
      if (option.form == SourceOption::Form::Poisson)
        return refuseWord(option.span, "poisson", "write `shuffle`");
      if (option.upto)
        return refuseWord(option.upto->span, "upto", "give the batch one size");
    }
    return false;
  }

  bool dataClause(const DataClause &clause) {
    if (clause.sources.size() > 1)
      return refuse(clause.sources[1].span, "a second data source is");
    if (clause.sources[0].name)
      return refuse(clause.sources[0].name.span, "a name for the data is", "leave the name out");
    return sourceOptions(clause.sources[0].options);
  }

  bool modelClause(const ModelClause &clause) {
    for (const Instance &instance : clause.instances) {
      if (instance.from)
        return refuseWord(instance.from->span, "from");
      if (instance.clients)
        return refuseWord(instance.clients->span, "for clients");
    }
    return false;
  }

  bool ruleClause(const RuleClause &clause) {
    if (!ruleKindInfo(clause.rule).supported)
      return refuseWord(clause.span, spelling(clause.rule));
    for (const RuleOption &option : clause.options) {
      bool isProbe = clause.rule == RuleKind::Probe;
      switch (option.form) {
      case RuleOption::Form::OnClients:
        return refuseWord(option.span, "on … clients");
      case RuleOption::Form::Per:
        return refuseWord(option.span, "per");
      case RuleOption::Form::Timing:
        if (!isProbe)
          return refuse(option.span, "a timing of " + withArticle(spelling(clause.rule)) + " is");
        break;
      case RuleOption::Form::On:
        if (auto *reference = dynCast<ReferencePattern>(option.pattern.get()))
          return refuse(option.span, "a model's name behind `on` is",
                        "write `on \"" + print(*reference->reference) + ".*\"`");
        [[fallthrough]];
      default:
        if (clause.rule != RuleKind::Optimizer && clause.rule != RuleKind::Clip)
          return refuse(option.span, "a pattern at " + withArticle(spelling(clause.rule)) + " is");
      }
    }
    return false;
  }

  bool evalClause(const EvalClause &clause) {
    for (const EvalOption &option : clause.options)
      if (option.form != EvalOption::Form::Timing)
        return refuseWord(option.span, option.form == EvalOption::Form::Per ? "per" : "partition");
    return false;
  }

  bool settingClause(const SettingClause &clause) {
    if (clause.setting >= Setting::Arrival || clause.setting == Setting::Rounds)
      return refuseWord(clause.span, spelling(clause.setting));
    auto *name = dynCast<NameExpr>(clause.value.get());
    bool isHalf = clause.setting == Setting::Precision && name && (name->name == "bf16" || name->name == "f16");
    return isHalf && refuseWord(clause.span, "precision " + name->name, "write `precision f32`");
  }

  bool statementClause(const Stmt &stmt) {
    switch (stmt.kind) {
    case Kind::LeafStmt:
      return refuse(stmt.span, "`param` among clauses is", "put it in a model");
    case Kind::StateStmt:
      return refuse(stmt.span, "`state` among clauses is", "put it in the rule that writes it");
    case Kind::EmitStmt:
      return refuse(stmt.span, "`emit` among clauses is", "put it in a probe");
    case Kind::DrawStmt:
      return refuse(stmt.span, "a draw among clauses is", "put it in the data or the model");
    default:
      return false;
    }
  }

  bool clause(const Clause &clause) {
    switch (clause.kind) {
    case Kind::DataClause:
      return dataClause(*cast<DataClause>(&clause));
    case Kind::ModelClause:
      return modelClause(*cast<ModelClause>(&clause));
    case Kind::LossClause: {
      auto &loss = *cast<LossClause>(&clause);
      return loss.name && refuse(loss.name.span, "a named loss is", "write one `loss` without a name");
    }
    case Kind::RuleClause:
      return ruleClause(*cast<RuleClause>(&clause));
    case Kind::EvalClause:
      return evalClause(*cast<EvalClause>(&clause));
    case Kind::SettingClause:
      return settingClause(*cast<SettingClause>(&clause));
    case Kind::StmtClause:
      return statementClause(*cast<StmtClause>(&clause)->statement);
    default:
      return false;
    }
  }

  //===--------------------------------------------------------------------===//
  // Statements and values
  //===--------------------------------------------------------------------===//

  bool runStatement(const RunStmt &run) {
    for (const Change &change : run.variant.changes) {
      if (!change.removed.empty())
        return refuseWord(change.span, "without");
      for (const ChangePart &part : change.parts)
        if (sourceOptions(part.sourceOptions))
          return true;
    }
    return false;
  }

  /// A function inside a block gives a value; what has an effect stands in the block itself.
  bool localFunction(const FnDecl &fn) {
    bool isRefused = false;
    walk(fn.body.block ? static_cast<const Node &>(*fn.body.block) : *fn.body.value, [&](const Node &node) {
      if (!isRefused && (isa<WriteStmt>(&node) || isa<EmitStmt>(&node)))
        isRefused = refuse(node.span, std::string(isa<EmitStmt>(&node) ? "`emit`" : "`<-`") + " in a function inside a block is",
                           "return the value, and write it in the block");
      return !isRefused;
    });
    return isRefused;
  }

  bool statement(const Stmt &stmt) {
    if (auto *run = dynCast<RunStmt>(&stmt))
      return runStatement(*run);
    if (auto *side = dynCast<SideStmt>(&stmt))
      return refuseWord(side->span, spelling(side->side));
    if (auto *fn = dynCast<FnStmt>(&stmt))
      return localFunction(*fn->function);
    auto *state = dynCast<StateStmt>(&stmt);
    return state && state->axis && state->axis.text != "leaf" &&
           refuseWord(state->span, state->axis.text + " state");
  }

  bool expression(const Expr &expr) {
    auto *call = dynCast<CallExpr>(&expr);
    if (!call)
      return false;
    auto *callee = dynCast<NameExpr>(call->callee.get());
    if (callee && isLaterBuiltin(callee->name) && !world.find(callee->name))
      return refuseWord(callee->span, callee->name);
    return false;
  }

  const World &world;
  DiagnosticEngine &diags;
};

} // namespace

void dyn::checkSupported(const Program &program, const Library &library, DiagnosticEngine &diags) {
  const World world(program, library);
  SupportChecker checker(world, diags);
  for (const DeclPtr &decl : program.declarations)
    checker.visit(*decl);
}
