//===- AstBase.h - Bases of the syntax nodes --------------------*- C++ -*-===//
//
// Included through Ast.h.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/Source.h"

#include <cassert>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace dyn::ast {

enum class Kind : uint8_t {
#define NODE(name, base) name,
#include "frontend/AstNodes.def"
};

/// The struct's name, for dumps and internal errors.
const char *kindName(Kind kind);

//===----------------------------------------------------------------------===//
// Bases
//===----------------------------------------------------------------------===//

struct Node {
  Kind kind;
  Span span;

  virtual ~Node() = default;
  Node(const Node &) = delete;
  Node &operator=(const Node &) = delete;

protected:
  explicit Node(Kind kind) : kind(kind) {}
};

struct Expr : Node {
  static bool classof(const Node *n) { return n->kind >= Kind::NumberExpr && n->kind <= Kind::ClosureExpr; }

protected:
  using Node::Node;
};

struct Type : Node {
  static bool classof(const Node *n) { return n->kind >= Kind::NamedType && n->kind <= Kind::FnType; }

protected:
  using Node::Node;
};

/// Which leaves, models or sets a rule is for.
struct Pattern : Node {
  static bool classof(const Node *n) {
    return n->kind >= Kind::ShapePattern && n->kind <= Kind::ReferencePattern;
  }

protected:
  using Node::Node;
};

/// What stands on a line of its own in some list: a declaration, statement, clause, data or eval item.
struct Item : Node {
  bool blankBefore = false; ///< the line above it is empty

protected:
  using Node::Node;
};

struct Stmt : Item {
  static bool classof(const Node *n) { return n->kind >= Kind::LetStmt && n->kind <= Kind::CallStmt; }

protected:
  using Item::Item;
};

struct Clause : Item {
  static bool classof(const Node *n) { return n->kind >= Kind::DataClause && n->kind <= Kind::StmtClause; }

protected:
  using Item::Item;
};

struct Decl : Item {
  std::string doc; ///< the comment block right above, without its marks
  static bool classof(const Node *n) { return n->kind >= Kind::UseDecl && n->kind <= Kind::ConstantDecl; }

protected:
  using Item::Item;
};

/// Gives a struct its kind, its constructor and its classof.
template <Kind K, class Base>
struct NodeOf : Base {
  static constexpr Kind theKind = K;
  NodeOf() : Base(K) {}
  static bool classof(const Node *n) { return n->kind == K; }
};

template <class T>
bool isa(const Node *n) {
  return n && T::classof(n);
}
template <class T>
const T *dynCast(const Node *n) {
  return isa<T>(n) ? static_cast<const T *>(n) : nullptr;
}
template <class T>
T *dynCast(Node *n) {
  return isa<T>(n) ? static_cast<T *>(n) : nullptr;
}
template <class T>
const T *cast(const Node *n) {
  assert(isa<T>(n) && "cast to another kind of node");
  return static_cast<const T *>(n);
}
template <class T>
T *cast(Node *n) {
  assert(isa<T>(n) && "cast to another kind of node");
  return static_cast<T *>(n);
}

using ExprPtr = std::unique_ptr<Expr>;
using TypePtr = std::unique_ptr<Type>;
using PatternPtr = std::unique_ptr<Pattern>;
using StmtPtr = std::unique_ptr<Stmt>;
using ClausePtr = std::unique_ptr<Clause>;
using DeclPtr = std::unique_ptr<Decl>;
struct Block;
using BlockPtr = std::unique_ptr<Block>;

} // namespace dyn::ast
