//===- Elaborator.h - from a checked spec to dyn, at concrete shapes ------===//
//
// Elaboration calls functions, models and rules like a hardware language
// elaborates modules: shapes are known, numbers that do not depend on data are
// folded, and the rest becomes IR. One Elaborator makes one train, or evaluates
// the statements of one experiment.
//
//   Expressions.cpp  operators, names, members       Indexing.cpp   arrays as written, indexing
//   Builtins.cpp     functions of the language       Arrays.cpp     making and shaping arrays, trees
//   Calls.cpp        fn, closures, models            Statements.cpp blocks, assignments, writes
//   Loops.cpp        for, while, repeat              Conditions.cpp if
//   Types.cpp        declared types, shapes          Numbers.cpp    constants, casts, broadcasts
//   Derivatives.cpp  grad, jvp, hessian …            Backward.cpp   functions with a `backward`
//   Train.cpp, Objective.cpp, Sockets.cpp, Program.cpp, Rules.cpp, Changes.cpp: one train (TrainElaborator.h)
//   Reductions.cpp   sum, mean, softmax …            Draws.cpp      distributions and draws
//   Series, RunResult: metrics, runs, sweeps          ExpectEvaluator.cpp, Sweeps.cpp: experiments and claims
//   NamedAxes.cpp, NamedChoice.cpp, NamedReductions.cpp: what expressions do with them; Known.cpp: values computed now
//   DataSources.cpp, DataFiles.cpp, DataSplits.cpp: data declarations
//   Patterns.cpp     which leaves a clause is for
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/Checks.h"
#include "frontend/Diagnostics.h"
#include "frontend/elaborate/Series.h"
#include "frontend/elaborate/Value.h"
#include "runtime/Plan.h"

#include "dialects/Dyn/DynOps.h"
#include "dialects/Nd/NdArray.h"
#include "dialects/Nd/NdOps.h"
#include "dialects/Run/RunOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

#include <array>
#include <functional>
#include <optional>
#include <set>

namespace dyn {
struct Checkpoint;
}

namespace dyn::elab {

/// A part of a train in another form, `with steps = 4_000`; its value as the experiment has it.
struct TrainChange {
  const ast::ChangePart *part = nullptr;
  Value value; ///< invalid for `precision`, of which the word counts
  const ast::Expr *written = nullptr; ///< what stands for the clause: the part's value, or that of a member of a sweep
  ScopePtr scope; ///< where its options are read
  bool inherited = false; ///< of a fork: its run was made with it
};

/// What may be said from outside the spec: `--set`, `--seed`, and what an experiment's `with` changes.
struct TrainRequest {
  const ast::TrainDecl *decl = nullptr;
  std::string runName;                          ///< metrics and folders; empty: the train's name
  std::vector<std::pair<std::string, Value>> arguments; ///< hyperparameters by name
  std::vector<TrainChange> changes;             ///< clauses replaced by `with`
  ScopePtr changeScope;                         ///< where options of further changes are read
  std::shared_ptr<const Checkpoint> start;      ///< of a fork: where its run stood
  std::shared_ptr<const RunResult> from;        ///< of a fork: its run
  std::optional<uint64_t> seed;
  bool checkBounds = false;                     ///< check what clips promise after every step
  bool gradientsGiven = false;                  ///< clips and optimizers alone: gradients are read from an arena
};

/// A hyperparameter that follows a schedule.
struct ScheduledNumber {
  std::string name; ///< "adamw.lr"
  Rule schedule;
};

/// A train as IR and what the runtime needs beside it.
struct Elaborated {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  plan::Plan plan;
  std::vector<const ast::Expr *> expects;
  std::vector<ScheduledNumber> schedules;
  ScopePtr scope; ///< hyperparameters and locals, for `expect`
};

/// A parameter leaf.
struct ParamInfo {
  std::string path;
  llvm::SmallVector<int64_t> shape;
  const ast::LeafStmt *decl = nullptr;
  ScopePtr scope; ///< of its initial value
  Span from;      ///< the call that made it
  int64_t offset = -1;
  int owner = -1; ///< optimizer clause
  bool served = false; ///< its optimizer serves another value
  bool frozen = false; ///< `frozen` in its model, or by a clause of the train
  mlir::BlockArgument argument; ///< in the objective
};

/// The formula of an operation on numbers known now; empty when no hyperparameter of the train is in it.
std::string formulaOf(llvm::StringRef op, llvm::ArrayRef<const Const *> operands);

/// State of the rule that is being elaborated.
struct RuleState {
  std::string name;
  int64_t arena = 0;
  mlir::RankedTensorType type; ///< with its encoding
};

/// Where statements run: scope, and what `return`, `yield`, draws and instances refer to.
struct Frame {
  explicit Frame(ScopePtr scope, Instance *self = nullptr, std::string site = "")
      : scope(std::move(scope)), self(self), site(std::move(site)) {}
  ScopePtr scope;
  Instance *self = nullptr;
  std::string site;
  int draws = 0;
  std::string assigning;              ///< the name that a draw is assigned to
  std::optional<Value> result;        ///< of `return`
  Span resultSpan;                    ///< where it was returned
  std::vector<Value> *yields = nullptr;
  std::vector<int64_t> passes;        ///< of unrolled loops around, for draw keys
  bool inRuntimeBranch = false;       ///< `return` may not leave it
  const ast::RuleDecl *rule = nullptr;
};

/// Values known now, row-major.
struct HostArray {
  llvm::SmallVector<int64_t> shape;
  std::vector<double> values;
  Elem elem = Elem::Real;
};

class Elaborator {
public:
  Elaborator(mlir::MLIRContext &context, DiagnosticEngine &diags, const Library &library, ScopePtr globals);

  //===--- Expressions (also used for experiments) ---===//
  Value evaluate(const ast::Expr &expr, Frame &frame);
  void execute(const ast::Block &block, Frame &frame);
  void execute(const ast::Stmt &stmt, Frame &frame);
  /// Calls anything callable.
  Value call(const Value &callee, const std::vector<ast::Argument> &args, Span span, Frame &frame);

  /// The value computed now, for experiments: all operands are known.
  std::optional<HostArray> host(const Value &value, Span span);

  /// Makes constants operands of the plan (a train) or plain constants (an experiment, a checked declaration).
  bool numbersAreOperands = true;
  /// Formulas of what was decided now, by comparison or as a size: other values may make another program.
  std::vector<std::string> decisions;
  /// Runs `run NAME = …` of an experiment; null: not in an experiment.
  std::function<Value(const ast::RunStmt &, Frame &)> onRun;
  std::function<void(const ast::ExpectStmt &, Frame &)> onExpect;
  /// The model of that name at the parameters of a finished run: nothing if the run has none, invalid if it is only
  /// checked.
  std::function<std::optional<Value>(const std::shared_ptr<RunResult> &, const std::string &, Span)> onRunModel;
  /// Keys of what is drawn now, in an experiment.
  std::optional<std::array<uint64_t, 4>> drawKeys;

  mlir::OpBuilder builder;
  DiagnosticEngine &diags;
  /// Whether this elaboration reported an error; those of other trains and runs do not count.
  bool hasFailed() const { return diags.errorCount() != errorsBefore; }

  /// A value of an experiment computed now: a number, if it is one.
  Value known(const Value &value, Span span);
  std::optional<int64_t> knownInt(const Value &value, Span span, const char *role);

private:
  friend class BuiltinTable;
  friend class TrainElaborator;
  friend class SourceOpener;
  friend class ExpectEvaluator;
  friend class DerivativeCall;
  friend class BackwardCall;

  //===--- Numbers.cpp ---===//
  mlir::Location loc(Span span);
  mlir::FloatType real() { return realType; }
  mlir::Type elementType(Elem elem, bool number);
  static Elem elemOf(mlir::Type element);
  static Elem elemOf(const Value &value);
  /// A constant as a rank-0 tensor: f64 or i64 or i1.
  Tensor materialise(const Const &constant, Span span);
  Tensor constantOf(const Series &series, Span span);
  /// Anything numeric as a tensor; nothing (after a report) for others.
  std::optional<Tensor> tensor(const Value &value, Span span, const char *role = "this");
  Tensor cast(Tensor x, Elem elem, bool number, Span span);
  /// Reals as whole numbers; those with a fraction become `plan::notWhole`, which loading refuses by row.
  Tensor wholeOrMarked(Tensor x, Span span);
  /// The rank-0 `x` at every place of `like` (leaf-wise, tree and per-leaf values too).
  Tensor broadcastScalar(Tensor x, mlir::RankedTensorType like, Span span);
  Tensor spread(Tensor perLeaf, mlir::RankedTensorType like, Span span);
  /// Makes two operands meet: element types, numbers, hidden axes. False after a report.
  bool unify(Tensor &a, Tensor &b, Span span, const std::string &what, Span aSpan, Span bSpan);
  std::optional<bool> knownBool(const Value &value);
  Value boolean(bool value, Span span) { return Value(Const{value ? 1.0 : 0.0, Elem::Bool, false, ""}, span); }
  Value integer(int64_t value, Span span) { return Value(Const{double(value), Elem::Int, false, ""}, span); }
  template <class OpT, class... Args>
  mlir::Value create(Span span, Args &&...args) {
    return OpT::create(builder, loc(span), std::forward<Args>(args)...).getResult();
  }

  //===--- Expressions.cpp ---===//
  Value evaluateName(const ast::NameExpr &expr, Frame &frame);
  Value evaluateMember(const ast::MemberExpr &expr, Frame &frame);
  Value evaluateIndex(const ast::IndexExpr &expr, Frame &frame);
  Value evaluateUnary(const ast::UnaryExpr &expr, Frame &frame);
  Value unary(ast::UnaryOp op, const Value &x, Span span);
  Value evaluateConditional(const ast::ConditionalExpr &expr, Frame &frame);
  Value evaluateArray(const ast::ArrayExpr &expr, Frame &frame);
  Value binary(ast::BinaryOp op, const Value &a, const Value &b, Span span);
  Value matmul(const Value &a, const Value &b, Span span);
  Value elementwise(llvm::StringRef op, const Value &a, const Value &b, Span span);
  Value stackValues(const std::vector<Value> &items, Span span);
  /// A hidden axis of `x` as a dimension in front: the only one, or that which `over` names.
  Value stackAxis(const Value &x, const ast::Expr *over, Span span, Frame &frame);
  /// The elements of a hidden axis as a dimension in front; nothing after a report, which names the function that `asks`.
  std::optional<Tensor> stackedOver(const std::string &axis, Tensor t, const std::string &asks, Span span, Frame &frame);
  /// The hidden axes that the arrays of a value carry.
  static std::vector<std::string> axesOf(const Value &x);
  /// Whether an array can take these indices; false after a report.
  bool canIndex(const Tensor &t, const ast::IndexExpr &expr);
  Value indexed(const Value &base, const ast::IndexExpr &expr, Frame &frame);
  /// Applies indices from the first dimension on.
  std::optional<Tensor> indexAll(Tensor x, const ast::IndexExpr &expr, Frame &frame);
  Value indexOne(Tensor base, size_t dim, const ast::Expr &index, Frame &frame);
  std::optional<Tensor> placesOf(const Value &at, Span span);
  /// Where a slice of a dimension begins and ends; nothing after a report.
  std::optional<Range> sliceBounds(const ast::SliceExpr &slice, int64_t size, Frame &frame);
  Value indexConstant(Tensor base, size_t dim, const Value &at, Span span);
  Value indexPairs(Tensor base, size_t dim, const ast::CallExpr &pairs, Frame &frame);
  Tensor newAxis(const Tensor &x, size_t dim, Span span);
  /// Elements `low` to `low + count` of a dimension.
  Tensor sliceOf(const Tensor &x, size_t dim, int64_t low, int64_t count, Span span);
  Value outOfRange(int64_t at, int64_t size, Span span);
  /// Dimensions made by `new` take the sizes of the other operand.
  void stretch(Tensor &a, Tensor &b, Span span);
  Value foldBinary(ast::BinaryOp op, const Const &a, const Const &b, Span span);
  Value memberOf(const Held &held, const std::string &name, Span span);
  Value partOf(const Series &trees, const std::string &path, Span span);

  //===--- Builtins.cpp ---===//
  struct Args;
  Value callBuiltin(const std::string &name, const std::vector<ast::Argument> &args, Span span, Frame &frame);
  Value callWith(const std::string &name, const Args &args, Frame &frame);
  Value callOther(const std::string &name, const Args &args, const std::vector<Value> &values, Frame &frame);
  Value unaryMath(const std::string &name, const Value &x, Span span);
  Value select(const Value &condition, const Value &a, const Value &b, Span span);
  std::optional<llvm::SmallVector<int64_t>> shapeArgument(const ast::Expr &expr, Frame &frame);
  Value full(double value, mlir::RankedTensorType type, bool number, Span span);
  Value likeArray(const Value &x, double value, Span span);
  Value iota(int64_t count, Span span);
  Value arange(const std::vector<Value> &values, Span span);
  Value eye(int64_t n, Span span);
  Value onehot(const Value &k, int64_t n, Span span);
  Value concat(const std::vector<Value> &items, int64_t axis, Span span);
  Value reshape(const Value &x, llvm::ArrayRef<int64_t> shape, Span span);
  Value transposed(const Value &x, const ast::Expr *order, Span span, Frame &frame);
  Value sizeOf(const Value &x, const ast::Expr *axis, Span span, Frame &frame);
  //===--- Windows.cpp ---===//
  Value windows(const Value &x, const Args &args, Frame &frame);
  llvm::SmallVector<int64_t> windowNumbers(const Args &args, int which, size_t rank, Frame &frame);
  /// `tree(x)`, `leaf(x)`
  Value recast(const Value &x, bool toTree, Span span);
  Value flatten(const Value &x, Span span);
  Value unflatten(const Value &x, Span span);
  /// The leaf of a whole tree at a path.
  Value leafOf(const Tensor &tree, const std::string &path, Span span);
  /// Paths of a tree's leaves: its own, or those of the trees in scope.
  std::vector<std::string> pathsOf(ir::TreeAttr tree) const;
  std::vector<ParamInfo *> leavesBelow(const std::string &path);
  /// The parameters below a path as a tree.
  Value treeOf(const std::string &path, Span span);

  //===--- NamedAxes.cpp ---===//
  /// An elementwise function of values of which some have named axes: `apply` gets them as plain arrays of one shape.
  /// `what`: its spelling, for messages.
  Value overNames(llvm::ArrayRef<Value> values, Span span, llvm::StringRef what,
                  llvm::function_ref<Value(llvm::ArrayRef<Value>)> apply);
  /// Whether `overNames` has to see to a value.
  bool meetsByName(const Value &value) const { return !bareSeriesIsLast && (isNamed(value) || isMissing(value)); }
  std::optional<std::vector<Axis>> joinAxes(llvm::ArrayRef<const Series *> parts, Span span);
  Value callSeries(const std::string &name, const std::vector<Value> &values, Span span);
  Value sameBits(const Value &x, const Value &y, Span span);
  Value settled(Series series, Span span);
  /// A value computed now as an entry of an array with named axes; null after a report.
  std::shared_ptr<Series> asEntry(const Value &value, Span span);
  /// Whether all entries are there and known; false after a report, silently for a sketch.
  bool isWhole(const Series &series, Span span);

  //===--- NamedCalls.cpp ---===//
  /// A call of a function by entries: where an argument has more named axes than the parameter's type takes, the first
  /// of them map. Nothing if no argument has.
  std::optional<Value> overEntries(const Function &fn, const std::map<std::string, Value> &given, Span span, Frame &frame);
  Value stackedEntries(Series place, const std::vector<std::shared_ptr<Series>> &results, Span span);

  //===--- NamedChoice.cpp ---===//
  Value selectSeries(const Value &series, const ast::IndexExpr &expr, Frame &frame);
  Value selectMembers(const std::shared_ptr<RunResult> &sweep, const ast::IndexExpr &expr, Frame &frame);
  Value atLabels(const Value &base, const ast::CallExpr &call, Frame &frame);
  void bindAxes(const std::vector<Axis> &axes, bool isSketch, Scope &scope, Span span);
  std::optional<std::pair<size_t, std::vector<int64_t>>>
  maskedPositions(const Series &mask, const std::vector<Axis> &axes, const std::string &name, Span span);
  std::optional<std::pair<size_t, int64_t>> labelledPosition(const std::vector<Axis> &axes, const ast::Argument &arg,
                                                             const std::string &what, Frame &frame);
  std::optional<int64_t> positionIn(const Value &value, int64_t size, Span span);
  void reportNoAxis(const std::string &what, const std::string &name, const std::vector<Axis> &axes, Span span);

  //===--- NamedReductions.cpp ---===//
  Value reduceNamed(const std::string &name, const Series &series, const ast::Expr *over, Span span, Frame &frame);
  std::optional<std::vector<size_t>> axesOver(const Series &series, const ast::Expr *over);

  //===--- Reductions.cpp ---===//
  Value callReduction(const std::string &name, const Args &args, Frame &frame);
  Value reduction(const std::string &name, Value x, const ast::Expr *axis, const ast::Expr *over, Span span, Frame &frame);
  Value callDraw(const std::string &name, const Args &args, Frame &frame);
  Value reduceOver(ir::OverKind kind, const Tensor &t, const ast::Expr &over, Span span);
  std::optional<llvm::SmallVector<int64_t>> reducedDims(const Tensor &t, const ast::Expr *axis, Frame &frame);
  Value reduce(nd::ReduceKind kind, const Value &x, const ast::Expr *axis, const ast::Expr *over, Span span,
               Frame &frame);
  Value reducedCount(const Value &x, const ast::Expr *axis, const ast::Expr *over, Span span, Frame &frame);
  Value mean(const Value &x, const ast::Expr *axis, const ast::Expr *over, Span span, Frame &frame);
  Value spreadBack(const Value &reduced, const Value &like, const ast::Expr *axis, Span span, Frame &frame);
  bool checkDistribution(const Distribution &dist, Span span);
  Value noOver(const std::string &name, Span span);
  Value drawFrom(const Distribution &dist, llvm::ArrayRef<int64_t> shape, mlir::Attribute encoding, Span span,
                 Frame &frame);

  //===--- Distributions.cpp ---===//
  /// `shape` values of a distribution; a report for anything else.
  Value drawValue(const Value &dist, llvm::ArrayRef<int64_t> shape, mlir::Attribute encoding, Span span, Frame &frame);
  Value drawRecord(const Record &dist, llvm::ArrayRef<int64_t> shape, mlir::Attribute encoding, Span span, Frame &frame);
  /// Names the next draw here: the place, the name that it is assigned to, the passes of unrolled loops.
  std::string drawSite(Frame &frame);
  /// What is known of a distribution beside its draws: a record.
  Value factsOf(const Value &dist, Span span, Frame &frame);
  /// `log_prob`, `entropy`, `kl`, `mean` of distributions.
  Value callFact(const std::string &name, const std::vector<Value> &values, Span span, Frame &frame);

  //===--- Calls.cpp ---===//
  Value callFunction(const Function &fn, const std::vector<ast::Argument> &args, Span span, Frame &frame);
  Value callFunctionWith(const Function &fn, const std::vector<Value> &values, Span span, Frame &frame);
  Value runFunction(const Function &fn, ScopePtr scope, Span span, Frame &frame);
  Value callValues(const Value &callee, const std::vector<Value> &args, Span span, Frame &frame);
  Value callInstance(Instance &instance, const std::vector<ast::Argument> &args, Span span, Frame &frame);
  Value runBody(const ast::Body &body, Frame &frame, Span span, const std::string &what);
  /// Arguments by the names of their parameters; nothing after a report.
  std::optional<std::map<std::string, Value>> argumentsOf(const ast::Parameters &parameters,
                                                          const std::vector<ast::Argument> &args, Frame &frame,
                                                          NameKind kind, const std::string &what, Span span);
  Value callGiven(const Function &fn, std::map<std::string, Value> &given, Span span, Frame &frame);
  /// Binds a list of parameters in `scope`; `positional` and named arguments are evaluated in `frame`.
  bool bind(const ast::Parameters &parameters, const std::vector<ast::Argument> &args, ScopePtr scope, Frame &frame,
            NameKind kind, const std::string &what, Span span);
  /// As above with values by name.
  bool bindValues(const ast::Parameters &parameters, std::map<std::string, Value> &given, ScopePtr scope, NameKind kind,
                  const std::string &what, Span span);
  Value instantiateModel(const ast::ModelDecl &decl, const std::vector<ast::Argument> &args, Span span, Frame &frame);
  Value instantiateRule(const ast::RuleDecl &decl, const std::vector<ast::Argument> &args, Span span, Frame &frame);
  /// A rule with another value for one hyperparameter.
  Value adjustRule(const Rule &rule, const ast::Ident &name, const Value &value);
  void placeInstance(Instance &instance, const std::string &name, Frame &frame);
  /// `net.at(p)`: the same instance, with its parameters read from a tree.
  Value instanceAt(const Instance &instance, const std::vector<ast::Argument> &args, Span span, Frame &frame);
  mlir::Value leafAt(const Instance &instance, ParamInfo &info, Span span);
  /// Row i of an array, or of each array of a stack of records.
  Value rowOf(const Value &items, int64_t i, Span span);
  /// What a hyperparameter's expression gave, computed now where that is possible: its code may be read in any region.
  Value computedNow(const Value &value, const ast::Expr &expr, Frame &frame);
  Value lookupGlobal(const std::string &name, Span span);
  /// What a function made here sees when it is called: locals as they are now, states and what the rule may write as
  /// they are then.
  ScopePtr capture(const ScopePtr &scope);

  //===--- Derivatives.cpp ---===//
  /// `grad(f)`, `hvp(f, wrt=x)` … as a function; invalid after a report.
  Value derivativeOf(const std::string &name, const Value &f, const Args &args);
  Value callDerivative(const Derivative &derivative, const std::vector<ast::Argument> &args, Span span, Frame &frame);
  /// As above at values.
  Value callDerivative(const Derivative &derivative, const std::vector<Value> &values, Span span, Frame &frame);
  /// The value with `axes` added to those that it has.
  Tensor varied(Tensor x, mlir::Attribute axes, Span span);
  /// An op's results where nothing runs later: expanded at once. Nothing after a report.
  std::optional<llvm::SmallVector<mlir::Value>> expandedNow(ir::DerivativeOp op, Span span);
  //===--- Backward.cpp ---===//
  /// The body of a function with a `backward`, whose parameters are bound in `inner`.
  Value runWithBackward(const Function &fn, Frame &inner, Span span, const std::string &what);

  //===--- Types.cpp ---===//
  /// Checks a value against a declared type, binds shape names in `scope`, and gives the value as that type has it
  /// (an integer as a real, a number as an array's element).
  std::optional<Value> conform(const Value &value, const ast::Type &type, ScopePtr scope, const std::string &what,
                               Span span);
  /// Shape and element type that a declaration says; false after a report.
  bool declaredShape(const ast::Type &type, ScopePtr scope, llvm::SmallVector<int64_t> &shape, Elem &elem,
                     int64_t *classes = nullptr);
  bool classArgument(const ast::NamedType &type, ScopePtr scope, int64_t *classes);
  std::optional<llvm::SmallVector<int64_t>> shapeOf(const std::vector<ast::ExprPtr> &dims, ScopePtr scope,
                                                    const Tensor *against, const std::string &what, Span span);

  //===--- Statements.cpp ---===//
  /// The value of a local, of its declared type.
  Value letValue(const ast::LetStmt &stmt, Frame &frame);
  void executeLet(const ast::LetStmt &stmt, Frame &frame);
  void executeDraw(const ast::DrawStmt &stmt, Frame &frame);
  void executePlace(const ast::PlaceStmt &stmt, Frame &frame);
  void executeWrite(const ast::WriteStmt &stmt, Frame &frame);
  void executeIf(const ast::IfStmt &stmt, Frame &frame);
  void notHere(Span span, const char *what);
  /// The array `whole` with the place `index` taken by `part`.
  Value placeInto(const Value &whole, const ast::IndexExpr &index, const Value &part, Frame &frame);
  /// Both sides of a condition that is known only while the run goes, each giving as many values.
  std::vector<Value> branch(Tensor condition, const std::function<std::vector<Value>()> &thenSide,
                            const std::function<std::vector<Value>()> &elseSide, Span span);
  void guardPlaces(mlir::Block &block, Tensor condition, bool wanted, Span span);
  //===--- Loops.cpp ---===//
  void loop(const ast::Ident *variable, const Value &items, const ast::Block *block, const ast::Expr *body,
            Span rangeSpan, Span span, Frame &frame, std::vector<Value> *yields);
  std::optional<int64_t> lengthOf(const Value &items, Span span);
  void executeLoop(const ast::Ident *variable, const ast::Expr &range, const ast::Block &body, Span span,
                   Frame &frame, std::vector<Value> *yields);
  void executeRepeat(const ast::RepeatStmt &stmt, Frame &frame);
  void executeWhile(const ast::WhileStmt &stmt, Frame &frame);
  Value collect(const ast::Ident &variable, const ast::Expr &range, const ast::Block *block, const ast::Expr *body,
                Span span, Frame &frame);
  Value collected(const RunResult &sweep, const std::vector<Value> &yields, Span span);
  void scan(const ast::Ident *variable, const Value &items, int64_t trip, const ast::Block *block,
            const ast::Expr *body, Span span, Frame &frame, std::vector<Value> *yields);
  struct Carried;
  std::optional<Carried> carriedNow(std::vector<std::string> names, Span span, Frame &frame);
  std::optional<llvm::SmallVector<mlir::Value>> initsOf(const Carried &carried, Span span);
  void bindCarried(const Carried &carried, mlir::ValueRange values, Span span, Frame &frame);
  bool nextCarried(Carried &carried, mlir::ValueRange before, mlir::Attribute axes, bool &again, Span span, Frame &frame,
                   llvm::SmallVectorImpl<mlir::Value> &results);
  Tensor whileCondition(const ast::WhileStmt &stmt, Frame &frame);
  void guardPasses(const ast::WhileStmt &stmt, const Carried &carried, mlir::ValueRange carries, mlir::Block &block,
                   Frame &frame);
  bool yielded(const Value &value, Span span, std::vector<Tensor> &stacks, llvm::SmallVectorImpl<mlir::Value> &results);
  void declareParam(const ast::LeafStmt &stmt, Frame &frame);
  /// What a parameter or a state of a finished run's model is.
  void bindKept(const ast::Ident &name, NameKind kind, Frame &frame);
  Value assign(const ast::Ident &name, Value value, Frame &frame);
  /// Names that a block gives new values to and that exist outside it.
  std::vector<std::string> carried(const ast::Block &block, Scope &scope);
  /// Adds the states of held rules that code may apply: it names them, or functions that do.
  void addHeldStates(const ast::Node &code, Scope &scope, std::vector<std::string> &names);
  /// Makes the values of carried names tensors of types that stay the same from pass to pass.
  std::optional<mlir::Value> asCarry(const Value &value, mlir::Type type, Span span);

  /// Keeps what an op came to. Where known values take too much, those go that all present users have read; one that
  /// is asked for once more is computed anew.
  void keepKnown(mlir::Operation *op, llvm::ArrayRef<nd::NdArray> results);
  std::optional<HostArray> hostOf(mlir::Value value, Span span);

  mlir::MLIRContext &context;
  const Library &library;
  ScopePtr globals;
  mlir::FloatType realType;
  mlir::Attribute place; ///< axes of the place where code runs: null, or `example`
  bool inWhileCondition = false;
  bool inDerivative = false; ///< in a function that is being differentiated
  int depth = 0;
  bool reportedDepth = false;
  size_t errorsBefore = 0;

  // Parameters.
  std::map<std::string, ParamInfo *> paramsByPath;
  std::vector<std::unique_ptr<ParamInfo>> params;
  std::vector<ParamInfo *> treeLeaves; ///< leaves of the trees in scope, in the arena's order
  bool mayDeclareParams = false;
  bool discovering = false; ///< a first pass over the loss that only finds its parameters
  std::function<mlir::Value(ParamInfo &)> readParam;
  const Tensor *keptTree = nullptr; ///< of the finished run whose model is called: parameters and states by path

  // Models while they run.
  bool training = false; ///< in the objective
  /// A model returned: what its states are now.
  std::function<void(const Instance &, Scope &, Span)> onModelDone;
  /// Values that `as NAME` names, where somebody wants them.
  std::function<void(const ast::Label &, const Value &, Frame &)> onActivation;

  // What statements of rules do.
  std::function<void(const ast::StateStmt &, Frame &)> onState;
  std::function<void(const ast::EmitStmt &, Frame &)> onEmit;
  /// Calls of names that a socket offers: `loss(p)`, `gradient(p)`.
  std::function<Value(const std::string &, const std::vector<ast::Argument> &, Span, Frame &)> onSocketCall;
  /// Calls of held rules.
  std::function<Value(const Held &, const std::vector<ast::Argument> &, Span, Frame &)> onHeldCall;

  // Draws.
  bool mayDraw = false, drawsByStep = false, drawsByRow = false;
  nd::Stream drawStream = nd::Stream::init;
  mlir::Value drawPass; ///< of the run-time loops around
  mlir::Value drawSeed; ///< of the data that is being made; null: it has none of its own
  std::vector<Value> drawKey; ///< `key=(a, b)` of the draw that is being made; empty: its place names it
  int drawsMade = 0;

  // Numbers.
  plan::Plan *plan = nullptr;
  std::map<std::string, mlir::Value> numberCache; ///< by name and value, within one block
  mlir::Block *numberCacheBlock = nullptr;
  bool bareSeriesIsLast = false; ///< in a train's `expect`
  bool yieldedStack = false;     ///< the last loop gave its elements as one array
  llvm::DenseMap<mlir::Value, nd::NdArray> hostCache; ///< values that were computed
  int64_t hostBytes = 0, hostLimit = 0;               ///< what they take, and when those that all users have go
};

/// What Builtins.def says of a function.
struct BuiltinRow {
  int64_t least = 0, most = 0;
  std::vector<std::string> named;
};
/// Whether something can be drawn from: one of the language's own, or a record with a field `draw`.
bool isDistribution(const Value &value);
/// The last value of a metric of numbers.
Value lastOf(const Series &series, Span span);
bool isBuiltin(llvm::StringRef name);
BuiltinRow builtinRow(llvm::StringRef name);

/// `params` of `param`, `grad` of `grads` …: the same bytes, leaf by leaf or as a tree; empty for other names.
std::string twinOf(llvm::StringRef name);
/// Whether a `yield` of a loop's body is its own, not one of an array inside.
bool yieldsItself(const ast::Block &body);

/// What records are made of, depth first; other values stand for themselves.
std::vector<Value> leafValues(const std::vector<Value> &values);
/// Puts the fields of each `b` in the order of its `a`; false when they are not alike.
bool alignAll(const std::vector<Value> &a, std::vector<Value> &b);
/// The inverse of leafValues: values made like `models`.
std::vector<Value> rebuildAll(const std::vector<Value> &models, const std::vector<Value> &leaves);

/// 64-bit FNV-1a of a draw's place: stable on every machine.
int64_t siteOf(llvm::StringRef text);

} // namespace dyn::elab
