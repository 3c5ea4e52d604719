//===- CheckTrains.cpp - Clauses of trains ----------------------*- C++ -*-===//

#include "frontend/CheckInternals.h"

#include <algorithm>
#include <set>

using namespace dyn;
using namespace dyn::ast;
using namespace dyn::checks;

namespace {

/// Clauses of one kind: how many a train has anywhere, and the first.
struct Found {
  int count = 0;
  const Clause *first = nullptr;

  void add(const Clause &clause) {
    if (!count++)
      first = &clause;
  }
  explicit operator bool() const { return count != 0; }
};

class TrainChecker {
public:
  TrainChecker(const World &world, const TrainDecl &train, DiagnosticEngine &diags)
      : world(world), train(train), diags(diags) {}

  void check() {
    survey(*train.body);
    checkNeeds();
    checkBlock(*train.body, {});
    Flow flow;
    checkOrder(*train.body, flow);
    checkClocks();
  }

private:
  using Seen = std::map<std::string, Span>;

  // What there is.
  void survey(const ClauseBlock &block);
  // What is missing.
  void checkNeeds();
  void checkClocks();
  // What stands wrong.
  void checkBlock(const ClauseBlock &block, Seen seen);
  void checkRepeated(const Clause &clause, Seen &seen);
  void repeated(Seen &seen, const std::string &word, Span span);
  void checkLengths(const ClauseBlock &block);
  /// The first clause of each sort that the flow has met.
  struct Flow {
    const Clause *loss = nullptr, *optimizer = nullptr;
    const Clause *passes = nullptr; ///< works on the gradient on its way
    const Clause *looks = nullptr;  ///< looks at the result
    const char *word = "";          ///< of `looks`

    void add(const Clause &clause);
    void join(const Flow &other);
  };
  void checkOrder(const ClauseBlock &block, Flow &flow);
  void checkPlace(const Clause &clause, const Flow &flow);
  void outOfOrder(const Clause &clause, const char *word, const char *where, const char *why, const Clause &other);
  void checkOwners(const ClauseBlock &block);
  void checkClause(const Clause &clause);
  void checkData(const DataClause &clause);
  void checkKind(const Expr &value, const char *expected, bool fits);
  void checkSetting(const SettingClause &clause);
  bool isOwnName(std::string_view name) const;

  const World &world;
  const TrainDecl &train;
  DiagnosticEngine &diags;
  Found models, params, data, losses, steps, estimators, optimizers, federated, phases;
  Found lengths[3]; ///< epochs, steps, rounds
};

} // namespace

//===----------------------------------------------------------------------===//
// What a train needs
//===----------------------------------------------------------------------===//

void TrainChecker::survey(const ClauseBlock &block) {
  for (auto &clause : block.clauses) {
    switch (clause->kind) {
    case Kind::ModelClause:
      models.add(*clause);
      break;
    case Kind::DataClause:
      data.add(*clause);
      break;
    case Kind::LossClause:
      losses.add(*clause);
      break;
    case Kind::StepClause:
      steps.add(*clause);
      break;
    case Kind::RuleClause: {
      RuleKind kind = cast<RuleClause>(clause.get())->rule;
      if (kind == RuleKind::Optimizer)
        optimizers.add(*clause);
      else if (kind == RuleKind::Estimator)
        estimators.add(*clause);
      else if (kind == RuleKind::Federated || kind == RuleKind::Decentral)
        federated.add(*clause);
      break;
    }
    case Kind::SettingClause: {
      auto setting = cast<SettingClause>(clause.get())->setting;
      if (setting <= Setting::Rounds)
        lengths[static_cast<size_t>(setting)].add(*clause);
      break;
    }
    case Kind::StmtClause:
      if (isa<LeafStmt>(cast<StmtClause>(clause.get())->statement.get()))
        params.add(*clause);
      break;
    case Kind::PhaseClause:
      phases.add(*clause);
      survey(*cast<PhaseClause>(clause.get())->body);
      break;
    case Kind::IfClause: {
      auto &branch = *cast<IfClause>(clause.get());
      survey(*branch.thenClauses);
      if (branch.elseClauses)
        survey(*branch.elseClauses);
      break;
    }
    default:
      break;
    }
  }
}

void TrainChecker::checkNeeds() {
  const std::string &name = train.name.text;
  if (!models && !params) {
    diags.report(Diag::nothing_to_train, train.name.span, name).help("add `model net = …`");
    return; // the rest would follow from it
  }
  if (!losses && !steps && !estimators)
    diags.report(Diag::no_objective, train.name.span, name).help("add `loss …`");
  if (!optimizers && !steps && !federated)
    diags.report(Diag::no_optimizer, train.name.span, name).help("add `optimizer adamw()`");
  if (!lengths[0] && !lengths[1] && !lengths[2] && !phases)
    diags.report(Diag::no_length, train.name.span, name)
        .help(data ? "add `epochs 10` or `steps 1_000`" : "add `steps 1_000`");
  if (lengths[0] && !data)
    diags.report(Diag::epochs_without_data, lengths[0].first->span, "epochs", name).help("write `steps 1_000`");
}

/// `every 5 epochs` needs data, `every round` needs rounds.
void TrainChecker::checkClocks() {
  auto timing = [&](const Timing &timing) {
    if (!timing.span.isValid() || timing.form != Timing::Form::Every)
      return;
    std::string word = std::string("every ") + (timing.value ? "… " : "") + clockName(timing.clock, timing.plural);
    if (timing.clock == Clock::Epoch && !data)
      diags.report(Diag::epochs_without_data, timing.span, word, train.name.text).help("write `every 100 steps`");
    else if (timing.clock == Clock::Round && !lengths[2] && (lengths[0] || lengths[1]))
      diags.report(Diag::clocks_mixed, timing.span, word, "rounds", lengths[0] ? "epochs" : "steps")
          .help(lengths[0] ? "write `every epoch`" : "write `every 100 steps`");
  };
  walk(*train.body, [&](const Node &node) {
    if (auto *rule = dynCast<RuleClause>(&node))
      for (const RuleOption &option : rule->options)
        if (option.form == RuleOption::Form::Timing)
          timing(option.timing);
    if (auto *eval = dynCast<EvalClause>(&node))
      for (const EvalOption &option : eval->options)
        if (option.form == EvalOption::Form::Timing)
          timing(option.timing);
    if (auto *checkpoint = dynCast<CheckpointClause>(&node))
      timing(checkpoint->timing);
    return !isa<Expr>(&node);
  });
}

//===----------------------------------------------------------------------===//
// What stands twice, or in the wrong place
//===----------------------------------------------------------------------===//

void TrainChecker::repeated(Seen &seen, const std::string &word, Span span) {
  auto [first, isNew] = seen.emplace(word, span);
  if (!isNew)
    diags.report(Diag::repeated_clause, span, word)
        .note(first->second, "`" + word + "` stands here first")
        .help("leave one of them out");
}

void TrainChecker::checkRepeated(const Clause &clause, Seen &seen) {
  if (auto *setting = dynCast<SettingClause>(&clause))
    return repeated(seen, spelling(setting->setting), clause.span);
  if (auto *stmt = dynCast<StmtClause>(&clause); stmt && isa<SeedStmt>(stmt->statement.get()))
    return repeated(seen, "seed", clause.span);
  if (auto *loss = dynCast<LossClause>(&clause))
    return repeated(seen, loss->name ? "loss " + loss->name.text : "loss", clause.span);
  if (auto *eval = dynCast<EvalClause>(&clause); eval && eval->name)
    return repeated(seen, "eval " + eval->name.text, clause.span);
  if (isa<StepClause>(&clause))
    return repeated(seen, "step", clause.span);
  if (isa<DataClause>(&clause))
    return repeated(seen, "data", clause.span);
  if (auto *model = dynCast<ModelClause>(&clause)) {
    for (const Instance &instance : model->instances)
      if (!instance.clients && !instance.from)
        repeated(seen, "model " + instance.name.text, instance.name.span);
    return;
  }
  auto *rule = dynCast<RuleClause>(&clause);
  if (!rule)
    return;
  std::string kind = spelling(rule->rule);
  if (rule->name)
    return repeated(seen, kind + " " + rule->name.text, clause.span);
  bool isSingle = rule->rule == RuleKind::Estimator || rule->rule == RuleKind::Combiner ||
                  rule->rule == RuleKind::Aggregator || rule->rule == RuleKind::Federated ||
                  rule->rule == RuleKind::Decentral || rule->rule == RuleKind::Sampler;
  if (isSingle)
    repeated(seen, kind, clause.span);
}

void TrainChecker::checkLengths(const ClauseBlock &block) {
  const SettingClause *first = nullptr;
  for (auto &clause : block.clauses) {
    auto *setting = dynCast<SettingClause>(clause.get());
    if (!setting || setting->setting > Setting::Rounds)
      continue;
    if (first && first->setting != setting->setting)
      diags.report(Diag::two_lengths, setting->span, spelling(first->setting), spelling(setting->setting))
          .note(first->span, "`" + std::string(spelling(first->setting)) + "` stands here")
          .help("leave one of them out");
    first = first ? first : setting;
  }
}

void TrainChecker::outOfOrder(const Clause &clause, const char *word, const char *where, const char *why,
                              const Clause &other) {
  diags.report(Diag::wrong_order, clause.span, word, where, why)
      .note(other.span, "that clause stands here")
      .help(std::string("written order is flow order: move one of them"));
}

static bool isRule(const Clause &clause, std::initializer_list<RuleKind> kinds) {
  auto *rule = dynCast<RuleClause>(&clause);
  return rule && std::find(kinds.begin(), kinds.end(), rule->rule) != kinds.end();
}

/// Data feeds the loss, its gradient the clips, those the optimizers, and what looks at the result comes last. `flow`
/// holds what went before; a branch goes on from there, and what follows comes after both sides.
void TrainChecker::checkOrder(const ClauseBlock &block, Flow &flow) {
  for (auto &clause : block.clauses) {
    if (auto *branch = dynCast<IfClause>(clause.get())) {
      Flow other = flow;
      checkOrder(*branch->thenClauses, flow);
      if (branch->elseClauses)
        checkOrder(*branch->elseClauses, other);
      flow.join(other);
      continue;
    }
    checkPlace(*clause, flow);
    flow.add(*clause);
  }
}

void TrainChecker::checkPlace(const Clause &clause, const Flow &flow) {
  if (isa<DataClause>(&clause) && flow.loss)
    outOfOrder(clause, "data", "after the loss", "the loss is of this data", *flow.loss);
  if (isa<LossClause>(&clause)) {
    if (flow.optimizer)
      outOfOrder(clause, "loss", "after the optimizer", "nothing would follow its gradient", *flow.optimizer);
    if (flow.passes)
      outOfOrder(*flow.passes, spelling(cast<RuleClause>(flow.passes)->rule), "before the loss",
                 "there is no gradient yet", clause);
    if (flow.looks)
      outOfOrder(*flow.looks, flow.word, "before the loss", "it looks at what the steps below give", clause);
  }
  if (isRule(clause, {RuleKind::Estimator}) && flow.passes)
    outOfOrder(*flow.passes, spelling(cast<RuleClause>(flow.passes)->rule), "before the estimator",
               "the estimator writes its gradient anew", clause);
  if (flow.optimizer && isRule(clause, {RuleKind::Clip, RuleKind::Estimator, RuleKind::Privacy, RuleKind::Combiner})) {
    RuleKind kind = cast<RuleClause>(&clause)->rule;
    outOfOrder(clause, spelling(kind), "after the optimizer",
               kind == RuleKind::Clip ? "it would clip nothing" : "the optimizer would not see what it writes",
               *flow.optimizer);
  }
}

void TrainChecker::Flow::add(const Clause &clause) {
  auto *stmt = dynCast<StmtClause>(&clause);
  bool isExpect = stmt && isa<ExpectStmt>(stmt->statement.get());
  if (isa<LossClause>(&clause))
    loss = loss ? loss : &clause;
  else if (isRule(clause, {RuleKind::Optimizer}))
    optimizer = optimizer ? optimizer : &clause;
  else if (isRule(clause, {RuleKind::Clip, RuleKind::Privacy, RuleKind::Combiner}))
    passes = passes ? passes : &clause;
  else if (!looks && (isa<EvalClause>(&clause) || isRule(clause, {RuleKind::Probe}) || isExpect)) {
    looks = &clause;
    word = isExpect ? "expect" : isa<EvalClause>(&clause) ? "eval" : "probe";
  }
}

void TrainChecker::Flow::join(const Flow &other) {
  loss = loss ? loss : other.loss;
  optimizer = optimizer ? optimizer : other.optimizer;
  passes = passes ? passes : other.passes;
  if (!looks) {
    looks = other.looks;
    word = other.word;
  }
}

/// Owners of leaves need paths and shapes; what can be said without is said here.
void TrainChecker::checkOwners(const ClauseBlock &block) {
  const RuleClause *whole = nullptr, *other = nullptr;
  const RuleOption *otherwise = nullptr;
  for (auto &clause : block.clauses) {
    auto *rule = dynCast<RuleClause>(clause.get());
    if (!rule || rule->rule != RuleKind::Optimizer)
      continue;
    // A rule may say itself which leaves it is for: `optimizer muon() on [m, n] { … }`.
    auto *decl = dynCast<RuleDecl>(world.root(*rule->value));
    bool isWhole = !decl || !decl->on;
    for (const RuleOption &option : rule->options) {
      isWhole &= option.form != RuleOption::Form::On && option.form != RuleOption::Form::Otherwise &&
                 option.form != RuleOption::Form::Except;
      if (option.form != RuleOption::Form::Otherwise)
        continue;
      if (otherwise)
        diags.report(Diag::two_otherwise, option.span)
            .note(otherwise->span, "the other one stands here")
            .help("say which leaves one of them is for: `on [m, n]` or `on \"net.dense.*\"`");
      otherwise = &option;
    }
    (isWhole && !whole ? whole : other) = rule;
  }
  bool wholeIsLast = whole && other && whole->span.begin > other->span.begin;
  if (whole && other && !steps)
    diags.report(Diag::no_pattern, wholeIsLast ? whole->span : other->span)
        .note(wholeIsLast ? other->span : whole->span, "the other optimizer stands here")
        .help("say which leaves one is for, `on [m, n]`, and `otherwise` at the other");
}

//===----------------------------------------------------------------------===//
// Clauses one by one
//===----------------------------------------------------------------------===//

bool TrainChecker::isOwnName(std::string_view name) const {
  for (const Parameter &p : train.parameters.items)
    if (p.name.text == name)
      return true;
  bool found = false;
  walk(*train.body, [&](const Node &node) {
    auto *let = dynCast<LetStmt>(&node);
    found |= let && let->name.text == name;
    return !found;
  });
  return found;
}

void TrainChecker::checkKind(const Expr &value, const char *expected, bool fits) {
  const NameExpr *root = rootName(value);
  const Decl *decl = root && !isOwnName(root->name) ? world.find(root->name) : nullptr;
  bool isSure = decl && (isa<ModelDecl>(decl) || isa<RuleDecl>(decl) || isa<DataDecl>(decl) || isa<TrainDecl>(decl) ||
                         isa<ExperimentDecl>(decl));
  if (isSure && !fits)
    diags.report(Diag::wrong_kind, root->span, root->name, describe(*decl), expected)
        .note(declaredName(*decl)->span, "`" + root->name + "` is declared here");
}

void TrainChecker::checkData(const DataClause &clause) {
  for (const Source &source : clause.sources) {
    checkKind(*source.value, "data", isa<DataDecl>(world.root(*source.value)));
    Seen seen;
    bool hasBatch = false;
    static const char *const spellings[] = {"batch", "all", "shuffle", "drop", "poisson"};
    for (const SourceOption &option : source.options) {
      // `all` is a size of batches too.
      bool isSize = option.form == SourceOption::Form::Batch || option.form == SourceOption::Form::All;
      repeated(seen, isSize ? "batch" : spellings[static_cast<size_t>(option.form)], option.span);
      hasBatch |= option.form == SourceOption::Form::Batch || option.form == SourceOption::Form::All;
    }
    if (!hasBatch)
      diags.report(Diag::batch_missing, source.span).help("add `batch 64`, or `batch all` for every row at once");
  }
}

void TrainChecker::checkSetting(const SettingClause &clause) {
  if (clause.setting != Setting::Precision)
    return;
  static const auto known = words("f32 f64 f16 bf16");
  auto *name = dynCast<NameExpr>(clause.value.get());
  if (name && (isOwnName(name->name) || std::find(known.begin(), known.end(), name->name) != known.end()))
    return;
  std::string text = print(*clause.value);
  std::string near = nearest(text, known);
  diags.report(Diag::unknown_setting, clause.value->span, text, "precision")
      .help("write `precision " + (near.empty() ? std::string("f32") : near) + "`");
}

void TrainChecker::checkClause(const Clause &clause) {
  if (auto *data = dynCast<DataClause>(&clause))
    return checkData(*data);
  if (auto *setting = dynCast<SettingClause>(&clause))
    return checkSetting(*setting);
  if (auto *eval = dynCast<EvalClause>(&clause))
    return checkKind(*eval->value, "data", isa<DataDecl>(world.root(*eval->value)));
  if (auto *model = dynCast<ModelClause>(&clause)) {
    for (const Instance &instance : model->instances)
      checkKind(*instance.value, "a model", isa<ModelDecl>(world.root(*instance.value)));
    return;
  }
  if (auto *rule = dynCast<RuleClause>(&clause)) {
    auto *decl = dynCast<RuleDecl>(world.root(*rule->value));
    checkKind(*rule->value, withArticle(spelling(rule->rule)).c_str(), decl && decl->rule == rule->rule);
  }
}

void TrainChecker::checkBlock(const ClauseBlock &block, Seen seen) {
  checkLengths(block);
  checkOwners(block);
  for (auto &clause : block.clauses) {
    checkRepeated(*clause, seen);
    checkClause(*clause);
    if (auto *phase = dynCast<PhaseClause>(clause.get())) {
      checkBlock(*phase->body, {});
      Flow flow;
      checkOrder(*phase->body, flow);
    }
    if (auto *branch = dynCast<IfClause>(clause.get())) {
      checkBlock(*branch->thenClauses, seen);
      if (branch->elseClauses)
        checkBlock(*branch->elseClauses, seen);
    }
  }
}

void dyn::checkTrains(const Program &program, const Library &library, DiagnosticEngine &diags) {
  const World world(program, library);
  for (const DeclPtr &decl : program.declarations)
    if (auto *train = dynCast<TrainDecl>(decl.get())) {
      TrainChecker(world, *train, diags).check();
      checkMetrics(world, *train, diags);
    }
}
