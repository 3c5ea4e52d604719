//===- Units.cpp - a program's code, cut where edits are ------------------===//
#include "passes/pipeline/Units.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/xxhash.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace dyn {
namespace {

/// What a function is called where its name is not known yet.
constexpr const char *nameless = "unit";

/// The functions and data that a function names, in the order in which it does.
std::vector<llvm::GlobalValue *> namedBy(llvm::Function &function) {
  std::vector<llvm::GlobalValue *> found;
  llvm::DenseSet<const llvm::Value *> seen;
  std::vector<llvm::Value *> open;
  auto look = [&](llvm::Value *value) {
    if (llvm::isa<llvm::Constant>(value) && seen.insert(value).second)
      open.push_back(value);
  };
  for (llvm::Instruction &instruction : llvm::instructions(function)) {
    for (llvm::Value *operand : instruction.operands())
      look(operand);
    while (!open.empty()) {
      llvm::Value *value = open.back();
      open.pop_back();
      if (auto *global = llvm::dyn_cast<llvm::GlobalValue>(value))
        found.push_back(global);
      else
        for (llvm::Value *operand : llvm::cast<llvm::User>(value)->operands())
          look(operand);
    }
  }
  return found;
}

class Cutter {
public:
  explicit Cutter(llvm::Module &code) : code(code) {}

  std::vector<CodeUnit> run() {
    std::vector<llvm::Function *> all;
    for (llvm::Function &function : code)
      if (!function.isDeclaration())
        all.push_back(&function);
    for (llvm::Function *function : all)
      cut(*function);
    return std::move(units);
  }

private:
  /// Callees first: their names are part of this one. Nothing that is made here
  /// calls itself.
  void cut(llvm::Function &function) {
    if (!done.insert(&function).second)
      return;
    for (llvm::GlobalValue *global : namedBy(function))
      if (auto *callee = llvm::dyn_cast<llvm::Function>(global); callee && !callee->isDeclaration())
        cut(*callee);
    bool isPrivate = function.hasLocalLinkage();
    std::string bitcode = bitcodeOf(function, isPrivate ? nameless : function.getName());
    if (isPrivate) {
      llvm::XXH128_hash_t hash = llvm::xxh3_128bits(llvm::arrayRefFromStringRef(bitcode));
      std::string name = "unit_" + llvm::utohexstr(hash.high64, /*LowerCase=*/true) + "_" +
                         llvm::utohexstr(hash.low64, /*LowerCase=*/true);
      // Two functions of equal code are one.
      if (llvm::Function *same = code.getFunction(name))
        return function.replaceAllUsesWith(same);
      function.setName(name);
    }
    units.push_back({function.getName().str(), std::move(bitcode)});
  }

  /// The function in a module of its own, with data that it alone has, and
  /// declarations of the rest.
  std::string bitcodeOf(llvm::Function &function, llvm::StringRef name) {
    llvm::Module alone("dyn", code.getContext());
    alone.setDataLayout(code.getDataLayout());
    alone.setTargetTriple(code.getTargetTriple());
    llvm::ValueToValueMapTy map;
    auto *copy = llvm::Function::Create(function.getFunctionType(), llvm::GlobalValue::ExternalLinkage, name, alone);
    for (llvm::GlobalValue *global : namedBy(function))
      map[global] = declare(*global, alone, map);
    auto argument = copy->arg_begin();
    for (llvm::Argument &original : function.args())
      map[&original] = &*argument++;
    llvm::SmallVector<llvm::ReturnInst *> returns;
    llvm::CloneFunctionInto(copy, &function, map, llvm::CloneFunctionChangeType::DifferentModule, returns);
    // Cloning makes a list of debug information, and there is none.
    if (llvm::NamedMDNode *debug = alone.getNamedMetadata("llvm.dbg.cu"))
      alone.eraseNamedMetadata(debug);
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::WriteBitcodeToFile(alone, stream);
    return text;
  }

  static llvm::Constant *declare(llvm::GlobalValue &global, llvm::Module &alone, llvm::ValueToValueMapTy &map) {
    if (auto *function = llvm::dyn_cast<llvm::Function>(&global)) {
      auto *copy = llvm::Function::Create(function->getFunctionType(), llvm::GlobalValue::ExternalLinkage,
                                          function->getName(), alone);
      copy->setAttributes(function->getAttributes());
      return copy;
    }
    // Constants, each with the only function that reads it; a second reader has
    // a copy.
    auto &data = llvm::cast<llvm::GlobalVariable>(global);
    auto *copy = new llvm::GlobalVariable(alone, data.getValueType(), data.isConstant(),
                                          llvm::GlobalValue::PrivateLinkage, nullptr, "data");
    copy->copyAttributesFrom(&data);
    copy->setInitializer(llvm::MapValue(data.getInitializer(), map));
    return copy;
  }

  llvm::Module &code;
  std::vector<CodeUnit> units;
  llvm::DenseSet<llvm::Function *> done;
};

} // namespace

std::vector<CodeUnit> cutIntoUnits(llvm::Module &code) { return Cutter(code).run(); }

std::unique_ptr<llvm::Module> readUnit(const CodeUnit &unit, llvm::LLVMContext &context) {
  std::unique_ptr<llvm::Module> code =
      llvm::cantFail(llvm::parseBitcodeFile(llvm::MemoryBufferRef(unit.bitcode, unit.name), context));
  if (llvm::Function *function = code->getFunction(nameless))
    function->setName(unit.name);
  return code;
}

std::string archiveOf(llvm::ArrayRef<CodeUnit> units, llvm::ArrayRef<std::string> objects) {
  std::vector<llvm::NewArchiveMember> members;
  for (auto [unit, object] : llvm::zip(units, objects))
    members.emplace_back(llvm::MemoryBufferRef(object, unit.name));
  auto archive = llvm::cantFail(llvm::writeArchiveToBuffer(members, llvm::SymtabWritingMode::NoSymtab,
                                                           llvm::object::Archive::K_GNU,
                                                           /*Deterministic=*/true,
                                                           /*Thin=*/false));
  return archive->getBuffer().str();
}

} // namespace dyn
