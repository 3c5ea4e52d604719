//===- DataSources.cpp - data declarations --------------------------------===//
#include "frontend/elaborate/Patterns.h"
#include "frontend/elaborate/TrainElaborator.h"

#include "runtime/data/Reader.h"

#include <cmath>
#include <filesystem>

using namespace mlir;

namespace dyn::elab {

/// Rows that a data function takes at once: raw values and fields of a chunk stay in cache.
static constexpr int64_t chunkRows = 512;

/// Paths are relative to the file that writes them.
static std::string resolved(const SourceFile *spec, const std::string &path) {
  std::filesystem::path given(path);
  if (given.is_absolute() || !spec)
    return path;
  return (std::filesystem::path(spec->path()).parent_path() / given).lexically_normal().string();
}

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
  const std::string &name = data.decl->name.text;
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
  InstantiationScope chain(e.diags, "data " + name, span);
  OpBuilder::InsertionGuard guard(e.builder);
  if (!dataSocket(data, made, span))
    return std::nullopt;
  plan.sources.push_back(std::move(made));
  return static_cast<int64_t>(plan.sources.size()) - 1;
}

/// Elaborates the items of a declaration as code on a chunk of rows.
bool TrainElaborator::dataSocket(const Data &data, plan::Source &made, Span span) {
  plan::Plan &plan = out->plan;
  const ast::DataDecl &decl = *data.decl;
  auto args = data.args;
  if (!args) {
    args = std::make_shared<Scope>(e.globals);
    Frame frame{args};
    if (!e.bind(decl.parameters, {}, args, frame, NameKind::Hyperparameter, "the data `" + decl.name.text + "`", span))
      return false;
  }
  auto *callExpr = ast::dynCast<ast::CallExpr>(decl.source.get());
  auto *callee = callExpr ? ast::dynCast<ast::NameExpr>(callExpr->callee.get()) : nullptr;
  std::string format = callee ? callee->name : "";
  if (format != "csv" && format != "idx" && format != "synthetic") {
    e.diags.report(Diag::not_supported, decl.source->span, "this source of data is");
    return false;
  }
  sourceArgs[decl.name.text] = args;
  made.format = format;
  made.function = "data_" + decl.name.text;
  Frame frame{args};
  struct Raw {
    std::string name;
    std::vector<int64_t> shape;
    int64_t input;
  };
  std::vector<Raw> raws;
  if (format == "synthetic") {
    for (auto &arg : callExpr->args)
      if (arg.name) {
        e.diags.report(Diag::unknown_argument, arg.span, format, arg.name.text);
        return false;
      }
    if (callExpr->args.size() != 1) {
      e.diags.report(Diag::synthetic_rows, decl.source->span);
      return false;
    }
    auto rows = e.knownInt(e.evaluate(*callExpr->args[0].value, frame), callExpr->args[0].span, "the number of rows");
    if (!rows)
      return false;
    if (*rows < 1) {
      e.diags.report(Diag::synthetic_rows, callExpr->args[0].span);
      return false;
    }
    made.rows = *rows;
  } else {
    data::ReadOptions options;
    for (auto &arg : callExpr->args)
      if (format == "csv" && arg.name) {
        auto header = arg.name.text == "header" ? e.knownBool(e.evaluate(*arg.value, frame)) : std::nullopt;
        if (arg.name.text != "header")
          e.diags.report(Diag::unknown_argument, arg.span, format, arg.name.text).help("it has `header`");
        else if (!header)
          e.diags.report(Diag::needs_bool, arg.value->span, "header", print(*arg.value));
        if (!header)
          return false;
        options.header = *header;
      }
    for (auto &arg : callExpr->args) {
      if (format == "csv" && arg.name)
        continue;
      Value value = e.evaluate(*arg.value, frame);
      auto *path = value.as<Text>();
      if (!path || (format == "csv") == bool(arg.name)) {
        e.diags.report(Diag::data_files, arg.span, format)
            .help(format == "csv" ? "`csv(\"file.csv\")`" : "`idx(pixels=\"images.gz\", kind=\"labels.gz\")` names the rows of each file");
        return false;
      }
      std::string file = resolved(e.diags.sources().file(decl.span), path->text);
      auto extent = data::inspect(format, file, options);
      if (!extent) {
        e.diags.report(Diag::data_file, arg.value->span, extent.status().message());
        return false;
      }
      if (!raws.empty() && extent->rows != made.rows) {
        e.diags.report(Diag::data_rows, arg.span, path->text, extent->rows, made.rows);
        return false;
      }
      made.rows = extent->rows;
      made.inputs.push_back({file, extent->width(), 0, options.header});
      raws.push_back({arg.name ? arg.name.text : "columns", extent->shape, static_cast<int64_t>(made.inputs.size()) - 1});
    }
    if (raws.empty()) {
      e.diags.report(Diag::data_files, decl.source->span, format);
      return false;
    }
  }
  if (made.rows < 1) {
    e.diags.report(Diag::data_file, decl.source->span, "there are no rows");
    return false;
  }
  made.chunk = std::min(made.rows, chunkRows);
  Batch chunk{-1, made.chunk, false};
  auto restorePlace = e.place;
  bool mayDraw = e.mayDraw, byStep = e.drawsByStep, byRow = e.drawsByRow;
  nd::Stream stream = e.drawStream;
  socket(made.function, ir::SocketKind::data, chunk);
  e.place = ir::AxesAttr::of(&e.context, {"example"});
  e.mayDraw = e.drawsByRow = true;
  e.drawsByStep = false;
  e.drawStream = nd::Stream::data;
  auto inner = std::make_shared<Scope>(args);
  for (auto &raw : raws) {
    int64_t arena = static_cast<int64_t>(plan.arenas.size());
    plan.arenas.push_back({decl.name.text + ".raw" + std::to_string(raw.input), "raw", made.chunk * made.inputs[raw.input].width * 8});
    made.inputs[raw.input].arena = arena;
    auto type = RankedTensorType::get(raw.shape, e.builder.getF64Type(), e.place);
    auto op = ir::FieldOp::create(e.builder, e.loc(decl.source->span), type, arena, made.chunk, -1, true, raw.name);
    mlir::Value value = op.getResult();
    if (!e.real().isF64())
      value = e.create<nd::CastOp>(decl.source->span, value, e.real());
    inner->define(raw.name, Value(Tensor{value, false, 0}, decl.source->span), NameKind::Socket, decl.source->span);
  }
  inner->defineLazy("index", NameKind::Socket, span, [this]() -> Value {
    Value rows = clock(run::ClockKind::rows_base, {});
    auto type = RankedTensorType::get({}, e.builder.getI64Type(), e.place);
    auto position = ir::IndexOp::create(e.builder, e.builder.getUnknownLoc(), type, "example");
    return e.elementwise("add", rows, Value(Tensor{position.getResult(), false, 0}), {});
  });
  bool good = true;
  auto refused = [&](const ast::Ident &name) {
    // What reads the item stays silent.
    inner->define(name.text, Value(), NameKind::Local, name.span);
    good = false;
  };
  for (auto &item : decl.items) {
    Frame itemFrame{inner, nullptr, "data " + decl.name.text};
    auto *let = ast::dynCast<ast::LetStmt>(item->binding.get());
    auto *draw = ast::dynCast<ast::DrawStmt>(item->binding.get());
    const ast::Ident &name = let ? let->name : draw->name;
    const ast::Type *type = let ? let->type.get() : draw->type.get();
    Attribute here = e.place;
    if (item->fixed)
      e.place = {};
    SmallVector<int64_t> shape;
    Elem elem = Elem::Real;
    int64_t classes = 0;
    if (type && !e.declaredShape(*type, inner, shape, elem, &classes)) {
      refused(name);
      e.place = here;
      continue;
    }
    Value value;
    if (draw) {
      e.execute(*draw, itemFrame);
      value = inner->names[name.text].value;
    } else
      value = e.evaluate(*let->value, itemFrame);
    e.place = here;
    auto t = value.isInvalid() ? std::nullopt : e.tensor(value, name.span);
    if (!t) {
      refused(name);
      continue;
    }
    if (type) {
      if (elem == Elem::Bool && elemOfType(t->type()) == Elem::Real) {
        e.diags.report(Diag::declared_type, name.span, "`" + name.text + "`", print(*type), describe(value));
        refused(name);
        continue;
      }
      *t = elem == Elem::Int && elemOfType(t->type()) == Elem::Real ? e.wholeOrMarked(*t, name.span)
                                                                    : e.cast(*t, elem, false, name.span);
      if (t->type().getRank() == 0 && !shape.empty())
        *t = e.broadcastScalar(*t, RankedTensorType::get(shape, t->type().getElementType()), name.span);
      if (t->type().getShape() != ArrayRef<int64_t>(shape)) {
        e.diags.report(Diag::declared_type, let ? let->value->span : name.span, "`" + name.text + "`", print(*type), describeType(t->type()))
            .note(type->span, "declared here");
        refused(name);
        continue;
      }
      t->classes = classes;
    }
    inner->define(name.text, Value(*t, name.span), NameKind::Local, name.span);
    if (!type || item->fixed)
      continue;
    SmallVector<int64_t> column = {made.rows};
    column.append(shape.begin(), shape.end());
    if (!fitsMemory(column, e.diags, name.span))
      return false;
    plan::Element element = elem == Elem::Real ? plan.precision : elem == Elem::Int ? plan::Element::i64 : plan::Element::i1;
    int64_t arena = static_cast<int64_t>(plan.arenas.size());
    plan.arenas.push_back({decl.name.text + "." + name.text + ".chunk", "raw", made.chunk * RankedTensorType::get(shape, e.real()).getNumElements() * plan::sizeOf(element)});
    made.fields.push_back({name.text, {shape.begin(), shape.end()}, element, classes});
    made.chunkArenas.push_back(arena);
    mlir::Value stored = t->value;
    if (!ir::carries(stored.getType(), "example"))
      stored = e.create<ir::VaryOp>(name.span, ir::withEncoding(stored.getType(), e.place), stored);
    ir::StoreOp::create(e.builder, e.loc(name.span), stored, arena, 0, name.text);
  }
  e.place = restorePlace;
  e.mayDraw = mayDraw;
  e.drawsByStep = byStep;
  e.drawsByRow = byRow;
  e.drawStream = stream;
  if (good && made.fields.empty()) {
    e.diags.report(Diag::data_no_fields, decl.name.span, decl.name.text).help("a typed line is a field: `x: [64] = columns[0:64]`");
    return false;
  }
  return good;
}

/// A part of a split: a share, or rows `0:100` or `0..100`.
Value TrainElaborator::splitPart(const ast::Expr &expr, int64_t rows, Frame &frame) {
  auto *slice = ast::dynCast<ast::SliceExpr>(&expr);
  if (!slice)
    return e.evaluate(expr, frame);
  Range range{0, rows};
  for (auto [bound, to] : {std::pair{slice->low.get(), &range.low}, std::pair{slice->high.get(), &range.high}})
    if (bound) {
      auto known = e.knownInt(e.evaluate(*bound, frame), bound->span, "a bound of a split");
      if (!known)
        return {};
      *to = *known;
    }
  if (range.high < range.low || range.low < 0) {
    e.diags.report(Diag::slice_backwards, expr.span, range.low, range.high);
    return {};
  }
  return Value(range, expr.span);
}

/// A part without rows; `sede=0` is one that was meant to be the seed.
static void reportEmptyPart(const ast::Argument &part, DiagnosticEngine &diags) {
  auto report = diags.report(Diag::split_empty, part.span, part.name.text);
  if (!nearest(part.name.text, std::vector<std::string>{"seed"}).empty())
    report.help("did you mean `seed`?");
  else
    report.help("leave it out, or give it a share above 0");
}

std::optional<int64_t> TrainElaborator::set(const Data &data, Span span) {
  plan::Plan &plan = out->plan;
  std::string name = data.decl->name.text + (data.split.empty() ? "" : "." + data.split);
  auto sourceIndex = source(data, span);
  if (!sourceIndex)
    return std::nullopt;
  for (size_t i = 0; i < plan.sets.size(); ++i)
    if (plan.sets[i].name == name)
      return static_cast<int64_t>(i);
  const plan::Source &from = plan.sources[*sourceIndex];
  plan::Set made;
  made.name = name;
  made.source = *sourceIndex;
  made.rows = from.rows;
  made.fieldArenas.assign(from.fields.size(), -1);
  double before = 0;
  Frame frame{e.globals};
  std::set<std::string> parts;
  for (auto &part : data.decl->split) {
    if (!part.name || !parts.insert(part.name.text).second) {
      if (part.name)
        e.diags.report(Diag::repeated_argument, part.span, part.name.text);
      else
        e.diags.report(Diag::split_unnamed, part.span);
      return std::nullopt;
    }
    if (part.name.text == "seed") {
      if (auto seed = e.knownInt(e.evaluate(*part.value, frame), part.span, "the seed of a split"))
        made.splitSeed = static_cast<uint64_t>(*seed);
      continue;
    }
    Value value = splitPart(*part.value, from.rows, frame);
    if (value.isInvalid())
      return std::nullopt;
    if (auto *range = value.as<Range>()) {
      if (range->high > from.rows) {
        e.diags.report(Diag::index_out_of_range, part.span, range->high, from.rows);
        return std::nullopt;
      }
      if (range->low >= range->high) {
        reportEmptyPart(part, e.diags);
        return std::nullopt;
      }
      if (part.name.text == data.split) {
        made.first = range->low;
        made.rows = range->high - range->low;
      }
      continue;
    }
    auto *c = value.as<Const>();
    if (!c || !(c->number >= 0) || before + c->number > 1 + 1e-9) {
      bool isSeed = !nearest(part.name.text, std::vector<std::string>{"seed"}).empty();
      e.diags.report(Diag::split_share, part.span, part.name.text)
          .help(isSeed ? "did you mean `seed`?" : "shares add up to at most 1: `split(train=0.8, test=0.2)`");
      return std::nullopt;
    }
    int64_t first = std::llround(before * double(from.rows));
    int64_t rows = std::llround((before + c->number) * double(from.rows)) - first;
    if (rows < 1) {
      reportEmptyPart(part, e.diags);
      return std::nullopt;
    }
    if (part.name.text == data.split) {
      made.permuted = true;
      made.first = first;
      made.rows = rows;
    }
    before += c->number;
  }
  if (made.rows < 1) {
    e.diags.report(Diag::split_empty, span, name);
    return std::nullopt;
  }
  plan.sets.push_back(std::move(made));
  return static_cast<int64_t>(plan.sets.size()) - 1;
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
