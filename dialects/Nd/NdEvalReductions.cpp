#include "dialects/Nd/NdEvalInternals.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace dyn;
using namespace dyn::nd;

double nd::neutralFloat(ReduceKind kind) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  switch (kind) {
  case ReduceKind::prod:
    return 1;
  case ReduceKind::max:
    return -infinity;
  case ReduceKind::min:
    return infinity;
  default:
    return 0;
  }
}

int64_t nd::neutralInt(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::prod:
  case ReduceKind::all:
    return 1;
  case ReduceKind::max:
    return std::numeric_limits<int64_t>::min();
  case ReduceKind::min:
    return std::numeric_limits<int64_t>::max();
  default:
    return 0;
  }
}

double nd::combine(ReduceKind kind, double x, double y) {
  switch (kind) {
  case ReduceKind::prod:
    return x * y;
  case ReduceKind::max:
    return std::isnan(x) || x > y ? x : y;
  case ReduceKind::min:
    return std::isnan(x) || x < y ? x : y;
  default:
    return x + y;
  }
}

int64_t nd::combine(ReduceKind kind, int64_t x, int64_t y) {
  switch (kind) {
  case ReduceKind::sum:
    return int64_t(uint64_t(x) + uint64_t(y));
  case ReduceKind::prod:
    return int64_t(uint64_t(x) * uint64_t(y));
  case ReduceKind::max:
    return std::max(x, y);
  case ReduceKind::min:
    return std::min(x, y);
  case ReduceKind::any:
    return x | y;
  case ReduceKind::all:
    return x & y;
  }
  llvm_unreachable("all kinds are handled");
}

namespace {
using Shape = NdArray::Shape;

RankedTensorType resultType(Operation *op) { return cast<RankedTensorType>(op->getResult(0).getType()); }

/// x with the dimensions `order` in this order.
NdArray reorder(const NdArray &x, ArrayRef<int64_t> order) {
  Shape from = stridesOf(x.shape()), strides, shape;
  for (int64_t d : order) {
    shape.push_back(x.shape()[d]);
    strides.push_back(from[d]);
  }
  return readStrided(x, shape, strides);
}

template <typename T>
std::vector<T> reducePieces(const std::vector<T> &x, ReduceKind kind, T neutral, ArrayRef<int64_t> offsets) {
  std::vector<T> result;
  for (size_t s = 0; s + 1 < offsets.size(); ++s) {
    T value = neutral;
    for (int64_t i = offsets[s]; i < offsets[s + 1]; ++i)
      value = combine(kind, value, x[i]);
    result.push_back(value);
  }
  return result;
}

/// Consecutive pieces of x, each combined to one element of a result of `shape`.
NdArray reducePieces(const NdArray &x, ReduceKind kind, ArrayRef<int64_t> offsets, ArrayRef<int64_t> shape) {
  if (x.isFloat())
    return NdArray(shape, x.element(), reducePieces(x.floats(), kind, neutralFloat(kind), offsets));
  return NdArray(shape, x.element(), reducePieces(x.ints(), kind, neutralInt(kind), offsets));
}

LogicalResult evalReduce(Evaluator &, ReduceOp op, ArrayRef<NdArray> in, NdArrays &out) {
  SmallVector<int64_t> order;
  for (int64_t d = 0; d < in[0].rank(); ++d)
    if (!llvm::is_contained(op.getDims(), d))
      order.push_back(d);
  int64_t piece = 1;
  for (int64_t d : op.getDims()) {
    order.push_back(d);
    piece *= in[0].shape()[d];
  }
  SmallVector<int64_t> offsets;
  for (int64_t s = 0; s <= resultType(op).getNumElements(); ++s)
    offsets.push_back(s * piece);
  out.push_back(reducePieces(reorder(in[0], order), op.getKind(), offsets, resultType(op).getShape()));
  return success();
}

LogicalResult evalSegmentReduce(Evaluator &, SegmentReduceOp op, ArrayRef<NdArray> in, NdArrays &out) {
  out.push_back(reducePieces(in[0], op.getKind(), op.getOffsets(), resultType(op).getShape()));
  return success();
}

LogicalResult evalSegmentSpread(Evaluator &, SegmentSpreadOp op, ArrayRef<NdArray> in, NdArrays &out) {
  auto spread = [&](const auto &x) {
    std::decay_t<decltype(x)> result;
    for (size_t s = 0; s < x.size(); ++s)
      result.insert(result.end(), op.getOffsets()[s + 1] - op.getOffsets()[s], x[s]);
    return NdArray(resultType(op).getShape(), in[0].element(), std::move(result));
  };
  out.push_back(in[0].isFloat() ? spread(in[0].floats()) : spread(in[0].ints()));
  return success();
}

/// Calls fn(first, count, stride) for each line of x along dim.
template <typename Fn>
void forEachLine(const NdArray &x, int64_t dim, Fn fn) {
  int64_t after = sizeOf(x.shape().drop_front(dim + 1)), count = x.shape()[dim];
  for (int64_t b = 0, before = sizeOf(x.shape().take_front(dim)); b < before; ++b)
    for (int64_t a = 0; a < after; ++a)
      fn(b * count * after + a, count, after);
}

LogicalResult evalArgReduce(Evaluator &, ArgReduceOp op, ArrayRef<NdArray> in, NdArrays &out) {
  const NdArray &x = in[0];
  bool max = op.getKind() == ReduceKind::max;
  auto better = [&](int64_t i, int64_t best) {
    if (!x.isFloat())
      return max ? x.ints()[i] > x.ints()[best] : x.ints()[i] < x.ints()[best];
    double a = x.floats()[i], b = x.floats()[best];
    return !std::isnan(b) && (std::isnan(a) || (max ? a > b : a < b));
  };
  std::vector<int64_t> result;
  forEachLine(x, op.getDim(), [&](int64_t first, int64_t count, int64_t stride) {
    int64_t best = 0;
    for (int64_t i = 1; i < count; ++i)
      if (better(first + i * stride, first + best * stride))
        best = i;
    result.push_back(best);
  });
  out.push_back(NdArray(resultType(op).getShape(), Element::i64, std::move(result)));
  return success();
}

LogicalResult evalCumulate(Evaluator &, CumulateOp op, ArrayRef<NdArray> in, NdArrays &out) {
  const NdArray &x = in[0];
  auto run = [&](auto values) {
    forEachLine(x, op.getDim(), [&](int64_t first, int64_t count, int64_t stride) {
      for (int64_t i = 1; i < count; ++i)
        values[first + i * stride] = combine(op.getKind(), values[first + (i - 1) * stride], values[first + i * stride]);
    });
    return NdArray(x.shape(), x.element(), std::move(values));
  };
  out.push_back(x.isFloat() ? run(x.floats()) : run(x.ints()));
  return success();
}

/// An operand of a contraction as [batch, rows, k]: letters only here and not in the result are summed first.
struct Factor {
  std::vector<double> values;
  int64_t rows = 1;

  Factor(const NdArray &x, StringRef letters, StringRef order, size_t summed, size_t rowLetters, size_t batchLetters) {
    SmallVector<int64_t> dims;
    for (char letter : order)
      dims.push_back(int64_t(letters.find(letter)));
    NdArray ordered = reorder(x, dims);
    ArrayRef<int64_t> shape = ordered.shape();
    rows = sizeOf(shape.slice(batchLetters, rowLetters));
    int64_t piece = sizeOf(shape.take_back(summed)), count = sizeOf(shape.drop_back(summed));
    if (summed == 0) {
      values = ordered.floats();
      return;
    }
    for (int64_t i = 0; i < count; ++i) {
      double total = 0;
      for (int64_t j = 0; j < piece; ++j)
        total += ordered.floats()[i * piece + j];
      values.push_back(total);
    }
  }
};

/// Letters of a contraction by role.
struct Roles {
  std::string batch, rows, columns, inner, lhsOnly, rhsOnly;

  Roles(StringRef lhs, StringRef rhs, StringRef out) {
    for (char letter : lhs) {
      bool right = rhs.contains(letter), kept = out.contains(letter);
      (right ? kept ? batch : inner : kept ? rows : lhsOnly) += letter;
    }
    for (char letter : rhs)
      if (!lhs.contains(letter))
        (out.contains(letter) ? columns : rhsOnly) += letter;
  }
};

LogicalResult evalContract(Evaluator &, ContractOp op, ArrayRef<NdArray> in, NdArrays &out) {
  Roles roles(op.getLhs(), op.getRhs(), op.getOut());
  Factor a(in[0], op.getLhs(), roles.batch + roles.rows + roles.inner + roles.lhsOnly, roles.lhsOnly.size(),
           roles.rows.size(), roles.batch.size());
  Factor b(in[1], op.getRhs(), roles.batch + roles.inner + roles.columns + roles.rhsOnly, roles.rhsOnly.size(),
           roles.inner.size(), roles.batch.size());
  llvm::SmallDenseMap<char, int64_t> sizes;
  for (auto [letter, size] : llvm::zip(op.getLhs(), in[0].shape()))
    sizes[letter] = size;
  for (auto [letter, size] : llvm::zip(op.getRhs(), in[1].shape()))
    sizes[letter] = size;
  std::string order = roles.batch + roles.rows + roles.columns;
  Shape shape;
  int64_t batches = 1, columns = 1;
  for (char letter : order)
    shape.push_back(sizes[letter]);
  for (char letter : roles.batch)
    batches *= sizes[letter];
  for (char letter : roles.columns)
    columns *= sizes[letter];
  int64_t rows = a.rows, inner = b.rows;
  std::vector<double> result(batches * rows * columns, 0.0);
  for (int64_t batch = 0; batch < batches; ++batch)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t k = 0; k < inner; ++k) {
        double factor = a.values[(batch * rows + i) * inner + k];
        const double *from = b.values.data() + (batch * inner + k) * columns;
        double *to = result.data() + (batch * rows + i) * columns;
        for (int64_t j = 0; j < columns; ++j)
          to[j] += factor * from[j];
      }
  SmallVector<int64_t> dims;
  for (char letter : op.getOut())
    dims.push_back(int64_t(order.find(letter)));
  out.push_back(reorder(NdArray(shape, in[0].element(), std::move(result)), dims));
  return success();
}
} // namespace

void nd::addReductions(EvalTable &table) {
  addEval<ReduceOp>(table, evalReduce);
  addEval<ArgReduceOp>(table, evalArgReduce);
  addEval<ContractOp>(table, evalContract);
  addEval<SegmentReduceOp>(table, evalSegmentReduce);
  addEval<SegmentSpreadOp>(table, evalSegmentSpread);
  addEval<CumulateOp>(table, evalCumulate);
}
