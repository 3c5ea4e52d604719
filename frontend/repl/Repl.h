//===- Repl.h - dync repl ---------------------------------------*- C++ -*-===//
//
// A session: declarations, values and runs that a person enters one after the other. An entry that is refused leaves
// everything as it was.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/parse/Parser.h"
#include "frontend/repl/Definitions.h"
#include "frontend/repl/Runs.h"
#include "frontend/repl/Terminal.h"

namespace dyn::repl {

struct ReplOptions {
  std::string file; ///< loaded first; empty: none
  int threads = 0;
  bool cache = true;
};

class Repl {
public:
  explicit Repl(const ReplOptions &options);

  /// Carries out a complete entry; false if it was refused, which standard error says.
  bool enter(const std::string &text);
  /// Whether `text` wants more lines before it is an entry.
  static bool wantsMore(const std::string &text);
  /// Says what an entry lacks that is not continued.
  void giveUp(const std::string &text);
  bool isOver() const { return over; }
  /// Words that may stand where `word` stands at the end of `line`.
  std::vector<std::string> complete(const std::string &line, const std::string &word) const;

private:
  friend class Commands;

  bool enterSpec(const std::string &text);
  /// Takes new declarations, checks and elaborates them and what depends on them; all or nothing.
  bool declare(const std::function<bool()> &add);
  void rollBack();
  bool check(const Definitions::Change &change);
  void blame(const Definitions::Change &change);
  bool showDeclared(const std::vector<const ast::Decl *> &declared, const std::set<std::string> &redefined);
  bool constant(const ast::LetStmt &let);
  bool readsKept(const ast::Expr &expr) const;
  bool show(const ast::Expr &expr);
  bool act(const SessionEntry::Action &action);
  void hold(const std::string &name, const elab::Value &value);
  std::string nextName() { return "<repl:" + std::to_string(++entries) + ">"; }
  bool load(const std::string &path);

  Workspace work;
  Definitions definitions;
  Runs runs;
  Timings timings; ///< of the last entry that computed something
  std::vector<std::unique_ptr<SessionEntry>> kept; ///< runs point into them
  // The change in progress.
  std::map<std::string, elab::Value> held;     ///< values to keep
  std::map<std::string, elab::Binding> hidden; ///< what had the names of new declarations
  int entries = 0;
  bool isChanging = false; ///< within `declare`
  bool over = false;
};

/// Puts lines together to entries and carries them out, until the end or `:quit`; whether none was refused.
bool enterAll(Repl &repl, LineSource &lines);

/// dync repl: 0 if nothing was refused.
int runRepl(const ReplOptions &options);

} // namespace dyn::repl
