//===- Compile.h - from an elaborated train to code -------------*- C++ -*-===//

#pragma once

#include "frontend/elaborate/Elaborator.h"
#include "passes/pipeline/Pipelines.h"
#include "runtime/jit/ObjectCache.h"

namespace dyn {

/// What a session needs to run a program.
struct Program {
  plan::Plan plan;
  std::string object;     ///< ELF, or an archive of it; empty when the program is interpreted
  bool fromCache = false; ///< no code was generated
  UnitCounts units = {};  ///< of a program that was compiled
};

/// A context with all dialects, single-threaded: programs are small and threads cost more than they give.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// Takes a module from dyn to nd: batches, differentiates, drops encodings, cleans. Errors go to `diags`.
[[nodiscard]] bool lowerToNd(mlir::ModuleOp module, DiagnosticEngine &diags, const StageHook &hook = {},
                             Timings *timings = nullptr);

/// Compiles a module at the nd stage, or finds its object in the cache (null: none). The key is the module's text,
/// in which runtime operands are numbers of the plan: programs that differ only in those share an object.
[[nodiscard]] std::optional<Program> compileNd(mlir::ModuleOp module, const plan::Plan &plan, ObjectCache *cache,
                                               DiagnosticEngine &diags, const StageHook &hook = {},
                                               Timings *timings = nullptr, const Target &target = Target::cpu());

/// A module at the nd stage without names of numbers (a literal's is its digits) and, but for `withPlaces`, places of the
/// spec: equal texts share an object, and moving a line or changing a number is no other program.
std::string programText(mlir::ModuleOp nd, bool withPlaces = false);

/// What compilation added to a plan (`compiled`), put beside what another spec of the same program says of numbers, names
/// and places.
plan::Plan mergePlans(plan::Plan fresh, plan::Plan compiled);

/// The span of a location that came from a spec.
Span spanOf(mlir::Location loc, const SourceManager &sources);

/// Errors of passes about a place in a spec, as diagnostics of ours; lives as long as passes run.
class PassErrors {
public:
  PassErrors(mlir::MLIRContext &context, DiagnosticEngine &diags);
  ~PassErrors();

private:
  mlir::MLIRContext &context;
  mlir::DiagnosticEngine::HandlerID id;
};

} // namespace dyn
