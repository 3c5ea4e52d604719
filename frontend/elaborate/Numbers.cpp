//===- Numbers.cpp - constants, casts and how two operands meet -----------===//
#include "frontend/elaborate/Elaborator.h"
#include "frontend/elaborate/Patterns.h"
#include "frontend/elaborate/RunResult.h"
#include "frontend/elaborate/Stacks.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <set>

using namespace mlir;

namespace dyn::elab {

Elaborator::Elaborator(MLIRContext &context, DiagnosticEngine &diags, const Library &library, ScopePtr globals)
    : builder(&context), diags(diags), context(context), library(library), globals(std::move(globals)),
      realType(Float32Type::get(&context)), errorsBefore(diags.errorCount()) {}

Location Elaborator::loc(Span span) {
  const SourceFile *file = diags.sources().file(span);
  if (!file)
    return builder.getUnknownLoc();
  LineColumn at = file->lineColumn(span.begin);
  return FileLineColLoc::get(&context, file->path(), at.line, at.column);
}

Type Elaborator::elementType(Elem elem, bool number) {
  switch (elem) {
  case Elem::Bool:
    return builder.getI1Type();
  case Elem::Int:
    return builder.getI64Type();
  case Elem::Real:
    return number ? Type(builder.getF64Type()) : Type(realType);
  }
  return {};
}

Elem Elaborator::elemOf(Type element) {
  if (element.isInteger(1))
    return Elem::Bool;
  return element.isInteger() ? Elem::Int : Elem::Real;
}

Elem Elaborator::elemOf(const Value &value) {
  if (auto *c = value.as<Const>())
    return c->elem;
  if (auto *t = value.as<Tensor>())
    return elemOf(t->type().getElementType());
  return Elem::Real;
}

/// Which hyperparameters are in a formula, in place of one that is too long.
static std::string namesIn(llvm::StringRef formula) {
  llvm::SmallVector<llvm::StringRef> words;
  formula.split(words, ' ');
  std::set<llvm::StringRef> names;
  llvm::copy_if(words, std::inserter(names, names.end()), [](llvm::StringRef word) { return word.starts_with("$"); });
  return "? " + llvm::join(names, " ");
}

std::string formulaOf(llvm::StringRef op, llvm::ArrayRef<const Const *> operands) {
  if (llvm::all_of(operands, [](const Const *c) { return c->formula.empty(); }))
    return "";
  std::string text = op.str();
  for (const Const *c : operands) {
    llvm::SmallString<32> digits;
    if (c->formula.empty())
      llvm::raw_svector_ostream(digits) << llvm::format("%.17g", c->number);
    text += " " + (c->formula.empty() ? digits.str().str() : c->formula);
  }
  // Of a loop unrolled it would double with each pass.
  return text.size() < 400 ? text : namesIn(text);
}

static Attribute numberAttr(OpBuilder &b, double number, Type element) {
  if (isa<FloatType>(element))
    return b.getFloatAttr(element, number);
  return b.getIntegerAttr(element, static_cast<int64_t>(number));
}

Tensor Elaborator::materialise(const Const &constant, Span span) {
  Type element = elementType(constant.elem, true);
  auto type = RankedTensorType::get({}, element);
  bool operand = numbersAreOperands && constant.operand && constant.elem != Elem::Bool && plan;
  if (!operand && !constant.formula.empty())
    decisions.push_back(constant.formula);
  if (!operand)
    return {create<nd::ConstantOp>(span, type, DenseElementsAttr::get(type, numberAttr(builder, constant.number, element))),
            true, 0};
  if (numberCacheBlock != builder.getInsertionBlock()) {
    numberCache.clear();
    numberCacheBlock = builder.getInsertionBlock();
  }
  // By its bits: decimals would make one number of 1e-8 and 1e-9.
  std::string key = constant.name + "=" + std::to_string(llvm::bit_cast<uint64_t>(constant.number)) +
                    (constant.elem == Elem::Int ? "i" : "r") + constant.formula;
  mlir::Value &cached = numberCache[key];
  if (!cached) {
    int64_t index = static_cast<int64_t>(plan->numbers.size());
    plan->numbers.push_back({constant.name, constant.number, constant.formula});
    auto f64 = RankedTensorType::get({}, builder.getF64Type());
    cached = create<run::NumberOp>(span, f64, builder.getI64IntegerAttr(index), builder.getStringAttr(constant.name));
    if (constant.elem == Elem::Int)
      cached = create<nd::CastOp>(span, cached, builder.getI64Type());
  }
  return {cached, true, 0};
}

Tensor Elaborator::constantOf(const Series &series, Span span) {
  SmallVector<int64_t> shape = series.dims();
  // What runs measure is real, whatever computed it; parameters and arguments keep their type.
  Elem elem = series.isNamed() && series.elem == Elem::Int ? Elem::Real : series.elem;
  auto type = RankedTensorType::get(shape, elem == Elem::Bool ? Type(builder.getI1Type()) : elementType(elem, true));
  DenseElementsAttr attr;
  if (elem == Elem::Bool)
    attr = DenseElementsAttr::get(type, ArrayRef(llvm::map_to_vector(series.values, [](double x) { return x != 0; })));
  else if (type.getElementType().isF64())
    attr = DenseElementsAttr::get(type, ArrayRef(series.values));
  else
    attr = DenseElementsAttr::get(type, ArrayRef(llvm::map_to_vector(series.values, [&](double x) {
                                    return numberAttr(builder, x, type.getElementType());
                                  })));
  Tensor made{create<nd::ConstantOp>(span, type, attr), true, 0};
  if (series.isNamed() || series.tree.empty())
    return made;
  SmallVector<DenseI64ArrayAttr> shapes;
  SmallVector<StringAttr> paths;
  for (const TreeLeaf &leaf : series.tree) {
    shapes.push_back(DenseI64ArrayAttr::get(&context, leaf.shape));
    paths.push_back(builder.getStringAttr(leaf.path));
  }
  auto tree = ir::withEncoding(type, ir::TreeAttr::get(&context, shapes, paths));
  return {create<ir::RecastOp>(span, tree, made.value), false, 0};
}

std::optional<Tensor> Elaborator::tensor(const Value &value, Span span, const char *role) {
  if (auto *t = value.as<Tensor>())
    return *t;
  if (auto *c = value.as<Const>())
    return materialise(*c, span);
  if (auto *series = value.as<std::shared_ptr<Series>>()) {
    if (bareSeriesIsLast)
      if (Value last = lastOf(**series, span); last.as<Const>())
        return materialise(*last.as<Const>(), span);
    return isWhole(**series, span) ? std::optional(constantOf(**series, span)) : std::nullopt;
  }
  if (!value.isInvalid())
    diags.report(Diag::not_a_number, span, role, describe(value));
  return std::nullopt;
}

Tensor Elaborator::cast(Tensor x, Elem elem, bool number, Span span) {
  Type wanted = elementType(elem, number);
  if (x.type().getElementType() == wanted) {
    x.number = number && x.number;
    return x;
  }
  // A constant is cast by making it anew: no op, and no rounding twice.
  if (auto constant = x.value.getDefiningOp<nd::ConstantOp>(); constant && x.type().getRank() == 0) {
    auto dense = mlir::cast<DenseElementsAttr>(constant.getValue());
    double number = elemOf(x.type().getElementType()) == Elem::Real
                        ? (*dense.value_begin<APFloat>()).convertToDouble()
                        : double((*dense.value_begin<APInt>()).getSExtValue());
    auto type = RankedTensorType::get({}, wanted);
    return {create<nd::ConstantOp>(span, type, DenseElementsAttr::get(type, numberAttr(builder, number, wanted))), number != 0 || x.number, 0};
  }
  return {create<nd::CastOp>(span, x.value, wanted), number && x.number, elem == Elem::Int ? x.classes : 0, x.fresh};
}

Tensor Elaborator::wholeOrMarked(Tensor x, Span span) {
  auto whole = create<nd::CompareOp>(span, nd::CompareKind::eq, x.value, create<nd::FloorOp>(span, x.value));
  mlir::Value places = create<nd::CastOp>(span, x.value, builder.getI64Type());
  auto type = mlir::cast<RankedTensorType>(places.getType());
  auto plain = ir::withEncoding(type, {});
  auto mark = builder.getI64IntegerAttr(plan::notWhole);
  mlir::Value marks = create<nd::ConstantOp>(span, plain, DenseElementsAttr::get(plain, Attribute(mark)));
  return {create<nd::SelectOp>(span, whole, places, marks), false, 0};
}

Tensor Elaborator::broadcastScalar(Tensor x, RankedTensorType like, Span span) {
  Tensor wide{create<nd::BroadcastOp>(span, x.value, like.getShape(), ArrayRef<int64_t>{}), x.number, x.classes};
  // Ranges keep their cut; named axes come from both sides when the op meets.
  Attribute encoding = like.getEncoding();
  if (Attribute range = ir::rangeOf(encoding))
    wide.value = create<ir::RecastOp>(span, ir::withRange(wide.type(), range), wide.value);
  return wide;
}

Tensor Elaborator::spread(Tensor perLeaf, RankedTensorType like, Span span) {
  auto type = RankedTensorType::get(like.getShape(), perLeaf.type().getElementType(), perLeaf.type().getEncoding());
  type = ir::withRange(type, ir::rangeOf(like.getEncoding()));
  return {create<ir::LeafSpreadOp>(span, type, perLeaf.value), false, 0};
}

void Elaborator::stretch(Tensor &a, Tensor &b, Span span) {
  if (a.type().getRank() != b.type().getRank() || !(a.fresh | b.fresh))
    return;
  auto shapeBeside = [](const Tensor &x, const Tensor &other) {
    SmallVector<int64_t> shape(x.type().getShape());
    for (size_t d = 0; d < shape.size(); ++d)
      if (x.fresh >> d & 1)
        shape[d] = other.type().getDimSize(d);
    return shape;
  };
  auto widen = [&](Tensor &x, ArrayRef<int64_t> shape) {
    if (x.type().getShape() == shape || !fitsMemory(shape, diags, span))
      return;
    SmallVector<int64_t> kept, dims;
    for (size_t d = 0; d < shape.size(); ++d)
      if (x.type().getDimSize(d) == shape[d]) {
        kept.push_back(shape[d]);
        dims.push_back(d);
      }
    mlir::Value rest = create<nd::ReshapeOp>(span, x.value, ArrayRef<int64_t>(kept));
    x.value = create<nd::BroadcastOp>(span, rest, shape, ArrayRef<int64_t>(dims));
  };
  auto wideA = shapeBeside(a, b), wideB = shapeBeside(b, a);
  widen(a, wideA);
  widen(b, wideB);
  a.fresh = b.fresh = a.fresh & b.fresh;
}

bool Elaborator::unify(Tensor &a, Tensor &b, Span span, const std::string &what, Span aSpan, Span bSpan) {
  Elem elem = std::max(elemOf(a.type().getElementType()), elemOf(b.type().getElementType()));
  // A number stays a number only among numbers; an array of reals takes it in its own precision.
  bool number = a.number && b.number;
  a = cast(a, elem, number, span);
  b = cast(b, elem, number, span);
  if (a.type().getElementType() != b.type().getElementType()) {
    bool aWide = a.type().getElementType().isF64();
    (aWide ? a : b) = cast(aWide ? a : b, elem, false, span);
  }
  Attribute ea = ir::rangeOf(a.type().getEncoding()), eb = ir::rangeOf(b.type().getEncoding());
  if (isa_and_present<ir::PerLeafAttr>(ea) && isa_and_present<ir::LeavesAttr>(eb))
    a = spread(a, b.type(), span);
  else if (isa_and_present<ir::LeavesAttr>(ea) && isa_and_present<ir::PerLeafAttr>(eb))
    b = spread(b, a.type(), span);
  else if (a.type().getRank() == 0 && b.type().getRank() != 0) {
    a = broadcastScalar(a, b.type(), span);
    a.fresh = b.fresh;
  } else if (b.type().getRank() == 0 && a.type().getRank() != 0) {
    b = broadcastScalar(b, a.type(), span);
    b.fresh = a.fresh;
  } else
    stretch(a, b, span);
  ea = a.type().getEncoding();
  eb = b.type().getEncoding();
  if (mlir::failed(mergeEncodings(ea, eb))) {
    diags.report(Diag::tree_meets_leaves, span, what, describeType(a.type()), describeType(b.type()))
        .note(aSpan, "this is " + describeType(a.type()))
        .note(bSpan, "this is " + describeType(b.type()))
        .help("use `param`, `grad` for one leaf at a time, or `params`, `grads` for the whole tree, not both");
    return false;
  }
  if (a.type().getShape() == b.type().getShape())
    return true;
  auto builderRef = diags.report(Diag::shape_mismatch, span, what, describeShape(a.type().getShape()),
                                 describeShape(b.type().getShape()));
  if (aSpan.isValid())
    builderRef.note(aSpan, "this is " + describeShape(a.type().getShape()));
  if (bSpan.isValid())
    builderRef.note(bSpan, "this is " + describeShape(b.type().getShape()));
  builderRef.help("nothing is broadcast silently: make the shapes equal, or reduce one of them to a number");
  return false;
}

std::optional<int64_t> Elaborator::knownInt(const Value &value, Span span, const char *role) {
  if (auto *c = value.as<Const>(); c && !c->formula.empty())
    decisions.push_back(c->formula);
  if (auto *c = value.as<Const>(); c && c->elem == Elem::Int)
    return static_cast<int64_t>(c->number);
  if (auto *c = value.as<Const>(); c && c->elem == Elem::Real && std::floor(c->number) == c->number &&
                                   std::abs(c->number) < 1e15)
    return static_cast<int64_t>(c->number);
  if (!value.isInvalid() && !isSketch(value))
    diags.report(Diag::not_known_int, span, role, describeKnown(value));
  return std::nullopt;
}

std::optional<bool> Elaborator::knownBool(const Value &value) {
  auto *c = value.as<Const>();
  return c && c->elem == Elem::Bool ? std::optional(c->number != 0) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Words for messages
//===----------------------------------------------------------------------===//

const char *describe(NameKind kind) {
  switch (kind) {
  case NameKind::Local: return "local";
  case NameKind::Hyperparameter: return "hyperparameter";
  case NameKind::ShapeName: return "shape name";
  case NameKind::State: return "state";
  case NameKind::Param: return "parameter";
  case NameKind::Socket: return "name of the rule's kind";
  case NameKind::Declaration: return "declaration";
  }
  return "";
}

std::string describeShape(ArrayRef<int64_t> shape) {
  if (shape.empty())
    return "a number";
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

/// Without its named axes.
static std::string describeVisible(RankedTensorType type) {
  Attribute range = ir::rangeOf(type.getEncoding());
  if (isa_and_present<ir::LeavesAttr>(range))
    return "a leaf-wise value";
  if (isStackOfTrees(type))
    return "an array of " + describeShape(type.getShape().drop_back()) + " trees";
  if (isa_and_present<ir::TreeAttr>(range))
    return "a tree";
  if (isa_and_present<ir::PerLeafAttr>(range))
    return "a number for each leaf";
  std::string text;
  if (type.getElementType().isInteger(1))
    text = type.getRank() ? "bool" : "a bool";
  else if (type.getElementType().isInteger())
    text = type.getRank() ? "int" : "a whole number";
  return type.getRank() || text.empty() ? text + describeShape(type.getShape()) : text;
}

std::string describeType(RankedTensorType type) {
  std::string text = describeVisible(type);
  if (auto axes = dyn_cast_if_present<ir::AxesAttr>(type.getEncoding())) {
    text += " for each";
    for (StringAttr axis : axes.getNames())
      text += " `" + axis.getValue().str() + "`";
  }
  return text;
}

std::string describe(const Value &value) {
  struct Visitor {
    std::string operator()(const std::monostate &) { return "an invalid value"; }
    std::string operator()(const Const &c) {
      return c.elem == Elem::Bool ? "a bool" : c.elem == Elem::Int ? "a whole number" : "a number";
    }
    std::string operator()(const Tensor &t) { return describeType(t.type()); }
    std::string operator()(const Record &) { return "a record"; }
    std::string operator()(const Range &) { return "a range"; }
    std::string operator()(const Tuple &) { return "several values"; }
    std::string operator()(const Text &) { return "a string"; }
    std::string operator()(const None &) { return "`none`"; }
    std::string operator()(const Builtin &b) { return "the function `" + b.name + "`"; }
    std::string operator()(const Function &f) { return "the function `" + f.decl->name.text + "`"; }
    std::string operator()(const Closure &) { return "a function"; }
    std::string operator()(const std::shared_ptr<Instance> &i) { return "the model `" + i->decl->name.text + "`"; }
    std::string operator()(const ModelName &m) { return "the model `" + m.decl->name.text + "`"; }
    std::string operator()(const Rule &r) {
      return std::string("the ") + ast::spelling(r.decl->rule) + " `" + r.decl->name.text + "`";
    }
    std::string operator()(const Held &h) {
      return std::string("the held ") + ast::spelling(h.rule->decl->rule) + " `" + h.rule->name + "`";
    }
    std::string operator()(const Data &d) { return "the data `" + d.decl->name.text + "`"; }
    std::string operator()(const TrainName &t) { return "the train `" + t.decl->name.text + "`"; }
    std::string operator()(const Distribution &d) { return "the distribution `" + d.kind + "`"; }
    std::string operator()(const std::shared_ptr<const Derivative> &d) { return "the function that `" + d->name + "` gives"; }
    std::string operator()(const std::shared_ptr<RunResult> &r) { return r->isSweep() ? "the sweep `" + r->name + "`" : "a run"; }
    std::string operator()(const std::shared_ptr<Series> &s) {
      return s->isNamed() ? "the metric `" + s->name + "`" : describeShape(s->shape);
    }
  };
  return std::visit(Visitor{}, value.payload);
}

std::string describeKnown(const Value &value) {
  if (auto *t = value.as<Tensor>(); t && t->type().getRank() == 0)
    return describe(value) + " that the run computes";
  auto *c = value.as<Const>();
  if (!c || c->elem == Elem::Bool)
    return describe(value);
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", c->number);
  return text;
}

std::string describeArguments(size_t count) {
  return count == 0 ? "no arguments" : count == 1 ? "one argument" : std::to_string(count) + " arguments";
}

bool fitsMemory(ArrayRef<int64_t> shape, DiagnosticEngine &diags, Span span) {
  // 4 TB of f32: far above any machine, and far below where sizes in bytes overflow.
  constexpr int64_t most = int64_t(1) << 40;
  int64_t count = 1;
  for (int64_t size : shape)
    if (llvm::MulOverflow(count, size, count) || count > most) {
      std::string text;
      for (int64_t each : shape)
        text += (text.empty() ? "" : " × ") + std::to_string(each);
      diags.report(Diag::too_large, span, text, most);
      return false;
    }
  return true;
}

Elem elemOfType(RankedTensorType type) {
  Type element = type.getElementType();
  return element.isInteger(1) ? Elem::Bool : element.isInteger() ? Elem::Int : Elem::Real;
}

} // namespace dyn::elab
