//===- Units.h - a program's code, cut where edits are --------------------===//
//
// Each function of a module is a unit: a kernel, a product, a stage of the
// step, the loop. It is compiled by itself and keyed by its own IR, so an edit
// of one rule compiles the kernel of that rule and the function that calls it.
//
// The name of a function that only the program calls is the hash of its IR.
// What calls it says that name, so equal IR also means equal callees, and
// units of different programs can stand in one cache.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_PASSES_PIPELINE_UNITS_H
#define DYN_PASSES_PIPELINE_UNITS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/Module.h"

#include <memory>
#include <string>
#include <vector>

namespace dyn {

struct CodeUnit {
  std::string name;    ///< of its function
  std::string bitcode; ///< of its function, before it is optimized; says
                       ///< nothing of where the function was
};

/// The functions of a module, callees first. Functions of internal linkage get
/// their new names in the module as well.
std::vector<CodeUnit> cutIntoUnits(llvm::Module &code);

/// A unit as a module that defines its function, visible to the other units.
std::unique_ptr<llvm::Module> readUnit(const CodeUnit &unit, llvm::LLVMContext &context);

/// Objects of units, in the format of `ar`.
std::string archiveOf(llvm::ArrayRef<CodeUnit> units, llvm::ArrayRef<std::string> objects);

} // namespace dyn

#endif // DYN_PASSES_PIPELINE_UNITS_H
