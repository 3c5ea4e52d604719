//===- ProgramFuzz.cpp - random programs, and mistakes they must find -----===//
//
//   program-fuzz [--seed=N] [--count=C]       C random programs by all oracles
//   program-fuzz --seed=N --index=K           prints program K and runs it alone
//   program-fuzz --faults [--seed=N]          plants each mistake of Faults.cpp and counts programs until it is found
//
// A program that fails is printed as it is and in its least form.
//
//===----------------------------------------------------------------------===//
#include "Faults.h"
#include "Oracles.h"
#include "RandomProgram.h"
#include "Shrink.h"
#include "passes/RegisterAll.h"

#include "llvm/Support/CommandLine.h"

#include <chrono>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

using namespace mlir;
using namespace dyn;
using namespace dyn::fuzz;
namespace cl = llvm::cl;

static cl::opt<uint64_t> seed("seed", cl::desc("which programs"), cl::init(1));
static cl::opt<uint64_t> count("count", cl::desc("how many"), cl::init(200));
static cl::opt<int64_t> only("index", cl::desc("one program alone"), cl::init(-1));
static cl::opt<bool> plantFaults("faults", cl::desc("plant mistakes and find them"));

namespace {

constexpr uint64_t faultLimit = 1000; ///< programs in which each mistake must be found

std::unique_ptr<MLIRContext> makeContext() {
  DialectRegistry registry;
  registerAllDynDialects(registry);
  registerPipelineDialects(registry);
  auto context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

/// The first oracle that a program fails, with what it says.
struct Finding {
  const Oracle *oracle = nullptr;
  std::string why;
};

Finding examine(ModuleOp module, uint64_t inputs, const Toolchain &toolchain) {
  for (const Oracle &oracle : oracles())
    if (std::string why = oracle.check(module, inputs, toolchain); !why.empty())
      return {&oracle, why};
  return {};
}

void report(uint64_t index, ModuleOp module, const Finding &finding, const Toolchain &toolchain) {
  std::printf("program %llu of seed %llu: %s: %s\n", static_cast<unsigned long long>(index),
              static_cast<unsigned long long>(seed), finding.oracle->name, finding.why.c_str());
  // The same oracle, of a program that is sane otherwise.
  auto fails = [&](ModuleOp smaller) {
    const Oracle &sane = oracles().front();
    std::string why = finding.oracle->check(smaller, index, toolchain);
    return finding.oracle == &sane ? why == finding.why
                                   : !why.empty() && sane.check(smaller, index, toolchain).empty();
  };
  OwningOpRef<ModuleOp> least = shrink(module, fails);
  std::string why = finding.oracle->check(*least, index, toolchain);
  std::printf("least form: %s\n", why.c_str());
  std::fflush(stdout);
  least->print(llvm::outs());
  llvm::outs() << "\n";
  llvm::outs().flush();
}

/// The ops of nd that were in no program; none where there were too few programs to tell.
std::vector<std::string> opsNeverMade(MLIRContext &context, const std::set<std::string> &made, uint64_t programs) {
  constexpr uint64_t enough = 200;
  std::vector<std::string> missing;
  for (RegisteredOperationName name : context.getRegisteredOperations())
    if (programs >= enough && name.getDialectNamespace() == "nd" && !made.count(name.getStringRef().str()))
      missing.push_back(name.getStringRef().str());
  return missing;
}

int runPrograms() {
  auto context = makeContext();
  ScopedDiagnosticHandler silence(context.get(), [](mlir::Diagnostic &) { return success(); });
  Toolchain toolchain;
  uint64_t begin = only < 0 ? 0 : uint64_t(only), end = only < 0 ? count : begin + 1, wrong = 0;
  std::set<std::string> made;
  for (uint64_t index = begin; index < end; ++index) {
    auto module = makeRandomProgram(*context, seed, index);
    if (only >= 0) {
      module->print(llvm::outs());
      llvm::outs().flush();
    }
    module->walk([&](Operation *op) { made.insert(op->getName().getStringRef().str()); });
    Finding finding = examine(*module, index, toolchain);
    if (!finding.oracle)
      continue;
    ++wrong;
    report(index, *module, finding, toolchain);
  }
  std::vector<std::string> missing = opsNeverMade(*context, made, end - begin);
  for (const std::string &op : missing)
    std::printf("no program has a `%s`: give it a step in RandomProgram.cpp\n", op.c_str());
  std::printf("%llu programs, %llu wrong\n", static_cast<unsigned long long>(end - begin),
              static_cast<unsigned long long>(wrong));
  return wrong != 0 || !missing.empty();
}

const Oracle &oracleOf(const Fault &fault) {
  return *llvm::find_if(oracles(), [&](const Oracle &oracle) { return StringRef(oracle.name) == fault.oracle; });
}

/// Programs until the fault is found; 0 if it is not.
uint64_t search(const Fault &fault) {
  auto context = makeContext();
  ScopedDiagnosticHandler silence(context.get(), [](mlir::Diagnostic &) { return success(); });
  Toolchain toolchain;
  fault.plant(*context, toolchain);
  for (uint64_t index = 0; index < faultLimit; ++index)
    if (!oracleOf(fault).check(*makeRandomProgram(*context, seed, index), index, toolchain).empty())
      return index + 1;
  return 0;
}

int runFaults() {
  uint64_t missed = 0;
  for (const Fault &fault : faults()) {
    auto start = std::chrono::steady_clock::now();
    uint64_t programs = search(fault);
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    missed += programs == 0;
    std::printf("%-10s  %-60s  ", fault.kind, fault.what);
    if (programs)
      std::printf("found by %s after %llu (%.1f s)\n", fault.oracle, static_cast<unsigned long long>(programs),
                  seconds);
    else
      std::printf("not found in %llu (%.1f s)\n", static_cast<unsigned long long>(faultLimit), seconds);
    std::fflush(stdout);
  }
  std::printf("%zu faults, %llu missed\n", faults().size(), static_cast<unsigned long long>(missed));
  return missed != 0;
}

} // namespace

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "random programs for nd\n");
  return plantFaults ? runFaults() : runPrograms();
}
