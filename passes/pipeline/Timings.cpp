#include "passes/pipeline/Timings.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace dyn {
namespace {

/// Adds the time of each pass to its row. Contexts of this compiler run one thread.
class PassClock : public PassInstrumentation {
public:
  explicit PassClock(std::vector<Timing> &rows) : rows(rows) {}

  void runBeforePass(Pass *pass, Operation *) override {
    if (pass->getArgument().empty()) // the adaptor that hands functions to the passes below it
      return;
    auto [found, isNew] = rowOf.try_emplace(pass, rows.size());
    if (isNew)
      rows.push_back({pass->getArgument().str()});
    watch.lap();
  }
  void runAfterPass(Pass *pass, Operation *) override { note(pass); }
  void runAfterPassFailed(Pass *pass, Operation *) override { note(pass); }

private:
  void note(Pass *pass) {
    if (auto found = rowOf.find(pass); found != rowOf.end())
      rows[found->second].milliseconds += watch.lap();
  }

  std::vector<Timing> &rows;
  llvm::DenseMap<Pass *, size_t> rowOf;
  Stopwatch watch;
};

void describe(const Timing &row, unsigned depth, llvm::raw_ostream &to) {
  std::string name = std::string(2 * depth, ' ') + row.name;
  to << llvm::format("%8.2f ms  ", row.milliseconds);
  if (row.ops >= 0)
    to << llvm::left_justify(name, 32) << llvm::format("%8lld ops", static_cast<long long>(row.ops));
  else
    to << name;
  to << "\n";
  for (const Timing &pass : row.passes)
    describe(pass, depth + 1, to);
}

} // namespace

int64_t countOps(ModuleOp module) {
  int64_t count = 0;
  module->walk([&](Operation *) { ++count; });
  return count;
}

LogicalResult runStage(ModuleOp module, StringRef name, Timings *timings,
                       llvm::function_ref<void(OpPassManager &)> add) {
  PassManager pm(module.getContext());
  add(pm);
  Timing row{name.str()};
  if (timings)
    pm.addInstrumentation(std::make_unique<PassClock>(row.passes));
  Stopwatch watch;
  LogicalResult result = pm.run(module);
  row.milliseconds = watch.lap();
  if (timings) {
    row.ops = countOps(module);
    timings->push_back(std::move(row));
  }
  return result;
}

std::string describe(const Timings &timings) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const Timing &row : timings)
    describe(row, 0, stream);
  return text;
}

} // namespace dyn
