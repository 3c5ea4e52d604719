//===- Trains.cpp - Clauses of the syntax tree ------------------*- C++ -*-===//

#include "frontend/parse/Builder.h"

using namespace dyn;
using namespace dyn::parsing;
using namespace dyn::ast;
using P = DynParser;

ClauseBlockPtr Builder::clauses(P::ClausesContext *c) {
  auto node = make<ClauseBlock>(c);
  node->oneLine = onOneLine(node->span);
  for (auto *one : c->clause())
    node->clauses.push_back(item(clause(one), one));
  return node;
}

/// The families cover the grammar's alternatives; each but the last returns null for those of the others.
ClausePtr Builder::clause(P::ClauseContext *c) {
  if (ClausePtr node = ruleOrDataClause(c))
    return node;
  if (ClausePtr node = settingClause(c))
    return node;
  if (ClausePtr node = blockClause(c))
    return node;
  return statementClause(c);
}

//===----------------------------------------------------------------------===//
// Data, models, losses, rules
//===----------------------------------------------------------------------===//

ClausePtr Builder::ruleOrDataClause(P::ClauseContext *c) {
  if (auto *data = as<P::DataClauseContext>(c)) {
    auto node = make<DataClause>(c);
    for (auto *one : data->source())
      node->sources.push_back(dataSource(one));
    return node;
  }
  if (auto *model = as<P::ModelClauseContext>(c)) {
    auto node = make<ModelClause>(c);
    for (auto *one : model->instance())
      node->instances.push_back(instance(one));
    return node;
  }
  if (auto *loss = as<P::LossClauseContext>(c)) {
    auto node = make<LossClause>(c);
    if (loss->name())
      node->name = ident(loss->name());
    node->value = value(loss->value());
    return node;
  }
  if (auto *rule = as<P::RuleClauseContext>(c)) {
    auto node = make<RuleClause>(c);
    node->rule = ruleKind(rule->ruleKind());
    if (rule->name())
      node->name = ident(rule->name());
    node->value = value(rule->value());
    for (auto *option : rule->ruleOption())
      node->options.push_back(ruleOption(option));
    return node;
  }
  if (auto *eval = as<P::EvalClauseContext>(c))
    return evalClause(eval);
  return nullptr;
}

ast::Source Builder::dataSource(P::SourceContext *c) {
  ast::Source result;
  result.span = spanOf(c);
  if (c->name())
    result.name = ident(c->name());
  result.value = value(c->value());
  for (auto *option : c->sourceOption())
    result.options.push_back(sourceOption(option));
  return result;
}

SourceOption Builder::sourceOption(P::SourceOptionContext *c) {
  using Form = SourceOption::Form;
  SourceOption result;
  result.span = spanOf(c);
  if (auto *batch = as<P::BatchOptionContext>(c)) {
    ExprPtr *parts[] = {&result.size, &result.upto, &result.by};
    for (size_t i = 0; i < batch->arith().size(); ++i)
      *parts[i] = arith(batch->arith(i));
    return result;
  }
  result.form = as<P::AllOptionContext>(c)       ? Form::All
                : as<P::ShuffleOptionContext>(c) ? Form::Shuffle
                : as<P::DropOptionContext>(c)    ? Form::Drop
                                                 : Form::Poisson;
  return result;
}

Instance Builder::instance(P::InstanceContext *c) {
  Instance result;
  result.span = spanOf(c);
  result.name = ident(c->name());
  size_t next = 0;
  result.value = value(c->value(next++));
  if (c->FROM())
    result.from = value(c->value(next++));
  if (c->block())
    result.fromBlock = block(c->block());
  if (c->CLIENTS())
    result.clients = value(c->value(next));
  return result;
}

RuleOption Builder::ruleOption(P::RuleOptionContext *c) {
  using Form = RuleOption::Form;
  RuleOption result;
  result.span = spanOf(c);
  if (auto *on = as<P::OnOptionContext>(c)) {
    result.pattern = pattern(on->pattern());
  } else if (auto *clients = as<P::ClientsOptionContext>(c)) {
    result.form = Form::OnClients;
    result.clients = arith(clients->arith());
  } else if (auto *except = as<P::ExceptOptionContext>(c)) {
    result.form = Form::Except;
    result.path = string(except->STRING());
  } else if (as<P::OtherwiseOptionContext>(c)) {
    result.form = Form::Otherwise;
  } else if (auto *per = as<P::PerOptionContext>(c)) {
    result.form = Form::Per;
    result.unit = ident(per->name());
  } else {
    result.form = Form::Timing;
    result.timing = timing(as<P::TimingOptionContext>(c)->timing());
  }
  return result;
}

ClausePtr Builder::evalClause(P::EvalClauseContext *c) {
  auto node = make<EvalClause>(c);
  if (c->name())
    node->name = ident(c->name());
  node->value = value(c->value());
  for (auto *option : c->evalOption())
    node->options.push_back(evalOption(option));
  node->oneLine = onOneLine(spanOf(c->evalItems()));
  for (auto *one : c->evalItems()->evalItem()) {
    auto entry = item(std::make_unique<EvalItem>(), one);
    entry->name = ident(one->name());
    entry->each = one->EACH() != nullptr;
    entry->value = value(one->value());
    if (one->reference())
      entry->by = reference(one->reference());
    node->items.push_back(std::move(entry));
  }
  return node;
}

EvalOption Builder::evalOption(P::EvalOptionContext *c) {
  using Form = EvalOption::Form;
  EvalOption result;
  result.span = spanOf(c);
  if (auto *per = as<P::PerEvalContext>(c)) {
    result.unit = ident(per->name());
  } else if (auto *partition = as<P::PartitionEvalContext>(c)) {
    result.form = Form::Partition;
    if (partition->value())
      result.partition = value(partition->value());
    result.by = reference(partition->reference());
  } else {
    result.form = Form::Timing;
    result.timing = timing(as<P::TimedEvalContext>(c)->timing());
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Settings and times
//===----------------------------------------------------------------------===//

static Setting settingOf(P::SettingContext *c) {
  switch (typeOf(c->children[0])) {
  case P::EPOCHS: return Setting::Epochs;
  case P::STEPS: return Setting::Steps;
  case P::ROUNDS: return Setting::Rounds;
  case P::PRECISION: return Setting::Precision;
  case P::ARRIVAL: return Setting::Arrival;
  case P::GRAPH: return Setting::Graph;
  default: return Setting::Workers;
  }
}

ClausePtr Builder::settingClause(P::ClauseContext *c) {
  if (auto *setting = as<P::SettingClauseContext>(c)) {
    auto node = make<SettingClause>(c);
    node->setting = settingOf(setting->setting());
    node->value = value(setting->value());
    return node;
  }
  if (auto *checkpoint = as<P::CheckpointClauseContext>(c)) {
    auto node = make<CheckpointClause>(c);
    node->timing = timing(checkpoint->timing());
    return node;
  }
  if (auto *participation = as<P::ParticipationClauseContext>(c)) {
    auto node = make<ParticipationClause>(c);
    node->value = value(participation->value());
    node->poisson = participation->POISSON() != nullptr;
    return node;
  }
  if (auto *clients = as<P::ClientsClauseContext>(c)) {
    auto node = make<ClientsClause>(c);
    node->value = value(clients->value(0));
    node->partitioned = clients->PARTITION() != nullptr;
    if (clients->value().size() == 2)
      node->partition = value(clients->value(1));
    if (clients->reference())
      node->by = reference(clients->reference());
    return node;
  }
  if (auto *shared = as<P::SharedClauseContext>(c)) {
    auto node = make<SharedClause>(c);
    node->value = value(shared->value());
    return node;
  }
  if (auto *frozen = as<P::FrozenClauseContext>(c)) {
    auto node = make<FrozenClause>(c);
    node->path = string(frozen->STRING());
    return node;
  }
  return nullptr;
}

Timing Builder::timing(P::TimingContext *c) {
  Timing result;
  result.span = spanOf(c);
  if (auto *at = as<P::AtTimingContext>(c)) {
    result.form = Timing::Form::At;
    result.value = value(at->value());
    return result;
  }
  auto *every = as<P::EveryTimingContext>(c);
  if (every->arith())
    result.value = arith(every->arith());
  result.clock = clock(every->clock(), result.plural);
  return result;
}

Clock Builder::clock(P::ClockContext *c, bool &plural) {
  size_t place = typeOf(c->children[0]) - P::STEP; // the lexer has them in pairs
  plural = place % 2 == 1;
  return static_cast<Clock>(place / 2);
}

Seeds Builder::seeds(P::SeedsContext *c) {
  Seeds result;
  if (auto *streams = as<P::SeedStreamsContext>(c))
    result.streams = named(streams->named());
  else
    result.one = value(as<P::OneSeedContext>(c)->value());
  return result;
}

//===----------------------------------------------------------------------===//
// Clauses with blocks, and statements among clauses
//===----------------------------------------------------------------------===//

ClausePtr Builder::blockClause(P::ClauseContext *c) {
  if (auto *phase = as<P::PhaseClauseContext>(c))
    return phaseClause(phase);
  if (auto *when = as<P::WhenClauseContext>(c)) {
    auto node = make<WhenClause>(c);
    node->condition = logic(when->logic());
    node->body = block(when->block());
    return node;
  }
  if (auto *at = as<P::AtClauseContext>(c)) {
    auto node = make<AtClause>(c);
    node->moment = ident(at->name());
    if (at->arith())
      node->value = arith(at->arith());
    node->body = block(at->block());
    return node;
  }
  if (auto *stop = as<P::StopClauseContext>(c)) {
    auto node = make<StopClause>(c);
    node->condition = logic(stop->logic());
    return node;
  }
  if (auto *step = as<P::StepClauseContext>(c)) {
    auto node = make<StepClause>(c);
    node->body = block(step->block());
    return node;
  }
  if (auto *branch = as<P::IfClauseContext>(c)) {
    auto node = make<IfClause>(c);
    node->condition = logic(branch->logic());
    node->thenClauses = clauses(branch->clauses(0));
    if (branch->clauses().size() == 2)
      node->elseClauses = clauses(branch->clauses(1));
    return node;
  }
  return nullptr;
}

ClausePtr Builder::phaseClause(P::PhaseClauseContext *c) {
  auto node = make<PhaseClause>(c);
  node->name = ident(c->name());
  if (c->UNTIL())
    node->until = logic(c->logic());
  node->count = arith(c->arith());
  node->clock = clock(c->clock(), node->plural);
  node->body = clauses(c->clauses());
  return node;
}

ClausePtr Builder::statementClause(P::ClauseContext *c) {
  auto node = make<StmtClause>(c);
  if (auto *expect = as<P::ExpectClauseContext>(c)) {
    auto statement = make<ExpectStmt>(c);
    statement->value = value(expect->value());
    node->statement = std::move(statement);
  } else if (auto *report = as<P::EmitClauseContext>(c)) {
    node->statement = emit(c, report->named());
  } else if (auto *seed = as<P::SeedClauseContext>(c)) {
    auto statement = make<SeedStmt>(c);
    statement->seeds = seeds(seed->seeds());
    node->statement = std::move(statement);
  } else if (auto *parameter = as<P::LeafClauseContext>(c)) {
    node->statement = leaf(parameter->leafDef());
  } else if (auto *stateful = as<P::StateClauseContext>(c)) {
    node->statement = state(stateful->stateDef());
  } else if (auto *fn = as<P::FnClauseContext>(c)) {
    auto statement = make<FnStmt>(c);
    statement->function = function(fn->function());
    node->statement = std::move(statement);
  } else {
    node->statement = binding(as<P::LocalClauseContext>(c)->binding());
  }
  return node;
}
