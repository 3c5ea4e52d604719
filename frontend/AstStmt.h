//===- AstStmt.h - Statements -----------------------------------*- C++ -*-===//
//
// Included through Ast.h.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/AstExpr.h"

namespace dyn::ast {

/// `{ statement … }`
struct Block : NodeOf<Kind::Block, Node> {
  std::vector<StmtPtr> statements;
  bool oneLine = false; ///< the source has it on one line
};

/// `name [: type] = value [as label]`
struct LetStmt : NodeOf<Kind::LetStmt, Stmt> {
  Ident name;
  TypePtr type;
  ExprPtr value;
  Label label;
};

/// `name [: type] ~ distribution`
struct DrawStmt : NodeOf<Kind::DrawStmt, Stmt> {
  Ident name;
  TypePtr type;
  ExprPtr distribution;
};

/// `x[i] = value`, `x.a = value`: one place of a local
struct PlaceStmt : NodeOf<Kind::PlaceStmt, Stmt> {
  ExprPtr target; ///< a MemberExpr or IndexExpr that begins with a name
  ExprPtr value;
};

/// `target <- value`: what outlives the block
struct WriteStmt : NodeOf<Kind::WriteStmt, Stmt> {
  ExprPtr target;
  ExprPtr value;
};

/// `[axis] state name [: type] = value` or `… ~ distribution`
struct StateStmt : NodeOf<Kind::StateStmt, Stmt> {
  Ident axis; ///< `leaf`, `example`, `client` …
  Ident name;
  TypePtr type;
  bool drawn = false; ///< `~`
  ExprPtr init;
};

/// `param name: type = value` or `… ~ distribution`; `frozen` likewise
struct LeafStmt : NodeOf<Kind::LeafStmt, Stmt> {
  bool frozen = false;
  Ident name;
  TypePtr type;
  bool drawn = false; ///< `~`
  ExprPtr init;
};

struct FnDecl;

/// A function inside a block.
struct FnStmt : NodeOf<Kind::FnStmt, Stmt> {
  std::unique_ptr<FnDecl> function;
};

/// `if condition { … } [else { … } | else if …]`
struct IfStmt : NodeOf<Kind::IfStmt, Stmt> {
  ExprPtr condition;
  BlockPtr thenBlock;
  BlockPtr elseBlock;             ///< null if there is none, or `elseIf`
  std::unique_ptr<IfStmt> elseIf; ///< `else if`
};

/// `for name in range { … }`
struct ForStmt : NodeOf<Kind::ForStmt, Stmt> {
  Ident variable;
  ExprPtr range;
  BlockPtr body;
};

/// `while condition limit n { … }`
struct WhileStmt : NodeOf<Kind::WhileStmt, Stmt> {
  ExprPtr condition;
  ExprPtr limit;
  BlockPtr body;
};

/// `repeat n { … }`
struct RepeatStmt : NodeOf<Kind::RepeatStmt, Stmt> {
  ExprPtr count;
  BlockPtr body;
};

/// `return value [as label]`
struct ReturnStmt : NodeOf<Kind::ReturnStmt, Stmt> {
  ExprPtr value;
  Label label;
};

/// `yield value`
struct YieldStmt : NodeOf<Kind::YieldStmt, Stmt> {
  ExprPtr value;
};

/// `emit name = value, …`
struct EmitStmt : NodeOf<Kind::EmitStmt, Stmt> {
  std::vector<Named> values;
};

/// `send name = value, …` or `send value`: `values`, or `value`
struct SendStmt : NodeOf<Kind::SendStmt, Stmt> {
  std::vector<Named> values;
  ExprPtr value;
};

/// `minimize value on reference, … with reference`
struct MinimizeStmt : NodeOf<Kind::MinimizeStmt, Stmt> {
  ExprPtr objective;
  std::vector<ExprPtr> models;
  ExprPtr optimizer;
};

enum class Side : uint8_t { Client, Server, Node, Link };
const char *spelling(Side side);

/// `client { … }`, `server { … }`, `node { … }`, `link { … }`
struct SideStmt : NodeOf<Kind::SideStmt, Stmt> {
  Side side = Side::Client;
  BlockPtr body;
};

/// `restore last checkpoint`
struct RestoreStmt : NodeOf<Kind::RestoreStmt, Stmt> {};

/// What may follow a rule in a clause: `on pattern`, `on n clients`, `except "path"`, `otherwise`,
/// `per name`, a timing.
struct RuleOption {
  enum class Form : uint8_t { On, OnClients, Except, Otherwise, Per, Timing } form = Form::On;
  PatternPtr pattern;               ///< On
  ExprPtr clients;                  ///< OnClients
  std::unique_ptr<StringExpr> path; ///< Except
  Ident unit;                       ///< Per
  dyn::ast::Timing timing;          ///< Timing
  Span span;
};

/// What may follow a data source: `batch n [upto n [by n]]`, `all`, `shuffle`, `drop`, `poisson`. `batch all`
/// has the NameExpr `all` as size.
struct SourceOption {
  enum class Form : uint8_t { Batch, All, Shuffle, Drop, Poisson } form = Form::Batch;
  ExprPtr size, upto, by; ///< Batch
  Span span;
};

/// `path = value option …` (one) or `path in values` (swept)
struct ChangePart {
  Path path;
  bool swept = false;
  ExprPtr value;
  std::vector<RuleOption> ruleOptions;
  std::vector<SourceOption> sourceOptions;
  Span span;
};

/// `with part, …` or `without path, …`: `parts`, or `removed`
struct Change {
  std::vector<ChangePart> parts;
  std::vector<Path> removed;
  Span span;
};

/// `train(…) change …`, or `fork run at step n change …`
struct Variant {
  bool fork = false;
  ExprPtr base;
  ExprPtr step; ///< of a fork
  std::vector<Change> changes;
  Span span;
};

/// `run name = variant`, `sweep name = variant`
struct RunStmt : NodeOf<Kind::RunStmt, Stmt> {
  bool sweep = false;
  Ident name;
  Variant variant;
};

/// `expect value`
struct ExpectStmt : NodeOf<Kind::ExpectStmt, Stmt> {
  ExprPtr value;
};

/// `plot value, … [over value] [by name]`
struct PlotStmt : NodeOf<Kind::PlotStmt, Stmt> {
  std::vector<ExprPtr> values;
  ExprPtr over;
  Ident by;
};

/// `seed …`
struct SeedStmt : NodeOf<Kind::SeedStmt, Stmt> {
  Seeds seeds;
};

/// A value that stands alone; the checks see to it that it is a call with an effect.
struct CallStmt : NodeOf<Kind::CallStmt, Stmt> {
  ExprPtr call;
};

} // namespace dyn::ast
