//===- AstExpr.h - Names, values, types, patterns ---------------*- C++ -*-===//
//
// Included through Ast.h.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/AstBase.h"

namespace dyn::ast {

//===----------------------------------------------------------------------===//
// Small parts
//===----------------------------------------------------------------------===//

/// A name where it is written; empty where an optional name is left out.
struct Ident {
  std::string text;
  Span span;

  bool empty() const { return text.empty(); }
  explicit operator bool() const { return !empty(); }
};

/// `name = value`
struct Named {
  Ident name;
  ExprPtr value;
  Span span;
};

/// `[name =] value`; in a call the value may be a slice.
struct Argument {
  Ident name;
  ExprPtr value;
  Span span;
};

/// `[live] name [: type] [= value]`
struct Parameter {
  bool live = false;
  Ident name;
  TypePtr type;
  ExprPtr init;
  Span span;
};

/// `(parameter, …)`. A declaration may leave the whole list out, which means the same as `()`.
struct Parameters {
  std::vector<Parameter> items;
  bool written = false;
  Span span;
};

/// `= value` or `{ … }`: exactly one of the two is set.
struct Body {
  ExprPtr value;
  BlockPtr block;
  bool ownLine = false; ///< the source begins the value on a line of its own
};

/// `name.name.…`
struct Path {
  std::vector<Ident> names;
  Span span;

  std::string text() const;
};

/// The name that `as` gives to an activation: `name` or `name[index, …]`.
struct Label {
  Ident name;
  std::vector<ExprPtr> indices;

  explicit operator bool() const { return bool(name); }
};

/// What a count or a moment is counted in; `steps` and `step` are one clock.
enum class Clock : uint8_t { Step, Epoch, Round, Example, Second };
/// `step`, or `steps` for plural.
const char *clockName(Clock clock, bool plural);

/// `every [n] clock` or `at value`
struct Timing {
  enum class Form : uint8_t { Every, At } form = Form::Every;
  ExprPtr value; ///< of `every`: null for one
  Clock clock = Clock::Step;
  bool plural = false; ///< as written
  Span span;
};

/// `seed value` or `seed init = value, order = value`: `one`, or `streams`.
struct Seeds {
  ExprPtr one;
  std::vector<Named> streams;
};

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

/// `1`, `1_000`, `1e-3`, `0x1f`
struct NumberExpr : NodeOf<Kind::NumberExpr, Expr> {
  std::string text;        ///< as written
  double value = 0;        ///< nearest f64
  uint64_t integer = 0;    ///< exact, if isInteger
  bool isInteger = false;  ///< written without point and exponent
};

/// `"…"`, with `\"`, `\\`, `\n`, `\t` inside
struct StringExpr : NodeOf<Kind::StringExpr, Expr> {
  std::string text;  ///< as written, with its quotes
  std::string value; ///< what it means
};

/// `true`, `false`
struct BoolExpr : NodeOf<Kind::BoolExpr, Expr> {
  bool value = false;
};

/// `none`
struct NoneExpr : NodeOf<Kind::NoneExpr, Expr> {};

/// `name`
struct NameExpr : NodeOf<Kind::NameExpr, Expr> {
  std::string name;
};

/// `(name = value, …)`
struct RecordExpr : NodeOf<Kind::RecordExpr, Expr> {
  std::vector<Named> fields;
};

/// `(value)`, or `(value, value, …)`: a tuple of arguments, as in `over=(seed, step)`, which is no value.
struct GroupExpr : NodeOf<Kind::GroupExpr, Expr> {
  std::vector<ExprPtr> items;

  bool isTuple() const { return items.size() > 1; }
};

/// `[value, …]`
struct ArrayExpr : NodeOf<Kind::ArrayExpr, Expr> {
  std::vector<ExprPtr> elements;
};

/// `[body for name in range]`
struct ComprehensionExpr : NodeOf<Kind::ComprehensionExpr, Expr> {
  ExprPtr body;
  Ident variable;
  ExprPtr range;
};

/// `base.name`
struct MemberExpr : NodeOf<Kind::MemberExpr, Expr> {
  ExprPtr base;
  Ident member;
};

/// `callee(argument, …)`
struct CallExpr : NodeOf<Kind::CallExpr, Expr> {
  ExprPtr callee;
  std::vector<Argument> args;
};

/// `base[index, …]`; an index may be a SliceExpr.
struct IndexExpr : NodeOf<Kind::IndexExpr, Expr> {
  ExprPtr base;
  std::vector<ExprPtr> indices;
};

/// `[low]:[high]`; stands only where an index or an argument may.
struct SliceExpr : NodeOf<Kind::SliceExpr, Expr> {
  ExprPtr low;
  ExprPtr high;
};

enum class UnaryOp : uint8_t { Neg, Not };
const char *spelling(UnaryOp op);

/// `-x`, `not x`
struct UnaryExpr : NodeOf<Kind::UnaryExpr, Expr> {
  UnaryOp op = UnaryOp::Neg;
  ExprPtr operand;
};

enum class BinaryOp : uint8_t { Or, And, Eq, Ne, Lt, Le, Gt, Ge, Add, Sub, Mul, Div, IntDiv, Mod, MatMul, Pow };
const char *spelling(BinaryOp op);

/// `a + b`; all binary operators but `..`
struct BinaryExpr : NodeOf<Kind::BinaryExpr, Expr> {
  BinaryOp op = BinaryOp::Add;
  Span opSpan;
  ExprPtr lhs;
  ExprPtr rhs;
};

/// `low..high`, without `high`
struct RangeExpr : NodeOf<Kind::RangeExpr, Expr> {
  ExprPtr low;
  ExprPtr high;
};

/// `if condition then value else value`
struct ConditionalExpr : NodeOf<Kind::ConditionalExpr, Expr> {
  ExprPtr condition;
  ExprPtr thenValue;
  ExprPtr elseValue;
};

/// `for name in range { …; yield value }` where a value stands
struct CollectExpr : NodeOf<Kind::CollectExpr, Expr> {
  Ident variable;
  ExprPtr range;
  BlockPtr body;
};

/// `name -> value` or `(name, …) -> value`
struct ClosureExpr : NodeOf<Kind::ClosureExpr, Expr> {
  std::vector<Ident> parameters;
  bool bracketed = false; ///< as written
  ExprPtr body;
};

//===----------------------------------------------------------------------===//
// Types and patterns
//===----------------------------------------------------------------------===//

/// `real`, `class(10)`, `optimizer`
struct NamedType : NodeOf<Kind::NamedType, Type> {
  Ident name;
  std::vector<ExprPtr> args;
};

/// `[n, m]` of reals, or `i32[n]`, `class(256)[64]` with an element type
struct ArrayType : NodeOf<Kind::ArrayType, Type> {
  std::unique_ptr<NamedType> element; ///< null: real
  std::vector<ExprPtr> shape;
};

/// `name: type`
struct TypeField {
  Ident name;
  TypePtr type;
};

/// `{name: type, …}`
struct RecordType : NodeOf<Kind::RecordType, Type> {
  std::vector<TypeField> fields;
};

/// `fn(type, …) -> type`
struct FnType : NodeOf<Kind::FnType, Type> {
  std::vector<TypePtr> parameters;
  TypePtr result;
};

/// `[rows, cols]`: leaves of this rank; its names are bound
struct ShapePattern : NodeOf<Kind::ShapePattern, Pattern> {
  std::vector<ExprPtr> shape;
};

/// `"*.dense.*"`: leaves by path
struct PathPattern : NodeOf<Kind::PathPattern, Pattern> {
  std::unique_ptr<StringExpr> path;
};

/// `module adapted {A: [r, n], B: [m, r]}`: instances of one model, all their leaves at once
struct ModulePattern : NodeOf<Kind::ModulePattern, Pattern> {
  Ident model;
  std::unique_ptr<RecordType> leaves;
};

/// `D`, `batch.part`, `G(x)`: what a name chain points at
struct ReferencePattern : NodeOf<Kind::ReferencePattern, Pattern> {
  ExprPtr reference;
};

} // namespace dyn::ast
