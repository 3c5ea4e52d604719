//===- Builtins.cpp - the functions of the language -----------------------===//
//
// Builtins.def says which there are and what they take; CheckNames has refused
// calls that do not fit. Here each name finds what it builds.
//
//===----------------------------------------------------------------------===//
#include "frontend/elaborate/Args.h"
#include "frontend/elaborate/Elaborator.h"
#include "frontend/elaborate/RunResult.h"

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
  const UnaryRow *row = llvm::find_if(unaryRows, [&](const UnaryRow &r) { return name == r.name; });
  if (auto *c = x.as<Const>()) {
    Const folded = *c;
    folded.number = row->fold(c->number);
    if (!row->keepsInt)
      folded.elem = Elem::Real;
    folded.operand |= !row->keepsInt;
    folded.name = name + "(" + c->name + ")";
    return Value(folded, span);
  }
  auto t = tensor(x, span, ("the argument of `" + name + "`").c_str());
  if (!t)
    return {};
  Elem elem = elemOf(t->type().getElementType());
  if (elem == Elem::Bool || (!row->keepsInt && elem == Elem::Int))
    *t = cast(*t, row->keepsInt ? Elem::Int : Elem::Real, t->number, span);
  return Value(Tensor{row->make(builder, loc(span), t->value), t->number, row->keepsInt ? t->classes : 0}, span);
}

Value Elaborator::select(const Value &condition, const Value &a, const Value &b, Span span) {
  if (auto known = knownBool(condition))
    return *known ? a : b;
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
  if (auto tree = dyn_cast_if_present<ir::TreeAttr>(x->type().getEncoding());
      tree && isa_and_present<ir::PerLeafAttr>(c->type().getEncoding())) {
    auto leaves = ir::LeavesAttr::get(&context, tree.getShapes());
    auto leafwise = [&](const Tensor &t) {
      return Value(Tensor{create<ir::RecastOp>(span, ir::withEncoding(t.type(), leaves), t.value), t.number, 0}, span);
    };
    return recast(select(condition, leafwise(*x), leafwise(*y), span), true, span);
  }
  if (c->type().getRank() == 0 && x->type().getRank() != 0)
    *c = broadcastScalar(*c, x->type(), span);
  else if (isa_and_present<ir::PerLeafAttr>(c->type().getEncoding()) &&
           isa_and_present<ir::LeavesAttr>(x->type().getEncoding()))
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
  return Value(Tensor{create<nd::SelectOp>(span, c->value, x->value, y->value), number, std::max(x->classes, y->classes)},
               span);
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

Value Elaborator::full(double value, RankedTensorType type, bool number, Span span) {
  Type element = type.getElementType();
  Attribute attr = isa<FloatType>(element) ? Attribute(builder.getFloatAttr(element, value))
                                           : Attribute(builder.getIntegerAttr(element, static_cast<int64_t>(value)));
  return Value(Tensor{create<nd::ConstantOp>(span, type, DenseElementsAttr::get(type, attr)), number, 0}, span);
}

std::optional<SmallVector<int64_t>> Elaborator::shapeArgument(const ast::Expr &expr, Frame &frame) {
  SmallVector<int64_t> shape;
  auto add = [&](const ast::Expr &one) {
    auto size = knownInt(evaluate(one, frame), one.span, "a size");
    if (size && *size < 0)
      diags.report(Diag::negative_size, one.span, *size);
    if (!size || *size < 0)
      return false;
    shape.push_back(*size);
    return true;
  };
  if (auto *array = ast::dynCast<ast::ArrayExpr>(&expr)) {
    for (auto &element : array->elements)
      if (!add(*element))
        return std::nullopt;
  } else if (!add(expr))
    return std::nullopt;
  return fitsMemory(shape, diags, expr.span) ? std::optional(shape) : std::nullopt;
}

Value Elaborator::likeArray(const Value &x, double value, Span span) {
  if (x.as<Const>())
    return Value(Const{value, Elem::Real, false, ""}, span);
  auto t = tensor(x, span);
  if (!t)
    return {};
  auto type = RankedTensorType::get(t->type().getShape(), t->number ? t->type().getElementType() : Type(realType),
                                    t->type().getEncoding());
  return full(value, type, t->number, span);
}

Value Elaborator::iota(int64_t count, Span span) {
  if (!fitsMemory(count, diags, span))
    return {};
  auto type = RankedTensorType::get({count}, builder.getI64Type());
  return Value(Tensor{create<nd::IotaOp>(span, type, uint64_t(0)), false, 0}, span);
}

Value Elaborator::eye(int64_t n, Span span) {
  if (n < 0) {
    diags.report(Diag::negative_size, span, n);
    return {};
  }
  if (!fitsMemory({n, n}, diags, span))
    return {};
  auto type = RankedTensorType::get({n, n}, builder.getI64Type());
  auto rows = create<nd::IotaOp>(span, type, uint64_t(0)), columns = create<nd::IotaOp>(span, type, uint64_t(1));
  auto equal = create<nd::CompareOp>(span, nd::CompareKind::eq, rows, columns);
  return Value(cast(Tensor{equal, false, 0}, Elem::Real, false, span), span);
}

Value Elaborator::onehot(const Value &k, int64_t n, Span span) {
  auto t = tensor(k, span);
  if (!t)
    return {};
  if (elemOf(t->type().getElementType()) != Elem::Int || t->type().getRank() > 1) {
    diags.report(Diag::index_not_int, span, describeType(t->type())).help("`onehot(k, n)` takes a whole number or a list of them");
    return {};
  }
  // What is known to lie outside is refused; `classes` says so of every value at once.
  int64_t greatest = k.as<Const>() ? static_cast<int64_t>(k.as<Const>()->number) : t->classes - 1;
  if (n < 0)
    diags.report(Diag::negative_size, span, n);
  else if (greatest >= n || (k.as<Const>() && greatest < 0))
    diags.report(Diag::index_out_of_range, span, greatest, n).help("`onehot(k, n)` has the places 0 to n - 1");
  SmallVector<int64_t> shape(t->type().getShape());
  shape.push_back(n);
  if (n < 0 || greatest >= n || (k.as<Const>() && greatest < 0) || !fitsMemory(shape, diags, span))
    return {};
  auto like = RankedTensorType::get(shape, builder.getI64Type());
  auto places = create<nd::IotaOp>(span, like, uint64_t(shape.size() - 1));
  SmallVector<int64_t> dims;
  for (size_t i = 0; i + 1 < shape.size(); ++i)
    dims.push_back(i);
  auto wide = create<nd::BroadcastOp>(span, t->value, ArrayRef<int64_t>(shape), ArrayRef<int64_t>(dims));
  auto equal = create<nd::CompareOp>(span, nd::CompareKind::eq, places, wide);
  return Value(cast(Tensor{equal, false, 0}, Elem::Real, false, span), span);
}

Value Elaborator::concat(const std::vector<Value> &items, int64_t axis, Span span) {
  std::vector<Tensor> parts;
  Elem elem = Elem::Bool;
  bool number = !numbersAreOperands;
  for (const Value &item : items) {
    auto t = tensor(item, span, "an argument of `concat`");
    if (!t)
      return {};
    elem = std::max(elem, elemOf(t->type().getElementType()));
    number &= t->number;
    parts.push_back(*t);
  }
  SmallVector<mlir::Value> values;
  for (Tensor &part : parts) {
    if (part.type().getRank() == 0 || axis < 0 || axis >= part.type().getRank() ||
        part.type().getRank() != parts.front().type().getRank()) {
      diags.report(Diag::concat_shapes, span, describeType(parts.front().type()), describeType(part.type()), axis);
      return {};
    }
    for (int64_t d = 0; d < part.type().getRank(); ++d)
      if (d != axis && part.type().getDimSize(d) != parts.front().type().getDimSize(d)) {
        diags.report(Diag::concat_shapes, span, describeType(parts.front().type()), describeType(part.type()), axis);
        return {};
      }
    values.push_back(cast(part, elem, number, span).value);
  }
  return Value(Tensor{create<nd::ConcatOp>(span, ValueRange(values), uint64_t(axis)), number, 0}, span);
}

Value Elaborator::reshape(const Value &x, ArrayRef<int64_t> shape, Span span) {
  auto t = tensor(x, span);
  if (!t)
    return {};
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  if (count != t->type().getNumElements() || isa_and_present<ir::LeavesAttr, ir::PerLeafAttr>(t->type().getEncoding())) {
    diags.report(Diag::reshape_count, span, describeType(t->type()), describeShape(shape));
    return {};
  }
  return Value(Tensor{create<nd::ReshapeOp>(span, t->value, shape), t->number, t->classes}, span);
}

Value Elaborator::transposed(const Value &x, const ast::Expr *order, Span span, Frame &frame) {
  auto t = tensor(x, span);
  if (!t)
    return {};
  SmallVector<int64_t> perm;
  if (order) {
    auto given = shapeArgument(*order, frame);
    if (!given)
      return {};
    perm = *given;
  } else
    for (int64_t d = t->type().getRank(); d-- > 0;)
      perm.push_back(d);
  SmallVector<int64_t> sorted(perm);
  llvm::sort(sorted);
  bool good = static_cast<int64_t>(perm.size()) == t->type().getRank() && !isa_and_present<ir::LeavesAttr, ir::TreeAttr>(t->type().getEncoding());
  for (size_t i = 0; good && i < sorted.size(); ++i)
    good = sorted[i] == static_cast<int64_t>(i);
  if (!good) {
    diags.report(Diag::transpose_order, span, describeType(t->type()));
    return {};
  }
  return Value(Tensor{create<nd::TransposeOp>(span, t->value, ArrayRef<int64_t>(perm)), t->number, t->classes}, span);
}

//===----------------------------------------------------------------------===//
// Trees
//===----------------------------------------------------------------------===//

Value Elaborator::recast(const Value &x, bool toTree, Span span) {
  auto *t = x.as<Tensor>();
  Attribute encoding = t ? t->type().getEncoding() : Attribute();
  Attribute wanted;
  if (auto leaves = dyn_cast_if_present<ir::LeavesAttr>(encoding); leaves && toTree)
    wanted = ir::TreeAttr::get(&context, leaves.getShapes());
  if (auto tree = dyn_cast_if_present<ir::TreeAttr>(encoding); tree && !toTree)
    wanted = ir::LeavesAttr::get(&context, tree.getShapes());
  if (!wanted) {
    diags.report(Diag::recast, span, toTree ? "tree" : "leaf", toTree ? "a leaf-wise value" : "a tree", describe(x));
    return {};
  }
  auto type = ir::withEncoding(t->type(), wanted);
  return Value(Tensor{create<ir::RecastOp>(span, type, t->value), false, 0}, span);
}

Value Elaborator::flatten(const Value &x, Span span) {
  auto t = tensor(x, span);
  if (!t)
    return {};
  Attribute encoding = t->type().getEncoding();
  if (isa_and_present<ir::TreeAttr>(encoding))
    return Value(Tensor{create<ir::RecastOp>(span, ir::withEncoding(t->type(), {}), t->value), false, 0}, span);
  if (isa_and_present<ir::LeavesAttr, ir::PerLeafAttr>(encoding)) {
    diags.report(Diag::recast, span, "flatten", "an array or a tree", describe(x)).help("`tree(x)` collects a leaf-wise value");
    return {};
  }
  return reshape(x, {t->type().getNumElements()}, span);
}

Value Elaborator::leafOf(const Tensor &tree, const std::string &path, Span span) {
  auto encoding = mlir::cast<ir::TreeAttr>(tree.type().getEncoding());
  SmallVector<int64_t> offsets = encoding.offsets();
  std::vector<std::string> paths;
  for (size_t i = 0; i < treeLeaves.size(); ++i) {
    paths.push_back(treeLeaves[i]->path);
    if (treeLeaves[i]->path != path || i >= encoding.getShapes().size())
      continue;
    auto plain = create<ir::RecastOp>(span, ir::withEncoding(tree.type(), {}), tree.value);
    int64_t count = offsets[i + 1] - offsets[i];
    auto flat = create<nd::SliceOp>(span, plain, ArrayRef<int64_t>{offsets[i]}, ArrayRef<int64_t>{count},
                                    ArrayRef<int64_t>{1});
    return Value(Tensor{create<nd::ReshapeOp>(span, flat, ArrayRef<int64_t>(treeLeaves[i]->shape)), false, 0}, span);
  }
  auto report = diags.report(Diag::no_leaf, span, path);
  if (std::string near = nearest(path, paths); !near.empty())
    report.help("did you mean `" + near + "`?");
  return {};
}

Value Elaborator::treeOf(const std::string &path, Span span) {
  SmallVector<mlir::Value> flat;
  SmallVector<DenseI64ArrayAttr> shapes;
  for (auto &info : params) {
    if (!path.empty() && !llvm::StringRef(info->path).starts_with(path + "."))
      continue;
    shapes.push_back(DenseI64ArrayAttr::get(&context, info->shape));
    auto leaf = readParam(*info);
    int64_t count = mlir::cast<RankedTensorType>(leaf.getType()).getNumElements();
    flat.push_back(create<nd::ReshapeOp>(span, leaf, ArrayRef<int64_t>{count}));
  }
  if (flat.empty() && discovering)
    return {};
  if (flat.empty()) {
    diags.report(Diag::no_params, span, path).help("a model has parameters once it has been called");
    return {};
  }
  auto whole = flat.size() == 1 ? flat.front() : create<nd::ConcatOp>(span, ValueRange(flat), uint64_t(0));
  auto type = ir::withEncoding(whole.getType(), ir::TreeAttr::get(&context, shapes));
  return Value(Tensor{create<ir::RecastOp>(span, type, whole), false, 0}, span);
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
  if (llvm::is_contained({"sum", "mean", "prod", "var", "std", "norm", "any", "all", "count", "argmax", "argmin",
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
    if (name == "reshape" || name == "transpose")
      break;
  }
  if (llvm::any_of(unaryRows, [&](const UnaryRow &r) { return name == r.name; }))
    return unaryMath(name, values[0], span);
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
  if (name == "stack")
    return stackValues(values, span);
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
    *v = cast(*v, Elem::Real, false, span);
    auto wide = create<nd::BroadcastOp>(span, v->value, ArrayRef<int64_t>{n, n}, ArrayRef<int64_t>{1});
    return elementwise("mul", eye(n, span), Value(Tensor{wide, false, 0}, span), span);
  }
  if (name == "onehot") {
    auto n = knownInt(values[1], span, "the number of places of `onehot`");
    return n ? onehot(values[0], *n, span) : Value();
  }
  if (name == "size")
    return sizeOf(values[0], args.get("axis"), span, frame);
  if (name == "tree" || name == "leaf")
    return recast(values[0], name == "tree", span);
  if (name == "last" || name == "first" || name == "steps" || name == "first_step" || name == "same" ||
      name == "default")
    return callSeries(name, values, span);
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
  if (!t || t->type().getEncoding() || t->type().getShape() != ArrayRef<int64_t>{total}) {
    diags.report(Diag::recast, span, "unflatten", "a vector of all " + std::to_string(total) + " parameters", describe(x));
    return {};
  }
  auto type = ir::withEncoding(t->type(), ir::TreeAttr::get(&context, shapes));
  return Value(Tensor{create<ir::RecastOp>(span, type, t->value), false, 0}, span);
}

Value Elaborator::sizeOf(const Value &x, const ast::Expr *axis, Span span, Frame &frame) {
  auto t = tensor(x, span);
  if (!t)
    return {};
  if (auto leaves = dyn_cast_if_present<ir::LeavesAttr>(t->type().getEncoding()))
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
