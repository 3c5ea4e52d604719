//===- Builtins.cpp - the functions of the language -----------------------===//
//
// Builtins.def says which there are and what they take; CheckNames has refused
// calls that do not fit. Here each name finds what it builds.
//
//===----------------------------------------------------------------------===//
#include "frontend/elaborate/Args.h"
#include "frontend/elaborate/BuiltinTable.h"
#include "frontend/elaborate/RunResult.h"
#include "frontend/elaborate/Stacks.h"

#include <cmath>

using namespace mlir;

namespace dyn::elab {

bool isBuiltin(llvm::StringRef name) {
#define BUILTIN(NAME, LEAST, MOST, NAMED, DOC)                                                                         \
  if (name == #NAME)                                                                                                   \
    return true;
#define BUILTIN_CONSTANT(NAME)                                                                                         \
  if (name == #NAME)                                                                                                   \
    return true;
#include "frontend/Builtins.def"
#undef BUILTIN
#undef BUILTIN_CONSTANT
  return false;
}

BuiltinRow builtinRow(llvm::StringRef name) {
  auto words = [](llvm::StringRef text) {
    SmallVector<llvm::StringRef> parts;
    text.split(parts, ' ', -1, false);
    return std::vector<std::string>(parts.begin(), parts.end());
  };
#define BUILTIN(NAME, LEAST, MOST, NAMED, DOC)                                                                         \
  if (name == #NAME)                                                                                                   \
    return {LEAST, MOST, words(NAMED)};
#include "frontend/Builtins.def"
#undef BUILTIN
  return {};
}

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

namespace {
template <class OpT>
mlir::Value make1(OpBuilder &b, Location loc, mlir::Value x) {
  return OpT::create(b, loc, x).getResult();
}
struct UnaryRow {
  const char *name;
  bool keepsInt; ///< also of whole numbers
  mlir::Value (*make)(OpBuilder &, Location, mlir::Value);
  double (*fold)(double);
};
double roundEven(double x) { return std::nearbyint(x); }
double signOf(double x) { return (x > 0) - (x < 0); }
double sigmoidOf(double x) { return 1 / (1 + std::exp(-x)); }
double rsqrtOf(double x) { return 1 / std::sqrt(x); }
const UnaryRow unaryRows[] = {
    {"exp", false, make1<nd::ExpOp>, std::exp},       {"expm1", false, make1<nd::Expm1Op>, std::expm1},
    {"log", false, make1<nd::LogOp>, std::log},       {"log1p", false, make1<nd::Log1pOp>, std::log1p},
    {"sqrt", false, make1<nd::SqrtOp>, std::sqrt},    {"rsqrt", false, make1<nd::RsqrtOp>, rsqrtOf},
    {"abs", true, make1<nd::AbsOp>, std::fabs},       {"sign", true, make1<nd::SignOp>, signOf},
    {"sin", false, make1<nd::SinOp>, std::sin},       {"cos", false, make1<nd::CosOp>, std::cos},
    {"tanh", false, make1<nd::TanhOp>, std::tanh},    {"sigmoid", false, make1<nd::SigmoidOp>, sigmoidOf},
    {"erf", false, make1<nd::ErfOp>, std::erf},       {"floor", false, make1<nd::FloorOp>, std::floor},
    {"ceil", false, make1<nd::CeilOp>, std::ceil},    {"round", false, make1<nd::RoundOp>, roundEven},
    {"stop_gradient", true, make1<nd::StopGradientOp>, [](double x) { return x; }},
};
} // namespace

Value Elaborator::unaryMath(const std::string &name, const Value &x, Span span) {
  if (meetsByName(x))
    return overNames(x, span, name, [&](ArrayRef<Value> one) { return unaryMath(name, one[0], span); });
  const UnaryRow *row = llvm::find_if(unaryRows, [&](const UnaryRow &r) { return name == r.name; });
  if (auto *c = x.as<Const>()) {
    Const folded = *c;
    folded.number = row->fold(c->number);
    if (!row->keepsInt)
      folded.elem = Elem::Real;
    folded.operand |= !row->keepsInt;
    folded.name = name + "(" + c->name + ")";
    folded.formula = formulaOf(name, {c});
    return Value(folded, span);
  }
  auto t = tensor(x, span, ("the argument of `" + name + "`").c_str());
  if (!t)
    return {};
  Elem elem = elemOf(t->type().getElementType());
  if (elem == Elem::Bool || (!row->keepsInt && elem == Elem::Int))
    *t = cast(*t, row->keepsInt ? Elem::Int : Elem::Real, t->number, span);
  return Value(Tensor{row->make(builder, loc(span), t->value), t->number, row->keepsInt ? t->classes : 0, t->fresh},
               span);
}

Value Elaborator::select(const Value &condition, const Value &a, const Value &b, Span span) {
  if (auto known = knownBool(condition))
    return *known ? a : b;
  if (meetsByName(condition) || meetsByName(a) || meetsByName(b))
    return overNames({condition, a, b}, span, "where", [&](ArrayRef<Value> all) { return select(all[0], all[1], all[2], span); });
  auto c = tensor(condition, span, "a condition");
  auto x = c ? tensor(a, span) : std::nullopt, y = x ? tensor(b, span) : std::nullopt;
  if (!c || !x || !y)
    return {};
  if (elemOf(c->type().getElementType()) != Elem::Bool) {
    diags.report(Diag::needs_bool, span, "where", describeType(c->type()));
    return {};
  }
  if (!unify(*x, *y, span, "if", a.origin, b.origin))
    return {};
  bool number = c->number && x->number && y->number;
  if (x->number && !number) {
    Elem elem = elemOf(x->type().getElementType());
    *x = cast(*x, elem, false, span);
    *y = cast(*y, elem, false, span);
  }
  // The leaves of a tree may choose each for itself.
  if (auto tree = dyn_cast_if_present<ir::TreeAttr>(ir::rangeOf(x->type().getEncoding()));
      tree && x->type().getRank() == 1 && isa_and_present<ir::PerLeafAttr>(ir::rangeOf(c->type().getEncoding()))) {
    auto leaves = ir::LeavesAttr::get(&context, tree.getShapes());
    auto leafwise = [&](const Tensor &t) {
      return Value(Tensor{create<ir::RecastOp>(span, ir::withRange(t.type(), leaves), t.value), t.number, 0}, span);
    };
    return recast(select(condition, leafwise(*x), leafwise(*y), span), true, span);
  }
  uint64_t fresh = x->fresh;
  stretch(*c, *x, span);
  y->fresh = fresh;
  stretch(*x, *y, span);
  if (c->type().getRank() == 0 && x->type().getRank() != 0)
    *c = broadcastScalar(*c, x->type(), span);
  else if (isa_and_present<ir::PerLeafAttr>(ir::rangeOf(c->type().getEncoding())) &&
           isa_and_present<ir::LeavesAttr>(ir::rangeOf(x->type().getEncoding())))
    *c = spread(*c, x->type(), span);
  else if (c->type().getRank() != 0 && x->type().getRank() == 0) {
    *x = broadcastScalar(*x, c->type(), span);
    *y = broadcastScalar(*y, c->type(), span);
  }
  if (c->type().getShape() != x->type().getShape() ||
      mlir::failed(mergeEncodings(c->type().getEncoding(), x->type().getEncoding()))) {
    diags.report(Diag::shape_mismatch, span, "where", describeType(c->type()), describeType(x->type()))
        .help("the condition and both values need one shape");
    return {};
  }
  return Value(Tensor{create<nd::SelectOp>(span, c->value, x->value, y->value), number, std::max(x->classes, y->classes),
                      x->fresh},
               span);
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

Value Elaborator::callBuiltin(const std::string &name, const std::vector<ast::Argument> &arguments, Span span,
                              Frame &frame) {
  if (name.front() == '@')
    return onSocketCall(name.substr(1), arguments, span, frame);
  Args args;
  args.span = span;
  for (auto &arg : arguments)
    if (arg.name)
      args.named[arg.name.text] = arg.value.get();
    else
      args.positional.push_back(arg.value.get());
  auto row = builtinRow(name);
  int64_t most = row.most;
  // A named argument may stand by position too: what is missing is then looked up by name.
  if (static_cast<int64_t>(args.positional.size()) < row.least &&
      args.positional.size() + args.named.size() < static_cast<size_t>(row.least)) {
    diags.report(Diag::too_few_arguments, span, name, std::to_string(row.least) + (row.least == 1 ? " argument" : " arguments"),
                 args.positional.size());
    return {};
  }
  if (most >= 0 && static_cast<int64_t>(args.positional.size()) > most) {
    diags.report(Diag::too_many_arguments, args.positional[most]->span, name,
                 std::to_string(most) + (most == 1 ? " argument" : " arguments"), args.positional.size());
    return {};
  }
  for (auto &[given, expr] : args.named)
    if (!llvm::is_contained(row.named, given)) {
      diags.report(Diag::unknown_argument, expr->span, name, given);
      return {};
    }
  Value result = callWith(name, args, frame);
  for (auto &[given, expr] : args.named)
    if (!result.isInvalid() && !args.read.contains(given)) {
      diags.report(Diag::argument_unread, expr->span, name, given);
      return {};
    }
  return result;
}

Value Elaborator::callWith(const std::string &name, const Args &args, Frame &frame) {
  Span span = args.span;
  if (llvm::is_contained({"sort", "argsort", "top_k", "largest", "quantile"}, name))
    return BuiltinTable::ordering(*this, name, args, frame);
  if (llvm::is_contained({"sum", "mean", "median", "prod", "var", "std", "norm", "any", "all", "count", "argmax", "argmin",
                          "softmax", "log_softmax", "logsumexp", "normalize", "cumsum"},
                         name) ||
      ((name == "min" || name == "max") && args.positional.size() == 1))
    return callReduction(name, args, frame);
  if (name == "normal" || name == "uniform" || name == "bernoulli" || name == "draw")
    return callDraw(name, args, frame);
  std::vector<Value> values;
  // `index(example)` and shapes are no values.
  bool shapeFirst = name == "zeros" || name == "ones" || name == "full" || name == "index";
  for (size_t i = shapeFirst; i < args.positional.size(); ++i) {
    values.push_back(evaluate(*args.positional[i], frame));
    if (values.back().isInvalid())
      return {};
    values.back().origin = args.positional[i]->span;
    if (name == "reshape" || name == "transpose" || name == "windows")
      break;
  }
  if (llvm::any_of(unaryRows, [&](const UnaryRow &r) { return name == r.name; }))
    return unaryMath(name, values[0], span);
  if (llvm::is_contained({"cholesky", "qr", "eigh", "svd", "log_det", "solve", "triangular_solve", "fft", "ifft"}, name))
    return BuiltinTable::matrix(*this, name, args, values, frame);
  if (llvm::is_contained({"lgamma", "digamma", "logaddexp", "tan", "asin", "acos", "atan", "atan2", "erfinv"}, name))
    return BuiltinTable::special(*this, name, values, span);
  return callOther(name, args, values, frame);
}

Value Elaborator::callOther(const std::string &name, const Args &args, const std::vector<Value> &values, Frame &frame) {
  Span span = args.span;
  auto constant = [&](double x) { return Value(Const{x, Elem::Real, false, ""}, span); };
  auto axis = [&]() -> std::optional<int64_t> {
    const ast::Expr *expr = args.get("axis");
    return expr ? knownInt(evaluate(*expr, frame), expr->span, "`axis`") : 0;
  };
  auto shape = [&](size_t at) -> std::optional<SmallVector<int64_t>> {
    const ast::Expr *expr = args.positional.size() > at ? args.positional[at] : args.get("shape");
    return shapeArgument(*expr, frame);
  };
  if (name == "min" || name == "max") {
    auto *a = values[0].as<Const>(), *b = values[1].as<Const>();
    if (a && b) {
      Const folded = *a;
      folded.number = name == "min" ? std::min(a->number, b->number) : std::max(a->number, b->number);
      folded.elem = std::max(a->elem, b->elem);
      folded.operand |= b->operand;
      folded.name = name + "(" + a->name + ", " + b->name + ")";
      folded.formula = formulaOf(name, {a, b});
      return Value(folded, span);
    }
    return elementwise(name, values[0], values[1], span);
  }
  if (name == "clamp") {
    auto part = [&](size_t at, const char *word) {
      return values.size() > at ? values[at] : evaluate(*args.get(word), frame);
    };
    Value low = part(1, "low"), high = part(2, "high");
    return low.isInvalid() || high.isInvalid()
               ? Value()
               : elementwise("min", elementwise("max", values[0], low, span), high, span);
  }
  if (name == "where")
    return select(values[0], values[1], values[2], span);
  // Chosen, not a maximum: slope 0 at 0 (as torch and JAX have it), and nan stays nan.
  if (name == "relu")
    return select(elementwise("le", values[0], constant(0), span), constant(0), values[0], span);
  if (name == "gelu") {
    Value scaled = binary(ast::BinaryOp::Mul, values[0], constant(std::sqrt(0.5)), span);
    Value phi = binary(ast::BinaryOp::Add, constant(1), unaryMath("erf", scaled, span), span);
    return binary(ast::BinaryOp::Mul, binary(ast::BinaryOp::Mul, constant(0.5), values[0], span), phi, span);
  }
  if (name == "softplus") {
    // max(x, 0) + log1p(exp(-|x|)) never overflows.
    Value decay = unaryMath("exp", binary(ast::BinaryOp::Mul, constant(-1), unaryMath("abs", values[0], span), span), span);
    return binary(ast::BinaryOp::Add, elementwise("max", values[0], constant(0), span), unaryMath("log1p", decay, span), span);
  }
  if (name == "log10")
    return binary(ast::BinaryOp::Div, unaryMath("log", values[0], span), constant(std::log(10.0)), span);
  if (name == "int" || name == "real") {
    Elem elem = name == "int" ? Elem::Int : Elem::Real;
    if (auto *c = values[0].as<Const>()) {
      Const typed = *c;
      typed.elem = elem;
      typed.number = name == "int" ? std::trunc(c->number) : c->number;
      return Value(typed, span);
    }
    auto t = tensor(values[0], span);
    return t ? Value(cast(*t, elem, t->number, span), span) : Value();
  }
  if (name == "dot") {
    auto a = tensor(values[0], values[0].origin), b = tensor(values[1], values[1].origin);
    if (!a || !b || !unify(*a, *b, span, "dot", values[0].origin, values[1].origin))
      return {};
    Value product = elementwise("mul", Value(*a, values[0].origin), Value(*b, values[1].origin), span);
    return product.isInvalid() ? Value() : reduce(nd::ReduceKind::sum, product, nullptr, nullptr, span, frame);
  }
  if (name == "zeros" || name == "ones" || name == "full") {
    auto dims = shape(0);
    if (!dims)
      return {};
    auto type = RankedTensorType::get(*dims, realType);
    if (name != "full")
      return full(name == "ones", type, !numbersAreOperands, span);
    Value value = args.positional.size() > 1 ? evaluate(*args.positional[1], frame) : evaluate(*args.get("value"), frame);
    auto t = value.isInvalid() ? std::nullopt : tensor(value, span);
    if (t && t->type().getRank() != 0) {
      diags.report(Diag::recast, span, name, "one number", describeType(t->type()));
      return {};
    }
    return t ? Value(broadcastScalar(cast(*t, Elem::Real, false, span), type, span), span) : Value();
  }
  if (name == "zeros_like" || name == "ones_like")
    return likeArray(values[0], name == "ones_like", span);
  if (name == "eye") {
    auto n = knownInt(values[0], span, "the size of `eye`");
    return n ? eye(*n, span) : Value();
  }
  if (name == "arange")
    return arange(values, span);
  if (name == "linspace") {
    auto n = knownInt(values[2], span, "the count of `linspace`");
    if (!n)
      return {};
    if (*n < 0) {
      diags.report(Diag::cannot_be, span, "the count of `linspace`", *n);
      return {};
    }
    Value step = *n > 1 ? binary(ast::BinaryOp::Div, binary(ast::BinaryOp::Sub, values[1], values[0], span),
                                 integer(*n - 1, span), span)
                        : constant(0);
    return binary(ast::BinaryOp::Add, values[0], binary(ast::BinaryOp::Mul, iota(*n, span), step, span), span);
  }
  if (name == "concat") {
    auto at = axis();
    return at ? concat(values, *at, span) : Value();
  }
  if (name == "stack") {
    // Of one value it makes a hidden axis visible; as an array of that value it would be another number without a word.
    const ast::Expr *over = args.get("over");
    bool isAxis = values.size() == 1 && (over || !axesOf(values.front()).empty());
    return isAxis ? stackAxis(values.front(), over, span, frame) : stackValues(values, span);
  }
  if (name == "reshape") {
    auto dims = shape(1);
    return dims ? reshape(values[0], *dims, span) : Value();
  }
  if (name == "flatten")
    return flatten(values[0], span);
  if (name == "unflatten")
    return unflatten(values[0], span);
  if (name == "transpose")
    return transposed(values[0], args.positional.size() > 1 ? args.positional[1] : nullptr, span, frame);
  if (name == "outer") {
    auto a = tensor(values[0], span), b = tensor(values[1], span);
    if (!a || !b)
      return {};
    if (a->type().getRank() != 1 || b->type().getRank() != 1) {
      diags.report(Diag::matmul_ranks, span, describeType(a->type()), describeType(b->type()));
      return {};
    }
    if (!fitsMemory({a->type().getDimSize(0), b->type().getDimSize(0)}, diags, span))
      return {};
    *a = cast(*a, Elem::Real, false, span);
    *b = cast(*b, Elem::Real, false, span);
    auto attr = [&](const char *text) { return builder.getStringAttr(text); };
    return Value(Tensor{create<nd::ContractOp>(span, a->value, b->value, attr("i"), attr("j"), attr("ij")), false, 0}, span);
  }
  if (name == "diag") {
    auto v = tensor(values[0], span);
    if (!v)
      return {};
    if (v->type().getRank() != 1) {
      diags.report(Diag::matmul_ranks, span, describeType(v->type()), "a vector");
      return {};
    }
    int64_t n = v->type().getDimSize(0);
    if (!fitsMemory({n, n}, diags, span))
      return {};
    *v = cast(*v, Elem::Real, false, span);
    auto wide = create<nd::BroadcastOp>(span, v->value, ArrayRef<int64_t>{n, n}, ArrayRef<int64_t>{1});
    return elementwise("mul", eye(n, span), Value(Tensor{wide, false, 0}, span), span);
  }
  if (name == "windows")
    return windows(values[0], args, frame);
  if (name == "onehot") {
    auto n = knownInt(values[1], span, "the number of places of `onehot`");
    return n ? onehot(values[0], *n, span) : Value();
  }
  if (name == "log_prob" || name == "entropy" || name == "kl")
    return callFact(name, values, span, frame);
  if (name == "size")
    return sizeOf(values[0], args.get("axis"), span, frame);
  if (name == "tree" || name == "leaf")
    return recast(values[0], name == "tree", span);
  if (name == "last" || name == "first" || name == "steps" || name == "first_step" || name == "same" ||
      name == "default")
    return callSeries(name, values, span);
  if (name == "index" && onSocketCall)
    return onSocketCall("index." + print(*args.positional[0]), {}, span, frame);
  if (llvm::is_contained({"grad", "value_and_grad", "vjp", "jvp", "hvp", "hessian", "jacobian"}, name))
    return derivativeOf(name, values[0], args);
  if (name == "pairs") {
    diags.report(Diag::misplaced_expression, span).help("it is an index: `a[pairs(i, j)]`");
    return {};
  }
  diags.report(Diag::builtin_later, span, name);
  return {};
}

Value Elaborator::arange(const std::vector<Value> &values, Span span) {
  std::optional<int64_t> low = 0, high, step = 1;
  high = knownInt(values[values.size() > 1], span, "the end of `arange`");
  if (values.size() > 1)
    low = knownInt(values[0], span, "the start of `arange`");
  if (values.size() > 2)
    step = knownInt(values[2], span, "the step of `arange`");
  if (!low || !high || !step)
    return {};
  if (*step == 0) {
    diags.report(Diag::cannot_be, span, "the step of `arange`", *step);
    return {};
  }
  int64_t count = std::max<int64_t>(0, (*high - *low + *step + (*step > 0 ? -1 : 1)) / *step);
  Value places = iota(count, span);
  if (*step != 1)
    places = elementwise("mul", places, integer(*step, span), span);
  return *low == 0 ? places : elementwise("add", places, integer(*low, span), span);
}

Value Elaborator::unflatten(const Value &x, Span span) {
  auto *t = x.as<Tensor>();
  SmallVector<DenseI64ArrayAttr> shapes;
  int64_t total = 0;
  for (ParamInfo *leaf : treeLeaves) {
    shapes.push_back(DenseI64ArrayAttr::get(&context, leaf->shape));
    int64_t count = 1;
    for (int64_t size : leaf->shape)
      count *= size;
    total += count;
  }
  if (!t || ir::rangeOf(t->type().getEncoding()) || t->type().getShape() != ArrayRef<int64_t>{total}) {
    diags.report(Diag::recast, span, "unflatten", "a vector of all " + std::to_string(total) + " parameters", describe(x));
    return {};
  }
  auto type = ir::withRange(t->type(), ir::TreeAttr::get(&context, shapes));
  return Value(Tensor{create<ir::RecastOp>(span, type, t->value), false, 0}, span);
}

Value Elaborator::sizeOf(const Value &x, const ast::Expr *axis, Span span, Frame &frame) {
  auto t = tensor(x, span);
  if (!t)
    return {};
  if (auto leaves = dyn_cast_if_present<ir::LeavesAttr>(ir::rangeOf(t->type().getEncoding())))
    return reduce(nd::ReduceKind::sum, likeArray(x, 1, span), nullptr, nullptr, span, frame);
  if (!axis)
    return integer(t->type().getNumElements(), span);
  auto at = knownInt(evaluate(*axis, frame), axis->span, "`axis`");
  if (!at || *at < 0 || *at >= t->type().getRank()) {
    if (at)
      diags.report(Diag::axis_out_of_range, axis->span, *at, describeType(t->type()));
    return {};
  }
  return integer(t->type().getDimSize(*at), span);
}

} // namespace dyn::elab
