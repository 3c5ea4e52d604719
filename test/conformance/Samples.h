//===- Samples.h - random programs for every op of nd ---------------------===//
//
// One module a sample, with a function @f whose arguments are the operands of
// the op under test (and, for ops with regions, what they capture). Shapes
// come from a seed and have sizes 0 and 1 among them. Used by the battery of
// derivatives and batching and by the comparison of compiled code with the
// plain evaluator.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_TEST_CONFORMANCE_SAMPLES_H
#define DYN_TEST_CONFORMANCE_SAMPLES_H

#include "dialects/Nd/NdArray.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dyn::conformance {

/// Values of one argument: floats in [lo, hi], whole numbers in [lo, hi) likewise; booleans are coins.
struct Range {
  double lo = -2, hi = 2;
};

struct Sample {
  std::string op;   ///< "nd.add"
  std::string text; ///< a module with @f, in f64
  std::vector<Range> ranges;
  bool smooth = true; ///< central differences make sense at random points
};

/// All samples of one seed: at least one for each op of the dialect, in the order of the table.
std::vector<Sample> makeSamples(uint64_t seed);

/// The sample in single precision.
std::string inSinglePrecision(const std::string &text);

/// Random arguments for a function.
std::vector<nd::NdArray> makeArguments(mlir::func::FuncOp function, const std::vector<Range> &ranges, uint64_t seed);

} // namespace dyn::conformance

#endif // DYN_TEST_CONFORMANCE_SAMPLES_H
