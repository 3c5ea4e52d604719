#include "frontend/repl/Repl.h"

#include "frontend/AstWalk.h"
#include "frontend/CheckInternals.h"
#include "frontend/driver/Checker.h"
#include "frontend/parse/Parser.h"
#include "frontend/repl/Commands.h"
#include "frontend/repl/Evaluate.h"
#include "frontend/repl/Interrupt.h"
#include "frontend/repl/Show.h"

#include "llvm/Support/CrashRecoveryContext.h"

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <unistd.h>

namespace dyn::repl {

Repl::Repl(const ReplOptions &options)
    : work(options.cache), definitions(work.sources, work.diags, work.library),
      runs(work, definitions, options.threads) {
  announceCrashes();
  llvm::CrashRecoveryContext::Enable();
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

bool Repl::wantsMore(const std::string &text) { return !Commands::isCommand(text) && isIncomplete(text); }

void Repl::giveUp(const std::string &text) {
  work.diags.clear();
  (void)parseEntry(work.sources.add(nextName(), text), work.diags);
  std::cerr << work.diags.render() << std::flush;
}

bool Repl::enter(const std::string &text) {
  work.diags.clear();
  bool good = false;
  llvm::CrashRecoveryContext recovery;
  bool survived =
      recovery.RunSafely([&] { good = Commands::isCommand(text) ? Commands(*this).run(text) : enterSpec(text); });
  if (!survived) {
    if (isChanging)
      rollBack();
    work.abandonContext();
    work.diags.report(Diag::internal_failure, Span()).help("please report it with this entry");
  }
  definitions.releaseAllBut(*work.globals);
  std::fflush(stdout);
  std::cerr << work.diags.render() << std::flush;
  takeInterrupt(); // one that had nothing to hold means nothing to the next entry
  return good && survived && !work.diags.hasErrors();
}

bool Repl::enterSpec(const std::string &text) {
  auto entry = parseEntry(work.sources.add(nextName(), text), work.diags);
  if (!entry)
    return false;
  timings.clear();
  if (!entry->declarations->declarations.empty() &&
      !declare([&] { return definitions.add(std::move(entry->declarations)); }))
    return false;
  kept.push_back(std::move(entry));
  for (const SessionEntry::Action &action : kept.back()->actions)
    if (!act(action))
      return false;
  return true;
}

bool Repl::act(const SessionEntry::Action &action) {
  if (action.value)
    return show(*action.value);
  if (auto *claim = ast::dynCast<ast::ExpectStmt>(action.statement.get())) {
    elab::ExpectEvaluator evaluator(work.mlirContext(), work.diags, definitions, work.globals);
    return evaluator.claim(*claim->value, /*verbose=*/true);
  }
  auto &run = *ast::cast<ast::RunStmt>(action.statement.get());
  bool good = run.sweep ? runs.sweep(run) : runs.run(run);
  timings = runs.timings();
  for (const std::string &name : runs.taken())
    definitions.hold(name);
  return good;
}

bool Repl::show(const ast::Expr &expr) {
  auto evaluated = evaluate(expr, work, definitions, timings);
  if (!evaluated)
    return false;
  std::printf("%s\n", repl::show(evaluated->value, work.sources, 0).c_str());
  return true;
}

bool Repl::load(const std::string &path) {
  timings.clear();
  return declare([&] { return definitions.load(path); });
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

bool Repl::declare(const std::function<bool()> &add) {
  if (!add())
    return false;
  isChanging = true;
  Definitions::Change change = definitions.change();
  // Values and runs that have the names of new declarations make room.
  hidden.clear();
  held.clear();
  for (const ast::Decl *decl : change.declared)
    if (const ast::Ident *name = ast::declaredName(*decl))
      if (auto it = work.globals->names.find(name->text); it != work.globals->names.end()) {
        hidden[name->text] = std::move(it->second);
        work.globals->names.erase(it);
      }
  bool good = check(change) && showDeclared(change.declared, change.redefined);
  if (!good) {
    blame(change);
    rollBack();
    return false;
  }
  isChanging = false;
  definitions.keep();
  for (auto &[name, binding] : hidden) {
    definitions.release(name);
    runs.forget(name);
  }
  // What another evaluation would give otherwise stays as it came out.
  for (auto &[name, value] : std::exchange(held, {}))
    hold(name, value);
  return true;
}

/// Takes the change in progress back.
void Repl::rollBack() {
  isChanging = false;
  definitions.undo();
  for (auto &[name, binding] : hidden)
    work.globals->names[name] = std::move(binding);
}

/// All that needs no shapes of the units that changed, then what was declared and what depends on it.
bool Repl::check(const Definitions::Change &change) {
  for (const ast::Program *unit : change.units)
    dyn::check(*unit, definitions, work.diags);
  if (work.diags.hasErrors())
    return false;
  Checker checker(work.sources, work.diags, definitions, work.mlirContext(), work.globals, /*isQuiet=*/true);
  for (auto *list : {&change.declared, &change.dependents})
    for (const ast::Decl *decl : *list) {
      checker.check(*decl);
      auto *constant = ast::dynCast<ast::ConstantDecl>(decl);
      auto *let = constant ? ast::dynCast<ast::LetStmt>(constant->binding.get()) : nullptr;
      if (let && list == &change.dependents)
        (void)elab::ExpectEvaluator(work.mlirContext(), work.diags, definitions, work.globals).elaborated(*let->value);
      if (work.diags.hasErrors())
        return false;
    }
  return true;
}

/// Says which declaration made a dependent fail.
void Repl::blame(const Definitions::Change &change) {
  std::string names;
  for (const std::string &name : change.redefined)
    names += (names.empty() ? "`" : ", `") + name + "`";
  bool hasOwn = false;
  for (const Diagnostic &diagnostic : work.diags.all())
    for (const ast::Decl *decl : change.declared)
      hasOwn |= diagnostic.span.file == decl->span.file;
  if (!names.empty() && !hasOwn)
    work.diags.report(Diag::redefinition, Span(), names);
}

/// One line for each declaration, and the values of constants.
bool Repl::showDeclared(const std::vector<const ast::Decl *> &declared, const std::set<std::string> &redefined) {
  for (const ast::Decl *decl : declared) {
    if (auto *constant = ast::dynCast<ast::ConstantDecl>(decl)) {
      auto *let = ast::dynCast<ast::LetStmt>(constant->binding.get());
      if (let && !this->constant(*let))
        return false;
    } else if (const ast::Ident *name = ast::declaredName(*decl)) {
      std::printf("%s%s\n", signature(*decl, work.sources).c_str(), redefined.count(name->text) ? "  (anew)" : "");
    }
  }
  return true;
}

/// Whether an expression reads a run, or a value that was kept.
bool Repl::readsKept(const ast::Expr &expr) const {
  bool reads = false;
  ast::walk(expr, [&](const ast::Node &node) {
    auto *name = ast::dynCast<ast::NameExpr>(&node);
    reads |= name && work.globals->names.count(name->name);
    return !reads;
  });
  return reads;
}

bool Repl::constant(const ast::LetStmt &let) {
  auto evaluated = evaluate(*let.value, work, definitions, timings);
  if (!evaluated)
    return false;
  std::string head = let.name.text + " = ";
  std::printf("%s%s\n", head.c_str(), repl::show(evaluated->value, work.sources, head.size()).c_str());
  if (evaluated->draws || readsKept(*let.value))
    held[let.name.text] = evaluated->value;
  return true;
}

void Repl::hold(const std::string &name, const elab::Value &value) {
  definitions.remove(name);
  definitions.hold(name);
  work.globals->define(name, value, elab::NameKind::Local, value.origin);
}

//===----------------------------------------------------------------------===//
// Completion
//===----------------------------------------------------------------------===//

/// Paths that go on from `word`; folders end in a slash.
static std::vector<std::string> filesLike(const std::string &word) {
  std::filesystem::path given(word);
  std::filesystem::path folder = word.ends_with('/') ? given : given.parent_path();
  std::vector<std::string> found;
  std::error_code error;
  for (auto &entry : std::filesystem::directory_iterator(folder.empty() ? "." : folder, error)) {
    std::string path = (folder / entry.path().filename()).string();
    std::error_code unreadable;
    if (path.starts_with(word))
      found.push_back(path + (entry.is_directory(unreadable) ? "/" : ""));
  }
  return found;
}

std::vector<std::string> Repl::complete(const std::string &line, const std::string &word) const {
  std::vector<std::string> found;
  if (line.starts_with(":load ")) {
    found = filesLike(word);
  } else {
    std::vector<std::string> known = definitions.names();
    for (auto &list : {keywords(), Commands::names(), std::vector<std::string>(checks::builtinNames()), runs.all()})
      known.insert(known.end(), list.begin(), list.end());
    for (const std::string &run : runs.all())
      for (auto &[name, series] : runs.findQuietly(run)->result()->series)
        known.push_back(run + "." + name);
    for (auto &[name, binding] : work.globals->names)
      known.push_back(name);
    for (std::string &name : known)
      if (name.starts_with(word))
        found.push_back(std::move(name));
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

//===----------------------------------------------------------------------===//
// dync repl
//===----------------------------------------------------------------------===//

namespace {
class Session {
public:
  Session(Repl &repl, LineSource &lines) : repl(repl), lines(lines) {}

  bool run() {
    std::string line;
    while (!repl.isOver()) {
      switch (lines.next(entry.empty() ? "dyn> " : "...> ", line)) {
      case LineSource::Event::End:
        if (!entry.empty())
          giveUp();
        return good;
      case LineSource::Event::Interrupted:
        entry.clear();
        break;
      case LineSource::Event::Line:
        take(line);
      }
    }
    return good;
  }

private:
  void take(const std::string &line) {
    bool isEmpty = line.find_first_not_of(" \t\r") == std::string::npos;
    emptyLines = isEmpty ? emptyLines + 1 : 0;
    if (isEmpty && entry.empty())
      return;
    entry += line + "\n";
    if (Repl::wantsMore(entry)) {
      if (emptyLines >= 2)
        giveUp();
      return;
    }
    good &= repl.enter(std::exchange(entry, ""));
  }

  void giveUp() {
    repl.giveUp(std::exchange(entry, ""));
    good = false;
  }

  Repl &repl;
  LineSource &lines;
  std::string entry;
  int emptyLines = 0;
  bool good = true;
};
} // namespace

bool enterAll(Repl &repl, LineSource &lines) { return Session(repl, lines).run(); }

int runRepl(const ReplOptions &options) {
  Repl repl(options);
  bool isTerminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
  catchInterrupts();
  auto lines =
      isTerminal ? editedLines([&](auto &line, auto &word) { return repl.complete(line, word); }) : plainLines();
  if (isTerminal)
    std::printf("Dyn. `:help` explains, Ctrl-D leaves.\n");
  bool good = options.file.empty() || repl.enter(":load " + options.file);
  good &= enterAll(repl, *lines);
  return good ? 0 : 1;
}

} // namespace dyn::repl
