//===- Jit.h - an object file becomes callable code -----------------------===//
#ifndef DYN_RUNTIME_JIT_JIT_H
#define DYN_RUNTIME_JIT_JIT_H

#include "runtime/abi.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace dyn {

/// Owns the memory of one linked program. Its objects may call each other, the rows of
/// Functions.def and libm, nothing else: no symbol of the process is searched.
class Jit {
public:
  /// Copies and links an ELF object made by this build for this machine, or all objects of an archive (`ar`).
  [[nodiscard]] static llvm::Expected<std::unique_ptr<Jit>> load(llvm::StringRef object);
  ~Jit();

  /// The entry point `name`; code stays valid as long as this Jit.
  [[nodiscard]] llvm::Expected<DynEntry> lookup(llvm::StringRef name);

private:
  struct State;
  explicit Jit(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace dyn
#endif // DYN_RUNTIME_JIT_JIT_H
