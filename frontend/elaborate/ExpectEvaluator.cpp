#include "frontend/elaborate/ExpectEvaluator.h"
#include "frontend/elaborate/TrainElaborator.h"

#include "runtime/Random.h"

#include <cstdio>

namespace dyn::elab {

ExpectEvaluator::ExpectEvaluator(mlir::MLIRContext &context, DiagnosticEngine &diags, const Library &library,
                                 ScopePtr globals)
    : diags(diags), e(context, diags, library, globals), globals(globals),
      scratch(mlir::ModuleOp::create(mlir::UnknownLoc::get(&context))) {
  e.numbersAreOperands = false;
  e.realType = mlir::Float64Type::get(&context);
  e.builder.setInsertionPointToEnd(scratch->getBody());
  // Metrics and sweeps are at hand here, an experiment's statements are not.
  e.onRun = [this](const ast::RunStmt &stmt, Frame &) {
    e.notHere(stmt.span, "`run`");
    return Value();
  };
}

ExpectEvaluator::~ExpectEvaluator() = default;

static std::string number(double x) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", x);
  return text;
}

/// Both sides of a comparison as they came out, for messages.
static std::string outcome(Elaborator &e, const ast::Expr &claim, Frame &frame) {
  auto *binary = ast::dynCast<ast::BinaryExpr>(&claim);
  if (!binary)
    return "";
  if (binary->op == ast::BinaryOp::And || binary->op == ast::BinaryOp::Or) {
    std::string left = outcome(e, *binary->lhs, frame);
    if (decides(binary->op, e.known(e.evaluate(*binary->lhs, frame), binary->lhs->span)))
      return left;
    std::string right = outcome(e, *binary->rhs, frame);
    return left.empty() ? right : right.empty() ? left : left + "; " + right;
  }
  std::string text;
  for (const ast::Expr *side : {binary->lhs.get(), binary->rhs.get()}) {
    if (ast::isa<ast::NumberExpr>(side))
      continue;
    Value value = e.evaluate(*side, frame);
    if (auto *series = value.as<std::shared_ptr<Series>>(); series && (*series)->isNamed())
      value = lastOf(**series, side->span);
    auto host = value.isInvalid() ? std::nullopt : e.host(value, side->span);
    if (host && host->values.size() == 1)
      text += (text.empty() ? "" : ", ") + ("`" + print(*side) + "` is " + number(host->values[0]));
  }
  return text;
}

bool ExpectEvaluator::expect(const ast::Expr &claim, Frame &frame, bool verbose) {
  size_t errors = diags.errorCount();
  Value value = e.evaluate(claim, frame);
  if (value.isInvalid() || diags.errorCount() != errors)
    return false;
  auto host = e.host(value, claim.span);
  if (diags.errorCount() != errors)
    return false;
  if (!host || host->elem != Elem::Bool || host->values.size() != 1) {
    diags.report(Diag::expect_not_bool, claim.span, describe(value)).help("`all(…)` and `any(…)` make one of many");
    return false;
  }
  std::string found = outcome(e, claim, frame);
  if (host->values[0] != 0) {
    if (verbose)
      std::printf("  holds: %s%s\n", print(claim).c_str(), found.empty() ? "" : ("   (" + found + ")").c_str());
    return true;
  }
  auto report = diags.report(Diag::expect_failed, claim.span, "`" + print(claim) + "`");
  if (!found.empty())
    report.note(found);
  return false;
}

/// Metrics by name: `loss` is a series, `test` holds those of the eval `test`.
static void bindMetrics(const RunResult &result, Scope &scope, Span span) {
  for (auto &[name, series] : result.series) {
    size_t dot = name.find('.');
    if (dot == std::string::npos) {
      scope.define(name, Value(series, span), NameKind::Socket, span);
      continue;
    }
    auto view = std::make_shared<RunResult>(result);
    view->prefix = name.substr(0, dot);
    scope.define(view->prefix, Value(view, span), NameKind::Socket, span);
  }
}

static void findExpects(const ast::ClauseBlock &block, std::vector<const ast::Expr *> &list, Elaborator &e, Frame &frame) {
  for (auto &clause : block.clauses) {
    if (auto *stmt = ast::dynCast<ast::StmtClause>(clause.get())) {
      if (auto *expect = ast::dynCast<ast::ExpectStmt>(stmt->statement.get()))
        list.push_back(expect->value.get());
    } else if (auto *branch = ast::dynCast<ast::IfClause>(clause.get())) {
      Value condition = e.evaluate(*branch->condition, frame);
      auto *known = condition.as<Const>();
      const ast::ClauseBlock *taken = known && known->number != 0 ? branch->thenClauses.get() : branch->elseClauses.get();
      if (taken)
        findExpects(*taken, list, e, frame);
    }
  }
}

bool ExpectEvaluator::train(const ast::TrainDecl &decl, const TrainRequest &request, const RunResult &result, bool verbose) {
  auto scope = std::make_shared<Scope>(globals);
  std::map<std::string, Value> given;
  for (auto &[name, value] : request.arguments)
    given[name] = value;
  if (!e.bindValues(decl.parameters, given, scope, NameKind::Hyperparameter, "`" + decl.name.text + "`", decl.name.span))
    return false;
  Frame frame(std::make_shared<Scope>(scope));
  bindMetrics(result, *frame.scope, decl.name.span);
  std::vector<const ast::Expr *> claims;
  findExpects(*decl.body, claims, e, frame);
  e.bareSeriesIsLast = true;
  bool held = true;
  for (const ast::Expr *claim : claims)
    held &= expect(*claim, frame, verbose);
  e.bareSeriesIsLast = false;
  return held;
}

/// A value that outlives the experiment's own code: numbers and arrays as they came out.
Value ExpectEvaluator::forTrain(const Value &value, Span span) {
  Value now = e.known(value, span);
  auto host = now.as<Tensor>() ? e.host(now, span) : std::nullopt;
  if (!host)
    return now;
  auto array = std::make_shared<Series>();
  array->name = "an array";
  array->shape.assign(host->shape.begin(), host->shape.end());
  array->values = host->values;
  array->elem = host->elem;
  return Value(array, span);
}

/// Whether a fork's part stands in the place of one that its run was made with.
static bool isReplaced(const TrainChange &before, const std::string &part) {
  const std::string path = before.part->path.text();
  if (!before.inherited)
    return false;
  auto isLength = [](const std::string &word) { return word == "steps" || word == "epochs"; };
  return path == part || (isLength(path) && isLength(part)) || llvm::StringRef(path).starts_with(part + ".");
}

/// A part of `with`: a hyperparameter is an argument, anything else the train's to apply.
bool ExpectEvaluator::changePart(const ast::ChangePart &part, const Value &value, const ast::Expr &written,
                                 TrainRequest &request) {
  const std::string name = part.path.text();
  bool isHyper = llvm::any_of(request.decl->parameters.items, [&](auto &p) { return p.name.text == name; });
  if (!isHyper) {
    std::erase_if(request.changes, [&](const TrainChange &before) { return isReplaced(before, name); });
    if (name == "seed" && request.start)
      request.seed.reset();
    request.changes.push_back({&part, value, &written, request.changeScope});
    return true;
  }
  bool plain = part.ruleOptions.empty() && part.sourceOptions.empty();
  if (!plain)
    diags.report(Diag::part_option, part.span, name).help("leave it out");
  request.arguments.emplace_back(name, value);
  return plain;
}

/// The train and the arguments of its call, or those of a fork's run; nothing after a report, or when an argument is not known yet.
std::optional<TrainRequest> ExpectEvaluator::requestOf(const ast::RunStmt &stmt, Frame &frame) {
  const ast::Expr *base = stmt.variant.base.get();
  if (stmt.variant.fork) {
    Value from = e.evaluate(*base, frame);
    auto *run = from.as<std::shared_ptr<RunResult>>();
    if (run && !(*run)->isSweep())
      return forkOf(stmt, *run, frame);
    if (!from.isInvalid())
      diags.report(Diag::wrong_kind, base->span, print(*base), run ? "a sweep" : describe(from), "a run")
          .help(run ? "take one of its runs: `" + print(*base) + ".at(…)`" : "`fork r at step n` goes on from the run `r`");
    return std::nullopt;
  }
  auto *callExpr = ast::dynCast<ast::CallExpr>(base);
  Value callee = e.evaluate(callExpr ? *callExpr->callee : *base, frame);
  auto *named = callee.as<TrainName>();
  if (!named) {
    if (!callee.isInvalid())
      diags.report(Diag::wrong_kind, base->span, print(*base), describe(callee), "a train");
    return std::nullopt;
  }
  TrainRequest request;
  request.decl = named->decl;
  request.runName = folderOf(stmt.name.text);
  request.changeScope = frame.scope;
  size_t next = 0;
  for (size_t i = 0; callExpr && i < callExpr->args.size(); ++i) {
    const ast::Argument &arg = callExpr->args[i];
    std::string name = arg.name.text;
    if (!arg.name) {
      if (next >= named->decl->parameters.items.size()) {
        diags.report(Diag::too_many_arguments, arg.span, named->decl->name.text,
                     std::to_string(named->decl->parameters.items.size()) + " arguments", callExpr->args.size());
        return std::nullopt;
      }
      name = named->decl->parameters.items[next++].name.text;
    }
    Value value = e.evaluate(*arg.value, frame);
    if (value.isInvalid() || isSketch(value))
      return std::nullopt;
    value = forTrain(value, arg.span);
    value.origin = arg.value->span;
    request.arguments.emplace_back(name, value);
  }
  return request;
}

Value ExpectEvaluator::run(const ast::RunStmt &stmt, Frame &frame, const Runs &runs) {
  if (stmt.sweep && !runs.sweep) {
    diags.report(Diag::not_supported, stmt.span, "`sweep` here is");
    return {};
  }
  InstantiationScope chain(diags, (stmt.sweep ? "sweep " : "run ") + stmt.name.text, stmt.span);
  auto request = requestOf(stmt, frame);
  if (!request)
    return {};
  std::vector<Swept> sweptParts;
  for (auto &change : stmt.variant.changes) {
    if (!change.removed.empty()) {
      diags.report(Diag::not_supported, change.span, "`without` is");
      return {};
    }
    for (auto &part : change.parts) {
      if (part.swept) {
        auto one = swept(part, frame);
        if (!one)
          return {};
        sweptParts.push_back(std::move(*one));
        continue;
      }
      Value value = part.path.text() == "precision" ? Value() : e.evaluate(*part.value, frame);
      if ((value.isInvalid() && part.path.text() != "precision") || isSketch(value))
        return {};
      value = forTrain(value, part.span);
      value.origin = part.value->span;
      if (!changePart(part, value, *part.value, *request))
        return {};
    }
  }
  if (stmt.sweep)
    return checkAxes(stmt, sweptParts) ? sweep(stmt, *request, sweptParts, runs) : Value();
  if (!sweptParts.empty()) {
    diags.report(Diag::swept_in_run, sweptParts.front().part->span, sweptParts.front().part->path.text())
        .help("write `sweep " + stmt.name.text + " = …`");
    return {};
  }
  auto result = runs.train(*request);
  if (!result)
    return {};
  remember(*result, *request);
  return Value(result, stmt.span);
}

//===----------------------------------------------------------------------===//
// Experiments
//===----------------------------------------------------------------------===//

void ExpectEvaluator::beginExperiment(const Runs &runs, uint64_t seed) {
  e.onRun = [this, &runs](const ast::RunStmt &stmt, Frame &at) { return run(stmt, at, runs); };
  e.onRunModel = [this](auto &run, auto &name, Span span) { return modelOf(run, name, span); };
  // A state of a finished run's model is what the run left.
  e.onState = [this](const ast::StateStmt &stmt, Frame &at) {
    return e.keptTree ? e.bindKept(stmt.name, NameKind::State, at) : e.notHere(stmt.span, "`state`");
  };
  allowDraws();
  e.drawKeys = streamKeys(seed);
}

/// `seed 3`: keys the draws that follow.
void ExpectEvaluator::seed(const ast::SeedStmt &stmt, Frame &frame) {
  if (!stmt.seeds.one) {
    diags.report(Diag::not_supported, stmt.span, "seeding one stream is");
    return;
  }
  auto value = e.knownInt(e.evaluate(*stmt.seeds.one, frame), stmt.seeds.one->span, "a seed");
  if (value && *value < 0)
    diags.report(Diag::cannot_be, stmt.seeds.one->span, "a seed", *value);
  else if (value)
    e.drawKeys = streamKeys(static_cast<uint64_t>(*value));
}

void ExpectEvaluator::check(const ast::ExperimentDecl &decl, const Runs &elaborate) {
  auto scope = std::make_shared<Scope>(globals);
  std::map<std::string, Value> none;
  if (!e.bindValues(decl.parameters, none, scope, NameKind::Hyperparameter, "`" + decl.name.text + "`", decl.name.span))
    return;
  Frame frame(std::make_shared<Scope>(scope), nullptr, decl.name.text);
  beginExperiment(elaborate, 0);
  e.onExpect = [&](const ast::ExpectStmt &stmt, Frame &at) { (void)e.evaluate(*stmt.value, at); };
  for (auto &stmt : decl.body->statements)
    if (auto *seeds = ast::dynCast<ast::SeedStmt>(stmt.get()))
      seed(*seeds, frame);
    else
      e.execute(*stmt, frame);
}

/// The schedules among hyperparameters as functions of the step.
void ExpectEvaluator::holdSchedules(Scope &hyper, Scope &scope, int64_t total, int64_t epoch) {
  for (auto &[name, binding] : hyper.names) {
    auto *rule = binding.value.as<Rule>();
    if (!rule || rule->decl->rule != ast::RuleKind::Schedule)
      continue;
    auto held = std::make_shared<HeldRule>();
    held->name = name;
    held->decl = rule->decl;
    held->parts.push_back({RulePlace(), rule->hyper, rule->hyper});
    scope.define(name, Value(Held{held, false}, binding.span), NameKind::Hyperparameter, binding.span);
  }
  e.onHeldCall = [this, total, epoch](const Held &held, auto &args, Span span, Frame &frame) -> Value {
    auto step = args.size() == 1 ? e.knownInt(e.evaluate(*args.front().value, frame), span, "a step") : std::nullopt;
    auto now = step ? scheduled(Rule{held.rule->decl, held.rule->parts.front().start}, *step, total, epoch) : std::nullopt;
    return now ? Value(Const{*now, Elem::Real, false, ""}, span) : Value();
  };
}

std::optional<double> ExpectEvaluator::scheduled(const Rule &schedule, int64_t step, int64_t total, int64_t epoch) {
  auto scope = std::make_shared<Scope>(schedule.hyper ? schedule.hyper : globals);
  Span span = schedule.decl->name.span;
  if (schedule.hyper)
    holdSchedules(*schedule.hyper, *scope, total, epoch);
  for (auto [name, value] : {std::pair("t", step), std::pair("total", total), std::pair("epoch", epoch)})
    scope->define(name, e.integer(value, span), NameKind::Socket, span);
  Frame frame(scope);
  Value value = e.runBody(schedule.decl->body, frame, span, "the schedule `" + schedule.decl->name.text + "`");
  auto host = value.isInvalid() ? std::nullopt : e.host(value, span);
  return host && host->values.size() == 1 ? std::optional(host->values[0]) : std::nullopt;
}

std::optional<Value> ExpectEvaluator::value(const ast::Expr &expr) {
  Frame frame(std::make_shared<Scope>(globals));
  Value value = e.evaluate(expr, frame);
  return value.isInvalid() ? std::nullopt : std::optional(e.known(value, expr.span));
}

std::optional<Value> ExpectEvaluator::elaborated(const ast::Expr &expr) {
  Frame frame(std::make_shared<Scope>(globals));
  Value value = e.evaluate(expr, frame);
  return value.isInvalid() || e.hasFailed() ? std::nullopt : std::optional(value);
}

std::optional<TrainRequest> ExpectEvaluator::request(const ast::RunStmt &stmt) {
  std::optional<TrainRequest> asked;
  Frame frame(std::make_shared<Scope>(globals));
  (void)run(stmt, frame, [&](TrainRequest request) {
    asked = std::move(request);
    return nullptr;
  });
  return asked;
}

std::optional<Value> ExpectEvaluator::sweep(const ast::RunStmt &stmt, RunSweep members) {
  Frame frame(std::make_shared<Scope>(globals));
  Value value = run(stmt, frame, {RunTrain(), std::move(members)});
  return value.isInvalid() ? std::nullopt : std::optional(value);
}

void ExpectEvaluator::allowDraws() {
  e.mayDraw = true;
  e.drawStream = nd::Stream::noise;
}

bool ExpectEvaluator::claim(const ast::Expr &expr, bool verbose) {
  Frame frame(std::make_shared<Scope>(globals));
  return expect(expr, frame, verbose);
}

bool ExpectEvaluator::experiment(const ast::ExperimentDecl &decl, const Runs &runs, bool verbose,
                                 std::map<std::string, Value> given, std::optional<uint64_t> seedAsked) {
  auto scope = std::make_shared<Scope>(globals);
  if (!e.bindValues(decl.parameters, given, scope, NameKind::Hyperparameter, "`" + decl.name.text + "`", decl.name.span))
    return false;
  Frame frame(std::make_shared<Scope>(scope), nullptr, decl.name.text);
  bool held = true;
  beginExperiment(runs, seedAsked.value_or(0));
  e.onExpect = [&](const ast::ExpectStmt &stmt, Frame &at) { held &= expect(*stmt.value, at, verbose); };
  size_t errors = diags.errorCount();
  for (auto &stmt : decl.body->statements) {
    size_t before = diags.errorCount();
    auto *seeds = ast::dynCast<ast::SeedStmt>(stmt.get());
    if (seeds && !seedAsked)
      seed(*seeds, frame);
    else if (!seeds)
      e.execute(*stmt, frame);
    // A failed claim does not end an experiment; anything else does.
    if (diags.errorCount() != before && !ast::isa<ast::ExpectStmt>(stmt.get()))
      break;
    if (auto *runStmt = ast::dynCast<ast::RunStmt>(stmt.get()))
      if (Binding *binding = frame.scope->find(runStmt->name.text); !binding || binding->value.isInvalid())
        return false;
  }
  return held && diags.errorCount() == errors;
}

} // namespace dyn::elab
