//===- Backward.cpp - functions with a derivative of their own ------------===//
//
// `fn f(x) = … backward(dy) = …` becomes a `dyn.with_backward`: the function
// in one region, in the other what gives each argument its cotangent. A
// derivative uses the second; everything else sees the first.
//
//===----------------------------------------------------------------------===//
#include "frontend/elaborate/Elaborator.h"

using namespace mlir;

namespace dyn::elab {

class BackwardCall {
public:
  BackwardCall(Elaborator &e, const Function &fn, Frame &frame, Span span, const std::string &what)
      : e(e), decl(*fn.decl), frame(frame), span(span), what(what) {}

  Value run() {
    collect();
    Value result = inputs.empty() ? body(frame) : Value();
    if (inputs.empty())
      return result;
    Region function, backward;
    if (!forward(function) || !back(backward))
      return {};
    SmallVector<mlir::Value> operands = llvm::map_to_vector(inputs, [](const Tensor &t) { return t.value; });
    SmallVector<Type> types;
    for (const Tensor &t : outputs)
      types.push_back(t.type());
    auto op = ir::WithBackwardOp::create(e.builder, e.loc(span), types, operands);
    op.getFunction().takeBody(function);
    op.getBackward().takeBody(backward);
    std::vector<Value> leaves;
    for (auto [value, t] : llvm::zip(op.getResults(), outputs))
      leaves.push_back(Value(Tensor{value, t.number, 0}, span));
    return rebuildAll({model}, leaves).front();
  }

private:
  /// A parameter, and how many of the operands are it; none: it has no derivative.
  struct Parameter {
    std::string name;
    Value value;
    size_t count = 0;
  };

  static bool isReal(const Value &leaf) {
    auto *t = leaf.as<Tensor>();
    return t && isa<FloatType>(t->type().getElementType());
  }

  void collect() {
    for (const ast::Parameter &parameter : decl.parameters.items) {
      Parameter mine{parameter.name.text, frame.scope->find(parameter.name.text)->value, 0};
      std::vector<Value> leaves = leafValues({mine.value});
      if (llvm::all_of(leaves, isReal))
        for (const Value &leaf : leaves) {
          inputs.push_back(*leaf.as<Tensor>());
          ++mine.count;
        }
      parameters.push_back(std::move(mine));
    }
  }

  /// What the function gives where `at` runs, as it declares it.
  Value body(Frame &at) {
    Value result = e.runBody(decl.body, at, span, what);
    if (!decl.result || result.isInvalid())
      return result;
    auto typed = e.conform(result, *decl.result, at.scope, "the result of " + what, at.resultSpan);
    return typed ? *typed : Value();
  }

  /// A scope in which the parameters are arguments of `block`.
  ScopePtr inside(Block &block) {
    auto scope = std::make_shared<Scope>(frame.scope);
    size_t next = 0;
    for (const Parameter &parameter : parameters) {
      std::vector<Value> leaves;
      for (size_t i = 0; i < parameter.count; ++i, ++next)
        leaves.push_back(Value(Tensor{block.addArgument(inputs[next].type(), e.loc(span)), inputs[next].number, 0}, span));
      if (parameter.count)
        scope->define(parameter.name, rebuildAll({parameter.value}, leaves).front(), NameKind::Local, span);
    }
    return scope;
  }

  bool forward(Region &region) {
    OpBuilder::InsertionGuard guard(e.builder);
    Block &block = region.emplaceBlock();
    e.builder.setInsertionPointToEnd(&block);
    e.numberCacheBlock = nullptr;
    Frame at = frame;
    at.scope = inside(block);
    model = body(at);
    SmallVector<mlir::Value> yields;
    for (const Value &leaf : leafValues({model})) {
      auto t = leaf.isInvalid() ? std::nullopt : e.tensor(leaf, span, "what the function gives");
      if (!t)
        return false;
      outputs.push_back(e.cast(*t, Elem::Real, t->number, span));
      yields.push_back(outputs.back().value);
    }
    ir::YieldOp::create(e.builder, e.loc(span), yields);
    e.numberCacheBlock = nullptr;
    return true;
  }

  bool back(Region &region) {
    OpBuilder::InsertionGuard guard(e.builder);
    Block &block = region.emplaceBlock();
    e.builder.setInsertionPointToEnd(&block);
    e.numberCacheBlock = nullptr;
    const ast::Backward &backward = *decl.backward;
    if (backward.parameters.size() != 1) {
      e.diags.report(Diag::too_many_arguments, backward.span, "backward", "one argument", backward.parameters.size());
      return false;
    }
    Frame at = frame;
    at.scope = inside(block);
    at.result.reset();
    std::vector<Value> leaves;
    for (const Tensor &t : outputs)
      leaves.push_back(Value(Tensor{block.addArgument(t.type(), e.loc(span)), t.number, 0}, span));
    const ast::Ident &name = backward.parameters.front();
    at.scope->define(name.text, rebuildAll({model}, leaves).front(), NameKind::Local, name.span);
    Value given = e.runBody(backward.body, at, span, "`backward` of " + what);
    SmallVector<mlir::Value> yields;
    if (given.isInvalid() || !distribute(given, yields))
      return false;
    ir::YieldOp::create(e.builder, e.loc(span), yields);
    e.numberCacheBlock = nullptr;
    return true;
  }

  /// One value an argument, `none` for none.
  bool distribute(const Value &given, SmallVectorImpl<mlir::Value> &yields) {
    Span where = decl.backward->span;
    std::vector<Value> each = {given};
    if (auto *tuple = given.as<Tuple>())
      each = tuple->items;
    if (each.size() != parameters.size()) {
      e.diags.report(Diag::recast, where, "backward", "one value for each of the " + describeArguments(parameters.size()) + " of " + what,
                     std::to_string(each.size()))
          .help("write them in brackets, `none` for one that has no derivative: `(dx, none)`");
      return false;
    }
    size_t next = 0;
    for (size_t p = 0; p < each.size(); ++p) {
      const Parameter &parameter = parameters[p];
      bool isNone = each[p].as<None>();
      std::vector<Value> one = {each[p]};
      // A number that is known now is not differentiated by in this call.
      auto *known = parameter.value.as<Const>();
      if (known && known->elem == Elem::Real)
        continue;
      if (!isNone && (!parameter.count || !alignAll({parameter.value}, one)))
        return refuse(parameter, each[p]);
      std::vector<Value> leaves = leafValues(one);
      for (size_t i = 0; i < parameter.count; ++i, ++next) {
        auto fitted = isNone ? nd::splat(e.builder, e.loc(where), inputs[next].type(), 0) : fit(leaves[i], inputs[next].type());
        if (!fitted)
          return refuse(parameter, each[p]);
        yields.push_back(fitted);
      }
    }
    return true;
  }

  bool refuse(const Parameter &parameter, const Value &value) {
    if (!value.isInvalid())
      e.diags.report(Diag::recast, decl.backward->span, "backward",
                     parameter.count ? "for `" + parameter.name + "` a value like it, " + describe(parameter.value)
                                     : "`none` for `" + parameter.name + "`, which has no derivative",
                     describe(value));
    return false;
  }

  /// As the argument is; what varies over more axes is summed over them. Null when it is of another form.
  mlir::Value fit(const Value &value, RankedTensorType type) {
    Span where = decl.backward->span;
    auto t = value.isInvalid() ? std::nullopt : e.tensor(value, where);
    if (!t)
      return {};
    *t = e.cast(*t, Elem::Real, false, where);
    if (t->type().getElementType() != type.getElementType())
      t->value = e.create<nd::CastOp>(where, t->value, type.getElementType());
    if (t->type().getRank() == 0 && type.getRank() != 0)
      *t = e.broadcastScalar(*t, type, where);
    if (auto axes = dyn_cast_if_present<ir::AxesAttr>(t->type().getEncoding()))
      for (StringAttr axis : axes.getNames())
        if (!ir::carries(type, axis.getValue())) {
          auto rest = ir::withEncoding(t->type(), mlir::cast<ir::AxesAttr>(t->type().getEncoding()).without(axis.getValue()));
          t->value = e.create<ir::OverOp>(where, rest, ir::OverKind::sum, t->value, axis);
        }
    *t = e.varied(*t, ir::axesOf(type.getEncoding()), where);
    return t->type() == type ? t->value : mlir::Value();
  }

  Elaborator &e;
  const ast::FnDecl &decl;
  Frame &frame;
  Span span;
  const std::string &what;
  std::vector<Parameter> parameters;
  SmallVector<Tensor> inputs, outputs;
  Value model;
};

Value Elaborator::runWithBackward(const Function &fn, Frame &inner, Span span, const std::string &what) {
  return BackwardCall(*this, fn, inner, span, what).run();
}

} // namespace dyn::elab
