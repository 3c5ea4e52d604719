//===- CodeGen.cpp - from the LLVM dialect to an object file --------------===//
//
// Loops arrive as vectors; LLVM cleans up, selects and schedules.
//
//===----------------------------------------------------------------------===//
#include "passes/RunLlvmPasses.h"
#include "passes/pipeline/Pipelines.h"
#include "passes/pipeline/Units.h"

#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

#include <atomic>
#include <mutex>
#include <thread>

using namespace mlir;

namespace dyn {
namespace {

void initializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
}

std::unique_ptr<llvm::TargetMachine> makeMachine(const TargetOptions &target, std::string &why) {
  initializeTargets();
  llvm::Triple triple(target.triple);
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, why);
  if (!found)
    return nullptr;
  llvm::TargetOptions options;
  // Small: constants are then operands of the instructions that use them, and need no register through a loop. What is
  // farther away than 2 GiB, the runtime, is called by way of the linker's table.
  return std::unique_ptr<llvm::TargetMachine>(found->createTargetMachine(triple, target.cpu, target.features, options,
                                                                         llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                                                         llvm::CodeGenOptLevel::Less, /*JIT=*/true));
}

/// What O2 does beyond this (inlining, vectorizing, unrolling, interprocedural work) has nothing to find here: loops
/// arrive as vectors, kernels are called through pointers, and hoisting is mostly done. It took twice the time for the
/// same code speed.
void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  runLlvmPasses(module, machine, [](llvm::PassBuilder &) {
    llvm::FunctionPassManager each;
    each.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
    each.addPass(llvm::InstCombinePass());
    each.addPass(llvm::SimplifyCFGPass());
    llvm::LoopPassManager inLoops;
    inLoops.addPass(llvm::LICMPass(llvm::LICMOptions()));
    each.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(inLoops), /*UseMemorySSA=*/true));
    each.addPass(llvm::GVNPass());
    each.addPass(llvm::InstCombinePass());
    each.addPass(llvm::SimplifyCFGPass());
    llvm::ModulePassManager all;
    all.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(each)));
    return all;
  });
}

/// Machine code of an optimized module; empty where the machine writes none.
std::string writeObject(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile, /*DisableVerify=*/true))
    return "";
  passes.run(module);
  return std::string(object.data(), object.size());
}

/// The module as LLVM IR for a processor, not optimized yet.
FailureOr<std::unique_ptr<llvm::Module>> translate(ModuleOp module, const TargetOptions &target,
                                                   llvm::LLVMContext &context) {
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, context, "dyn");
  if (!code)
    return module.emitError("cannot be written as LLVM IR");
  std::string why;
  std::unique_ptr<llvm::TargetMachine> machine = makeMachine(target, why);
  if (!machine)
    return module.emitError("no code generator for ") << target.triple << ": " << why;
  code->setDataLayout(machine->createDataLayout());
  code->setTargetTriple(llvm::Triple(target.triple));
  for (llvm::Function &function : *code) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("prefer-vector-width", std::to_string(target.vectorBytes * 8));
    function.addFnAttr("target-cpu", target.cpu);
    function.addFnAttr("target-features", target.features);
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
  return code;
}

/// Notes the time of each stage since the last, where someone wants it.
class StageClock {
public:
  explicit StageClock(Timings *timings) : timings(timings) {}
  void note(const char *stage) {
    if (timings)
      timings->push_back({stage, watch.lap()});
  }

private:
  Timings *timings;
  Stopwatch watch;
};

/// What every way to machine code begins with: all passes, then LLVM IR.
FailureOr<std::unique_ptr<llvm::Module>> lowerAndTranslate(ModuleOp module, plan::Plan &plan, const Target &made,
                                                           const StageHook &hook, Timings *timings,
                                                           llvm::LLVMContext &context) {
  if (failed(lowerToLLVM(module, plan, made, hook, timings)))
    return failure();
  StageClock clock(timings);
  FailureOr<std::unique_ptr<llvm::Module>> code = translate(module, made.host, context);
  clock.note("translate");
  return code;
}

/// Machine code of a unit; several threads may do so, each with a machine of its own.
std::string compileUnit(const CodeUnit &unit, llvm::TargetMachine &machine) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = readUnit(unit, context);
  optimize(*code, machine);
  return writeObject(*code, machine);
}

/// Fills the objects of units that the store did not have.
void compileMissing(ArrayRef<CodeUnit> units, MutableArrayRef<std::string> objects, const TargetOptions &target) {
  std::vector<size_t> missing;
  for (size_t i = 0; i < units.size(); ++i)
    if (objects[i].empty())
      missing.push_back(i);
  // The longest first, so that threads end together.
  llvm::sort(missing, [&](size_t x, size_t y) {
    return std::pair(units[y].bitcode.size(), x) < std::pair(units[x].bitcode.size(), y);
  });
  std::atomic<size_t> next{0};
  auto work = [&] {
    std::string why;
    std::unique_ptr<llvm::TargetMachine> machine = makeMachine(target, why);
    for (size_t i = next++; i < missing.size(); i = next++)
      objects[missing[i]] = compileUnit(units[missing[i]], *machine);
  };
  constexpr unsigned mostThreads = 2;
  if (missing.size() > 1 && std::min(mostThreads, std::thread::hardware_concurrency()) > 1) {
    std::thread other(work);
    work();
    other.join();
  } else {
    work();
  }
}

} // namespace

TargetOptions TargetOptions::host() {
  TargetOptions target;
  target.triple = llvm::sys::getProcessTriple();
  target.cpu = llvm::sys::getHostCPUName().str();
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  std::vector<std::string> names;
  for (const auto &feature : features)
    names.push_back((feature.getValue() ? "+" : "-") + feature.getKey().str());
  llvm::sort(names); // a map of strings has no order of its own
  target.features = llvm::join(names, ",");
  if (features.lookup("avx512f") && features.lookup("avx512vl"))
    target.vectorBytes = 64;
  else if (features.lookup("avx2"))
    target.vectorBytes = 32;
  return target;
}

std::optional<TargetOptions> TargetOptions::named(StringRef cpu) {
  if (cpu == "native")
    return host();
  initializeTargets();
  TargetOptions target;
  target.triple = llvm::sys::getProcessTriple();
  std::string why;
  llvm::Triple triple(target.triple);
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, why);
  std::unique_ptr<llvm::MCSubtargetInfo> plain(found ? found->createMCSubtargetInfo(triple, "", "") : nullptr);
  if (!plain || !plain->isCPUStringValid(cpu))
    return std::nullopt;
  target.cpu = cpu.str();
  std::unique_ptr<llvm::MCSubtargetInfo> info(found->createMCSubtargetInfo(triple, cpu, ""));
  if (info->checkFeatures("+avx512f,+avx512vl"))
    target.vectorBytes = 64;
  else if (info->checkFeatures("+avx2"))
    target.vectorBytes = 32;
  return target;
}

std::string TargetOptions::text() const {
  return triple + " " + cpu + " " + features + " " + std::to_string(vectorBytes);
}

FailureOr<std::string> compileToObject(ModuleOp module, plan::Plan &plan, const Target &made, const StageHook &hook,
                                       Timings *timings, const CodeHook &finish) {
  llvm::LLVMContext context;
  FailureOr<std::unique_ptr<llvm::Module>> code = lowerAndTranslate(module, plan, made, hook, timings, context);
  if (failed(code))
    return failure();
  StageClock clock(timings);
  std::string why;
  std::unique_ptr<llvm::TargetMachine> machine = makeMachine(made.host, why);
  if (finish)
    finish(**code);
  optimize(**code, *machine);
  clock.note("llvm optimize");
  std::string object = writeObject(**code, *machine);
  clock.note("llvm codegen");
  if (object.empty())
    return module.emitError("the code generator writes no objects");
  return object;
}

FailureOr<std::string> compileToUnits(ModuleOp module, plan::Plan &plan, const Target &made, const UnitStore &store,
                                      UnitCounts &counts, const StageHook &hook, Timings *timings) {
  llvm::LLVMContext context;
  FailureOr<std::unique_ptr<llvm::Module>> code = lowerAndTranslate(module, plan, made, hook, timings, context);
  if (failed(code))
    return failure();
  StageClock clock(timings);
  std::vector<CodeUnit> units = cutIntoUnits(**code);
  std::vector<std::string> objects(units.size());
  auto contentOf = [&](const CodeUnit &unit) { return made.host.text() + "\n" + unit.name + "\n" + unit.bitcode; };
  for (size_t i = 0; store.find && i < units.size(); ++i)
    objects[i] = store.find(contentOf(units[i])).value_or("");
  auto wasKept = llvm::map_to_vector(objects, [](const std::string &object) { return !object.empty(); });
  clock.note("cut into units");
  compileMissing(units, objects, made.host);
  clock.note("llvm optimize and codegen");
  for (size_t i = 0; i < units.size(); ++i) {
    ++(wasKept[i] ? counts.kept : counts.generated);
    if (objects[i].empty())
      return module.emitError("the code generator writes no objects");
    if (!wasKept[i] && store.keep)
      store.keep(contentOf(units[i]), objects[i]);
  }
  std::string archive = archiveOf(units, objects);
  clock.note("archive");
  return archive;
}

} // namespace dyn
