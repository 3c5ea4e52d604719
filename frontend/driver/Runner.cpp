#include "frontend/driver/Runner.h"

#include "frontend/AstWalk.h"
#include "frontend/driver/Interpreter.h"
#include "frontend/elaborate/ExpectEvaluator.h"
#include "frontend/elaborate/TrainElaborator.h"
#include "frontend/parse/Parser.h"
#include "runtime/jit/Jit.h"

#include <cmath>
#include <cstdio>
#include <iostream>

namespace dyn {

Runner::Runner(RunOptions theOptions)
    : options(std::move(theOptions)), diags(sources), library(sources, diags),
      globals(std::make_shared<elab::Scope>()) {
  if (options.cache && !options.interpret)
    cache = std::make_unique<ObjectCache>();
}

Runner::~Runner() = default;

mlir::MLIRContext &Runner::mlirContext() {
  if (!context)
    context = makeContext();
  return *context;
}

void Runner::report() {
  if (!diags.all().empty())
    std::cerr << diags.render() << std::flush;
}

bool Runner::open() {
  if (!program)
    program = library.open(options.file);
  return program != nullptr;
}

int Runner::run() {
  if (!open()) {
    report();
    return 1;
  }
  std::vector<const ast::TrainDecl *> trains;
  std::vector<const ast::ExperimentDecl *> experiments;
  std::vector<std::string> names;
  for (auto &decl : program->declarations) {
    if (auto *train = ast::dynCast<ast::TrainDecl>(decl.get()))
      trains.push_back(train);
    else if (auto *experiment = ast::dynCast<ast::ExperimentDecl>(decl.get()))
      experiments.push_back(experiment);
    else
      continue;
    names.push_back(ast::declaredName(*decl)->text);
  }
  int status = 0;
  if (!options.name.empty()) {
    std::erase_if(trains, [&](auto *t) { return t->name.text != options.name; });
    std::erase_if(experiments, [&](auto *x) { return x->name.text != options.name; });
    if (trains.empty() && experiments.empty()) {
      auto near = nearest(options.name, names);
      std::cerr << options.file << ": error: no train or experiment is called `" << options.name << "`"
                << (near.empty() ? "" : "; did you mean `" + near + "`?") << " [E0609]\n";
      return 1;
    }
  } else if (!experiments.empty())
    trains.clear();
  if (trains.empty() && experiments.empty()) {
    std::cerr << options.file << ": error: there is no train and no experiment to run [E0609]\n";
    return 1;
  }
  for (auto *train : trains)
    status = std::max(status, runTrain(*train));
  for (auto *experiment : experiments)
    status = std::max(status, runExperiment(*experiment));
  return status;
}

/// Values of `--set`: constants, by name.
std::optional<std::vector<std::pair<std::string, elab::Value>>> Runner::overrides(const ast::TrainDecl &decl) {
  std::vector<std::pair<std::string, elab::Value>> values;
  for (const std::string &set : options.sets) {
    size_t equals = set.find('=');
    std::string name = set.substr(0, equals);
    if (equals == std::string::npos || name.empty()) {
      std::cerr << "error: `--set` takes NAME=VALUE, not `" << set << "` [E0610]\n";
      return std::nullopt;
    }
    const SourceFile &file = sources.add("--set " + name, "value = " + set.substr(equals + 1) + "\n");
    auto parsed = parse(file, diags);
    if (!parsed)
      return std::nullopt;
    auto *constant = ast::dynCast<ast::ConstantDecl>(parsed->declarations.front().get());
    auto *let = constant ? ast::dynCast<ast::LetStmt>(constant->binding.get()) : nullptr;
    if (!let)
      return std::nullopt;
    elab::Elaborator e(mlirContext(), diags, library, globals);
    mlir::OwningOpRef<mlir::ModuleOp> scratch = mlir::ModuleOp::create(mlir::UnknownLoc::get(&mlirContext()));
    e.builder.setInsertionPointToEnd(scratch->getBody());
    e.numbersAreOperands = false;
    elab::Frame frame(std::make_shared<elab::Scope>(globals));
    elab::Value value = e.evaluate(*let->value, frame);
    if (value.isInvalid())
      return std::nullopt;
    values.emplace_back(name, value);
    parsedSets.push_back(std::move(parsed));
  }
  return values;
}

int Runner::runTrain(const ast::TrainDecl &decl) {
  elab::TrainRequest request;
  request.decl = &decl;
  request.seed = options.seed;
  request.checkBounds = options.checkBounds;
  auto values = overrides(decl);
  if (!values) {
    report();
    return 1;
  }
  request.arguments = *values;
  Finished finished = train(request, options.out, false);
  if (!finished.ran) {
    report();
    return 1;
  }
  int status = finished.outcome.exitCode();
  if (!finished.outcome.output.isOk()) {
    std::cerr << "error: " << finished.outcome.output.message() << " [E0611]\n";
    status = std::max(status, 1);
  }
  if (status == 0 && !expects(decl, request, *finished.result))
    status = 1;
  report();
  return status;
}

Runner::Finished Runner::train(const elab::TrainRequest &request, const std::string &folder, bool inExperiment) {
  size_t errors = diags.errorCount();
  elab::Elaborator elaborator(mlirContext(), diags, library, globals);
  elab::TrainElaborator trainElaborator(elaborator);
  auto elaborated = trainElaborator.run(request);
  if (!elaborated || diags.errorCount() != errors)
    return {};
  Timings timings;
  if (!lowerToNd(*elaborated->module, diags, {}, &timings))
    return {};
  Program made{elaborated->plan, "", false};
  mlir::OwningOpRef<mlir::ModuleOp> nd = elaborated->module->clone();
  if (!options.interpret) {
    auto compiled = compileNd(*elaborated->module, elaborated->plan, cache.get(), diags, {}, &timings);
    if (!compiled)
      return {};
    made = std::move(*compiled);
  }
  if (options.timings)
    for (auto &[name, milliseconds] : timings)
      std::fprintf(stderr, "%8.1f ms  %s\n", milliseconds, name.c_str());
  Finished finished = execute(made, *nd, folder, inExperiment);
  if (finished.result)
    for (auto &[name, binding] : elaborated->scope->names)
      if (auto *c = binding.value.as<elab::Const>())
        finished.result->hyperparameters[name] = c->number;
  return finished;
}

/// Metrics and parameters of a session as values of an experiment.
static std::shared_ptr<elab::RunResult> resultOf(Session &session) {
  auto result = std::make_shared<elab::RunResult>();
  result->name = session.plan().name;
  for (const plan::Metric &metric : session.plan().metrics) {
    auto series = std::make_shared<elab::Series>();
    series->name = metric.name;
    series->shape.assign(metric.shape.begin(), metric.shape.end());
    if (auto it = session.series().find(metric.name); it != session.series().end()) {
      series->at.assign(it->second.at.begin(), it->second.at.end());
      series->values = it->second.values;
    }
    result->series[metric.name] = series;
  }
  for (const plan::Leaf &leaf : session.plan().params) {
    auto values = std::make_shared<elab::Series>();
    values->name = leaf.path;
    values->isArray = true;
    int64_t count = 1;
    for (int64_t size : leaf.shape)
      count *= size;
    values->shape.assign(leaf.shape.begin(), leaf.shape.end());
    for (int64_t i = 0; i < count; ++i)
      values->values.push_back(leaf.element == plan::Element::f64
                                   ? static_cast<const double *>(session.data(leaf))[i]
                                   : static_cast<const float *>(session.data(leaf))[i]);
    result->leaves[leaf.path] = elab::Value(values);
  }
  return result;
}

Runner::Finished Runner::execute(Program &made, mlir::ModuleOp nd, const std::string &folder, bool inExperiment) {
  Finished finished;
  std::unique_ptr<Jit> jit;
  std::unique_ptr<Interpreter> interpreter;
  EntryLookup lookup;
  if (options.interpret) {
    interpreter = std::make_unique<Interpreter>(nd);
    lookup = interpreter->lookup();
  } else {
    auto loaded = Jit::load(made.object);
    if (!loaded) {
      std::cerr << "error: cannot link the compiled program: " << llvm::toString(loaded.takeError()) << " [E0612]\n";
      return finished;
    }
    jit = std::move(*loaded);
    lookup = [&jit](const std::string &name) -> Entry {
      auto entry = jit->lookup(name);
      if (!entry) {
        llvm::consumeError(entry.takeError());
        return {};
      }
      return *entry;
    };
  }
  SessionOptions session;
  session.threads = options.threads;
  session.directory = folder;
  session.run = made.plan.name;
  session.progress = !options.quiet;
  session.catchInterrupt = true;
  auto created = Session::create(made.plan, lookup, std::move(session));
  if (!created) {
    std::cerr << "error: " << created.status().message() << " [E0613]\n";
    return finished;
  }
  Session &running = **created;
  if (Status loaded = running.load(); !loaded.isOk()) {
    std::cerr << "error: " << loaded.message() << " [E0614]\n";
    return finished;
  }
  finished.outcome = running.run();
  finished.ran = true;
  finished.result = resultOf(running);
  finished.result->diverged = finished.outcome.status == DYN_NOT_FINITE;
  if (finished.outcome.status == DYN_NOT_FINITE && !inExperiment && nd)
    std::cerr << "error: " << explainNotFinite(running, finished.outcome, nd) << " [E0615]\n";
  else if (!finished.outcome.message.empty() && (!inExperiment || finished.outcome.status != DYN_NOT_FINITE))
    std::cerr << "error: " << finished.outcome.message << " [E0616]\n";
  if (!options.quiet && finished.outcome.status == DYN_OK) {
    std::printf("%s: %lld steps", made.plan.name.c_str(), static_cast<long long>(finished.outcome.step));
    for (const plan::Metric &metric : made.plan.metrics) {
      auto it = finished.result->series.find(metric.name);
      if (it != finished.result->series.end() && it->second->shape.empty() && !it->second->values.empty())
        std::printf(", %s %.6g", metric.name.c_str(), it->second->values.back());
    }
    std::printf("\n");
    std::fflush(stdout);
  }
  return finished;
}

/// Names step, leaf and first operation of a value that is not finite, by running the step once more, plainly.
std::string Runner::explainNotFinite(Session &session, const Outcome &outcome, mlir::ModuleOp nd) {
  std::string text = outcome.message;
  for (const plan::Leaf &leaf : session.plan().params) {
    int64_t count = 1;
    for (int64_t size : leaf.shape)
      count *= size;
    for (int64_t i = 0; i < count; ++i) {
      double value = leaf.element == plan::Element::f64 ? static_cast<const double *>(session.data(leaf))[i]
                                                        : static_cast<const float *>(session.data(leaf))[i];
      if (!std::isfinite(value))
        return text + "\n  note: the parameter `" + leaf.path + "` is not finite since update " +
               std::to_string(outcome.step) + ", which `" + leaf.owner + "` made";
    }
  }
  Interpreter interpreter(nd);
  std::string first;
  interpreter.observe = [&](mlir::Operation *op, llvm::ArrayRef<nd::NdArray> results) {
    for (const nd::NdArray &array : results) {
      if (!array.isFloat())
        continue;
      for (double value : array.floats())
        if (!std::isfinite(value)) {
          auto file = mlir::dyn_cast<mlir::FileLineColLoc>(op->getLoc());
          first = "\n  note: the first operation that is not finite is `" + op->getName().stripDialect().str() + "`";
          if (file)
            first += ", at " + file.getFilename().str() + ":" + std::to_string(file.getLine()) + ":" + std::to_string(file.getColumn());
          return mlir::failure();
        }
    }
    return mlir::success();
  };
  session.context().status = DYN_OK;
  interpreter.call("update", &session.context());
  return text + first;
}

bool Runner::expects(const ast::TrainDecl &decl, const elab::TrainRequest &request, const elab::RunResult &result) {
  elab::ExpectEvaluator evaluator(mlirContext(), diags, library, globals);
  return evaluator.train(decl, request, result, !options.quiet);
}

int Runner::runExperiment(const ast::ExperimentDecl &decl) {
  elab::ExpectEvaluator evaluator(mlirContext(), diags, library, globals);
  int status = 0;
  auto runTrain = [&](elab::TrainRequest request) -> std::shared_ptr<elab::RunResult> {
    request.checkBounds = options.checkBounds;
    if (options.seed && !request.seed)
      request.seed = options.seed;
    std::string folder = options.out.empty() ? "" : options.out + "/" + request.runName;
    Finished finished = train(request, folder, true);
    if (!finished.ran)
      return nullptr;
    if (finished.outcome.status != DYN_OK && finished.outcome.status != DYN_NOT_FINITE) {
      status = std::max(status, finished.outcome.exitCode());
      return nullptr;
    }
    if (!finished.outcome.output.isOk()) {
      std::cerr << "error: " << finished.outcome.output.message() << " [E0611]\n";
      status = 1;
    }
    return finished.result;
  };
  bool held = evaluator.experiment(decl, runTrain, !options.quiet);
  report();
  return std::max(status, held ? 0 : 1);
}

} // namespace dyn
