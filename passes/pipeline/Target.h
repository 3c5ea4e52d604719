//===- Target.h - what code is made for -----------------------------------===//
//
// A target is a list of passes from nd to the LLVM dialect, in phases, and the
// machine that runs the loop. Its name is that of `--target=`; what is done for
// one target only is in its list of phases and nowhere else. Whether a device
// is there to run it is asked of the runtime (runtime/Device.h).
//
//===----------------------------------------------------------------------===//
#ifndef DYN_PASSES_PIPELINE_TARGET_H
#define DYN_PASSES_PIPELINE_TARGET_H

#include "mlir/Pass/PassManager.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace dyn {

/// The machine that runs the loop around all kernels.
struct TargetOptions {
  std::string triple, cpu, features;
  int64_t vectorBytes = 16; ///< full width of a vector register

  /// This machine.
  static TargetOptions host();
  /// A processor by the name LLVM gives it, or `native`: this machine. Nothing when there is none of that name.
  static std::optional<TargetOptions> named(llvm::StringRef cpu);
  std::string text() const;
};

/// Some passes that run, and are timed, together.
struct Phase {
  std::string name;
  std::string stage; ///< what `--stage=` calls the module afterwards; empty: nothing
  std::function<void(mlir::OpPassManager &)> add;
};

struct Target {
  std::string name; ///< cpu, sm_80, sm_90
  TargetOptions host;
  std::vector<Phase> phases;
  bool namesPlaces = false; ///< what is made says where in the spec it comes from: part of a cache key then

  /// Everything here that decides what the object holds; part of a cache key.
  std::string text() const { return name + " " + host.text(); }
  bool hasStage(llvm::StringRef stage) const;

  /// The target whose kernels are loops of this machine.
  static const Target &cpu();
  /// The same for another processor of this kind.
  static Target cpu(TargetOptions processor);
  /// This machine's, with code that takes the time of each part of the plan (`dync run --profile`).
  static const Target &profiled();
  /// Null: there is none of that name.
  static const Target *find(llvm::StringRef name);
  static llvm::ArrayRef<Target> all();
  /// `device`, with its kernels run on the host block by block; for tests.
  static Target emulated();
};

} // namespace dyn

#endif // DYN_PASSES_PIPELINE_TARGET_H
