//===- Jit.cpp - an object file becomes callable code ---------------------===//
#include "runtime/jit/Jit.h"

#include "llvm/BinaryFormat/Magic.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Object/Archive.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"

#include <cmath>
#include <cstring>
#include <mutex>

using namespace llvm;
using namespace llvm::orc;

namespace dyn {
namespace {

struct Symbol {
  const char *name;
  void *address;
};

template <typename F> void *address(F *function) { return reinterpret_cast<void *>(function); }

/// Everything that generated code may call.
std::vector<Symbol> symbolTable() {
  using Unary = double(double);
  using Binary = double(double, double);
  using Ternary = double(double, double, double);
  return {
#define DYN_FUNCTION(NAME, RESULT, PARAMETERS, DOC) {#NAME, address(&NAME)},
#include "runtime/Functions.def"
#undef DYN_FUNCTION
      {"sin", address(static_cast<Unary *>(&std::sin))},
      {"cos", address(static_cast<Unary *>(&std::cos))},
      {"pow", address(static_cast<Binary *>(&std::pow))},
      // What the optimizer makes of powers of a known base, and of sines and cosines of one angle.
      {"exp2", address(static_cast<Unary *>(&std::exp2))},
      {"exp", address(static_cast<Unary *>(&std::exp))},
      {"ldexp", address(static_cast<double (*)(double, int)>(&std::ldexp))},
      {"exp10", address(&::exp10)},
      {"sincos", address(&::sincos)},
      {"fmod", address(static_cast<Binary *>(&std::fmod))},
      {"fmodf", address(&::fmodf)},
      // Instructions that old processors lack.
      {"fma", address(static_cast<Ternary *>(&std::fma))},
      {"fmaf", address(&::fmaf)},
      {"floor", address(static_cast<Unary *>(&std::floor))},
      {"floorf", address(&::floorf)},
      {"ceil", address(static_cast<Unary *>(&std::ceil))},
      {"ceilf", address(&::ceilf)},
      {"roundeven", address(&::roundeven)},
      {"roundevenf", address(&::roundevenf)},
      // The code generator turns loops of stores into these.
      {"memcpy", address(&std::memcpy)},
      {"memset", address(&std::memset)},
      {"memmove", address(&std::memmove)},
  };
}

Error addObjects(LLJIT &jit, StringRef object) {
  if (identify_magic(object) != file_magic::archive)
    return jit.addObjectFile(MemoryBuffer::getMemBufferCopy(object, "dyn"));
  auto archive = object::Archive::create(MemoryBufferRef(object, "dyn"));
  if (!archive)
    return archive.takeError();
  Error error = Error::success();
  for (const object::Archive::Child &child : (*archive)->children(error)) {
    Expected<MemoryBufferRef> member = child.getMemoryBufferRef();
    if (!member)
      return joinErrors(member.takeError(), std::move(error));
    if (Error added =
            jit.addObjectFile(MemoryBuffer::getMemBufferCopy(member->getBuffer(), member->getBufferIdentifier())))
      return joinErrors(std::move(added), std::move(error));
  }
  return error;
}

} // namespace

struct Jit::State {
  std::unique_ptr<LLJIT> jit;
};

Jit::Jit(std::unique_ptr<State> state) : state(std::move(state)) {}
Jit::~Jit() = default;

Expected<std::unique_ptr<Jit>> Jit::load(StringRef object) {
  static std::once_flag once;
  std::call_once(once, [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
  });
  auto jit = LLJITBuilder().setLinkProcessSymbolsByDefault(false).setPlatformSetUp(setUpInactivePlatform).create();
  if (!jit)
    return jit.takeError();
  SymbolMap symbols;
  for (const Symbol &symbol : symbolTable())
    symbols[(*jit)->mangleAndIntern(symbol.name)] = {ExecutorAddr::fromPtr(symbol.address),
                                                     JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  JITDylib &library = (*jit)->getMainJITDylib();
  if (Error error = library.define(absoluteSymbols(std::move(symbols))))
    return std::move(error);
  if (Error error = addObjects(**jit, object))
    return std::move(error);
  return std::unique_ptr<Jit>(new Jit(std::make_unique<State>(State{std::move(*jit)})));
}

Expected<DynEntry> Jit::lookup(StringRef name) {
  Expected<ExecutorAddr> found = state->jit->lookup(name);
  if (!found)
    return found.takeError();
  return found->toPtr<DynEntry>();
}

} // namespace dyn
