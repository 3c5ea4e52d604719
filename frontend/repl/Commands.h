//===- Commands.h - what a session does beside the language -----*- C++ -*-===//

#pragma once

#include "frontend/repl/Repl.h"

namespace dyn::repl {

/// `:plan`, `continue`, `set lr 1e-4` …: one row of a table each.
class Commands {
public:
  explicit Commands(Repl &repl) : repl(repl) {}

  /// Whether a text is a command: it begins with a colon, or with a word that is one and is used as one.
  static bool isCommand(const std::string &text);
  /// Their names, for completion.
  static std::vector<std::string> names();
  /// False after a report.
  bool run(const std::string &text);

private:
  using Words = std::vector<std::string>;
  struct Row {
    const char *name, *form, *help;
    bool (Commands::*run)(const Words &words);
  };
  static const Row table[];
  static const Row *find(const std::string &name);

  bool resume(const Words &words);
  bool set(const Words &words);
  bool stop(const Words &words);
  bool pause(const Words &words);
  bool ir(const Words &words);
  bool plan(const Words &words);
  bool time(const Words &words);
  bool plot(const Words &words);
  bool load(const Words &words);
  bool list(const Words &words);
  bool help(const Words &words);
  bool quit(const Words &words);
  bool badForm(const Row &row);
  bool helpOnName(const std::string &name);
  const ast::TrainDecl *trainOf(const std::string &name);

  Repl &repl;
};

} // namespace dyn::repl
