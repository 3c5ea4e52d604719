//===- WindowProducts.cpp - contractions with windows ---------------------===//
//
// The letters of a contraction with a window W of images fall in classes, in
// this order along W: images n, groups g, elements of the window k, places p.
// With filters F of letters g m k, and Y of letters n g m p, there are three
// products (WindowRole): Y = F W, F' = W Y summed over images and places, and
// the images' own derivative, the transpose of the window applied to F Y.
//
//===----------------------------------------------------------------------===//
#include "passes/contract/WindowProducts.h"

#include "dialects/Kernel/KernelOps.h"
#include "dialects/Nd/NdWindow.h"

using namespace mlir;

namespace dyn::contract {
namespace {

/// The value below reshapes.
Value belowReshapes(Value x) {
  while (auto reshape = x.getDefiningOp<nd::ReshapeOp>())
    x = reshape.getInput();
  return x;
}

/// Letters of a contraction by class, each in the order in which they stand along the window.
struct Classes {
  std::string n, g, k, p, m;
};

bool has(StringRef letters, char c) { return letters.contains(c); }

/// Letters along a window, in the order n g k p: `inside` are those of the window's elements, `free` those of its
/// images or places, by whether they come before or after these, `shared` the groups.
std::optional<Classes> classify(StringRef along, llvm::function_ref<bool(char)> inside,
                                llvm::function_ref<bool(char)> free, llvm::function_ref<bool(char)> shared) {
  Classes classes;
  int stage = 0;
  for (char c : along) {
    int is = inside(c) ? 2 : shared(c) ? 1 : !free(c) ? -1 : stage < 1 ? 0 : 3;
    if (is < stage)
      return std::nullopt;
    stage = is;
    (is == 0 ? classes.n : is == 1 ? classes.g : is == 2 ? classes.k : classes.p) += c;
  }
  return classes;
}

/// One of the three products with a window over one or two dimensions.
class WindowProduct {
public:
  WindowProduct(OpBuilder &builder, nd::ContractOp op) : builder(builder), op(op), loc(op.getLoc()) {
    for (auto [letters, x] : {std::pair(op.getLhs(), op.getA()), std::pair(op.getRhs(), op.getB())})
      for (auto [c, size] : llvm::zip(letters, nd::shapeOf(x)))
        sizes[c] = size;
  }

  /// The contraction when `x`, one of its operands, is a window; null where it does not fit.
  Value read(Value x, StringRef along, Value other, StringRef otherLetters);
  Value sum(Value x, StringRef along, Value other, StringRef otherLetters);
  /// `unwindow` of the contraction `op`.
  Value spread(nd::UnwindowOp unwindow);

private:
  int64_t sizeOf(StringRef letters) {
    int64_t size = 1;
    for (char c : letters)
      size *= sizes[c];
    return size;
  }
  Value arranged(Value x, StringRef have, StringRef want) {
    if (have == want)
      return x;
    auto perm = llvm::map_to_vector(want, [&](char c) { return int64_t(have.find(c)); });
    return nd::TransposeOp::create(builder, loc, x, perm);
  }
  Value reshaped(Value x, ArrayRef<int64_t> shape) {
    return nd::shapeOf(x) == shape ? x : Value(nd::ReshapeOp::create(builder, loc, x, shape));
  }
  /// The geometry, if the classes are those of `windowed` over `images`.
  template <class OpT>
  std::optional<plan::Window> geometry(OpT windowOp, RankedTensorType images, RankedTensorType windowed,
                                       const Classes &classes);
  Value product(plan::WindowRole role, plan::Window window, Value a, Value b, ArrayRef<int64_t> shape) {
    window.role = role;
    auto type = RankedTensorType::get(shape, nd::typeOf(op).getElementType());
    auto made = kernel::ProductOp::create(builder, loc, type, a, b, /*transposeA=*/false, /*transposeB=*/false,
                                          builder.getDenseI64ArrayAttr(window.numbers()));
    return made;
  }
  /// `value` of the letters `have`, as the contraction gives it.
  Value finish(Value value, StringRef have) {
    auto shape = llvm::map_to_vector(have, [&](char c) { return sizes[c]; });
    return arranged(reshaped(value, shape), have, op.getOut());
  }

  OpBuilder &builder;
  nd::ContractOp op;
  Location loc;
  std::map<char, int64_t> sizes;
};

template <class OpT>
std::optional<plan::Window> WindowProduct::geometry(OpT windowOp, RankedTensorType images, RankedTensorType windowed,
                                                    const Classes &classes) {
  nd::WindowSpec spec = nd::specOf(windowOp);
  int64_t d = spec.rank(), groups = sizeOf(classes.g), elements = sizeOf(classes.k);
  ArrayRef<int64_t> extents = images.getShape().take_back(d), places = windowed.getShape().take_back(d);
  int64_t inWindow = ShapedType::getNumElements(spec.sizes);
  if (d > 2 || elements % inWindow || sizeOf(classes.p) != ShapedType::getNumElements(places) ||
      images.getNumElements() == 0 || sizeOf(classes.m) == 0)
    return std::nullopt;
  plan::Window window;
  window.groups = groups;
  window.channels = elements / inWindow;
  // One dimension is the columns of an image of one row.
  for (int64_t i = 0; i < d; ++i)
    window.axes[2 - d + i] = {extents[i],        extents[i] + spec.low[i] + spec.high[i], spec.sizes[i], spec.strides[i],
                              spec.dilations[i], spec.low[i],                             places[i]};
  int64_t lead = ShapedType::getNumElements(images.getShape().drop_back(d));
  if (sizeOf(classes.n) * groups * window.channels != lead)
    return std::nullopt;
  return window;
}

Value WindowProduct::read(Value x, StringRef along, Value other, StringRef otherLetters) {
  auto window = belowReshapes(x).getDefiningOp<nd::WindowOp>();
  StringRef out = op.getOut();
  auto classes = classify(
      along, [&](char c) { return !has(out, c) && has(otherLetters, c); },
      [&](char c) { return has(out, c) && !has(otherLetters, c); },
      [&](char c) { return has(out, c) && has(otherLetters, c); });
  if (!window || !classes)
    return {};
  for (char c : otherLetters)
    if (!has(along, c))
      classes->m += c;
  if (classes->m.find_first_not_of(out.str()) != std::string::npos || classes->k.empty())
    return {};
  auto geometric = geometry(window, nd::typeOf(window.getInput()), nd::typeOf(window), *classes);
  if (!geometric)
    return {};
  const Classes &c = *classes;
  Value filters = reshaped(arranged(other, otherLetters, c.g + c.m + c.k), {sizeOf(c.g), sizeOf(c.m), sizeOf(c.k)});
  Value y = product(plan::WindowRole::reads, *geometric, filters, window.getInput(),
                    {sizeOf(c.n), sizeOf(c.g + c.m), sizeOf(c.p)});
  return finish(y, c.n + c.g + c.m + c.p);
}

Value WindowProduct::sum(Value x, StringRef along, Value other, StringRef otherLetters) {
  auto window = belowReshapes(x).getDefiningOp<nd::WindowOp>();
  StringRef out = op.getOut();
  auto classes = classify(
      along, [&](char c) { return has(out, c) && !has(otherLetters, c); },
      [&](char c) { return !has(out, c) && has(otherLetters, c); },
      [&](char c) { return has(out, c) && has(otherLetters, c); });
  if (!window || !classes || classes->k.empty() || classes->p.empty())
    return {};
  for (char c : otherLetters)
    if (!has(along, c))
      classes->m += c;
  if (classes->m.find_first_not_of(out.str()) != std::string::npos)
    return {};
  auto geometric = geometry(window, nd::typeOf(window.getInput()), nd::typeOf(window), *classes);
  if (!geometric)
    return {};
  const Classes &c = *classes;
  Value y = reshaped(arranged(other, otherLetters, c.n + c.g + c.m + c.p),
                     {sizeOf(c.n), sizeOf(c.g + c.m), sizeOf(c.p)});
  Value sums = product(plan::WindowRole::sums, *geometric, y, window.getInput(),
                       {sizeOf(c.g), sizeOf(c.k), sizeOf(c.m)});
  return finish(sums, c.g + c.k + c.m);
}

Value WindowProduct::spread(nd::UnwindowOp unwindow) {
  Value y, filters;
  StringRef yLetters, filterLetters, out = op.getOut();
  // Y has the places: the last letter of the result.
  bool yFirst = !out.empty() && has(op.getLhs(), out.back());
  std::tie(y, yLetters) = yFirst ? std::pair(op.getA(), op.getLhs()) : std::pair(op.getB(), op.getRhs());
  std::tie(filters, filterLetters) = yFirst ? std::pair(op.getB(), op.getRhs()) : std::pair(op.getA(), op.getLhs());
  auto classes = classify(
      out, [&](char c) { return !has(yLetters, c); }, [&](char c) { return !has(filterLetters, c); },
      [&](char c) { return has(yLetters, c) && has(filterLetters, c); });
  if (!classes || classes->k.empty() || classes->p.empty())
    return {};
  for (char c : filterLetters)
    if (!has(out, c))
      classes->m += c;
  if (classes->m.find_first_not_of(yLetters.str()) != std::string::npos ||
      yLetters.size() + filterLetters.size() != 2 * (classes->m.size() + classes->g.size()) + classes->n.size() +
                                                    classes->k.size() + classes->p.size())
    return {};
  auto geometric = geometry(unwindow, nd::typeOf(unwindow), nd::typeOf(unwindow.getInput()), *classes);
  if (!geometric)
    return {};
  const Classes &c = *classes;
  Value f = reshaped(arranged(filters, filterLetters, c.g + c.m + c.k), {sizeOf(c.g), sizeOf(c.m), sizeOf(c.k)});
  Value g = reshaped(arranged(y, yLetters, c.n + c.g + c.m + c.p), {sizeOf(c.n), sizeOf(c.g + c.m), sizeOf(c.p)});
  return product(plan::WindowRole::spreads, *geometric, f, g, nd::shapeOf(unwindow));
}

struct ContractWithWindow : OpRewritePattern<nd::ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nd::ContractOp op, PatternRewriter &rewriter) const override {
    WindowProduct make(rewriter, op);
    for (auto [x, along, other, letters] : {std::tuple(op.getA(), op.getLhs(), op.getB(), op.getRhs()),
                                            std::tuple(op.getB(), op.getRhs(), op.getA(), op.getLhs())}) {
      Value made = make.read(x, along, other, letters);
      if (!made)
        made = make.sum(x, along, other, letters);
      if (!made)
        continue;
      rewriter.replaceOp(op, made);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no operand is a window whose places fit");
  }
};

/// unwindow(F Y): the derivative of a convolution by its images.
struct UnwindowOfContract : OpRewritePattern<nd::UnwindowOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nd::UnwindowOp op, PatternRewriter &rewriter) const override {
    auto contract = belowReshapes(op.getInput()).getDefiningOp<nd::ContractOp>();
    if (!contract || !contract->hasOneUse())
      return rewriter.notifyMatchFailure(op, "not of a contraction of its own");
    Value made = WindowProduct(rewriter, contract).spread(op);
    if (!made)
      return rewriter.notifyMatchFailure(op, "the letters are not those of a window");
    rewriter.replaceOp(op, made);
    return success();
  }
};

/// f(reshape(y), constants) = reshape(f(y, constants)) for y made from a product with a window: y's rows are then still
/// in cache.
struct SinkReshape : RewritePattern {
  explicit SinkReshape(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  static bool followsWindow(Value x) {
    Operation *op = x.getDefiningOp();
    auto product = dyn_cast_or_null<kernel::ProductOp>(op);
    if (product)
      return product.getWindow().has_value();
    return op && op->hasTrait<Elementwise>() && llvm::any_of(op->getOperands(), followsWindow);
  }

  /// `operand`, a reshape of `shape`, in that shape; null if that needs a copy. Without a builder nothing is made, and the
  /// result only says whether it could be.
  static Value inShape(Value operand, ArrayRef<int64_t> shape, OpBuilder *builder) {
    auto reshape = operand.getDefiningOp<nd::ReshapeOp>();
    if (reshape && nd::shapeOf(reshape.getInput()) == shape)
      return reshape.getInput();
    DenseElementsAttr splat;
    if (matchPattern(operand, m_Constant(&splat)) && splat.isSplat()) {
      auto type = RankedTensorType::get(shape, nd::typeOf(operand).getElementType());
      if (!builder)
        return operand;
      return nd::ConstantOp::create(*builder, operand.getLoc(), splat.resizeSplat(type));
    }
    // The same for all images: along new leading dimensions.
    auto broadcast = operand.getDefiningOp<nd::BroadcastOp>();
    if (!broadcast)
      return {};
    int64_t rank = nd::typeOf(operand).getRank(), lead = rank - int64_t(broadcast.getDims().size());
    auto one = broadcast.getInput().getDefiningOp<nd::ReshapeOp>();
    if (!one || broadcast.getDims() != ArrayRef<int64_t>(nd::range(lead, rank)) || lead > int64_t(shape.size()) ||
        nd::shapeOf(one.getInput()) != shape.drop_front(lead) ||
        nd::shapeOf(operand).take_front(lead) != shape.take_front(lead))
      return {};
    if (!builder)
      return operand;
    return nd::BroadcastOp::create(*builder, operand.getLoc(), one.getInput(), shape,
                                   nd::range(lead, int64_t(shape.size())));
  }

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!op->hasTrait<Elementwise>())
      return failure();
    Value below;
    for (Value operand : op->getOperands())
      if (auto reshape = operand.getDefiningOp<nd::ReshapeOp>(); reshape && !below && followsWindow(reshape.getInput()))
        below = reshape.getInput();
    if (!below)
      return failure();
    for (Value operand : op->getOperands())
      if (!inShape(operand, nd::shapeOf(below), nullptr))
        return failure();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(inShape(operand, nd::shapeOf(below), &rewriter));
    Type type = nd::typeOf(op->getResult(0)).clone(nd::shapeOf(below));
    OperationState state(op->getLoc(), op->getName(), operands, type, op->getAttrs());
    Operation *made = rewriter.create(state);
    rewriter.replaceOpWithNewOp<nd::ReshapeOp>(op, made->getResult(0), nd::shapeOf(op->getResult(0)));
    return success();
  }
};

} // namespace

void populateWindowProducts(RewritePatternSet &patterns) {
  patterns.add<ContractWithWindow, UnwindowOfContract, SinkReshape>(patterns.getContext());
}

} // namespace dyn::contract
