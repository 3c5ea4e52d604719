//===- Objective.cpp - the loss, who owns its parameters, where they live --===//
#include "frontend/elaborate/TrainElaborator.h"

#include "frontend/elaborate/Patterns.h"

using namespace mlir;

namespace dyn::elab {

ScopePtr TrainElaborator::exampleScope(const Data &data, int64_t set, const Batch &batch, bool whole) {
  auto fields = std::make_shared<Scope>(scope);
  const plan::Plan &plan = out->plan;
  const plan::Source &source = plan.sources[plan.sets[set].source];
  // Fields stand at the top, whatever loop, branch or function asks for them.
  auto define = [&](const std::string &name, std::function<Tensor()> read) {
    fields->defineLazy(name, NameKind::Socket, data.decl->name.span, [this, top = top, read]() -> Value {
      OpBuilder::InsertionGuard guard(e.builder);
      e.builder.setInsertionPointToStart(top);
      return Value(read());
    });
  };
  if (auto windows = textWindows.find(source.name); windows != textWindows.end()) {
    Windows shape = windows->second;
    define("tokens", [this, set, shape, batch, whole] { return readWindow(set, shape, 0, batch, whole); });
    define("next", [this, set, shape, batch, whole] { return readWindow(set, shape, 1, batch, whole); });
  } else
    for (const plan::Field &field : source.fields)
      define(field.name, [this, set, field, batch, whole] { return readField(set, field, batch, whole); });
  bindLocals(fields);
  return fields;
}

/// The present example's row of a field.
Tensor TrainElaborator::readField(int64_t set, const plan::Field &field, const Batch &batch, bool whole) {
  auto arena = useField(set, field.name);
  Type element = field.element == plan::Element::i64   ? Type(e.builder.getI64Type())
                 : field.element == plan::Element::i1 ? Type(e.builder.getI1Type())
                                                       : Type(e.real());
  auto type = RankedTensorType::get(field.shape, element, ir::AxesAttr::of(&e.context, {"example"}));
  auto op = ir::FieldOp::create(e.builder, e.builder.getUnknownLoc(), type, *arena, out->plan.sets[set].rows,
                                whole ? -1 : batch.feed, whole, field.name);
  return {op.getResult(), false, field.classes};
}

/// The present example's window of a text, moved on by `shift` bytes: gathered, never stored.
Tensor TrainElaborator::readWindow(int64_t set, const Windows &windows, int64_t shift, const Batch &batch, bool whole) {
  const plan::Set &from = out->plan.sets[set];
  const plan::Field &field = out->plan.sources[from.source].fields.front();
  auto arena = useField(set, field.name);
  Location loc = e.builder.getUnknownLoc();
  auto i64 = e.builder.getI64Type();
  auto bytes = run::ReadOp::create(e.builder, loc, RankedTensorType::get({from.rows}, i64), *arena, uint64_t(0), field.name);
  auto axes = ir::AxesAttr::of(&e.context, {"example"});
  auto row = ir::RowOp::create(e.builder, loc, RankedTensorType::get({}, i64, axes), whole ? -1 : batch.feed, whole);
  Value start = e.elementwise("mul", Value(Tensor{row.getResult()}), e.integer(windows.stride, {}), {});
  Value places = e.elementwise("add", e.iota(windows.length, {}), e.integer(shift, {}), {});
  Tensor at = *e.elementwise("add", start, places, {}).as<Tensor>();
  return {nd::GatherOp::create(e.builder, loc, bytes.getResult(), at.value, uint64_t(0)).getResult(), false, field.classes};
}

/// Locals and parameters of the train itself are computed where they are used.
void TrainElaborator::bindLocals(ScopePtr where) {
  for (const ast::Stmt *stmt : locals)
    bindLocal(*stmt, where);
}

void TrainElaborator::bindLocal(const ast::Stmt &stmt, ScopePtr where) {
  if (auto *let = ast::dynCast<ast::LetStmt>(&stmt)) {
    where->defineLazy(let->name.text, NameKind::Local, let->name.span, [this, let, where] {
      Frame frame{std::make_shared<Scope>(where)};
      return e.letValue(*let, frame);
    });
  } else if (auto *leaf = ast::dynCast<ast::LeafStmt>(&stmt)) {
    where->defineLazy(leaf->name.text, NameKind::Param, leaf->name.span, [this, leaf, where] {
      Frame frame{std::make_shared<Scope>(where)};
      e.declareParam(*leaf, frame);
      return frame.scope->names[leaf->name.text].value;
    });
  } else if (auto *fn = ast::dynCast<ast::FnStmt>(&stmt)) {
    Frame frame{where};
    e.execute(*fn, frame);
  } else
    e.diags.report(Diag::not_supported, stmt.span, "this statement in a train is");
}

/// The loss clause on the train's batch, at the insertion point.
Value TrainElaborator::evaluateLoss(const Clauses &clauses, Frame &frame) {
  if (batch.feed >= 0) {
    e.place = ir::AxesAttr::of(&e.context, {"example"});
    batchIsWhole = batch.size == out->plan.sets[0].examples() && !out->plan.feeds[0].shuffle;
    frame.scope = exampleScope(*batchData, out->plan.feeds[0].set, batch, batchIsWhole);
  } else {
    frame.scope = std::make_shared<Scope>(scope);
    bindLocals(frame.scope);
  }
  frame.site = "loss";
  return e.evaluate(*clauses.loss->value, frame);
}

bool TrainElaborator::objective(const Clauses &clauses) {
  if (!clauses.loss) {
    e.diags.report(Diag::no_objective, request.decl->name.span, request.decl->name.text);
    return false;
  }
  OpBuilder::InsertionGuard guard(e.builder);
  e.builder.setInsertionPointToEnd(&train.getBody().front());
  auto unit = batch.masked ? e.builder.getUnitAttr() : UnitAttr();
  objectiveOp = ir::ObjectiveOp::create(e.builder, e.loc(clauses.loss->span), "loss", batch.feed, batch.size, bool(unit));
  Block &block = objectiveOp.getBody().emplaceBlock();
  e.builder.setInsertionPointToEnd(&block);
  top = &block;
  e.mayDeclareParams = true;
  e.readParam = [&](ParamInfo &info) -> mlir::Value {
    if (!info.argument)
      info.argument = block.addArgument(RankedTensorType::get(info.shape, e.real()), e.loc(info.from));
    return info.argument;
  };
  e.drawStream = nd::Stream::noise;
  e.mayDraw = e.drawsByStep = true;
  // `l2(net) + loss(net(x))` asks for parameters before the call that declares them: a first pass finds them all.
  e.discovering = true;
  size_t numbers = out->plan.numbers.size();
  enterModels(true);
  Frame frame{scope};
  Value value = evaluateLoss(clauses, frame);
  e.discovering = false;
  if (value.isInvalid() && !e.hasFailed()) {
    out->plan.numbers.resize(numbers);
    while (!block.empty())
      block.back().erase();
    e.numberCacheBlock = nullptr;
    enterModels(true);
    Frame again{scope};
    value = evaluateLoss(clauses, again);
  }
  e.mayDraw = e.drawsByStep = false;
  e.place = {};
  if (value.isInvalid())
    return false;
  auto t = e.tensor(value, clauses.loss->value->span, "the loss");
  if (!t)
    return false;
  *t = e.cast(*t, Elem::Real, false, clauses.loss->span);
  if (t->type().getRank() != 0 || isa_and_present<ir::LeavesAttr, ir::TreeAttr>(ir::rangeOf(t->type().getEncoding()))) {
    e.diags.report(Diag::loss_not_number, clauses.loss->value->span, describeType(t->type()))
        .help("reduce it to a number: `sum(…)` or `mean(…)`");
    return false;
  }
  if (ir::carries(t->type(), "example")) {
    auto type = RankedTensorType::get({}, e.real());
    t->value = e.create<ir::OverOp>(clauses.loss->span, type, ir::OverKind::mean, t->value, e.builder.getStringAttr("example"));
  }
  SmallVector<mlir::Value> yielded = {t->value};
  llvm::append_range(yielded, nextModelStates());
  ir::YieldOp::create(e.builder, e.loc(clauses.loss->span), yielded);
  e.training = false;
  e.mayDeclareParams = false;
  if (e.params.empty()) {
    e.diags.report(Diag::loss_without_params, clauses.loss->value->span);
    return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Who owns which parameter, and where it lives
//===----------------------------------------------------------------------===//

/// `frozen "body.*"`: parameters that nobody owns.
bool TrainElaborator::freeze(const Clauses &clauses) {
  for (const ast::FrozenClause *clause : clauses.frozen) {
    bool any = false;
    for (auto &info : e.params)
      if (matchesPath(clause->path->value, info->path))
        any = info->frozen = true;
    if (any)
      continue;
    std::vector<std::string> paths;
    for (auto &info : e.params)
      paths.push_back(info->path);
    auto report = e.diags.report(Diag::freezes_nothing, clause->path->span, clause->path->value);
    if (std::string near = nearest(clause->path->value, paths); !near.empty())
      report.help("did you mean `" + near + "`?");
    else if (!paths.empty())
      report.help("there is `" + paths.front() + "`; `*` stands for any part of a path");
  }
  return !e.hasFailed();
}

bool TrainElaborator::assignOwners(const Clauses &clauses) {
  for (auto *clause : clauses.optimizers) {
    Owner owner;
    owner.clause = clause;
    auto rule = ruleOf(*clause);
    if (!rule)
      return false;
    owner.rule = *rule;
    owner.name = clause->name ? clause->name.text : rule->decl->name.text;
    // States are found by the clause's name: two clauses of one rule have their own.
    std::string base = owner.name;
    for (int k = 2; llvm::any_of(owners, [&](const Owner &other) { return other.name == owner.name; }); ++k)
      owner.name = base + "_" + std::to_string(k);
    owners.push_back(std::move(owner));
  }
  if (!freeze(clauses))
    return false;
  auto claims = [&](Owner &owner, ParamInfo &info) {
    bool otherwise = false;
    return ownsLeaf(optionsOf(*owner.clause), *owner.rule.decl, info, e, scope, otherwise) && !otherwise;
  };
  for (auto &info : e.params) {
    if (info->frozen)
      continue;
    std::vector<size_t> takers;
    for (size_t i = 0; i < owners.size(); ++i)
      if (claims(owners[i], *info))
        takers.push_back(i);
    if (takers.empty())
      for (size_t i = 0; i < owners.size(); ++i)
        for (auto &option : optionsOf(*owners[i].clause))
          if (option.form == ast::RuleOption::Form::Otherwise)
            takers.push_back(i);
    std::string leaf = info->path + ": " + (info->shape.empty() ? "real" : describeShape(info->shape));
    if (takers.empty()) {
      auto report = e.diags.report(Diag::no_owner, clauses.optimizers.front()->span, leaf);
      report.note(info->from, "the parameter is declared here");
      report.help("add `optimizer … otherwise`, or declare it `frozen`");
      continue;
    }
    if (takers.size() > 1) {
      e.diags.report(Diag::two_owners, owners[takers[1]].clause->span, leaf)
          .note(owners[takers[0]].clause->span, "this one owns it already")
          .help("narrow one of them: `on \"…\"`, `except \"" + info->path + "\"`, or `otherwise`");
      continue;
    }
    info->owner = static_cast<int>(takers[0]);
    owners[takers[0]].leaves.push_back(info.get());
  }
  for (Owner &owner : owners)
    if (owner.leaves.empty() && !e.hasFailed())
      e.diags.report(Diag::owns_nothing, owner.clause->span, "optimizer", owner.name);
  return !e.hasFailed();
}

/// A frozen array in the objective: derivatives by it are 0, so that no norm of a gradient counts it.
static mlir::Value constant(mlir::Value argument, Block &block) {
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  return nd::StopGradientOp::create(builder, argument.getLoc(), argument);
}

void TrainElaborator::layOut() {
  int64_t offset = 0;
  auto place = [&](ParamInfo &info, const std::string &owner) {
    info.offset = offset;
    e.treeLeaves.push_back(&info);
    out->plan.params.push_back({info.path, {info.shape.begin(), info.shape.end()}, out->plan.precision, paramsArena,
                                offset, owner});
    offset += RankedTensorType::get(info.shape, e.real()).getNumElements();
  };
  for (Owner &owner : owners) {
    owner.offset = offset;
    for (ParamInfo *info : owner.leaves)
      place(*info, print(valueOf(*owner.clause)));
    owner.size = offset - owner.offset;
  }
  for (auto &info : e.params)
    if (info->owner < 0)
      place(*info, "");
  out->plan.arenas[paramsArena].bytes = offset * plan::sizeOf(out->plan.precision);
  // Leaf k of the tree is argument k of the objective.
  Block &block = objectiveOp.getBody().front();
  unsigned count = block.getNumArguments();
  for (ParamInfo *info : e.treeLeaves) {
    auto argument = block.addArgument(RankedTensorType::get(info->shape, e.real()), e.loc(info->from));
    if (info->argument)
      info->argument.replaceAllUsesWith(info->frozen ? constant(argument, block) : argument);
  }
  block.eraseArguments(0, count);
  SmallVector<Attribute> paths;
  SmallVector<bool> frozen;
  for (ParamInfo *info : e.treeLeaves) {
    paths.push_back(e.builder.getStringAttr(info->path));
    frozen.push_back(info->frozen);
  }
  objectiveOp->setAttr("paths", e.builder.getArrayAttr(paths));
  objectiveOp->setAttr("frozen", e.builder.getDenseBoolArrayAttr(frozen));
  e.readParam = [this](ParamInfo &info) -> mlir::Value {
    auto type = RankedTensorType::get(info.shape, e.real());
    int64_t arena = readsServed && info.served ? servedArena : paramsArena;
    return run::ReadOp::create(e.builder, e.loc(info.from), type, arena, info.offset, info.path).getResult();
  };
}

int64_t TrainElaborator::elements(const std::vector<ParamInfo *> &leaves) {
  int64_t count = 0;
  for (ParamInfo *leaf : leaves)
    count += RankedTensorType::get(leaf->shape, e.real()).getNumElements();
  return count;
}

RankedTensorType TrainElaborator::treeType(const std::vector<ParamInfo *> &leaves, bool leafwise) {
  SmallVector<DenseI64ArrayAttr> shapes;
  for (ParamInfo *leaf : leaves)
    shapes.push_back(DenseI64ArrayAttr::get(&e.context, leaf->shape));
  Attribute encoding = leafwise ? Attribute(ir::LeavesAttr::get(&e.context, shapes))
                                : Attribute(ir::TreeAttr::get(&e.context, shapes));
  return RankedTensorType::get({elements(leaves)}, e.real(), encoding);
}

Value TrainElaborator::readRange(int64_t arena, int64_t offset, RankedTensorType type, const std::string &name, Span span) {
  auto plain = ir::withEncoding(type, {});
  mlir::Value value = run::ReadOp::create(e.builder, e.loc(span), plain, arena, offset, name).getResult();
  if (type != plain)
    value = e.create<ir::RecastOp>(span, type, value);
  return Value(Tensor{value, false, 0}, span);
}

void TrainElaborator::writeRange(int64_t arena, int64_t offset, const Tensor &value, const std::string &name, Span span) {
  mlir::Value stored = value.value;
  auto plain = ir::withEncoding(value.type(), {});
  if (plain != value.type())
    stored = e.create<ir::RecastOp>(span, plain, stored);
  run::WriteOp::create(e.builder, e.loc(span), stored, arena, offset, name);
}

Value TrainElaborator::clock(run::ClockKind kind, Span span) {
  auto type = RankedTensorType::get({}, e.builder.getI64Type());
  return Value(Tensor{e.create<run::ClockOp>(span, type, kind), true, 0}, span);
}

} // namespace dyn::elab
