#include "frontend/repl/Runs.h"

#include "frontend/AstWalk.h"
#include "frontend/driver/Sweep.h"
#include "frontend/parse/Parser.h"
#include "frontend/repl/Interrupt.h"
#include "frontend/repl/Show.h"

#include "llvm/Support/CrashRecoveryContext.h"

#include <cstdio>
#include <pthread.h>
#include <unistd.h>

namespace dyn::repl {

//===----------------------------------------------------------------------===//
// One run
//===----------------------------------------------------------------------===//

LiveRun::~LiveRun() {
  gate.stop();
  join();
}

bool LiveRun::start(DiagnosticEngine &diags, int threads, bool progress) {
  auto code = Code::link(built.program.object, diags);
  SessionOptions options;
  options.threads = threads;
  options.progress = progress;
  options.gate = &gate;
  execution = code ? Execution::create(built.program.plan, code, std::move(options), diags) : nullptr;
  if (!execution)
    return false;
  thread = std::thread([this] {
    pthread_setname_np(pthread_self(), ("run " + name).substr(0, 15).c_str()); // for debuggers; 15: what the system keeps
    llvm::CrashRecoveryContext recovery;
    crashed = !recovery.RunSafely([this] { execution->run(); });
    gate.finish();
  });
  return true;
}

void LiveRun::join() {
  if (thread.joinable())
    thread.join();
}

/// States by the kind of their owner and by its name: `optimizer adamw.m` is `optimizer.m` and `adamw.m`. The first of
/// several that a word fits keeps it.
static void addStates(elab::RunResult &result, const Session &session) {
  for (const plan::Leaf &state : session.plan().states) {
    auto array = arrayOf(session, state);
    size_t blank = state.path.find(' ');
    size_t dot = state.path.rfind('.');
    if (blank == std::string::npos || dot < blank)
      continue;
    result.series.try_emplace(state.path.substr(0, blank) + state.path.substr(dot), array);
    result.series.try_emplace(state.path.substr(blank + 1), array);
  }
}

std::shared_ptr<elab::RunResult> LiveRun::result() {
  if (seen && seenAt == step())
    return seen;
  seenAt = step();
  seen = execution->result();
  seen->name = name;
  seen->hyperparameters = built.hyperparameters;
  addStates(*seen, execution->session());
  return seen;
}

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

LiveRun *Runs::findQuietly(const std::string &name) const {
  auto it = runs.find(name.empty() ? current : name);
  return it == runs.end() ? nullptr : it->second.get();
}

LiveRun *Runs::find(const std::string &name) {
  LiveRun *run = findQuietly(name);
  if (run) {
    current = run->name;
    return run;
  }
  auto report = work.diags.report(Diag::no_run, Span(), name.empty() ? "yet" : "`" + name + "`");
  if (std::string near = nearest(name, all()); !near.empty())
    report.help("did you mean `" + near + "`?");
  else
    report.help("`run r = …` starts one");
  return nullptr;
}

std::vector<std::string> Runs::all() const {
  std::vector<std::string> list;
  for (auto &[name, run] : runs)
    list.push_back(name);
  return list;
}

std::set<std::string> Runs::taken() const {
  std::set<std::string> set = sweeps;
  for (auto &[name, run] : runs)
    set.insert(name);
  return set;
}

/// The name means the run as it is when it is read.
void Runs::bind(LiveRun &run) {
  work.globals->names.erase(run.name);
  work.globals->defineLazy(run.name, elab::NameKind::Local, {}, [&run] { return elab::Value(run.result()); });
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Whether a run or a sweep may have the name: nothing else has it. False after a report.
bool Runs::isFree(const ast::Ident &name) {
  if (!name || !names.find(name.text) || taken().count(name.text))
    return true;
  work.diags.report(Diag::hidden_name, name.span, name.text, "what is declared under that name")
      .help("choose another name, such as `" + name.text + "_1`");
  return false;
}

bool Runs::run(const ast::RunStmt &stmt) {
  if (!isFree(stmt.name))
    return false;
  elab::ExpectEvaluator evaluator(work.mlirContext(), work.diags, names, work.globals);
  auto request = evaluator.request(stmt);
  if (!request)
    return false;
  const SourceFile *file = work.sources.file(stmt.span);
  std::string variant(file ? file->text(stmt.variant.span) : "");
  std::string name = stmt.name.text;
  for (int n = 1; name.empty(); ++n)
    if (std::string free = "r" + std::to_string(n); !names.find(free))
      name = free;
  request->runName = name;
  auto built = work.elaborate(*request, work.diags, names);
  if (!built || !work.generate(*built, work.diags))
    return false;
  lastTimings = built->timings;
  lastTimings.push_back({built->program.fromCache ? "code: kept" : "code: generated", 0});
  auto made = std::make_unique<LiveRun>(name, std::move(variant), std::move(*request), std::move(*built));
  if (auto steps = std::exchange(nextHold, std::nullopt))
    made->gate.holdFrom(*steps);
  if (!made->start(work.diags, threads, isatty(STDERR_FILENO) == 1))
    return false;
  LiveRun &run = *made;
  if (LiveRun *old = findQuietly(name); old && !old->isOver())
    std::printf("%s, paused after step %lld of %lld, is given up\n", name.c_str(), static_cast<long long>(old->step()),
                static_cast<long long>(old->total()));
  forget(name);
  runs[name] = std::move(made);
  current = name;
  bind(run);
  return watch(run);
}

bool Runs::sweep(const ast::RunStmt &stmt) {
  if (!isFree(stmt.name))
    return false;
  SweepOptions options;
  options.threads = threads;
  options.progress = isatty(STDERR_FILENO) == 1;
  options.names = &names;
  elab::ExpectEvaluator evaluator(work.mlirContext(), work.diags, names, work.globals);
  auto value = evaluator.sweep(stmt, [&](elab::SweepRequest request) {
    Stopwatch watch;
    SweepOutcome outcome = runSweep(work, request, options);
    lastTimings = {{"members", watch.lap()}};
    return std::move(outcome.results);
  });
  if (!value)
    return false;
  forget(stmt.name.text);
  sweeps.insert(stmt.name.text);
  work.globals->define(stmt.name.text, *value, elab::NameKind::Local, stmt.name.span);
  std::printf("%s\n", show(*value, work.sources, 0).c_str());
  return true;
}

static StepGate::State awaitGate(StepGate &gate) {
  WatchedGate watched(gate);
  return gate.await();
}

/// Until the loop is held or over.
bool Runs::watch(LiveRun &run) {
  if (awaitGate(run.gate) == StepGate::State::Finished)
    return conclude(run);
  std::printf("%s is paused after step %lld of %lld\n", run.name.c_str(), static_cast<long long>(run.step()),
              static_cast<long long>(run.total()));
  return true;
}

bool Runs::conclude(LiveRun &run) {
  run.join();
  if (run.crashed)
    return abandon(run);
  const Outcome &outcome = run.execution->outcome();
  if (outcome.status == DYN_INTERRUPTED) {
    std::printf("%s is stopped after step %lld of %lld\n", run.name.c_str(), static_cast<long long>(outcome.step),
                static_cast<long long>(run.total()));
    return true;
  }
  size_t errors = work.diags.errorCount();
  run.execution->explain([&] { return *run.built.nd; }, work.diags, work.sources);
  if (work.diags.errorCount() != errors)
    return false;
  std::printf("%s\n", run.execution->summary().c_str());
  elab::ExpectEvaluator evaluator(work.mlirContext(), work.diags, names, work.globals);
  return evaluator.train(*run.request.decl, run.request, *run.result(), /*verbose=*/true);
}

/// A crash in compiled code leaves the run's threads and memory in any state: they are never touched again.
bool Runs::abandon(LiveRun &run) {
  work.diags.report(Diag::internal_failure, Span()).note("in the code of the run `" + run.name + "`, which is given up");
  run.execution->session().abandon();
  work.globals->names.erase(run.name);
  auto it = runs.find(run.name);
  (void)it->second.release();
  runs.erase(it);
  current.clear();
  return false;
}

bool Runs::resume(const std::string &name, std::optional<int64_t> steps) {
  LiveRun *run = find(name);
  if (!run)
    return false;
  if (run->isOver()) {
    work.diags.report(Diag::run_over, Span(), run->name)
        .help("`run " + run->name + " = " + run->variant + "` starts it again");
    return false;
  }
  run->gate.resume(steps ? run->step() + *steps : StepGate::never);
  return watch(*run);
}

bool Runs::stop(const std::string &name) {
  LiveRun *run = find(name);
  if (!run)
    return false;
  if (run->isOver()) {
    work.diags.report(Diag::run_over, Span(), run->name)
        .help("its metrics and parameters stay, `" + run->name + ".params.…`");
    return false;
  }
  run->gate.stop();
  return watch(*run);
}

//===----------------------------------------------------------------------===//
// Changing numbers
//===----------------------------------------------------------------------===//

/// What a rule's parameter is in a run: what the call says, or its default.
static const ast::Expr *valueIn(const ast::Expr &call, const ast::RuleDecl &rule, size_t parameter) {
  auto *written = ast::dynCast<ast::CallExpr>(&call);
  size_t position = 0;
  for (size_t i = 0; written && i < written->args.size(); ++i) {
    const ast::Argument &argument = written->args[i];
    bool isNamed = argument.name && argument.name.text == rule.parameters.items[parameter].name.text;
    if (isNamed || (!argument.name && position++ == parameter))
      return argument.value.get();
  }
  return rule.parameters.items[parameter].init.get();
}

/// Paths of a rule's numbers, and of those of the rules that it holds: `optimizer.base.lr`.
void Runs::addPaths(const std::string &path, const std::string &alias, const ast::RuleDecl &rule, const ast::Expr &call,
                    std::vector<std::pair<std::string, std::string>> &paths) const {
  constexpr size_t deepest = 8; // rules that hold themselves by default
  for (size_t i = 0; i < rule.parameters.items.size(); ++i) {
    const std::string &name = rule.parameters.items[i].name.text;
    const ast::Expr *value = valueIn(call, rule, i);
    const ast::NameExpr *root = value ? ast::rootName(*value) : nullptr;
    auto *held = root ? ast::dynCast<ast::RuleDecl>(names.find(root->name)) : nullptr;
    paths.emplace_back(path + "." + name, alias + "." + name);
    if (held && std::count(path.begin(), path.end(), '.') < static_cast<int64_t>(deepest))
      addPaths(path + "." + name, alias + "." + name, *held, *value, paths);
  }
}

std::vector<std::pair<std::string, std::string>> Runs::settable(const LiveRun &run) const {
  std::vector<std::pair<std::string, std::string>> paths;
  for (auto &parameter : run.request.decl->parameters.items)
    paths.emplace_back(parameter.name.text, parameter.name.text);
  ast::walk(*run.request.decl->body, [&](const ast::Node &node) {
    auto *clause = ast::dynCast<ast::RuleClause>(&node);
    const ast::NameExpr *root = clause ? ast::rootName(*clause->value) : nullptr;
    auto *rule = root ? ast::dynCast<ast::RuleDecl>(names.find(root->name)) : nullptr;
    if (!rule)
      return true;
    std::string word = clause->name ? clause->name.text : ast::spelling(clause->rule);
    addPaths(word, rule->name.text, *rule, *clause->value, paths);
    return true;
  });
  return paths;
}

/// The path that a person means: whole, by the rule's name, or its last word where only one path ends in it.
std::optional<std::string> Runs::resolve(const LiveRun &run, const std::string &path) {
  auto paths = settable(run);
  std::vector<std::string> fitting, known;
  for (auto &[whole, alias] : paths) {
    if (path == whole || path == alias)
      return whole;
    if (whole.ends_with("." + path))
      fitting.push_back(whole);
    known.push_back(whole);
    known.push_back(whole.substr(whole.rfind('.') + 1));
  }
  if (fitting.size() == 1)
    return fitting.front();
  auto report = work.diags.report(Diag::set_unknown, Span(), run.name, path);
  if (fitting.size() > 1)
    report.help("say which: `" + fitting[0] + "` or `" + fitting[1] + "`");
  else if (std::string near = nearest(path, known); !near.empty())
    report.help("did you mean `" + near + "`?");
  return std::nullopt;
}

/// The run's train with other values, as `with` in an experiment has them; nothing after a report.
std::optional<BuiltTrain> Runs::rebuilt(LiveRun &run, const std::map<std::string, std::string> &settings,
                                        const std::string &entry) {
  std::string text = "run " + run.name + " = " + run.variant + " with ";
  for (auto &[path, value] : settings)
    text += (text.ends_with(" with ") ? "" : ", ") + path + " = " + value;
  auto parsed = parseEntry(work.sources.add(entry, text), work.diags);
  auto *stmt = parsed && parsed->actions.size() == 1
                   ? ast::dynCast<ast::RunStmt>(parsed->actions.front().statement.get())
                   : nullptr;
  if (!stmt)
    return std::nullopt;
  elab::ExpectEvaluator evaluator(work.mlirContext(), work.diags, names, work.globals);
  auto request = evaluator.request(*stmt);
  if (!request)
    return std::nullopt;
  request->runName = run.name;
  return work.elaborate(*request, work.diags, names);
}

bool Runs::set(const std::string &path, const std::string &value, const std::string &entry) {
  LiveRun *run = find("");
  if (!run)
    return false;
  if (run->isOver()) {
    work.diags.report(Diag::run_over, Span(), run->name)
        .help("`run " + run->name + " = … with " + path + " = " + value + "` starts another");
    return false;
  }
  auto whole = resolve(*run, path);
  if (!whole)
    return false;
  auto settings = run->settings;
  settings[*whole] = value;
  auto other = rebuilt(*run, settings, entry);
  if (!other)
    return false;
  const plan::Plan &now = run->execution->session().plan(), &wanted = other->program.plan;
  if (programText(*other->nd) != programText(*run->built.nd) || wanted.total != now.total ||
      wanted.numbers.size() != now.numbers.size())
    return refuseSetting(*run, *whole, value);
  run->execution->session().setNumbers(wanted.numbers);
  run->settings = std::move(settings);
  run->built.hyperparameters = std::move(other->hyperparameters);
  std::printf("%s = %s from step %lld on\n", whole->c_str(), value.c_str(), static_cast<long long>(run->step()));
  return true;
}

/// Another value would be another program.
bool Runs::refuseSetting(const LiveRun &run, const std::string &path, const std::string &value) {
  std::string other = "`run b = " + run.variant + " with " + path + " = " + value + "` starts another run";
  for (auto &[name, schedule] : run.built.schedules)
    if (name.substr(name.rfind('.')) == "." + path.substr(path.rfind('.') + 1)) {
      work.diags.report(Diag::set_scheduled, Span(), path, schedule)
          .note("`" + schedule + "` says a value for each step; a fixed one is another program")
          .help("set the schedule's numbers, `set " + path + " " + schedule + "(" + value + ", …)`, or " + other);
      return false;
    }
  work.diags.report(Diag::set_program, Span(), path, run.name).help(other);
  return false;
}

} // namespace dyn::repl
