//===- Ordering.cpp - what depends on the order of elements ---------------===//
//
// All of it starts from `nd.argsort`: the places of the elements in rising
// order. Values at places are a gather, so derivatives go to the elements that
// were chosen. An array is looked at as [outer, size, inner] around the sorted
// dimension; the leaves of a leaf-wise value are pieces of one line.
//
//===----------------------------------------------------------------------===//
#include "frontend/elaborate/Args.h"
#include "frontend/elaborate/BuiltinTable.h"
#include "frontend/elaborate/Stacks.h"

#include "dialects/Nd/NdLibraryOps.h"

using namespace mlir;

namespace dyn::elab {

/// One call of a function of order.
class BuiltinTable::Ordering {
public:
  Ordering(Elaborator &e, std::string name, const Elaborator::Args &args, Frame &frame)
      : e(e), name(std::move(name)), args(args), frame(frame), span(args.span) {}

  Value call();
  /// `quantile` of a value without named axes.
  Value quantile(const Value &x, const Value &share, const ast::Expr *axis, const ast::Expr *over);

private:
  /// An array around the dimension that is sorted.
  struct Lines {
    Tensor x; ///< [outer, size, inner]
    SmallVector<int64_t> before, after; ///< sizes around the dimension, as the array has them
    SmallVector<int64_t> offsets;       ///< of pieces; [0, size] for one
    Attribute encoding;                 ///< of leaves or of a tree: the line is its range
    Value count;                        ///< elements that are there: `size`, or fewer of a short batch

    int64_t size() const { return x.type().getDimSize(1); }
    int64_t pieces() const { return int64_t(offsets.size()) - 1; }
    bool leafwise() const { return isa_and_present<ir::LeavesAttr>(encoding); }
  };

  enum class Without { refuse, flatten }; ///< an axis, of an array with several dimensions
  std::optional<Lines> lines(const Value &x, const ast::Expr *axis, Without without);
  std::optional<Lines> linesOver(const Tensor &t, const ast::Expr &over);
  Lines ranged(const Tensor &t, SmallVector<int64_t> offsets);
  std::optional<int64_t> dimension(const Tensor &t, const ast::Expr &axis);

  Value sorted(const Value &x);
  Value top(const Value &x, const Value &count);
  Value largest(const Value &x, const Value &wanted);
  Value interpolated(const Lines &lines, const Value &share);
  Tensor places(const Lines &lines, bool falling);
  /// The elements at `places` along the line, which are [outer, any, inner].
  Tensor taken(const Lines &lines, Tensor places);
  Tensor flatPlaces(const Lines &lines, Tensor places);
  Value keyed(const Value &x);
  Value keptOfEach(const Lines &lines, const Value &wanted);
  /// One number a piece: known, or the elements of a vector.
  Value perPiece(const Lines &lines, llvm::function_ref<int64_t(int64_t)> number, Elem elem);
  Value shaped(Tensor t, ArrayRef<int64_t> before, ArrayRef<int64_t> middle, ArrayRef<int64_t> after);
  Value given(const char *word, size_t at);
  Value refuse(const char *wanted, const Value &x);

  template <class OpT, class... Rest> mlir::Value create(Rest &&...rest) {
    return e.create<OpT>(span, std::forward<Rest>(rest)...);
  }
  Value integer(int64_t value) { return e.integer(value, span); }
  Value plus(const Value &a, const Value &b) { return e.binary(ast::BinaryOp::Add, a, b, span); }
  Value minus(const Value &a, const Value &b) { return e.binary(ast::BinaryOp::Sub, a, b, span); }
  Value times(const Value &a, const Value &b) { return e.binary(ast::BinaryOp::Mul, a, b, span); }
  Value whole(const Value &x) {
    auto t = e.tensor(x, span);
    return Value(e.cast(*t, Elem::Int, t->number, span), span);
  }

  Elaborator &e;
  std::string name;
  const Elaborator::Args &args;
  Frame &frame;
  Span span;
};

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

Value BuiltinTable::Ordering::refuse(const char *wanted, const Value &x) {
  e.diags.report(Diag::recast, span, name, wanted, describe(x));
  return {};
}

std::optional<int64_t> BuiltinTable::Ordering::dimension(const Tensor &t, const ast::Expr &axis) {
  auto at = e.knownInt(e.evaluate(axis, frame), axis.span, "`axis`");
  if (!at)
    return std::nullopt;
  int64_t rank = t.type().getRank(), dim = *at < 0 ? *at + rank : *at;
  bool ranged = isa_and_present<ir::LeavesAttr, ir::TreeAttr, ir::PerLeafAttr>(t.type().getEncoding());
  if (dim >= 0 && dim < rank && !ranged)
    return dim;
  e.diags.report(Diag::axis_out_of_range, axis.span, *at, describeType(t.type()));
  return std::nullopt;
}

BuiltinTable::Ordering::Lines BuiltinTable::Ordering::ranged(const Tensor &t, SmallVector<int64_t> offsets) {
  Lines lines;
  lines.encoding = t.type().getEncoding();
  auto plain = create<ir::RecastOp>(ir::withEncoding(t.type(), {}), t.value);
  int64_t size = t.type().getDimSize(0);
  lines.x = {create<nd::ReshapeOp>(plain, ArrayRef<int64_t>{1, size, 1}), t.number, t.classes};
  lines.offsets = std::move(offsets);
  lines.count = integer(size);
  return lines;
}

std::optional<BuiltinTable::Ordering::Lines> BuiltinTable::Ordering::lines(const Value &x, const ast::Expr *axis, Without without) {
  auto t = e.tensor(x, x.origin.isValid() ? x.origin : span);
  if (!t)
    return std::nullopt;
  if (Elaborator::elemOf(t->type().getElementType()) == Elem::Bool)
    *t = e.cast(*t, Elem::Int, t->number, span);
  Attribute encoding = t->type().getEncoding();
  bool isRange = isa_and_present<ir::LeavesAttr, ir::TreeAttr>(encoding);
  if (t->type().getRank() == 0 || isa_and_present<ir::PerLeafAttr>(encoding) || (isRange && (without == Without::refuse || isStackOfTrees(t->type())))) {
    e.diags.report(Diag::needs_array, span, name, describeType(t->type()));
    return std::nullopt;
  }
  if (isRange && !axis) {
    auto leaves = dyn_cast<ir::LeavesAttr>(encoding);
    return ranged(*t, leaves ? leaves.offsets() : SmallVector<int64_t>{0, t->type().getDimSize(0)});
  }
  ArrayRef<int64_t> shape = t->type().getShape();
  Lines lines;
  int64_t dim = 0, size = shape[0];
  if (axis) {
    auto given = dimension(*t, *axis);
    if (!given)
      return std::nullopt;
    dim = *given;
    size = shape[dim];
  } else if (shape.size() > 1 && without == Without::refuse) {
    e.diags.report(Diag::needs_axis, span, name, describeType(t->type())).help("say which: `axis=0` or `axis=1`");
    return std::nullopt;
  } else if (shape.size() > 1) {
    size = t->type().getNumElements();
    shape = {};
  }
  if (!shape.empty()) {
    lines.before.assign(shape.begin(), shape.begin() + dim);
    lines.after.assign(shape.begin() + dim + 1, shape.end());
  }
  int64_t sizes[] = {ShapedType::getNumElements(lines.before), size, ShapedType::getNumElements(lines.after)};
  lines.x = {create<nd::ReshapeOp>(t->value, ArrayRef<int64_t>(sizes)), t->number, t->classes};
  lines.offsets = {0, size};
  lines.count = integer(size);
  return lines;
}

/// The elements of a hidden axis as a line.
std::optional<BuiltinTable::Ordering::Lines> BuiltinTable::Ordering::linesOver(const Tensor &t, const ast::Expr &over) {
  auto *word = ast::dynCast<ast::NameExpr>(&over);
  std::string axis = word ? word->name : "";
  if (axis == "leaf" && isa_and_present<ir::PerLeafAttr>(t.type().getEncoding())) {
    Lines lines = ranged(t, {0, t.type().getDimSize(0)});
    lines.encoding = {};
    return lines;
  }
  if (axis.empty() || !ir::carries(t.type(), axis)) {
    e.diags.report(Diag::over_absent_axis, over.span, axis.empty() ? print(over) : axis, describeType(t.type()))
        .help("without `over` all visible elements are taken");
    return std::nullopt;
  }
  Attribute range = ir::rangeOf(t.type().getEncoding());
  Tensor one = t;
  if (range)
    one.value = create<ir::RecastOp>(ir::withRange(t.type(), {}), t.value);
  auto stacked = e.stackedOver(axis, one, name, span, frame);
  if (!stacked)
    return std::nullopt;
  Lines lines;
  lines.after.assign(t.type().getShape().begin(), t.type().getShape().end());
  int64_t size = stacked->type().getDimSize(0), inner = t.type().getNumElements();
  lines.x = {create<nd::ReshapeOp>(stacked->value, ArrayRef<int64_t>{1, size, inner}), t.number, t.classes};
  lines.offsets = {0, size};
  lines.count = integer(size);
  return lines;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

Tensor BuiltinTable::Ordering::places(const Lines &lines, bool falling) {
  mlir::Value x = lines.x.value;
  // Falling: -x, of whole numbers -1 - x, which has no overflow. nan stays nan, and last.
  if (falling && isa<FloatType>(lines.x.type().getElementType()))
    x = create<nd::NegOp>(x);
  else if (falling)
    x = create<nd::SubOp>(nd::splat(e.builder, e.loc(span), nd::typeOf(x), -1), x);
  bool cut = lines.pieces() != 1;
  if (!cut)
    return {create<nd::ArgSortOp>(x, uint64_t(1), DenseI64ArrayAttr()), false, lines.size()};
  mlir::Value flat = create<nd::ReshapeOp>(x, ArrayRef<int64_t>{lines.size()});
  flat = create<nd::ArgSortOp>(flat, uint64_t(0), e.builder.getDenseI64ArrayAttr(lines.offsets));
  return {create<nd::ReshapeOp>(flat, ArrayRef<int64_t>{1, lines.size(), 1}), false, lines.size()};
}

/// Places along the line as places among all elements: (outer size + place) inner + i.
Tensor BuiltinTable::Ordering::flatPlaces(const Lines &lines, Tensor places) {
  ArrayRef<int64_t> shape = lines.x.type().getShape();
  auto type = RankedTensorType::get(places.type().getShape(), e.builder.getI64Type());
  auto number = [&](int64_t value) { return nd::splat(e.builder, e.loc(span), type, double(value)); };
  mlir::Value at = places.value;
  if (shape[0] != 1)
    at = create<nd::AddOp>(at, create<nd::MulOp>(create<nd::IotaOp>(type, uint64_t(0)), number(shape[1])));
  if (shape[2] != 1)
    at = create<nd::AddOp>(create<nd::MulOp>(at, number(shape[2])), create<nd::IotaOp>(type, uint64_t(2)));
  return {create<nd::ReshapeOp>(at, ArrayRef<int64_t>{type.getNumElements()}), false, 0};
}

Tensor BuiltinTable::Ordering::taken(const Lines &lines, Tensor places) {
  auto flat = create<nd::ReshapeOp>(lines.x.value, ArrayRef<int64_t>{lines.x.type().getNumElements()});
  auto values = create<nd::GatherOp>(flat, flatPlaces(lines, places).value, uint64_t(0));
  return {create<nd::ReshapeOp>(values, places.type().getShape()), lines.x.number, lines.x.classes};
}

Value BuiltinTable::Ordering::shaped(Tensor t, ArrayRef<int64_t> before, ArrayRef<int64_t> middle, ArrayRef<int64_t> after) {
  SmallVector<int64_t> shape(before);
  llvm::append_range(shape, middle);
  llvm::append_range(shape, after);
  return Value(Tensor{create<nd::ReshapeOp>(t.value, ArrayRef<int64_t>(shape)), t.number, t.classes}, span);
}

Value BuiltinTable::Ordering::given(const char *word, size_t at) {
  if (args.positional.size() > at)
    return e.evaluate(*args.positional[at], frame);
  const ast::Expr *expr = args.get(word);
  return expr ? e.evaluate(*expr, frame) : Value();
}

//===----------------------------------------------------------------------===//
// sort, argsort, top_k
//===----------------------------------------------------------------------===//

Value BuiltinTable::Ordering::sorted(const Value &x) {
  auto of = lines(x, args.get("axis"), Without::refuse);
  if (!of)
    return {};
  Tensor order = places(*of, /*falling=*/false);
  return shaped(name == "argsort" ? order : taken(*of, order), of->before, {of->size()}, of->after);
}

Value BuiltinTable::Ordering::top(const Value &x, const Value &count) {
  auto of = lines(x, args.get("axis"), Without::refuse);
  auto k = of ? e.knownInt(count, span, "the count of `top_k`") : std::nullopt;
  if (!k)
    return {};
  if (*k < 0 || *k > of->size()) {
    e.diags.report(Diag::cannot_be, span, "the count of `top_k`", *k)
        .help("there are " + std::to_string(of->size()) + " elements");
    return {};
  }
  Tensor order = places(*of, /*falling=*/true);
  ArrayRef<int64_t> shape = of->x.type().getShape();
  order.value = create<nd::SliceOp>(order.value, ArrayRef<int64_t>{0, 0, 0}, ArrayRef<int64_t>{shape[0], *k, shape[2]},
                                    ArrayRef<int64_t>{1, 1, 1});
  Record record;
  record.fields.emplace_back("values", shaped(taken(*of, order), of->before, {*k}, of->after));
  record.fields.emplace_back("places", shaped(order, of->before, {*k}, of->after));
  return Value(std::move(record), span);
}

//===----------------------------------------------------------------------===//
// largest
//===----------------------------------------------------------------------===//

/// `by` of the value, or the value.
Value BuiltinTable::Ordering::keyed(const Value &x) {
  const ast::Expr *by = args.get("by");
  if (!by)
    return x;
  Value function = e.evaluate(*by, frame);
  if (function.isInvalid())
    return {};
  auto scope = std::make_shared<Scope>(frame.scope);
  scope->define("element of `largest`", x, NameKind::Local, span);
  Frame inner = frame;
  inner.scope = scope;
  auto name = std::make_unique<ast::NameExpr>();
  name->name = "element of `largest`";
  name->span = span;
  std::vector<ast::Argument> arguments(1);
  arguments[0].value = std::move(name);
  arguments[0].span = span;
  return e.call(function, arguments, span, inner);
}

Value BuiltinTable::Ordering::perPiece(const Lines &lines, llvm::function_ref<int64_t(int64_t)> number, Elem elem) {
  if (lines.pieces() == 1)
    return Value(Const{double(number(0)), elem, false, ""}, span);
  SmallVector<int64_t> numbers;
  for (int64_t s = 0; s < lines.pieces(); ++s)
    numbers.push_back(number(s));
  auto type = RankedTensorType::get({lines.pieces()}, e.builder.getI64Type());
  auto constant = create<nd::ConstantOp>(type, DenseElementsAttr::get(type, ArrayRef<int64_t>(numbers)));
  return Value(e.cast(Tensor{constant, true, 0}, elem, true, span), span);
}

/// How many elements of each piece stay: the whole number that was given, or that share of them, at least one unless
/// the share is 0.
Value BuiltinTable::Ordering::keptOfEach(const Lines &lines, const Value &wanted) {
  auto *known = wanted.as<Const>();
  if (known && (known->number < 0 || (known->elem == Elem::Real && known->number > 1))) {
    e.diags.report(Diag::cannot_be, span, known->elem == Elem::Real ? "the share of `largest`" : "the count of `largest`",
                   describeKnown(wanted));
    return {};
  }
  if (Elaborator::elemOf(wanted) == Elem::Int)
    return wanted;
  auto t = e.tensor(wanted, span);
  if (!t || t->type().getRank() != 0)
    return t ? refuse("a count or a share as second argument", wanted) : Value();
  Value share(e.cast(*t, Elem::Real, true, span), span);
  Value sizes = perPiece(lines, [&](int64_t s) { return lines.offsets[s + 1] - lines.offsets[s]; }, Elem::Real);
  Value count = e.unaryMath("round", times(share, sizes), span);
  return whole(e.elementwise("max", count, e.unaryMath("ceil", share, span), span));
}

Value BuiltinTable::Ordering::largest(const Value &x, const Value &wanted) {
  Value key = keyed(x);
  auto values = key.isInvalid() ? std::nullopt : e.tensor(x, span), keys = values ? e.tensor(key, span) : std::nullopt;
  if (!keys)
    return {};
  if (values->type().getShape() != keys->type().getShape())
    return refuse("a function of each element as `by`", key);
  auto of = lines(key, args.get("axis"), Without::flatten);
  if (!of)
    return {};
  Value count = keptOfEach(*of, wanted);
  if (count.isInvalid())
    return {};
  // The rank of an element: where its place stands in the order.
  Tensor order = places(*of, /*falling=*/true);
  int64_t all = of->x.type().getNumElements();
  auto flat = RankedTensorType::get({all}, e.builder.getI64Type());
  auto along = RankedTensorType::get(of->x.type().getShape(), e.builder.getI64Type());
  auto zeros = nd::splat(e.builder, e.loc(span), flat, 0);
  auto ranks = create<nd::ReshapeOp>(create<nd::IotaOp>(along, uint64_t(1)), ArrayRef<int64_t>{all});
  ranks = create<nd::ScatterOp>(zeros, flatPlaces(*of, order).value, ranks, nd::ScatterMode::set, uint64_t(0));
  Value bound = plus(count, perPiece(*of, [&](int64_t s) { return of->offsets[s]; }, Elem::Int));
  if (auto *vector = bound.as<Tensor>(); vector && of->pieces() != 1)
    bound = Value(Tensor{create<nd::SegmentSpreadOp>(vector->value, ArrayRef<int64_t>(of->offsets)), false, 0}, span);
  Value kept = e.elementwise("lt", Value(Tensor{ranks, false, 0}, span), bound, span);
  auto mask = kept.as<Tensor>()->value;
  auto shape = RankedTensorType::get(values->type().getShape(), e.builder.getI1Type());
  mask = create<nd::ReshapeOp>(mask, shape.getShape());
  if (of->encoding)
    mask = create<ir::RecastOp>(ir::withEncoding(shape, of->encoding), mask);
  return e.select(Value(Tensor{mask, false, 0}, span), x, Value(Const{0, Elem::Int, false, ""}, span), span);
}

//===----------------------------------------------------------------------===//
// quantile, median
//===----------------------------------------------------------------------===//

/// With h = share (n - 1): between the elements of rank floor(h) and the next one, by what is left of h. nan of a line
/// that has one.
Value BuiltinTable::Ordering::interpolated(const Lines &lines, const Value &share) {
  Lines sorted = lines;
  sorted.x = taken(lines, places(lines, /*falling=*/false));
  bool cut = lines.pieces() != 1;
  auto sizeOf = [&](int64_t s) { return lines.offsets[s + 1] - lines.offsets[s]; };
  Value start = perPiece(lines, [&](int64_t s) { return lines.offsets[s]; }, Elem::Int);
  Value last = cut ? perPiece(lines, [&](int64_t s) { return sizeOf(s) - 1; }, Elem::Int) : minus(lines.count, integer(1));
  auto lastNumber = e.tensor(last, span);
  Value h = times(share, Value(e.cast(*lastNumber, Elem::Real, true, span), span));
  Value low = e.unaryMath("floor", h, span), part = minus(h, low);
  Value first = whole(low), next = e.elementwise("min", plus(first, integer(1)), last, span);
  auto at = [&](const Value &place) {
    auto index = e.tensor(plus(place, start), span);
    return Value(Tensor{create<nd::GatherOp>(sorted.x.value, index->value, uint64_t(1)), sorted.x.number, 0}, span);
  };
  Value below = at(first), above = at(next), end = at(last);
  // One number, or one for each piece, as the elements have it.
  auto like = e.tensor(below, span)->type();
  auto wide = *e.tensor(part, span);
  wide = e.cast(wide, Elem::Real, sorted.x.number, span);
  if (cut)
    wide.value = create<nd::ReshapeOp>(wide.value, like.getShape());
  else
    wide = e.broadcastScalar(wide, RankedTensorType::get(like.getShape(), like.getElementType()), span);
  Value weight(wide, span), zero(Const{0, Elem::Real, false, ""}, span);
  Value between = plus(below, times(weight, minus(above, below)));
  // Of infinite neighbours the lower one stands where nothing is left of h, and where they are equal.
  Value infinity(Const{std::numeric_limits<double>::infinity(), Elem::Real, false, ""}, span);
  Value isInfinite = e.elementwise("eq", e.unaryMath("abs", below, span), infinity, span);
  Value same = e.select(e.elementwise("eq", below, above, span), e.select(isInfinite, below, between, span), between, span);
  Value result = e.select(e.elementwise("eq", weight, zero, span), below, same, span);
  result = e.select(e.elementwise("ne", end, end, span), end, result, span);
  auto t = *e.tensor(result, span);
  if (!lines.leafwise())
    return shaped(t, lines.before, {}, lines.after);
  auto plain = create<nd::ReshapeOp>(t.value, ArrayRef<int64_t>{lines.pieces()});
  auto type = ir::withEncoding(nd::typeOf(plain), ir::PerLeafAttr::get(&e.context, lines.pieces()));
  return Value(Tensor{create<ir::RecastOp>(type, plain), false, 0}, span);
}

Value BuiltinTable::Ordering::quantile(const Value &x, const Value &share, const ast::Expr *axis, const ast::Expr *over) {
  auto *known = share.as<Const>();
  if (known && !(known->number >= 0 && known->number <= 1)) {
    e.diags.report(Diag::cannot_be, span, "the share of `quantile`", describeKnown(share)).help("it lies between 0 and 1");
    return {};
  }
  auto t = e.tensor(x, x.origin.isValid() ? x.origin : span);
  auto q = t ? e.tensor(share, span) : std::nullopt;
  if (!q)
    return {};
  if (q->type().getRank() != 0 || q->type().getEncoding())
    return refuse("one number as the share", share);
  *t = e.cast(*t, Elem::Real, t->number, span);
  auto of = over ? linesOver(*t, *over) : lines(Value(*t, x.origin), axis, Without::flatten);
  if (!of)
    return {};
  for (int64_t s = 0; s < of->pieces(); ++s)
    if (of->offsets[s] == of->offsets[s + 1])
      return refuse("at least one element", x);
  Value found = interpolated(*of, Value(e.cast(*q, Elem::Real, true, span), span));
  // Entry by entry over an axis, a tree stays one.
  Attribute range = over && !of->after.empty() ? ir::rangeOf(t->type().getEncoding()) : Attribute();
  auto *flat = range ? found.as<Tensor>() : nullptr;
  return flat ? Value(Tensor{create<ir::RecastOp>(ir::withRange(flat->type(), range), flat->value), false, 0}, span) : found;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

Value BuiltinTable::Ordering::call() {
  Value x = e.evaluate(*args.positional[0], frame);
  if (x.isInvalid())
    return {};
  x.origin = args.positional[0]->span;
  if (e.meetsByName(x)) {
    const Series &series = **x.as<std::shared_ptr<Series>>();
    if (series.isSketch && name == "quantile")
      return e.reduceNamed(name, series, args.get("over"), span, frame);
    if (series.isSketch)
      return x;
    x = Value(e.constantOf(series, span), x.origin);
  }
  if (name == "sort" || name == "argsort")
    return sorted(x);
  Value second = given(name == "quantile" ? "q" : "k", 1);
  if (second.isInvalid())
    return {};
  if (name == "top_k")
    return top(x, second);
  if (name == "largest")
    return largest(x, second);
  const ast::Expr *axis = args.get("axis"), *over = args.get("over");
  if (axis && over) {
    e.diags.report(Diag::axis_and_over, span, name);
    return {};
  }
  return quantile(x, second, axis, over);
}

Value BuiltinTable::ordering(Elaborator &e, const std::string &name, const Args &args, Frame &frame) {
  return Ordering(e, name, args, frame).call();
}

Value BuiltinTable::median(Elaborator &e, const Value &x, const ast::Expr *axis, const ast::Expr *over, Span span,
                           Frame &frame) {
  Args args;
  args.span = span;
  return Ordering(e, "median", args, frame).quantile(x, Value(Const{0.5, Elem::Real, false, ""}, span), axis, over);
}

} // namespace dyn::elab
