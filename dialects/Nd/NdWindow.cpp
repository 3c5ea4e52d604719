//===- NdWindow.cpp - shapes, derivatives, batches and values of windows --===//
#include "dialects/Nd/NdWindow.h"

#include "dialects/Nd/NdEvalInternals.h"
#include "dialects/Nd/NdSweep.h"

using namespace mlir;
using namespace dyn;
using namespace dyn::nd;

#define GET_OP_CLASSES
#include "dialects/Nd/NdWindow.cpp.inc"

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

namespace {

/// Reports at `loc`, if there is one.
template <typename... Parts>
LogicalResult refuse(std::optional<Location> loc, StringRef op, Parts &&...parts) {
  if (!loc)
    return failure();
  InFlightDiagnostic diagnostic = emitError(*loc);
  diagnostic << "'" << op << "' op ";
  (diagnostic << ... << std::forward<Parts>(parts));
  return failure();
}

LogicalResult checkSpec(std::optional<Location> loc, StringRef op, const WindowSpec &spec) {
  if (spec.rank() == 0)
    return refuse(loc, op, "has a window of no dimension");
  for (ArrayRef<int64_t> list : {spec.strides, spec.dilations, spec.low, spec.high})
    if (int64_t(list.size()) != spec.rank())
      return refuse(loc, op, "has lists of ", spec.rank(), " and of ", list.size(), " entries");
  for (int64_t d = 0; d < spec.rank(); ++d) {
    for (auto [name, value] : {std::pair("size", spec.sizes[d]), std::pair("stride", spec.strides[d]),
                               std::pair("dilation", spec.dilations[d])})
      if (value < 1)
        return refuse(loc, op, name, " ", value, " of window dimension ", d, " is less than 1");
    if (spec.low[d] < 0 || spec.high[d] < 0)
      return refuse(loc, op, "padding of window dimension ", d, " is negative");
  }
  return success();
}

/// The shape of all places of a window over `shape`, after `lead` leading dimensions.
FailureOr<SmallVector<int64_t>> placesOver(std::optional<Location> loc, StringRef op, ArrayRef<int64_t> lead,
                                           ArrayRef<int64_t> shape, const WindowSpec &spec) {
  SmallVector<int64_t> result(lead);
  llvm::append_range(result, spec.sizes);
  for (auto [d, extent] : llvm::enumerate(shape)) {
    int64_t places = spec.places(d, extent);
    if (places < 1) {
      (void)refuse(loc, op, "window dimension ", d, " spans ", spec.span(d), " elements of ",
                   extent + spec.low[d] + spec.high[d]);
      return failure();
    }
    result.push_back(places);
  }
  return result;
}

} // namespace

LogicalResult WindowOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor op,
                                         SmallVectorImpl<Type> &types) {
  StringRef name = getOperationName();
  RankedTensorType x = typeOf(op.getInput());
  WindowSpec spec = specOf(op);
  if (failed(checkSpec(loc, name, spec)))
    return failure();
  if (spec.rank() > x.getRank())
    return refuse(loc, name, "has ", spec.rank(), " window dimensions for the ", x.getRank(), " dimensions of ", x);
  int64_t lead = x.getRank() - spec.rank();
  auto shape = placesOver(loc, name, x.getShape().take_front(lead), x.getShape().drop_front(lead), spec);
  if (failed(shape))
    return failure();
  types.push_back(RankedTensorType::get(*shape, x.getElementType(), x.getEncoding()));
  return success();
}

LogicalResult UnwindowOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor op,
                                           SmallVectorImpl<Type> &types) {
  StringRef name = getOperationName();
  RankedTensorType g = typeOf(op.getInput());
  WindowSpec spec = specOf(op);
  if (failed(checkSpec(loc, name, spec)))
    return failure();
  int64_t lead = g.getRank() - 2 * spec.rank();
  if (int64_t(op.getShape().size()) != spec.rank() || lead < 0)
    return refuse(loc, name, "has ", spec.rank(), " window dimensions for `shape` of ", op.getShape().size(),
                  " entries and ", g);
  auto expected = placesOver(loc, name, g.getShape().take_front(lead), op.getShape(), spec);
  if (failed(expected))
    return failure();
  if (g.getShape() != ArrayRef<int64_t>(*expected))
    return refuse(loc, name, "takes ", RankedTensorType::get(*expected, g.getElementType()), ", not ", g);
  SmallVector<int64_t> shape(g.getShape().take_front(lead));
  llvm::append_range(shape, op.getShape());
  types.push_back(RankedTensorType::get(shape, g.getElementType(), g.getEncoding()));
  return success();
}

//===----------------------------------------------------------------------===//
// Derivatives and batches: linear, each the transpose of the other; leading dimensions are free
//===----------------------------------------------------------------------===//

namespace {
Value windowLike(OpBuilder &builder, UnwindowOp op, Value x) {
  WindowSpec spec = specOf(op);
  return WindowOp::create(builder, op.getLoc(), x, spec.sizes, spec.strides, spec.dilations, spec.low, spec.high);
}
Value windowLike(OpBuilder &builder, WindowOp op, Value x) {
  WindowSpec spec = specOf(op);
  return WindowOp::create(builder, op.getLoc(), x, spec.sizes, spec.strides, spec.dilations, spec.low, spec.high);
}
template <class OpT>
Value unwindowLike(OpBuilder &builder, OpT op, Value g, ArrayRef<int64_t> shape) {
  WindowSpec spec = specOf(op);
  return UnwindowOp::create(builder, op.getLoc(), g, shape, spec.sizes, spec.strides, spec.dilations, spec.low,
                            spec.high);
}
} // namespace

StringRef WindowOp::notDifferentiableReason() { return {}; }
LogicalResult WindowOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents, const VjpRequest &,
                                 SmallVectorImpl<Value> &results) {
  results.push_back(
      unwindowLike(builder, *this, cotangents[0], shapeOf(getInput()).take_back(int64_t(getSizes().size()))));
  return success();
}
LogicalResult WindowOp::buildJvp(OpBuilder &builder, ArrayRef<Value> tangents, SmallVectorImpl<Value> &results) {
  results.push_back(windowLike(builder, *this, tangents[0]));
  return success();
}
FailureOr<SmallVector<Value>> WindowOp::buildBatched(OpBuilder &builder, ArrayRef<Value> inputs, ArrayRef<bool>,
                                                     const BatchRequest &) {
  return SmallVector<Value>{windowLike(builder, *this, inputs[0])};
}

StringRef UnwindowOp::notDifferentiableReason() { return {}; }
LogicalResult UnwindowOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents, const VjpRequest &,
                                   SmallVectorImpl<Value> &results) {
  results.push_back(windowLike(builder, *this, cotangents[0]));
  return success();
}
LogicalResult UnwindowOp::buildJvp(OpBuilder &builder, ArrayRef<Value> tangents, SmallVectorImpl<Value> &results) {
  results.push_back(unwindowLike(builder, *this, tangents[0], getShape()));
  return success();
}
FailureOr<SmallVector<Value>> UnwindowOp::buildBatched(OpBuilder &builder, ArrayRef<Value> inputs, ArrayRef<bool>,
                                                       const BatchRequest &) {
  return SmallVector<Value>{unwindowLike(builder, *this, inputs[0], getShape())};
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

namespace {

/// Calls visit(position in the windowed value, position in the value below it) for all pairs inside, in row-major
/// order of the first. `windowed` and `below` are the two shapes.
void forEachPair(ArrayRef<int64_t> windowed, ArrayRef<int64_t> below, const WindowSpec &spec,
                 llvm::function_ref<void(int64_t, int64_t)> visit) {
  int64_t lead = int64_t(below.size()) - spec.rank(), count = ShapedType::getNumElements(windowed);
  SmallVector<int64_t> index(windowed.size(), 0);
  for (int64_t position = 0; position < count; ++position) {
    int64_t place = 0;
    bool inside = true;
    for (int64_t d = 0; d < int64_t(below.size()); ++d) {
      int64_t at = index[d];
      if (int64_t w = d - lead; w >= 0)
        at = spec.strides[w] * index[d + spec.rank()] + spec.dilations[w] * index[d] - spec.low[w];
      inside &= at >= 0 && at < below[d];
      place = place * below[d] + at;
    }
    if (inside)
      visit(position, place);
    for (int64_t d = int64_t(windowed.size()) - 1; d >= 0 && ++index[d] == windowed[d]; --d)
      index[d] = 0;
  }
}

/// Elements of `type`, each the sum of what `pairs` calls add(to, from) for.
NdArray addUp(RankedTensorType type, const NdArray &x, llvm::function_ref<void(llvm::function_ref<void(int64_t, int64_t)>)> pairs) {
  auto sum = [&](auto values, const auto &from) {
    pairs([&](int64_t to, int64_t at) { values[to] += from[at]; });
    return NdArray(type.getShape(), x.element(), std::move(values));
  };
  int64_t count = type.getNumElements();
  return x.isFloat() ? sum(std::vector<double>(count), x.floats()) : sum(std::vector<int64_t>(count), x.ints());
}

LogicalResult evalWindow(Evaluator &, WindowOp op, ArrayRef<NdArray> in, NdArrays &out) {
  auto type = cast<RankedTensorType>(op.getType());
  out.push_back(addUp(type, in[0], [&](llvm::function_ref<void(int64_t, int64_t)> add) {
    forEachPair(type.getShape(), in[0].shape(), specOf(op), add);
  }));
  return success();
}

LogicalResult evalUnwindow(Evaluator &, UnwindowOp op, ArrayRef<NdArray> in, NdArrays &out) {
  auto type = cast<RankedTensorType>(op.getType());
  out.push_back(addUp(type, in[0], [&](llvm::function_ref<void(int64_t, int64_t)> add) {
    forEachPair(in[0].shape(), type.getShape(), specOf(op), [&](int64_t from, int64_t to) { add(to, from); });
  }));
  return success();
}

} // namespace

void nd::addWindows(EvalTable &table) {
  addEval<WindowOp>(table, evalWindow);
  addEval<UnwindowOp>(table, evalUnwindow);
}
