#include "frontend/driver/Runner.h"

#include "frontend/AstWalk.h"
#include "frontend/driver/Sweep.h"
#include "frontend/elaborate/ExpectEvaluator.h"

#include <cstdio>

namespace dyn {

/// Of a run that Ctrl-C ended: nothing else is run then.
static constexpr int interruptedStatus = 130;

Runner::Runner(RunOptions theOptions)
    : options(std::move(theOptions)), work(options.cache && !options.interpret) {}

Runner::~Runner() = default;

int Runner::run() {
  if (options.timings)
    std::fputs(describe(Timings{{"process start", millisecondsSinceStart()}}).c_str(), stderr);
  int status = runFile();
  if (options.timings)
    printCounts();
  return status;
}

int Runner::runFile() {
  if (!placeProgram()) {
    work.report();
    return 1;
  }
  if (work.cache) {
    warm = std::make_unique<WarmStart>(*work.cache, options, *work.target);
    if (auto made = warm->load())
      return runWarm(std::move(*made));
  }
  auto chosen = choose();
  if (!chosen) {
    work.report();
    return 1;
  }
  if (options.timings)
    std::fputs(describe(work.reading).c_str(), stderr);
  auto &[trains, experiments] = *chosen;
  if (trains.size() != 1 || !experiments.empty())
    warm = nullptr;
  int status = 0;
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

bool Runner::placeProgram() {
  if (options.profile)
    work.target = &Target::profiled();
  if (options.target == Target::cpu().name)
    return true;
  Expected<std::shared_ptr<Device>> found = Device::open(options.target);
  if (found) {
    device = *found;
    work.target = Target::find(device->target());
    return true;
  }
  work.diags.report(Diag::no_device, Span(), options.target, found.status().message())
      .help("leave out `--target` to run on this processor");
  return false;
}

/// The trains and experiments of the file that the options mean; none after a report.
std::optional<Runner::Chosen> Runner::choose() {
  const ast::Program *program = work.open(options.file);
  if (!program)
    return std::nullopt;
  Chosen chosen;
  std::vector<std::string> names;
  auto take = [&](auto *decl, auto &into) {
    if (!decl)
      return;
    names.push_back(decl->name.text);
    if (options.name.empty() || options.name == decl->name.text)
      into.push_back(decl);
  };
  for (auto &decl : program->declarations) {
    take(ast::dynCast<ast::TrainDecl>(decl.get()), chosen.trains);
    take(ast::dynCast<ast::ExperimentDecl>(decl.get()), chosen.experiments);
  }
  if (chosen.trains.empty() && chosen.experiments.empty()) {
    std::string missing = options.name.empty() ? "no train and no experiment"
                                               : "no train or experiment `" + options.name + "`";
    auto message = work.diags.report(Diag::nothing_to_run, Span(), "`" + options.file + "` has " + missing);
    if (auto near = nearest(options.name, names); !near.empty() && !options.name.empty())
      message.help("did you mean `" + near + "`?");
    return std::nullopt;
  }
  if (options.name.empty() && !chosen.experiments.empty())
    chosen.trains.clear();
  if (options.profile && !chosen.experiments.empty()) {
    work.diags.report(Diag::profile_experiment, Span(), chosen.experiments.front()->name.text)
        .help("name a train of `" + options.file + "`: dync run FILE TRAIN --profile");
    return std::nullopt;
  }
  return chosen.experiments.empty() || setsAreRead(chosen.experiments) ? std::optional(chosen) : std::nullopt;
}

static bool hasParameter(const ast::ExperimentDecl &decl, const std::string &name) {
  return llvm::any_of(decl.parameters.items, [&](auto &parameter) { return parameter.name.text == name; });
}

/// Whether each `--set` is a hyperparameter of an experiment that runs.
bool Runner::setsAreRead(const std::vector<const ast::ExperimentDecl *> &experiments) {
  for (const std::string &set : options.sets) {
    std::string name = set.substr(0, set.find('='));
    if (llvm::any_of(experiments, [&](auto *decl) { return hasParameter(*decl, name); }))
      continue;
    work.diags.report(Diag::set_experiment, Span(), set)
        .help("name the train to run, write `with " + set + "` in the experiment, or give the experiment a hyperparameter");
    return false;
  }
  return true;
}

std::optional<elab::TrainRequest> Runner::requestFor(const ast::TrainDecl &decl) {
  elab::TrainRequest request;
  request.decl = &decl;
  request.seed = options.seed;
  request.checkBounds = options.checkBounds;
  auto values = work.overrides(options.sets);
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
      work.diags.report(Diag::output_failed, Span(), finished.outcome.output.message());
      status = std::max(status, 1);
    }
    if (status == 0 && !claims())
      status = 1;
  }
  work.report();
  return status;
}

int Runner::runTrain(const ast::TrainDecl &decl, const std::string &folder) {
  auto request = requestFor(decl);
  if (!request) {
    work.report();
    return 1;
  }
  Finished finished = train(*request, folder, false);
  return conclude(finished, [&] { return expects(decl, *request, *finished.result); });
}

int Runner::runWarm(Program made) {
  work.objects.add(made);
  if (options.timings)
    printTimings({}, "kept, by the spec's text");
  // The texts that the program was made from, whatever the files say by the end of a long run.
  for (auto &[path, text] : warm->files())
    work.sources.provide(path, text);
  auto request = [&]() -> std::optional<elab::TrainRequest> {
    auto *decl = work.open(options.file) ? ast::dynCast<ast::TrainDecl>(work.library.find(made.plan.name)) : nullptr;
    return decl ? requestFor(*decl) : std::nullopt;
  };
  std::optional<BuiltTrain> built;
  auto nd = [&]() -> mlir::ModuleOp {
    if (auto asked = request())
      built = work.elaborate(*asked, work.diags);
    return built ? *built->nd : mlir::ModuleOp();
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
  std::fprintf(stderr, "%scode: %s\n", describe(timings).c_str(), code);
}

/// For `--time`: what the whole command read and made.
void Runner::printCounts() const {
  std::fprintf(stderr, "standard library: %zu of %zu files parsed\nobjects: %d generated, %d kept, %zu bytes\nunits: %d generated, %d kept\n",
               work.library.parsedEmbedded(), embeddedFiles().size(), work.objects.generated, work.objects.kept,
               work.objects.bytes, work.objects.units.generated, work.objects.units.kept);
}

Runner::Finished Runner::train(const elab::TrainRequest &request, const std::string &folder, bool inExperiment) {
  // A claim of the experiment that failed before is no mistake in this train.
  DiagnosticEngine own(work.sources);
  Finished finished = train(request, folder, inExperiment, own);
  work.diags.adopt(own);
  return finished;
}

Runner::Finished Runner::train(const elab::TrainRequest &request, const std::string &folder, bool inExperiment,
                               DiagnosticEngine &own) {
  auto built = work.elaborate(request, own);
  if (!built || (!options.interpret && !work.generate(*built, own)))
    return {};
  if (warm && !inExperiment && !options.interpret)
    warm->store(built->program, work.library.closure());
  if (options.timings)
    printTimings(built->timings, options.interpret           ? "interpreted"
                                 : built->program.fromCache ? "kept, by the program"
                                                            : "generated");
  Finished finished = execute(built->program, [&] { return *built->nd; }, folder, inExperiment, request.start);
  if (finished.result)
    finished.result->hyperparameters = std::move(built->hyperparameters);
  return finished;
}

Runner::Finished Runner::execute(const Program &made, const NdModule &nd, const std::string &folder,
                                 bool inExperiment, std::shared_ptr<const Checkpoint> start) {
  Timings times;
  Stopwatch watch;
  auto code = options.interpret ? Code::interpret(nd()) : Code::link(made.object, work.diags);
  times.push_back({"link", watch.lap()});
  SessionOptions session;
  session.threads = options.threads;
  session.directory = folder;
  session.run = made.plan.name;
  session.progress = !options.quiet;
  session.catchInterrupt = true;
  session.device = device;
  session.keepCheckpoints = inExperiment;
  session.start = start;
  auto execution = code ? Execution::create(made.plan, code, std::move(session), work.diags) : nullptr;
  if (!execution)
    return {};
  times.push_back({"load data", watch.lap()});
  times.push_back({"from start to the first step", millisecondsSinceStart()});
  if (options.timings)
    std::fputs(describe(times).c_str(), stderr);
  watch.lap();
  Finished finished;
  finished.outcome = execution->run();
  finished.ran = true;
  if (options.timings)
    std::fputs(describe(Timings{{"the loop", watch.lap()}}).c_str(), stderr);
  finished.result = execution->result();
  // In an experiment a run that diverged is an outcome.
  if (!inExperiment || !finished.result->diverged)
    execution->explain(nd, work.diags, work.sources);
  if (!options.quiet && finished.outcome.status == DYN_OK) {
    std::printf("%s\n", execution->summary().c_str());
    std::fflush(stdout);
  } else if (!options.quiet && inExperiment && finished.result->diverged) {
    std::printf("%s: diverged at step %lld\n", made.plan.name.c_str(), static_cast<long long>(finished.outcome.step));
    std::fflush(stdout);
  }
  if (const Profile *profile = execution->session().profile()) {
    std::printf("%s", describe(*profile).c_str());
    std::fflush(stdout);
  }
  return finished;
}

bool Runner::expects(const ast::TrainDecl &decl, const elab::TrainRequest &request, const elab::RunResult &result) {
  elab::ExpectEvaluator evaluator(work.mlirContext(), work.diags, work.library, work.globals);
  return evaluator.train(decl, request, result, !options.quiet);
}

std::vector<std::shared_ptr<elab::RunResult>> Runner::sweep(elab::SweepRequest request, int &status) {
  for (elab::TrainRequest &member : request.members) {
    member.checkBounds = options.checkBounds;
    if (options.seed && !member.seed)
      member.seed = options.seed;
  }
  SweepOptions how{options.threads, options.out, !options.quiet, options.interpret, options.timings, device};
  SweepOutcome outcome = runSweep(work, request, how);
  status = std::max(status, outcome.status);
  size_t diverged = llvm::count_if(outcome.results, [](auto &result) { return result->diverged; });
  if (!options.quiet && outcome.status == 0) {
    std::printf("%s: %zu members%s\n", request.name.c_str(), outcome.results.size(),
                diverged ? (", " + std::to_string(diverged) + " diverged").c_str() : "");
    std::fflush(stdout);
  }
  return std::move(outcome.results);
}

int Runner::runExperiment(const ast::ExperimentDecl &decl) {
  elab::ExpectEvaluator evaluator(work.mlirContext(), work.diags, work.library, work.globals);
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
      work.diags.report(Diag::output_failed, Span(), finished.outcome.output.message());
      status = 1;
    }
    return finished.result;
  };
  auto runMembers = [&](elab::SweepRequest request) { return sweep(std::move(request), status); };
  auto sets = work.overrides(options.sets);
  if (!sets) {
    work.report();
    return 1;
  }
  std::map<std::string, elab::Value> given;
  for (auto &[name, value] : *sets)
    if (hasParameter(decl, name))
      given[name] = value;
  bool held = evaluator.experiment(decl, {runTrain, runMembers}, !options.quiet, given, options.seed);
  work.report();
  return std::max(status, held ? 0 : 1);
}

} // namespace dyn
