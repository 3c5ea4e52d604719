//===- Claims.h - claims that need no compiler ------------------*- C++ -*-===//

#pragma once

#include "frontend/Ast.h"
#include "runtime/Plan.h"
#include "runtime/standalone/Manifest.h"

namespace dyn {

/// The claims of a train: those about hyperparameters and last values of metrics as formulas.
std::vector<standalone::Claim> claimsOf(const std::vector<const ast::Expr *> &expects, const plan::Plan &plan,
                                        const std::vector<standalone::Hyperparameter> &hyperparameters);

} // namespace dyn
