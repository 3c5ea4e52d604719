//===- Timings.h - what each stage and pass takes -------------------------===//
#ifndef DYN_PASSES_PIPELINE_TIMINGS_H
#define DYN_PASSES_PIPELINE_TIMINGS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/LogicalResult.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace dyn {

/// One stage of a compilation, or one pass of a stage.
struct Timing {
  std::string name;
  double milliseconds = 0;
  int64_t ops = -1;                ///< of the module when the stage ended; -1: not counted
  std::vector<Timing> passes = {}; ///< in the order of their first run; of one that runs on each function, the sum
};

/// Stages, in order.
using Timings = std::vector<Timing>;

/// Milliseconds since it was made, or asked last.
class Stopwatch {
public:
  double lap() {
    auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double, std::milli>(now - std::exchange(last, now)).count();
  }

private:
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
};

/// How many operations a module holds, nested ones too.
int64_t countOps(mlir::ModuleOp module);

/// Runs what `add` adds as one stage; `timings` (null: nobody asks) gets a row with its passes.
[[nodiscard]] mlir::LogicalResult runStage(mlir::ModuleOp module, llvm::StringRef name, Timings *timings,
                                           llvm::function_ref<void(mlir::OpPassManager &)> add);

/// A line for each stage and, indented, for each of its passes.
std::string describe(const Timings &timings);

} // namespace dyn

#endif // DYN_PASSES_PIPELINE_TIMINGS_H
