// Sorting, decompositions and Fourier transforms by the plainest methods that are accurate: elimination, Gram-Schmidt
// done twice, rotations until nothing is left to turn, sums over all pairs. None is the runtime's method.
#include "dialects/Nd/NdEvalInternals.h"
#include "dialects/Nd/NdLibraryOps.h"

#include <cmath>
#include <numbers>
#include <numeric>

using namespace mlir;
using namespace dyn;
using namespace dyn::nd;

namespace {
RankedTensorType resultType(Operation *op, unsigned i = 0) { return cast<RankedTensorType>(op->getResult(i).getType()); }

//===----------------------------------------------------------------------===//
// argsort, fft
//===----------------------------------------------------------------------===//

/// The places of a line's elements in rising order, nan last.
template <typename T> void sortPlaces(std::vector<int64_t> &places, int64_t lo, int64_t hi, const T *x, int64_t stride) {
  auto less = [&](int64_t i, int64_t j) {
    T a = x[i * stride], b = x[j * stride];
    bool aNan = a != a, bNan = b != b;
    if (aNan || bNan)
      return aNan == bNan ? i < j : bNan;
    return a < b || (a == b && i < j);
  };
  std::iota(places.begin() + lo, places.begin() + hi, lo);
  std::sort(places.begin() + lo, places.begin() + hi, less);
}

LogicalResult evalArgSort(Evaluator &, ArgSortOp op, ArrayRef<NdArray> in, NdArrays &out) {
  ArrayRef<int64_t> shape = in[0].shape();
  int64_t dim = op.getDim(), size = shape[dim], inner = sizeOf(shape.drop_front(dim + 1));
  SmallVector<int64_t> offsets{0, size};
  if (op.getOffsets())
    offsets.assign(op.getOffsets()->begin(), op.getOffsets()->end());
  std::vector<int64_t> result(in[0].size()), places(size);
  for (int64_t line = 0; size && line < in[0].size() / size; ++line) {
    int64_t first = line / inner * size * inner + line % inner;
    for (size_t s = 0; s + 1 < offsets.size(); ++s)
      in[0].isFloat() ? sortPlaces(places, offsets[s], offsets[s + 1], in[0].floats().data() + first, inner)
                      : sortPlaces(places, offsets[s], offsets[s + 1], in[0].ints().data() + first, inner);
    for (int64_t i = 0; i < size; ++i)
      result[first + i * inner] = places[i];
  }
  out.push_back(NdArray(shape, Element::i64, std::move(result)));
  return success();
}

LogicalResult evalFft(Evaluator &, FftOp op, ArrayRef<NdArray> in, NdArrays &out) {
  ArrayRef<int64_t> shape = in[0].shape();
  int64_t n = shape[shape.size() - 2];
  double sign = op.getInverse() ? 1 : -1;
  const std::vector<double> &x = in[0].floats();
  std::vector<double> y(x.size());
  for (size_t line = 0; n && line < x.size() / (2 * n); ++line)
    for (int64_t k = 0; k < n; ++k)
      for (int64_t j = 0; j < n; ++j) {
        double angle = sign * 2 * std::numbers::pi * double(j * k % n) / double(n), c = std::cos(angle), s = std::sin(angle);
        const double *from = &x[2 * (line * n + j)];
        double *to = &y[2 * (line * n + k)];
        to[0] += c * from[0] - s * from[1];
        to[1] += c * from[1] + s * from[0];
      }
  out.push_back(NdArray(shape, in[0].element(), std::move(y)));
  return success();
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

/// One matrix, row-major.
struct Dense {
  int64_t rows, columns;
  std::vector<double> x;

  Dense(int64_t rows, int64_t columns) : rows(rows), columns(columns), x(rows * columns) {}
  double &operator()(int64_t i, int64_t j) { return x[i * columns + j]; }
  double operator()(int64_t i, int64_t j) const { return x[i * columns + j]; }
  bool isFinite() const {
    return llvm::all_of(x, [](double value) { return std::isfinite(value); });
  }
  Dense transposed() const {
    Dense result(columns, rows);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        result(j, i) = (*this)(i, j);
    return result;
  }
  Dense symmetric() const {
    Dense result = *this;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < rows; ++j)
        result(i, j) = 0.5 * ((*this)(i, j) + (*this)(j, i));
    return result;
  }
  double dot(int64_t i, int64_t j) const {
    double sum = 0;
    for (int64_t r = 0; r < rows; ++r)
      sum += (*this)(r, i) * (*this)(r, j);
    return sum;
  }
};

using Matrices = std::vector<Dense>;
/// Results for one matrix (each operand's), or the reason why there are none.
using OneBatch = llvm::function_ref<std::string(const Matrices &, Matrices &)>;

/// Applies `one` to each element of the batch; a batch with elements that are not finite gives nan.
LogicalResult forBatch(Evaluator &evaluator, Operation *op, ArrayRef<NdArray> in, NdArrays &out, OneBatch one) {
  ArrayRef<int64_t> batch = in[0].shape().drop_back(2);
  SmallVector<std::vector<double>> results(op->getNumResults());
  for (int64_t b = 0; b < sizeOf(batch); ++b) {
    Matrices operands, made;
    for (const NdArray &x : in) {
      int64_t rank = x.rank();
      Dense matrix(x.shape()[rank - 2], x.shape()[rank - 1]);
      std::copy_n(x.floats().begin() + b * matrix.x.size(), matrix.x.size(), matrix.x.begin());
      operands.push_back(std::move(matrix));
    }
    bool finite = llvm::all_of(operands, [](const Dense &x) { return x.isFinite(); });
    if (finite)
      if (std::string reason = one(operands, made); !reason.empty())
        return evaluator.refuse(op, reason);
    for (auto [i, values] : llvm::enumerate(results)) {
      if (finite)
        values.insert(values.end(), made[i].x.begin(), made[i].x.end());
      else
        values.resize(values.size() + sizeOf(resultType(op, i).getShape().drop_front(batch.size())), NAN);
    }
  }
  for (auto [i, values] : llvm::enumerate(results))
    out.push_back(NdArray(resultType(op, i).getShape(), in[0].element(), std::move(values)));
  return success();
}

LogicalResult evalCholesky(Evaluator &evaluator, CholeskyOp op, ArrayRef<NdArray> in, NdArrays &out) {
  return forBatch(evaluator, op, in, out, [](const Matrices &given, Matrices &made) -> std::string {
    Dense a = given[0].symmetric(), l(a.rows, a.rows);
    for (int64_t j = 0; j < a.rows; ++j)
      for (int64_t i = j; i < a.rows; ++i) {
        double sum = a(i, j);
        for (int64_t k = 0; k < j; ++k)
          sum -= l(i, k) * l(j, k);
        if (i == j && !(sum > 0))
          return "the matrix is not positive definite: pivot " + std::to_string(j) + " is not above 0";
        l(i, j) = i == j ? std::sqrt(sum) : sum / l(j, j);
      }
    made.push_back(l);
    return "";
  });
}

/// Columns of q become orthonormal, r what takes them back. A column that depends on those before becomes a unit vector
/// that stands on all.
void orthonormalize(Dense &q, Dense &r) {
  auto project = [&](int64_t j, bool counts) {
    for (int twice = 0; twice < 2; ++twice)
      for (int64_t k = 0; k < j; ++k) {
        double part = q.dot(k, j);
        if (counts)
          r(k, j) += part;
        for (int64_t i = 0; i < q.rows; ++i)
          q(i, j) -= part * q(i, k);
      }
    return std::sqrt(q.dot(j, j));
  };
  for (int64_t j = 0; j < q.columns; ++j) {
    double before = std::sqrt(q.dot(j, j)), length = project(j, true);
    if (length > 1e-14 * before)
      r(j, j) = length;
    for (int64_t e = 0; e < q.rows && !(length > 1e-14 * before); ++e) {
      for (int64_t i = 0; i < q.rows; ++i)
        q(i, j) = i == e;
      before = 1e13, length = project(j, false);
    }
    for (int64_t i = 0; i < q.rows; ++i)
      q(i, j) /= length;
  }
}

LogicalResult evalQr(Evaluator &evaluator, QrOp op, ArrayRef<NdArray> in, NdArrays &out) {
  return forBatch(evaluator, op, in, out, [](const Matrices &given, Matrices &made) -> std::string {
    Dense q = given[0], r(q.columns, q.columns);
    orthonormalize(q, r);
    made = {q, r};
    return "";
  });
}

/// Columns in which the first element at least half as large as the largest is negative are turned round, in `also` too.
void orient(Dense &vectors, Dense *also) {
  for (int64_t j = 0; j < vectors.columns; ++j) {
    double largest = 0, first = 0;
    for (int64_t i = 0; i < vectors.rows; ++i)
      largest = std::max(largest, std::fabs(vectors(i, j)));
    for (int64_t i = vectors.rows; i-- > 0;)
      if (std::fabs(vectors(i, j)) >= 0.5 * largest)
        first = vectors(i, j);
    for (Dense *side : {&vectors, also})
      for (int64_t i = 0; side && first < 0 && i < side->rows; ++i)
        (*side)(i, j) = -(*side)(i, j);
  }
}

/// The columns of x in the order of `places`.
Dense columnsOf(const Dense &x, ArrayRef<int64_t> places) {
  Dense result(x.rows, int64_t(places.size()));
  for (int64_t i = 0; i < x.rows; ++i)
    for (auto [j, from] : llvm::enumerate(places))
      result(i, j) = x(i, from);
  return result;
}

/// Turns columns p and q of both by the angle whose tangent is t.
void rotate(Dense &x, int64_t p, int64_t q, double t) {
  double c = 1 / std::sqrt(1 + t * t), s = c * t;
  for (int64_t i = 0; i < x.rows; ++i) {
    double a = x(i, p), b = x(i, q);
    x(i, p) = c * a - s * b;
    x(i, q) = s * a + c * b;
  }
}

/// One-sided rotations of Jacobi: the columns of x become orthogonal, v is what was applied.
void makeOrthogonal(Dense &x, Dense &v) {
  bool turned = true;
  for (int round = 0; turned && round < 60; ++round) {
    turned = false;
    for (int64_t p = 0; p < x.columns; ++p)
      for (int64_t q = p + 1; q < x.columns; ++q) {
        double a = x.dot(p, p), b = x.dot(q, q), c = x.dot(p, q);
        if (std::fabs(c) <= 1e-17 * std::sqrt(a * b) || c == 0)
          continue;
        double zeta = (b - a) / (2 * c), t = (zeta >= 0 ? 1 : -1) / (std::fabs(zeta) + std::sqrt(1 + zeta * zeta));
        rotate(x, p, q, t);
        rotate(v, p, q, t);
        turned = true;
      }
  }
}

Dense identity(int64_t n) {
  Dense result(n, n);
  for (int64_t i = 0; i < n; ++i)
    result(i, i) = 1;
  return result;
}

/// A = U diag(s) V^T for at least as many rows as columns.
void svdTall(const Dense &a, Dense &u, Dense &s, Dense &v) {
  Dense x = a, turns = identity(a.columns), unused(a.columns, a.columns);
  makeOrthogonal(x, turns);
  SmallVector<int64_t> order = range(0, a.columns);
  llvm::sort(order, [&](int64_t i, int64_t j) { return std::pair(-x.dot(i, i), i) < std::pair(-x.dot(j, j), j); });
  u = columnsOf(x, order);
  v = columnsOf(turns, order);
  for (int64_t j = 0; j < a.columns; ++j)
    s(j, 0) = std::sqrt(u.dot(j, j));
  orthonormalize(u, unused);
}

LogicalResult evalSvd(Evaluator &evaluator, SvdOp op, ArrayRef<NdArray> in, NdArrays &out) {
  return forBatch(evaluator, op, in, out, [](const Matrices &given, Matrices &made) -> std::string {
    const Dense &a = given[0];
    int64_t k = std::min(a.rows, a.columns);
    Dense u(a.rows, k), s(k, 1), v(a.columns, k);
    if (a.rows >= a.columns)
      svdTall(a, u, s, v);
    else
      svdTall(a.transposed(), v, s, u);
    orient(u, &v);
    made = {u, s, v};
    return "";
  });
}

/// Two-sided rotations of Jacobi.
LogicalResult evalEigh(Evaluator &evaluator, EighOp op, ArrayRef<NdArray> in, NdArrays &out) {
  return forBatch(evaluator, op, in, out, [](const Matrices &given, Matrices &made) -> std::string {
    Dense a = given[0].symmetric(), v = identity(a.rows);
    bool turned = true;
    for (int round = 0; turned && round < 60; ++round) {
      turned = false;
      for (int64_t p = 0; p < a.rows; ++p)
        for (int64_t q = p + 1; q < a.rows; ++q) {
          if (std::fabs(a(p, q)) <= 1e-18 * (std::fabs(a(p, p)) + std::fabs(a(q, q))) || a(p, q) == 0)
            continue;
          double theta = (a(q, q) - a(p, p)) / (2 * a(p, q));
          double t = (theta >= 0 ? 1 : -1) / (std::fabs(theta) + std::sqrt(1 + theta * theta));
          rotate(a, p, q, t);
          a = a.transposed();
          rotate(a, p, q, t);
          rotate(v, p, q, t);
          turned = true;
        }
    }
    SmallVector<int64_t> order = range(0, a.rows);
    llvm::sort(order, [&](int64_t i, int64_t j) { return std::pair(a(i, i), i) < std::pair(a(j, j), j); });
    Dense w(a.rows, 1);
    for (auto [j, from] : llvm::enumerate(order))
      w(j, 0) = a(from, from);
    Dense vectors = columnsOf(v, order);
    orient(vectors, nullptr);
    made = {w, vectors};
    return "";
  });
}

/// Eliminates in a and b; the determinant's sign, or the column without a pivot in `singular`.
double eliminate(Dense &a, Dense *b, int64_t &singular) {
  double sign = 1;
  singular = -1;
  for (int64_t j = 0; j < a.rows; ++j) {
    int64_t best = j;
    for (int64_t i = j + 1; i < a.rows; ++i)
      if (std::fabs(a(i, j)) > std::fabs(a(best, j)))
        best = i;
    if (a(best, j) == 0) {
      singular = singular < 0 ? j : singular;
      continue;
    }
    if (best != j)
      sign = -sign;
    for (Dense *side : {&a, b})
      for (int64_t c = 0; side && c < side->columns; ++c)
        std::swap((*side)(j, c), (*side)(best, c));
    for (int64_t i = j + 1; i < a.rows; ++i) {
      double factor = a(i, j) / a(j, j);
      for (Dense *side : {&a, b})
        for (int64_t c = side == &a ? j : 0; side && c < side->columns; ++c)
          (*side)(i, c) -= factor * (*side)(j, c);
    }
  }
  return sign;
}

/// Solves with the upper triangle, in place.
std::string substitute(const Dense &a, Dense &b) {
  for (int64_t i = a.rows; i-- > 0;) {
    if (a(i, i) == 0)
      return "the matrix is singular: pivot " + std::to_string(i) + " is 0";
    for (int64_t c = 0; c < b.columns; ++c) {
      for (int64_t k = i + 1; k < a.rows; ++k)
        b(i, c) -= a(i, k) * b(k, c);
      b(i, c) /= a(i, i);
    }
  }
  return "";
}

LogicalResult evalSolve(Evaluator &evaluator, SolveOp op, ArrayRef<NdArray> in, NdArrays &out) {
  return forBatch(evaluator, op, in, out, [](const Matrices &given, Matrices &made) -> std::string {
    Dense a = given[0], b = given[1];
    int64_t singular;
    eliminate(a, &b, singular);
    if (singular >= 0)
      return "the matrix is singular: pivot " + std::to_string(singular) + " is 0";
    std::string reason = substitute(a, b);
    made.push_back(b);
    return reason;
  });
}

/// The matrix with rows and columns in the other order: a lower triangle becomes an upper one.
Dense turned(const Dense &x, bool columns) {
  Dense result = x;
  for (int64_t i = 0; i < x.rows; ++i)
    for (int64_t j = 0; j < x.columns; ++j)
      result(i, j) = x(x.rows - 1 - i, columns ? x.columns - 1 - j : j);
  return result;
}

LogicalResult evalTriangularSolve(Evaluator &evaluator, TriangularSolveOp op, ArrayRef<NdArray> in, NdArrays &out) {
  bool upper = op.getUpper();
  return forBatch(evaluator, op, in, out, [&](const Matrices &given, Matrices &made) -> std::string {
    for (int64_t i = 0; i < given[0].rows; ++i)
      if (given[0](i, i) == 0)
        return "the matrix is singular: pivot " + std::to_string(i) + " is 0";
    Dense a = upper ? given[0] : turned(given[0], true), b = upper ? given[1] : turned(given[1], false);
    std::string reason = substitute(a, b);
    made.push_back(upper ? b : turned(b, false));
    return reason;
  });
}

LogicalResult evalLogDet(Evaluator &evaluator, LogDetOp op, ArrayRef<NdArray> in, NdArrays &out) {
  return forBatch(evaluator, op, in, out, [](const Matrices &given, Matrices &made) -> std::string {
    Dense a = given[0], sign(1, 1), log(1, 1);
    int64_t singular;
    sign(0, 0) = eliminate(a, nullptr, singular);
    for (int64_t i = 0; i < a.rows; ++i) {
      log(0, 0) += std::log(std::fabs(a(i, i)));
      sign(0, 0) *= a(i, i) < 0 ? -1 : 1;
    }
    if (singular >= 0) {
      sign(0, 0) = 0;
      log(0, 0) = -INFINITY;
    }
    made = {sign, log};
    return "";
  });
}
} // namespace

void nd::addLibrary(EvalTable &table) {
  addEval<ArgSortOp>(table, evalArgSort);
  addEval<CholeskyOp>(table, evalCholesky);
  addEval<QrOp>(table, evalQr);
  addEval<EighOp>(table, evalEigh);
  addEval<SvdOp>(table, evalSvd);
  addEval<SolveOp>(table, evalSolve);
  addEval<TriangularSolveOp>(table, evalTriangularSolve);
  addEval<LogDetOp>(table, evalLogDet);
  addEval<FftOp>(table, evalFft);
}
