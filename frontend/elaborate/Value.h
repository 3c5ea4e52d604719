//===- Value.h - what an expression means while a spec is elaborated ------===//
//
// Elaboration runs a spec at concrete shapes: numbers that do not depend on
// data or parameters are known, functions and models are called, and what
// must be computed while the run goes is a value of the IR. A Value is any of
// these; after an error it is Invalid, and everything made from that is Invalid
// too and reports nothing.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/Ast.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace dyn {
class DiagnosticEngine;
}

namespace dyn::elab {

struct ParamInfo;
struct Value;
struct Scope;
using ScopePtr = std::shared_ptr<Scope>;

enum class Elem { Bool, Int, Real };

/// A number known now. `operand`: it may change without a new compilation (a hyperparameter, a literal with a
/// fraction), so it enters code through the plan's table of numbers; otherwise it is part of the formula (`x^2`).
struct Const {
  double number = 0;
  Elem elem = Elem::Real;
  bool operand = false;
  std::string name; ///< "adamw.lr", for the plan
  std::string formula = {}; ///< of hyperparameters of the train (runtime/Formula.h); empty: it depends on none
};

/// Computed while the run goes. `number`: from hyperparameters, clocks and schedules alone; kept in f64 until it
/// meets an array. `classes`: of a class(k). `fresh`: bit d is set where dimension d came from `x[:, new]`, has one place
/// and fits any size.
struct Tensor {
  mlir::Value value;
  bool number = false;
  int64_t classes = 0;
  uint64_t fresh = 0;

  mlir::RankedTensorType type() const { return mlir::cast<mlir::RankedTensorType>(value.getType()); }
};

struct Record {
  std::vector<std::pair<std::string, Value>> fields;
};

/// `low..high`
struct Range {
  int64_t low = 0, high = 0;
};

/// Several values in brackets: arguments only.
struct Tuple {
  std::vector<Value> items;
};

struct Text {
  std::string text;
};
struct None {};

struct Builtin {
  std::string name;
};
struct Function {
  const ast::FnDecl *decl = nullptr;
  ScopePtr scope; ///< where it was declared
};
struct Closure {
  const ast::ClosureExpr *expr = nullptr;
  ScopePtr scope;
};

/// A model with its hyperparameters; one instance, whose parameters are shared by all its calls.
struct Instance {
  const ast::ModelDecl *decl = nullptr;
  ScopePtr hyper;
  std::string path;                 ///< empty until it is bound or called
  std::map<std::string, int> calls; ///< anonymous instances made in the present call, by model
  std::shared_ptr<Value> at = nullptr; ///< of `net.at(p)`: the tree that its parameters are read from
};
struct ModelName {
  const ast::ModelDecl *decl = nullptr;
};

/// A rule with its hyperparameters; `hyper` null: only named so far.
struct Rule {
  const ast::RuleDecl *decl = nullptr;
  ScopePtr hyper;
};

/// Where a rule runs: its name in the plan, the leaves that it stands on, and their place in the parameters' arena.
struct RulePlace {
  std::string rule; ///< "optimizer sam.base"
  std::string leaf; ///< of a rule that runs leaf by leaf, else empty
  std::vector<ParamInfo *> leaves;
  int64_t from = 0;
  bool patterned = false; ///< `on [m, n]`: its parameter is one array

  std::string key() const { return leaf.empty() ? rule : rule + "@" + leaf; }
};

/// A rule that another one holds.
struct HeldRule {
  /// One for all leaves, or one for each of a rule with a shape pattern.
  struct Part {
    RulePlace place;
    ScopePtr start; ///< what its states may start from
    ScopePtr scope; ///< hyperparameters at their present value, the rules that it holds itself
  };
  std::string name; ///< as its holder calls it
  const ast::RuleDecl *decl = nullptr;
  std::vector<ParamInfo *> leaves; ///< of its holder
  std::vector<Part> parts;
  std::vector<std::string> states; ///< bindings among the globals: its own and those of what it holds
};
/// It as a function: `base(params, grads)`, or `base.delta(params, grads)`.
struct Held {
  std::shared_ptr<HeldRule> rule;
  bool delta = false;
};

/// A data declaration, or one split of it.
struct Data {
  const ast::DataDecl *decl = nullptr;
  std::string split;
  ScopePtr args;
  int64_t rows = 0; ///< of a stream: what a train makes at a time; 0: nobody said
};

struct TrainName {
  const ast::TrainDecl *decl = nullptr;
};

/// `normal(mean, sd)`, `uniform(low, high)`, `bernoulli(p)`: a value; only draws draw.
struct Distribution {
  std::string kind;
  std::vector<Value> parameters;
};

/// A finished run of an experiment, or the runs of a sweep (RunResult.h).
struct RunResult;
/// An array with named axes (Series.h): a metric, or without names the value of a finished run.
struct Series;
/// `grad(f)`, `jvp(f)` …: below.
struct Derivative;

struct Value {
  using Payload =
      std::variant<std::monostate, Const, Tensor, Record, Range, Tuple, Text, None, Builtin, Function, Closure,
                   std::shared_ptr<Instance>, ModelName, Rule, Held, Data, TrainName, Distribution,
                   std::shared_ptr<RunResult>, std::shared_ptr<Series>, std::shared_ptr<const Derivative>>;
  Payload payload;
  Span origin; ///< where the value was made, for messages

  Value() = default;
  template <class T>
  Value(T payload, Span origin = {}) : payload(std::move(payload)), origin(origin) {}

  bool isInvalid() const { return std::holds_alternative<std::monostate>(payload); }
  template <class T>
  const T *as() const {
    return std::get_if<T>(&payload);
  }
  template <class T>
  T *as() {
    return std::get_if<T>(&payload);
  }
};

/// A function made of another by `grad(f)`, `jvp(f)` …, to be called with what that one takes. `pushforward` (J v) and
/// `pullback` (J^T u) take one argument more, the direction.
struct Derivative {
  enum class Kind { gradient, valueAndGradient, pullback, pushforward, jacobian };
  Kind kind = Kind::gradient;
  std::string name; ///< as it is written
  Value of;
  std::string wrt; ///< the parameter that it is taken by; empty: the first
};

/// What a name stands for in a scope.
enum class NameKind { Local, Hyperparameter, ShapeName, State, Param, Socket, Declaration };
const char *describe(NameKind kind);

struct StateInfo;

struct Binding {
  Value value;
  NameKind kind = NameKind::Local;
  Span span;
  std::shared_ptr<StateInfo> state; ///< of a State, or of a socket name that may be written
  std::function<Value()> lazy;      ///< makes the value where it is used: a field of the data, a train's local
};

/// Where a written value goes.
struct StateInfo {
  std::string name;
  mlir::RankedTensorType type;
  bool written = false;
  bool eitherForm = false; ///< a tree may be written leaf by leaf: `served` has no plural
};

struct Scope : std::enable_shared_from_this<Scope> {
  explicit Scope(ScopePtr parent = nullptr) : parent(std::move(parent)) {}
  ScopePtr parent;
  std::map<std::string, Binding> names;

  Binding *find(const std::string &name) {
    for (Scope *scope = this; scope; scope = scope->parent.get())
      if (auto it = scope->names.find(name); it != scope->names.end())
        return &it->second;
    return nullptr;
  }
  void define(const std::string &name, Value value, NameKind kind, Span span) {
    names[name] = Binding{std::move(value), kind, span, nullptr, nullptr};
  }
  void defineLazy(const std::string &name, NameKind kind, Span span, std::function<Value()> make) {
    names[name] = Binding{Value(), kind, span, nullptr, std::move(make)};
  }
};

/// "a number", "[64, 10]", "a model", for messages.
std::string describe(const Value &value);
/// "[64, 10]", or "a number" for no dimensions.
std::string describeShape(llvm::ArrayRef<int64_t> shape);
std::string describeType(mlir::RankedTensorType type);
/// As `describe`, with the number itself where it is known: "1.5".
std::string describeKnown(const Value &value);
/// "no arguments", "one argument", "3 arguments"
std::string describeArguments(size_t count);
/// Whether the left side of `and`, `or` says what comes out.
bool decides(ast::BinaryOp op, const Value &left);
/// Whether a run can hold an array of this shape; false after a report. Sizes are checked before anything multiplies
/// them.
bool fitsMemory(llvm::ArrayRef<int64_t> shape, DiagnosticEngine &diags, Span span);

} // namespace dyn::elab
