#include "frontend/repl/Definitions.h"

#include "frontend/AstWalk.h"
#include "frontend/parse/Parser.h"

#include <algorithm>
#include <filesystem>

namespace dyn::repl {

const ast::Decl *Definitions::find(std::string_view name) const {
  auto it = declarations.find(name);
  if (it != declarations.end())
    return it->second;
  auto kept = held.find(name);
  return kept != held.end() ? kept->second->declarations.front().get() : standard.find(name);
}

std::vector<std::string> Definitions::own() const {
  std::vector<std::string> all;
  for (auto &[name, decl] : declarations)
    all.push_back(name);
  return all;
}

std::vector<std::string> Definitions::names() const {
  std::vector<std::string> all = own();
  for (std::string &name : standard.names())
    all.push_back(std::move(name));
  return all;
}

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

bool Definitions::gatherFile(const std::string &path, Span from) {
  if (!files.insert(path).second)
    return true;
  std::string why;
  const SourceFile *file = sources.load(path, why);
  if (!file) {
    diags.report(Diag::cannot_read, from, path, why);
    return false;
  }
  auto program = parse(*file, diags);
  return program && gather(std::move(program), std::filesystem::path(path).parent_path().string());
}

/// The files that a unit uses, then the unit.
bool Definitions::gather(std::unique_ptr<ast::Program> unit, const std::string &folder) {
  for (auto &decl : unit->declarations)
    if (auto *use = ast::dynCast<ast::UseDecl>(decl.get()))
      if (!gatherFile((std::filesystem::path(folder) / use->path->value).lexically_normal().string(), use->span))
        return false;
  pending.push_back(std::move(unit));
  return true;
}

bool Definitions::add(std::unique_ptr<ast::Program> unit) {
  pending.clear();
  files.clear();
  if (!gather(std::move(unit), ""))
    return false;
  install();
  return true;
}

bool Definitions::load(const std::string &path) {
  pending.clear();
  files.clear();
  if (!gatherFile(path, Span()))
    return false;
  install();
  return true;
}

/// Puts what was gathered in the place of what has its names.
void Definitions::install() {
  before = declarations;
  unitsBefore = units.size();
  retiredBefore = retired.size();
  std::set<std::string, std::less<>> fresh;
  for (auto &unit : pending)
    for (auto &decl : unit->declarations)
      if (const ast::Ident *name = ast::declaredName(*decl); name && fresh.insert(name->text).second)
        declarations[name->text] = decl.get();
  for (auto &unit : units)
    for (auto &decl : unit->declarations)
      if (const ast::Ident *name = ast::declaredName(*decl); name && fresh.count(name->text))
        retired.push_back({unit.get(), std::move(decl)});
  for (auto &unit : units)
    std::erase(unit->declarations, nullptr);
  for (auto &unit : pending)
    units.push_back(std::move(unit));
  pending.clear();
}

void Definitions::keep() { before.clear(); }

void Definitions::undo() {
  for (size_t i = retiredBefore; i < retired.size(); ++i)
    retired[i].unit->declarations.push_back(std::move(retired[i].decl));
  retired.resize(retiredBefore);
  // Messages may still point into the units that are refused; they are few.
  while (units.size() > unitsBefore)
    units.pop_back();
  declarations = std::move(before);
}

void Definitions::remove(const std::string &name) {
  declarations.erase(name);
  for (auto &unit : units)
    for (auto &decl : unit->declarations)
      if (const ast::Ident *declared = ast::declaredName(*decl); declared && declared->text == name)
        retired.push_back({unit.get(), std::move(decl)});
  for (auto &unit : units)
    std::erase(unit->declarations, nullptr);
}

void Definitions::hold(const std::string &name) {
  if (!held.count(name))
    held[name] = parse(sources.add("<repl>", name + " = none\n"), diags);
}

void Definitions::releaseAllBut(const elab::Scope &values) {
  std::erase_if(held, [&](auto &entry) { return values.names.count(entry.first) == 0; });
}

//===----------------------------------------------------------------------===//
// Dependents
//===----------------------------------------------------------------------===//

/// The names that a declaration mentions; more than it uses do no harm.
static std::set<std::string> mentions(const ast::Decl &decl) {
  std::set<std::string> names;
  ast::walk(decl, [&](const ast::Node &node) {
    if (auto *name = ast::dynCast<ast::NameExpr>(&node))
      names.insert(name->name);
    return true;
  });
  return names;
}

Definitions::Change Definitions::change() const {
  Change change;
  for (size_t i = unitsBefore; i < units.size(); ++i) {
    change.units.push_back(units[i].get());
    for (auto &decl : units[i]->declarations) {
      change.declared.push_back(decl.get());
      const ast::Ident *name = ast::declaredName(*decl);
      if (name && before.count(name->text))
        change.redefined.insert(name->text);
    }
  }
  std::set<std::string> touched = change.redefined;
  std::set<const ast::Decl *> seen;
  for (bool grew = true; grew && !touched.empty();) {
    grew = false;
    for (size_t i = 0; i < unitsBefore; ++i)
      for (auto &decl : units[i]->declarations) {
        std::set<std::string> names = mentions(*decl);
        bool depends = std::any_of(names.begin(), names.end(), [&](auto &name) { return touched.count(name) != 0; });
        if (!depends || !seen.insert(decl.get()).second)
          continue;
        grew = true;
        change.dependents.push_back(decl.get());
        if (std::find(change.units.begin(), change.units.end(), units[i].get()) == change.units.end())
          change.units.push_back(units[i].get());
        if (const ast::Ident *name = ast::declaredName(*decl))
          touched.insert(name->text);
      }
  }
  return change;
}

} // namespace dyn::repl
