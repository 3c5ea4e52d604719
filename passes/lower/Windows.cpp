//===- Windows.cpp - sums of overlapping windows --------------------------===//
//
// For each element of the window a box of places is added to a strided box of
// the result. Places that the window read outside are cut off the box, so that
// the inner loop has no condition.
//
//===----------------------------------------------------------------------===//
#include "dialects/Nd/NdWindow.h"
#include "passes/lower/Abi.h"
#include "passes/lower/Elements.h"
#include "passes/lower/FunctionLowering.h"

using namespace mlir;

namespace dyn::lower {

/// One unwindow that is being written.
struct FunctionLowering::Unwindow {
  struct Axis {
    int64_t extent, size, places, stride, dilation, low;
  };
  SmallVector<Axis> axes;
  SmallVector<Value> shifts; ///< of the present element: where its place 0 is along each axis
  Type element;
  Value to, from;
};

void FunctionLowering::addPlaces(const Unwindow &unwindow, size_t d, Value target, Value source) {
  const Unwindow::Axis &axis = unwindow.axes[d];
  Value shift = unwindow.shifts[d];
  // Places o with 0 <= stride o + shift < extent: from and below the quotients rounded up.
  auto firstAtLeast = [&](int64_t bound) {
    Value distance = arith::SubIOp::create(b, loc, i64(bound + axis.stride - 1), shift);
    Value positive = arith::MaxSIOp::create(b, loc, distance, i64(0));
    Value place = axis.stride == 1 ? positive : arith::DivUIOp::create(b, loc, positive, i64(axis.stride)).getResult();
    return arith::MinSIOp::create(b, loc, i64(axis.places), place).getResult();
  };
  Value first = firstAtLeast(0), end = firstAtLeast(axis.extent);
  target = add(multiply(target, axis.extent), shift);
  source = multiply(source, axis.places);
  auto addTo = [&](Value to, Value from, int64_t lanes) {
    Value sum = reduceStep(b, loc, nd::ReduceKind::sum, load(unwindow.to, unwindow.element, to, lanes),
                           load(unwindow.from, unwindow.element, from, lanes));
    store(sum, unwindow.to, to);
  };
  bool innermost = d + 1 == unwindow.axes.size();
  if (innermost && axis.stride == 1)
    return overVectors(first, end, unwindow.element, [&](Value place, int64_t lanes) {
      addTo(add(target, place), add(source, place), lanes);
    });
  loop(first, end, 1, [&](Value place) {
    Value to = add(target, multiply(place, axis.stride)), from = add(source, place);
    innermost ? addTo(to, from, 1) : addPlaces(unwindow, d + 1, to, from);
  });
}

void FunctionLowering::addElements(Unwindow &unwindow, size_t d, Value lead, Value source) {
  if (d == unwindow.axes.size())
    return addPlaces(unwindow, 0, lead, source);
  const Unwindow::Axis axis = unwindow.axes[d];
  loop(i64(0), i64(axis.size), 1, [&](Value k) {
    unwindow.shifts.push_back(add(multiply(k, axis.dilation), i64(-axis.low)));
    addElements(unwindow, d + 1, lead, add(multiply(source, axis.size), k));
    unwindow.shifts.pop_back();
  });
}

void FunctionLowering::lowerUnwindow(nd::UnwindowOp op) {
  nd::WindowSpec spec = nd::specOf(op);
  ArrayRef<int64_t> places = nd::shapeOf(op.getInput()).take_back(spec.rank());
  Unwindow unwindow{{}, {}, elementOf(op), pointer(op), pointer(op.getInput())};
  for (int64_t d = 0; d < spec.rank(); ++d)
    unwindow.axes.push_back(
        {op.getShape()[d], spec.sizes[d], places[d], spec.strides[d], spec.dilations[d], spec.low[d]});
  int64_t bytes = nd::typeOf(op).getNumElements() * memory::elementBytes(unwindow.element);
  LLVM::MemsetOp::create(b, loc, unwindow.to, arith::ConstantIntOp::create(b, loc, b.getI8Type(), 0), i64(bytes), false);
  int64_t leads = ShapedType::getNumElements(nd::shapeOf(op).drop_back(spec.rank()));
  loop(i64(0), i64(leads), 1, [&](Value lead) { addElements(unwindow, 0, lead, lead); });
}

} // namespace dyn::lower
