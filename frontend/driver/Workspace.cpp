#include "frontend/driver/Workspace.h"

#include "frontend/parse/Parser.h"

#include <algorithm>
#include <iostream>

namespace dyn {

Workspace::Workspace(bool useCache)
    : diags(sources), library(sources, diags), globals(std::make_shared<elab::Scope>()) {
  if (useCache)
    cache = std::make_unique<ObjectCache>();
}

Workspace::~Workspace() = default;

mlir::MLIRContext &Workspace::mlirContext() {
  if (!context)
    context = makeContext();
  return *context;
}

const ast::Program *Workspace::open(const std::string &file) {
  if (program)
    return program;
  Stopwatch watch;
  program = library.open(file);
  reading = {{"read", watch.lap()}};
  return program;
}

void Workspace::report() {
  for (; reported < diags.all().size(); ++reported)
    std::cerr << diags.render(diags.all()[reported]);
  std::cerr << std::flush;
}

std::optional<std::vector<std::pair<std::string, elab::Value>>>
Workspace::overrides(const std::vector<std::string> &sets) {
  std::vector<std::pair<std::string, elab::Value>> values;
  for (const std::string &set : sets) {
    size_t equals = set.find('=');
    std::string name = set.substr(0, equals);
    if (equals == std::string::npos || name.empty()) {
      diags.report(Diag::set_form, Span(), set);
      return std::nullopt;
    }
    const SourceFile &file = sources.add("--set " + name, "value = " + set.substr(equals + 1) + "\n");
    auto parsed = parse(file, diags);
    if (!parsed)
      return std::nullopt;
    auto *constant = ast::dynCast<ast::ConstantDecl>(parsed->declarations.front().get());
    auto *let = constant ? ast::dynCast<ast::LetStmt>(constant->binding.get()) : nullptr;
    if (!let || parsed->declarations.size() != 1) {
      diags.report(Diag::set_form, Span(), set);
      return std::nullopt;
    }
    elab::Elaborator e(mlirContext(), diags, library, globals);
    mlir::OwningOpRef<mlir::ModuleOp> scratch = mlir::ModuleOp::create(mlir::UnknownLoc::get(&mlirContext()));
    e.builder.setInsertionPointToEnd(scratch->getBody());
    e.numbersAreOperands = false;
    elab::Frame frame(std::make_shared<elab::Scope>(globals));
    elab::Value value = e.evaluate(*let->value, frame);
    if (value.isInvalid())
      return std::nullopt;
    auto host = value.as<elab::Tensor>() ? e.host(value, let->value->span) : std::nullopt;
    if (host && host->shape.empty())
      value = elab::Value(elab::Const{host->values.front(), host->elem, true, ""}, let->value->span);
    if (!value.as<elab::Const>() && !value.as<elab::Text>()) {
      diags.report(Diag::set_value, let->value->span, name, elab::describe(value));
      return std::nullopt;
    }
    if (std::any_of(values.begin(), values.end(), [&](auto &given) { return given.first == name; })) {
      diags.report(Diag::repeated_argument, Span(), name).help("leave one `--set` out");
      return std::nullopt;
    }
    values.emplace_back(name, value);
    parsedSets.push_back(std::move(parsed));
  }
  return values;
}

std::unique_ptr<elab::Elaborated> Workspace::elaborateOnly(const elab::TrainRequest &request, DiagnosticEngine &own) {
  return elaborateOnly(request, own, library);
}

std::unique_ptr<elab::Elaborated> Workspace::elaborateOnly(const elab::TrainRequest &request, DiagnosticEngine &own,
                                                           const Library &names) {
  elab::Elaborator elaborator(mlirContext(), own, names, globals);
  auto elaborated = elab::TrainElaborator(elaborator).run(request);
  return own.hasErrors() ? nullptr : std::move(elaborated);
}

std::optional<BuiltTrain> Workspace::lower(elab::Elaborated &elaborated, DiagnosticEngine &own) {
  BuiltTrain train;
  train.program.plan = std::move(elaborated.plan);
  train.nd = std::move(elaborated.module);
  if (!lowerToNd(*train.nd, own, {}, &train.timings))
    return std::nullopt;
  train.hyperparameters = hyperparametersOf(elaborated);
  for (const elab::ScheduledNumber &number : elaborated.schedules)
    train.schedules[number.name] = number.schedule.decl->name.text;
  return train;
}

std::map<std::string, double> hyperparametersOf(const elab::Elaborated &elaborated) {
  std::map<std::string, double> numbers;
  for (auto &[name, binding] : elaborated.scope->names)
    if (auto *c = binding.value.as<elab::Const>())
      numbers[name] = c->number;
  return numbers;
}

std::optional<BuiltTrain> Workspace::elaborate(const elab::TrainRequest &request, DiagnosticEngine &own) {
  return elaborate(request, own, library);
}

std::optional<BuiltTrain> Workspace::elaborate(const elab::TrainRequest &request, DiagnosticEngine &own,
                                               const Library &names) {
  Stopwatch watch;
  auto elaborated = elaborateOnly(request, own, names);
  if (!elaborated)
    return std::nullopt;
  Timing row{"elaborate", watch.lap(), countOps(*elaborated->module)};
  auto built = lower(*elaborated, own);
  if (built)
    built->timings.insert(built->timings.begin(), std::move(row));
  return built;
}

bool Workspace::generate(BuiltTrain &train, DiagnosticEngine &own) {
  mlir::OwningOpRef<mlir::ModuleOp> lowered = train.nd->clone();
  auto compiled = compileNd(*lowered, train.program.plan, cache.get(), own, {}, &train.timings, *target);
  if (!compiled)
    return false;
  train.program = std::move(*compiled);
  objects.add(train.program);
  return true;
}

} // namespace dyn
