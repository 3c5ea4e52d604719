//===- Definitions.h - what a session has declared --------------*- C++ -*-===//
//
// The declarations of a session, in the units in which they came: an entry or a file. A name may be declared again;
// whatever uses it by name then means the new one. A change is made, checked by whoever made it, and kept or undone.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/Library.h"
#include "frontend/elaborate/Value.h"

#include <set>

namespace dyn::repl {

class Definitions : public Library {
public:
  /// `standard` has the declarations that nobody made here.
  Definitions(SourceManager &sources, DiagnosticEngine &diags, const Library &standard)
      : sources(sources), diags(diags), standard(standard) {}

  const ast::Decl *find(std::string_view name) const override;
  std::vector<std::string> names() const override;
  /// Names declared here, in alphabetical order.
  std::vector<std::string> own() const;

  /// Takes a unit and the files that it uses; of names declared before, the new declaration counts. False after a
  /// report: then nothing changed. Must be followed by `keep` or `undo`.
  [[nodiscard]] bool add(std::unique_ptr<ast::Program> unit);
  /// The same for a file.
  [[nodiscard]] bool load(const std::string &path);
  void keep();
  void undo();
  /// Forgets the declaration of a name.
  void remove(const std::string &name);
  /// Makes a name known that is a run or a value of the session.
  void hold(const std::string &name);
  void release(const std::string &name) { held.erase(name); }
  /// Releases those that are values of the session no more.
  void releaseAllBut(const elab::Scope &values);

  /// What the last `add` declared, and what used its names before (directly or through others), unit by unit.
  struct Change {
    std::vector<const ast::Decl *> declared, dependents;
    std::vector<const ast::Program *> units; ///< to check: those of both
    std::set<std::string> redefined;
  };
  Change change() const;

private:
  bool gather(std::unique_ptr<ast::Program> unit, const std::string &folder);
  bool gatherFile(const std::string &path, Span from);
  void install();

  /// A declaration that another one took the place of.
  struct Superseded {
    ast::Program *unit;
    ast::DeclPtr decl;
  };
  SourceManager &sources;
  DiagnosticEngine &diags;
  const Library &standard;
  std::vector<std::unique_ptr<ast::Program>> units;
  std::map<std::string, const ast::Decl *, std::less<>> declarations;
  std::map<std::string, std::unique_ptr<ast::Program>, std::less<>> held; ///< `name = none`, for the checks
  std::vector<Superseded> retired; ///< kept: values of the session may point into them

  // The change in progress.
  std::vector<std::unique_ptr<ast::Program>> pending;
  std::set<std::string> files;
  std::map<std::string, const ast::Decl *, std::less<>> before;
  size_t unitsBefore = 0, retiredBefore = 0;
};

} // namespace dyn::repl
