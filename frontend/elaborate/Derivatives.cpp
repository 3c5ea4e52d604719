//===- Derivatives.cpp - derivatives of functions, as functions -----------===//
//
// `grad(f)` is a value; calling it elaborates `f` once in the region of a
// `dyn.derivative`, where the argument that it is taken by stands for the
// point. What `f` uses besides is captured, so closures, models, `loss` and
// derivatives themselves nest without rules of their own. In a train a pass
// expands the op, after `example` has become a dimension; where values are
// computed now it is expanded at once.
//
//===----------------------------------------------------------------------===//
#include "frontend/elaborate/Args.h"
#include "frontend/elaborate/Elaborator.h"
#include "frontend/elaborate/Stacks.h"

#include "frontend/RuleKinds.h"

#include "dialects/Nd/NdSweep.h"
#include "passes/expand/Derivatives.h"

using namespace mlir;

namespace dyn::elab {

using Kind = Derivative::Kind;

static std::shared_ptr<const Derivative> made(Kind kind, const std::string &name, const Value &of, const std::string &wrt) {
  return std::make_shared<const Derivative>(Derivative{kind, name, of, wrt});
}

static bool isFunction(const Value &f) {
  return f.as<Function>() || f.as<Closure>() || f.as<Builtin>() || f.as<std::shared_ptr<Instance>>() ||
         f.as<std::shared_ptr<const Derivative>>();
}

/// What its arguments are called, in order; nothing for a function of the language.
static std::vector<std::string> parameterNames(const Value &f) {
  std::vector<std::string> names;
  const ast::Parameters *parameters = nullptr;
  if (auto *fn = f.as<Function>())
    parameters = &fn->decl->parameters;
  else if (auto *instance = f.as<std::shared_ptr<Instance>>())
    parameters = &(*instance)->decl->inputs;
  else if (auto *derivative = f.as<std::shared_ptr<const Derivative>>())
    return parameterNames((*derivative)->of);
  if (auto *closure = f.as<Closure>())
    for (const ast::Ident &parameter : closure->expr->parameters)
      names.push_back(parameter.text);
  if (parameters)
    for (const ast::Parameter &parameter : parameters->items)
      names.push_back(parameter.name.text);
  return names;
}

Value Elaborator::derivativeOf(const std::string &name, const Value &f, const Args &args) {
  Span span = args.span;
  if (!isFunction(f)) {
    diags.report(Diag::recast, args.positional[0]->span, name, "a function", describe(f))
        .help("write `" + name + "(f)(x)`, or `" + name + "(x -> …)(x)`");
    return {};
  }
  std::string wrt;
  if (const ast::Expr *given = args.get("wrt")) {
    auto *named = ast::dynCast<ast::NameExpr>(given);
    std::vector<std::string> names = parameterNames(f);
    wrt = named ? named->name : print(*given);
    if (!llvm::is_contained(names, wrt)) {
      auto report = diags.report(Diag::unknown_argument, given->span, print(*args.positional[0]), wrt);
      if (std::string near = nearest(wrt, names); !near.empty())
        report.help("did you mean `" + near + "`?");
      else if (!names.empty())
        report.help("`wrt` is one of its arguments: " + listed(names));
      return {};
    }
  }
  if (name == "hvp" || name == "hessian") {
    Value gradient(made(Kind::gradient, name, f, wrt), span);
    return Value(made(name == "hvp" ? Kind::pushforward : Kind::jacobian, name, gradient, wrt), span);
  }
  Kind kind = name == "grad"             ? Kind::gradient
              : name == "value_and_grad" ? Kind::valueAndGradient
              : name == "vjp"            ? Kind::pullback
              : name == "jvp"            ? Kind::pushforward
                                         : Kind::jacobian;
  return Value(made(kind, name, f, wrt), span);
}

Tensor Elaborator::varied(Tensor x, Attribute axes, Span span) {
  auto encoding = mergeEncodings(x.type().getEncoding(), axes);
  if (axes && *encoding != x.type().getEncoding())
    x.value = create<ir::VaryOp>(span, ir::withEncoding(x.type(), *encoding), x.value);
  return x;
}

std::optional<SmallVector<mlir::Value>> Elaborator::expandedNow(ir::DerivativeOp op, Span span) {
  // What is computed of values in the region must not be found under the address of another value.
  op->walk([&](Operation *inner) {
    for (mlir::Value result : inner->getResults())
      hostCache.erase(result);
  });
  auto refuse = [&](Operation *, const Twine &reason) {
    diags.report(Diag::no_derivative_passes, span, reason.str())
        .help("`stop_gradient(…)` around it says that a derivative of zero is meant");
  };
  auto results = expand::expandDerivative(op, refuse);
  if (mlir::failed(results)) {
    op.erase();
    return std::nullopt;
  }
  return *results;
}

//===----------------------------------------------------------------------===//
// One call
//===----------------------------------------------------------------------===//

static const char *const argumentsAndDirection = "the function's arguments, then a direction";

class DerivativeCall {
public:
  DerivativeCall(Elaborator &e, const Derivative &derivative, Span span, Frame &frame)
      : e(e), derivative(derivative), span(span), frame(frame) {}

  Value run(const std::vector<ast::Argument> &args) { return evaluate(args) ? run() : Value(); }

  Value run(const std::vector<Value> &values) {
    for (const Value &value : values)
      given.push_back({{}, value, value.origin.isValid() ? value.origin : span});
    return run();
  }

private:
  Value run() {
    if (!chooseVariable() || !takePoints() || !elaborateAtAxes() || !checkValues())
      return {};
    return results(build());
  }

  struct Given {
    ast::Ident name;
    Value value;
    Span span;
  };

  bool takesDirection() const { return derivative.kind == Kind::pullback || derivative.kind == Kind::pushforward; }
  bool isForward() const { return derivative.kind == Kind::pushforward; }

  bool evaluate(const std::vector<ast::Argument> &args) {
    bool good = true;
    for (auto &arg : args) {
      given.push_back({arg.name, e.evaluate(*arg.value, frame), arg.span});
      given.back().value.origin = arg.value->span;
      good &= !given.back().value.isInvalid();
    }
    if (!good || !takesDirection())
      return good;
    if (given.empty() || given.back().name) {
      e.diags.report(Diag::too_few_arguments, span, derivative.name, argumentsAndDirection, given.size());
      return false;
    }
    direction = given.back();
    given.pop_back();
    return true;
  }

  /// The argument that the derivative is taken by.
  bool chooseVariable() {
    std::vector<std::string> names = parameterNames(derivative.of);
    std::string wanted = !derivative.wrt.empty() ? derivative.wrt : names.empty() ? "" : names.front();
    size_t place = llvm::find(names, wanted) - names.begin();
    size_t next = 0;
    for (at = 0; at < given.size(); ++at)
      if (given[at].name ? given[at].name.text == wanted : next++ == (wanted.empty() ? 0 : place))
        return true;
    if (takesDirection() && given.empty())
      e.diags.report(Diag::too_few_arguments, span, derivative.name, argumentsAndDirection, 1)
          .help("write `" + derivative.name + "(f)(x, v)`: where, and along what");
    else
      e.diags.report(Diag::missing_argument, span, derivative.name + "(…)", wanted.empty() ? "x" : wanted);
    return false;
  }

  /// Reals that a derivative can be taken by; nothing after a report.
  std::optional<Tensor> realOf(const Value &leaf, Span where, const std::string &what) {
    auto t = e.tensor(leaf, where, what.c_str());
    if (!t)
      return std::nullopt;
    Elem elem = Elaborator::elemOf(t->type().getElementType());
    if (elem == Elem::Bool || (elem == Elem::Int && leaf.as<Tensor>())) {
      e.diags.report(Diag::recast, where, derivative.name, what + " of reals", describe(leaf)).help("`real(…)` makes reals of whole numbers");
      return std::nullopt;
    }
    return e.cast(*t, Elem::Real, t->number, where);
  }

  bool takePoints() {
    for (const Value &leaf : leafValues({given[at].value})) {
      auto t = realOf(leaf, given[at].span, "an argument");
      if (!t)
        return false;
      if (isStackOfTrees(t->type())) {
        e.diags.report(Diag::recast, given[at].span, derivative.name, "an array, a record or a tree", describeType(t->type()));
        return false;
      }
      points.push_back(*t);
    }
    if (!isForward())
      return true;
    directions = alongside(given[at].value, points);
    return directions.size() == points.size();
  }

  /// The direction as values like `like`, of which `model` is made; fewer after a report.
  SmallVector<Tensor> alongside(const Value &model, ArrayRef<Tensor> like) {
    SmallVector<Tensor> found;
    std::vector<Value> one = {direction.value};
    bool good = alignAll({model}, one);
    std::vector<Value> leaves = leafValues(one);
    for (size_t i = 0; good && i < leaves.size(); ++i) {
      auto t = realOf(leaves[i], direction.span, "a direction");
      if (!t)
        return found;
      *t = e.cast(*t, Elem::Real, like[i].number, direction.span);
      if (t->type().getElementType() != like[i].type().getElementType())
        t->value = e.create<nd::CastOp>(span, t->value, like[i].type().getElementType());
      good = t->type().getShape() == like[i].type().getShape() &&
             ir::rangeOf(t->type().getEncoding()) == ir::rangeOf(like[i].type().getEncoding());
      found.push_back(*t);
    }
    if (!good) {
      found.clear();
      e.diags.report(Diag::recast, direction.span, derivative.name,
                     isForward() ? "a direction like the argument, " + describe(model)
                                 : "a direction like what the function gives, " + describe(model),
                     describe(direction.value));
    }
    return found;
  }

  /// The function's values in a region of its own, whose arguments are the points.
  bool elaborate() {
    region = std::make_unique<Region>();
    Block &block = region->emplaceBlock();
    OpBuilder::InsertionGuard guard(e.builder);
    e.builder.setInsertionPointToEnd(&block);
    e.numberCacheBlock = nullptr;
    std::vector<Value> leaves;
    for (Tensor &point : points)
      leaves.push_back(Value(Tensor{block.addArgument(point.type(), e.loc(span)), point.number, 0}, given[at].span));
    bool outer = std::exchange(e.inDerivative, true);
    model = apply(rebuildAll({given[at].value}, leaves).front());
    e.inDerivative = outer;
    values.clear();
    for (const Value &leaf : leafValues({model})) {
      auto t = leaf.isInvalid() ? std::nullopt : realOf(leaf, span, "a function");
      if (!t)
        return false;
      values.push_back(*t);
    }
    e.numberCacheBlock = nullptr;
    return true;
  }

  /// Calls the function with the arguments that were given, under names that no spec can write.
  Value apply(const Value &variable) {
    auto scope = std::make_shared<Scope>(frame.scope);
    Frame inner = frame;
    inner.scope = scope;
    std::vector<ast::Argument> args;
    for (size_t i = 0; i < given.size(); ++i) {
      auto name = std::make_unique<ast::NameExpr>();
      name->name = "argument " + std::to_string(i);
      name->span = given[i].span;
      scope->define(name->name, i == at ? variable : given[i].value, NameKind::Local, given[i].span);
      args.push_back({given[i].name, std::move(name), given[i].span});
    }
    Value result = e.call(derivative.of, args, span, inner);
    drawsAfter = inner.draws;
    return result;
  }

  Attribute axesOf(ArrayRef<Tensor> tensors, Attribute axes) const {
    for (const Tensor &t : tensors)
      axes = *mergeEncodings(axes, ir::axesOf(t.type().getEncoding()));
    return axes;
  }

  /// A derivative has the axes of the point, the values and the direction: points that lack some are one for each
  /// element, and the function is elaborated again at them.
  bool elaborateAtAxes() {
    size_t numbers = e.plan ? e.plan->numbers.size() : 0;
    auto calls = frame.self ? frame.self->calls : std::map<std::string, int>();
    if (!elaborate())
      return false;
    if (derivative.kind == Kind::pullback) {
      directions = alongside(model, values);
      if (directions.size() != values.size())
        return false;
    }
    axes = axesOf(directions, axesOf(points, isForward() ? Attribute() : axesOf(values, {})));
    bool again = false;
    for (Tensor &point : points) {
      Tensor wide = e.varied(point, axes, span);
      again |= wide.value != point.value;
      point = wide;
    }
    for (Tensor &each : directions)
      each = e.varied(each, axes, span);
    if (again) {
      if (e.plan)
        e.plan->numbers.resize(numbers);
      if (frame.self)
        frame.self->calls = calls;
      if (!elaborate())
        return false;
    }
    frame.draws = drawsAfter;
    return true;
  }

  bool checkValues() {
    bool isGradient = derivative.kind == Kind::gradient || derivative.kind == Kind::valueAndGradient;
    if (isGradient && (values.size() != 1 || values.front().type().getRank() != 0 ||
                       ir::rangeOf(values.front().type().getEncoding()))) {
      e.diags.report(Diag::recast, span, derivative.name, "a function that gives one number", "one that gives " + describe(model))
          .help("reduce what it gives, or take its `jacobian` or `vjp`");
      return false;
    }
    SmallVector<mlir::Value> outputs, variables(region->front().getArguments());
    for (const Tensor &value : values)
      outputs.push_back(value.value);
    if (!llvm::is_contained(nd::dependsOn(outputs, variables), true)) {
      std::string name = parameterNames(derivative.of).size() > at ? "`" + parameterNames(derivative.of)[at] + "`" : "its argument";
      e.diags.report(Diag::derivative_zero, span, derivative.name, name)
          .help("use it in the function; what is inside `stop_gradient`, or a whole number, does not count");
      return false;
    }
    return isForward() || elementsStayApart(variables);
  }

  /// Where each element has a derivative of its own, no other element may enter its value.
  bool elementsStayApart(ArrayRef<mlir::Value> variables) {
    auto carried = dyn_cast_if_present<ir::AxesAttr>(axes);
    Block &block = region->front();
    SmallVector<mlir::Value> outputs = valuesOf(values);
    auto reaches = [](ArrayRef<mlir::Value> to, ArrayRef<mlir::Value> from) {
      return llvm::is_contained(nd::dependsOn(to, from), true);
    };
    bool good = true;
    auto meetsAt = [](Operation *op) -> llvm::StringRef {
      if (auto over = dyn_cast<ir::OverOp>(op))
        return over.getAxis();
      auto stack = dyn_cast<ir::StackOp>(op);
      return stack ? stack.getAxis() : "";
    };
    block.walk([&](Operation *meeting) {
      llvm::StringRef axis = meetsAt(meeting);
      if (!good || !carried || axis.empty() || !carried.contains(axis))
        return;
      Operation *top = block.findAncestorOpInBlock(*meeting);
      SmallVector<mlir::Value> from = top == meeting ? SmallVector<mlir::Value>{meeting->getOperand(0)} : getInputs(top);
      // What `stop_gradient` holds on its way out is a constant to the derivative.
      if (!reaches(from, variables) || !reaches(outputs, SmallVector<mlir::Value>(top->getResults())))
        return;
      good = false;
      e.diags.report(Diag::elements_meet, span, axis.str(), derivative.name)
          .help("put `stop_gradient(…)` around what meets, or reduce what is differentiated over `" + axis.str() + "` too");
    });
    return good;
  }

  SmallVector<mlir::Value> build() {
    Block &block = region->front();
    {
      OpBuilder::InsertionGuard guard(e.builder);
      e.builder.setInsertionPointToEnd(&block);
      if (!isForward())
        for (Tensor &value : values)
          value = e.varied(value, axes, span);
      ir::YieldOp::create(e.builder, e.loc(span), valuesOf(values));
    }
    if (!takesDirection() && derivative.kind != Kind::jacobian) {
      auto plain = ir::withEncoding(values.front().type(), {});
      directions = {e.varied(Tensor{nd::splat(e.builder, e.loc(span), plain, 1), false, 0}, axes, span)};
    }
    auto mode = isForward()                         ? ir::DerivativeMode::forward
                : derivative.kind == Kind::jacobian ? ir::DerivativeMode::jacobian
                                                    : ir::DerivativeMode::reverse;
    auto op = ir::DerivativeOp::create(e.builder, e.loc(span), resultTypes(), mode, valuesOf(points), valuesOf(directions),
                                       /*batched=*/false);
    op.getBody().takeBody(*region);
    if (e.plan && e.numbersAreOperands)
      return SmallVector<mlir::Value>(op.getResults());
    return e.expandedNow(op, span).value_or(SmallVector<mlir::Value>());
  }

  static SmallVector<mlir::Value> valuesOf(ArrayRef<Tensor> tensors) {
    return llvm::map_to_vector(tensors, [](const Tensor &t) { return t.value; });
  }

  SmallVector<Type> resultTypes() const {
    SmallVector<Type> types;
    auto add = [&](ArrayRef<Tensor> like) {
      for (const Tensor &t : like)
        types.push_back(t.type());
    };
    add(values);
    if (isForward())
      add(values);
    else if (derivative.kind != Kind::jacobian)
      add(points);
    else
      for (const Tensor &value : values)
        for (const Tensor &point : points) {
          SmallVector<int64_t> shape(value.type().getShape());
          llvm::append_range(shape, point.type().getShape());
          types.push_back(RankedTensorType::get(shape, value.type().getElementType(), axes));
        }
    return types;
  }

  Value results(ArrayRef<mlir::Value> made) {
    if (made.empty())
      return {};
    auto tensors = [&](ArrayRef<Tensor> like) {
      std::vector<Value> leaves;
      for (const Tensor &t : like) {
        leaves.push_back(Value(Tensor{made.front(), t.number, 0}, span));
        made = made.drop_front();
      }
      return leaves;
    };
    const Value &variable = given[at].value;
    Value value = rebuildAll({model}, tensors(values)).front();
    if (isForward())
      return rebuildAll({model}, tensors(values)).front();
    if (derivative.kind == Kind::jacobian) {
      std::vector<Value> rows;
      for (const Tensor &each : values) {
        SmallVector<Tensor> like(points);
        for (Tensor &t : like)
          t.number &= each.number;
        rows.push_back(rebuildAll({variable}, tensors(like)).front());
      }
      return rebuildAll({model}, rows).front();
    }
    Value gradient = rebuildAll({variable}, tensors(points)).front();
    if (derivative.kind != Kind::valueAndGradient)
      return gradient;
    Record both;
    both.fields = {{"value", value}, {"grad", gradient}};
    return Value(std::move(both), span);
  }

  Elaborator &e;
  const Derivative &derivative;
  Span span;
  Frame &frame;
  std::vector<Given> given;
  Given direction;
  size_t at = 0; ///< which of them
  SmallVector<Tensor> points, values, directions;
  Value model; ///< what the function gives, whose tensors are `values`
  Attribute axes;
  std::unique_ptr<Region> region;
  int drawsAfter = 0;
};

Value Elaborator::callDerivative(const Derivative &derivative, const std::vector<ast::Argument> &args, Span span,
                                 Frame &frame) {
  return DerivativeCall(*this, derivative, span, frame).run(args);
}

Value Elaborator::callDerivative(const Derivative &derivative, const std::vector<Value> &values, Span span, Frame &frame) {
  return DerivativeCall(*this, derivative, span, frame).run(values);
}

} // namespace dyn::elab
