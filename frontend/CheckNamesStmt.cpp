//===- CheckNamesStmt.cpp - Names in values and statements ------*- C++ -*-===//

#include "frontend/NameResolver.h"

#include <algorithm>

using namespace dyn;
using namespace dyn::ast;
using namespace dyn::checks;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

void NameResolver::value(const Expr *expr) {
  if (!expr)
    return;
  switch (expr->kind) {
  case Kind::NameExpr:
    return use(cast<NameExpr>(expr)->name, expr->span);
  case Kind::CallExpr:
    return call(*cast<CallExpr>(expr));
  case Kind::MemberExpr:
    return member(*cast<MemberExpr>(expr));
  case Kind::IndexExpr:
    return index(*cast<IndexExpr>(expr));
  case Kind::ClosureExpr:
    return closure(*cast<ClosureExpr>(expr));
  case Kind::ComprehensionExpr: {
    auto &e = *cast<ComprehensionExpr>(expr);
    return loop(e.variable, *e.range, [&] { value(e.body.get()); });
  }
  case Kind::CollectExpr: {
    auto &e = *cast<CollectExpr>(expr);
    return loop(e.variable, *e.range, [&] { block(e.body.get()); });
  }
  default:
    forEachChild(*expr, [&](const Node &child) { value(dynCast<Expr>(&child)); });
  }
}

void NameResolver::closure(const ClosureExpr &closure) {
  FrameScope scope(*this, Place::Closure, &closure);
  for (const Ident &parameter : closure.parameters)
    define(parameter, SymbolKind::Parameter);
  value(closure.body.get());
}

/// The variable and what the body defines end with the loop, which may have no pass at all.
void NameResolver::loop(const Ident &variable, const Expr &range, const std::function<void()> &body) {
  value(&range);
  Defined before = frame->defined;
  bool wasTerminated = terminated;
  define(variable, SymbolKind::LoopVariable);
  terminated = false;
  body();
  frame->defined = std::move(before);
  terminated = wasTerminated;
}

void NameResolver::index(const IndexExpr &index) {
  value(index.base.get());
  ++indexDepth;
  for (auto &entry : index.indices) {
    auto *name = dynCast<NameExpr>(entry.get());
    if (!name || name->name != "new" || lookup("new"))
      value(entry.get());
  }
  --indexDepth;
}

void NameResolver::label(const Label &label) {
  for (auto &entry : label.indices)
    value(entry.get());
}

//===----------------------------------------------------------------------===//
// Flow
//===----------------------------------------------------------------------===//

void NameResolver::block(const Block *block) {
  if (!block)
    return;
  for (auto &stmt : block->statements)
    statement(*stmt);
}

/// Runs two alternatives from the same point. What both define is defined behind them; one that returns does not count.
void NameResolver::branches(const std::function<void()> &first, const std::function<void()> &second) {
  Defined before = frame->defined;
  bool wasTerminated = terminated;
  first();
  bool firstEnds = terminated;
  Defined afterFirst = std::move(frame->defined);
  frame->defined = std::move(before);
  terminated = wasTerminated;
  second();
  bool secondEnds = terminated;
  terminated = wasTerminated || (firstEnds && secondEnds);
  if (firstEnds)
    return;
  if (secondEnds) {
    frame->defined = std::move(afterFirst);
    return;
  }
  std::erase_if(frame->defined, [&](const Symbol *symbol) { return !afterFirst.count(symbol); });
}

void NameResolver::ifStatement(const IfStmt &stmt) {
  value(stmt.condition.get());
  branches([&] { block(stmt.thenBlock.get()); },
           [&] {
             block(stmt.elseBlock.get());
             if (stmt.elseIf)
               ifStatement(*stmt.elseIf);
           });
}

//===----------------------------------------------------------------------===//
// Writes
//===----------------------------------------------------------------------===//

/// The indices and arguments of a place, without its root.
void NameResolver::targetParts(const Expr &target) {
  if (auto *member = dynCast<MemberExpr>(&target)) {
    treeMember(*member);
    return targetParts(*member->base);
  }
  if (auto *index = dynCast<IndexExpr>(&target)) {
    targetParts(*index->base);
    for (auto &entry : index->indices)
      value(entry.get());
  }
}

/// What a kind of symbol is called where `<-` may not write it; null if it may.
static const char *whyReadOnly(const Symbol &symbol, const Frame &frame) {
  switch (symbol.kind) {
  case SymbolKind::Param:
    return frame.place == Place::Model ? "a model: an optimizer writes params" : nullptr;
  case SymbolKind::Frozen:
    return "every place: it is frozen";
  case SymbolKind::Hyperparameter:
    return "a declaration of which it is a hyperparameter";
  case SymbolKind::Field:
    return "a train: data does not change";
  default:
    return nullptr;
  }
}

void NameResolver::write(const WriteStmt &stmt) {
  const NameExpr *root = rootName(*stmt.target);
  if (!root) {
    value(stmt.target.get());
    return value(stmt.value.get());
  }
  Frame *where = nullptr;
  Symbol *symbol = lookup(root->name, &where);
  const Symbol *outer = writing;
  writing = symbol && symbol->kind == SymbolKind::State ? symbol : writing;
  value(stmt.value.get());
  targetParts(*stmt.target);
  writing = outer;
  if (!symbol) {
    if (const Decl *decl = world.find(root->name); decl || findBuiltin(root->name))
      diags.report(Diag::write_local, root->span, root->name, decl ? describe(*decl) : "a function");
    else
      use(root->name, root->span);
    return;
  }
  symbol->written = true;
  if (symbol->kind == SymbolKind::State && !where->isDefined(symbol))
    use(root->name, root->span);
  if (symbol->kind == SymbolKind::Socket && !symbol->writable) {
    auto message = diags.report(Diag::read_only, root->span, root->name,
                                where->rule ? withArticle(spelling(where->rule->rule)) : "a train");
    if (where->rule)
      if (auto &info = ruleKindInfo(where->rule->rule); !info.writes.empty())
        message.help(withArticle(spelling(where->rule->rule)) + " writes " + listed(info.writes));
  } else if (isa<NameExpr>(stmt.target.get()) || symbol->kind != SymbolKind::Local) {
    if (const char *why = whyReadOnly(*symbol, *where))
      diags.report(Diag::read_only, root->span, root->name, why)
          .note(symbol->span, "`" + root->name + "` is " + std::string(describe(symbol->kind)) + " since here");
  }
  bool isLocal = symbol->kind == SymbolKind::Local || symbol->kind == SymbolKind::LoopVariable ||
                 symbol->kind == SymbolKind::Parameter || symbol->kind == SymbolKind::Shape;
  if (isLocal)
    diags.report(Diag::write_local, root->span, root->name, describe(symbol->kind))
        .note(symbol->span, "`" + root->name + "` is " + describe(symbol->kind) + " since here")
        .help("write `" + print(*stmt.target) + " = …`, or declare `state " + root->name + "`");
}

void NameResolver::place(const PlaceStmt &stmt) {
  value(stmt.value.get());
  targetParts(*stmt.target);
  const NameExpr *root = rootName(*stmt.target);
  if (!root)
    return;
  Symbol *symbol = lookup(root->name);
  if (symbol && outlivesBlock(*symbol))
    reportAssigned(*symbol, root->span, print(*stmt.target));
  else
    use(root->name, root->span);
}

/// A function in a block sees what is defined before it, so not itself.
void NameResolver::callsItself(const FnDecl &fn) {
  const NameExpr *first = nullptr;
  walk(fn, [&](const Node &node) {
    auto *name = dynCast<NameExpr>(&node);
    first = !first && name && name->name == fn.name.text ? name : first;
    return !first;
  });
  if (first)
    diags.report(Diag::calls_itself, first->span, fn.name.text)
        .note(fn.name.span, "`" + fn.name.text + "` is declared here")
        .help("write a loop: `for`, `repeat` or `while`");
}

/// Whether a state holds what no later statement can compute: a draw, or the parameters as a run began.
static bool keepsTheStart(const StateStmt &stmt) {
  bool readsParameters = false;
  if (stmt.init)
    walk(*stmt.init, [&](const Node &node) {
      auto *name = dynCast<NameExpr>(&node);
      readsParameters |= name && (name->name == "param" || name->name == "params");
      auto *call = dynCast<CallExpr>(&node);
      auto *callee = call ? dynCast<NameExpr>(call->callee.get()) : nullptr;
      return !callee || !callee->name.ends_with("_like"); // which takes the shape alone
    });
  return stmt.drawn || readsParameters;
}

void NameResolver::state(const StateStmt &stmt) {
  type(stmt.type.get(), false);
  value(stmt.init.get());
  define(stmt.name, SymbolKind::State)->written |= keepsTheStart(stmt);
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void NameResolver::statement(const Stmt &stmt) {
  switch (stmt.kind) {
  case Kind::LetStmt: {
    auto &s = *cast<LetStmt>(&stmt);
    type(s.type.get(), false);
    value(s.value.get());
    label(s.label);
    Symbol *symbol = define(s.name, SymbolKind::Local);
    symbol->read |= bool(s.label); // a named activation is there to be looked at
    return;
  }
  case Kind::DrawStmt: {
    auto &s = *cast<DrawStmt>(&stmt);
    type(s.type.get(), false);
    value(s.distribution.get());
    define(s.name, SymbolKind::Local);
    return;
  }
  case Kind::PlaceStmt:
    return place(*cast<PlaceStmt>(&stmt));
  case Kind::WriteStmt:
    return write(*cast<WriteStmt>(&stmt));
  case Kind::StateStmt:
    return state(*cast<StateStmt>(&stmt));
  case Kind::LeafStmt: {
    auto &s = *cast<LeafStmt>(&stmt);
    type(s.type.get(), false);
    value(s.init.get());
    define(s.name, s.frozen ? SymbolKind::Frozen : SymbolKind::Param);
    return;
  }
  case Kind::FnStmt: {
    auto &fn = *cast<FnStmt>(&stmt)->function;
    callsItself(fn);
    define(fn.name, SymbolKind::Function);
    return function(fn);
  }
  case Kind::IfStmt:
    return ifStatement(*cast<IfStmt>(&stmt));
  case Kind::ForStmt: {
    auto &s = *cast<ForStmt>(&stmt);
    return loop(s.variable, *s.range, [&] { block(s.body.get()); });
  }
  case Kind::WhileStmt: {
    auto &s = *cast<WhileStmt>(&stmt);
    value(s.condition.get());
    value(s.limit.get());
    return branches([&] { block(s.body.get()); terminated = false; }, [] {});
  }
  case Kind::RepeatStmt: {
    auto &s = *cast<RepeatStmt>(&stmt);
    value(s.count.get());
    return branches([&] { block(s.body.get()); terminated = false; }, [] {});
  }
  case Kind::ReturnStmt:
    value(cast<ReturnStmt>(&stmt)->value.get());
    label(cast<ReturnStmt>(&stmt)->label);
    terminated = true;
    return;
  case Kind::YieldStmt:
    value(cast<YieldStmt>(&stmt)->value.get());
    terminated = true;
    return;
  case Kind::SendStmt: {
    // What a client or node sends is a name for the server and the links.
    auto &s = *cast<SendStmt>(&stmt);
    value(s.value.get());
    for (const Named &part : s.values) {
      value(part.value.get());
      if (!frame->find(part.name.text))
        define(part.name, SymbolKind::Local);
      Symbol *sent = frame->find(part.name.text);
      sent->read = sent->sent = true;
    }
    return;
  }
  case Kind::SideStmt: {
    auto &s = *cast<SideStmt>(&stmt);
    bool wasTerminated = terminated;
    block(s.body.get());
    terminated = wasTerminated;
    return;
  }
  case Kind::RunStmt: {
    auto &s = *cast<RunStmt>(&stmt);
    variant(s.variant);
    define(s.name, SymbolKind::Run);
    return;
  }
  case Kind::PlotStmt: {
    auto &s = *cast<PlotStmt>(&stmt);
    for (auto &series : s.values)
      value(series.get());
    return;
  }
  case Kind::SeedStmt: {
    auto &seeds = cast<SeedStmt>(&stmt)->seeds;
    value(seeds.one.get());
    for (const Named &stream : seeds.streams)
      value(stream.value.get());
    return;
  }
  default:
    forEachChild(stmt, [&](const Node &child) { value(dynCast<Expr>(&child)); });
  }
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

static bool isClauseWord(std::string_view name) {
  static const auto list =
      words("data model loss eval checkpoint epochs steps rounds precision arrival graph workers participation clients "
            "shared frozen seed events phase batch estimator privacy combiner clip compressor attack aggregator "
            "optimizer regularizer schedule sampler federated decentral probe");
  return std::find(list.begin(), list.end(), name) != list.end();
}

/// The names of the parts of a train: hyperparameters, named clauses, phases.
static std::vector<std::string> partsOf(const TrainDecl &train) {
  std::vector<std::string> parts;
  for (const Parameter &p : train.parameters.items)
    parts.push_back(p.name.text);
  walk(train, [&](const Node &node) {
    if (auto *rule = dynCast<RuleClause>(&node); rule && rule->name)
      parts.push_back(rule->name.text);
    if (auto *phase = dynCast<PhaseClause>(&node))
      parts.push_back(phase->name.text);
    if (auto *eval = dynCast<EvalClause>(&node); eval && eval->name)
      parts.push_back(eval->name.text);
    if (auto *data = dynCast<DataClause>(&node))
      for (const Source &source : data->sources)
        if (source.name)
          parts.push_back(source.name.text);
    if (auto *model = dynCast<ModelClause>(&node))
      for (const Instance &instance : model->instances)
        parts.push_back(instance.name.text);
    return !isa<Expr>(&node);
  });
  return parts;
}

void NameResolver::changePart(const ChangePart &part, const Decl *decl) {
  bool isWord = part.path.text() == "precision" || part.path.text() == "graph";
  if (isWord && (isa<NameExpr>(part.value.get()) || isa<ArrayExpr>(part.value.get())))
    lenient(*part.value);
  else
    value(part.value.get());
  ruleOptions(part.ruleOptions);
  sourceOptions(part.sourceOptions);
  auto *train = dynCast<TrainDecl>(decl);
  if (!train || part.path.names.empty())
    return;
  const Ident &first = part.path.names.front();
  std::vector<std::string> parts = partsOf(*train);
  if (isClauseWord(first.text) || std::find(parts.begin(), parts.end(), first.text) != parts.end())
    return;
  auto message = diags.report(Diag::unknown_part, first.span, train->name.text, first.text)
                     .note(train->name.span, "`" + train->name.text + "` is declared here");
  for (const char *clause : {"steps", "epochs", "seed", "optimizer", "precision"})
    parts.emplace_back(clause);
  if (std::string near = nearest(first.text, parts); !near.empty())
    message.help("write `" + near + "`");
}

void NameResolver::variant(const Variant &variant) {
  value(variant.base.get());
  value(variant.step.get());
  const Decl *train = variant.base ? world.root(*variant.base) : nullptr;
  if (const NameExpr *root = variant.base ? rootName(*variant.base) : nullptr; root && lookup(root->name))
    train = nullptr;
  for (const Change &change : variant.changes)
    for (const ChangePart &part : change.parts)
      changePart(part, train);
}
