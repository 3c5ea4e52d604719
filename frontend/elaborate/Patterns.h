//===- Patterns.h - which leaves a rule clause is for ---------------------===//
#pragma once

#include "frontend/elaborate/Elaborator.h"

namespace dyn::elab {

/// Whether an optimizer clause with these options claims a leaf: the options (`on`, `except`, `otherwise`) and the pattern of the
/// rule's declaration. A clause without any claims all. `otherwise` is set when it takes what nobody claims.
bool ownsLeaf(const std::vector<ast::RuleOption> &options, const ast::RuleDecl &rule, const ParamInfo &leaf, Elaborator &elaborator,
              ScopePtr scope, bool &otherwise);
/// `*` stands for any characters.
bool matchesPath(llvm::StringRef pattern, llvm::StringRef path);
Elem elemOfType(mlir::RankedTensorType type);

} // namespace dyn::elab
