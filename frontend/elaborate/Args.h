//===- Args.h - arguments of a call to a function of the language ---------===//
#pragma once

#include "frontend/elaborate/Elaborator.h"

namespace dyn::elab {

/// Arguments of a call: positional expressions, and those with a name.
struct Elaborator::Args {
  std::vector<const ast::Expr *> positional;
  std::map<std::string, const ast::Expr *> named;
  Span span;
  mutable std::set<std::string> read; ///< names that somebody asked for: the others would be ignored

  const ast::Expr *get(const char *name) const {
    read.insert(name);
    auto it = named.find(name);
    return it == named.end() ? nullptr : it->second;
  }
};

} // namespace dyn::elab
