//===- Program.cpp - evals, probes, and the order of a run ----------------===//
#include "frontend/elaborate/TrainElaborator.h"

#include "frontend/elaborate/Patterns.h"

using namespace mlir;

namespace dyn::elab {

/// Rows that an eval takes at once: enough to keep products efficient, few enough to stay in cache.
static constexpr int64_t evalBatch = 500;

int64_t TrainElaborator::event(const ast::Timing *timing, const char *otherwise, Span span) {
  plan::Event event{otherwise, 1, {}};
  Frame frame{scope};
  if (timing && timing->form == ast::Timing::Form::Every) {
    event.kind = ast::clockName(timing->clock, false);
    if (timing->clock != ast::Clock::Step && timing->clock != ast::Clock::Epoch)
      e.diags.report(Diag::not_supported, timing->span, "this clock is");
    if (timing->clock == ast::Clock::Epoch && endless)
      reportEndless(*batchData->decl, timing->span, "it has no epochs", "write `every 100 steps`");
    else if (timing->clock == ast::Clock::Epoch && batch.feed < 0)
      e.diags.report(Diag::epochs_without_data, timing->span, "epoch", request.decl->name.text);
    if (timing->value) {
      auto n = e.knownInt(e.evaluate(*timing->value, frame), timing->value->span, "`every`");
      event.every = n ? *n : 1;
      if (n && *n < 1)
        e.diags.report(Diag::cannot_be, timing->value->span, "`every`", *n);
    }
  } else if (timing) {
    event.kind = "at";
    auto moment = [&](const ast::Expr &expr) {
      auto n = e.knownInt(e.evaluate(expr, frame), expr.span, "a moment");
      if (n && *n < 0)
        e.diags.report(Diag::cannot_be, expr.span, "a moment", *n);
      if (n)
        event.at.push_back(*n);
    };
    auto *name = ast::dynCast<ast::NameExpr>(timing->value.get());
    if (name && name->name == "end")
      event.kind = "end";
    else if (name && name->name == "start")
      event.at = {0};
    else if (auto *array = ast::dynCast<ast::ArrayExpr>(timing->value.get())) {
      for (auto &element : array->elements)
        moment(*element);
    } else
      moment(*timing->value);
  }
  out->plan.events.push_back(event);
  return static_cast<int64_t>(out->plan.events.size()) - 1;
}

static const ast::Timing *timingOf(const ast::EvalClause &clause) {
  for (auto &option : clause.options)
    if (option.form == ast::EvalOption::Form::Timing)
      return &option.timing;
  return nullptr;
}

void TrainElaborator::evalSockets(const Clauses &clauses) {
  for (size_t k = 0; k < clauses.evals.size(); ++k) {
    const ast::EvalClause &clause = *clauses.evals[k];
    if (clause.items.empty()) {
      e.diags.report(Diag::eval_empty, clause.span, clause.name ? clause.name.text : print(*clause.value));
      continue;
    }
    Frame frame{scope};
    Value value = e.evaluate(*clause.value, frame);
    auto *data = value.as<Data>();
    if (!data) {
      if (!value.isInvalid())
        e.diags.report(Diag::not_data, clause.value->span, describe(value));
      continue;
    }
    auto setIndex = set(*data, clause.value->span);
    if (!setIndex)
      continue;
    int64_t rows = out->plan.sets[*setIndex].examples();
    int64_t size = std::min(rows, evalBatch);
    Batch mine{static_cast<int64_t>(out->plan.feeds.size()), size, rows % size != 0};
    std::string name = clause.name ? clause.name.text : data->split.empty() ? data->decl->name.text : data->split;
    out->plan.feeds.push_back({name, *setIndex, size, false, false});
    std::string base = "eval_" + name;
    int64_t items = static_cast<int64_t>(clause.items.size());
    int64_t arena = static_cast<int64_t>(out->plan.arenas.size());
    out->plan.arenas.push_back({base, "accumulator", items * 8});
    auto sums = RankedTensorType::get({items}, e.builder.getF64Type());
    auto one = RankedTensorType::get({}, e.builder.getF64Type());

    socket(base + "_begin", ir::SocketKind::eval);
    writeRange(arena, 0, *e.full(0, sums, false, clause.span).as<Tensor>(), base, clause.span);

    socket(base, ir::SocketKind::eval, mine);
    e.place = ir::AxesAttr::of(&e.context, {"example"});
    readsServed = true;
    enterModels(false);
    ScopePtr fields = exampleScope(*data, *setIndex, mine, false);
    std::vector<Value> results;
    for (int64_t i = 0; i < items; ++i) {
      const ast::EvalItem &item = *clause.items[i];
      Frame inner{std::make_shared<Scope>(fields), nullptr, base};
      Value result = e.evaluate(*item.value, inner);
      auto t = result.isInvalid() ? std::nullopt : e.tensor(result, item.span);
      if (!t)
        continue;
      if (t->type().getRank() != 0) {
        e.diags.report(Diag::eval_not_number, item.value->span, item.name.text, describeType(t->type()));
        continue;
      }
      *t = e.cast(*t, Elem::Real, false, item.span);
      if (!ir::carries(t->type(), "example"))
        t->value = e.create<ir::VaryOp>(item.span, ir::withEncoding(t->type(), e.place), t->value);
      mlir::Value sum = e.create<ir::OverOp>(item.span, ir::withEncoding(t->type(), {}), ir::OverKind::sum, t->value,
                                             e.builder.getStringAttr("example"));
      sum = e.create<nd::CastOp>(item.span, sum, e.builder.getF64Type());
      Value so = readRange(arena, i, one, item.name.text, item.span);
      auto total = e.create<nd::AddOp>(item.span, so.as<Tensor>()->value, sum);
      writeRange(arena, i, Tensor{total, false, 0}, item.name.text, item.span);
    }
    e.place = {};
    readsServed = false;

    socket(base + "_end", ir::SocketKind::report);
    metricPrefix = name + ".";
    for (int64_t i = 0; i < items; ++i) {
      const ast::EvalItem &item = *clause.items[i];
      Value so = readRange(arena, i, one, item.name.text, item.span);
      Value count = e.full(double(rows), one, false, item.span);
      auto mean = e.create<nd::DivOp>(item.span, so.as<Tensor>()->value, count.as<Tensor>()->value);
      emit(item.name.text, Value(Tensor{mean, true, 0}, item.span), item.span);
    }
    metricPrefix.clear();
    const ast::Timing *timing = timingOf(clause);
    events.push_back({event(timing, batch.feed >= 0 && !endless ? "epoch" : "end", clause.span), {base + "_begin"}, mine.feed, base, base + "_end", false});
  }
}

/// What a probe may read, at the parameters of its step.
ScopePtr TrainElaborator::probeScope(const Rule &rule, const RulePlace &place, const Clauses &clauses, Span span) {
  ScopePtr inner = ruleScope(rule, nullptr);
  auto type = treeType(e.treeLeaves, false);
  Value params = passParams = readRange(paramsArena, place.from, type, "params", span);
  inner->define("params", params, NameKind::Socket, span);
  inner->defineLazy("grads", NameKind::Socket, span, [this, type, params, span]() -> Value {
    auto number = RankedTensorType::get({}, e.real());
    auto op = ir::GradientOp::create(e.builder, e.loc(span), number, type, "loss", params.as<Tensor>()->value);
    return Value(Tensor{op.getGradient(), false, 0}, span);
  });
  inner->defineLazy("param", NameKind::Socket, span, [this, params, span] { return e.recast(params, false, span); });
  inner->defineLazy("grad", NameKind::Socket, span, [inner, this, span] {
    return e.recast(inner->names["grads"].lazy(), false, span);
  });
  inner->defineLazy("served", NameKind::Socket, span, [this, span] { return servedTree(span); });
  offerUpdates(inner, span);
  offerSocket(inner, clock(run::ClockKind::step, span), span);
  offerActivations(clauses, inner, span);
  // Models of the train are called at the present parameters.
  for (auto &[word, binding] : scope->names)
    if (binding.value.as<std::shared_ptr<Instance>>())
      inner->names.emplace(word, binding);
  Record optimizer;
  optimizer.fields.emplace_back("state", stateRecord());
  for (auto &[hyper, binding] : owners.front().rule.hyper->names)
    optimizer.fields.emplace_back(hyper, binding.value);
  inner->define("optimizer", Value(optimizer, span), NameKind::Socket, span);
  return inner;
}

void TrainElaborator::probeSockets(const Clauses &clauses) {
  for (auto [k, probe] : llvm::enumerate(probes)) {
    auto &[rule, clause] = probe;
    const ast::RuleDecl &decl = *rule.decl;
    RulePlace place{"probe_" + std::to_string(k) + "_" + decl.name.text, "", e.treeLeaves, 0, false};
    socket(place.rule, ir::SocketKind::probe, mentions(decl, "activations") ? batch : Batch());
    enterModels(false);
    Span span = clause->span;
    InstantiationScope chain(e.diags, decl.name.text, span);
    ScopePtr inner = probeScope(rule, place, clauses, span);
    e.mayDraw = e.drawsByStep = true;
    e.drawStream = nd::Stream::noise;
    runRule(rule, inner, place, {}, true);
    e.mayDraw = e.drawsByStep = false;
    const ast::Timing *timing = nullptr;
    for (auto &option : optionsOf(*clause))
      if (option.form == ast::RuleOption::Form::Timing)
        timing = &option.timing;
    events.push_back({event(timing, "step", span), {}, -1, place.rule, "", batch.feed >= 0});
  }
}

/// The block of a run op's region; builders of some ops make it.
static Block &blockOf(Region &region) { return region.empty() ? region.emplaceBlock() : region.front(); }

void TrainElaborator::program(const Clauses &clauses) {
  OpBuilder &b = e.builder;
  Location loc = b.getUnknownLoc();
  b.setInsertionPointToEnd(&train.getBody().front());
  auto programOp = run::ProgramOp::create(b, loc, "dyn_main");
  b.setInsertionPointToEnd(&blockOf(programOp->getRegion(0)));
  auto call = [&](llvm::StringRef name) { run::CallOp::create(b, loc, name); };
  auto moment = [&](const Event &event) {
    auto when = run::WhenDueOp::create(b, loc, event.event);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(&blockOf(when->getRegion(0)));
    for (auto &name : event.before)
      call(name);
    if (event.feed >= 0) {
      auto loop = run::ForBatchesOp::create(b, loc, event.feed);
      OpBuilder::InsertionGuard inner(b);
      b.setInsertionPointToEnd(&blockOf(loop->getRegion(0)));
      call(event.body);
    } else
      call(event.body);
    if (!event.after.empty())
      call(event.after);
  };
  call("init");
  auto loop = run::LoopOp::create(b, loc);
  auto pass = [&] {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(&blockOf(loop->getRegion(0)));
    for (const Event &event : events)
      if (!event.needsBatch)
        moment(event);
    if (batch.feed >= 0)
      run::NextBatchOp::create(b, loc, batch.feed);
    for (const Event &event : events)
      if (event.needsBatch)
        moment(event);
    auto step = [&] {
      call("update");
      run::StepDoneOp::create(b, loc);
    };
    if (clauses.stops.empty())
      return step();
    call("stop");
    out->plan.events.push_back({"running", 1, {}});
    auto goesOn = run::WhenDueOp::create(b, loc, static_cast<int64_t>(out->plan.events.size()) - 1);
    b.setInsertionPointToEnd(&blockOf(goesOn->getRegion(0)));
    step();
  };
  pass();
  // After the last update: what is due then sees the final parameters.
  for (const Event &event : events)
    moment(event);
}

} // namespace dyn::elab
