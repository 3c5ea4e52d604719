//===- NameResolver.h - Scopes of one declaration ---------------*- C++ -*-===//
//
// Private to CheckNames*.cpp and CheckUnread.cpp. One scope a declaration: a name has one symbol in it, and the set
// `defined` says which of them have a value at the present point of the text. Branches run on copies of that set,
// of which the intersection goes on.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/CheckInternals.h"

#include <set>

namespace dyn::checks {

enum class SymbolKind : uint8_t {
  Hyperparameter,
  Parameter, ///< of a function, a closure; a model's input
  Shape,
  State,
  Param, ///< `param`
  Frozen,
  Local,
  LoopVariable,
  Function, ///< inside a block
  Field,
  Source, ///< named data of a train
  Instance,
  Rule, ///< a named rule clause
  Run,
  Socket,
  Unknown ///< reported once, silent from then on
};

/// `a state`, `a socket name` …
const char *describe(SymbolKind kind);

struct Symbol {
  std::string name;
  SymbolKind kind;
  Span span;
  bool writable = false; ///< sockets
  bool read = false;
  bool written = false;
  bool sent = false; ///< by a client, node or link: there for those who did send
  Fields fields; ///< of a Source
};

enum class Place : uint8_t { Function, Model, Rule, Train, Data, Experiment, Env, Closure, Eval, Constant };

struct Frame {
  Place place;
  const ast::Node *owner = nullptr;
  Frame *parent = nullptr;
  const ast::RuleDecl *rule = nullptr;
  bool open = false; ///< fields are not known: any name may be one
  std::vector<std::unique_ptr<Symbol>> symbols;
  std::set<const Symbol *> defined;

  Symbol *find(std::string_view name) const;
  bool isDefined(const Symbol *symbol) const { return defined.count(symbol) != 0; }
};

/// Reports what a finished scope holds that nobody reads or writes (CheckUnread.cpp).
void reportUnread(const Frame &frame, DiagnosticEngine &diags);

class NameResolver {
public:
  NameResolver(const ast::Program &program, const Library &library, DiagnosticEngine &diags);
  void run();

private:
  class FrameScope;
  using Defined = std::set<const Symbol *>;

  // CheckNames.cpp: declarations.
  void checkDeclaredTwice();
  void declaration(const ast::Decl &decl);
  void function(const ast::FnDecl &fn);
  void model(const ast::ModelDecl &model);
  void rule(const ast::RuleDecl &rule);
  void data(const ast::DataDecl &data);
  void train(const ast::TrainDecl &train);
  void experiment(const ast::ExperimentDecl &experiment);
  void env(const ast::EnvDecl &env);
  void parameters(const ast::Parameters &list, SymbolKind kind);
  void parameterTypes(const ast::Parameters &list);
  void readThroughSizes(const ast::Parameters &list);
  void collectPassed();
  void readByCallers(const ast::FnDecl &fn);
  void patternOf(const ast::RuleDecl &rule);
  void body(const ast::Body &body);
  void collectTrainNames();
  void collectAxes(const ast::Node &node);

  // CheckNamesScope.cpp: symbols.
  Symbol *define(const ast::Ident &name, SymbolKind kind);
  Symbol *add(const ast::Ident &name, SymbolKind kind);
  void socket(std::string_view name, bool writable);
  void redefines(Symbol &old, const ast::Ident &name, SymbolKind kind, bool sameFrame);
  static bool outlivesBlock(const Symbol &symbol);
  void reportAssigned(Symbol &symbol, Span at, const std::string &target);
  void checkHidden(const ast::Ident &name, SymbolKind kind);
  void reportHidden(const ast::Ident &name, const Symbol &old);
  Symbol *lookup(std::string_view name, Frame **where = nullptr) const;
  void use(const std::string &name, Span span);
  bool isOutside(std::string_view name) const;
  void unknown(const std::string &name, Span span);
  const ast::Ident *definedLater(std::string_view name) const;
  std::vector<std::string> visibleNames() const;
  void called(const ast::NameExpr &callee);

  // CheckNamesTypes.cpp: types and calls.
  void type(const ast::Type *type, bool binds);
  void shape(const std::vector<ast::ExprPtr> &shape, bool binds);
  void typeName(const ast::NamedType &type, bool binds = false);
  void call(const ast::CallExpr &call);
  void argument(const ast::Argument &arg);
  void checkCall(const ast::CallExpr &call, const std::string &name, const ast::Parameters &parameters,
                 const ast::Decl &decl);
  void checkBuiltin(const ast::CallExpr &call, const Builtin &builtin);
  bool checkRepeated(const ast::CallExpr &call);
  void member(const ast::MemberExpr &member);
  void treeMember(const ast::MemberExpr &member);

  // CheckNamesStmt.cpp: values and statements.
  void value(const ast::Expr *expr);
  void valueIn(const ast::Expr &expr);
  void closure(const ast::ClosureExpr &closure);
  void loop(const ast::Ident &variable, const ast::Expr &range, const std::function<void()> &body);
  void index(const ast::IndexExpr &index);
  void block(const ast::Block *block);
  void branches(const std::function<void()> &first, const std::function<void()> &second);
  void statement(const ast::Stmt &stmt);
  void ifStatement(const ast::IfStmt &stmt);
  void write(const ast::WriteStmt &stmt);
  void place(const ast::PlaceStmt &stmt);
  void targetParts(const ast::Expr &target);
  void callsItself(const ast::FnDecl &fn);
  void state(const ast::StateStmt &stmt);
  void variant(const ast::Variant &variant);
  void changePart(const ast::ChangePart &part, const ast::Decl *train);
  void label(const ast::Label &label);

  // CheckNamesTrain.cpp: clauses.
  void clauses(const ast::ClauseBlock *block);
  void clause(const ast::Clause &clause);
  void dataClause(const ast::DataClause &clause);
  void modelClause(const ast::ModelClause &clause);
  void ruleClause(const ast::RuleClause &clause);
  void evalClause(const ast::EvalClause &clause);
  void settingClause(const ast::SettingClause &clause);
  void trainFields(const ast::Node &body);
  void ruleOptions(const std::vector<ast::RuleOption> &options);
  void sourceOptions(const std::vector<ast::SourceOption> &options);
  void timing(const ast::Timing &timing);
  void lenient(const ast::Expr &expr);

  const World world;
  DiagnosticEngine &diags;
  Frame *frame = nullptr;
  bool terminated = false; ///< `return` or `yield` went before in this block
  int indexDepth = 0;
  bool isLenient = false;  ///< unknown names are somebody else's to judge
  const Symbol *writing = nullptr; ///< reading it in its own write does not count
  std::map<std::string, Span, std::less<>> calls; ///< functions from outside that this declaration calls
  std::set<std::string, std::less<>> trainNames;  ///< what probes see of the file's trains
  std::set<std::string, std::less<>> axes;        ///< names that may stand in an index of a metric
  std::set<std::string, std::less<>> passed;      ///< names that stand for values, not only as what is called
  Fields allFields;                               ///< of all data of the file
};

/// Enters a scope for as long as it lives, then reports what was never read in it.
class NameResolver::FrameScope {
public:
  FrameScope(NameResolver &resolver, Place place, const ast::Node *owner)
      : resolver(resolver), terminated(resolver.terminated) {
    frame.place = place;
    frame.owner = owner;
    frame.parent = resolver.frame;
    frame.open = frame.parent && frame.parent->open;
    resolver.frame = &frame;
    resolver.terminated = false;
  }
  ~FrameScope() {
    reportUnread(frame, resolver.diags);
    resolver.frame = frame.parent;
    resolver.terminated = terminated;
  }
  FrameScope(const FrameScope &) = delete;
  FrameScope &operator=(const FrameScope &) = delete;
  Frame *operator->() { return &frame; }

private:
  NameResolver &resolver;
  bool terminated;
  Frame frame;
};

} // namespace dyn::checks
