//===- CheckNames.cpp - Every name means something --------------*- C++ -*-===//
//
// One walk over each declaration in written order, as its statements would run: it defines, finds and counts names.
// What it counts is judged in CheckUnread.cpp.
//
//===----------------------------------------------------------------------===//

#include "frontend/NameResolver.h"

using namespace dyn;
using namespace dyn::ast;
using namespace dyn::checks;

void dyn::checkNames(const Program &program, const Library &library, DiagnosticEngine &diags) {
  NameResolver(program, library, diags).run();
}

NameResolver::NameResolver(const Program &program, const Library &library, DiagnosticEngine &diags)
    : world(program, library), diags(diags) {}

void NameResolver::run() {
  checkDeclaredTwice();
  collectTrainNames();
  collectPassed();
  for (const DeclPtr &decl : world.program().declarations) {
    calls.clear();
    axes.clear();
    declaration(*decl);
  }
}

void NameResolver::checkDeclaredTwice() {
  std::map<std::string, Span> seen;
  for (const DeclPtr &decl : world.program().declarations) {
    const Ident *name = declaredName(*decl);
    if (!name)
      continue;
    if (checks::isBuiltinConstant(name->text))
      diags.report(Diag::hidden_name, name->span, name->text, "the constant of the language")
          .help("choose another name, such as `" + name->text + "_1`");
    auto [first, isNew] = seen.emplace(name->text, name->span);
    if (!isNew)
      diags.report(Diag::declared_twice, name->span, name->text)
          .note(first->second, "`" + name->text + "` is declared here first")
          .help("choose another name, such as `" + name->text + "_1`");
  }
}

/// Probes and estimators read the models and locals of the train that has them; which that is the file does not say, so
/// those of all its trains count. The fields of `batch` likewise.
void NameResolver::collectTrainNames() {
  bool hasTrain = false;
  allFields.known = true;
  for (const DeclPtr &decl : world.program().declarations) {
    if (!isa<TrainDecl>(decl.get()))
      continue;
    hasTrain = true;
    walk(*decl, [&](const Node &node) {
      if (auto *clause = dynCast<ModelClause>(&node)) {
        for (const Instance &instance : clause->instances)
          trainNames.insert(instance.name.text);
      } else if (auto *let = dynCast<LetStmt>(&node)) {
        trainNames.insert(let->name.text);
      } else if (auto *fn = dynCast<FnStmt>(&node)) {
        trainNames.insert(fn->function->name.text);
      } else if (auto *rule = dynCast<RuleClause>(&node); rule && rule->name) {
        trainNames.insert(rule->name.text);
      } else if (auto *data = dynCast<DataClause>(&node)) {
        for (const Source &source : data->sources) {
          Fields fields = world.fieldsOf(*source.value);
          allFields.known &= fields.known;
          allFields.items.insert(allFields.items.end(), fields.items.begin(), fields.items.end());
          if (source.name)
            allFields.items.push_back(source.name);
        }
      }
      return true;
    });
  }
  allFields.known &= hasTrain;
}

/// Names of axes: those that every run has, and each name that is swept below a node.
void NameResolver::collectAxes(const Node &node) {
  for (const char *axis : {"step", "epoch", "round", "seed", "example", "second", "new"})
    axes.insert(axis);
  walk(node, [&](const Node &inner) {
    if (auto *run = dynCast<RunStmt>(&inner))
      for (const Change &change : run->variant.changes)
        for (const ChangePart &part : change.parts)
          if (part.swept && !part.path.names.empty())
            axes.insert(part.path.names.back().text);
    return true;
  });
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

void NameResolver::parameterTypes(const Parameters &list) {
  for (const Parameter &p : list.items)
    type(p.type.get(), true);
}

/// Hyperparameters come before the sizes in their types, which may name them.
void NameResolver::parameters(const Parameters &list, SymbolKind kind) {
  for (const Parameter &p : list.items) {
    value(p.init.get());
    if (const Symbol *old = frame->find(p.name.text); old && old->kind == kind && old->kind != SymbolKind::Unknown)
      diags.report(Diag::declared_twice, p.name.span, p.name.text)
          .note(old->span, "`" + p.name.text + "` is declared here first")
          .help("choose another name, such as `" + p.name.text + "_1`");
    else
      define(p.name, kind);
  }
  parameterTypes(list);
}

/// Names that are used other than to be called, as functions are that somebody else calls.
void NameResolver::collectPassed() {
  std::set<const Node *> callees;
  for (const DeclPtr &decl : world.program().declarations)
    walk(*decl, [&](const Node &node) {
      if (auto *call = dynCast<CallExpr>(&node))
        callees.insert(call->callee.get());
      if (auto *name = dynCast<NameExpr>(&node); name && !callees.count(name))
        passed.insert(name->name);
      return true;
    });
}

/// A function that is passed on has the parameters that its caller gives; options are still its own.
void NameResolver::readByCallers(const FnDecl &fn) {
  if (!passed.count(fn.name.text))
    return;
  for (const Parameter &p : fn.parameters.items)
    if (Symbol *parameter = p.init ? nullptr : frame->find(p.name.text))
      parameter->read = true;
}

/// A parameter of which only a size counts, as in `fn ones_for(x: [n]) -> [n] = ones(n)`, is read by that.
void NameResolver::readThroughSizes(const Parameters &list) {
  for (const Parameter &p : list.items) {
    Symbol *parameter = frame->find(p.name.text);
    if (!parameter || parameter->read || !p.type)
      continue;
    walk(*p.type, [&](const Node &node) {
      auto *name = dynCast<NameExpr>(&node);
      Symbol *size = name ? frame->find(name->name) : nullptr;
      parameter->read |= size && size->kind == SymbolKind::Shape && size->read;
      return true;
    });
  }
}

void NameResolver::body(const Body &body) {
  value(body.value.get());
  block(body.block.get());
}

/// The names that `on [m, n]` and `on module M { … }` bind.
void NameResolver::patternOf(const RuleDecl &rule) {
  if (auto *shapes = dynCast<ShapePattern>(rule.on.get())) {
    shape(shapes->shape, true);
  } else if (auto *module = dynCast<ModulePattern>(rule.on.get())) {
    use(module->model.text, module->model.span);
    type(module->leaves.get(), true);
    for (const char *name : {"input", "output", "output_grad"})
      socket(name, false);
  } else if (auto *reference = dynCast<ReferencePattern>(rule.on.get())) {
    value(reference->reference.get());
  }
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

void NameResolver::declaration(const Decl &decl) {
  switch (decl.kind) {
  case Kind::FnDecl:
    return function(*cast<FnDecl>(&decl));
  case Kind::ModelDecl:
    return model(*cast<ModelDecl>(&decl));
  case Kind::RuleDecl:
    return rule(*cast<RuleDecl>(&decl));
  case Kind::DataDecl:
    return data(*cast<DataDecl>(&decl));
  case Kind::TrainDecl:
    return train(*cast<TrainDecl>(&decl));
  case Kind::ExperimentDecl:
    return experiment(*cast<ExperimentDecl>(&decl));
  case Kind::EnvDecl:
    return env(*cast<EnvDecl>(&decl));
  case Kind::ConstantDecl: {
    FrameScope scope(*this, Place::Constant, nullptr);
    const Stmt *binding = cast<ConstantDecl>(&decl)->binding.get();
    forEachChild(*binding, [&](const Node &child) {
      type(dynCast<Type>(&child), false);
      value(dynCast<Expr>(&child));
    });
    return;
  }
  default:
    return;
  }
}

void NameResolver::function(const FnDecl &fn) {
  FrameScope scope(*this, Place::Function, &fn);
  parameters(fn.parameters, SymbolKind::Parameter);
  body(fn.body);
  readThroughSizes(fn.parameters);
  readByCallers(fn);
  type(fn.result.get(), false);
  if (!fn.backward)
    return;
  terminated = false;
  for (const Ident &parameter : fn.backward->parameters)
    define(parameter, SymbolKind::Parameter);
  body(fn.backward->body);
}

void NameResolver::model(const ModelDecl &model) {
  FrameScope scope(*this, Place::Model, &model);
  parameters(model.hyperparameters, SymbolKind::Hyperparameter);
  parameters(model.inputs, SymbolKind::Parameter);
  body(model.body);
  readThroughSizes(model.inputs);
  type(model.result.get(), false);
}

void NameResolver::rule(const RuleDecl &rule) {
  FrameScope scope(*this, Place::Rule, &rule);
  scope->rule = &rule;
  auto &info = ruleKindInfo(rule.rule);
  for (const std::string &name : info.reads)
    socket(name, false);
  for (const std::string &name : info.writes)
    socket(name, true);
  parameters(rule.parameters, SymbolKind::Hyperparameter);
  patternOf(rule);
  collectAxes(rule);
  value(rule.bounds.get());
  body(rule.body);
}

void NameResolver::data(const DataDecl &data) {
  FrameScope scope(*this, Place::Data, &data);
  parameters(data.parameters, SymbolKind::Hyperparameter);
  value(data.source.get());
  for (const char *name : {"index", "columns", "rows"})
    socket(name, false);
  // `idx(image="…")` names what its files hold, an archive does so itself.
  if (auto *call = dynCast<CallExpr>(data.source.get())) {
    const NameExpr *root = rootName(*call);
    for (const Argument &arg : call->args)
      if (arg.name && root && (root->name == "idx" || root->name == "npy"))
        socket(arg.name.text, false);
    frame->open |= root && root->name == "npz";
    // Items of a text are refused where the source is made, by what they are and not by name.
    if (root && root->name == "text")
      for (const char *name : {"tokens", "next"})
        socket(name, false);
  }
  for (auto &item : data.items) {
    statement(*item->binding);
    // A typed line is a field, for others to read.
    auto *let = dynCast<LetStmt>(item->binding.get());
    auto *draw = dynCast<DrawStmt>(item->binding.get());
    bool isField = !item->fixed && ((let && let->type) || (draw && draw->type));
    if (isField)
      frame->find(let ? let->name.text : draw->name.text)->read = true;
  }
  for (const Argument &part : data.split)
    value(part.value.get());
  auto *run = dynCast<NameExpr>(data.seed.get());
  if (!run || run->name != "run")
    value(data.seed.get());
}

void NameResolver::train(const TrainDecl &train) {
  FrameScope scope(*this, Place::Train, &train);
  parameters(train.parameters, SymbolKind::Hyperparameter);
  for (const char *name : {"batch", "metric", "grads", "activations", "next_batch"})
    socket(name, false);
  for (const char *name : {"params", "optimizer"})
    socket(name, true);
  bool hasLoss = false;
  walk(*train.body, [&](const Node &node) {
    hasLoss |= isa<LossClause>(&node);
    return !isa<Expr>(&node) && !isa<Stmt>(&node);
  });
  if (hasLoss)
    socket("loss", false);
  trainFields(*train.body);
  collectAxes(train);
  clauses(train.body.get());
  // A probe may be all that looks at a model, or at a local.
  for (auto &symbol : frame->symbols)
    for (const DeclPtr &decl : world.program().declarations)
      if (auto *probe = dynCast<RuleDecl>(decl.get()); probe && !symbol->read && probe->rule == RuleKind::Probe)
        walk(*probe, [&](const Node &node) {
          auto *name = dynCast<NameExpr>(&node);
          symbol->read |= name && name->name == symbol->name;
          return true;
        });
}

void NameResolver::experiment(const ExperimentDecl &experiment) {
  FrameScope scope(*this, Place::Experiment, &experiment);
  collectAxes(experiment);
  parameters(experiment.parameters, SymbolKind::Hyperparameter);
  block(experiment.body.get());
}

void NameResolver::env(const EnvDecl &env) {
  FrameScope scope(*this, Place::Env, &env);
  parameters(env.parameters, SymbolKind::Hyperparameter);
  block(env.body.get());
  // `reset`, `observe` and `step` are for the rollout to call.
  for (auto &symbol : frame->symbols)
    if (symbol->kind == SymbolKind::Function)
      symbol->read = true;
}
