//===- RowLosses.cpp - the objective row by row, and its gradients --------===//
//
// `loss(p, per=example)` elaborates the loss clause once more where it is
// asked for, at the parameters that are asked about; the value keeps its axis.
// `gradient(p, per=example)` is the derivative of that by `p`, which is then
// one tree for each example (rule 10 of the axes). A part of the batch is the
// objective itself on fewer rows: a pass makes it (passes/expand/Parts.h).
//
//===----------------------------------------------------------------------===//
#include "frontend/elaborate/TrainElaborator.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace dyn::elab {

bool TrainElaborator::sees(const Batch &rows, Span span) {
  auto feed = static_cast<int64_t>(socketNow.getFeed()), size = static_cast<int64_t>(socketNow.getBatch());
  if (size != 0 && (feed != rows.feed || size != rows.size)) {
    e.diags.report(Diag::not_supported, span, "a rule that looks at the examples of two sets is").help("write a rule for each");
    return false;
  }
  socketNow.setFeed(rows.feed);
  socketNow.setBatch(rows.size);
  socketNow.setMasked(rows.masked);
  return true;
}

Value TrainElaborator::lossOn(const std::vector<ast::Argument> &args, Span span, Frame &frame) {
  if (args.size() != 1 || args.front().name) {
    e.diags.report(Diag::too_few_arguments, span, "loss.on", "the data", args.size());
    return {};
  }
  Value value = e.evaluate(*args.front().value, frame);
  auto *data = value.as<Data>();
  if (!data && !value.isInvalid())
    e.diags.report(Diag::not_data, args.front().span, describe(value));
  auto number = data ? set(*data, args.front().span) : std::nullopt;
  if (!number)
    return {};
  lossSets.emplace_back(*data, *number);
  return Value(Builtin{"@loss over " + std::to_string(lossSets.size() - 1)}, span);
}

Value TrainElaborator::lossOver(llvm::StringRef number, const Tensor &tree, Span span) {
  size_t at = 0;
  (void)number.getAsInteger(10, at);
  auto [data, set] = lossSets[at];
  Batch all{-1, out->plan.sets[static_cast<size_t>(set)].examples(), false};
  if (!sees(all, span))
    return {};
  Value each = rowLosses(tree, exampleScope(data, set, all, true), span);
  auto *t = each.as<Tensor>();
  if (!t)
    return {};
  auto encoding = mlir::cast<ir::AxesAttr>(t->type().getEncoding()).without("example");
  return Value(Tensor{e.create<ir::OverOp>(span, ir::withEncoding(t->type(), encoding), ir::OverKind::mean, t->value,
                                           e.builder.getStringAttr("example")),
                      false, 0},
               span);
}

ScopePtr TrainElaborator::presentRows() {
  if (!sees(batch, clauses->data ? clauses->data->span : Span()))
    return nullptr;
  return exampleScope(*batchData, out->plan.feeds[0].set, batch, batchIsWhole);
}

Value TrainElaborator::batchField(const std::string &name, Span span) {
  ScopePtr rows = batchData ? presentRows() : nullptr;
  Binding *field = rows ? rows->find(name) : nullptr;
  if (field && field->lazy)
    return field->lazy();
  e.diags.report(Diag::no_member, span, "`batch`", name);
  return {};
}

/// The number of each array among those that the running rule has, in the order of the model.
Value TrainElaborator::placesOfLeaves(Span span) {
  const RulePlace &at = running->place;
  if (at.patterned) {
    const ParamInfo *leaf = at.leaves.front();
    const std::vector<ParamInfo *> &all = leaf->owner < 0 ? e.treeLeaves : owners[static_cast<size_t>(leaf->owner)].leaves;
    return e.integer(llvm::find(all, leaf) - all.begin(), span);
  }
  int64_t count = static_cast<int64_t>(at.leaves.size());
  auto type = RankedTensorType::get({count}, e.builder.getI64Type());
  mlir::Value places = e.create<nd::IotaOp>(span, type, uint64_t(0));
  auto perLeaf = RankedTensorType::get({count}, e.builder.getI64Type(), ir::PerLeafAttr::get(&e.context, count));
  return Value(Tensor{e.create<ir::RecastOp>(span, perLeaf, places), false, 0}, span);
}

Value TrainElaborator::placeOn(const std::string &axis, Span span) {
  if (axis == "leaf" && running)
    return placesOfLeaves(span);
  Attribute axes = ir::AxesAttr::of(&e.context, {axis});
  bool isOfClasses = llvm::any_of(top->getOps<ir::ElementsOp>(), [&](ir::ElementsOp op) { return op.getAxis() == axis; });
  if (e.place != axes && !isOfClasses && (axis != "example" || !batchData)) {
    e.diags.report(Diag::over_absent_axis, span, axis, "nothing here").help("`index(example)` is an example's place in the batch");
    return {};
  }
  if (e.place != axes && !isOfClasses)
    presentRows();
  auto type = RankedTensorType::get({}, e.builder.getI64Type(), axes);
  return Value(Tensor{e.create<ir::IndexOp>(span, type, e.builder.getStringAttr(axis)), false, 0}, span);
}

Value TrainElaborator::elementsOf(const std::string &axis, const std::string &asks, Span span) {
  if (ir::carries(RankedTensorType::get({}, e.real(), e.place), axis))
    return e.noOver(asks, span);
  std::string lack;
  std::optional<int64_t> count;
  if (axis == "example") {
    count = static_cast<int64_t>(socketNow.getBatch());
    int64_t rows = socketNow.getMasked() ? out->plan.sets[static_cast<size_t>(out->plan.feeds[0].set)].examples() % *count : 0;
    lack = rows ? "the last batch of an epoch has " + std::to_string(rows) + " of " + std::to_string(*count) + " rows" : "";
  }
  socketNow.walk([&](ir::PartGradientsOp op) {
    if (axis == "part")
      count = static_cast<int64_t>(op.getParts());
  });
  if (!count)
    lack = "a batch may have no row of a class";
  if (lack.empty())
    return e.integer(*count, span);
  auto report = e.diags.report(Diag::axis_lacks_some, span, asks, axis, lack);
  if (count)
    report.help("leave it out: `batch " + std::to_string(*count) + " drop` in the train's data, or reduce over `example`");
  else
    report.help("reduce over `" + axis + "`: reductions leave out what is not there");
  return {};
}

Value TrainElaborator::rowLosses(const Tensor &tree, ScopePtr rows, Span span) {
  if (!rows)
    return {};
  llvm::SaveAndRestore reading(e.readParam, std::function<mlir::Value(ParamInfo &)>([&](ParamInfo &info) -> mlir::Value {
    mlir::Value leaf = e.leafOf(tree, info.path, info.from).as<Tensor>()->value;
    return info.frozen ? e.create<nd::StopGradientOp>(info.from, leaf) : leaf;
  }));
  llvm::SaveAndRestore place(e.place, Attribute(ir::AxesAttr::of(&e.context, {"example"})));
  llvm::SaveAndRestore stream(e.drawStream, nd::Stream::noise);
  llvm::SaveAndRestore draws(e.mayDraw, true), steps(e.drawsByStep, true);
  // Models run as in the objective, from the states that the step began with; what they write is the objective's affair.
  bool outer = e.training;
  llvm::SaveAndRestore block(modelBlock);
  enterModels(true);
  Frame frame{rows};
  frame.site = "loss";
  const ast::Expr &loss = *clauses->loss->value;
  Value value = e.evaluate(loss, frame);
  enterModels(outer);
  auto t = value.isInvalid() ? std::nullopt : e.tensor(value, loss.span, "the loss");
  if (t)
    *t = e.varied(e.cast(*t, Elem::Real, false, loss.span), e.place, span);
  return t ? Value(*t, span) : Value();
}

bool TrainElaborator::isPerExample(const ast::Expr &per) {
  auto *name = ast::dynCast<ast::NameExpr>(&per);
  if (!name || name->name != "example") {
    e.diags.report(Diag::not_supported, per.span, "`per=" + print(per) + "` is")
        .help("write `per=example`, `per=part(8)`, or a field of the data that is a `class(k)`");
    return false;
  }
  return hasRows(per, "example");
}

/// What `per` cuts are rows of the train's data.
bool TrainElaborator::hasRows(const ast::Expr &per, const char *axis) {
  if (!batchData)
    e.diags.report(Diag::over_absent_axis, per.span, axis, "the loss").help("give the train `data`: its rows are the examples");
  return batchData.has_value();
}

//===----------------------------------------------------------------------===//
// Parts of the batch
//===----------------------------------------------------------------------===//

/// `part(8)`, or null.
static const ast::CallExpr *partIn(const ast::Expr &per) {
  auto *call = ast::dynCast<ast::CallExpr>(&per);
  auto *name = call ? ast::dynCast<ast::NameExpr>(call->callee.get()) : nullptr;
  return name && name->name == "part" ? call : nullptr;
}

std::optional<int64_t> TrainElaborator::partsOf(const ast::CallExpr &part, Frame &frame) {
  bool isSize = part.args.size() == 1 && part.args[0].name.text == "size";
  if (part.args.size() != 1 || (part.args[0].name && !isSize)) {
    e.diags.report(Diag::not_supported, part.span, "`" + print(part) + "` is").help("write `part(8)`, or `part(size=8)` for parts of 8 rows");
    return std::nullopt;
  }
  if (!hasRows(part, "part"))
    return std::nullopt;
  const ast::Expr &written = *part.args[0].value;
  auto number = e.knownInt(e.evaluate(written, frame), written.span, isSize ? "the size of a part" : "the number of parts");
  if (!number)
    return std::nullopt;
  if (*number < 1 || batch.size % *number != 0) {
    std::string near;
    for (int64_t k = std::min(std::max<int64_t>(*number, 1), batch.size); near.empty(); --k)
      near = batch.size % k == 0 ? std::to_string(k) : "";
    e.diags.report(Diag::batch_parts, part.span, print(part), batch.size)
        .help("write `part(" + std::string(isSize ? "size=" : "") + near + ")`, or change `batch` of the train's data");
    return std::nullopt;
  }
  if (batch.masked) {
    int64_t rows = out->plan.sets[static_cast<size_t>(out->plan.feeds[0].set)].examples() % batch.size;
    e.diags.report(Diag::batch_parts, part.span, print(part), rows)
        .note(part.span, "the last batch of an epoch has " + std::to_string(rows) + " of " + std::to_string(batch.size) + " rows")
        .help("leave it out: `batch " + std::to_string(batch.size) + " drop` in the train's data");
    return std::nullopt;
  }
  return isSize ? batch.size / *number : *number;
}

std::pair<Value, Value> TrainElaborator::inParts(int64_t parts, const Tensor &tree, Span span) {
  Attribute axes = ir::AxesAttr::of(&e.context, {"part"});
  auto number = RankedTensorType::get({}, e.real(), axes);
  auto type = ir::withEncoding(tree.type(), *mergeEncodings(tree.type().getEncoding(), axes));
  auto op = ir::PartGradientsOp::create(e.builder, e.loc(span), number, type, "loss", parts, tree.value);
  return {Value(Tensor{op.getLosses(), false, 0}, span), Value(Tensor{op.getGradients(), false, 0}, span)};
}

//===----------------------------------------------------------------------===//
// What a rule asks for
//===----------------------------------------------------------------------===//

Value TrainElaborator::lossesPer(const ast::Expr &per, const Value &tree, Span span, Frame &frame) {
  if (const ast::CallExpr *part = partIn(per)) {
    auto parts = partsOf(*part, frame);
    return parts ? inParts(*parts, *tree.as<Tensor>(), span).first : Value();
  }
  std::optional<Tensor> label = classOf(per);
  if (!label && !isPerExample(per))
    return {};
  Value each = rowLosses(*tree.as<Tensor>(), presentRows(), span);
  return label && !each.isInvalid() ? byClass(print(per), *label, each, span) : each;
}

Value TrainElaborator::gradientsPer(const ast::Expr &per, const Value &tree, Span span, Frame &frame) {
  if (const ast::CallExpr *part = partIn(per)) {
    auto parts = partsOf(*part, frame);
    return parts ? inParts(*parts, *tree.as<Tensor>(), span).second : Value();
  }
  std::optional<Tensor> label = classOf(per);
  if (!label && !isPerExample(per))
    return {};
  Derivative rows{Derivative::Kind::gradient, "gradient", Value(Builtin{"@rows"}, span), ""};
  Value each = e.callDerivative(rows, std::vector<Value>{tree}, span, frame);
  return label && !each.isInvalid() ? byClass(print(per), *label, each, span) : each;
}

} // namespace dyn::elab
