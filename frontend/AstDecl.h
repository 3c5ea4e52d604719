//===- AstDecl.h - Trains, declarations, whole files ------------*- C++ -*-===//
//
// Included through Ast.h.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/AstStmt.h"

namespace dyn::ast {

/// The fourteen sockets of the training loop.
enum class RuleKind : uint8_t {
  Estimator,
  Privacy,
  Combiner,
  Clip,
  Compressor,
  Attack,
  Aggregator,
  Optimizer,
  Regularizer,
  Schedule,
  Sampler,
  Federated,
  Decentral,
  Probe
};
/// `optimizer`
const char *spelling(RuleKind kind);

//===----------------------------------------------------------------------===//
// Clauses of a train
//===----------------------------------------------------------------------===//

/// `{ clause … }`
struct ClauseBlock : NodeOf<Kind::ClauseBlock, Node> {
  std::vector<ClausePtr> clauses;
  bool oneLine = false; ///< the source has it on one line
};
using ClauseBlockPtr = std::unique_ptr<ClauseBlock>;

/// `[name =] value option …`
struct Source {
  Ident name;
  ExprPtr value;
  std::vector<SourceOption> options;
  Span span;
};

/// `data source, …`
struct DataClause : NodeOf<Kind::DataClause, Clause> {
  std::vector<Source> sources;
};

/// `name = value [from value [{ … }]] [for clients range]`
struct Instance {
  Ident name;
  ExprPtr value;
  ExprPtr from;
  BlockPtr fromBlock;
  ExprPtr clients;
  Span span;
};

/// `model instance, …`
struct ModelClause : NodeOf<Kind::ModelClause, Clause> {
  std::vector<Instance> instances;
};

/// `loss [name =] value`
struct LossClause : NodeOf<Kind::LossClause, Clause> {
  Ident name;
  ExprPtr value;
};

/// `optimizer [name =] value option …`, and so for every rule kind
struct RuleClause : NodeOf<Kind::RuleClause, Clause> {
  RuleKind rule = RuleKind::Optimizer;
  Ident name;
  ExprPtr value;
  std::vector<RuleOption> options;
};

/// What may follow the data of an eval: `per name`, `partition [value] by reference`, a timing.
struct EvalOption {
  enum class Form : uint8_t { Per, Partition, Timing } form = Form::Per;
  Ident unit;        ///< Per
  ExprPtr partition; ///< Partition; may be null
  ExprPtr by;        ///< Partition
  dyn::ast::Timing timing;
  Span span;
};

/// `name = [each] value [by reference]`
struct EvalItem : NodeOf<Kind::EvalItem, Item> {
  Ident name;
  bool each = false;
  ExprPtr value;
  ExprPtr by;
};

/// `eval [name =] value option … { item … }`
struct EvalClause : NodeOf<Kind::EvalClause, Clause> {
  Ident name;
  ExprPtr value;
  std::vector<EvalOption> options;
  std::vector<std::unique_ptr<EvalItem>> items;
  bool oneLine = false; ///< the source has the items on one line
};

/// `checkpoint timing`
struct CheckpointClause : NodeOf<Kind::CheckpointClause, Clause> {
  Timing timing;
};

enum class Setting : uint8_t { Epochs, Steps, Rounds, Precision, Arrival, Graph, Workers };
const char *spelling(Setting setting);

/// `epochs value`, `steps value`, `rounds value`, `precision value`, `arrival value`, `graph value`,
/// `workers value`
struct SettingClause : NodeOf<Kind::SettingClause, Clause> {
  Setting setting = Setting::Steps;
  ExprPtr value;
};

/// `participation value [poisson]`
struct ParticipationClause : NodeOf<Kind::ParticipationClause, Clause> {
  ExprPtr value;
  bool poisson = false;
};

/// `clients value [partition [value] [by reference]]`
struct ClientsClause : NodeOf<Kind::ClientsClause, Clause> {
  ExprPtr value;
  bool partitioned = false;
  ExprPtr partition;
  ExprPtr by;
};

/// `shared value`
struct SharedClause : NodeOf<Kind::SharedClause, Clause> {
  ExprPtr value;
};

/// `frozen "path"`
struct FrozenClause : NodeOf<Kind::FrozenClause, Clause> {
  std::unique_ptr<StringExpr> path;
};

/// `phase name for n clock { … }` or `phase name until condition limit n clock { … }`
struct PhaseClause : NodeOf<Kind::PhaseClause, Clause> {
  Ident name;
  ExprPtr until; ///< null: `for`
  ExprPtr count; ///< the length, or the limit
  Clock clock = Clock::Step;
  bool plural = true; ///< as written
  ClauseBlockPtr body;
};

/// `when condition { … }`
struct WhenClause : NodeOf<Kind::WhenClause, Clause> {
  ExprPtr condition;
  BlockPtr body;
};

/// `at step n { … }`, `at start { … }`
struct AtClause : NodeOf<Kind::AtClause, Clause> {
  Ident moment;
  ExprPtr value; ///< null for moments such as `start`
  BlockPtr body;
};

/// `stop when condition`
struct StopClause : NodeOf<Kind::StopClause, Clause> {
  ExprPtr condition;
};

/// `step { … }`: the train's own step
struct StepClause : NodeOf<Kind::StepClause, Clause> {
  BlockPtr body;
};

/// `if condition { clauses } [else { clauses }]`
struct IfClause : NodeOf<Kind::IfClause, Clause> {
  ExprPtr condition;
  ClauseBlockPtr thenClauses;
  ClauseBlockPtr elseClauses;
};

/// A statement that may also stand among clauses: a local, `~`, `param`, `frozen`, `state`, `fn`, `emit`,
/// `expect`, `seed`.
struct StmtClause : NodeOf<Kind::StmtClause, Clause> {
  StmtPtr statement;
};

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

/// `use "other.dyn"`
struct UseDecl : NodeOf<Kind::UseDecl, Decl> {
  std::unique_ptr<StringExpr> path;
};

/// `backward(dy, …) = value` or `backward(dy, …) { … }`
struct Backward {
  std::vector<Ident> parameters;
  Body body;
  Span span;
};

/// `fn name(parameters) [-> type] body [backward]`
struct FnDecl : NodeOf<Kind::FnDecl, Decl> {
  Ident name;
  Parameters parameters;
  TypePtr result;
  Body body;
  std::unique_ptr<Backward> backward;
};

/// `model name[(hyperparameters)](inputs) [-> type] body`
struct ModelDecl : NodeOf<Kind::ModelDecl, Decl> {
  Ident name;
  Parameters hyperparameters; ///< not written: the one list given is the inputs
  Parameters inputs;
  TypePtr result;
  Body body;
};

/// `kind name[(hyperparameters)] [bounds condition] [per unit] [over axis] [on pattern] body`
struct RuleDecl : NodeOf<Kind::RuleDecl, Decl> {
  RuleKind rule = RuleKind::Optimizer;
  Ident name;
  Parameters parameters;
  ExprPtr bounds;
  Ident per;
  Ident over;
  PatternPtr on;
  Body body;
};

/// `[fixed] name [: type] = value` or `… ~ distribution`
struct DataItem : NodeOf<Kind::DataItem, Item> {
  bool fixed = false;
  StmtPtr binding; ///< LetStmt or DrawStmt
};

/// `data name[(parameters)] = source [{ item … }] [split(…)] [seed value]`
struct DataDecl : NodeOf<Kind::DataDecl, Decl> {
  Ident name;
  Parameters parameters;
  ExprPtr source;
  bool hasItems = false; ///< braces are written
  bool oneLine = false;  ///< the source has the items on one line
  std::vector<std::unique_ptr<DataItem>> items;
  bool hasSplit = false;
  std::vector<Argument> split;
  ExprPtr seed;
};

/// `env name[(parameters)] { … }`
struct EnvDecl : NodeOf<Kind::EnvDecl, Decl> {
  Ident name;
  Parameters parameters;
  BlockPtr body;
};

/// `train name[(parameters)] { clause … }`
struct TrainDecl : NodeOf<Kind::TrainDecl, Decl> {
  Ident name;
  Parameters parameters;
  ClauseBlockPtr body;
};

/// `experiment name[(parameters)] { … }`
struct ExperimentDecl : NodeOf<Kind::ExperimentDecl, Decl> {
  Ident name;
  Parameters parameters;
  BlockPtr body;
};

/// `name [: type] = value` or `name [: type] ~ distribution` at the top of a file
struct ConstantDecl : NodeOf<Kind::ConstantDecl, Decl> {
  StmtPtr binding; ///< LetStmt or DrawStmt
};

//===----------------------------------------------------------------------===//
// A file
//===----------------------------------------------------------------------===//

/// A comment of the source, in written order.
struct Comment {
  Span span;
  std::string text;         ///< with its `#`, without spaces at its end
  bool ownLine = false;     ///< nothing stands before it on its line
  bool blankBefore = false; ///< the line above it is empty
};

/// A whole file.
struct Program {
  FileId file = 0;
  std::vector<DeclPtr> declarations;
  std::vector<Comment> comments;
};

/// Canonical text of a file. Parsing it again gives the same tree, printing that the same text.
std::string print(const Program &program);
/// Canonical text of a value on one line, for messages.
std::string print(const Expr &expr);
/// Canonical text of a type on one line, for messages.
std::string print(const Type &type);

/// The tree as an s-expression without spans, comments and layout: equal exactly for equal programs.
std::string dump(const Program &program);

} // namespace dyn::ast
