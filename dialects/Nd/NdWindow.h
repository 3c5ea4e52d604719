//===- NdWindow.h - the ops of sliding windows ----------------------------===//
#ifndef DYN_DIALECTS_ND_NDWINDOW_H
#define DYN_DIALECTS_ND_NDWINDOW_H

#include "dialects/Nd/NdOps.h"

#define GET_OP_CLASSES
#include "dialects/Nd/NdWindow.h.inc"

namespace dyn::nd {

/// How a window moves over the last dimensions of a value: one entry of each list for each of them.
struct WindowSpec {
  llvm::ArrayRef<int64_t> sizes, strides, dilations, low, high;

  int64_t rank() const { return int64_t(sizes.size()); }
  /// Elements from the first to the last that the window reads along dimension d.
  int64_t span(int64_t d) const { return dilations[d] * (sizes[d] - 1) + 1; }
  /// Places of the window along dimension d of `extent` elements; not positive where it does not fit.
  int64_t places(int64_t d, int64_t extent) const {
    int64_t room = extent + low[d] + high[d] - span(d);
    return room < 0 ? 0 : room / strides[d] + 1;
  }
};

template <class OpT>
WindowSpec specOf(OpT op) {
  return {op.getSizes(), op.getStrides(), op.getDilations(), op.getLow(), op.getHigh()};
}

} // namespace dyn::nd

#endif // DYN_DIALECTS_ND_NDWINDOW_H
