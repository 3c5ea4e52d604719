//===- CheckNamesTrain.cpp - Names in the clauses of trains -----*- C++ -*-===//

#include "frontend/NameResolver.h"

using namespace dyn;
using namespace dyn::ast;
using namespace dyn::checks;

/// Unknown names in it are somebody else's to judge (metrics: CheckTrains.cpp); what is known counts as read.
void NameResolver::lenient(const Expr &expr) {
  bool was = isLenient;
  isLenient = true;
  value(&expr);
  isLenient = was;
}

/// The fields of every data clause are names of the whole train: phases may change the data, and the loss may stand
/// before them.
void NameResolver::trainFields(const Node &body) {
  walk(body, [&](const Node &node) {
    auto *clause = dynCast<DataClause>(&node);
    if (!clause)
      return isa<ClauseBlock>(&node) || isa<PhaseClause>(&node) || isa<IfClause>(&node);
    for (const Source &source : clause->sources) {
      Fields fields = world.fieldsOf(*source.value);
      if (const NameExpr *root = rootName(*source.value); root && lookup(root->name))
        fields = {};
      if (source.name) {
        define(source.name, SymbolKind::Source)->fields = fields;
        continue;
      }
      frame->open |= !fields.known;
      for (const Ident &field : fields.items)
        if (!frame->find(field.text))
          add(field, SymbolKind::Field);
    }
    return false;
  });
}

void NameResolver::timing(const Timing &timing) {
  auto *moment = dynCast<NameExpr>(timing.value.get());
  if (!moment || (moment->name != "start" && moment->name != "end"))
    value(timing.value.get());
}

void NameResolver::ruleOptions(const std::vector<RuleOption> &options) {
  for (const RuleOption &option : options) {
    if (auto *reference = dynCast<ReferencePattern>(option.pattern.get()))
      value(reference->reference.get());
    value(option.clients.get());
    timing(option.timing);
  }
}

void NameResolver::sourceOptions(const std::vector<SourceOption> &options) {
  for (const SourceOption &option : options) {
    auto *all = dynCast<NameExpr>(option.size.get());
    if (!all || all->name != "all")
      value(option.size.get());
    value(option.upto.get());
    value(option.by.get());
  }
}

void NameResolver::dataClause(const DataClause &clause) {
  for (const Source &source : clause.sources) {
    value(source.value.get());
    sourceOptions(source.options);
  }
}

void NameResolver::modelClause(const ModelClause &clause) {
  for (const Instance &instance : clause.instances) {
    value(instance.value.get());
    value(instance.from.get());
    block(instance.fromBlock.get());
    value(instance.clients.get());
    define(instance.name, SymbolKind::Instance);
  }
}

void NameResolver::ruleClause(const RuleClause &clause) {
  value(clause.value.get());
  if (auto *name = dynCast<NameExpr>(clause.value.get()); name && !lookup(name->name))
    if (auto *decl = dynCast<RuleDecl>(world.find(name->name)))
      for (const Parameter &p : decl->parameters.items)
        if (!p.init) {
          diags.report(Diag::missing_argument, name->span, name->name, p.name.text)
              .note(p.name.span, "`" + p.name.text + "` has no default")
              .help("write `" + name->name + "(" + p.name.text + "=…)`");
          break;
        }
  ruleOptions(clause.options);
  if (clause.name)
    define(clause.name, SymbolKind::Rule)->read = true;
}

void NameResolver::evalClause(const EvalClause &clause) {
  value(clause.value.get());
  for (const EvalOption &option : clause.options) {
    value(option.partition.get());
    timing(option.timing);
  }
  FrameScope scope(*this, Place::Eval, &clause);
  Fields fields = world.fieldsOf(*clause.value);
  scope->open |= !fields.known;
  for (const Ident &field : fields.items)
    add(field, SymbolKind::Field);
  for (auto &item : clause.items)
    value(item->value.get());
}

void NameResolver::settingClause(const SettingClause &clause) {
  // `precision f64`, `graph ring`: words of the clause.
  bool isWord = clause.setting == Setting::Precision || clause.setting == Setting::Graph;
  if (isWord && isa<NameExpr>(clause.value.get()))
    lenient(*clause.value);
  else
    value(clause.value.get());
}

void NameResolver::clauses(const ClauseBlock *block) {
  if (!block)
    return;
  for (auto &c : block->clauses)
    clause(*c);
}

void NameResolver::clause(const Clause &clause) {
  switch (clause.kind) {
  case Kind::DataClause:
    return dataClause(*cast<DataClause>(&clause));
  case Kind::ModelClause:
    return modelClause(*cast<ModelClause>(&clause));
  case Kind::RuleClause:
    return ruleClause(*cast<RuleClause>(&clause));
  case Kind::EvalClause:
    return evalClause(*cast<EvalClause>(&clause));
  case Kind::SettingClause:
    return settingClause(*cast<SettingClause>(&clause));
  case Kind::CheckpointClause:
    return timing(cast<CheckpointClause>(&clause)->timing);
  case Kind::ClientsClause: {
    auto &c = *cast<ClientsClause>(&clause);
    value(c.value.get());
    return value(c.partition.get()); // `by` names a field
  }
  case Kind::PhaseClause: {
    auto &p = *cast<PhaseClause>(&clause);
    value(p.until.get());
    value(p.count.get());
    return branches([&] { clauses(p.body.get()); }, [] {});
  }
  case Kind::WhenClause: {
    auto &w = *cast<WhenClause>(&clause);
    value(w.condition.get());
    return branches([&] { block(w.body.get()); }, [] {});
  }
  case Kind::AtClause: {
    auto &a = *cast<AtClause>(&clause);
    value(a.value.get());
    return branches([&] { block(a.body.get()); }, [] {});
  }
  case Kind::StepClause:
    return branches([&] { block(cast<StepClause>(&clause)->body.get()); }, [] {});
  case Kind::IfClause: {
    auto &i = *cast<IfClause>(&clause);
    value(i.condition.get());
    return branches([&] { clauses(i.thenClauses.get()); }, [&] { clauses(i.elseClauses.get()); });
  }
  case Kind::StmtClause: {
    auto &stmt = *cast<StmtClause>(&clause)->statement;
    if (auto *expect = dynCast<ExpectStmt>(&stmt)) {
      ++indexDepth;
      lenient(*expect->value);
      --indexDepth;
      return;
    }
    return statement(stmt);
  }
  default:
    forEachChild(clause, [&](const Node &child) { value(dynCast<Expr>(&child)); });
  }
}
