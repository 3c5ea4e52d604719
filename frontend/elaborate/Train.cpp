//===- Train.cpp - clauses and settings of a train ------------------------===//
#include "frontend/elaborate/TrainElaborator.h"

#include "frontend/elaborate/Patterns.h"

using namespace mlir;

namespace dyn::elab {

std::unique_ptr<Elaborated> TrainElaborator::run(const TrainRequest &theRequest) {
  size_t errors = e.diags.errorCount();
  auto elaborated = elaborate(theRequest);
  // Whoever gives up says why; a run that silently is none would pass for a success.
  if (!elaborated && e.diags.errorCount() == errors)
    e.diags.report(Diag::from_passes, theRequest.decl->name.span, "the train has no program and no error")
        .help("please report it with this program");
  return elaborated;
}

std::unique_ptr<Elaborated> TrainElaborator::elaborate(const TrainRequest &theRequest) {
  request = theRequest;
  out = std::make_unique<Elaborated>();
  const ast::TrainDecl &decl = *request.decl;
  out->plan.name = request.runName.empty() ? decl.name.text : request.runName;
  if (const SourceFile *file = e.diags.sources().file(decl.span))
    out->plan.specFile = file->path();
  out->module = ModuleOp::create(e.loc(decl.span));
  e.plan = &out->plan;
  e.builder.setInsertionPointToEnd(out->module->getBody());
  train = ir::TrainOp::create(e.builder, e.loc(decl.span), decl.name.text);
  train.getBody().emplaceBlock();
  e.onSocketCall = [this](auto &name, auto &args, Span span, Frame &frame) { return socketCall(name, args, span, frame); };
  e.onHeldCall = [this](auto &held, auto &args, Span span, Frame &frame) { return heldCall(held, args, span, frame); };
  e.onEmit = [this](const ast::EmitStmt &stmt, Frame &frame) {
    if (quiet)
      return;
    if (!isa_and_present<ir::SocketOp>(e.builder.getInsertionBlock()->getParentOp()))
      return e.notHere(stmt.span, "an `emit` that depends on the run");
    for (auto &named : stmt.values) {
      Value value = e.evaluate(*named.value, frame);
      if (!value.isInvalid())
        emit(named.name.text, value, named.span);
    }
  };
  e.onModelDone = [this](auto &instance, Scope &scope, Span span) { modelDone(instance, scope, span); };
  e.onState = [this](const ast::StateStmt &stmt, Frame &frame) { declareState(stmt, frame); };

  scope = std::make_shared<Scope>(e.globals);
  Clauses clauses;
  this->clauses = &clauses;
  out->plan.arenas.push_back({"params", "params", 0});
  if (!bindHyperparameters())
    return nullptr;
  Frame frame{scope};
  if (!collect(*decl.body, clauses, frame) || !applyChanges(clauses) || !settings(clauses) || !objective(clauses) ||
      !assignOwners(clauses))
    return nullptr;
  layOut();
  placeServed();
  findFolds(clauses);
  if (!placeProbes(clauses))
    return nullptr;
  updateSocket(clauses);
  evalSockets(clauses);
  probeSockets(clauses);
  stopSocket(clauses);
  initSocket();
  if (e.hasFailed())
    return nullptr;
  if (clauses.checkpoint)
    out->plan.checkpoint = event(&clauses.checkpoint->timing, "step", clauses.checkpoint->span);
  program(clauses);
  out->expects = clauses.expects;
  out->scope = scope;
  return e.hasFailed() ? nullptr : std::move(out);
}

ScopePtr TrainElaborator::modelsOf(const TrainRequest &theRequest) {
  request = theRequest;
  out = std::make_unique<Elaborated>();
  scope = std::make_shared<Scope>(e.globals);
  Clauses clauses;
  Frame frame{scope};
  return bindHyperparameters() && collect(*request.decl->body, clauses, frame) ? scope : nullptr;
}

bool TrainElaborator::bindHyperparameters() {
  const ast::TrainDecl &decl = *request.decl;
  std::map<std::string, Value> given;
  for (auto &[name, value] : request.arguments) {
    if (llvm::none_of(decl.parameters.items, [&](auto &p) { return p.name.text == name; })) {
      std::vector<std::string> names;
      for (auto &p : decl.parameters.items)
        names.push_back(p.name.text);
      auto report = e.diags.report(Diag::unknown_argument, decl.name.span, decl.name.text, name);
      if (std::string near = nearest(name, names); !near.empty())
        report.help("did you mean `" + near + "`?");
      return false;
    }
    given[name] = value;
  }
  if (!e.bindValues(decl.parameters, given, scope, NameKind::Hyperparameter, "`" + decl.name.text + "`", decl.name.span))
    return false;
  for (auto &[name, binding] : scope->names)
    if (auto *known = binding.value.as<Const>())
      known->formula = "$" + name;
  return true;
}

bool TrainElaborator::collect(const ast::ClauseBlock &block, Clauses &clauses, Frame &frame) {
  for (auto &clause : block.clauses) {
    switch (clause->kind) {
    case ast::Kind::IfClause: {
      auto &branch = *ast::cast<ast::IfClause>(clause.get());
      Value condition = e.evaluate(*branch.condition, frame);
      if (condition.isInvalid())
        return false;
      auto known = e.knownBool(condition);
      if (!known) {
        e.diags.report(Diag::clause_condition, branch.condition->span);
        return false;
      }
      const ast::ClauseBlock *taken = *known ? branch.thenClauses.get() : branch.elseClauses.get();
      if (taken && !collect(*taken, clauses, frame))
        return false;
      break;
    }
    case ast::Kind::SettingClause: {
      auto &setting = *ast::cast<ast::SettingClause>(clause.get());
      if (setting.setting == ast::Setting::Steps)
        clauses.steps = &setting;
      else if (setting.setting == ast::Setting::Epochs)
        clauses.epochs = &setting;
      else if (setting.setting == ast::Setting::Precision)
        clauses.precision = &setting;
      break;
    }
    case ast::Kind::DataClause:
      clauses.data = ast::cast<ast::DataClause>(clause.get());
      break;
    case ast::Kind::LossClause:
      clauses.loss = ast::cast<ast::LossClause>(clause.get());
      break;
    case ast::Kind::CheckpointClause:
      if (clauses.checkpoint) {
        e.diags.report(Diag::not_supported, clause->span, "a second `checkpoint` is");
        return false;
      }
      clauses.checkpoint = ast::cast<ast::CheckpointClause>(clause.get());
      break;
    case ast::Kind::StopClause:
      clauses.stops.push_back(ast::cast<ast::StopClause>(clause.get()));
      break;
    case ast::Kind::FrozenClause:
      clauses.frozen.push_back(ast::cast<ast::FrozenClause>(clause.get()));
      break;
    case ast::Kind::RuleClause: {
      auto &rule = *ast::cast<ast::RuleClause>(clause.get());
      clauses.rules(rule.rule).push_back(&rule);
      break;
    }
    case ast::Kind::EvalClause:
      clauses.evals.push_back(ast::cast<ast::EvalClause>(clause.get()));
      break;
    case ast::Kind::ModelClause:
      clauses.models.push_back(ast::cast<ast::ModelClause>(clause.get()));
      for (auto &instance : ast::cast<ast::ModelClause>(clause.get())->instances) {
        const TrainChange *change = changeOf(instance.name.text);
        Value value = change ? change->value : e.evaluate(*instance.value, frame);
        if (auto *name = value.as<ModelName>())
          value = e.instantiateModel(*name->decl, {}, instance.span, frame);
        auto *made = value.as<std::shared_ptr<Instance>>();
        if (!made) {
          if (!value.isInvalid())
            e.diags.report(Diag::not_a_model, change ? change->written->span : instance.value->span, describe(value));
          return false;
        }
        e.placeInstance(**made, instance.name.text, frame);
        scope->define(instance.name.text, value, NameKind::Local, instance.name.span);
      }
      break;
    case ast::Kind::StmtClause: {
      const ast::Stmt *stmt = ast::cast<ast::StmtClause>(clause.get())->statement.get();
      if (auto *expect = ast::dynCast<ast::ExpectStmt>(stmt))
        clauses.expects.push_back(expect->value.get());
      else if (auto *seed = ast::dynCast<ast::SeedStmt>(stmt))
        clauses.seeds = &seed->seeds;
      else {
        locals.push_back(stmt);
        // Clauses that say how large the train is read them too; a parameter is the objective's.
        if (ast::isa<ast::LetStmt>(stmt) || ast::isa<ast::FnStmt>(stmt))
          bindLocal(*stmt, scope);
      }
      break;
    }
    default:
      e.diags.report(Diag::not_supported, clause->span, "this clause is");
      return false;
    }
  }
  return true;
}

bool TrainElaborator::settings(const Clauses &clauses) {
  Frame frame{scope};
  plan::Plan &plan = out->plan;
  auto count = [&](const char *name, const ast::SettingClause *clause, const ast::Expr *&from) -> std::optional<int64_t> {
    const TrainChange *change = changeOf(name);
    if (!change && !clause)
      return std::nullopt;
    from = change ? change->written : clause->value.get();
    auto n = e.knownInt(change ? change->value : e.evaluate(*from, frame), from->span, (std::string("`") + name + "`").c_str());
    if (n && *n < 0)
      e.diags.report(Diag::cannot_be, from->span, std::string("`") + name + "`", *n);
    return n;
  };
  const ast::SettingClause *precision = clauses.precision;
  const TrainChange *precisionChange = changeOf("precision");
  if (precision || precisionChange) {
    const ast::Expr *value = precisionChange ? precisionChange->written : precision->value.get();
    auto *name = ast::dynCast<ast::NameExpr>(value);
    if (!name || (name->name != "f32" && name->name != "f64")) {
      e.diags.report(Diag::unknown_setting, value->span, print(*value), "precision: `f32` or `f64`");
      return false;
    }
    if (name->name == "f64") {
      plan.precision = plan::Element::f64;
      e.realType = e.builder.getF64Type();
    }
  }
  // Data before the length: an epoch is so many batches.
  if (!openData(clauses))
    return false;
  const ast::Expr *from = nullptr;
  bool byEpochs = (clauses.epochs || changeOf("epochs")) && !changeOf("steps");
  auto length = byEpochs ? count("epochs", clauses.epochs, from) : count("steps", clauses.steps, from);
  if (!length) {
    if (!e.hasFailed())
      e.diags.report(Diag::no_length, request.decl->name.span, request.decl->name.text);
    return false;
  }
  plan.total = *length;
  if (byEpochs) {
    if (plan.feeds.empty()) {
      e.diags.report(Diag::epochs_without_data, from->span, "epochs", request.decl->name.text);
      return false;
    }
    if (endless) {
      reportEndless(*batchData->decl, from->span, "it has no epochs", "say how long in steps: `steps 1_000`");
      return false;
    }
    int64_t rows = plan.sets[0].examples(), size = plan.feeds[0].batch;
    plan.total *= plan.feeds[0].drop ? rows / size : (rows + size - 1) / size;
  }
  const ast::Expr *seed = clauses.seeds ? clauses.seeds->one.get() : nullptr;
  if (clauses.seeds && !seed) {
    e.diags.report(Diag::not_supported, clauses.seeds->streams.front().span, "seeding one stream is");
    return false;
  }
  const TrainChange *seedChange = changeOf("seed");
  if (seedChange)
    seed = seedChange->written;
  if (request.seed || seed) {
    plan.seeded = true;
    auto value = request.seed ? std::optional<int64_t>(*request.seed)
                              : e.knownInt(seedChange ? seedChange->value : e.evaluate(*seed, frame), seed->span, "a seed");
    if (!value)
      return false;
    plan.seed = static_cast<uint64_t>(*value);
  }
  return !e.hasFailed();
}

} // namespace dyn::elab
