#include "frontend/driver/Runner.h"

#include "frontend/AstWalk.h"
#include "frontend/driver/Interpreter.h"
#include "frontend/elaborate/ExpectEvaluator.h"
#include "frontend/elaborate/TrainElaborator.h"
#include "frontend/parse/Parser.h"
#include "runtime/jit/Jit.h"

#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <sstream>
#include <unistd.h>

namespace dyn {

/// Of a run that Ctrl-C ended: nothing else is run then.
static constexpr int interruptedStatus = 130;

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
  for (; reported < diags.all().size(); ++reported)
    std::cerr << diags.render(diags.all()[reported]);
  std::cerr << std::flush;
}

bool Runner::open() {
  if (!program)
    program = library.open(options.file);
  return program != nullptr;
}

int Runner::run() {
  if (cache) {
    warm = std::make_unique<WarmStart>(*cache, options);
    if (auto made = warm->load())
      return runWarm(std::move(*made));
  }
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
      auto message = diags.report(Diag::nothing_to_run, Span(), "`" + options.file + "` has no train or experiment `" + options.name + "`");
      if (!near.empty())
        message.help("did you mean `" + near + "`?");
      report();
      return 1;
    }
  } else if (!experiments.empty())
    trains.clear();
  if (trains.empty() && experiments.empty()) {
    diags.report(Diag::nothing_to_run, Span(), "`" + options.file + "` has no train and no experiment");
    report();
    return 1;
  }
  if (!options.sets.empty() && !experiments.empty()) {
    diags.report(Diag::set_experiment, Span(), experiments.front()->name.text)
        .help("name the train to run, or write `with " + options.sets.front() + "` in the experiment");
    report();
    return 1;
  }
  if (trains.size() != 1 || !experiments.empty())
    warm = nullptr;
  for (auto *train : trains) {
    // Each of several trains has a folder of its own.
    std::string folder = options.out.empty() || trains.size() == 1 ? options.out : options.out + "/" + train->name.text;
    status = std::max(status, runTrain(*train, folder));
    if (status == interruptedStatus)
      return status;
  }
  for (auto *experiment : experiments) {
    status = std::max(status, runExperiment(*experiment));
    if (status == interruptedStatus)
      return status;
  }
  return status;
}

/// Values of `--set`: constants, by name.
std::optional<std::vector<std::pair<std::string, elab::Value>>> Runner::overrides(const ast::TrainDecl &decl) {
  std::vector<std::pair<std::string, elab::Value>> values;
  for (const std::string &set : options.sets) {
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
    values.emplace_back(name, value);
    parsedSets.push_back(std::move(parsed));
  }
  return values;
}

std::optional<elab::TrainRequest> Runner::requestFor(const ast::TrainDecl &decl) {
  elab::TrainRequest request;
  request.decl = &decl;
  request.seed = options.seed;
  request.checkBounds = options.checkBounds;
  auto values = overrides(decl);
  if (!values)
    return std::nullopt;
  request.arguments = std::move(*values);
  return request;
}

/// The exit status of a run that is over; its claims count when nothing else failed.
int Runner::conclude(Finished &finished, const std::function<bool()> &claims) {
  int status = 1;
  if (finished.ran) {
    status = finished.outcome.exitCode();
    if (!finished.outcome.output.isOk()) {
      diags.report(Diag::output_failed, Span(), finished.outcome.output.message());
      status = std::max(status, 1);
    }
    if (status == 0 && !claims())
      status = 1;
  }
  report();
  return status;
}

int Runner::runTrain(const ast::TrainDecl &decl, const std::string &folder) {
  auto request = requestFor(decl);
  if (!request) {
    report();
    return 1;
  }
  Finished finished = train(*request, folder, false);
  return conclude(finished, [&] { return expects(decl, *request, *finished.result); });
}

int Runner::runWarm(Program made) {
  if (options.timings)
    printTimings({}, "kept, by the spec's text");
  // The texts that the program was made from, whatever the files say by the end of a long run.
  for (auto &[path, text] : warm->files())
    sources.provide(path, text);
  auto request = [&]() -> std::optional<elab::TrainRequest> {
    auto *decl = open() ? ast::dynCast<ast::TrainDecl>(library.find(made.plan.name)) : nullptr;
    return decl ? requestFor(*decl) : std::nullopt;
  };
  mlir::OwningOpRef<mlir::ModuleOp> module;
  auto nd = [&]() -> mlir::ModuleOp {
    auto asked = request();
    if (!asked)
      return nullptr;
    elab::Elaborator elaborator(mlirContext(), diags, library, globals);
    auto elaborated = elab::TrainElaborator(elaborator).run(*asked);
    if (!elaborated || !lowerToNd(*elaborated->module, diags))
      return nullptr;
    module = std::move(elaborated->module);
    return *module;
  };
  Finished finished = execute(made, nd, options.out, false);
  return conclude(finished, [&] {
    if (!warm->mayExpect())
      return true;
    auto asked = request();
    return asked && expects(*asked->decl, *asked, *finished.result);
  });
}

/// For `--time`: what compilation took, and whether there was any.
void Runner::printTimings(const Timings &timings, const char *code) const {
  for (auto &[name, milliseconds] : timings)
    std::fprintf(stderr, "%8.1f ms  %s\n", milliseconds, name.c_str());
  std::fprintf(stderr, "code: %s\n", code);
}

Runner::Finished Runner::train(const elab::TrainRequest &request, const std::string &folder, bool inExperiment) {
  // A claim of the experiment that failed before is no mistake in this train.
  DiagnosticEngine own(sources);
  Finished finished = train(request, folder, inExperiment, own);
  diags.adopt(own);
  return finished;
}

Runner::Finished Runner::train(const elab::TrainRequest &request, const std::string &folder, bool inExperiment,
                               DiagnosticEngine &own) {
  elab::Elaborator elaborator(mlirContext(), own, library, globals);
  elab::TrainElaborator trainElaborator(elaborator);
  auto elaborated = trainElaborator.run(request);
  if (!elaborated || own.hasErrors())
    return {};
  Timings timings;
  if (!lowerToNd(*elaborated->module, own, {}, &timings))
    return {};
  Program made{elaborated->plan, "", false};
  mlir::OwningOpRef<mlir::ModuleOp> nd = elaborated->module->clone();
  if (!options.interpret) {
    auto compiled = compileNd(*elaborated->module, elaborated->plan, cache.get(), own, {}, &timings);
    if (!compiled)
      return {};
    made = std::move(*compiled);
    if (warm && !inExperiment)
      warm->store(made, library.closure());
  }
  if (options.timings)
    printTimings(timings, options.interpret ? "interpreted" : made.fromCache ? "kept, by the program" : "generated");
  Finished finished = execute(made, [&] { return *nd; }, folder, inExperiment);
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

/// The first parameter with a value that is not finite; null: there is none.
static const plan::Leaf *notFiniteLeaf(const Session &session) {
  auto finite = [](const auto *values, int64_t count) {
    return std::all_of(values, values + count, [](auto value) { return std::isfinite(value); });
  };
  for (const plan::Leaf &leaf : session.plan().params) {
    int64_t count = 1;
    for (int64_t size : leaf.shape)
      count *= size;
    const void *values = session.data(leaf);
    if (leaf.element == plan::Element::f64 ? !finite(static_cast<const double *>(values), count)
                                           : !finite(static_cast<const float *>(values), count))
      return &leaf;
  }
  return nullptr;
}

/// No loss saw the parameters that the last update made: what it did wrong is found here.
static void checkLastUpdate(const Session &session, Outcome &outcome) {
  if (outcome.status != DYN_OK || !notFiniteLeaf(session))
    return;
  outcome.status = DYN_NOT_FINITE;
  outcome.message = session.plan().specFile + ": the parameters are not finite at the end, after step " +
                    std::to_string(outcome.step);
}

/// Since the process began, loader included; the system counts in hundredths of a second.
static double millisecondsSinceStart() {
  std::ifstream status("/proc/self/stat");
  std::string text((std::istreambuf_iterator<char>(status)), {});
  size_t name = text.rfind(')');
  if (name == std::string::npos)
    return 0;
  std::istringstream fields(text.substr(name + 2));
  std::string field;
  for (int i = 3; i <= 22 && fields >> field; ++i) // 22: when it started, in ticks since boot
    ;
  timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  double started = std::strtod(field.c_str(), nullptr) / static_cast<double>(sysconf(_SC_CLK_TCK));
  return (static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec) - started) * 1e3;
}

Runner::Finished Runner::execute(Program &made, const NdModule &nd, const std::string &folder, bool inExperiment) {
  Finished finished;
  std::unique_ptr<Jit> jit;
  std::unique_ptr<Interpreter> interpreter;
  EntryLookup lookup;
  if (options.interpret) {
    interpreter = std::make_unique<Interpreter>(nd());
    lookup = interpreter->lookup();
  } else {
    auto loaded = Jit::load(made.object);
    if (!loaded) {
      diags.report(Diag::link_failed, Span(), llvm::toString(loaded.takeError()));
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
    diags.report(Diag::session_failed, Span(), created.status().message());
    return finished;
  }
  Session &running = **created;
  if (Status loaded = running.load(); !loaded.isOk()) {
    diags.report(Diag::load_failed, Span(), loaded.message());
    return finished;
  }
  if (options.timings)
    std::fprintf(stderr, "%8.1f ms  from start to the first step\n", millisecondsSinceStart());
  double before = millisecondsSinceStart();
  finished.outcome = running.run();
  checkLastUpdate(running, finished.outcome);
  finished.ran = true;
  if (options.timings)
    std::fprintf(stderr, "%8.1f ms  the loop\n", millisecondsSinceStart() - before);
  finished.result = resultOf(running);
  finished.result->diverged = finished.outcome.status == DYN_NOT_FINITE;
  if (finished.outcome.status == DYN_NOT_FINITE && !inExperiment)
    explainNotFinite(running, finished.outcome, nd);
  else if (!finished.outcome.message.empty() && (!inExperiment || finished.outcome.status != DYN_NOT_FINITE))
    diags.report(Diag::stopped, Span(), finished.outcome.message);
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
void Runner::explainNotFinite(Session &session, const Outcome &outcome, const NdModule &nd) {
  const plan::Leaf *leaf = notFiniteLeaf(session);
  mlir::ModuleOp module = leaf ? nullptr : nd(); // before the report: an error so far would end its lowering
  auto message = diags.report(Diag::not_finite, Span(), outcome.message);
  if (leaf) {
    message.note("the parameter `" + leaf->path + "` is not finite since update " + std::to_string(outcome.step) +
                 ", which `" + leaf->owner + "` made");
    return;
  }
  if (!module)
    return;
  Interpreter interpreter(module);
  interpreter.observe = [&](mlir::Operation *op, llvm::ArrayRef<nd::NdArray> results) {
    for (const nd::NdArray &array : results)
      if (array.isFloat() && !llvm::all_of(array.floats(), [](double x) { return std::isfinite(x); })) {
        message.note(spanOf(op->getLoc(), sources),
                     "the first operation that is not finite is `" + op->getName().stripDialect().str() + "`");
        return mlir::failure();
      }
    return mlir::success();
  };
  session.context().status = DYN_OK;
  interpreter.call("update", &session.context());
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
      diags.report(Diag::output_failed, Span(), finished.outcome.output.message());
      status = 1;
    }
    return finished.result;
  };
  bool held = evaluator.experiment(decl, runTrain, !options.quiet);
  report();
  return std::max(status, held ? 0 : 1);
}

} // namespace dyn
