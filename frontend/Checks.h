//===- Checks.h - What can be said before shapes are known ------*- C++ -*-===//
//
// Checks that read the tree of one file and the declarations that it may use. Each reports everything it finds;
// an error in one place does not give others elsewhere.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/Ast.h"
#include "frontend/Diagnostics.h"

#include <string>
#include <string_view>
#include <vector>

namespace dyn {

/// What a file sees besides its own declarations: those of `use` files and of the standard library.
class Library {
public:
  virtual ~Library() = default;
  /// Null if there is none of that name.
  virtual const ast::Decl *find(std::string_view name) const = 0;
  /// All names, for suggestions.
  virtual std::vector<std::string> names() const = 0;
};

/// Runs all checks below; true if they found no error.
bool check(const ast::Program &program, const Library &library, DiagnosticEngine &diags);

/// Every name means something, none hides another, calls fit what they call; what is never read or written.
void checkNames(const ast::Program &program, const Library &library, DiagnosticEngine &diags);
/// Values without effect, statements that nothing reaches.
void checkUnread(const ast::Program &program, const Library &library, DiagnosticEngine &diags);
/// Rules write or return what their kind must; statements stand where they mean something.
void checkRules(const ast::Program &program, DiagnosticEngine &diags);
/// Trains have the clauses they need, in an order that makes sense.
void checkTrains(const ast::Program &program, const Library &library, DiagnosticEngine &diags);
/// What the language has and this release has not.
void checkSupported(const ast::Program &program, const Library &library, DiagnosticEngine &diags);

} // namespace dyn
