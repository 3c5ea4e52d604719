//===- Samples.h - small trains around a single declaration -----*- C++ -*-===//
//
// A rule, model or function of a library has no shapes of its own. To find
// what its elaboration would refuse, it is put in a small train with sizes
// that are all different.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/Checks.h"
#include "frontend/Diagnostics.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dyn {

/// Made-up sizes in the order of their names, all different, so that a mix-up cannot fit by chance. What holds of sizes
/// differs: a window must fit what it moves over, heads must divide a width. So there are several series, and a
/// declaration is refused that no series suits.
using SampleSizes = std::array<int, 6>;
inline constexpr SampleSizes sampleSizes[] = {{5, 7, 11, 13, 17, 19}, {48, 40, 32, 24, 16, 8}, {19, 17, 13, 11, 7, 5}};
/// The text of a train that uses `decl`; nothing for declarations that are complete by themselves or that need what
/// cannot be made up.
std::optional<std::string> sampleTrain(const ast::Decl &decl, const SampleSizes &sizes);
/// What may stand for a whole number: the first is tried first.
inline constexpr int sampleNumbers[] = {3, 2, 1, 10};
/// Values, as text, for the hyperparameters that have no default; empty text for one that cannot be made up.
std::vector<std::pair<std::string, std::string>> sampleArguments(const ast::Parameters &parameters, int number);
/// A train around a rule, optimizer or clip, for `adamw on [64, 32]` (one leaf) or `by_norm on [64, 32], [32]` (several);
/// nothing when the text has another form. `library` says what the rule is.
std::optional<std::string> sampleForRule(const std::string &rule, const Library &library);

/// Parsed samples, kept as long as diagnostics about them.
class Samples {
public:
  static constexpr const char *path = "sample"; ///< of their texts, in places of diagnostics
  /// The train of a sample text; null after errors.
  const ast::TrainDecl *add(const std::string &text, SourceManager &sources, DiagnosticEngine &diags);
  /// An expression; null after errors.
  const ast::Expr *addValue(const std::string &text, SourceManager &sources, DiagnosticEngine &diags);
  const ast::Decl *find(std::string_view name) const;

private:
  std::vector<std::unique_ptr<ast::Program>> programs, values;
};

/// A library with the declarations of samples in front.
class SampleLibrary : public Library {
public:
  SampleLibrary(const Library &base, const Samples &samples) : base(base), samples(samples) {}
  const ast::Decl *find(std::string_view name) const override {
    const ast::Decl *decl = samples.find(name);
    return decl ? decl : base.find(name);
  }
  std::vector<std::string> names() const override { return base.names(); }

private:
  const Library &base;
  const Samples &samples;
};

} // namespace dyn
