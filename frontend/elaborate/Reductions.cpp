//===- Reductions.cpp - what combines elements ----------------------------===//
#include "frontend/elaborate/Args.h"
#include "frontend/elaborate/BuiltinTable.h"
#include "frontend/elaborate/Stacks.h"

#include "dialects/Nd/NdBatch.h"

#include <cmath>

using namespace mlir;

namespace dyn::elab {

static ir::OverKind overKind(nd::ReduceKind kind) {
  switch (kind) {
  case nd::ReduceKind::sum: return ir::OverKind::sum;
  case nd::ReduceKind::max: return ir::OverKind::max;
  case nd::ReduceKind::min: return ir::OverKind::min;
  case nd::ReduceKind::any: return ir::OverKind::any;
  case nd::ReduceKind::all: return ir::OverKind::all;
  case nd::ReduceKind::prod: break;
  }
  return ir::OverKind::sum;
}

/// Drops a tree's or a per-leaf value's encoding, so that its only dimension is an ordinary one.
static Tensor plain(Tensor t, OpBuilder &builder, Location loc) {
  auto type = ir::withRange(t.type(), {});
  return {ir::RecastOp::create(builder, loc, type, t.value).getResult(), t.number, t.classes};
}

std::vector<std::string> Elaborator::axesOf(const Value &x) {
  std::vector<std::string> names;
  for (const Value &leaf : leafValues({x}))
    if (auto *t = leaf.as<Tensor>())
      if (auto axes = dyn_cast_if_present<ir::AxesAttr>(ir::axesOf(t->type().getEncoding())))
        for (StringRef name : axes.getNames())
          if (!llvm::is_contained(names, name))
            names.push_back(name.str());
  return names;
}

Value Elaborator::reduceOver(ir::OverKind kind, const Tensor &t, const ast::Expr &over, Span span) {
  auto *name = ast::dynCast<ast::NameExpr>(&over);
  std::string axis = name ? name->name : "";
  Attribute encoding = ir::rangeOf(t.type().getEncoding());
  if (axis == "leaf" && isa_and_present<ir::PerLeafAttr>(encoding)) {
    Tensor flat = plain(t, builder, loc(span));
    if (kind == ir::OverKind::count)
      return integer(flat.type().getDimSize(0), span);
    auto sumKind = kind == ir::OverKind::max   ? nd::ReduceKind::max
                   : kind == ir::OverKind::min ? nd::ReduceKind::min
                   : kind == ir::OverKind::any ? nd::ReduceKind::any
                   : kind == ir::OverKind::all ? nd::ReduceKind::all
                                               : nd::ReduceKind::sum;
    Value sum(Tensor{create<nd::ReduceOp>(span, flat.value, sumKind, ArrayRef<int64_t>{0}), false, 0}, span);
    return kind == ir::OverKind::mean
               ? binary(ast::BinaryOp::Div, sum, integer(flat.type().getDimSize(0), span), span)
               : sum;
  }
  if (axis.empty() || !ir::carries(t.type(), axis)) {
    auto report = diags.report(Diag::over_absent_axis, over.span, axis.empty() ? print(over) : axis, describeType(t.type()));
    if (isa_and_present<ir::LeavesAttr>(encoding) && axis == "leaf")
      report.help("leaves differ in shape: reduce within each leaf first, `sum(norm(grad)^2, over=leaf)`");
    else if (std::string near = nearest(axis, axesOf(Value(t, span))); !near.empty())
      report.help("did you mean `over=" + near + "`?");
    else
      report.help("without `over` a reduction takes all visible elements");
    return {};
  }
  Tensor input = t;
  if (kind == ir::OverKind::mean && elemOf(t.type().getElementType()) != Elem::Real)
    input = cast(t, Elem::Real, false, span);
  Type element = kind == ir::OverKind::count ? Type(builder.getI64Type()) : input.type().getElementType();
  auto type = RankedTensorType::get(input.type().getShape(), element,
                                    mlir::cast<ir::AxesAttr>(input.type().getEncoding()).without(axis));
  return Value(Tensor{create<ir::OverOp>(span, type, kind, input.value, builder.getStringAttr(axis)), false, 0}, span);
}

std::optional<SmallVector<int64_t>> Elaborator::reducedDims(const Tensor &t, const ast::Expr *axis, Frame &frame) {
  SmallVector<int64_t> dims;
  if (!axis) {
    for (int64_t d = 0; d < t.type().getRank(); ++d)
      dims.push_back(d);
    return dims;
  }
  SmallVector<const ast::Expr *> list{axis};
  if (auto *array = ast::dynCast<ast::ArrayExpr>(axis)) {
    list.clear();
    for (auto &element : array->elements)
      list.push_back(element.get());
  }
  for (const ast::Expr *one : list) {
    auto at = knownInt(evaluate(*one, frame), one->span, "`axis`");
    if (!at)
      return std::nullopt;
    int64_t dim = *at < 0 ? *at + t.type().getRank() : *at;
    bool ranged = isa_and_present<ir::LeavesAttr, ir::TreeAttr>(ir::rangeOf(t.type().getEncoding()));
    if (dim < 0 || dim >= t.type().getRank() || llvm::is_contained(dims, dim) || ranged) {
      diags.report(Diag::axis_out_of_range, one->span, *at, describeType(t.type()));
      return std::nullopt;
    }
    dims.push_back(dim);
  }
  if (dims.empty())
    diags.report(Diag::empty_array, axis->span);
  llvm::sort(dims);
  return dims.empty() ? std::nullopt : std::optional(dims);
}

Value Elaborator::reduce(nd::ReduceKind kind, const Value &x, const ast::Expr *axis, const ast::Expr *over, Span span,
                         Frame &frame) {
  auto t = tensor(x, x.origin.isValid() ? x.origin : span);
  if (!t)
    return {};
  bool logical = kind == nd::ReduceKind::any || kind == nd::ReduceKind::all;
  bool isBool = elemOf(t->type().getElementType()) == Elem::Bool;
  if (logical && !isBool) {
    diags.report(Diag::needs_bool, span, kind == nd::ReduceKind::any ? "any" : "all", describeType(t->type()));
    return {};
  }
  if (!logical && isBool)
    *t = cast(*t, Elem::Int, t->number, span);
  if (over)
    return reduceOver(overKind(kind), *t, *over, span);
  if (isa_and_present<ir::LeavesAttr>(ir::rangeOf(t->type().getEncoding()))) {
    if (axis) {
      diags.report(Diag::axis_out_of_range, axis->span, print(*axis), describeType(t->type()));
      return {};
    }
    int64_t count = mlir::cast<ir::LeavesAttr>(ir::rangeOf(t->type().getEncoding())).getShapes().size();
    auto type = RankedTensorType::get({count}, t->type().getElementType(), t->type().getEncoding());
    type = ir::withRange(type, ir::PerLeafAttr::get(&context, count));
    return Value(Tensor{create<ir::LeafReduceOp>(span, type, overKind(kind), t->value), false, 0}, span);
  }
  if (isa_and_present<ir::PerLeafAttr>(ir::rangeOf(t->type().getEncoding())))
    return Value(*t, span);
  if (isa_and_present<ir::TreeAttr>(ir::rangeOf(t->type().getEncoding())))
    *t = plain(*t, builder, loc(span));
  auto dims = reducedDims(*t, axis, frame);
  if (!dims)
    return {};
  if (dims->empty())
    return Value(*t, span);
  return Value(Tensor{create<nd::ReduceOp>(span, t->value, kind, ArrayRef<int64_t>(*dims)), t->number,
                      kind == nd::ReduceKind::max || kind == nd::ReduceKind::min ? t->classes : 0},
               span);
}

/// How many elements a reduction combines.
Value Elaborator::reducedCount(const Value &x, const ast::Expr *axis, const ast::Expr *over, Span span, Frame &frame) {
  auto t = tensor(x, span);
  if (!t)
    return {};
  if (over)
    return reduceOver(ir::OverKind::count, *t, *over, span);
  if (isa_and_present<ir::LeavesAttr>(ir::rangeOf(t->type().getEncoding())))
    return reduce(nd::ReduceKind::sum, likeArray(x, 1, span), nullptr, nullptr, span, frame);
  if (isa_and_present<ir::PerLeafAttr>(ir::rangeOf(t->type().getEncoding())))
    return integer(1, span);
  auto dims = reducedDims(*t, axis, frame);
  if (!dims)
    return {};
  int64_t count = 1;
  for (int64_t d : *dims)
    count *= t->type().getDimSize(d);
  return integer(count, span);
}

Value Elaborator::mean(const Value &x, const ast::Expr *axis, const ast::Expr *over, Span span, Frame &frame) {
  if (over) {
    auto t = tensor(x, span);
    return t ? reduceOver(ir::OverKind::mean, *t, *over, span) : Value();
  }
  Value sum = reduce(nd::ReduceKind::sum, x, axis, over, span, frame);
  Value count = sum.isInvalid() ? Value() : reducedCount(x, axis, over, span, frame);
  if (count.isInvalid())
    return {};
  // Of nothing the mean is 0, as the sum is.
  if (auto *c = count.as<Const>(); c && c->number == 0)
    return sum;
  return binary(ast::BinaryOp::Div, sum, count, span);
}

Value Elaborator::spreadBack(const Value &reduced, const Value &like, const ast::Expr *axis, Span span, Frame &frame) {
  auto r = tensor(reduced, span), t = tensor(like, span);
  if (!axis || r->type().getRank() == 0 || isa_and_present<ir::LeavesAttr>(ir::rangeOf(t->type().getEncoding())))
    return reduced;
  auto dims = reducedDims(*t, axis, frame);
  SmallVector<int64_t> kept;
  for (int64_t d = 0; d < t->type().getRank(); ++d)
    if (!llvm::is_contained(*dims, d))
      kept.push_back(d);
  return Value(Tensor{create<nd::BroadcastOp>(span, r->value, t->type().getShape(), ArrayRef<int64_t>(kept)), r->number, 0},
               span);
}

/// Each element has a result of its own.
static bool keepsShape(llvm::StringRef name) {
  return llvm::is_contained({"softmax", "log_softmax", "normalize", "cumsum"}, name);
}

/// What a reduction along a stack of trees left, cut as they are.
static mlir::Value cutAs(RankedTensorType trees, mlir::Value left, OpBuilder &builder, Location loc) {
  return ir::RecastOp::create(builder, loc, ir::withRange(left.getType(), ir::rangeOf(trees.getEncoding())), left).getResult();
}

Value Elaborator::callReduction(const std::string &name, const Args &args, Frame &frame) {
  Span span = args.span;
  const ast::Expr *axis = args.get("axis"), *over = args.get("over");
  if (axis && over) {
    diags.report(Diag::axis_and_over, span, name);
    return {};
  }
  Value x = evaluate(*args.positional[0], frame);
  if (x.isInvalid())
    return {};
  x.origin = args.positional[0]->span;
  if (auto range = x.as<Range>())
    x = elementwise("add", iota(range->high - range->low, span), integer(range->low, span), span);
  if (!axis && !over && isDistribution(x))
    return callFact(name, {x}, span, frame);
  if (meetsByName(x) && !axis && !keepsShape(name)) {
    const Series &series = **x.as<std::shared_ptr<Series>>();
    if (over || series.lacksSome() || series.isSketch || series.entries() == 0)
      return reduceNamed(name, series, over, span, frame);
    x = Value(constantOf(series, span), x.origin);
  }
  // A stack of trees is reduced as the array that it is; along the stack a tree is left.
  if (auto *t = x.as<Tensor>(); t && !over && isStackOfTrees(t->type())) {
    Tensor flat = plain(*t, builder, loc(span));
    Value result = reduction(name, Value(flat, span), axis, nullptr, span, frame);
    auto dims = axis && !result.isInvalid() ? reducedDims(flat, axis, frame) : std::nullopt;
    bool areTrees = dims && !llvm::is_contained(*dims, flat.type().getRank() - 1) && elemOf(result) == Elem::Real;
    if (auto *left = result.as<Tensor>(); left && areTrees)
      left->value = cutAs(t->type(), left->value, builder, loc(span));
    return result;
  }
  return reduction(name, x, axis, over, span, frame);
}

/// Of a value without named axes.
Value Elaborator::reduction(const std::string &name, Value x, const ast::Expr *axis, const ast::Expr *over, Span span,
                            Frame &frame) {
  using ast::BinaryOp;
  auto real = [&](const Value &value) -> Value {
    auto t = tensor(value, span);
    return t ? Value(cast(*t, Elem::Real, t->number, span), span) : Value();
  };
  if (name == "sum") return reduce(nd::ReduceKind::sum, x, axis, over, span, frame);
  if (name == "prod") return over ? noOver(name, span) : reduce(nd::ReduceKind::prod, x, axis, over, span, frame);
  if (name == "max") return reduce(nd::ReduceKind::max, x, axis, over, span, frame);
  if (name == "min") return reduce(nd::ReduceKind::min, x, axis, over, span, frame);
  if (name == "any") return reduce(nd::ReduceKind::any, x, axis, over, span, frame);
  if (name == "all") return reduce(nd::ReduceKind::all, x, axis, over, span, frame);
  if (name == "mean") return mean(x, axis, over, span, frame);
  if (name == "median") return BuiltinTable::median(*this, x, axis, over, span, frame);
  if (name == "count")
    return elemOf(x) == Elem::Bool && !x.as<Const>() ? reduce(nd::ReduceKind::sum, x, axis, over, span, frame)
                                                     : reducedCount(x, axis, over, span, frame);
  if (name == "norm") {
    Value square = binary(BinaryOp::Mul, real(x), real(x), span);
    Value sum = square.isInvalid() ? Value() : reduce(nd::ReduceKind::sum, square, axis, over, span, frame);
    return sum.isInvalid() ? Value() : unaryMath("sqrt", sum, span);
  }
  if (name == "var" || name == "std") {
    Value m = mean(x, axis, over, span, frame);
    if (m.isInvalid())
      return {};
    Value centred = binary(BinaryOp::Sub, real(x), over ? m : spreadBack(m, x, axis, span, frame), span);
    Value v = mean(binary(BinaryOp::Mul, centred, centred, span), axis, over, span, frame);
    return name == "var" || v.isInvalid() ? v : unaryMath("sqrt", v, span);
  }
  if (over)
    return noOver(name, span);
  auto t = tensor(x, span);
  if (!t)
    return {};
  bool ranged = isa_and_present<ir::LeavesAttr, ir::TreeAttr, ir::PerLeafAttr>(ir::rangeOf(t->type().getEncoding()));
  if (name == "normalize") {
    // x/norm(x), and 0 of 0: the division never sees a zero.
    Value square = binary(BinaryOp::Mul, real(x), real(x), span);
    Value n = unaryMath("sqrt", reduce(nd::ReduceKind::sum, square, axis, over, span, frame), span);
    Value zero(Const{0, Elem::Real, false, ""}, span), one(Const{1, Elem::Real, false, ""}, span);
    Value isZero = elementwise("eq", n, zero, span);
    Value safe = select(isZero, one, n, span);
    return binary(BinaryOp::Div, x, spreadBack(safe, x, axis, span, frame), span);
  }
  if (ranged || t->type().getRank() == 0) {
    diags.report(Diag::needs_array, span, name, describeType(t->type()));
    return {};
  }
  int64_t dim = 0;
  if (axis || t->type().getRank() > 1) {
    if (!axis) {
      diags.report(Diag::needs_axis, span, name, describeType(t->type())).help("say which: `axis=0` or `axis=1`");
      return {};
    }
    auto dims = reducedDims(*t, axis, frame);
    if (!dims)
      return {};
    if (dims->size() > 1) {
      diags.report(Diag::cannot_be, axis->span, "the axis of `" + name + "`", describeShape(*dims));
      return {};
    }
    dim = dims->front();
  }
  if (name == "cumsum") {
    if (elemOf(t->type().getElementType()) == Elem::Bool)
      *t = cast(*t, Elem::Int, false, span);
    return Value(Tensor{create<nd::CumulateOp>(span, t->value, nd::ReduceKind::sum, uint64_t(dim)), t->number, 0}, span);
  }
  if (name == "argmax" || name == "argmin") {
    int64_t classes = t->type().getDimSize(dim);
    if (classes == 0) {
      diags.report(Diag::needs_array, span, name, describeType(t->type()));
      return {};
    }
    return Value(Tensor{create<nd::ArgReduceOp>(span, t->value,
                                                name == "argmax" ? nd::ReduceKind::max : nd::ReduceKind::min, uint64_t(dim)),
                        false, classes},
                 span);
  }
  // softmax, log_softmax, logsumexp: shifted by the greatest element, whose slope cancels.
  x = real(x);
  Value top = unaryMath("stop_gradient", reduce(nd::ReduceKind::max, x, axis, nullptr, span, frame), span);
  Value shifted = binary(BinaryOp::Sub, x, spreadBack(top, x, axis, span, frame), span);
  Value powers = unaryMath("exp", shifted, span);
  Value total = reduce(nd::ReduceKind::sum, powers, axis, nullptr, span, frame);
  if (name == "softmax")
    return binary(BinaryOp::Div, powers, spreadBack(total, x, axis, span, frame), span);
  Value logTotal = unaryMath("log", total, span);
  if (name == "logsumexp")
    return binary(BinaryOp::Add, top, logTotal, span);
  return binary(BinaryOp::Sub, shifted, spreadBack(logTotal, x, axis, span, frame), span);
}

std::optional<Tensor> Elaborator::stackedOver(const std::string &axis, Tensor t, const std::string &asks, Span span, Frame &frame) {
  Value count = onSocketCall("elements." + axis + " " + asks, {}, span, frame);
  if (count.isInvalid())
    return std::nullopt;
  t = varied(t, ir::AxesAttr::of(&context, {axis}), span);
  Attribute rest = mlir::cast<ir::AxesAttr>(t.type().getEncoding()).without(axis);
  auto type = nd::withLeading(ir::withEncoding(t.type(), rest), static_cast<int64_t>(count.as<Const>()->number));
  return Tensor{create<ir::StackOp>(span, type, t.value, builder.getStringAttr(axis)), false, t.classes};
}

Value Elaborator::stackAxis(const Value &x, const ast::Expr *over, Span span, Frame &frame) {
  std::vector<std::string> axes = axesOf(x);
  auto *named = over ? ast::dynCast<ast::NameExpr>(over) : nullptr;
  std::string axis = over ? (named ? named->name : "") : axes.front();
  if (over && !llvm::is_contained(axes, axis)) {
    auto report = diags.report(Diag::over_absent_axis, over->span, axis.empty() ? print(*over) : axis, describe(x));
    if (std::string near = nearest(axis, axes); !near.empty())
      report.help("did you mean `over=" + near + "`?");
    return {};
  }
  if (axes.size() > 1 && !over) {
    diags.report(Diag::needs_axis, span, "stack", describe(x)).help("say which: `over=" + axes[0] + "` or `over=" + axes[1] + "`");
    return {};
  }
  std::vector<Value> stacked;
  for (const Value &leaf : leafValues({x})) {
    auto t = tensor(leaf, span, "an element of a stack");
    if (!t || !canStack(t->type(), diags, span))
      return {};
    if (isa_and_present<ir::PerLeafAttr>(ir::rangeOf(t->type().getEncoding())))
      *t = plain(*t, builder, loc(span));
    t = stackedOver(axis, *t, "stack", span, frame);
    if (!t)
      return {};
    stacked.push_back(Value(*t, span));
  }
  return rebuildAll({x}, stacked).front();
}

Value Elaborator::noOver(const std::string &name, Span span) {
  diags.report(Diag::over_not_here, span, name);
  return {};
}

} // namespace dyn::elab
