//===- DataSources.cpp - data declarations --------------------------------===//
#include "frontend/elaborate/Patterns.h"
#include "frontend/elaborate/Streams.h"
#include "frontend/elaborate/TrainElaborator.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace dyn::elab {

/// Rows that a data function takes at once: raw values and fields of a chunk stay in cache.
static constexpr int64_t chunkRows = 512;

static bool sameArguments(const Scope &a, const Scope &b) {
  return llvm::all_of(a.names, [&](auto &entry) {
    auto other = b.names.find(entry.first);
    auto *x = entry.second.value.template as<Const>();
    auto *y = other == b.names.end() ? nullptr : other->second.value.template as<Const>();
    return !x || !y || x->number == y->number;
  });
}

std::optional<int64_t> TrainElaborator::source(const Data &data, Span span) {
  plan::Plan &plan = out->plan;
  std::string name = data.decl->name.text;
  if (isTaken(data))
    name += ".take(" + std::to_string(data.rows) + ")";
  for (size_t i = 0; i < plan.sources.size(); ++i)
    if (plan.sources[i].name == name) {
      // Its set is made once: other arguments would be ignored.
      if (data.args && sourceArgs[name] && !sameArguments(*data.args, *sourceArgs[name]))
        e.diags.report(Diag::data_two_ways, span, name).help("declare a second set, or give both places one local");
      return static_cast<int64_t>(i);
    }
  plan::Source made;
  made.name = name;
  made.spec = e.diags.sources().describe(data.decl->name.span);
  if (isTaken(data))
    made.format = "synthetic";
  InstantiationScope chain(e.diags, "data " + name, span);
  OpBuilder::InsertionGuard guard(e.builder);
  if (!dataSocket(data, made, span))
    return std::nullopt;
  plan.sources.push_back(std::move(made));
  return static_cast<int64_t>(plan.sources.size()) - 1;
}

/// What the draws of a declaration follow: a seed of its own, the run's, or neither. The rows of a stream come as the rows
/// of a shuffled set do, by the stream `order` of the run's seed.
bool TrainElaborator::seedDraws(const ast::DataDecl &decl, plan::Source &made, Frame &frame) {
  auto *name = ast::dynCast<ast::NameExpr>(decl.seed.get());
  made.followsSeed = decl.seed ? name && name->name == "run" : isStream(decl);
  e.drawStream = made.followsSeed ? nd::Stream::order : nd::Stream::data;
  if (!decl.seed || made.followsSeed)
    return true;
  auto seed = e.knownInt(e.evaluate(*decl.seed, frame), decl.seed->span, "the seed of data");
  if (!seed)
    return false;
  Tensor number = e.materialise(Const{double(*seed), Elem::Real, true, decl.name.text + ".seed"}, decl.seed->span);
  e.drawSeed = e.create<nd::CastOp>(decl.seed->span, number.value, e.builder.getI64Type());
  return true;
}

/// Rows that are taken of a stream are no rows that a train sees: their draws have a seed of their own beside the stream's. What
/// is `fixed` they have in common.
mlir::Value TrainElaborator::seedOfTaken(Span span) {
  constexpr int64_t apart = int64_t(1) << 60;
  mlir::Value own = e.tensor(e.integer(apart, span), span)->value;
  return e.drawSeed ? e.create<nd::AddOp>(span, e.drawSeed, own) : own;
}

/// Elaborates the items of a declaration as code on a chunk of rows.
bool TrainElaborator::dataSocket(const Data &data, plan::Source &made, Span span) {
  const ast::DataDecl &decl = *data.decl;
  auto args = data.args;
  if (!args) {
    args = std::make_shared<Scope>(e.globals);
    Frame frame{args};
    if (!e.bind(decl.parameters, {}, args, frame, NameKind::Hyperparameter, "the data `" + decl.name.text + "`", span))
      return false;
  }
  made.function = "data_" + decl.name.text + (isTaken(data) ? "_take_" + std::to_string(data.rows) : "");
  made.rows = data.rows;
  sourceArgs[made.name] = args;
  SourceParts parts;
  if (!openSource(decl, args, made, parts))
    return false;
  made.chunk = made.isEndless() ? made.rows : std::min(made.rows, chunkRows);
  ir::SocketOp op = socket(made.function, ir::SocketKind::data, {-1, made.chunk, false});
  DataItems items{decl, std::make_shared<Scope>(args), made, parts, ir::AxesAttr::of(&e.context, {"example"})};
  bool good = makeItems(items);
  op.setBatch(made.chunk);
  if (good && made.fields.empty()) {
    e.diags.report(Diag::data_no_fields, decl.name.span, decl.name.text).help("a typed line is a field: `x: [64] = columns[0:64]`");
    return false;
  }
  return good;
}

/// The items at their place, with draws that follow what the declaration says.
bool TrainElaborator::makeItems(DataItems &items) {
  bool isTable = items.parts.isTable;
  llvm::SaveAndRestore place(e.place, isTable ? Attribute() : items.row);
  llvm::SaveAndRestore mayDraw(e.mayDraw, !isTable), byRow(e.drawsByRow, !isTable), byStep(e.drawsByStep, false);
  llvm::SaveAndRestore stream(e.drawStream);
  llvm::SaveAndRestore seed(e.drawSeed);
  Frame frame{items.scope, nullptr, "data " + items.decl.name.text};
  if (!seedDraws(items.decl, items.made, frame))
    return false;
  int drawn = e.drawsMade;
  bindRow(items);
  if (!(isTable ? tableItems(items) : rowItems(items)))
    return false;
  if (!items.decl.seed || e.drawsMade != drawn)
    return true;
  e.diags.report(Diag::data_seed_unused, items.decl.seed->span, items.decl.name.text)
      .help("leave `seed` out; `split(…, seed=0)` is what chooses the rows of the parts");
  return false;
}

/// What the items of a declaration may read of the present row: the numbers of files, and `index`.
void TrainElaborator::bindRow(DataItems &items) {
  plan::Source &made = items.made;
  Span span = items.decl.source->span;
  for (const RawValue &raw : items.parts.raws) {
    plan::RawInput &input = made.inputs[raw.input];
    input.arena = static_cast<int64_t>(out->plan.arenas.size());
    out->plan.arenas.push_back({made.name + ".raw" + std::to_string(raw.input), "raw", made.chunk * input.width * 8});
    auto type = RankedTensorType::get(raw.shape, e.builder.getF64Type(), items.row);
    auto op = ir::FieldOp::create(e.builder, e.loc(span), type, input.arena, made.chunk, -1, true, raw.name);
    Tensor value = e.cast({op.getResult(), false, 0}, raw.elem, false, span);
    items.scope->define(raw.name, Value(value, span), NameKind::Socket, span);
  }
  if (!items.parts.isTable)
    items.scope->defineLazy("index", NameKind::Socket, span, [this]() -> Value {
      Value rows = clock(run::ClockKind::rows_base, {});
      return e.elementwise("add", rows, Value(position()), {});
    });
}

/// The place of the present row in its chunk.
Tensor TrainElaborator::position() {
  auto type = RankedTensorType::get({}, e.builder.getI64Type(), ir::AxesAttr::of(&e.context, {"example"}));
  return {ir::IndexOp::create(e.builder, e.builder.getUnknownLoc(), type, "example").getResult(), false, 0};
}

static const ast::Ident &nameOf(const ast::DataItem &item) {
  auto *let = ast::dynCast<ast::LetStmt>(item.binding.get());
  return let ? let->name : ast::dynCast<ast::DrawStmt>(item.binding.get())->name;
}

static const ast::Type *typeOf(const ast::DataItem &item) {
  auto *let = ast::dynCast<ast::LetStmt>(item.binding.get());
  return let ? let->type.get() : ast::dynCast<ast::DrawStmt>(item.binding.get())->type.get();
}

/// Items are written for one row. Without braces each name that the files have is a field as it is.
bool TrainElaborator::rowItems(DataItems &items) {
  if (!items.decl.hasItems)
    for (const RawValue &raw : items.parts.raws) {
      Tensor value = *items.scope->names[raw.name].value.as<Tensor>();
      if (!storeField(items, raw.name, {raw.shape, raw.elem, raw.classes}, value, items.decl.source->span))
        return false;
    }
  bool good = true;
  for (auto &item : items.decl.items) {
    const ast::Ident &name = nameOf(*item);
    auto value = rowItem(items, *item);
    // What reads an item that was refused stays silent.
    items.scope->define(name.text, value ? Value(*value, name.span) : Value(), NameKind::Local, name.span);
    good &= value.has_value();
    FieldType type;
    if (!value || !typeOf(*item) || item->fixed || !e.declaredShape(*typeOf(*item), items.scope, type.shape, type.elem, &type.classes))
      continue;
    if (!storeField(items, name.text, type, *value, name.span))
      return false;
  }
  return good;
}

/// The value of one item, of its declared type; nothing after a report.
std::optional<Tensor> TrainElaborator::rowItem(DataItems &items, const ast::DataItem &item) {
  const ast::Ident &name = nameOf(item);
  const ast::Type *type = typeOf(item);
  Frame frame{items.scope, nullptr, "data " + items.decl.name.text};
  FieldType declared;
  if (type && !e.declaredShape(*type, items.scope, declared.shape, declared.elem, &declared.classes))
    return std::nullopt;
  Attribute here = e.place;
  llvm::SaveAndRestore seed(e.drawSeed);
  if (item.fixed)
    e.place = {};
  else if (isStream(items.decl) && !items.made.isEndless())
    e.drawSeed = seedOfTaken(name.span);
  auto *let = ast::dynCast<ast::LetStmt>(item.binding.get());
  Value value;
  if (let)
    value = e.evaluate(*let->value, frame);
  else {
    e.execute(*item.binding, frame);
    value = items.scope->names[name.text].value;
  }
  e.place = here;
  auto t = value.isInvalid() ? std::nullopt : e.tensor(value, name.span);
  if (!t || !type)
    return t;
  return asDeclared(*t, declared, *type, name, let ? let->value->span : name.span);
}

/// A value as the type of its item has it. In a table `shape` has the rows in front.
std::optional<Tensor> TrainElaborator::asDeclared(Tensor t, const FieldType &declared, const ast::Type &type,
                                                  const ast::Ident &name, Span span) {
  std::string given = describe(Value(t));
  if (declared.elem == Elem::Bool && elemOfType(t.type()) == Elem::Real) {
    e.diags.report(Diag::declared_type, name.span, "`" + name.text + "`", print(type), given);
    return std::nullopt;
  }
  t = declared.elem == Elem::Int && elemOfType(t.type()) == Elem::Real ? e.wholeOrMarked(t, name.span)
                                                                       : e.cast(t, declared.elem, false, name.span);
  if (t.type().getRank() == 0 && !declared.shape.empty())
    t = e.broadcastScalar(t, RankedTensorType::get(declared.shape, t.type().getElementType()), name.span);
  if (t.type().getShape() != ArrayRef<int64_t>(declared.shape)) {
    e.diags.report(Diag::declared_type, span, "`" + name.text + "`", print(type), describeType(t.type()))
        .note(type.span, "declared here");
    return std::nullopt;
  }
  t.classes = declared.classes;
  return t;
}

/// A table's items hold all rows: a typed one is a column, an array whose first dimension counts them.
bool TrainElaborator::tableItems(DataItems &items) {
  bool good = true;
  for (auto &item : items.decl.items) {
    const ast::Ident &name = nameOf(*item);
    auto *let = ast::dynCast<ast::LetStmt>(item->binding.get());
    if (!let || item->fixed) {
      e.diags.report(Diag::table_item, name.span, name.text).help("`synthetic(n)` draws rows");
      good = false;
      continue;
    }
    Frame frame{items.scope, nullptr, "data " + items.decl.name.text};
    Value value = e.evaluate(*let->value, frame);
    auto t = value.isInvalid() ? std::nullopt : e.tensor(value, name.span);
    if (t && let->type)
      t = tableColumn(items, *let, *t);
    items.scope->define(name.text, t ? Value(*t, name.span) : Value(), NameKind::Local, name.span);
    good &= t.has_value();
  }
  return good;
}

/// Stores a column of a table, each row for itself; the column as it is declared.
std::optional<Tensor> TrainElaborator::tableColumn(DataItems &items, const ast::LetStmt &let, Tensor t) {
  FieldType row;
  if (!e.declaredShape(*let.type, items.scope, row.shape, row.elem, &row.classes))
    return std::nullopt;
  ArrayRef<int64_t> shape = t.type().getShape();
  if (shape.empty() || shape.drop_front() != ArrayRef<int64_t>(row.shape)) {
    e.diags.report(Diag::table_column, let.value->span, let.name.text, print(*let.type), describeType(t.type()))
        .note(let.type->span, "declared here");
    return std::nullopt;
  }
  if (items.made.fields.empty())
    items.made.rows = items.made.chunk = shape.front();
  if (shape.front() != items.made.rows || shape.front() < 1) {
    e.diags.report(Diag::table_rows, let.value->span, let.name.text, shape.front(), items.made.rows);
    return std::nullopt;
  }
  FieldType whole = row;
  whole.shape.insert(whole.shape.begin(), shape.front());
  auto column = asDeclared(t, whole, *let.type, let.name, let.value->span);
  if (!column)
    return std::nullopt;
  Tensor own{e.create<nd::GatherOp>(let.name.span, column->value, position().value, uint64_t(0)), false, 0};
  return storeField(items, let.name.text, row, own, let.name.span) ? column : std::nullopt;
}

/// Adds a field to the source and writes the present row's value of it.
bool TrainElaborator::storeField(DataItems &items, const std::string &name, const FieldType &type, Tensor value, Span span) {
  plan::Plan &plan = out->plan;
  plan::Source &made = items.made;
  SmallVector<int64_t> column = {made.rows};
  column.append(type.shape.begin(), type.shape.end());
  if (!fitsMemory(column, e.diags, span))
    return false;
  plan::Element element = type.elem == Elem::Real  ? plan.precision
                          : type.elem == Elem::Int ? plan::Element::i64
                                                   : plan::Element::i1;
  int64_t arena = static_cast<int64_t>(plan.arenas.size());
  int64_t width = RankedTensorType::get(type.shape, e.real()).getNumElements();
  plan.arenas.push_back({made.name + "." + name + ".chunk", "raw", made.chunk * width * plan::sizeOf(element)});
  made.fields.push_back({name, {type.shape.begin(), type.shape.end()}, element, type.classes});
  made.chunkArenas.push_back(arena);
  mlir::Value stored = value.value;
  if (!ir::carries(stored.getType(), "example"))
    stored = e.create<ir::VaryOp>(span, ir::withEncoding(stored.getType(), items.row), stored);
  ir::StoreOp::create(e.builder, e.loc(span), stored, arena, 0, name);
  return true;
}

std::optional<int64_t> TrainElaborator::useField(int64_t setIndex, const std::string &name) {
  plan::Plan &plan = out->plan;
  plan::Set &set = plan.sets[setIndex];
  const plan::Source &source = plan.sources[set.source];
  for (size_t i = 0; i < source.fields.size(); ++i) {
    if (source.fields[i].name != name)
      continue;
    if (set.fieldArenas[i] < 0) {
      set.fieldArenas[i] = static_cast<int64_t>(plan.arenas.size());
      int64_t width = 1;
      for (int64_t size : source.fields[i].shape)
        width *= size;
      plan.arenas.push_back({set.name + "." + name, "field", set.rows * width * plan::sizeOf(source.fields[i].element)});
    }
    return set.fieldArenas[i];
  }
  return std::nullopt;
}

} // namespace dyn::elab
