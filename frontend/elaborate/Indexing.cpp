//===- Indexing.cpp - arrays as written, and their parts -------------------===//
#include "frontend/elaborate/Elaborator.h"
#include "frontend/elaborate/RunResult.h"

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
    if (!t)
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

Value Elaborator::indexOne(Tensor base, size_t dim, const ast::Expr &index, bool &dropped, Frame &frame) {
  dropped = false;
  ArrayRef<int64_t> shape = base.type().getShape();
  int64_t size = shape[dim], rank = shape.size();
  auto slice = [&](int64_t low, int64_t count, Span span) {
    SmallVector<int64_t> offsets(rank, 0), sizes(shape), strides(rank, 1);
    offsets[dim] = low;
    sizes[dim] = count;
    return Tensor{create<nd::SliceOp>(span, base.value, ArrayRef<int64_t>(offsets), ArrayRef<int64_t>(sizes),
                                      ArrayRef<int64_t>(strides)),
                  base.number, base.classes};
  };
  auto outOfRange = [&](int64_t at, Span span) {
    diags.report(Diag::index_out_of_range, span, at, size).help("positions run from 0 to " + std::to_string(size - 1) +
                                                               ", or from -1 backwards");
    return Value();
  };
  if (auto *range = ast::dynCast<ast::SliceExpr>(&index)) {
    int64_t low = 0, high = size;
    for (auto [expr, bound] : {std::pair{range->low.get(), &low}, std::pair{range->high.get(), &high}}) {
      if (!expr)
        continue;
      auto known = knownInt(evaluate(*expr, frame), expr->span, "a bound of a slice");
      if (!known)
        return {};
      *bound = *known < 0 ? *known + size : *known;
      if (*bound < 0 || *bound > size)
        return outOfRange(*known, expr->span);
    }
    if (high < low) {
      diags.report(Diag::slice_backwards, index.span, low, high);
      return {};
    }
    return Value(slice(low, high - low, index.span), index.span);
  }
  Value at = evaluate(index, frame);
  if (at.isInvalid())
    return {};
  if (auto *range = at.as<Range>()) {
    if (range->low < 0 || range->high > size)
      return outOfRange(range->low < 0 ? range->low : range->high, index.span);
    return Value(slice(range->low, range->high - range->low, index.span), index.span);
  }
  if (at.as<Const>()) {
    auto known = knownInt(at, index.span, "an index");
    if (!known)
      return {};
    int64_t position = *known < 0 ? *known + size : *known;
    if (position < 0 || position >= size)
      return outOfRange(*known, index.span);
    Tensor row = slice(position, 1, index.span);
    SmallVector<int64_t> rest(shape);
    rest.erase(rest.begin() + dim);
    dropped = true;
    return Value(Tensor{create<nd::ReshapeOp>(index.span, row.value, ArrayRef<int64_t>(rest)), base.number, base.classes},
                 index.span);
  }
  auto positions = tensor(at, index.span, "an index");
  if (!positions)
    return {};
  if (elemOf(positions->type().getElementType()) != Elem::Int) {
    diags.report(Diag::index_not_int, index.span, describeType(positions->type()))
        .help(elemOf(positions->type().getElementType()) == Elem::Bool
                  ? "a mask chooses with `where`; an array of changing size has no place in a compiled step"
                  : "an index is a whole number: `round` gives a real, `class(k)` and `int` are indices");
    return {};
  }
  dropped = positions->type().getRank() == 0;
  return Value(Tensor{create<nd::GatherOp>(index.span, base.value, positions->value, uint64_t(dim)), base.number,
                      base.classes},
               index.span);
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
  auto t = tensor(base, expr.base->span);
  if (!t)
    return {};
  bool ranged = isa_and_present<ir::LeavesAttr, ir::TreeAttr, ir::PerLeafAttr>(ir::rangeOf(t->type().getEncoding()));
  if (ranged || static_cast<int64_t>(expr.indices.size()) > t->type().getRank()) {
    auto report = diags.report(Diag::too_many_indices, expr.span, describeType(t->type()), expr.indices.size());
    if (ranged)
      report.help("a rule that looks at rows or columns says so: `on [m, n]`");
    return {};
  }
  size_t dim = 0;
  for (auto &index : expr.indices) {
    int64_t before = t->type().getRank();
    bool dropped = false;
    Value next = indexOne(*t, dim, *index, dropped, frame);
    if (next.isInvalid())
      return {};
    t = *next.as<Tensor>();
    dim += t->type().getRank() - before + 1;
  }
  return Value(*t, expr.span);
}

} // namespace dyn::elab
