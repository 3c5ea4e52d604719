//===- TrainElaborator.h - a train as objective, sockets and program ------===//
#pragma once

#include "frontend/elaborate/Elaborator.h"

namespace dyn::elab {

/// Which batch a socket or the objective sees.
struct Batch {
  int64_t feed = -1, size = 0;
  bool masked = false;
};

/// What a row of a source holds under one name.
struct RawValue {
  std::string name;
  llvm::SmallVector<int64_t> shape;
  Elem elem = Elem::Real;
  int64_t input = 0; ///< of plan::Source
  int64_t classes = 0;
};

/// Examples of a text: `length` bytes, and the one after each, from every `stride`-th byte on.
struct Windows {
  int64_t length = 0, stride = 0;
};

/// What the source of a data declaration gives to its items.
struct SourceParts {
  std::vector<RawValue> raws;
  Windows windows;      ///< of a text; otherwise of length 0
  bool isTable = false; ///< items hold all rows
};

/// The type of a field: of one row.
struct FieldType {
  llvm::SmallVector<int64_t> shape;
  Elem elem = Elem::Real;
  int64_t classes = 0;
};

/// The items of a declaration while they are elaborated.
struct DataItems {
  const ast::DataDecl &decl;
  ScopePtr scope;
  plan::Source &made;
  const SourceParts &parts;
  mlir::Attribute row; ///< the axes of a value of one row
};

/// How a train takes batches, as its data clause says; spans are not valid where nothing is written.
struct Batching {
  int64_t size = 0;
  Span sizeAt, all, shuffle, drop;
};

/// Number of the parameters' arena in every plan.
inline constexpr int64_t paramsArena = 0;

/// Elaborates one train.
class TrainElaborator {
public:
  explicit TrainElaborator(Elaborator &elaborator) : e(elaborator) {}

  /// Null after errors, which are in the engine.
  std::unique_ptr<Elaborated> run(const TrainRequest &request);
  /// Hyperparameters, locals and models of a train by name, without its code: what a finished run's models are made of.
  /// Lives as long as this. Null after errors.
  ScopePtr modelsOf(const TrainRequest &request);

private:
  struct Clauses {
    const ast::SettingClause *steps = nullptr, *epochs = nullptr, *precision = nullptr;
    const ast::DataClause *data = nullptr;
    const ast::LossClause *loss = nullptr;
    const ast::Seeds *seeds = nullptr;
    std::vector<const ast::RuleClause *> optimizers, clips, probes, estimators;

    /// The clauses of rules of a kind that may stand in a train.
    std::vector<const ast::RuleClause *> &rules(ast::RuleKind kind) {
      return kind == ast::RuleKind::Optimizer ? optimizers
             : kind == ast::RuleKind::Clip    ? clips
             : kind == ast::RuleKind::Probe   ? probes
                                              : estimators;
    }
    /// All of them.
    std::array<const std::vector<const ast::RuleClause *> *, 4> allRules() const {
      return {&optimizers, &clips, &probes, &estimators};
    }
    std::vector<const ast::ModelClause *> models;
    std::vector<const ast::EvalClause *> evals;
    std::vector<const ast::Expr *> expects;
    std::vector<const ast::FrozenClause *> frozen;
    const ast::CheckpointClause *checkpoint = nullptr;
    std::vector<const ast::StopClause *> stops;
  };
  /// A part of a split as it is written: rows by number, or a share of all.
  struct SplitPart {
    const ast::Argument *written = nullptr;
    std::optional<Range> rows;
  };
  /// One optimizer clause and the leaves that it owns.
  struct Owner {
    const ast::RuleClause *clause = nullptr;
    Rule rule;
    std::string name;
    std::vector<ParamInfo *> leaves;
    int64_t offset = 0, size = 0;
  };
  /// One clip clause and the arrays that it is for, in their order.
  struct Clip {
    Rule rule;
    const ast::RuleClause *clause = nullptr;
    std::vector<ParamInfo *> leaves;
    bool isWhole = true; ///< for all of them
  };
  /// A state of a rule: where it lives and how it starts.
  struct State {
    std::string name;
    const ast::StateStmt *decl = nullptr; ///< null: the count of a held rule's applications, from 0
    ScopePtr scope;                       ///< hyperparameters and sizes
    std::string site;
    mlir::RankedTensorType type;
    int64_t arena = 0, offset = 0;
    RulePlace place; ///< of its rule
  };
  /// A state of a model: where it lives, what it starts from, and its value in the code that is being made.
  struct ModelState {
    std::string path;
    const ast::StateStmt *decl = nullptr;
    ScopePtr scope; ///< of its initial value
    mlir::RankedTensorType type;
    int64_t arena = 0, offset = 0;
    Value now;            ///< invalid: not read yet
    bool written = false; ///< by the objective
  };
  /// The rule whose body is being elaborated.
  struct Running {
    RulePlace place;
    ScopePtr start; ///< what a state's initial value may read
    bool held = false;
  };

  // Train.cpp
  std::unique_ptr<Elaborated> elaborate(const TrainRequest &request);
  bool collect(const ast::ClauseBlock &block, Clauses &clauses, Frame &frame);
  bool bindHyperparameters();
  bool settings(const Clauses &clauses);

  // TrainData.cpp
  Value dataOf(const Clauses &clauses, Frame &frame);
  bool openData(const Clauses &clauses);
  std::optional<Batching> batching(const std::vector<ast::SourceOption> &options, Frame &frame);
  bool batchesOfStream(Data &data, const Batching &options, Span span);
  void reportEndless(const ast::DataDecl &data, Span span, const char *why, const std::string &help);

  // Objective.cpp
  bool objective(const Clauses &clauses);
  ScopePtr exampleScope(const Data &data, int64_t set, const Batch &batch, bool whole);
  Tensor readField(int64_t set, const plan::Field &field, const Batch &batch, bool whole);
  Tensor readWindow(int64_t set, const Windows &windows, int64_t shift, const Batch &batch, bool whole);
  void bindLocals(ScopePtr scope);
  void bindLocal(const ast::Stmt &stmt, ScopePtr scope);
  Value evaluateLoss(const Clauses &clauses, Frame &frame);
  bool freeze(const Clauses &clauses);
  bool assignOwners(const Clauses &clauses);
  void layOut();

  // Sockets.cpp
  ir::SocketOp socket(const std::string &name, ir::SocketKind kind, Batch batch = {});
  void initSocket();
  void updateSocket(const Clauses &clauses);
  void reportLoss(mlir::Value loss, Span span);
  Value lossAndGradient(const Value &params, Span span);
  void startState(const State &state);
  std::optional<Tensor> startValue(const ast::StateStmt &decl, mlir::RankedTensorType type, Frame &frame);
  int64_t metric(const std::string &name, llvm::ArrayRef<int64_t> shape, Span span, bool leafAxis = false);
  void emit(const std::string &name, const Value &value, Span span);

  // Program.cpp
  int64_t event(const ast::Timing *timing, const char *otherwise, Span span);
  void evalSockets(const Clauses &clauses);
  void probeSockets(const Clauses &clauses);
  ScopePtr probeScope(const Rule &rule, const RulePlace &place, const Clauses &clauses, Span span);
  void program(const Clauses &clauses);

  // Stops.cpp
  /// What a condition reads of a metric's past, kept up as the metric is emitted.
  struct Fold {
    std::string kind, metric;
    int64_t arena = 0, offset = 0; ///< its value, and behind it 1 once there is one
  };
  void addFold(const std::string &kind, const std::string &metric);
  void findFolds(const Clauses &clauses);
  Value foldPart(const Fold &fold, int64_t part, Span span);
  void foldMetric(const std::string &name, const Tensor &value, Span span);
  Value foldCall(const std::string &kind, const std::vector<ast::Argument> &args, Span span, Frame &frame);
  void stopSocket(const Clauses &clauses);

  // Changes.cpp
  bool applyChanges(const Clauses &clauses);
  bool applyChange(const TrainChange &change, const Clauses &clauses);
  bool changeRule(const TrainChange &change, const Clauses &clauses);
  bool unknownPart(const TrainChange &change, const Clauses &clauses);
  bool allowsOptions(const TrainChange &change, bool rule, bool source);
  bool checkRuleOptions(const TrainChange &change, ast::RuleKind kind);
  const TrainChange *changeOf(llvm::StringRef path) const;
  const ast::Expr &valueOf(const ast::RuleClause &clause) const;
  const std::vector<ast::RuleOption> &optionsOf(const ast::RuleClause &clause) const;

  // ModelStates.cpp
  void enterModels(bool training);
  void declareModelState(const ast::StateStmt &stmt, Frame &frame);
  ModelState *modelStateOf(const ast::StateStmt &stmt, Frame &frame);
  mlir::RankedTensorType modelStateType(const ModelState &state);
  void modelDone(const Instance &instance, Scope &scope, Span span);
  llvm::SmallVector<mlir::Value> nextModelStates();
  void keepModelStates(const Value &params, Span span);
  void startModelStates();
  std::pair<int64_t, int64_t> placeInArena(const std::string &arena, mlir::RankedTensorType type);
  plan::Element elementOf(mlir::RankedTensorType type);

  // Activations.cpp
  void offerActivations(const Clauses &clauses, ScopePtr scope, Span span);
  Value activations(const Clauses &clauses, Span span);

  // Rules.cpp
  std::optional<Rule> ruleOf(const ast::RuleClause &clause);
  Value adjusted(Rule rule, const ast::Path &path, size_t at, const Value &value);
  Value scheduled(const Rule &rule, Span span, std::optional<Value> t = std::nullopt);
  std::optional<Rule> scheduleOf(const Rule &rule, const std::string &name, const Binding &binding);
  void listSchedules(const Rule &rule, const std::string &owner);
  ScopePtr ruleScope(const Rule &rule, const RulePlace *place, std::vector<std::string> *states = nullptr);
  void defineForms(ScopePtr scope, const RulePlace &place, const std::string &leafwise, mlir::Value flat, bool writable,
                   Span span);
  mlir::Value written(Scope &scope, const std::string &leafwise, mlir::Value before, Span span);
  std::optional<mlir::Value> flatOf(const Value &value, Span span);
  Value inFormOf(mlir::Value flat, mlir::RankedTensorType like, Span span);
  mlir::Value part(mlir::Value flat, int64_t from, int64_t count, Span span);
  bool hasFormOf(const Value &value, const std::vector<ParamInfo *> &leaves);
  void runRule(const Rule &rule, ScopePtr scope, const RulePlace &place, const std::vector<std::string> &held, bool keeps);
  static bool mentions(const ast::RuleDecl &rule, llvm::StringRef name);
  static bool writesServed(const ast::RuleDecl &rule);
  static std::vector<RulePlace> placesOf(const Owner &owner);
  void defineSizes(const ast::RuleDecl &rule, const RulePlace &place, Scope &scope, Span span);
  void applyOptimizer(Owner &owner, const Value &grads);
  void applyAt(Owner &owner, const RulePlace &place, const Value &grads);
  std::optional<mlir::Value> wholeTree(const Value &at, const std::string &name, Span span);
  Value socketCall(const std::string &name, const std::vector<ast::Argument> &args, Span span, Frame &frame);
  void offerSocket(ScopePtr scope, const Value &t, Span span);
  Value applications(Span span);

  // Estimators.cpp
  /// The loss on the present batch, emitted and guarded, where an estimator stands for its gradient.
  void lossAlone(const Value &params, Span span);
  /// What the estimator says is the gradient at a tree; `keeps`: it is the pass's own, so its states go on and what it
  /// emits counts. Invalid after a report.
  Value estimated(const Value &at, bool keeps);

  // Clips.cpp
  bool placeClips(const Clauses &clauses);
  bool findGroup(Clip &clip);
  static std::vector<RulePlace> placesOf(const Clip &clip, const std::string &name);
  llvm::SmallVector<std::pair<int64_t, int64_t>> stretches(const std::vector<ParamInfo *> &leaves);
  mlir::Value gathered(mlir::Value whole, const std::vector<ParamInfo *> &leaves, Span span);
  mlir::Value scattered(mlir::Value whole, mlir::Value group, const std::vector<ParamInfo *> &leaves, Span span);
  Value applyClips(Value grads, bool keeps);
  mlir::Value applyClip(const Clip &clip, const RulePlace &place, mlir::Value whole, bool keeps);
  void checkBound(const Rule &rule, ScopePtr scope, Span span);

  // RowLosses.cpp
  /// The loss of each example of `rows` at a tree, which may itself be one for each.
  Value rowLosses(const Tensor &tree, ScopePtr rows, Span span);
  /// `loss.on(D)` as a function of a tree, and that function: the objective over all of a set.
  Value lossOn(const std::vector<ast::Argument> &args, Span span, Frame &frame);
  Value lossOver(llvm::StringRef number, const Tensor &tree, Span span);
  /// Says which rows the present socket sees: false after a report if it sees others.
  bool sees(const Batch &rows, Span span);
  /// `batch.x`: the field of each example of the present batch; invalid after a report.
  Value batchField(const std::string &name, Span span);
  /// `index(example)`: an element's own place; invalid after a report.
  Value placeOn(const std::string &axis, Span span);
  Value placesOfLeaves(Span span);
  /// How many elements an axis has in each pass of the present socket; invalid after a report, which says what `asks`.
  Value elementsOf(const std::string &axis, const std::string &asks, Span span);
  /// The fields of the present batch, in a socket that may have said nothing of rows so far.
  ScopePtr presentRows();
  /// The gradient at a tree of what `per` names, each by itself; invalid after a report.
  Value gradientsPer(const ast::Expr &per, const Value &tree, Span span, Frame &frame);
  bool isPerExample(const ast::Expr &per);
  bool hasRows(const ast::Expr &per, const char *axis);
  /// How many parts of the batch `part(8)` or `part(size=8)` means; nothing after a report.
  std::optional<int64_t> partsOf(const ast::CallExpr &part, Frame &frame);
  /// The loss of each part of the batch at a tree, and its gradient.
  std::pair<Value, Value> inParts(int64_t parts, const Tensor &tree, Span span);
  /// `loss(p, per=…)`; invalid after a report.
  Value lossesPer(const ast::Expr &per, const Value &tree, Span span, Frame &frame);

  // PerClass.cpp
  std::optional<Tensor> classOf(const ast::Expr &per);
  Value membership(const Tensor &label, Span span);
  mlir::Value overExamples(ir::OverKind kind, mlir::Value each, Span span);
  void beginClasses(const std::string &axis, const Tensor &label, Span span);
  /// The mean over each class of a value for each example, on an axis of that name.
  Value byClass(const std::string &axis, const Tensor &label, const Value &each, Span span);

  // RuleStates.cpp
  ScopePtr startScope(const Rule &rule, const Scope &scope, const RulePlace &place, Span span);
  void defineParams(ScopePtr scope, const RulePlace &place, Span span);
  mlir::RankedTensorType stateType(const ast::StateStmt &stmt, Frame &frame);
  std::string publicName(llvm::StringRef rule) const;
  void publish(const State &state);
  State &placeState(const std::string &name, mlir::RankedTensorType type, const ast::StateStmt *decl,
                    const std::string &site);
  State *stateOf(const ast::StateStmt &stmt, Frame &frame);
  static Binding stateBinding(const State &state, Value value, Span span);
  void declareState(const ast::StateStmt &stmt, Frame &frame);
  void putBack(const State &state, const Binding *binding, Span span);
  void putBack(Scope &scope, const std::string &site, const std::vector<std::string> &held);
  Value stateRecord();

  // HeldRules.cpp
  std::vector<const ast::StateStmt *> heldStatesOf(const ast::RuleDecl &decl, ScopePtr scope);
  void beginStates(HeldRule &held, const HeldRule::Part &part);
  std::optional<std::vector<RulePlace>> placesOf(const HeldRule &held, const RulePlace &outer, Span span);
  Value hold(const std::string &name, Rule rule, const RulePlace *place, std::vector<std::string> *states,
             const Binding &binding);
  std::optional<std::vector<Value>> heldArguments(const HeldRule &held, size_t count,
                                                  const std::vector<ast::Argument> &args, Span span, Frame &frame);
  Value heldSchedule(const HeldRule &held, const Value &t, Span span);
  Value heldCall(const Held &call, const std::vector<ast::Argument> &args, Span span, Frame &frame);
  mlir::Value applyHeld(const HeldRule &held, const HeldRule::Part &part, mlir::Value params, mlir::Value grads,
                        const std::string &site, Frame &frame, Span span);
  mlir::Value deltaOf(mlir::Value next, mlir::Value params, Span span);

  // Updates.cpp
  bool placeProbes(const Clauses &clauses);
  void startUpdates();
  void keepUpdate(int64_t from, mlir::Value before, mlir::Value after, Span span);
  void offerUpdates(ScopePtr scope, Span span);

  // Served.cpp
  void placeServed();
  void startServed();
  Value servedTree(Span span);

  // Values of the arenas.
  Value readRange(int64_t arena, int64_t offset, mlir::RankedTensorType type, const std::string &name, Span span);
  void writeRange(int64_t arena, int64_t offset, const Tensor &value, const std::string &name, Span span);
  mlir::RankedTensorType treeType(const std::vector<ParamInfo *> &leaves, bool leafwise);
  int64_t elements(const std::vector<ParamInfo *> &leaves);
  Value clock(run::ClockKind kind, Span span);

  // DataSources.cpp
  std::optional<int64_t> source(const Data &data, Span span);
  bool seedDraws(const ast::DataDecl &data, plan::Source &made, Frame &frame);
  mlir::Value seedOfTaken(Span span);
  bool makeItems(DataItems &items);
  bool dataSocket(const Data &data, plan::Source &made, Span span);
  void bindRow(DataItems &items);
  Tensor position();
  bool rowItems(DataItems &items);
  std::optional<Tensor> rowItem(DataItems &items, const ast::DataItem &item);
  std::optional<Tensor> asDeclared(Tensor t, const FieldType &declared, const ast::Type &type, const ast::Ident &name,
                                   Span span);
  bool tableItems(DataItems &items);
  std::optional<Tensor> tableColumn(DataItems &items, const ast::LetStmt &let, Tensor t);
  bool storeField(DataItems &items, const std::string &name, const FieldType &type, Tensor value, Span span);
  std::optional<int64_t> useField(int64_t set, const std::string &name);

  // DataFiles.cpp
  bool openSource(const ast::DataDecl &decl, ScopePtr args, plan::Source &made, SourceParts &parts);

  // DataSplits.cpp
  std::optional<int64_t> set(const Data &data, Span span);
  bool split(const Data &data, int64_t all, bool isText, plan::Set &made);
  bool checkDisjoint(const std::vector<SplitPart> &parts);
  bool takeRange(const ast::Argument &part, const Range &range, bool wanted, int64_t all, plan::Set &made);
  bool takeShare(const ast::Argument &part, const Value &value, bool wanted, int64_t all, double &before, plan::Set &made);
  Value splitPart(const ast::Expr &expr, int64_t rows, Frame &frame);

  Elaborator &e;
  TrainRequest request;
  std::unique_ptr<Elaborated> out;
  ScopePtr scope; ///< hyperparameters, instances
  std::vector<const ast::Stmt *> locals;
  ir::TrainOp train;
  ir::ObjectiveOp objectiveOp;
  Batch batch;
  const Clauses *clauses = nullptr;
  std::optional<Data> batchData; ///< what the objective's examples are of
  bool batchIsWhole = false;     ///< the rows are all of the set, in order
  bool endless = false;          ///< the train's data is a stream: there are no epochs
  ir::SocketOp socketNow;        ///< of which code is being made
  mlir::Block *top = nullptr;    ///< where the fields of examples are read
  /// What `with` makes of a rule's clause: another rule, other hyperparameters.
  struct RuleChange {
    const TrainChange *whole = nullptr;
    std::vector<const TrainChange *> members;
  };
  std::map<const ast::RuleClause *, RuleChange> ruleChanges;
  std::vector<Owner> owners;
  std::vector<Clip> clips;
  std::vector<std::pair<Rule, const ast::RuleClause *>> probes;
  std::optional<std::pair<Rule, const ast::RuleClause *>> estimator; ///< in the update, of a train that has one
  bool estimating = false; ///< its body is being elaborated: gradients there are those of the loss itself
  std::map<std::string, State> states;
  std::map<std::string, ModelState> modelStates; ///< by path
  mlir::Block *modelBlock = nullptr;             ///< the objective, or the socket in which models are called
  std::map<std::string, std::vector<State *>> statesByOwner;
  std::vector<std::string> evalCalls; ///< of run.program, in written order
  struct Event {
    int64_t event;
    std::vector<std::string> before;
    int64_t feed; ///< -1: no loop over batches
    std::string body, after;
    bool needsBatch;
  };
  std::vector<Event> events;
  const Running *running = nullptr;
  Value passParams;          ///< the whole tree as the pass began
  bool quiet = false;        ///< a clip looks elsewhere: what it emits does not count
  int64_t servedArena = -1;  ///< in the order of the parameters; -1: nobody serves others
  bool readsServed = false;  ///< models see what is served
  int64_t updateArena = -1;  ///< in the order of the parameters; -1: no probe asks for updates
  std::map<std::string, ScopePtr> sourceArgs; ///< of a data declaration's one set
  std::map<std::string, Windows> textWindows; ///< by the data declaration's name
  std::string metricPrefix;
  std::map<std::string, Fold> folds;                  ///< by kind and metric
  std::vector<std::pair<Data, int64_t>> lossSets; ///< of `loss.on(D)`: the sets, by the number of the function
};

} // namespace dyn::elab
