//===- Manifest.h - what an executable knows of its spec ------------------===//
//
// Beside plan and code, an executable made by `dync build` holds what its
// options need: which hyperparameters are numbers of the plan, where the data
// was, and the claims of the train as formulas.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_RUNTIME_STANDALONE_MANIFEST_H
#define DYN_RUNTIME_STANDALONE_MANIFEST_H

#include <cstdint>
#include <string>
#include <vector>

namespace dyn::standalone {

/// A hyperparameter of the train that is a number.
struct Hyperparameter {
  std::string name;
  double value = 0;
  bool whole = false; ///< an int
  bool fixed = false; ///< shapes, lengths or decisions depend on it: another value is another program
};

/// A hyperparameter that is no number: a bool, a string, a function, a rule.
struct BuiltIn {
  std::string name;
  std::string text; ///< as the spec writes its value
};

/// `expect …`: a formula (runtime/Formula.h) of hyperparameters and of the last values of metrics.
struct Claim {
  std::string text;    ///< as the spec writes it
  std::string formula; ///< empty: it needs more than that, so only `dync run` checks it
};

struct Manifest {
  std::string specFolder; ///< absolute
  std::string cpu;
  std::vector<Hyperparameter> hyperparameters;
  std::vector<BuiltIn> builtIn;
  std::vector<Claim> claims;
};

std::string toJson(const Manifest &manifest);
/// The manifest that toJson wrote.
Manifest manifestFromJson(const std::string &text);

} // namespace dyn::standalone

/// What `dync build` compiles in; the one symbol that its object exports. Texts are JSON.
extern "C" {
struct DynContext;
struct DynProgramEntry {
  const char *name;
  void (*entry)(DynContext *);
};
struct DynProgram {
  const char *plan, *manifest;
  const DynProgramEntry *entries;
  int64_t entryCount;
};
extern const DynProgram dyn_program;
}

#endif // DYN_RUNTIME_STANDALONE_MANIFEST_H
