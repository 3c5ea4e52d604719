#include "frontend/elaborate/Patterns.h"

namespace dyn::elab {

bool matchesPath(llvm::StringRef pattern, llvm::StringRef path) {
  size_t star = pattern.find('*');
  if (star == llvm::StringRef::npos)
    return pattern == path;
  if (!path.consume_front(pattern.take_front(star)))
    return false;
  llvm::StringRef rest = pattern.drop_front(star + 1);
  for (size_t skip = 0; skip <= path.size(); ++skip)
    if (matchesPath(rest, path.drop_front(skip)))
      return true;
  return false;
}

/// A shape pattern has the leaf's rank; sizes that are known must agree, names bind anything.
static bool matchesShape(const ast::ShapePattern &pattern, const ParamInfo &leaf, Elaborator &elaborator, ScopePtr scope) {
  if (pattern.shape.size() != leaf.shape.size())
    return false;
  std::map<std::string, int64_t> bound;
  for (size_t i = 0; i < leaf.shape.size(); ++i) {
    // `[n, n]` takes squares only.
    if (auto *name = ast::dynCast<ast::NameExpr>(pattern.shape[i].get())) {
      if (bound.emplace(name->name, leaf.shape[i]).first->second != leaf.shape[i])
        return false;
      continue;
    }
    Frame frame{scope};
    Value size = elaborator.evaluate(*pattern.shape[i], frame);
    if (auto *c = size.as<Const>(); !c || static_cast<int64_t>(c->number) != leaf.shape[i])
      return false;
  }
  return true;
}

static bool matches(const ast::Pattern &pattern, const ParamInfo &leaf, Elaborator &elaborator, ScopePtr scope) {
  if (auto *shape = ast::dynCast<ast::ShapePattern>(&pattern))
    return matchesShape(*shape, leaf, elaborator, scope);
  if (auto *path = ast::dynCast<ast::PathPattern>(&pattern))
    return matchesPath(path->path->value, leaf.path);
  if (auto *reference = ast::dynCast<ast::ReferencePattern>(&pattern)) {
    std::string name = print(*reference->reference);
    return leaf.path == name || llvm::StringRef(leaf.path).starts_with(name + ".");
  }
  return false;
}

bool ownsLeaf(const std::vector<ast::RuleOption> &options, const ast::RuleDecl &rule, const ParamInfo &leaf, Elaborator &elaborator,
              ScopePtr scope, bool &otherwise) {
  bool owns = !rule.on || matches(*rule.on, leaf, elaborator, scope);
  for (const ast::RuleOption &option : options) {
    if (option.form == ast::RuleOption::Form::On)
      owns &= matches(*option.pattern, leaf, elaborator, scope);
    else if (option.form == ast::RuleOption::Form::Except)
      owns &= !matchesPath(option.path->value, leaf.path);
    else if (option.form == ast::RuleOption::Form::Otherwise)
      otherwise = true;
  }
  return owns;
}

} // namespace dyn::elab
