#include "dialects/Nd/NdEvalInternals.h"

using namespace mlir;
using namespace dyn;
using namespace dyn::nd;

namespace {
using Shape = NdArray::Shape;

RankedTensorType resultType(Operation *op) { return cast<RankedTensorType>(op->getResult(0).getType()); }

LogicalResult evalConstant(Evaluator &evaluator, ConstantOp op, ArrayRef<NdArray>, NdArrays &out) {
  FailureOr<NdArray> value = evaluator.constant(op, op.getValue());
  if (failed(value))
    return failure();
  out.push_back(*value);
  return success();
}

LogicalResult evalIota(Evaluator &, IotaOp op, ArrayRef<NdArray>, NdArrays &out) {
  ArrayRef<int64_t> shape = resultType(op).getShape();
  std::vector<int64_t> line(shape[op.getDim()]);
  for (size_t i = 0; i < line.size(); ++i)
    line[i] = int64_t(i);
  Shape strides(shape.size(), 0);
  strides[op.getDim()] = 1;
  out.push_back(readStrided(NdArray({int64_t(line.size())}, Element::i64, std::move(line)), shape, strides));
  return success();
}

LogicalResult evalDraw(Evaluator &evaluator, DrawOp op, ArrayRef<NdArray> in, NdArrays &out) {
  if (!evaluator.getHooks().draw)
    return evaluator.refuse(op, "no source of draws was given");
  DrawRequest request{int32_t(op.getDist()),  int32_t(op.getStream()), int64_t(op.getSite()),
                      in[0].ints().data(),    in[1].ints()[0],         elementOf(op.getType()),
                      resultType(op).getNumElements()};
  out.push_back(evaluator.getHooks().draw(request, resultType(op).getShape()));
  return success();
}

LogicalResult evalBroadcast(Evaluator &, BroadcastOp op, ArrayRef<NdArray> in, NdArrays &out) {
  ArrayRef<int64_t> shape = resultType(op).getShape();
  Shape from = stridesOf(in[0].shape()), strides(shape.size(), 0);
  for (auto [i, dim] : llvm::enumerate(op.getDims()))
    strides[dim] = from[i];
  out.push_back(readStrided(in[0], shape, strides));
  return success();
}

LogicalResult evalReshape(Evaluator &, ReshapeOp op, ArrayRef<NdArray> in, NdArrays &out) {
  out.push_back(in[0].reshaped(resultType(op).getShape()));
  return success();
}

LogicalResult evalTranspose(Evaluator &, TransposeOp op, ArrayRef<NdArray> in, NdArrays &out) {
  Shape from = stridesOf(in[0].shape()), strides;
  for (int64_t d : op.getPerm())
    strides.push_back(from[d]);
  out.push_back(readStrided(in[0], resultType(op).getShape(), strides));
  return success();
}

LogicalResult evalSlice(Evaluator &, SliceOp op, ArrayRef<NdArray> in, NdArrays &out) {
  Shape from = stridesOf(in[0].shape()), strides;
  int64_t offset = 0;
  for (auto [d, stride] : llvm::enumerate(from)) {
    offset += op.getOffsets()[d] * stride;
    strides.push_back(stride * op.getStrides()[d]);
  }
  out.push_back(readStrided(in[0], op.getSizes(), strides, offset));
  return success();
}

/// Puts the rows of a box (contiguous along the last dimension) into `to`, of shape `shape`, at `origin`.
template <typename T>
void paste(std::vector<T> &to, ArrayRef<int64_t> shape, const std::vector<T> &from, ArrayRef<int64_t> box,
           ArrayRef<int64_t> origin) {
  if (from.empty())
    return;
  Shape strides = stridesOf(shape);
  SmallVector<int64_t, 4> index(box.size(), 0);
  int64_t row = box.empty() ? 1 : box.back();
  for (size_t position = 0; position < from.size(); position += row) {
    int64_t target = 0;
    for (auto [d, stride] : llvm::enumerate(strides))
      target += (origin[d] + index[d]) * stride;
    std::copy_n(from.begin() + position, row, to.begin() + target);
    for (int64_t d = int64_t(box.size()) - 2; d >= 0 && ++index[d] == box[d]; --d)
      index[d] = 0;
  }
}

/// Boxes at origins within zeros.
NdArray assemble(RankedTensorType type, ArrayRef<NdArray> boxes, ArrayRef<Shape> origins) {
  Element element = elementOf(type);
  auto fill = [&](auto values, auto read) {
    for (auto [box, origin] : llvm::zip(boxes, origins))
      paste(values, type.getShape(), read(box), box.shape(), origin);
    return NdArray(type.getShape(), element, std::move(values));
  };
  if (isFloat(element))
    return fill(std::vector<double>(type.getNumElements()), [](const NdArray &x) -> auto & { return x.floats(); });
  return fill(std::vector<int64_t>(type.getNumElements()), [](const NdArray &x) -> auto & { return x.ints(); });
}

LogicalResult evalPad(Evaluator &, PadOp op, ArrayRef<NdArray> in, NdArrays &out) {
  out.push_back(assemble(resultType(op), in, Shape(op.getLow())));
  return success();
}

LogicalResult evalConcat(Evaluator &, ConcatOp op, ArrayRef<NdArray> in, NdArrays &out) {
  SmallVector<Shape> origins;
  Shape origin(resultType(op).getRank(), 0);
  for (const NdArray &x : in) {
    origins.push_back(origin);
    origin[op.getDim()] += x.shape()[op.getDim()];
  }
  out.push_back(assemble(resultType(op), in, origins));
  return success();
}

/// x[:dim], size of dim, x[dim+1:] as numbers of elements.
struct Cut {
  int64_t before, size, after;
  Cut(ArrayRef<int64_t> shape, int64_t dim)
      : before(sizeOf(shape.take_front(dim))), size(shape[dim]), after(sizeOf(shape.drop_front(dim + 1))) {}
};

LogicalResult checkIndices(Evaluator &evaluator, Operation *op, const NdArray &indices, int64_t size) {
  for (int64_t index : indices.ints())
    if (index < 0 || index >= size)
      return evaluator.refuse(op, "index " + Twine(index) + " is not in [0, " + Twine(size) + ")");
  return success();
}

template <typename T>
std::vector<T> gather(const std::vector<T> &x, Cut cut, const std::vector<int64_t> &indices) {
  std::vector<T> result;
  result.reserve(cut.before * indices.size() * cut.after);
  for (int64_t b = 0; b < cut.before; ++b)
    for (int64_t index : indices) {
      auto first = x.begin() + (b * cut.size + index) * cut.after;
      result.insert(result.end(), first, first + cut.after);
    }
  return result;
}

LogicalResult evalGather(Evaluator &evaluator, GatherOp op, ArrayRef<NdArray> in, NdArrays &out) {
  Cut cut(in[0].shape(), op.getDim());
  auto type = resultType(op);
  if (failed(checkIndices(evaluator, op, in[1], cut.size)))
    return failure();
  if (in[0].isFloat())
    out.push_back(NdArray(type.getShape(), in[0].element(), gather(in[0].floats(), cut, in[1].ints())));
  else
    out.push_back(NdArray(type.getShape(), in[0].element(), gather(in[0].ints(), cut, in[1].ints())));
  return success();
}

template <typename T>
std::vector<T> scatter(std::vector<T> base, Cut cut, const std::vector<int64_t> &indices, const std::vector<T> &updates,
                       ScatterMode mode) {
  size_t position = 0;
  for (int64_t b = 0; b < cut.before; ++b)
    for (int64_t index : indices)
      for (int64_t a = 0; a < cut.after; ++a, ++position) {
        T &target = base[(b * cut.size + index) * cut.after + a];
        target = mode == ScatterMode::set ? updates[position] : target + updates[position];
      }
  return base;
}

LogicalResult evalScatter(Evaluator &evaluator, ScatterOp op, ArrayRef<NdArray> in, NdArrays &out) {
  Cut cut(in[0].shape(), op.getDim());
  if (failed(checkIndices(evaluator, op, in[1], cut.size)))
    return failure();
  ScatterMode mode = op.getMode();
  if (in[0].isFloat())
    out.push_back(NdArray(in[0].shape(), in[0].element(),
                          scatter(in[0].floats(), cut, in[1].ints(), in[2].floats(), mode)));
  else
    out.push_back(NdArray(in[0].shape(), in[0].element(),
                          scatter(in[0].ints(), cut, in[1].ints(), in[2].ints(), mode)));
  return success();
}
} // namespace

void nd::addStructured(EvalTable &table) {
  addEval<ConstantOp>(table, evalConstant);
  addEval<IotaOp>(table, evalIota);
  addEval<DrawOp>(table, evalDraw);
  addEval<BroadcastOp>(table, evalBroadcast);
  addEval<ReshapeOp>(table, evalReshape);
  addEval<TransposeOp>(table, evalTranspose);
  addEval<SliceOp>(table, evalSlice);
  addEval<PadOp>(table, evalPad);
  addEval<ConcatOp>(table, evalConcat);
  addEval<GatherOp>(table, evalGather);
  addEval<ScatterOp>(table, evalScatter);
}
