//===- Parser.h - From text to syntax tree ----------------------*- C++ -*-===//
//
// The only door to the grammar. Behind it stand ANTLR and exceptions; neither passes it.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/Ast.h"
#include "frontend/Diagnostics.h"

#include <memory>

namespace dyn {

/// What the parser refuses to read. The defaults leave room for any program that a person writes, and keep
/// recursion over the tree within a stack of 8 MB, sanitizers included.
struct ParseLimits {
  size_t bytes = 4u << 20;  ///< size of a file
  size_t depth = 128;       ///< nesting: brackets, blocks, `if` in `else`, closures, signs, powers
  size_t operations = 1000; ///< operators, calls, members and indices around one another
  size_t errors = 50;       ///< syntax errors shown
};

/// Parses a file. Syntax errors are reported, several a run, and then the result is null. Never throws and
/// always terminates.
std::unique_ptr<ast::Program> parse(const SourceFile &source, DiagnosticEngine &diags, ParseLimits limits = {});

} // namespace dyn
