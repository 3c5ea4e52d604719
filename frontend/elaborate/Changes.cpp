//===- Changes.cpp - what `with` makes of a train's clauses ---------------===//
//
// Every part of a `with` changes something of the train or is refused: none is
// read and then forgotten. Hyperparameters are arguments before they come here.
//
//===----------------------------------------------------------------------===//
#include "frontend/elaborate/TrainElaborator.h"

#include <set>

using namespace mlir;

namespace dyn::elab {

const TrainChange *TrainElaborator::changeOf(llvm::StringRef path) const {
  for (const TrainChange &change : request.changes)
    if (change.part->path.text() == path)
      return &change;
  return nullptr;
}

/// A rule's clause as it stands, or as `with` has it.
const ast::Expr &TrainElaborator::valueOf(const ast::RuleClause &clause) const {
  auto it = ruleChanges.find(&clause);
  return it != ruleChanges.end() && it->second.whole ? *it->second.whole->written : *clause.value;
}

/// Another rule stands where the first one stood, unless the change says where.
const std::vector<ast::RuleOption> &TrainElaborator::optionsOf(const ast::RuleClause &clause) const {
  auto it = ruleChanges.find(&clause);
  bool others = it != ruleChanges.end() && it->second.whole && !it->second.whole->part->ruleOptions.empty();
  return others ? it->second.whole->part->ruleOptions : clause.options;
}

bool TrainElaborator::allowsOptions(const TrainChange &change, bool rule, bool source) {
  const ast::ChangePart &part = *change.part;
  Span wrong;
  if (!rule && !part.ruleOptions.empty())
    wrong = part.ruleOptions.front().span;
  else if (!source && !part.sourceOptions.empty())
    wrong = part.sourceOptions.front().span;
  if (!wrong.isValid())
    return true;
  e.diags.report(Diag::part_option, wrong, part.path.text()).help("leave it out");
  return false;
}

/// The options that a clause of the kind may have.
bool TrainElaborator::checkRuleOptions(const TrainChange &change, ast::RuleKind kind) {
  using Form = ast::RuleOption::Form;
  for (auto &option : change.part->ruleOptions) {
    bool pattern = option.form == Form::On || option.form == Form::Except || option.form == Form::Otherwise;
    bool isForSome = kind == ast::RuleKind::Optimizer || kind == ast::RuleKind::Clip;
    bool fits = isForSome ? pattern : kind == ast::RuleKind::Probe && option.form == Form::Timing;
    if (fits)
      continue;
    e.diags.report(Diag::part_option, option.span, change.part->path.text()).help("leave it out");
    return false;
  }
  return true;
}

/// `optimizer = …`, `optimizer.lr = …`, and the same with the name of a clause.
bool TrainElaborator::changeRule(const TrainChange &change, const Clauses &clauses) {
  const ast::Path &path = change.part->path;
  const ast::Ident &first = path.names.front();
  std::vector<const ast::RuleClause *> candidates;
  for (auto *list : clauses.allRules())
    for (const ast::RuleClause *clause : *list)
      if (clause->name.text == first.text || first.text == ast::spelling(clause->rule))
        candidates.push_back(clause);
  if (candidates.empty())
    return unknownPart(change, clauses);
  if (candidates.size() > 1) {
    e.diags.report(Diag::ambiguous_part, first.span, request.decl->name.text, candidates.size(), first.text)
        .note(candidates[0]->span, "this is one")
        .note(candidates[1]->span, "this is another")
        .help("name the clause: `" + first.text + " slow = …`, and write `with slow = …`");
    return false;
  }
  RuleChange &into = ruleChanges[candidates.front()];
  if (path.names.size() == 1) {
    into.whole = &change;
    return allowsOptions(change, true, false) && checkRuleOptions(change, candidates.front()->rule);
  }
  into.members.push_back(&change);
  return allowsOptions(change, false, false);
}

bool TrainElaborator::unknownPart(const TrainChange &change, const Clauses &clauses) {
  const ast::Path &path = change.part->path;
  std::vector<std::string> known = {"steps", "epochs", "seed", "precision", "optimizer"};
  for (auto &parameter : request.decl->parameters.items)
    known.push_back(parameter.name.text);
  for (auto *list : clauses.allRules())
    for (const ast::RuleClause *clause : *list)
      if (clause->name)
        known.push_back(clause->name.text);
  auto report = e.diags.report(Diag::unknown_part, path.span, request.decl->name.text, path.text());
  if (std::string near = nearest(path.text(), known); !near.empty())
    report.help("did you mean `" + near + "`?");
  return false;
}

bool TrainElaborator::applyChange(const TrainChange &change, const Clauses &clauses) {
  const std::string path = change.part->path.text();
  if (llvm::is_contained({"steps", "epochs", "seed", "precision"}, path))
    return allowsOptions(change, false, false);
  if (path == "data")
    return clauses.data ? allowsOptions(change, false, true) : unknownPart(change, clauses);
  for (const ast::ModelClause *clause : clauses.models)
    for (const ast::Instance &instance : clause->instances)
      if (instance.name.text == path)
        return allowsOptions(change, false, false);
  bool isEval = llvm::any_of(clauses.evals, [&](auto *eval) { return eval->name.text == path; });
  if (isEval || llvm::is_contained({"loss", "model", "eval"}, path)) {
    auto report = e.diags.report(Diag::not_supported, change.part->span, "`with " + path + " = …` is");
    report.help(path == "model" ? "name the model: `with net = …`" : "give the train a hyperparameter for it");
    return false;
  }
  return changeRule(change, clauses);
}

/// `with steps = 4_000`, `with optimizer = sgd(0.1)`, `with seed = 3`: a clause in another form.
bool TrainElaborator::applyChanges(const Clauses &clauses) {
  std::set<std::string> seen;
  for (const TrainChange &change : request.changes) {
    const std::string path = change.part->path.text();
    if (!seen.insert(path).second) {
      e.diags.report(Diag::repeated_argument, change.part->span, path);
      return false;
    }
    if (!applyChange(change, clauses))
      return false;
  }
  if (const TrainChange *steps = changeOf("steps"), *epochs = changeOf("epochs"); steps && epochs) {
    e.diags.report(Diag::two_lengths, epochs->part->span, "steps", "epochs")
        .note(steps->part->span, "`steps` stands here")
        .help("leave one of them out");
    return false;
  }
  return true;
}

} // namespace dyn::elab
