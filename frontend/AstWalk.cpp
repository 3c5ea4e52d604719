//===- AstWalk.cpp - Visiting what a syntax node holds ----------*- C++ -*-===//

#include "frontend/AstWalk.h"

#include <algorithm>

using namespace dyn::ast;

namespace {

/// Sends the parts of one node to a visitor, whatever owns them.
struct Children {
  const NodeVisitor &visit;

  template <class T>
  void operator()(const std::unique_ptr<T> &child) {
    if (child)
      visit(*child);
  }
  template <class T>
  void operator()(const std::vector<T> &list) {
    for (const T &item : list)
      (*this)(item);
  }
  void operator()(const Argument &a) { (*this)(a.value); }
  void operator()(const Named &n) { (*this)(n.value); }
  void operator()(const Parameter &p) { all(p.type, p.init); }
  void operator()(const Parameters &p) { (*this)(p.items); }
  void operator()(const Body &b) { all(b.value, b.block); }
  void operator()(const Label &l) { (*this)(l.indices); }
  void operator()(const Timing &t) { (*this)(t.value); }
  void operator()(const Seeds &s) { all(s.one, s.streams); }
  void operator()(const TypeField &f) { (*this)(f.type); }
  void operator()(const RuleOption &o) { all(o.pattern, o.clients, o.path, o.timing); }
  void operator()(const SourceOption &o) { all(o.size, o.upto, o.by); }
  void operator()(const ChangePart &p) { all(p.value, p.ruleOptions, p.sourceOptions); }
  void operator()(const Change &c) { (*this)(c.parts); }
  void operator()(const Variant &v) { all(v.base, v.step, v.changes); }
  void operator()(const Source &s) { all(s.value, s.options); }
  void operator()(const Instance &i) { all(i.value, i.from, i.fromBlock, i.clients); }
  void operator()(const EvalOption &o) { all(o.partition, o.by, o.timing); }

  template <class... Parts>
  void all(const Parts &...parts) {
    ((*this)(parts), ...);
  }
};

} // namespace

static void visitExpr(const Node &n, Children &c) {
  switch (n.kind) {
  case Kind::RecordExpr:
    return c(cast<RecordExpr>(&n)->fields);
  case Kind::GroupExpr:
    return c(cast<GroupExpr>(&n)->items);
  case Kind::ArrayExpr:
    return c(cast<ArrayExpr>(&n)->elements);
  case Kind::ComprehensionExpr: {
    auto &e = *cast<ComprehensionExpr>(&n);
    return c.all(e.body, e.range);
  }
  case Kind::MemberExpr:
    return c(cast<MemberExpr>(&n)->base);
  case Kind::CallExpr: {
    auto &e = *cast<CallExpr>(&n);
    return c.all(e.callee, e.args);
  }
  case Kind::IndexExpr: {
    auto &e = *cast<IndexExpr>(&n);
    return c.all(e.base, e.indices);
  }
  case Kind::SliceExpr: {
    auto &e = *cast<SliceExpr>(&n);
    return c.all(e.low, e.high);
  }
  case Kind::UnaryExpr:
    return c(cast<UnaryExpr>(&n)->operand);
  case Kind::BinaryExpr: {
    auto &e = *cast<BinaryExpr>(&n);
    return c.all(e.lhs, e.rhs);
  }
  case Kind::RangeExpr: {
    auto &e = *cast<RangeExpr>(&n);
    return c.all(e.low, e.high);
  }
  case Kind::ConditionalExpr: {
    auto &e = *cast<ConditionalExpr>(&n);
    return c.all(e.condition, e.thenValue, e.elseValue);
  }
  case Kind::CollectExpr: {
    auto &e = *cast<CollectExpr>(&n);
    return c.all(e.range, e.body);
  }
  case Kind::ClosureExpr:
    return c(cast<ClosureExpr>(&n)->body);
  default:
    return;
  }
}

static void visitTypeOrPattern(const Node &n, Children &c) {
  switch (n.kind) {
  case Kind::NamedType:
    return c(cast<NamedType>(&n)->args);
  case Kind::ArrayType: {
    auto &t = *cast<ArrayType>(&n);
    return c.all(t.element, t.shape);
  }
  case Kind::RecordType:
    return c(cast<RecordType>(&n)->fields);
  case Kind::FnType: {
    auto &t = *cast<FnType>(&n);
    return c.all(t.parameters, t.result);
  }
  case Kind::ShapePattern:
    return c(cast<ShapePattern>(&n)->shape);
  case Kind::PathPattern:
    return c(cast<PathPattern>(&n)->path);
  case Kind::ModulePattern:
    return c(cast<ModulePattern>(&n)->leaves);
  case Kind::ReferencePattern:
    return c(cast<ReferencePattern>(&n)->reference);
  default:
    return;
  }
}

static void visitStmt(const Node &n, Children &c) {
  switch (n.kind) {
  case Kind::LetStmt: {
    auto &s = *cast<LetStmt>(&n);
    return c.all(s.type, s.value, s.label);
  }
  case Kind::DrawStmt: {
    auto &s = *cast<DrawStmt>(&n);
    return c.all(s.type, s.distribution);
  }
  case Kind::PlaceStmt: {
    auto &s = *cast<PlaceStmt>(&n);
    return c.all(s.target, s.value);
  }
  case Kind::WriteStmt: {
    auto &s = *cast<WriteStmt>(&n);
    return c.all(s.target, s.value);
  }
  case Kind::StateStmt: {
    auto &s = *cast<StateStmt>(&n);
    return c.all(s.type, s.init);
  }
  case Kind::LeafStmt: {
    auto &s = *cast<LeafStmt>(&n);
    return c.all(s.type, s.init);
  }
  case Kind::FnStmt:
    return c(cast<FnStmt>(&n)->function);
  case Kind::IfStmt: {
    auto &s = *cast<IfStmt>(&n);
    return c.all(s.condition, s.thenBlock, s.elseBlock, s.elseIf);
  }
  case Kind::ForStmt: {
    auto &s = *cast<ForStmt>(&n);
    return c.all(s.range, s.body);
  }
  case Kind::WhileStmt: {
    auto &s = *cast<WhileStmt>(&n);
    return c.all(s.condition, s.limit, s.body);
  }
  case Kind::RepeatStmt: {
    auto &s = *cast<RepeatStmt>(&n);
    return c.all(s.count, s.body);
  }
  case Kind::ReturnStmt: {
    auto &s = *cast<ReturnStmt>(&n);
    return c.all(s.value, s.label);
  }
  case Kind::YieldStmt:
    return c(cast<YieldStmt>(&n)->value);
  case Kind::EmitStmt:
    return c(cast<EmitStmt>(&n)->values);
  case Kind::SendStmt: {
    auto &s = *cast<SendStmt>(&n);
    return c.all(s.values, s.value);
  }
  case Kind::MinimizeStmt: {
    auto &s = *cast<MinimizeStmt>(&n);
    return c.all(s.objective, s.models, s.optimizer);
  }
  case Kind::SideStmt:
    return c(cast<SideStmt>(&n)->body);
  case Kind::RunStmt:
    return c(cast<RunStmt>(&n)->variant);
  case Kind::ExpectStmt:
    return c(cast<ExpectStmt>(&n)->value);
  case Kind::PlotStmt: {
    auto &s = *cast<PlotStmt>(&n);
    return c.all(s.values, s.over);
  }
  case Kind::SeedStmt:
    return c(cast<SeedStmt>(&n)->seeds);
  case Kind::CallStmt:
    return c(cast<CallStmt>(&n)->call);
  default:
    return;
  }
}

static void visitClause(const Node &n, Children &c) {
  switch (n.kind) {
  case Kind::DataClause:
    return c(cast<DataClause>(&n)->sources);
  case Kind::ModelClause:
    return c(cast<ModelClause>(&n)->instances);
  case Kind::LossClause:
    return c(cast<LossClause>(&n)->value);
  case Kind::RuleClause: {
    auto &r = *cast<RuleClause>(&n);
    return c.all(r.value, r.options);
  }
  case Kind::EvalClause: {
    auto &e = *cast<EvalClause>(&n);
    return c.all(e.value, e.options, e.items);
  }
  case Kind::CheckpointClause:
    return c(cast<CheckpointClause>(&n)->timing);
  case Kind::SettingClause:
    return c(cast<SettingClause>(&n)->value);
  case Kind::ParticipationClause:
    return c(cast<ParticipationClause>(&n)->value);
  case Kind::ClientsClause: {
    auto &s = *cast<ClientsClause>(&n);
    return c.all(s.value, s.partition, s.by);
  }
  case Kind::SharedClause:
    return c(cast<SharedClause>(&n)->value);
  case Kind::FrozenClause:
    return c(cast<FrozenClause>(&n)->path);
  case Kind::PhaseClause: {
    auto &p = *cast<PhaseClause>(&n);
    return c.all(p.until, p.count, p.body);
  }
  case Kind::WhenClause: {
    auto &w = *cast<WhenClause>(&n);
    return c.all(w.condition, w.body);
  }
  case Kind::AtClause: {
    auto &a = *cast<AtClause>(&n);
    return c.all(a.value, a.body);
  }
  case Kind::StopClause:
    return c(cast<StopClause>(&n)->condition);
  case Kind::StepClause:
    return c(cast<StepClause>(&n)->body);
  case Kind::IfClause: {
    auto &i = *cast<IfClause>(&n);
    return c.all(i.condition, i.thenClauses, i.elseClauses);
  }
  case Kind::StmtClause:
    return c(cast<StmtClause>(&n)->statement);
  default:
    return;
  }
}

static void visitDecl(const Node &n, Children &c) {
  switch (n.kind) {
  case Kind::FnDecl: {
    auto &f = *cast<FnDecl>(&n);
    c.all(f.parameters, f.result, f.body);
    if (f.backward)
      c(f.backward->body);
    return;
  }
  case Kind::ModelDecl: {
    auto &m = *cast<ModelDecl>(&n);
    return c.all(m.hyperparameters, m.inputs, m.result, m.body);
  }
  case Kind::RuleDecl: {
    auto &r = *cast<RuleDecl>(&n);
    return c.all(r.parameters, r.bounds, r.on, r.body);
  }
  case Kind::DataDecl: {
    auto &d = *cast<DataDecl>(&n);
    return c.all(d.parameters, d.source, d.items, d.split, d.seed);
  }
  case Kind::EnvDecl: {
    auto &e = *cast<EnvDecl>(&n);
    return c.all(e.parameters, e.body);
  }
  case Kind::TrainDecl: {
    auto &t = *cast<TrainDecl>(&n);
    return c.all(t.parameters, t.body);
  }
  case Kind::ExperimentDecl: {
    auto &e = *cast<ExperimentDecl>(&n);
    return c.all(e.parameters, e.body);
  }
  case Kind::ConstantDecl:
    return c(cast<ConstantDecl>(&n)->binding);
  default:
    return;
  }
}

void dyn::ast::forEachChild(const Node &node, const NodeVisitor &visit) {
  Children children{visit};
  if (Expr::classof(&node))
    return visitExpr(node, children);
  if (Stmt::classof(&node))
    return visitStmt(node, children);
  if (Clause::classof(&node))
    return visitClause(node, children);
  if (Decl::classof(&node))
    return visitDecl(node, children);
  if (auto *block = dynCast<Block>(&node))
    return children(block->statements);
  if (auto *block = dynCast<ClauseBlock>(&node))
    return children(block->clauses);
  if (auto *item = dynCast<DataItem>(&node))
    return children(item->binding);
  if (auto *item = dynCast<EvalItem>(&node))
    return children.all(item->value, item->by);
  visitTypeOrPattern(node, children);
}

void dyn::ast::walk(const Node &node, const std::function<bool(const Node &)> &enter) {
  if (enter(node))
    forEachChild(node, [&](const Node &child) { walk(child, enter); });
}

const NameExpr *dyn::ast::rootName(const Expr &expr) {
  const Expr *at = &expr;
  for (;;) {
    if (auto *member = dynCast<MemberExpr>(at))
      at = member->base.get();
    else if (auto *call = dynCast<CallExpr>(at))
      at = call->callee.get();
    else if (auto *index = dynCast<IndexExpr>(at))
      at = index->base.get();
    else
      return dynCast<NameExpr>(at);
  }
}

std::vector<std::string> dyn::ast::memberPath(const Expr &expr) {
  std::vector<std::string> path;
  const Expr *at = &expr;
  while (auto *member = dynCast<MemberExpr>(at)) {
    path.push_back(member->member.text);
    at = member->base.get();
  }
  auto *name = dynCast<NameExpr>(at);
  if (!name)
    return {};
  path.push_back(name->name);
  std::reverse(path.begin(), path.end());
  return path;
}

const Ident *dyn::ast::declaredName(const Decl &decl) {
  switch (decl.kind) {
  case Kind::FnDecl:
    return &cast<FnDecl>(&decl)->name;
  case Kind::ModelDecl:
    return &cast<ModelDecl>(&decl)->name;
  case Kind::RuleDecl:
    return &cast<RuleDecl>(&decl)->name;
  case Kind::DataDecl:
    return &cast<DataDecl>(&decl)->name;
  case Kind::EnvDecl:
    return &cast<EnvDecl>(&decl)->name;
  case Kind::TrainDecl:
    return &cast<TrainDecl>(&decl)->name;
  case Kind::ExperimentDecl:
    return &cast<ExperimentDecl>(&decl)->name;
  case Kind::ConstantDecl: {
    const Stmt *binding = cast<ConstantDecl>(&decl)->binding.get();
    if (auto *let = dynCast<LetStmt>(binding))
      return &let->name;
    return &cast<DrawStmt>(binding)->name;
  }
  default:
    return nullptr;
  }
}
