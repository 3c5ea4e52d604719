//===- Checks.cpp - Running the checks; what they share ---------*- C++ -*-===//

#include "frontend/CheckInternals.h"

#include <algorithm>

using namespace dyn;
using namespace dyn::ast;
using namespace dyn::checks;

bool dyn::check(const Program &program, const Library &library, DiagnosticEngine &diags) {
  size_t before = diags.errorCount();
  checkNames(program, library, diags);
  checkUnread(program, library, diags);
  checkRules(program, diags);
  checkTrains(program, library, diags);
  checkSupported(program, library, diags);
  return diags.errorCount() == before;
}

//===----------------------------------------------------------------------===//
// Built-ins
//===----------------------------------------------------------------------===//

const Builtin *dyn::checks::findBuiltin(std::string_view name) {
  static const std::vector<Builtin> table = {
#define BUILTIN(name, least, most, named, doc) {#name, least, most, words(named)},
#include "frontend/Builtins.def"
  };
  auto at = std::find_if(table.begin(), table.end(), [&](const Builtin &b) { return b.name == name; });
  return at == table.end() ? nullptr : &*at;
}

static bool isOneOf(std::string_view name, const std::vector<std::string_view> &list) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

bool dyn::checks::isBuiltinConstant(std::string_view name) {
  return isOneOf(name, {
#define BUILTIN_CONSTANT(name) #name,
#include "frontend/Builtins.def"
                       });
}

bool dyn::checks::isLaterBuiltin(std::string_view name) {
  return isOneOf(name, {
#define BUILTIN_LATER(name) #name,
#include "frontend/Builtins.def"
                       });
}

static const std::pair<std::string_view, bool> sources[] = {
#define DATA_SOURCE(name, supported) {#name, supported},
#include "frontend/Builtins.def"
};

std::optional<bool> dyn::checks::dataSource(std::string_view name) {
  for (auto &[source, supported] : sources)
    if (source == name)
      return supported;
  return std::nullopt;
}

std::string dyn::checks::supportedSources() {
  std::vector<std::string> names;
  for (auto &[source, supported] : sources)
    if (supported)
      names.push_back(std::string(source));
  return listed(names, "and");
}

const std::vector<std::string> &dyn::checks::builtinNames() {
  static const std::vector<std::string> names = {
#define BUILTIN(name, least, most, named, doc) #name,
#define BUILTIN_LATER(name) #name,
#define BUILTIN_CONSTANT(name) #name,
#define DATA_SOURCE(name, supported) #name,
#include "frontend/Builtins.def"
  };
  return names;
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

bool Fields::has(std::string_view name) const {
  return std::any_of(items.begin(), items.end(), [&](const Ident &field) { return field.text == name; });
}

World::World(const Program &program, const Library &library) : file(program), library(library) {
  for (const DeclPtr &decl : program.declarations)
    if (const Ident *name = declaredName(*decl))
      own.emplace(name->text, decl.get());
}

const Decl *World::findOwn(std::string_view name) const {
  auto at = own.find(name);
  return at == own.end() ? nullptr : at->second;
}

const Decl *World::find(std::string_view name) const {
  const Decl *decl = findOwn(name);
  return decl ? decl : library.find(name);
}

std::vector<std::string> World::names() const {
  std::vector<std::string> out;
  for (auto &[name, decl] : own)
    out.push_back(name);
  for (std::string &name : library.names())
    out.push_back(std::move(name));
  return out;
}

const Decl *World::root(const Expr &expr) const {
  const NameExpr *name = rootName(expr);
  return name ? find(name->name) : nullptr;
}

static void unite(Fields &into, Fields from) {
  into.known = into.known && from.known;
  for (Ident &field : from.items)
    if (!into.has(field.text))
      into.items.push_back(std::move(field));
}

/// The fields of a source without braces: `text(…)`, `npy(x=…)`, `mix(a=A, b=B)`, `concat(A, B)`, `rows(h = H)`.
static Fields fieldsOfCall(const World &world, const CallExpr &call, std::string_view name, int depth) {
  Fields out;
  if (name == "text") {
    out.known = true;
    for (const char *field : {"tokens", "next"})
      out.items.push_back({field, call.span});
  } else if (name == "mix" || name == "concat") {
    out.known = true;
    for (const Argument &arg : call.args)
      if (arg.name.text != "weights")
        unite(out, world.fieldsOf(*arg.value, depth + 1));
  } else if (name == "csv") {
    out.known = true;
    out.items.push_back({"columns", call.span});
  } else if (name == "rows" || name == "npy" || name == "idx") {
    out.known = true;
    for (const Argument &arg : call.args)
      if (arg.name)
        out.items.push_back(arg.name);
  }
  return out;
}

Fields World::fieldsOf(const Expr &data, int depth) const {
  const NameExpr *name = rootName(data);
  if (!name || depth > 16)
    return {};
  if (auto *decl = dynCast<DataDecl>(find(name->name)))
    return fieldsOf(*decl, depth + 1);
  if (auto *call = dynCast<CallExpr>(&data); call && isa<NameExpr>(call->callee.get()))
    return fieldsOfCall(*this, *call, name->name, depth);
  return {};
}

/// The name and type of what an item binds.
static std::pair<const Ident *, const Type *> bound(const Stmt &binding) {
  if (auto *let = dynCast<LetStmt>(&binding))
    return {&let->name, let->type.get()};
  auto *draw = cast<DrawStmt>(&binding);
  return {&draw->name, draw->type.get()};
}

Fields World::fieldsOf(const DataDecl &data, int depth) const {
  if (!data.hasItems)
    return data.source ? fieldsOf(*data.source, depth + 1) : Fields();
  Fields out;
  out.known = true;
  for (auto &item : data.items)
    if (auto [name, type] = bound(*item->binding); type && !item->fixed)
      out.items.push_back(*name);
  return out;
}

std::string dyn::checks::describe(const Decl &decl) {
  switch (decl.kind) {
  case Kind::FnDecl:
    return "a function";
  case Kind::ModelDecl:
    return "a model";
  case Kind::RuleDecl:
    return withArticle(spelling(cast<RuleDecl>(&decl)->rule));
  case Kind::DataDecl:
    return "data";
  case Kind::EnvDecl:
    return "an env";
  case Kind::TrainDecl:
    return "a train";
  case Kind::ExperimentDecl:
    return "an experiment";
  default:
    return "a constant";
  }
}

const Parameters *dyn::checks::callParameters(const Decl &decl) {
  switch (decl.kind) {
  case Kind::FnDecl:
    return &cast<FnDecl>(&decl)->parameters;
  case Kind::ModelDecl: {
    // With one list written, `m()` and `m(x)` both may stand: the elaborator tells them apart.
    auto &hyper = cast<ModelDecl>(&decl)->hyperparameters;
    return hyper.written ? &hyper : nullptr;
  }
  case Kind::RuleDecl:
    return &cast<RuleDecl>(&decl)->parameters;
  case Kind::DataDecl:
    return &cast<DataDecl>(&decl)->parameters;
  case Kind::TrainDecl:
    return &cast<TrainDecl>(&decl)->parameters;
  case Kind::ExperimentDecl:
    return &cast<ExperimentDecl>(&decl)->parameters;
  default:
    return nullptr;
  }
}
