//===- Indexing.cpp - arrays as written, and their parts -------------------===//
#include "frontend/elaborate/Elaborator.h"
#include "frontend/elaborate/RunResult.h"
#include "frontend/elaborate/Stacks.h"

using namespace mlir;

namespace dyn::elab {

Value Elaborator::evaluateArray(const ast::ArrayExpr &expr, Frame &frame) {
  std::vector<Value> items;
  for (auto &element : expr.elements) {
    items.push_back(evaluate(*element, frame));
    if (items.back().isInvalid())
      return {};
    items.back().origin = element->span;
  }
  if (items.empty()) {
    diags.report(Diag::empty_array, expr.span).help("`zeros([0])` is an empty array");
    return {};
  }
  return stackValues(items, expr.span);
}

Value Elaborator::stackValues(const std::vector<Value> &items, Span span) {
  if (items.front().as<Record>()) {
    Record stacked;
    for (size_t field = 0; field < items.front().as<Record>()->fields.size(); ++field) {
      std::vector<Value> column;
      for (const Value &item : items)
        column.push_back(item.as<Record>()->fields[field].second);
      stacked.fields.emplace_back(items.front().as<Record>()->fields[field].first, stackValues(column, span));
    }
    return Value(std::move(stacked), span);
  }
  std::vector<Tensor> parts;
  Elem elem = Elem::Bool;
  bool number = true;
  for (const Value &item : items) {
    auto t = tensor(item, item.origin.isValid() ? item.origin : span, "an element of an array");
    if (!t || !canStack(t->type(), diags, span))
      return {};
    elem = std::max(elem, elemOf(t->type().getElementType()));
    number &= t->number;
    parts.push_back(*t);
  }
  // An array is no number any more unless a host evaluates it.
  bool keepNumber = number && !numbersAreOperands;
  SmallVector<mlir::Value> rows;
  int64_t classes = parts.front().classes;
  for (size_t i = 0; i < parts.size(); ++i) {
    Tensor part = cast(parts[i], elem, keepNumber, span);
    if (part.type().getElementType() != elementType(elem, keepNumber))
      part = cast(part, elem, false, span);
    if (part.type().getShape() != parts.front().type().getShape()) {
      diags.report(Diag::ragged_array, items[i].origin.isValid() ? items[i].origin : span,
                   describeShape(parts.front().type().getShape()), describeShape(part.type().getShape()));
      return {};
    }
    SmallVector<int64_t> shape = {1};
    llvm::append_range(shape, part.type().getShape());
    rows.push_back(create<nd::ReshapeOp>(span, part.value, ArrayRef<int64_t>(shape)));
    classes = std::max(classes, parts[i].classes);
  }
  mlir::Value result = rows.size() == 1 ? rows.front()
                                        : create<nd::ConcatOp>(span, ValueRange(rows), uint64_t(0));
  return Value(Tensor{result, keepNumber, classes}, span);
}

//===----------------------------------------------------------------------===//
// One index
//===----------------------------------------------------------------------===//

Tensor Elaborator::sliceOf(const Tensor &x, size_t dim, int64_t low, int64_t count, Span span) {
  SmallVector<int64_t> sizes(x.type().getShape()), offsets(sizes.size(), 0), strides(sizes.size(), 1);
  offsets[dim] = low;
  sizes[dim] = count;
  return {create<nd::SliceOp>(span, x.value, ArrayRef<int64_t>(offsets), ArrayRef<int64_t>(sizes),
                              ArrayRef<int64_t>(strides)),
          x.number, x.classes};
}

Value Elaborator::outOfRange(int64_t at, int64_t size, Span span) {
  diags.report(Diag::index_out_of_range, span, at, size)
      .help("positions run from 0 to " + std::to_string(size - 1) + ", or from -1 backwards");
  return {};
}

/// One place along a dimension, which goes.
Value Elaborator::indexConstant(Tensor base, size_t dim, const Value &at, Span span) {
  int64_t size = base.type().getDimSize(dim);
  auto known = knownInt(at, span, "an index");
  if (!known)
    return {};
  int64_t position = *known < 0 ? *known + size : *known;
  if (position < 0 || position >= size)
    return outOfRange(*known, size, span);
  SmallVector<int64_t> rest(base.type().getShape());
  rest.erase(rest.begin() + dim);
  Tensor row = sliceOf(base, dim, position, 1, span);
  return Value(Tensor{create<nd::ReshapeOp>(span, row.value, ArrayRef<int64_t>(rest)), base.number, base.classes}, span);
}

std::optional<Range> Elaborator::sliceBounds(const ast::SliceExpr &slice, int64_t size, Frame &frame) {
  Range bounds{0, size};
  for (auto [expr, bound] : {std::pair{slice.low.get(), &bounds.low}, std::pair{slice.high.get(), &bounds.high}}) {
    if (!expr)
      continue;
    auto known = knownInt(evaluate(*expr, frame), expr->span, "a bound of a slice");
    if (!known)
      return std::nullopt;
    *bound = *known < 0 ? *known + size : *known;
    if (*bound < 0 || *bound > size) {
      (void)outOfRange(*known, size, expr->span);
      return std::nullopt;
    }
  }
  if (bounds.high >= bounds.low)
    return bounds;
  diags.report(Diag::slice_backwards, slice.span, bounds.low, bounds.high);
  return std::nullopt;
}

Value Elaborator::indexOne(Tensor base, size_t dim, const ast::Expr &index, Frame &frame) {
  int64_t size = base.type().getDimSize(dim);
  if (auto *slice = ast::dynCast<ast::SliceExpr>(&index)) {
    auto bounds = sliceBounds(*slice, size, frame);
    return bounds ? Value(sliceOf(base, dim, bounds->low, bounds->high - bounds->low, index.span), index.span) : Value();
  }
  Value at = evaluate(index, frame);
  if (at.isInvalid())
    return {};
  if (auto *range = at.as<Range>()) {
    if (range->low < 0 || range->high > size)
      return outOfRange(range->low < 0 ? range->low : range->high, size, index.span);
    return Value(sliceOf(base, dim, range->low, range->high - range->low, index.span), index.span);
  }
  if (at.as<Const>())
    return indexConstant(base, dim, at, index.span);
  auto positions = placesOf(at, index.span);
  if (!positions)
    return {};
  return Value(Tensor{create<nd::GatherOp>(index.span, base.value, positions->value, uint64_t(dim)), base.number,
                      base.classes},
               index.span);
}

/// An array of whole numbers as an index; nothing after a report.
std::optional<Tensor> Elaborator::placesOf(const Value &at, Span span) {
  auto places = tensor(at, span, "an index");
  if (!places || elemOf(places->type().getElementType()) == Elem::Int)
    return places;
  diags.report(Diag::index_not_int, span, describeType(places->type()))
      .help(elemOf(places->type().getElementType()) == Elem::Bool
                ? "a mask chooses with `where`; an array of changing size has no place in a compiled step"
                : "an index is a whole number: `round` gives a real, `class(k)` and `int` are indices");
  return std::nullopt;
}

/// A dimension of one place in front of `dim`, which fits any size.
Tensor Elaborator::newAxis(const Tensor &x, size_t dim, Span span) {
  SmallVector<int64_t> shape(x.type().getShape());
  shape.insert(shape.begin() + dim, 1);
  return {create<nd::ReshapeOp>(span, x.value, ArrayRef<int64_t>(shape)), x.number, x.classes};
}

/// `a[pairs(i, j)]`: along as many dimensions as there are arrays, the elements at (i[k], j[k]).
Value Elaborator::indexPairs(Tensor base, size_t dim, const ast::CallExpr &pairs, Frame &frame) {
  Span span = pairs.span;
  ArrayRef<int64_t> shape = base.type().getShape();
  Value flat;
  int64_t merged = 1;
  for (auto [k, arg] : llvm::enumerate(pairs.args)) {
    int64_t size = shape[dim + k];
    Value at = evaluate(*arg.value, frame);
    auto places = at.isInvalid() ? std::nullopt : placesOf(at, arg.value->span);
    if (!places)
      return {};
    // Reading the place from a list of them checks its range.
    Tensor all = *iota(size, span).as<Tensor>();
    Value checked(Tensor{create<nd::GatherOp>(arg.value->span, all.value, places->value, uint64_t(0)), false, 0}, arg.value->span);
    flat = k == 0 ? checked : binary(ast::BinaryOp::Add, binary(ast::BinaryOp::Mul, flat, integer(size, span), span), checked, span);
    if (flat.isInvalid())
      return {};
    flat.origin = arg.value->span;
    merged *= size;
  }
  SmallVector<int64_t> joined(shape.take_front(dim));
  joined.push_back(merged);
  llvm::append_range(joined, shape.drop_front(dim + pairs.args.size()));
  mlir::Value whole = create<nd::ReshapeOp>(span, base.value, ArrayRef<int64_t>(joined));
  return Value(Tensor{create<nd::GatherOp>(span, whole, flat.as<Tensor>()->value, uint64_t(dim)), base.number, base.classes},
               span);
}

//===----------------------------------------------------------------------===//
// All indices
//===----------------------------------------------------------------------===//

static bool isNewAxis(const ast::Expr &index) {
  auto *name = ast::dynCast<ast::NameExpr>(&index);
  return name && name->name == "new";
}

static const ast::CallExpr *pairsOf(const ast::Expr &index) {
  auto *call = ast::dynCast<ast::CallExpr>(&index);
  auto *name = call ? ast::dynCast<ast::NameExpr>(call->callee.get()) : nullptr;
  return name && name->name == "pairs" ? call : nullptr;
}

/// Dimensions that an index takes.
static size_t taken(const ast::Expr &index) {
  if (const ast::CallExpr *pairs = pairsOf(index))
    return pairs->args.size();
  return isNewAxis(index) ? 0 : 1;
}

bool Elaborator::canIndex(const Tensor &t, const ast::IndexExpr &expr) {
  size_t dims = 0;
  for (auto &index : expr.indices)
    dims += taken(*index);
  bool ranged = isOneRange(t.type());
  size_t rank = static_cast<size_t>(t.type().getRank()) - (isStackOfTrees(t.type()) ? 1 : 0);
  if (!ranged && dims <= rank)
    return true;
  auto report = diags.report(Diag::too_many_indices, expr.span, describeType(t.type()), dims);
  if (ranged)
    report.help("a rule that looks at rows or columns says so: `on [m, n]`");
  return false;
}

std::optional<Tensor> Elaborator::indexAll(Tensor t, const ast::IndexExpr &expr, Frame &frame) {
  size_t dim = 0;
  uint64_t fresh = 0;
  for (auto &index : expr.indices) {
    if (isNewAxis(*index)) {
      t = newAxis(t, dim, index->span);
      fresh |= uint64_t(1) << dim++;
      continue;
    }
    int64_t left = t.type().getRank() - dim - taken(*index);
    const ast::CallExpr *pairs = pairsOf(*index);
    Value next = pairs ? indexPairs(t, dim, *pairs, frame) : indexOne(t, dim, *index, frame);
    if (next.isInvalid())
      return std::nullopt;
    t = *next.as<Tensor>();
    dim = t.type().getRank() - left;
  }
  t.fresh = fresh;
  return t;
}

Value Elaborator::rowOf(const Value &items, int64_t i, Span span) {
  std::vector<Value> rows;
  for (const Value &leaf : leafValues({items})) {
    auto t = tensor(leaf, span, "what a loop runs over");
    if (!t)
      return {};
    rows.push_back(indexConstant(*t, 0, integer(i, span), span));
  }
  return rebuildAll({items}, rows).front();
}

/// Of a stack of records: the record of each array's part.
Value Elaborator::indexed(const Value &base, const ast::IndexExpr &expr, Frame &frame) {
  auto *record = base.as<Record>();
  if (!record) {
    auto t = tensor(base, expr.base->span);
    auto part = t && canIndex(*t, expr) ? indexAll(*t, expr, frame) : std::nullopt;
    return part ? Value(*part, expr.span) : Value();
  }
  Record parts;
  int draws = frame.draws;
  for (auto &[name, field] : record->fields) {
    frame.draws = draws; // the index is one, however often it is read
    Value part = indexed(field, expr, frame);
    if (part.isInvalid())
      return {};
    parts.fields.emplace_back(name, std::move(part));
  }
  return Value(std::move(parts), expr.span);
}

Value Elaborator::evaluateIndex(const ast::IndexExpr &expr, Frame &frame) {
  Value base = evaluate(*expr.base, frame);
  if (base.isInvalid())
    return {};
  if (isNamed(base))
    return selectSeries(base, expr, frame);
  if (auto *run = base.as<std::shared_ptr<RunResult>>(); run && (*run)->isSweep())
    return selectMembers(*run, expr, frame);
  if (auto *range = base.as<Range>()) {
    std::vector<Value> items;
    for (int64_t i = range->low; i < range->high; ++i)
      items.push_back(integer(i, expr.span));
    base = stackValues(items, expr.span);
  }
  return indexed(base, expr, frame);
}

} // namespace dyn::elab
