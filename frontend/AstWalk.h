//===- AstWalk.h - Visiting what a syntax node holds ------------*- C++ -*-===//
//
// For checks that ask the same of every node. Children come in written order; owned parts that are no nodes of
// their own (arguments, options, parameters) are passed through to the nodes in them.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/Ast.h"

#include <functional>

namespace dyn::ast {

using NodeVisitor = std::function<void(const Node &)>;

/// Calls `visit` for each direct child.
void forEachChild(const Node &node, const NodeVisitor &visit);

/// Visits `node` and what is in it, parents first; does not enter a node for which `enter` returns false.
void walk(const Node &node, const std::function<bool(const Node &)> &enter);

/// The name at which a chain of members, calls and indices begins (`a` of `a.b[i].c`); null if it begins elsewhere.
const NameExpr *rootName(const Expr &expr);

/// The members of a chain that has only members: `a.b.c` gives {a, b, c}; empty for anything else.
std::vector<std::string> memberPath(const Expr &expr);

/// The name a declaration gives; null for `use`.
const Ident *declaredName(const Decl &decl);

} // namespace dyn::ast
