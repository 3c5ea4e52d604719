#include "dialects/Kernel/KernelOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dyn::kernel;

#include "dialects/Kernel/KernelDialect.cpp.inc"
#include "dialects/Kernel/KernelEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Kernel/KernelAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/Kernel/KernelOps.cpp.inc"

void KernelDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Kernel/KernelAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Kernel/KernelOps.cpp.inc"
      >();
}

LogicalResult FusedOp::verify() {
  Block &body = getBody().front();
  if (body.getArgumentTypes() != getInputs().getTypes())
    return emitOpError("has a body whose arguments are not of the types of its inputs");
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield || yield.getValues().getTypes() != getResultTypes())
    return emitOpError("yields other types than its results");
  ArrayRef<int64_t> domain = getDomain();
  for (Type type : getResultTypes()) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
    bool whole = shape == domain;
    bool row = getForm() == Form::row && !domain.empty() && shape == domain.drop_back();
    bool total = getForm() == Form::total && shape.empty();
    if (!whole && !row && !total)
      return emitOpError("yields ") << type << ", which form " << stringifyForm(getForm()) << " cannot";
  }
  return success();
}

std::optional<dyn::plan::Window> dyn::kernel::windowOf(ProductOp op) {
  if (!op.getWindow())
    return std::nullopt;
  return plan::Window::from(op.getWindow()->data());
}

static int64_t elementsOf(Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); }

static ProductShape shapeOf(ProductOp op, const dyn::plan::Window &window) {
  ProductShape shape;
  shape.n = window.places();
  shape.k = window.elements();
  bool gives = window.role == dyn::plan::WindowRole::spreads;
  shape.batch = elementsOf(gives ? op.getResult() : op.getB()) / window.image();
  Value filters = window.role == dyn::plan::WindowRole::sums ? op.getResult() : op.getA();
  shape.m = elementsOf(filters) / (window.groups * shape.k);
  return shape;
}

ProductShape dyn::kernel::shapeOf(ProductOp op) {
  if (auto window = windowOf(op))
    return ::shapeOf(op, *window);
  ArrayRef<int64_t> a = cast<RankedTensorType>(op.getA().getType()).getShape();
  ArrayRef<int64_t> c = cast<RankedTensorType>(op.getType()).getShape();
  ProductShape shape;
  shape.batch = c.size() == 3 ? c[0] : 1;
  shape.m = c[c.size() - 2];
  shape.n = c[c.size() - 1];
  shape.k = a[a.size() - (op.getTransposeA() ? 2 : 1)];
  return shape;
}

/// Each operand and the result has as many elements as the window's role says.
static LogicalResult verifyWindow(ProductOp op) {
  if (op.getWindow()->size() != dyn::plan::Window::count)
    return op.emitOpError("has a window of ") << op.getWindow()->size() << " numbers";
  dyn::plan::Window window = *windowOf(op);
  if (window.image() < 1 || window.elements() < 1 || window.groups < 1)
    return op.emitOpError("has an empty window");
  ProductShape s = shapeOf(op);
  int64_t filters = window.groups * s.m * s.k, places = s.batch * s.m * s.n, images = s.batch * window.image();
  std::array<int64_t, 3> want = window.role == dyn::plan::WindowRole::reads  ? std::array{filters, images, places}
                                : window.role == dyn::plan::WindowRole::sums ? std::array{places, images, filters}
                                                                             : std::array{filters, places, images};
  if (std::array{elementsOf(op.getA()), elementsOf(op.getB()), elementsOf(op.getResult())} != want)
    return op.emitOpError("multiplies ") << op.getA().getType() << " by " << op.getB().getType() << " into "
                                         << op.getType() << ", which its window does not";
  return success();
}

LogicalResult ProductOp::verify() {
  if (getWindow())
    return verifyWindow(*this);
  auto a = dyn_cast<RankedTensorType>(getA().getType()), b = dyn_cast<RankedTensorType>(getB().getType()),
       c = dyn_cast<RankedTensorType>(getType());
  if (!a || !b || !c || a.getRank() != c.getRank() || b.getRank() != c.getRank() || c.getRank() < 2 || c.getRank() > 3)
    return emitOpError("takes and gives matrices, or stacks of them");
  ProductShape s = shapeOf(*this);
  auto expect = [&](bool transposed, int64_t rows, int64_t columns) {
    SmallVector<int64_t> shape = transposed ? SmallVector<int64_t>{columns, rows} : SmallVector<int64_t>{rows, columns};
    if (c.getRank() == 3)
      shape.insert(shape.begin(), s.batch);
    return shape;
  };
  if (a.getShape() != ArrayRef<int64_t>(expect(getTransposeA(), s.m, s.k)) ||
      b.getShape() != ArrayRef<int64_t>(expect(getTransposeB(), s.k, s.n)))
    return emitOpError("multiplies ") << a << " by " << b << " into " << c;
  return success();
}
