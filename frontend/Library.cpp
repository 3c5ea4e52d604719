#include "frontend/Library.h"

#include "frontend/AstWalk.h"
#include "frontend/parse/Parser.h"

#include <filesystem>

namespace dyn {

const ast::Program *SpecLibrary::open(const std::string &path) {
  const ast::Program *program = load(path, Span());
  if (!program)
    return nullptr;
  for (auto &[file, text] : opened)
    check(*byPath.find(file)->second, *this, diags);
  return diags.hasErrors() ? nullptr : program;
}

const ast::Program *SpecLibrary::load(const std::string &path, Span from) {
  if (auto it = byPath.find(path); it != byPath.end())
    return it->second;
  std::string why;
  const SourceFile *file = sources.load(path, why);
  if (!file) {
    diags.report(Diag::cannot_read, from, path, why);
    return nullptr;
  }
  auto program = parse(*file, diags);
  if (!program)
    return nullptr;
  const ast::Program *result = program.get();
  programs.push_back(std::move(program));
  byPath[path] = result;
  opened.emplace_back(path, std::string(file->text()));
  for (auto &declaration : result->declarations)
    if (auto *use = ast::dynCast<ast::UseDecl>(declaration.get())) {
      auto target = (std::filesystem::path(path).parent_path() / use->path->value).lexically_normal().string();
      if (!load(target, use->span))
        return nullptr;
    }
  declare(*result);
  return result;
}

void SpecLibrary::declare(const ast::Program &program) {
  for (auto &declaration : program.declarations)
    if (const ast::Ident *name = ast::declaredName(*declaration))
      declarations.try_emplace(name->text, declaration.get());
}

const ast::Decl *SpecLibrary::findEmbedded(std::string_view name) const {
  for (const EmbeddedFile &file : embeddedFiles()) {
    if (name != file.name)
      continue;
    auto program = parse(sources.add(file.path, file.text), diags);
    if (!program)
      return nullptr;
    for (auto &declaration : program->declarations)
      if (const ast::Ident *declared = ast::declaredName(*declaration))
        declarations.try_emplace(declared->text, declaration.get());
    programs.push_back(std::move(program));
    auto it = declarations.find(name);
    return it == declarations.end() ? nullptr : it->second;
  }
  return nullptr;
}

const ast::Decl *SpecLibrary::find(std::string_view name) const {
  if (auto it = declarations.find(name); it != declarations.end())
    return it->second;
  return findEmbedded(name);
}

std::vector<std::string> SpecLibrary::names() const {
  std::vector<std::string> all;
  for (auto &[name, declaration] : declarations)
    all.push_back(name);
  for (const EmbeddedFile &file : embeddedFiles())
    all.push_back(file.name);
  return all;
}

} // namespace dyn
