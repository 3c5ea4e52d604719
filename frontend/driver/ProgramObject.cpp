#include "frontend/driver/ProgramObject.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"

namespace dyn {

std::optional<Target> targetFor(const std::string &cpu, DiagnosticEngine &diags) {
  if (auto processor = TargetOptions::named(cpu))
    return Target::cpu(std::move(*processor));
  diags.report(Diag::build_cpu, Span(), cpu).help("`native` is this machine; `x86-64-v3` runs on most since 2015");
  return std::nullopt;
}

static llvm::Constant *textIn(llvm::Module &code, const std::string &text) {
  auto *bytes = llvm::ConstantDataArray::getString(code.getContext(), text);
  return new llvm::GlobalVariable(code, bytes->getType(), /*isConstant=*/true, llvm::GlobalValue::PrivateLinkage,
                                  bytes);
}

/// Defines `dyn_program` (runtime/standalone/Manifest.h) and hides everything else: names of a spec cannot meet those
/// of the runtime or of libc.
static void addProgram(llvm::Module &code, const plan::Plan &plan, const standalone::Manifest &manifest) {
  for (llvm::Function &function : code)
    if (!function.isDeclaration())
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
  auto *pointer = llvm::PointerType::get(code.getContext(), 0);
  auto *entryType = llvm::StructType::get(code.getContext(), {pointer, pointer});
  std::vector<std::string> names = {plan.entry};
  for (const plan::Source &source : plan.sources)
    names.push_back(source.function);
  std::vector<llvm::Constant *> entries;
  for (const std::string &name : names)
    if (llvm::Function *function = code.getFunction(name))
      entries.push_back(llvm::ConstantStruct::get(entryType, {textIn(code, name), function}));
  auto *list = llvm::ConstantArray::get(llvm::ArrayType::get(entryType, entries.size()), entries);
  auto *table = new llvm::GlobalVariable(code, list->getType(), true, llvm::GlobalValue::PrivateLinkage, list);
  auto *count = llvm::ConstantInt::get(llvm::Type::getInt64Ty(code.getContext()), entries.size());
  auto *program = llvm::ConstantStruct::getAnon(
      {textIn(code, plan::toJson(plan)), textIn(code, standalone::toJson(manifest)), table, count});
  new llvm::GlobalVariable(code, program->getType(), true, llvm::GlobalValue::ExternalLinkage, program, "dyn_program");
}

std::optional<std::string> programObject(mlir::ModuleOp nd, plan::Plan &plan, const standalone::Manifest &manifest,
                                         const Target &target, DiagnosticEngine &diags) {
  PassErrors errors(*nd.getContext(), diags);
  size_t before = diags.errorCount();
  auto finish = [&](llvm::Module &code) { addProgram(code, plan, manifest); };
  auto object = compileToObject(nd, plan, target, {}, nullptr, finish);
  if (mlir::failed(object) || diags.errorCount() != before)
    return std::nullopt;
  return std::move(*object);
}

} // namespace dyn
