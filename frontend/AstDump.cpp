//===- AstDump.cpp - The syntax tree as an s-expression ---------*- C++ -*-===//
//
// For tests: every field that means something, and nothing of layout. Written apart from the printer, so that a
// field which that one forgets is missed here.
//
//===----------------------------------------------------------------------===//

#include "frontend/Ast.h"

namespace dyn::ast {
namespace {

class Dumper {
public:
  std::string out;

  void program(const Program &p) {
    for (const DeclPtr &d : p.declarations) {
      decl(*d);
      out += "\n";
    }
  }

private:
  void open(const char *word) { out += std::string("(") + word; }
  void close() { out += ")"; }
  void word(const std::string &text) { out += " " + (text.empty() ? std::string("_") : text); }
  void word(const Ident &name) { word(name.text); }
  void flag(bool set, const char *name) {
    if (set)
      word(std::string(":") + name);
  }
  /// A list in square brackets.
  template <class T, class F>
  void list(const std::vector<T> &items, F one) {
    out += " [";
    for (const T &item : items)
      one(item);
    out += " ]";
  }
  void maybe(const Expr *e) { e ? expr(*e) : word("-"); }
  void maybe(const Type *t) { t ? type(*t) : word("-"); }
  void exprs(const std::vector<ExprPtr> &items) {
    list(items, [&](const ExprPtr &e) { expr(*e); });
  }
  void idents(const std::vector<Ident> &items) {
    list(items, [&](const Ident &i) { word(i); });
  }
  void named(const std::vector<Named> &items) {
    list(items, [&](const Named &n) { word(n.name), expr(*n.value); });
  }
  void arguments(const std::vector<Argument> &items) {
    list(items, [&](const Argument &a) { word(a.name), expr(*a.value); });
  }

  void expr(const Expr &e);
  void compound(const Expr &e);
  void type(const Type &t);
  void fields(const RecordType &t) {
    list(t.fields, [&](const TypeField &f) { word(f.name), type(*f.type); });
  }
  void pattern(const Pattern &p);
  void block(const Block &b) {
    list(b.statements, [&](const StmtPtr &s) { stmt(*s); });
  }
  void stmt(const Stmt &s);
  void definition(const Stmt &s);
  void flow(const Stmt &s);
  void outward(const Stmt &s);
  void label(const Label &l) { word(l.name), exprs(l.indices); }
  void seeds(const Seeds &s) { maybe(s.one.get()), named(s.streams); }
  void timing(const Timing &t);
  void path(const Path &p) { idents(p.names); }
  void ruleOption(const RuleOption &o);
  void sourceOption(const SourceOption &o);
  void variant(const Variant &v);
  void clauses(const ClauseBlock &b) {
    list(b.clauses, [&](const ClausePtr &c) { clause(*c); });
  }
  void clause(const Clause &c);
  void parts(const Clause &c);
  void settings(const Clause &c);
  void blocks(const Clause &c);
  void decl(const Decl &d);
  void body(const Body &b) { b.value ? expr(*b.value) : block(*b.block); }
  void function(const FnDecl &d);
  void rule(const RuleDecl &d);
  void data(const DataDecl &d);
  void parameters(const Parameters &p);
};

void Dumper::expr(const Expr &e) {
  out += " ";
  open(kindName(e.kind));
  compound(e);
  close();
}

void Dumper::compound(const Expr &e) {
  if (auto *n = dynCast<NumberExpr>(&e))
    word(n->text), flag(n->isInteger, "int");
  else if (auto *n = dynCast<StringExpr>(&e))
    word(n->text);
  else if (auto *n = dynCast<BoolExpr>(&e))
    word(n->value ? "true" : "false");
  else if (auto *n = dynCast<NameExpr>(&e))
    word(n->name);
  else if (auto *n = dynCast<RecordExpr>(&e))
    named(n->fields);
  else if (auto *n = dynCast<GroupExpr>(&e))
    exprs(n->items);
  else if (auto *n = dynCast<ArrayExpr>(&e))
    exprs(n->elements);
  else if (auto *n = dynCast<ComprehensionExpr>(&e))
    word(n->variable), expr(*n->body), expr(*n->range);
  else if (auto *n = dynCast<MemberExpr>(&e))
    expr(*n->base), word(n->member);
  else if (auto *n = dynCast<CallExpr>(&e))
    expr(*n->callee), arguments(n->args);
  else if (auto *n = dynCast<IndexExpr>(&e))
    expr(*n->base), exprs(n->indices);
  else if (auto *n = dynCast<SliceExpr>(&e))
    maybe(n->low.get()), maybe(n->high.get());
  else if (auto *n = dynCast<UnaryExpr>(&e))
    word(spelling(n->op)), expr(*n->operand);
  else if (auto *n = dynCast<BinaryExpr>(&e))
    word(spelling(n->op)), expr(*n->lhs), expr(*n->rhs);
  else if (auto *n = dynCast<RangeExpr>(&e))
    expr(*n->low), expr(*n->high);
  else if (auto *n = dynCast<ConditionalExpr>(&e))
    expr(*n->condition), expr(*n->thenValue), expr(*n->elseValue);
  else if (auto *n = dynCast<CollectExpr>(&e))
    word(n->variable), expr(*n->range), block(*n->body);
  else if (auto *n = dynCast<ClosureExpr>(&e))
    idents(n->parameters), flag(n->bracketed, "bracketed"), expr(*n->body);
}

void Dumper::type(const Type &t) {
  out += " ";
  open(kindName(t.kind));
  if (auto *n = dynCast<NamedType>(&t)) {
    word(n->name), exprs(n->args);
  } else if (auto *n = dynCast<ArrayType>(&t)) {
    maybe(n->element.get()), exprs(n->shape);
  } else if (auto *n = dynCast<RecordType>(&t)) {
    fields(*n);
  } else if (auto *n = dynCast<FnType>(&t)) {
    list(n->parameters, [&](const TypePtr &p) { type(*p); });
    type(*n->result);
  }
  close();
}

void Dumper::pattern(const Pattern &p) {
  out += " ";
  open(kindName(p.kind));
  if (auto *n = dynCast<ShapePattern>(&p))
    exprs(n->shape);
  else if (auto *n = dynCast<PathPattern>(&p))
    word(n->path->text);
  else if (auto *n = dynCast<ModulePattern>(&p))
    word(n->model), fields(*n->leaves);
  else if (auto *n = dynCast<ReferencePattern>(&p))
    expr(*n->reference);
  close();
}

void Dumper::stmt(const Stmt &s) {
  out += " ";
  open(kindName(s.kind));
  definition(s);
  flow(s);
  outward(s);
  close();
}

void Dumper::definition(const Stmt &s) {
  if (auto *n = dynCast<LetStmt>(&s))
    word(n->name), maybe(n->type.get()), expr(*n->value), label(n->label);
  else if (auto *n = dynCast<DrawStmt>(&s))
    word(n->name), maybe(n->type.get()), expr(*n->distribution);
  else if (auto *n = dynCast<PlaceStmt>(&s))
    expr(*n->target), expr(*n->value);
  else if (auto *n = dynCast<WriteStmt>(&s))
    expr(*n->target), expr(*n->value);
  else if (auto *n = dynCast<StateStmt>(&s))
    word(n->axis), word(n->name), maybe(n->type.get()), flag(n->drawn, "drawn"), expr(*n->init);
  else if (auto *n = dynCast<LeafStmt>(&s))
    flag(n->frozen, "frozen"), word(n->name), maybe(n->type.get()), flag(n->drawn, "drawn"), expr(*n->init);
  else if (auto *n = dynCast<FnStmt>(&s))
    function(*n->function);
}

void Dumper::flow(const Stmt &s) {
  if (auto *n = dynCast<IfStmt>(&s)) {
    expr(*n->condition), block(*n->thenBlock);
    if (n->elseBlock)
      block(*n->elseBlock);
    if (n->elseIf)
      stmt(*n->elseIf);
  } else if (auto *n = dynCast<ForStmt>(&s)) {
    word(n->variable), expr(*n->range), block(*n->body);
  } else if (auto *n = dynCast<WhileStmt>(&s)) {
    expr(*n->condition), expr(*n->limit), block(*n->body);
  } else if (auto *n = dynCast<RepeatStmt>(&s)) {
    expr(*n->count), block(*n->body);
  } else if (auto *n = dynCast<ReturnStmt>(&s)) {
    expr(*n->value), label(n->label);
  } else if (auto *n = dynCast<YieldStmt>(&s)) {
    expr(*n->value);
  }
}

void Dumper::outward(const Stmt &s) {
  if (auto *n = dynCast<EmitStmt>(&s))
    named(n->values);
  else if (auto *n = dynCast<SendStmt>(&s))
    named(n->values), maybe(n->value.get());
  else if (auto *n = dynCast<MinimizeStmt>(&s))
    expr(*n->objective), exprs(n->models), expr(*n->optimizer);
  else if (auto *n = dynCast<SideStmt>(&s))
    word(spelling(n->side)), block(*n->body);
  else if (auto *n = dynCast<RunStmt>(&s))
    flag(n->sweep, "sweep"), word(n->name), variant(n->variant);
  else if (auto *n = dynCast<ExpectStmt>(&s))
    expr(*n->value);
  else if (auto *n = dynCast<PlotStmt>(&s))
    exprs(n->values), maybe(n->over.get()), word(n->by);
  else if (auto *n = dynCast<SeedStmt>(&s))
    seeds(n->seeds);
  else if (auto *n = dynCast<CallStmt>(&s))
    expr(*n->call);
}

void Dumper::timing(const Timing &t) {
  word(t.form == Timing::Form::At ? "at" : "every");
  maybe(t.value.get());
  word(clockName(t.clock, t.plural));
}

void Dumper::ruleOption(const RuleOption &o) {
  out += " ";
  open(std::to_string(static_cast<int>(o.form)).c_str());
  if (o.pattern)
    pattern(*o.pattern);
  if (o.clients)
    expr(*o.clients);
  if (o.path)
    word(o.path->text);
  word(o.unit);
  if (o.form == RuleOption::Form::Timing)
    timing(o.timing);
  close();
}

void Dumper::sourceOption(const SourceOption &o) {
  out += " ";
  open(std::to_string(static_cast<int>(o.form)).c_str());
  maybe(o.size.get()), maybe(o.upto.get()), maybe(o.by.get());
  close();
}

void Dumper::variant(const Variant &v) {
  flag(v.fork, "fork");
  expr(*v.base);
  maybe(v.step.get());
  list(v.changes, [&](const Change &c) {
    list(c.parts, [&](const ChangePart &p) {
      path(p.path), flag(p.swept, "swept"), expr(*p.value);
      list(p.ruleOptions, [&](const RuleOption &o) { ruleOption(o); });
      list(p.sourceOptions, [&](const SourceOption &o) { sourceOption(o); });
    });
    list(c.removed, [&](const Path &p) { path(p); });
  });
}

void Dumper::clause(const Clause &c) {
  out += " ";
  open(kindName(c.kind));
  parts(c);
  settings(c);
  blocks(c);
  close();
}

void Dumper::parts(const Clause &c) {
  if (auto *n = dynCast<DataClause>(&c)) {
    list(n->sources, [&](const Source &s) {
      word(s.name), expr(*s.value);
      list(s.options, [&](const SourceOption &o) { sourceOption(o); });
    });
  } else if (auto *n = dynCast<ModelClause>(&c)) {
    list(n->instances, [&](const Instance &i) {
      word(i.name), expr(*i.value), maybe(i.from.get());
      if (i.fromBlock)
        block(*i.fromBlock);
      maybe(i.clients.get());
    });
  } else if (auto *n = dynCast<LossClause>(&c)) {
    word(n->name), expr(*n->value);
  } else if (auto *n = dynCast<RuleClause>(&c)) {
    word(spelling(n->rule)), word(n->name), expr(*n->value);
    list(n->options, [&](const RuleOption &o) { ruleOption(o); });
  } else if (auto *n = dynCast<EvalClause>(&c)) {
    word(n->name), expr(*n->value);
    list(n->options, [&](const EvalOption &o) {
      word(std::to_string(static_cast<int>(o.form))), word(o.unit);
      maybe(o.partition.get()), maybe(o.by.get()), timing(o.timing);
    });
    list(n->items, [&](const std::unique_ptr<EvalItem> &i) {
      word(i->name), flag(i->each, "each"), expr(*i->value), maybe(i->by.get());
    });
  }
}

void Dumper::settings(const Clause &c) {
  if (auto *n = dynCast<CheckpointClause>(&c))
    timing(n->timing);
  else if (auto *n = dynCast<SettingClause>(&c))
    word(spelling(n->setting)), expr(*n->value);
  else if (auto *n = dynCast<ParticipationClause>(&c))
    expr(*n->value), flag(n->poisson, "poisson");
  else if (auto *n = dynCast<ClientsClause>(&c))
    expr(*n->value), flag(n->partitioned, "partition"), maybe(n->partition.get()), maybe(n->by.get());
  else if (auto *n = dynCast<SharedClause>(&c))
    expr(*n->value);
  else if (auto *n = dynCast<FrozenClause>(&c))
    word(n->path->text);
}

void Dumper::blocks(const Clause &c) {
  if (auto *n = dynCast<PhaseClause>(&c)) {
    word(n->name), maybe(n->until.get()), expr(*n->count);
    word(clockName(n->clock, n->plural)), clauses(*n->body);
  } else if (auto *n = dynCast<WhenClause>(&c)) {
    expr(*n->condition), block(*n->body);
  } else if (auto *n = dynCast<AtClause>(&c)) {
    word(n->moment), maybe(n->value.get()), block(*n->body);
  } else if (auto *n = dynCast<StopClause>(&c)) {
    expr(*n->condition);
  } else if (auto *n = dynCast<StepClause>(&c)) {
    block(*n->body);
  } else if (auto *n = dynCast<IfClause>(&c)) {
    expr(*n->condition), clauses(*n->thenClauses);
    if (n->elseClauses)
      clauses(*n->elseClauses);
  } else if (auto *n = dynCast<StmtClause>(&c)) {
    stmt(*n->statement);
  }
}

void Dumper::parameters(const Parameters &p) {
  flag(!p.written, "unwritten");
  list(p.items, [&](const Parameter &one) {
    flag(one.live, "live"), word(one.name), maybe(one.type.get()), maybe(one.init.get());
  });
}

void Dumper::function(const FnDecl &d) {
  word(d.name), parameters(d.parameters), maybe(d.result.get()), body(d.body);
  if (d.backward)
    idents(d.backward->parameters), body(d.backward->body);
}

void Dumper::rule(const RuleDecl &d) {
  word(spelling(d.rule)), word(d.name), parameters(d.parameters);
  maybe(d.bounds.get()), word(d.per), word(d.over);
  if (d.on)
    pattern(*d.on);
  body(d.body);
}

void Dumper::data(const DataDecl &d) {
  word(d.name), parameters(d.parameters), expr(*d.source), flag(d.hasItems, "items");
  list(d.items, [&](const std::unique_ptr<DataItem> &i) { flag(i->fixed, "fixed"), stmt(*i->binding); });
  flag(d.hasSplit, "split");
  arguments(d.split), maybe(d.seed.get());
}

void Dumper::decl(const Decl &d) {
  open(kindName(d.kind));
  if (auto *n = dynCast<UseDecl>(&d))
    word(n->path->text);
  else if (auto *n = dynCast<FnDecl>(&d))
    function(*n);
  else if (auto *n = dynCast<ModelDecl>(&d))
    word(n->name), parameters(n->hyperparameters), parameters(n->inputs), maybe(n->result.get()), body(n->body);
  else if (auto *n = dynCast<RuleDecl>(&d))
    rule(*n);
  else if (auto *n = dynCast<DataDecl>(&d))
    data(*n);
  else if (auto *n = dynCast<EnvDecl>(&d))
    word(n->name), parameters(n->parameters), block(*n->body);
  else if (auto *n = dynCast<TrainDecl>(&d))
    word(n->name), parameters(n->parameters), clauses(*n->body);
  else if (auto *n = dynCast<ExperimentDecl>(&d))
    word(n->name), parameters(n->parameters), block(*n->body);
  else if (auto *n = dynCast<ConstantDecl>(&d))
    stmt(*n->binding);
  close();
}

} // namespace

std::string dump(const Program &program) {
  Dumper dumper;
  dumper.program(program);
  return dumper.out;
}

} // namespace dyn::ast
