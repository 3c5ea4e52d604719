//===- Builder.h - From ANTLR's tree to ours --------------------*- C++ -*-===//
//
// One function a grammar rule, split over Declarations, Trains, Statements and Expressions. Runs only on trees
// without syntax errors, so nothing that the grammar demands is missing. Private to frontend/parse/.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "DynParser.h"
#include "frontend/parse/Parser.h"
#include "frontend/parse/Tokens.h"

namespace dyn::parsing {

class Builder {
public:
  using P = DynParser;
  using Context = antlr4::ParserRuleContext;

  Builder(const SourceFile &source, DiagnosticEngine &diags) : source(source), diags(diags) {}

  std::unique_ptr<ast::Program> program(P::ProgramContext *c, std::vector<ast::Comment> comments);
  std::unique_ptr<SessionEntry> entry(P::EntryContext *c, std::vector<ast::Comment> comments);

private:
  // Declarations.cpp
  SessionEntry::Action action(P::EntryItemContext *c);
  ast::DeclPtr declaration(P::DeclarationContext *c);
  std::unique_ptr<ast::FnDecl> function(P::FunctionContext *c);
  ast::DeclPtr model(P::ModelDeclContext *c);
  ast::DeclPtr rule(P::RuleDeclContext *c);
  void ruleHead(P::RuleHeadContext *c, ast::RuleDecl &rule);
  ast::DeclPtr data(P::DataDeclContext *c);
  void dataTail(P::DataTailContext *c, ast::DataDecl &data);
  ast::Body body(P::BodyContext *c);
  ast::Parameters parameters(P::ParametersContext *c);
  ast::PatternPtr pattern(P::PatternContext *c);
  ast::TypePtr type(P::TypeRefContext *c);
  std::unique_ptr<ast::RecordType> record(P::RecordTypeContext *c);
  std::vector<ast::ExprPtr> shape(P::ShapeContext *c);
  ast::RuleKind ruleKind(P::RuleKindContext *c);
  void attachDocs(ast::Program &program);

  // Trains.cpp
  ast::ClauseBlockPtr clauses(P::ClausesContext *c);
  ast::ClausePtr clause(P::ClauseContext *c);
  ast::ClausePtr ruleOrDataClause(P::ClauseContext *c);
  ast::ClausePtr settingClause(P::ClauseContext *c);
  ast::ClausePtr blockClause(P::ClauseContext *c);
  ast::ClausePtr statementClause(P::ClauseContext *c);
  ast::ClausePtr evalClause(P::EvalClauseContext *c);
  ast::ClausePtr phaseClause(P::PhaseClauseContext *c);
  ast::Source dataSource(P::SourceContext *c);
  ast::Instance instance(P::InstanceContext *c);
  ast::SourceOption sourceOption(P::SourceOptionContext *c);
  ast::RuleOption ruleOption(P::RuleOptionContext *c);
  ast::EvalOption evalOption(P::EvalOptionContext *c);
  ast::Timing timing(P::TimingContext *c);
  ast::Clock clock(P::ClockContext *c, bool &plural);
  ast::Seeds seeds(P::SeedsContext *c);

  // Statements.cpp
  ast::BlockPtr block(P::BlockContext *c);
  ast::StmtPtr statement(P::StatementContext *c);
  ast::StmtPtr simpleStatement(P::StatementContext *c);
  ast::StmtPtr flowStatement(P::StatementContext *c);
  ast::StmtPtr outwardStatement(P::StatementContext *c);
  ast::StmtPtr experimentStatement(P::StatementContext *c);
  ast::StmtPtr binding(P::BindingContext *c);
  ast::StmtPtr placed(P::PlacedStmtContext *c);
  ast::StmtPtr state(P::StateDefContext *c);
  ast::StmtPtr leaf(P::LeafDefContext *c);
  std::unique_ptr<ast::IfStmt> ifStatement(P::IfStatementContext *c);
  ast::StmtPtr emit(Context *c, const std::vector<P::NamedContext *> &values);
  ast::Label label(P::LabelContext *c);
  ast::Variant variant(P::VariantContext *c);
  ast::Change change(P::ChangeContext *c);
  ast::ChangePart changePart(P::PartContext *c);
  ast::Path path(P::PathContext *c);

  // Expressions.cpp
  ast::ExprPtr value(P::ValueContext *c);
  ast::ExprPtr logic(P::LogicContext *c);
  ast::ExprPtr test(P::TestContext *c);
  ast::ExprPtr span(P::SpanContext *c);
  ast::ExprPtr arith(P::ArithContext *c);
  ast::ExprPtr unary(P::UnaryContext *c);
  ast::ExprPtr postfix(P::PostfixContext *c);
  ast::ExprPtr reference(P::ReferenceContext *c);
  ast::ExprPtr chain(Context *c, size_t firstName, size_t end);
  ast::ExprPtr atom(P::AtomContext *c);
  ast::ExprPtr number(antlr4::tree::TerminalNode *token);
  std::unique_ptr<ast::StringExpr> string(antlr4::tree::TerminalNode *token);
  ast::ExprPtr slicing(P::SlicingContext *c);
  ast::ExprPtr index(P::IndexContext *c);
  ast::Argument argument(P::ArgumentContext *c);
  ast::Named named(P::NamedContext *c);
  std::vector<ast::Named> named(const std::vector<P::NamedContext *> &list);
  std::vector<ast::ExprPtr> values(const std::vector<P::ValueContext *> &list);
  std::vector<ast::ExprPtr> indices(const std::vector<P::IndexContext *> &list);
  ast::ExprPtr binary(ast::BinaryOp op, antlr4::tree::ParseTree *token, ast::ExprPtr lhs, ast::ExprPtr rhs);
  ast::ExprPtr nameExpr(P::NameContext *c);

  // Places
  Span spanOf(const antlr4::Token *token) const { return parsing::spanOf(token, source.id()); }
  Span spanOf(Context *c) const;
  bool onOneLine(Span span) const;
  bool isBlankAbove(Span span) const;
  ast::Ident ident(P::NameContext *c) const;

  /// A new node with the span of what it is built from.
  template <class T>
  std::unique_ptr<T> make(Context *c) const {
    auto node = std::make_unique<T>();
    node->span = spanOf(c);
    return node;
  }
  /// Fills in what every item of a list has.
  template <class T>
  std::unique_ptr<T> item(std::unique_ptr<T> node, Context *c) const {
    node->span = spanOf(c);
    node->blankBefore = isBlankAbove(node->span);
    return node;
  }

  const SourceFile &source;
  DiagnosticEngine &diags;
};

template <class T>
T *as(antlr4::tree::ParseTree *c) {
  return dynamic_cast<T *>(c);
}

inline size_t typeOf(antlr4::tree::ParseTree *c) {
  auto *terminal = as<antlr4::tree::TerminalNode>(c);
  return terminal ? terminal->getSymbol()->getType() : 0;
}

} // namespace dyn::parsing
