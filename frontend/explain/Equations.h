//===- Equations.h - A declaration as the box of a paper --------*- C++ -*-===//

#pragma once

#include "frontend/Ast.h"
#include "frontend/Source.h"
#include "frontend/explain/Notation.h"

namespace dyn::explain {

/// A declaration of a file as lines of mathematics: its hyperparameters, what its states start from, what each step does.
/// Comments of the code stand beside their lines.
std::string equations(const ast::Decl &decl, const ast::Program &program, const SourceFile &source, const Notation &notation);

} // namespace dyn::explain
