//===- CheckInternals.h - Shared by the checks ------------------*- C++ -*-===//
//
// Private to frontend/Check*.cpp.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/AstWalk.h"
#include "frontend/Checks.h"
#include "frontend/RuleKinds.h"

#include <map>
#include <optional>

namespace dyn::checks {

/// A row of Builtins.def.
struct Builtin {
  std::string_view name;
  int least, most; ///< positional arguments; most -1: any number
  std::vector<std::string> named;
};

/// Null if the language has no such function in this release.
const Builtin *findBuiltin(std::string_view name);
bool isBuiltinConstant(std::string_view name);
/// Known to the language, not built yet.
bool isLaterBuiltin(std::string_view name);
/// 1 a supported source of data, 0 one for later, nothing if it is none.
std::optional<bool> dataSource(std::string_view name);
/// "`csv`, `idx` and `npy`": the sources that this release reads.
std::string supportedSources();
/// Functions, constants and sources, for suggestions.
const std::vector<std::string> &builtinNames();

/// The fields of some data, if the text tells them.
struct Fields {
  bool known = false;
  std::vector<ast::Ident> items;

  bool has(std::string_view name) const;
};

/// The declarations that a file sees.
class World {
public:
  World(const ast::Program &program, const Library &library);

  const ast::Decl *find(std::string_view name) const;
  const ast::Decl *findOwn(std::string_view name) const;
  std::vector<std::string> names() const;
  const ast::Program &program() const { return file; }

  /// The declaration at which an expression's chain begins, if it begins at one.
  const ast::Decl *root(const ast::Expr &expr) const;
  /// The fields of a data expression such as `digits.train` or `blobs()[0:100]`.
  Fields fieldsOf(const ast::Expr &data, int depth = 0) const;
  Fields fieldsOf(const ast::DataDecl &data, int depth = 0) const;

private:
  const ast::Program &file;
  const Library &library;
  std::map<std::string, const ast::Decl *, std::less<>> own;
};

/// `a model`, `an optimizer`, `a function` …
std::string describe(const ast::Decl &decl);
/// The hyperparameters of a declaration that is called with some; null if it has none to check.
const ast::Parameters *callParameters(const ast::Decl &decl);

/// Whether a rule writes, returns, emits or sends what its kind must (CheckRules.cpp).
bool meetsDuty(const ast::RuleDecl &rule);

/// What a train's `expect` and `metric.x` name is emitted (CheckMetrics.cpp).
void checkMetrics(const World &world, const ast::TrainDecl &train, DiagnosticEngine &diags);

} // namespace dyn::checks
