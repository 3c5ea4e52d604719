//===- Kinds.h - reductions over hidden axes as reductions of nd ----------===//
#ifndef DYN_PASSES_EXPAND_KINDS_H
#define DYN_PASSES_EXPAND_KINDS_H

#include "dialects/Dyn/DynOps.h"
#include "dialects/Nd/NdOps.h"

namespace dyn::expand {

/// What combines the elements once the axis is visible; a mean is a sum until it is divided.
inline nd::ReduceKind reductionOf(ir::OverKind kind) {
  switch (kind) {
  case ir::OverKind::max: return nd::ReduceKind::max;
  case ir::OverKind::min: return nd::ReduceKind::min;
  case ir::OverKind::any: return nd::ReduceKind::any;
  case ir::OverKind::all: return nd::ReduceKind::all;
  case ir::OverKind::sum:
  case ir::OverKind::mean:
  case ir::OverKind::count: break;
  }
  return nd::ReduceKind::sum;
}

} // namespace dyn::expand

#endif // DYN_PASSES_EXPAND_KINDS_H
