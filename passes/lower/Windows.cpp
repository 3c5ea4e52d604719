//===- Windows.cpp - sums of overlapping windows --------------------------===//
//
// For each element of the window a box of places is added to a strided box of
// the result. Places that the window read outside are cut off the box, so that
// the inner loop has no condition.
//
// Windows side by side are nothing but moved: the elements of a row of places
// are interleaved in registers.
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

/// Element i of each vector side by side, from i = 0 on; their number is a power of two.
static Value interleaved(OpBuilder &b, Location loc, ArrayRef<Value> vectors) {
  if (vectors.size() == 1)
    return vectors[0];
  SmallVector<Value> halves[2];
  for (auto [i, vector] : llvm::enumerate(vectors))
    halves[i % 2].push_back(vector);
  Value even = interleaved(b, loc, halves[0]), odd = interleaved(b, loc, halves[1]);
  int32_t lanes = int32_t(cast<VectorType>(even.getType()).getNumElements());
  SmallVector<int32_t> order;
  for (int32_t i = 0; i < lanes; ++i)
    order.append({i, lanes + i});
  return LLVM::ShuffleVectorOp::create(b, loc, even, odd, order);
}

/// Whether places lie side by side without padding, and elements of a row can be interleaved.
static bool isTiling(const nd::WindowSpec &spec) {
  auto all = [](ArrayRef<int64_t> list, int64_t value) { return llvm::all_equal(list) && list[0] == value; };
  return spec.sizes == spec.strides && all(spec.dilations, 1) && all(spec.low, 0) &&
         llvm::isPowerOf2_64(spec.sizes.back()) && spec.sizes.back() <= 8;
}

/// One row of places: `size` rows of the operand, `apart` elements from one to the next, become one of the result.
void FunctionLowering::interleaveRow(const Unwindow &unwindow, Value target, Value source, int64_t apart) {
  const Unwindow::Axis &axis = unwindow.axes.back();
  auto piece = [&](Value place, int64_t lanes) {
    SmallVector<Value> vectors;
    for (int64_t k = 0; k < axis.size; ++k) {
      Value one = load(unwindow.from, unwindow.element, add(add(source, i64(k * apart)), place), lanes);
      if (lanes == 1)
        store(one, unwindow.to, add(add(target, multiply(place, axis.size)), i64(k)));
      vectors.push_back(one);
    }
    if (lanes > 1)
      store(interleaved(b, loc, vectors), unwindow.to, add(target, multiply(place, axis.size)));
  };
  int64_t lanes = kernels.getVectorBytes() / memory::elementBytes(unwindow.element), at = axis.places / lanes * lanes;
  loop(i64(0), i64(at), lanes, [&](Value place) { piece(place, lanes); });
  for (; at < axis.places; at += lanes) {
    lanes = llvm::bit_floor(uint64_t(axis.places - at));
    piece(i64(at), lanes);
  }
}

void FunctionLowering::lowerTiling(const Unwindow &unwindow, int64_t leads) {
  ArrayRef<Unwindow::Axis> outer = ArrayRef(unwindow.axes).drop_back();
  int64_t apart = unwindow.axes.back().places;
  for (const Unwindow::Axis &axis : outer)
    apart *= axis.places;
  // Elements and places of the outer axes; the operand has all elements ahead of all places.
  std::function<void(size_t, Value, Value, Value)> rows = [&](size_t d, Value target, Value element, Value place) {
    if (d == outer.size()) {
      Value source = add(multiply(element, unwindow.axes.back().size * apart), multiply(place, unwindow.axes.back().places));
      return interleaveRow(unwindow, multiply(target, unwindow.axes.back().extent), source, apart);
    }
    loop(i64(0), i64(outer[d].places), 1, [&](Value o) {
      loop(i64(0), i64(outer[d].size), 1, [&](Value k) {
        Value here = add(multiply(target, outer[d].extent), add(multiply(o, outer[d].size), k));
        rows(d + 1, here, add(multiply(element, outer[d].size), k), add(multiply(place, outer[d].places), o));
      });
    });
  };
  loop(i64(0), i64(leads), 1, [&](Value lead) { rows(0, lead, lead, i64(0)); });
}

void FunctionLowering::lowerUnwindow(nd::UnwindowOp op) {
  nd::WindowSpec spec = nd::specOf(op);
  ArrayRef<int64_t> places = nd::shapeOf(op.getInput()).take_back(spec.rank());
  Unwindow unwindow{{}, {}, elementOf(op), pointer(op), pointer(op.getInput())};
  for (int64_t d = 0; d < spec.rank(); ++d)
    unwindow.axes.push_back(
        {op.getShape()[d], spec.sizes[d], places[d], spec.strides[d], spec.dilations[d], spec.low[d]});
  int64_t leads = ShapedType::getNumElements(nd::shapeOf(op).drop_back(spec.rank()));
  bool tiling = isTiling(spec);
  bool whole = tiling && llvm::all_of(unwindow.axes, [](auto &axis) { return axis.extent == axis.places * axis.size; });
  int64_t bytes = nd::typeOf(op).getNumElements() * memory::elementBytes(unwindow.element);
  if (!whole)
    LLVM::MemsetOp::create(b, loc, unwindow.to, arith::ConstantIntOp::create(b, loc, b.getI8Type(), 0), i64(bytes), false);
  if (tiling)
    return lowerTiling(unwindow, leads);
  loop(i64(0), i64(leads), 1, [&](Value lead) { addElements(unwindow, 0, lead, lead); });
}

} // namespace dyn::lower
