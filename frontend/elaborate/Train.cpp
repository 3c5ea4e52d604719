//===- Train.cpp - clauses of a train, its objective and its program ------===//
#include "frontend/elaborate/TrainElaborator.h"

#include "frontend/elaborate/Patterns.h"

#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace dyn::elab {

static constexpr int64_t paramsArena = 0;
/// Rows that an eval takes at once: enough to keep products efficient, few enough to stay in cache.
static constexpr int64_t evalBatch = 500;

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
  e.onEmit = [this](const ast::EmitStmt &stmt, Frame &frame) {
    for (auto &named : stmt.values) {
      Value value = e.evaluate(*named.value, frame);
      if (!value.isInvalid())
        emit(named.name.text, value, named.span);
    }
  };
  e.onState = [this](const ast::StateStmt &stmt, Frame &frame) { declareState(stmt, frame); };

  scope = std::make_shared<Scope>(e.globals);
  Clauses clauses;
  out->plan.arenas.push_back({"params", "params", 0});
  if (!bindHyperparameters())
    return nullptr;
  Frame frame{scope};
  if (!collect(*decl.body, clauses, frame) || !applyChanges(clauses) || !settings(clauses) || !objective(clauses) ||
      !assignOwners(clauses))
    return nullptr;
  layOut();
  updateSocket(clauses);
  evalSockets(clauses);
  probeSockets(clauses);
  initSocket();
  if (e.hasFailed())
    return nullptr;
  program(clauses);
  out->expects = clauses.expects;
  out->scope = scope;
  return e.hasFailed() ? nullptr : std::move(out);
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
  return e.bindValues(decl.parameters, given, scope, NameKind::Hyperparameter, "`" + decl.name.text + "`", decl.name.span);
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
    case ast::Kind::RuleClause: {
      auto &rule = *ast::cast<ast::RuleClause>(clause.get());
      auto &list = rule.rule == ast::RuleKind::Optimizer ? clauses.optimizers
                   : rule.rule == ast::RuleKind::Clip    ? clauses.clips
                                                         : clauses.probes;
      list.push_back(&rule);
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
            e.diags.report(Diag::not_a_model, change ? change->part->value->span : instance.value->span, describe(value));
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
      else
        locals.push_back(stmt);
      break;
    }
    default:
      e.diags.report(Diag::not_supported, clause->span, "this clause is");
      return false;
    }
  }
  return true;
}

/// The train's data, or what `with data = …` puts in its place.
Value TrainElaborator::dataOf(const Clauses &clauses, Frame &frame) {
  const TrainChange *change = changeOf("data");
  return change ? change->value : e.evaluate(*clauses.data->sources.front().value, frame);
}

bool TrainElaborator::settings(const Clauses &clauses) {
  Frame frame{scope};
  plan::Plan &plan = out->plan;
  auto count = [&](const char *name, const ast::SettingClause *clause, const ast::Expr *&from) -> std::optional<int64_t> {
    const TrainChange *change = changeOf(name);
    if (!change && !clause)
      return std::nullopt;
    from = change ? change->part->value.get() : clause->value.get();
    auto n = e.knownInt(change ? change->value : e.evaluate(*from, frame), from->span, (std::string("`") + name + "`").c_str());
    if (n && *n < 0)
      e.diags.report(Diag::cannot_be, from->span, std::string("`") + name + "`", *n);
    return n;
  };
  const ast::SettingClause *precision = clauses.precision;
  const TrainChange *precisionChange = changeOf("precision");
  if (precision || precisionChange) {
    const ast::Expr *value = precisionChange ? precisionChange->part->value.get() : precision->value.get();
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
  if (clauses.data) {
    const TrainChange *change = changeOf("data");
    const ast::Source &source = clauses.data->sources.front();
    const ast::Expr &written = change ? *change->part->value : *source.value;
    bool otherOptions = change && !change->part->sourceOptions.empty();
    Frame optionFrame{otherOptions ? request.changeScope : scope};
    Value value = dataOf(clauses, frame);
    auto *data = value.as<Data>();
    if (!data) {
      if (!value.isInvalid())
        e.diags.report(Diag::not_data, written.span, describe(value));
      return false;
    }
    auto setIndex = set(*data, written.span);
    if (!setIndex)
      return false;
    plan::Feed feed{print(written), *setIndex, 0, false, false};
    int64_t rows = plan.sets[*setIndex].rows;
    bool all = false;
    for (auto &option : otherOptions ? change->part->sourceOptions : source.options) {
      if (option.form == ast::SourceOption::Form::Shuffle)
        feed.shuffle = true;
      else if (option.form == ast::SourceOption::Form::Drop)
        feed.drop = true;
      else if (option.form == ast::SourceOption::Form::All)
        all = true;
      else if (option.form == ast::SourceOption::Form::Batch) {
        auto *name = ast::dynCast<ast::NameExpr>(option.size.get());
        if (name && name->name == "all") {
          all = true;
          continue;
        }
        auto size = e.knownInt(e.evaluate(*option.size, optionFrame), option.size->span, "the batch size");
        if (!size)
          return false;
        if (*size < 1 || *size > rows) {
          e.diags.report(Diag::batch_size, option.size->span, *size, rows);
          return false;
        }
        feed.batch = *size;
      }
    }
    if (all)
      feed.batch = rows;
    if (feed.batch == 0) {
      e.diags.report(Diag::batch_missing, written.span).help("add `batch 64`, or `batch all` for every row at once");
      return false;
    }
    bool masked = !feed.drop && rows % feed.batch != 0;
    batch = {0, feed.batch, masked};
    plan.feeds.push_back(feed);
  } else
    batch = {-1, 1, false};
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
    int64_t rows = plan.sets[0].rows, size = plan.feeds[0].batch;
    plan.total *= plan.feeds[0].drop ? rows / size : (rows + size - 1) / size;
  }
  const ast::Expr *seed = clauses.seeds ? clauses.seeds->one.get() : nullptr;
  if (clauses.seeds && !seed) {
    e.diags.report(Diag::not_supported, clauses.seeds->streams.front().span, "seeding one stream is");
    return false;
  }
  const TrainChange *seedChange = changeOf("seed");
  if (seedChange)
    seed = seedChange->part->value.get();
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

//===----------------------------------------------------------------------===//
// The objective
//===----------------------------------------------------------------------===//

ScopePtr TrainElaborator::exampleScope(const Data &data, int64_t set, const Batch &batch, bool whole) {
  auto fields = std::make_shared<Scope>(scope);
  const plan::Plan &plan = out->plan;
  const plan::Source &source = plan.sources[plan.sets[set].source];
  // Fields stand at the top, whatever loop or branch asks for them.
  Block *top = e.builder.getInsertionBlock();
  for (const plan::Field &field : source.fields)
    fields->defineLazy(field.name, NameKind::Socket, data.decl->name.span, [this, field, set, batch, whole, top]() -> Value {
      OpBuilder::InsertionGuard guard(e.builder);
      e.builder.setInsertionPointToStart(top);
      auto arena = useField(set, field.name);
      Type element = field.element == plan::Element::i64   ? Type(e.builder.getI64Type())
                     : field.element == plan::Element::i1 ? Type(e.builder.getI1Type())
                                                           : Type(e.real());
      auto type = RankedTensorType::get(field.shape, element, ir::AxesAttr::of(&e.context, {"example"}));
      auto op = ir::FieldOp::create(e.builder, e.builder.getUnknownLoc(), type, *arena, out->plan.sets[set].rows,
                                    whole ? -1 : batch.feed, whole, field.name);
      return Value(Tensor{op.getResult(), false, field.classes});
    });
  bindLocals(fields);
  return fields;
}

/// Locals and parameters of the train itself are computed where they are used.
void TrainElaborator::bindLocals(ScopePtr where) {
  for (const ast::Stmt *stmt : locals) {
    if (auto *let = ast::dynCast<ast::LetStmt>(stmt)) {
      where->defineLazy(let->name.text, NameKind::Local, let->name.span, [this, let, where] {
        Frame frame{std::make_shared<Scope>(where)};
        return e.letValue(*let, frame);
      });
    } else if (auto *leaf = ast::dynCast<ast::LeafStmt>(stmt)) {
      where->defineLazy(leaf->name.text, NameKind::Param, leaf->name.span, [this, leaf, where] {
        Frame frame{std::make_shared<Scope>(where)};
        e.declareParam(*leaf, frame);
        return frame.scope->names[leaf->name.text].value;
      });
    } else if (auto *fn = ast::dynCast<ast::FnStmt>(stmt)) {
      Frame frame{where};
      e.execute(*fn, frame);
    } else
      e.diags.report(Diag::not_supported, stmt->span, "this statement in a train is");
  }
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
  e.mayDeclareParams = true;
  e.readParam = [&](ParamInfo &info) -> mlir::Value {
    if (!info.argument)
      info.argument = block.addArgument(RankedTensorType::get(info.shape, e.real()), e.loc(info.from));
    return info.argument;
  };
  Frame frame{scope};
  if (batch.feed >= 0) {
    e.place = ir::AxesAttr::of(&e.context, {"example"});
    Value value = dataOf(clauses, frame);
    frame.scope = exampleScope(*value.as<Data>(), out->plan.feeds[0].set, batch, batch.size == out->plan.sets[0].rows && !out->plan.feeds[0].shuffle);
  } else {
    frame.scope = std::make_shared<Scope>(scope);
    bindLocals(frame.scope);
  }
  frame.site = "loss";
  e.drawStream = nd::Stream::noise;
  e.mayDraw = e.drawsByStep = true;
  // `l2(net) + loss(net(x))` asks for parameters before the call that declares them: a first pass finds them all.
  e.discovering = true;
  size_t numbers = out->plan.numbers.size();
  Value value = e.evaluate(*clauses.loss->value, frame);
  e.discovering = false;
  if (value.isInvalid() && !e.hasFailed()) {
    out->plan.numbers.resize(numbers);
    while (!block.empty())
      block.back().erase();
    e.numberCacheBlock = nullptr;
    value = e.evaluate(*clauses.loss->value, frame);
  }
  e.mayDraw = e.drawsByStep = false;
  e.place = {};
  if (value.isInvalid())
    return false;
  auto t = e.tensor(value, clauses.loss->value->span, "the loss");
  if (!t)
    return false;
  *t = e.cast(*t, Elem::Real, false, clauses.loss->span);
  if (t->type().getRank() != 0 || isa_and_present<ir::LeavesAttr, ir::TreeAttr>(t->type().getEncoding())) {
    e.diags.report(Diag::loss_not_number, clauses.loss->value->span, describeType(t->type()))
        .help("reduce it to a number: `sum(…)` or `mean(…)`");
    return false;
  }
  if (ir::carries(t->type(), "example")) {
    auto type = RankedTensorType::get({}, e.real());
    t->value = e.create<ir::OverOp>(clauses.loss->span, type, ir::OverKind::mean, t->value, e.builder.getStringAttr("example"));
  }
  ir::YieldOp::create(e.builder, e.loc(clauses.loss->span), t->value);
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

bool TrainElaborator::assignOwners(const Clauses &clauses) {
  for (auto *clause : clauses.optimizers) {
    Owner owner;
    owner.clause = clause;
    auto rule = ruleOf(*clause);
    if (!rule)
      return false;
    owner.rule = *rule;
    owner.name = clause->name ? clause->name.text : rule->decl->name.text;
    owners.push_back(std::move(owner));
  }
  auto claims = [&](Owner &owner, ParamInfo &info) {
    bool otherwise = false;
    return ownsLeaf(optionsOf(*owner.clause), *owner.rule.decl, info, e, scope, otherwise) && !otherwise;
  };
  for (auto &info : e.params) {
    if (info->decl->frozen)
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
      e.diags.report(Diag::owns_nothing, owner.clause->span, owner.name);
  return !e.hasFailed();
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
      info->argument.replaceAllUsesWith(argument);
  }
  block.eraseArguments(0, count);
  SmallVector<Attribute> paths;
  SmallVector<bool> frozen;
  for (ParamInfo *info : e.treeLeaves) {
    paths.push_back(e.builder.getStringAttr(info->path));
    frozen.push_back(info->decl->frozen);
  }
  objectiveOp->setAttr("paths", e.builder.getArrayAttr(paths));
  objectiveOp->setAttr("frozen", e.builder.getDenseBoolArrayAttr(frozen));
  e.readParam = [this](ParamInfo &info) -> mlir::Value {
    auto type = RankedTensorType::get(info.shape, e.real());
    return run::ReadOp::create(e.builder, e.loc(info.from), type, paramsArena, info.offset, info.path).getResult();
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

//===----------------------------------------------------------------------===//
// Sockets
//===----------------------------------------------------------------------===//

ir::SocketOp TrainElaborator::socket(const std::string &name, ir::SocketKind kind, Batch batch) {
  e.builder.setInsertionPointToEnd(&train.getBody().front());
  auto op = ir::SocketOp::create(e.builder, e.builder.getUnknownLoc(), name, kind, batch.feed, batch.size, batch.masked);
  e.builder.setInsertionPointToEnd(&op.getBody().emplaceBlock());
  e.numberCacheBlock = nullptr;
  return op;
}

void TrainElaborator::initSocket() {
  socket("init", ir::SocketKind::init);
  e.drawStream = nd::Stream::init;
  e.mayDraw = true;
  for (ParamInfo *info : e.treeLeaves) {
    Frame frame{std::make_shared<Scope>(info->scope), nullptr, "init"};
    frame.assigning = info->path;
    InstantiationScope chain(e.diags, "`" + info->path + ": " + describeShape(info->shape) + "`", info->from);
    Value start = e.evaluate(*info->decl->init, frame);
    Span span = info->decl->init->span;
    if (info->decl->drawn) {
      auto *dist = start.as<Distribution>();
      if (!dist && !start.isInvalid())
        e.diags.report(Diag::not_a_distribution, span, describe(start)).help("`~ normal()` draws; `= …` gives a value");
      start = dist ? e.drawFrom(*dist, info->shape, {}, span, frame) : Value();
    }
    if (start.isInvalid())
      continue;
    auto t = e.tensor(start, span);
    if (!t)
      continue;
    *t = e.cast(*t, Elem::Real, false, span);
    auto type = RankedTensorType::get(info->shape, e.real());
    if (t->type().getElementType() != e.real())
      *t = {e.create<nd::CastOp>(span, t->value, e.real()), false, 0};
    if (t->type().getRank() == 0 && type.getRank() != 0)
      *t = e.broadcastScalar(*t, type, span);
    if (t->type() != type) {
      e.diags.report(Diag::write_type, span, info->path, describeType(type), describeType(t->type()));
      continue;
    }
    writeRange(paramsArena, info->offset, *t, info->path, span);
  }
  for (auto &[key, state] : states) {
    // The rule's own names as they are at the start: parameters just drawn, sizes, hyperparameters.
    auto start = std::make_shared<Scope>(state.scope);
    auto whole = readRange(paramsArena, 0, treeType(e.treeLeaves, false), "params", state.decl->span);
    start->define("params", whole, NameKind::Socket, state.decl->span);
    if (state.patterned)
      start->define("param", readRange(paramsArena, state.from, RankedTensorType::get(state.leaves[0]->shape, e.real()), state.leaves[0]->path, state.decl->span), NameKind::Socket, state.decl->span);
    else
      start->define("param", readRange(paramsArena, state.from, treeType(state.leaves, true), "params", state.decl->span), NameKind::Socket, state.decl->span);
    Frame frame{start, nullptr, state.site};
    frame.assigning = state.decl->name.text;
    Value value = e.evaluate(*state.decl->init, frame);
    Span span = state.decl->init->span;
    if (state.decl->drawn)
      if (auto *dist = value.as<Distribution>())
        value = e.drawFrom(*dist, state.type.getShape(), state.type.getEncoding(), span, frame);
    auto t = value.isInvalid() ? std::nullopt : e.tensor(value, span);
    if (!t)
      continue;
    *t = e.cast(*t, elemOfType(state.type), false, span);
    if (t->type().getElementType() != state.type.getElementType())
      *t = {e.create<nd::CastOp>(span, t->value, state.type.getElementType()), false, 0};
    if (t->type().getRank() == 0 && state.type.getRank() != 0)
      *t = e.broadcastScalar(*t, state.type, span);
    writeRange(state.arena, state.offset, *t, state.decl->name.text, span);
  }
  e.mayDraw = false;
}

int64_t TrainElaborator::metric(const std::string &name, ArrayRef<int64_t> shape, Span span, bool leafAxis) {
  for (auto &metric : out->plan.metrics)
    if (metric.name == name) {
      e.diags.report(Diag::metric_twice, span, name);
      return 0;
    }
  for (auto &metric : out->plan.metrics)
    for (auto [one, other] : {std::pair(metric.name, name), std::pair(name, metric.name)})
      if (llvm::StringRef(other).starts_with(one + ".")) {
        e.diags.report(Diag::metric_and_group, span, one).help("give the `eval` or what is emitted another name");
        return 0;
      }
  plan::Metric metric{name, "step", {shape.begin(), shape.end()}, {}, {}};
  if (leafAxis) {
    metric.axes.push_back("leaf");
    metric.labels.emplace_back();
    for (ParamInfo *leaf : ruleLeaves ? *ruleLeaves : e.treeLeaves)
      metric.labels.back().push_back(leaf->path);
  }
  out->plan.metrics.push_back(std::move(metric));
  return static_cast<int64_t>(out->plan.metrics.size()) - 1;
}

void TrainElaborator::emit(const std::string &name, const Value &value, Span span) {
  auto t = e.tensor(value, span, "a metric");
  if (!t)
    return;
  Attribute encoding = t->type().getEncoding();
  if (isa_and_present<ir::LeavesAttr, ir::AxesAttr>(encoding)) {
    e.diags.report(Diag::emit_type, span, name, describeType(t->type()))
        .help("reduce it first: `norm(…)` gives one number a leaf, `mean(…, over=example)` one a batch");
    return;
  }
  if (elemOfType(t->type()) == Elem::Bool)
    *t = e.cast(*t, Elem::Int, false, span);
  if (elemOfType(t->type()) == Elem::Int)
    *t = e.cast(*t, Elem::Real, false, span);
  mlir::Value stored = t->value;
  if (encoding)
    stored = e.create<ir::RecastOp>(span, ir::withEncoding(t->type(), {}), stored);
  int64_t index = metric(metricPrefix + name, t->type().getShape(), span, isa_and_present<ir::PerLeafAttr>(encoding));
  run::EmitOp::create(e.builder, e.loc(span), stored, index);
}

/// The gradient on the present batch; the loss is emitted and guarded.
Value TrainElaborator::lossAndGradient(const Value &params, Span span) {
  auto number = RankedTensorType::get({}, e.real());
  const Tensor &tree = *params.as<Tensor>();
  auto gradient = ir::GradientOp::create(e.builder, e.loc(span), number, tree.type(), "loss", tree.value);
  emit("loss", Value(Tensor{gradient.getLoss(), false, 0}, span), span);
  run::GuardOp::create(e.builder, e.loc(span), gradient.getLoss(), static_cast<int64_t>(out->plan.sites.size()), "loss");
  out->plan.sites.push_back({"guard", "loss", e.diags.sources().describe(span)});
  return Value(Tensor{gradient.getGradient(), false, 0}, span);
}

void TrainElaborator::updateSocket(const Clauses &clauses) {
  socket("update", ir::SocketKind::update);
  Span span = clauses.loss->span;
  auto type = treeType(e.treeLeaves, false);
  Value params = readRange(paramsArena, 0, type, "params", span);
  Value grads;
  if (request.gradientsGiven) {
    int64_t arena = static_cast<int64_t>(out->plan.arenas.size());
    out->plan.arenas.push_back({"grads", "grads", out->plan.arenas[paramsArena].bytes});
    grads = readRange(arena, 0, type, "grads", span);
  } else
    grads = lossAndGradient(params, span);
  for (auto *clause : clauses.clips) {
    auto rule = ruleOf(*clause);
    if (!rule)
      return;
    clips.emplace_back(*rule, clause);
  }
  e.mayDraw = e.drawsByStep = true;
  e.drawStream = nd::Stream::noise;
  grads = applyClips(grads);
  if (!grads.isInvalid())
    for (Owner &owner : owners)
      applyOptimizer(owner, grads);
  e.mayDraw = e.drawsByStep = false;
}

int64_t TrainElaborator::event(const ast::Timing *timing, const char *otherwise, Span span) {
  plan::Event event{otherwise, 1, {}};
  Frame frame{scope};
  if (timing && timing->form == ast::Timing::Form::Every) {
    event.kind = ast::clockName(timing->clock, false);
    if (timing->clock != ast::Clock::Step && timing->clock != ast::Clock::Epoch)
      e.diags.report(Diag::not_supported, timing->span, "this clock is");
    if (timing->clock == ast::Clock::Epoch && batch.feed < 0)
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
    int64_t rows = out->plan.sets[*setIndex].rows;
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
    events.push_back({event(timing, batch.feed >= 0 ? "epoch" : "end", clause.span), {base + "_begin"}, mine.feed, base, base + "_end", false});
  }
}

void TrainElaborator::probeSockets(const Clauses &clauses) {
  for (size_t k = 0; k < clauses.probes.size(); ++k) {
    auto *clause = clauses.probes[k];
    auto rule = ruleOf(*clause);
    if (!rule)
      continue;
    std::string name = "probe_" + std::to_string(k) + "_" + rule->decl->name.text;
    socket(name, ir::SocketKind::probe);
    Span span = clause->span;
    InstantiationScope chain(e.diags, rule->decl->name.text, span);
    ScopePtr inner = ruleScope(*rule);
    auto type = treeType(e.treeLeaves, false);
    Value params = readRange(paramsArena, 0, type, "params", span);
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
    offerSocket(inner, params, false);
    Record optimizer, stateRecord;
    for (auto &[owner, list] : statesByOwner)
      for (State *state : list)
        if (!state->patterned)
          stateRecord.fields.emplace_back(state->decl->name.text,
                                          readRange(state->arena, state->offset, state->type, state->decl->name.text, span));
    optimizer.fields.emplace_back("state", Value(stateRecord, span));
    for (auto &[hyper, binding] : owners.front().rule.hyper->names)
      optimizer.fields.emplace_back(hyper, binding.value);
    inner->define("optimizer", Value(optimizer, span), NameKind::Socket, span);
    e.mayDraw = e.drawsByStep = true;
    e.drawStream = nd::Stream::noise;
    Frame frame{inner, nullptr, name};
    if (rule->decl->body.block)
      e.execute(*rule->decl->body.block, frame);
    e.mayDraw = e.drawsByStep = false;
    const ast::Timing *timing = nullptr;
    for (auto &option : optionsOf(*clause))
      if (option.form == ast::RuleOption::Form::Timing)
        timing = &option.timing;
    events.push_back({event(timing, "step", span), {}, -1, name, "", batch.feed >= 0});
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
  {
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
    call("update");
    run::StepDoneOp::create(b, loc);
  }
  // After the last update: what is due then sees the final parameters.
  for (const Event &event : events)
    moment(event);
}

Elem elemOfType(RankedTensorType type) {
  Type element = type.getElementType();
  return element.isInteger(1) ? Elem::Bool : element.isInteger() ? Elem::Int : Elem::Real;
}

} // namespace dyn::elab
