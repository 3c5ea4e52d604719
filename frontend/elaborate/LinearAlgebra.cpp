//===- LinearAlgebra.cpp - decompositions and Fourier transforms ----------===//
//
// Thin: each function checks what it is given, in the words of the spec, and
// is an op of nd. What can be composed of these is a function of the standard
// library (stdlib/linalg).
//
//===----------------------------------------------------------------------===//
#include "frontend/elaborate/Args.h"
#include "frontend/elaborate/BuiltinTable.h"

#include "dialects/Nd/NdLibraryOps.h"

using namespace mlir;

namespace dyn::elab {

/// One call of a function of matrices.
class BuiltinTable::MatrixCall {
public:
  MatrixCall(Elaborator &e, const std::string &name, Span span) : e(e), name(name), span(span) {}

  Value decompose(const Value &x);
  Value solve(const Value &a, const Value &b, bool triangular, bool upper);
  Value transform(const Value &x, bool inverse);

private:
  enum class Form { any, square, tall };
  std::optional<Tensor> matrix(const Value &x, Form form);
  std::optional<Tensor> reals(const Value &x);
  Value wrap(mlir::Value value, const Tensor &like) { return Value(Tensor{value, like.number, 0}, span); }
  template <class OpT> Value parts(const Tensor &a, std::initializer_list<const char *> names) {
    auto op = OpT::create(e.builder, e.loc(span), a.value);
    Record record;
    for (auto [field, result] : llvm::zip(names, op->getResults()))
      record.fields.emplace_back(field, wrap(result, a));
    return Value(std::move(record), span);
  }
  Value refuse(const char *wanted, const Value &x) {
    e.diags.report(Diag::recast, span, name, wanted, describe(x));
    return {};
  }

  Elaborator &e;
  const std::string &name;
  Span span;
};

std::optional<Tensor> BuiltinTable::MatrixCall::reals(const Value &x) {
  auto t = e.tensor(x, x.origin.isValid() ? x.origin : span);
  if (!t)
    return std::nullopt;
  if (isa_and_present<ir::LeavesAttr, ir::TreeAttr, ir::PerLeafAttr>(t->type().getEncoding())) {
    e.diags.report(Diag::needs_array, span, name, describeType(t->type()))
        .help("a rule for matrices says so: `on [m, n]`");
    return std::nullopt;
  }
  return e.cast(*t, Elem::Real, t->number, span);
}

std::optional<Tensor> BuiltinTable::MatrixCall::matrix(const Value &x, Form form) {
  auto t = reals(x);
  if (!t)
    return std::nullopt;
  ArrayRef<int64_t> shape = t->type().getShape();
  bool good = shape.size() >= 2;
  int64_t rows = good ? shape[shape.size() - 2] : 0, columns = good ? shape.back() : 0;
  if (!good || (form == Form::square && rows != columns) || (form == Form::tall && rows < columns)) {
    refuse(form == Form::square ? "a square matrix"
           : form == Form::tall ? "a matrix with at least as many rows as columns"
                                : "a matrix",
           x);
    return std::nullopt;
  }
  return t;
}

Value BuiltinTable::MatrixCall::decompose(const Value &x) {
  auto a = matrix(x, name == "svd" ? Form::any : name == "qr" ? Form::tall : Form::square);
  if (!a)
    return {};
  if (name == "cholesky")
    return wrap(nd::CholeskyOp::create(e.builder, e.loc(span), a->value), *a);
  if (name == "qr")
    return parts<nd::QrOp>(*a, {"Q", "R"});
  if (name == "eigh")
    return parts<nd::EighOp>(*a, {"values", "vectors"});
  if (name == "svd")
    return parts<nd::SvdOp>(*a, {"U", "S", "V"});
  return parts<nd::LogDetOp>(*a, {"sign", "log"});
}

Value BuiltinTable::MatrixCall::solve(const Value &left, const Value &right, bool triangular, bool upper) {
  auto a = matrix(left, Form::square), b = a ? reals(right) : std::nullopt;
  if (!b)
    return {};
  ArrayRef<int64_t> rows = a->type().getShape(), given = b->type().getShape();
  // A vector is a column.
  bool isVector = given.size() + 1 == rows.size();
  if (isVector ? given != rows.drop_back() : given.empty() || given.drop_back() != rows.drop_back()) {
    e.diags.report(Diag::shape_mismatch, span, name, describeType(a->type()), describeType(b->type()))
        .help("the right side has a row for each row of the matrix");
    return {};
  }
  bool number = a->number && b->number;
  *a = e.cast(*a, Elem::Real, number, span);
  *b = e.cast(*b, Elem::Real, number, span);
  SmallVector<int64_t> shape(given), column(given);
  if (isVector) {
    column.push_back(1);
    b->value = e.create<nd::ReshapeOp>(span, b->value, ArrayRef<int64_t>(column));
  }
  mlir::Value x = triangular ? e.create<nd::TriangularSolveOp>(span, a->value, b->value, upper)
                             : e.create<nd::SolveOp>(span, a->value, b->value);
  if (isVector)
    x = e.create<nd::ReshapeOp>(span, x, ArrayRef<int64_t>(shape));
  return Value(Tensor{x, number, 0}, span);
}

/// Complex numbers are records of real and imaginary parts. Along the last dimension; the inverse divides by its size.
Value BuiltinTable::MatrixCall::transform(const Value &x, bool inverse) {
  auto *record = x.as<Record>();
  const Value *re = &x, *im = nullptr;
  if (record) {
    auto field = [&](const char *wanted) -> const Value * {
      for (auto &[word, value] : record->fields)
        if (word == wanted)
          return &value;
      return nullptr;
    };
    re = field("re"), im = field("im");
    if (!re || !im || record->fields.size() != 2)
      return refuse("an array, or a record `(re = …, im = …)` of two", x);
  }
  auto real = reals(*re), imaginary = real && im ? reals(*im) : std::optional<Tensor>();
  if (!real || (im && !imaginary))
    return {};
  if (real->type().getRank() == 0)
    return refuse("an array", *re);
  if (imaginary && (real->type().getShape() != imaginary->type().getShape())) {
    e.diags.report(Diag::shape_mismatch, span, name, describeType(real->type()), describeType(imaginary->type()));
    return {};
  }
  bool number = real->number && (!imaginary || imaginary->number);
  *real = e.cast(*real, Elem::Real, number, span);
  if (imaginary)
    *imaginary = e.cast(*imaginary, Elem::Real, number, span);
  SmallVector<int64_t> shape(real->type().getShape()), pair(shape), part(shape), zero(shape.size() + 1, 0),
      one(shape.size() + 1, 1);
  pair.push_back(1);
  part = pair;
  auto paired = [&](mlir::Value value) { return e.create<nd::ReshapeOp>(span, value, ArrayRef<int64_t>(pair)); };
  mlir::Value first = paired(real->value);
  auto plain = RankedTensorType::get(pair, real->type().getElementType());
  mlir::Value second = imaginary ? paired(imaginary->value) : nd::splat(e.builder, e.loc(span), plain, 0);
  auto both = e.create<nd::ConcatOp>(span, ValueRange{first, second}, uint64_t(shape.size()));
  auto y = e.create<nd::FftOp>(span, both, inverse);
  Record result;
  for (int64_t i = 0; i < 2; ++i) {
    zero.back() = i;
    auto half = e.create<nd::SliceOp>(span, y, ArrayRef<int64_t>(zero), ArrayRef<int64_t>(part), ArrayRef<int64_t>(one));
    half = e.create<nd::ReshapeOp>(span, half, ArrayRef<int64_t>(shape));
    Value value(Tensor{half, number, 0}, span);
    if (inverse && shape.back() > 1)
      value = e.binary(ast::BinaryOp::Div, value, e.integer(shape.back(), span), span);
    result.fields.emplace_back(i ? "im" : "re", value);
  }
  return Value(std::move(result), span);
}

Value BuiltinTable::matrix(Elaborator &e, const std::string &name, const Args &args, const std::vector<Value> &values,
                           Frame &frame) {
  MatrixCall call(e, name, args.span);
  if (name == "fft" || name == "ifft")
    return call.transform(values[0], name == "ifft");
  if (name == "solve")
    return call.solve(values[0], values[1], /*triangular=*/false, /*upper=*/false);
  if (name != "triangular_solve")
    return call.decompose(values[0]);
  const ast::Expr *side = args.get("upper");
  Value upper = side ? e.evaluate(*side, frame) : e.boolean(false, args.span);
  auto isUpper = upper.isInvalid() ? std::nullopt : e.knownBool(upper);
  if (!isUpper && !upper.isInvalid())
    e.diags.report(Diag::recast, side->span, name, "`upper=true` or `upper=false`", describe(upper));
  return isUpper ? call.solve(values[0], values[1], /*triangular=*/true, *isUpper) : Value();
}

} // namespace dyn::elab
