//===- Statements.cpp - Statements of the syntax tree -----------*- C++ -*-===//

#include "frontend/parse/Builder.h"

using namespace dyn;
using namespace dyn::parsing;
using namespace dyn::ast;
using P = DynParser;

BlockPtr Builder::block(P::BlockContext *c) {
  auto node = make<Block>(c);
  node->oneLine = onOneLine(node->span);
  for (auto *s : c->statement())
    node->statements.push_back(item(statement(s), s));
  return node;
}

/// The four families cover the grammar's alternatives; each returns null for those of the others.
StmtPtr Builder::statement(P::StatementContext *c) {
  if (StmtPtr node = simpleStatement(c))
    return node;
  if (StmtPtr node = flowStatement(c))
    return node;
  if (StmtPtr node = outwardStatement(c))
    return node;
  if (StmtPtr node = experimentStatement(c))
    return node;
  auto node = make<CallStmt>(c);
  node->call = postfix(as<P::CallStmtContext>(c)->postfix());
  return node;
}

//===----------------------------------------------------------------------===//
// Definitions and writes
//===----------------------------------------------------------------------===//

StmtPtr Builder::simpleStatement(P::StatementContext *c) {
  if (auto *bound = as<P::BindingStmtContext>(c))
    return binding(bound->binding());
  if (auto *place = as<P::PlacedStmtContext>(c))
    return placed(place);
  if (auto *write = as<P::WriteStmtContext>(c)) {
    auto node = make<WriteStmt>(c);
    node->target = postfix(write->postfix());
    node->value = value(write->value());
    return node;
  }
  if (auto *stateful = as<P::StateStmtContext>(c))
    return state(stateful->stateDef());
  if (auto *parameter = as<P::LeafStmtContext>(c))
    return leaf(parameter->leafDef());
  if (auto *fn = as<P::FnStmtContext>(c)) {
    auto node = make<FnStmt>(c);
    node->function = function(fn->function());
    return node;
  }
  return nullptr;
}

StmtPtr Builder::binding(P::BindingContext *c) {
  if (auto *drawn = as<P::DrawnContext>(c)) {
    auto node = item(std::make_unique<DrawStmt>(), c);
    node->name = ident(drawn->name());
    if (drawn->typeRef())
      node->type = type(drawn->typeRef());
    node->distribution = value(drawn->value());
    return node;
  }
  auto node = item(std::make_unique<LetStmt>(), c);
  if (auto *typed = as<P::TypedLocalContext>(c)) {
    node->name = ident(typed->name());
    node->type = type(typed->typeRef());
    node->value = value(typed->value());
    node->label = label(typed->label());
  } else {
    auto *local = as<P::LocalContext>(c);
    node->name = ident(local->name());
    node->value = value(local->value());
    node->label = label(local->label());
  }
  return node;
}

StmtPtr Builder::placed(P::PlacedStmtContext *c) {
  auto node = make<PlaceStmt>(c);
  node->target = chain(c, 0, c->children.size() - 2); // without `= value`
  node->value = value(c->value());
  return node;
}

StmtPtr Builder::state(P::StateDefContext *c) {
  auto node = item(std::make_unique<StateStmt>(), c);
  if (c->name().size() == 2)
    node->axis = ident(c->name(0));
  node->name = ident(c->name().back());
  if (c->typeRef())
    node->type = type(c->typeRef());
  node->drawn = c->TILDE() != nullptr;
  node->init = value(c->value());
  return node;
}

StmtPtr Builder::leaf(P::LeafDefContext *c) {
  auto node = item(std::make_unique<LeafStmt>(), c);
  node->frozen = c->FROZEN() != nullptr;
  node->name = ident(c->name());
  node->type = type(c->typeRef());
  node->drawn = c->TILDE() != nullptr;
  node->init = value(c->value());
  return node;
}

Label Builder::label(P::LabelContext *c) {
  Label result;
  if (!c)
    return result;
  result.name = ident(c->name());
  result.indices = indices(c->index());
  return result;
}

//===----------------------------------------------------------------------===//
// Flow
//===----------------------------------------------------------------------===//

StmtPtr Builder::flowStatement(P::StatementContext *c) {
  if (auto *branch = as<P::IfStmtContext>(c))
    return ifStatement(branch->ifStatement());
  if (auto *loop = as<P::ForStmtContext>(c)) {
    auto node = make<ForStmt>(c);
    node->variable = ident(loop->name());
    node->range = logic(loop->logic());
    node->body = block(loop->block());
    return node;
  }
  if (auto *loop = as<P::WhileStmtContext>(c)) {
    auto node = make<WhileStmt>(c);
    node->condition = logic(loop->logic());
    node->limit = arith(loop->arith());
    node->body = block(loop->block());
    return node;
  }
  if (auto *loop = as<P::RepeatStmtContext>(c)) {
    auto node = make<RepeatStmt>(c);
    node->count = arith(loop->arith());
    node->body = block(loop->block());
    return node;
  }
  if (auto *result = as<P::ReturnStmtContext>(c)) {
    auto node = make<ReturnStmt>(c);
    node->value = value(result->value());
    node->label = label(result->label());
    return node;
  }
  if (auto *result = as<P::YieldStmtContext>(c)) {
    auto node = make<YieldStmt>(c);
    node->value = value(result->value());
    return node;
  }
  return nullptr;
}

std::unique_ptr<IfStmt> Builder::ifStatement(P::IfStatementContext *c) {
  auto node = make<IfStmt>(c);
  node->condition = logic(c->logic());
  node->thenBlock = block(c->block(0));
  if (c->block().size() == 2)
    node->elseBlock = block(c->block(1));
  else if (c->ifStatement())
    node->elseIf = ifStatement(c->ifStatement());
  return node;
}

//===----------------------------------------------------------------------===//
// What reaches out of the block
//===----------------------------------------------------------------------===//

StmtPtr Builder::emit(Context *c, const std::vector<P::NamedContext *> &list) {
  auto node = make<EmitStmt>(c);
  node->values = named(list);
  return node;
}

static Side sideOf(P::PlaceContext *c) {
  return c->CLIENT() ? Side::Client : c->SERVER() ? Side::Server : c->NODE() ? Side::Node : Side::Link;
}

StmtPtr Builder::outwardStatement(P::StatementContext *c) {
  if (auto *report = as<P::EmitStmtContext>(c))
    return emit(c, report->named());
  if (auto *send = as<P::SendNamedStmtContext>(c)) {
    auto node = make<SendStmt>(c);
    node->values = named(send->named());
    return node;
  }
  if (auto *send = as<P::SendStmtContext>(c)) {
    auto node = make<SendStmt>(c);
    node->value = value(send->value());
    return node;
  }
  if (auto *minimize = as<P::MinimizeStmtContext>(c)) {
    auto node = make<MinimizeStmt>(c);
    node->objective = value(minimize->value());
    auto references = minimize->reference();
    for (size_t i = 0; i + 1 < references.size(); ++i)
      node->models.push_back(reference(references[i]));
    node->optimizer = reference(references.back());
    return node;
  }
  if (auto *side = as<P::PlaceStmtContext>(c)) {
    auto node = make<SideStmt>(c);
    node->side = sideOf(side->place());
    node->body = block(side->block());
    return node;
  }
  if (as<P::RestoreStmtContext>(c))
    return make<RestoreStmt>(c);
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Experiments
//===----------------------------------------------------------------------===//

StmtPtr Builder::experimentStatement(P::StatementContext *c) {
  if (auto *run = as<P::RunStmtContext>(c)) {
    auto node = make<RunStmt>(c);
    node->name = ident(run->name());
    node->variant = variant(run->variant());
    return node;
  }
  if (auto *sweep = as<P::SweepStmtContext>(c)) {
    auto node = make<RunStmt>(c);
    node->sweep = true;
    node->name = ident(sweep->name());
    node->variant = variant(sweep->variant());
    return node;
  }
  if (auto *expect = as<P::ExpectStmtContext>(c)) {
    auto node = make<ExpectStmt>(c);
    node->value = value(expect->value());
    return node;
  }
  if (auto *plot = as<P::PlotStmtContext>(c)) {
    auto node = make<PlotStmt>(c);
    node->values = values(plot->value());
    if (plot->OVER()) {
      node->over = std::move(node->values.back());
      node->values.pop_back();
    }
    if (plot->name())
      node->by = ident(plot->name());
    return node;
  }
  if (auto *seed = as<P::SeedStmtContext>(c)) {
    auto node = make<SeedStmt>(c);
    node->seeds = seeds(seed->seeds());
    return node;
  }
  return nullptr;
}

Variant Builder::variant(P::VariantContext *c) {
  Variant result;
  result.span = spanOf(c);
  if (auto *fork = as<P::ForkVariantContext>(c)) {
    result.fork = true;
    result.base = reference(fork->reference());
    result.step = arith(fork->arith());
    for (auto *one : fork->change())
      result.changes.push_back(change(one));
    return result;
  }
  auto *train = as<P::TrainVariantContext>(c);
  result.base = value(train->value());
  for (auto *one : train->change())
    result.changes.push_back(change(one));
  return result;
}

Change Builder::change(P::ChangeContext *c) {
  Change result;
  result.span = spanOf(c);
  if (auto *with = as<P::WithChangeContext>(c)) {
    for (auto *part : with->part())
      result.parts.push_back(changePart(part));
    return result;
  }
  for (auto *removed : as<P::WithoutChangeContext>(c)->path())
    result.removed.push_back(path(removed));
  return result;
}

ChangePart Builder::changePart(P::PartContext *c) {
  ChangePart result;
  result.span = spanOf(c);
  if (auto *swept = as<P::SweptPartContext>(c)) {
    result.swept = true;
    result.path = path(swept->path());
    result.value = value(swept->value());
    return result;
  }
  auto *set = as<P::SetPartContext>(c);
  result.path = path(set->path());
  result.value = value(set->value());
  for (auto *option : set->ruleOption())
    result.ruleOptions.push_back(ruleOption(option));
  for (auto *option : set->sourceOption())
    result.sourceOptions.push_back(sourceOption(option));
  return result;
}

Path Builder::path(P::PathContext *c) {
  Path result;
  result.span = spanOf(c);
  for (auto *name : c->name())
    result.names.push_back(ident(name));
  return result;
}
