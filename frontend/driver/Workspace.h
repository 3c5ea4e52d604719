//===- Workspace.h - an opened spec and what makes programs of it -*- C++ -*-===//
//
// What `run`, `build`, `repl` share: sources and diagnostics, the library, MLIR's context, the object cache, and the
// one way from a train and its arguments to a program.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/Library.h"
#include "frontend/driver/Compile.h"
#include "frontend/elaborate/TrainElaborator.h"

namespace dyn {

/// A train made ready to run.
struct BuiltTrain {
  Program program;                              ///< without an object if it is to be interpreted
  mlir::OwningOpRef<mlir::ModuleOp> nd;         ///< the module at the nd stage
  std::map<std::string, double> hyperparameters; ///< those that are numbers, by name
  std::map<std::string, std::string> schedules;  ///< hyperparameters of rules that follow one: "adamw.lr" to "cosine"
  Timings timings;
};

/// The hyperparameters of a train that are numbers, by name.
std::map<std::string, double> hyperparametersOf(const elab::Elaborated &elaborated);

/// The objects of a workspace: how many came from where, and their bytes together.
struct ObjectCounts {
  int generated = 0, kept = 0;
  UnitCounts units; ///< of those that were generated
  size_t bytes = 0;

  void add(const Program &program) {
    ++(program.fromCache ? kept : generated);
    units.generated += program.units.generated, units.kept += program.units.kept;
    bytes += program.object.size();
  }
};

class Workspace {
public:
  /// `useCache`: keep and reuse objects on disk.
  explicit Workspace(bool useCache);
  ~Workspace();

  /// Parses and checks a file once. Null after a report; later calls return the same program.
  const ast::Program *open(const std::string &file);
  /// Made on first use: a warm start needs none.
  mlir::MLIRContext &mlirContext();
  /// Takes a new context from now on. The old one, which a failure may have left in any state, is never freed.
  void abandonContext() { (void)context.release(); }

  /// Values of `--set`, each `NAME=VALUE`: constants, by name. None after a report.
  std::optional<std::vector<std::pair<std::string, elab::Value>>> overrides(const std::vector<std::string> &sets);

  /// Elaborates a train, and no more. `own` gets its errors: a claim that failed before is none of them.
  std::unique_ptr<elab::Elaborated> elaborateOnly(const elab::TrainRequest &request, DiagnosticEngine &own);
  /// The same over other declarations than those of the opened file.
  std::unique_ptr<elab::Elaborated> elaborateOnly(const elab::TrainRequest &request, DiagnosticEngine &own,
                                                  const Library &names);
  /// Lowers what was elaborated to nd.
  std::optional<BuiltTrain> lower(elab::Elaborated &elaborated, DiagnosticEngine &own);
  /// Both; the timings of what it gives begin with elaboration.
  std::optional<BuiltTrain> elaborate(const elab::TrainRequest &request, DiagnosticEngine &own);
  /// The same over other declarations than those of the opened file.
  std::optional<BuiltTrain> elaborate(const elab::TrainRequest &request, DiagnosticEngine &own, const Library &names);
  /// Generates code for it, or finds that in the cache.
  [[nodiscard]] bool generate(BuiltTrain &train, DiagnosticEngine &own);

  /// Prints to stderr what was not printed yet.
  void report();

  SourceManager sources;
  DiagnosticEngine diags;
  SpecLibrary library;
  elab::ScopePtr globals;
  std::unique_ptr<ObjectCache> cache; ///< null: none
  const Target *target = &Target::cpu(); ///< what code is made for
  ObjectCounts objects;
  Timings reading; ///< what `open` took

private:
  const ast::Program *program = nullptr;
  size_t reported = 0;
  std::unique_ptr<mlir::MLIRContext> context;
  std::vector<std::unique_ptr<ast::Program>> parsedSets; ///< of `overrides`: values point into them
};

} // namespace dyn
