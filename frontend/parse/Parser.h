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

/// What a person enters at once in a session.
struct SessionEntry {
  /// `run name = variant` (a nameless `run variant` has an empty name), `sweep name = variant`, `expect value`, or a value
  /// to be shown.
  struct Action {
    ast::StmtPtr statement;
    ast::ExprPtr value;
  };
  std::unique_ptr<ast::Program> declarations;
  std::vector<Action> actions; ///< in written order
};

/// Parses an entry like `parse` does a file.
std::unique_ptr<SessionEntry> parseEntry(const SourceFile &source, DiagnosticEngine &diags, ParseLimits limits = {});

/// Whether more lines could make an entry of a text that is none yet: the parser accepts all of it and asks for more.
bool isIncomplete(std::string_view text);

/// Every word that the grammar knows, in its order, for completion.
std::vector<std::string> keywords();

} // namespace dyn
