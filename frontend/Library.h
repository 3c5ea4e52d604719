//===- Library.h - the files that a spec is made of -------------*- C++ -*-===//
//
// The file named on the command line, those it uses, and the standard library,
// whose files are built into the compiler and parsed when a name needs them.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/Checks.h"
#include "frontend/Diagnostics.h"

#include <map>
#include <memory>

namespace dyn {

/// One file of the standard library.
struct EmbeddedFile {
  const char *name; ///< the public name, which is the file's: "adamw"
  const char *path; ///< "stdlib/optimizers/adamw.dyn"
  const char *text;
};
/// All of them, in order of their paths.
const std::vector<EmbeddedFile> &embeddedFiles();
/// docs/errors.md as it stood when the compiler was built: what stands before the entries, then each entry.
const std::vector<const char *> &embeddedErrors();

class SpecLibrary : public Library {
public:
  SpecLibrary(SourceManager &sources, DiagnosticEngine &diags) : sources(sources), diags(diags) {}

  /// Parses a file and what it uses, and runs the checks that need no shapes on each. Null after errors.
  const ast::Program *open(const std::string &path);
  /// Paths and texts of all files opened by name, in the order of opening.
  const std::vector<std::pair<std::string, std::string>> &closure() const { return opened; }

  /// How many files of the standard library a name needed so far.
  size_t parsedEmbedded() const { return programs.size() - byPath.size(); }

  const ast::Decl *find(std::string_view name) const override;
  std::vector<std::string> names() const override;

private:
  const ast::Program *load(const std::string &path, Span from);
  void declare(const ast::Program &program);
  const ast::Decl *findEmbedded(std::string_view name) const;

  SourceManager &sources;
  DiagnosticEngine &diags;
  mutable std::vector<std::unique_ptr<ast::Program>> programs;
  std::map<std::string, const ast::Program *, std::less<>> byPath;
  mutable std::map<std::string, const ast::Decl *, std::less<>> declarations;
  std::vector<std::pair<std::string, std::string>> opened;
};

} // namespace dyn
