//===- Arrays.cpp - making, shaping and joining arrays and trees ----------===//
#include "frontend/elaborate/Args.h"
#include "frontend/elaborate/Elaborator.h"
#include "frontend/elaborate/Stacks.h"

using namespace mlir;

namespace dyn::elab {

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
  if (count != t->type().getNumElements() || isa_and_present<ir::LeavesAttr, ir::PerLeafAttr>(ir::rangeOf(t->type().getEncoding()))) {
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
  bool good = static_cast<int64_t>(perm.size()) == t->type().getRank() && !isa_and_present<ir::LeavesAttr, ir::TreeAttr>(ir::rangeOf(t->type().getEncoding()));
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
  Attribute encoding = t ? ir::rangeOf(t->type().getEncoding()) : Attribute();
  Attribute wanted;
  if (auto leaves = dyn_cast_if_present<ir::LeavesAttr>(encoding); leaves && toTree)
    wanted = ir::TreeAttr::get(&context, leaves.getShapes());
  if (auto tree = dyn_cast_if_present<ir::TreeAttr>(encoding); tree && !toTree && !isStackOfTrees(t->type()))
    wanted = ir::LeavesAttr::get(&context, tree.getShapes());
  if (!wanted) {
    diags.report(Diag::recast, span, toTree ? "tree" : "leaf", toTree ? "a leaf-wise value" : "a tree", describe(x));
    return {};
  }
  auto type = ir::withRange(t->type(), wanted);
  return Value(Tensor{create<ir::RecastOp>(span, type, t->value), false, 0}, span);
}

Value Elaborator::flatten(const Value &x, Span span) {
  auto t = tensor(x, span);
  if (!t)
    return {};
  Attribute encoding = ir::rangeOf(t->type().getEncoding());
  if (isa_and_present<ir::TreeAttr>(encoding))
    return Value(Tensor{create<ir::RecastOp>(span, ir::withRange(t->type(), {}), t->value), false, 0}, span);
  if (isa_and_present<ir::LeavesAttr, ir::PerLeafAttr>(encoding)) {
    diags.report(Diag::recast, span, "flatten", "an array or a tree", describe(x)).help("`tree(x)` collects a leaf-wise value");
    return {};
  }
  return reshape(x, {t->type().getNumElements()}, span);
}

std::vector<std::string> Elaborator::pathsOf(ir::TreeAttr tree) const {
  std::vector<std::string> paths;
  for (StringAttr path : tree.getPaths())
    paths.push_back(path.str());
  if (paths.empty())
    for (ParamInfo *leaf : treeLeaves)
      paths.push_back(leaf->path);
  return paths;
}

Value Elaborator::leafOf(const Tensor &tree, const std::string &path, Span span) {
  if (isStackOfTrees(tree.type())) {
    diags.report(Diag::no_member, span, describeType(tree.type()), path).help("take one of them first: `past[0]`");
    return {};
  }
  auto encoding = mlir::cast<ir::TreeAttr>(ir::rangeOf(tree.type().getEncoding()));
  SmallVector<int64_t> offsets = encoding.offsets();
  std::vector<std::string> paths = pathsOf(encoding);
  for (size_t i = 0; i < paths.size() && i < encoding.getShapes().size(); ++i) {
    if (paths[i] != path)
      continue;
    auto plain = create<ir::RecastOp>(span, ir::withRange(tree.type(), {}), tree.value);
    int64_t count = offsets[i + 1] - offsets[i];
    auto flat = create<nd::SliceOp>(span, plain, ArrayRef<int64_t>{offsets[i]}, ArrayRef<int64_t>{count},
                                    ArrayRef<int64_t>{1});
    return Value(Tensor{create<nd::ReshapeOp>(span, flat, encoding.getShapes()[i].asArrayRef()), false, 0}, span);
  }
  auto report = diags.report(Diag::no_leaf, span, path);
  if (std::string near = nearest(path, paths); !near.empty())
    report.help("did you mean `" + near + "`?");
  return {};
}

/// The parameters below a path, all of them for the empty one, in the order of trees.
std::vector<ParamInfo *> Elaborator::leavesBelow(const std::string &path) {
  std::vector<ParamInfo *> all = treeLeaves, below;
  if (all.empty())
    for (auto &info : params)
      all.push_back(info.get());
  llvm::copy_if(all, std::back_inserter(below), [&](ParamInfo *info) {
    return path.empty() || llvm::StringRef(info->path).starts_with(path + ".");
  });
  return below;
}

Value Elaborator::treeOf(const std::string &path, Span span) {
  SmallVector<mlir::Value> flat;
  SmallVector<DenseI64ArrayAttr> shapes;
  for (ParamInfo *info : leavesBelow(path)) {
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

} // namespace dyn::elab
