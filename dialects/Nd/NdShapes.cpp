#include "dialects/Nd/NdShapes.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace dyn;
using namespace dyn::nd;

namespace {
/// Fails after "'nd.OP' op MESSAGE" at loc, if there is one.
template <typename... Parts>
LogicalResult refuse(MaybeLoc loc, StringRef op, Parts &&...parts) {
  if (!loc)
    return failure();
  InFlightDiagnostic diagnostic = emitError(*loc);
  diagnostic << "'nd." << op << "' op ";
  (diagnostic << ... << std::forward<Parts>(parts));
  return failure();
}

std::string show(ArrayRef<int64_t> numbers) {
  std::string text = "[";
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(numbers, stream);
  return text + "]";
}

LogicalResult checkDim(MaybeLoc loc, StringRef op, RankedTensorType x, int64_t dim) {
  if (dim >= 0 && dim < x.getRank())
    return success();
  return refuse(loc, op, "dimension ", dim, " is not one of the ", x.getRank(), " dimensions of ", x);
}

/// One entry of `list` for each dimension of x.
LogicalResult checkCount(MaybeLoc loc, StringRef op, RankedTensorType x, ArrayRef<int64_t> list, StringRef name) {
  if (int64_t(list.size()) == x.getRank())
    return success();
  return refuse(loc, op, "`", name, "` has ", list.size(), " entries for the ", x.getRank(), " dimensions of ", x);
}

/// any and all take booleans, the others numbers.
LogicalResult checkKind(MaybeLoc loc, StringRef op, RankedTensorType x, ReduceKind kind) {
  bool logical = kind == ReduceKind::any || kind == ReduceKind::all;
  if (logical == x.getElementType().isInteger(1))
    return success();
  return refuse(loc, op, "kind `", stringifyReduceKind(kind), "` does not take elements of type ",
                x.getElementType());
}

FailureOr<Attribute> merge(MaybeLoc loc, StringRef op, TypeRange types) {
  FailureOr<Attribute> merged = mergeEncodings(types);
  if (failed(merged))
    return refuse(loc, op, "operands vary over axes that cannot meet");
  return merged;
}

RankedTensorType withShape(RankedTensorType x, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, x.getElementType(), x.getEncoding());
}
} // namespace

ShapeResult nd::inferElementwise(MaybeLoc loc, StringRef op, ValueRange operands) {
  auto first = typeOf(operands.front());
  for (Value operand : operands.drop_front()) {
    auto type = typeOf(operand);
    if (type.getShape() != first.getShape() || type.getElementType() != first.getElementType())
      return refuse(loc, op, "operands differ in shape or element type: ", first, " and ", type);
  }
  FailureOr<Attribute> encoding = merge(loc, op, operands.getTypes());
  if (failed(encoding))
    return failure();
  return RankedTensorType::get(first.getShape(), first.getElementType(), *encoding);
}

ShapeResult nd::inferCompare(MaybeLoc loc, Value x, Value y) {
  ShapeResult type = inferElementwise(loc, "compare", {x, y});
  if (failed(type))
    return failure();
  return RankedTensorType::get(type->getShape(), IntegerType::get(x.getContext(), 1), type->getEncoding());
}

ShapeResult nd::inferSelect(MaybeLoc loc, Value condition, Value a, Value b) {
  ShapeResult type = inferElementwise(loc, "select", {a, b});
  if (failed(type))
    return failure();
  if (shapeOf(condition) != type->getShape())
    return refuse(loc, "select", "condition ", condition.getType(), " has not the shape of ", a.getType());
  FailureOr<Attribute> encoding = merge(loc, "select", {condition.getType(), a.getType(), b.getType()});
  if (failed(encoding))
    return failure();
  return RankedTensorType::get(type->getShape(), type->getElementType(), *encoding);
}

ShapeResult nd::inferTranspose(MaybeLoc loc, RankedTensorType x, ArrayRef<int64_t> perm) {
  if (failed(checkCount(loc, "transpose", x, perm, "perm")))
    return failure();
  if (!isPermutationVector(perm))
    return refuse(loc, "transpose", "`perm` = ", show(perm), " is not a permutation");
  SmallVector<int64_t> shape;
  for (int64_t d : perm)
    shape.push_back(x.getDimSize(d));
  return withShape(x, shape);
}

ShapeResult nd::inferSlice(MaybeLoc loc, RankedTensorType x, ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes,
                           ArrayRef<int64_t> strides) {
  if (failed(checkCount(loc, "slice", x, offsets, "offsets")) || failed(checkCount(loc, "slice", x, sizes, "sizes")) ||
      failed(checkCount(loc, "slice", x, strides, "strides")))
    return failure();
  for (int64_t d = 0; d < x.getRank(); ++d) {
    if (strides[d] <= 0)
      return refuse(loc, "slice", "stride ", strides[d], " of dimension ", d, " is not positive");
    if (sizes[d] < 0 || offsets[d] < 0)
      return refuse(loc, "slice", "offset ", offsets[d], " or size ", sizes[d], " of dimension ", d, " is negative");
    int64_t end = sizes[d] == 0 ? offsets[d] : offsets[d] + (sizes[d] - 1) * strides[d] + 1;
    if (end > x.getDimSize(d))
      return refuse(loc, "slice", "reaches ", end, " in dimension ", d, " of size ", x.getDimSize(d));
  }
  return withShape(x, sizes);
}

ShapeResult nd::inferPad(MaybeLoc loc, RankedTensorType x, ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
  if (failed(checkCount(loc, "pad", x, low, "low")) || failed(checkCount(loc, "pad", x, high, "high")))
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t d = 0; d < x.getRank(); ++d) {
    if (low[d] < 0 || high[d] < 0)
      return refuse(loc, "pad", "padding of dimension ", d, " is negative; use nd.slice to remove elements");
    shape.push_back(low[d] + x.getDimSize(d) + high[d]);
  }
  return withShape(x, shape);
}

ShapeResult nd::inferConcat(MaybeLoc loc, ValueRange inputs, int64_t dim) {
  if (inputs.empty())
    return refuse(loc, "concat", "needs an operand");
  auto first = typeOf(inputs.front());
  if (failed(checkDim(loc, "concat", first, dim)))
    return failure();
  SmallVector<int64_t> shape(first.getShape());
  for (Value input : inputs.drop_front()) {
    auto type = typeOf(input);
    bool fits = type.getRank() == first.getRank() && type.getElementType() == first.getElementType();
    for (int64_t d = 0; fits && d < first.getRank(); ++d)
      fits = d == dim || type.getDimSize(d) == first.getDimSize(d);
    if (!fits)
      return refuse(loc, "concat", "operands ", first, " and ", type, " differ in more than the size of dimension ",
                    dim);
    shape[dim] += type.getDimSize(dim);
  }
  FailureOr<Attribute> encoding = merge(loc, "concat", inputs.getTypes());
  if (failed(encoding))
    return failure();
  return RankedTensorType::get(shape, first.getElementType(), *encoding);
}

ShapeResult nd::inferGather(MaybeLoc loc, RankedTensorType x, RankedTensorType indices, int64_t dim) {
  if (failed(checkDim(loc, "gather", x, dim)))
    return failure();
  SmallVector<int64_t> shape(x.getShape().take_front(dim));
  shape.append(indices.getShape().begin(), indices.getShape().end());
  llvm::append_range(shape, x.getShape().drop_front(dim + 1));
  FailureOr<Attribute> encoding = merge(loc, "gather", {x, indices});
  if (failed(encoding))
    return failure();
  return RankedTensorType::get(shape, x.getElementType(), *encoding);
}

ShapeResult nd::inferScatter(MaybeLoc loc, RankedTensorType base, RankedTensorType indices, RankedTensorType updates,
                             ScatterMode mode, int64_t dim) {
  if (failed(checkDim(loc, "scatter", base, dim)))
    return failure();
  ShapeResult expected = inferGather(std::nullopt, base, indices, dim);
  if (failed(expected))
    return refuse(loc, "scatter", "operands vary over axes that cannot meet");
  if (expected->getShape() != updates.getShape() || base.getElementType() != updates.getElementType())
    return refuse(loc, "scatter", "updates are ", updates, " where ", withShape(base, expected->getShape()),
                  " fits the base and indices");
  if (mode == ScatterMode::add && base.getElementType().isInteger(1))
    return refuse(loc, "scatter", "booleans cannot be added");
  FailureOr<Attribute> encoding = merge(loc, "scatter", {base, indices, updates});
  if (failed(encoding))
    return failure();
  return RankedTensorType::get(base.getShape(), base.getElementType(), *encoding);
}

ShapeResult nd::inferReduce(MaybeLoc loc, RankedTensorType x, ReduceKind kind, ArrayRef<int64_t> dims) {
  if (failed(checkKind(loc, "reduce", x, kind)))
    return failure();
  int64_t last = -1;
  for (int64_t dim : dims) {
    if (failed(checkDim(loc, "reduce", x, dim)))
      return failure();
    if (dim <= last)
      return refuse(loc, "reduce", "`dims` = ", show(dims), " does not increase");
    last = dim;
  }
  SmallVector<int64_t> shape;
  for (int64_t d = 0; d < x.getRank(); ++d)
    if (!llvm::is_contained(dims, d))
      shape.push_back(x.getDimSize(d));
  return withShape(x, shape);
}

ShapeResult nd::inferArgReduce(MaybeLoc loc, RankedTensorType x, ReduceKind kind, int64_t dim) {
  if (kind != ReduceKind::max && kind != ReduceKind::min)
    return refuse(loc, "arg_reduce", "kind is `", stringifyReduceKind(kind), "`, not `max` or `min`");
  if (failed(checkDim(loc, "arg_reduce", x, dim)))
    return failure();
  if (x.getDimSize(dim) == 0)
    return refuse(loc, "arg_reduce", "dimension ", dim, " of ", x, " is empty: no position is greatest or least");
  SmallVector<int64_t> shape(x.getShape());
  shape.erase(shape.begin() + dim);
  return RankedTensorType::get(shape, IntegerType::get(x.getContext(), 64), x.getEncoding());
}

namespace {
/// Sizes by letter while an einsum is checked.
struct Letters {
  MaybeLoc loc;
  llvm::SmallDenseMap<char, int64_t> sizes;

  LogicalResult checkOnce(StringRef letters, StringRef name) {
    for (size_t i = 0; i < letters.size(); ++i) {
      if (!llvm::isAlpha(letters[i]))
        return refuse(loc, "contract", "`", name, "` = \"", letters, "\" has something else than letters");
      if (letters.find(letters[i], i + 1) != StringRef::npos)
        return refuse(loc, "contract", "letter `", letters.substr(i, 1), "` occurs twice in `", name, "`");
    }
    return success();
  }

  LogicalResult addOperand(StringRef letters, StringRef name, RankedTensorType type) {
    if (failed(checkOnce(letters, name)))
      return failure();
    if (int64_t(letters.size()) != type.getRank())
      return refuse(loc, "contract", "`", name, "` = \"", letters, "\" does not name the ", type.getRank(),
                    " dimensions of ", type);
    for (auto [letter, size] : llvm::zip(letters, type.getShape())) {
      auto [it, fresh] = sizes.try_emplace(letter, size);
      if (!fresh && it->second != size)
        return refuse(loc, "contract", "letter `", StringRef(&letter, 1), "` has sizes ", it->second, " and ", size);
    }
    return success();
  }
};
} // namespace

ShapeResult nd::inferContract(MaybeLoc loc, RankedTensorType a, RankedTensorType b, StringRef lhs, StringRef rhs,
                              StringRef out) {
  if (a.getElementType() != b.getElementType())
    return refuse(loc, "contract", "operands differ in element type: ", a, " and ", b);
  Letters letters;
  letters.loc = loc;
  if (failed(letters.addOperand(lhs, "lhs", a)) || failed(letters.addOperand(rhs, "rhs", b)) ||
      failed(letters.checkOnce(out, "out")))
    return failure();
  SmallVector<int64_t> shape;
  for (char letter : out) {
    auto it = letters.sizes.find(letter);
    if (it == letters.sizes.end())
      return refuse(loc, "contract", "letter `", StringRef(&letter, 1), "` of `out` occurs in no operand");
    shape.push_back(it->second);
  }
  FailureOr<Attribute> encoding = merge(loc, "contract", {a, b});
  if (failed(encoding))
    return failure();
  return RankedTensorType::get(shape, a.getElementType(), *encoding);
}

/// One-dimensional, and offsets rise from 0.
static LogicalResult checkSegments(MaybeLoc loc, StringRef op, RankedTensorType x, ArrayRef<int64_t> offsets) {
  if (x.getRank() != 1)
    return refuse(loc, op, "operand ", x, " is not one-dimensional");
  if (offsets.empty() || offsets.front() != 0 || !llvm::is_sorted(offsets))
    return refuse(loc, op, "`offsets` do not rise from 0");
  return success();
}

ShapeResult nd::inferSegmentReduce(MaybeLoc loc, RankedTensorType x, ReduceKind kind, ArrayRef<int64_t> offsets) {
  if (failed(checkKind(loc, "segment_reduce", x, kind)) || failed(checkSegments(loc, "segment_reduce", x, offsets)))
    return failure();
  if (offsets.back() != x.getDimSize(0))
    return refuse(loc, "segment_reduce", "`offsets` end at ", offsets.back(), ", not at the operand's size ",
                  x.getDimSize(0));
  return withShape(x, {int64_t(offsets.size()) - 1});
}

ShapeResult nd::inferSegmentSpread(MaybeLoc loc, RankedTensorType x, ArrayRef<int64_t> offsets) {
  if (failed(checkSegments(loc, "segment_spread", x, offsets)))
    return failure();
  if (int64_t(offsets.size()) - 1 != x.getDimSize(0))
    return refuse(loc, "segment_spread", "`offsets` cut ", offsets.size() - 1, " pieces for ", x.getDimSize(0),
                  " elements");
  return withShape(x, {offsets.back()});
}

ShapeResult nd::inferCumulate(MaybeLoc loc, RankedTensorType x, ReduceKind kind, int64_t dim) {
  if (kind != ReduceKind::sum && kind != ReduceKind::prod && kind != ReduceKind::max)
    return refuse(loc, "cumulate", "kind is `", stringifyReduceKind(kind), "`, not `sum`, `prod` or `max`");
  if (failed(checkDim(loc, "cumulate", x, dim)))
    return failure();
  return x;
}
