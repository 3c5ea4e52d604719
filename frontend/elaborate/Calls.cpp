//===- Calls.cpp - functions, closures, rules by name ---------------------===//
#include "frontend/elaborate/Elaborator.h"
#include "frontend/elaborate/Streams.h"

#include "frontend/AstWalk.h"
#include "frontend/RuleKinds.h"

#include <set>

using namespace mlir;

namespace dyn::elab {

static constexpr int depthLimit = 200;

/// What stands in backquotes in a description.
static std::string bare(const std::string &what) {
  size_t open = what.find('`');
  return open == std::string::npos ? what : what.substr(open + 1, what.find('`', open + 1) - open - 1);
}

static bool isSocketName(llvm::StringRef name) {
  for (int kind = 0; kind <= static_cast<int>(ast::RuleKind::Probe); ++kind)
    if (ruleKindInfo(static_cast<ast::RuleKind>(kind)).canRead(name))
      return true;
  return false;
}

Value Elaborator::lookupGlobal(const std::string &name, Span span) {
  const ast::Decl *decl = library.find(name);
  if (!decl) {
    if (isBuiltin(name))
      return Value(Builtin{name}, span);
    // Names that a rule's kind or a model has in the language, and nobody defined.
    if (isSocketName(name)) {
      diags.report(Diag::not_supported, span, "`" + name + "` here is");
      return {};
    }
    std::vector<std::string> names = library.names();
    auto report = diags.report(Diag::unknown_name, span, name);
    if (std::string near = nearest(name, names); !near.empty())
      report.help("did you mean `" + near + "`?");
    return {};
  }
  switch (decl->kind) {
  case ast::Kind::FnDecl:
    return Value(Function{ast::cast<ast::FnDecl>(decl), globals}, span);
  case ast::Kind::ModelDecl: {
    auto *model = ast::cast<ast::ModelDecl>(decl);
    return Value(ModelName{model}, span);
  }
  case ast::Kind::RuleDecl:
    return Value(Rule{ast::cast<ast::RuleDecl>(decl), nullptr}, span);
  case ast::Kind::DataDecl:
    return Value(Data{ast::cast<ast::DataDecl>(decl), "", nullptr}, span);
  case ast::Kind::TrainDecl:
    return Value(TrainName{ast::cast<ast::TrainDecl>(decl)}, span);
  case ast::Kind::ConstantDecl: {
    auto *let = ast::dynCast<ast::LetStmt>(ast::cast<ast::ConstantDecl>(decl)->binding.get());
    if (!let || depth > depthLimit) {
      diags.report(Diag::constant_cycle, span, name);
      return {};
    }
    Frame frame{std::make_shared<Scope>(globals)};
    ++depth;
    Value value = evaluate(*let->value, frame);
    --depth;
    if (let->type && !value.isInvalid()) {
      auto typed = conform(value, *let->type, frame.scope, "`" + name + "`", let->value->span);
      value = typed ? *typed : Value();
    }
    return value;
  }
  default:
    diags.report(Diag::not_a_value, span, name);
    return {};
  }
}

Value Elaborator::call(const Value &callee, const std::vector<ast::Argument> &args, Span span, Frame &frame) {
  // What calls itself twice would double with each level on the way back out, and say the same everywhere.
  if (reportedDepth)
    return {};
  if (depth > depthLimit) {
    if (!std::exchange(reportedDepth, true))
      diags.report(Diag::calls_too_deep, span, depthLimit).help("nothing may call itself: write a loop");
    return {};
  }
  ++depth;
  Value result;
  if (auto *builtin = callee.as<Builtin>())
    result = callBuiltin(builtin->name, args, span, frame);
  else if (auto *fn = callee.as<Function>())
    result = callFunction(*fn, args, span, frame);
  else if (auto *derivative = callee.as<std::shared_ptr<const Derivative>>())
    result = callDerivative(**derivative, args, span, frame);
  else if (callee.as<Closure>()) {
    std::vector<Value> values;
    bool good = true;
    for (auto &arg : args) {
      if (arg.name)
        diags.report(Diag::unknown_argument, arg.span, "a function value", arg.name.text);
      values.push_back(evaluate(*arg.value, frame));
      good &= !arg.name && !values.back().isInvalid();
    }
    result = good ? callValues(callee, values, span, frame) : Value();
  } else if (auto *model = callee.as<ModelName>())
    result = instantiateModel(*model->decl, args, span, frame);
  else if (auto *instance = callee.as<std::shared_ptr<Instance>>())
    result = callInstance(**instance, args, span, frame);
  else if (auto *rule = callee.as<Rule>(); rule && !rule->hyper)
    result = instantiateRule(*rule->decl, args, span, frame);
  else if (auto *data = callee.as<Data>(); data && isTaken(*data) && data->rows == 0) {
    bool isCount = args.size() == 1 && !args.front().name;
    auto rows = isCount ? knownInt(evaluate(*args.front().value, frame), args.front().span, "the number of rows") : std::nullopt;
    if (!isCount)
      diags.report(Diag::missing_argument, span, takenRows, "n").help("write `" + data->decl->name.text + ".take(1_000)`");
    else if (rows && *rows < 1)
      diags.report(Diag::cannot_be, args.front().span, "the number of rows", *rows);
    else if (rows)
      result = Value(Data{data->decl, takenRows, data->args, *rows}, span);
  }
  else if (auto *data = callee.as<Data>(); data && !data->args) {
    auto scope = std::make_shared<Scope>(globals);
    if (bind(data->decl->parameters, args, scope, frame, NameKind::Hyperparameter,
             "the data `" + data->decl->name.text + "`", span))
      result = Value(Data{data->decl, "", scope}, span);
  } else if (auto *held = callee.as<Held>())
    result = onHeldCall(*held, args, span, frame);
  else if (callee.as<Rule>())
    diags.report(Diag::not_supported, span, "calling " + describe(callee) + " is");
  else if (!callee.isInvalid())
    diags.report(Diag::not_callable, span, describe(callee));
  --depth;
  return result;
}

bool Elaborator::bind(const ast::Parameters &parameters, const std::vector<ast::Argument> &args, ScopePtr scope,
                      Frame &frame, NameKind kind, const std::string &what, Span span) {
  auto given = argumentsOf(parameters, args, frame, kind, what, span);
  return given && bindValues(parameters, *given, scope, kind, what, span);
}

std::optional<std::map<std::string, Value>>
Elaborator::argumentsOf(const ast::Parameters &parameters, const std::vector<ast::Argument> &args, Frame &frame,
                        NameKind kind, const std::string &what, Span span) {
  std::map<std::string, Value> given;
  size_t next = 0;
  bool good = true;
  for (auto &arg : args) {
    std::string name = arg.name.text;
    if (!arg.name) {
      if (next >= parameters.items.size()) {
        diags.report(Diag::too_many_arguments, arg.span, bare(what), describeArguments(parameters.items.size()), args.size());
        return std::nullopt;
      }
      name = parameters.items[next++].name.text;
    } else if (llvm::none_of(parameters.items, [&](auto &p) { return p.name.text == name; })) {
      std::vector<std::string> names;
      for (auto &p : parameters.items)
        names.push_back(p.name.text);
      auto report = diags.report(Diag::unknown_argument, arg.name.span, bare(what), name);
      if (std::string near = nearest(name, names); !near.empty())
        report.help("did you mean `" + near + "`?");
      good = false;
      continue;
    }
    if (given.count(name)) {
      diags.report(Diag::repeated_argument, arg.span, name);
      good = false;
      continue;
    }
    Value value = evaluate(*arg.value, frame);
    if (value.isInvalid()) {
      good = false;
      continue;
    }
    if (!numbersAreOperands)
      value = known(value, arg.span);
    else if (kind == NameKind::Hyperparameter)
      value = computedNow(value, *arg.value, frame);
    value.origin = arg.value->span;
    given.emplace(name, std::move(value));
  }
  return good ? std::optional(std::move(given)) : std::nullopt;
}

/// A default says the kind of a hyperparameter: `beta1 = 0.9` is a real, `bias = true` a bool. A number may be
/// scheduled.
static bool fitsDefault(Value &value, const ast::Parameter &parameter) {
  auto *number = ast::dynCast<ast::NumberExpr>(parameter.init.get());
  bool wantsBool = ast::isa<ast::BoolExpr>(parameter.init.get());
  if (!number && !wantsBool)
    return true;
  if (auto *rule = value.as<Rule>())
    return number && rule->decl->rule == ast::RuleKind::Schedule;
  if (auto *t = value.as<Tensor>())
    return t->type().getRank() == 0;
  auto *c = value.as<Const>();
  if (!c)
    return false;
  if (wantsBool != (c->elem == Elem::Bool))
    return false;
  if (number && !number->isInteger)
    c->elem = Elem::Real;
  return true;
}

/// Declared order, but what the sizes in other types name comes first: in `(W: [o, c//groups], groups: int = 1)` groups.
static SmallVector<const ast::Parameter *> bindingOrder(const ast::Parameters &parameters) {
  std::set<std::string> inSizes;
  for (const ast::Parameter &parameter : parameters.items)
    if (parameter.type)
      ast::walk(*parameter.type, [&](const ast::Node &node) {
        if (auto *name = ast::dynCast<ast::NameExpr>(&node))
          inSizes.insert(name->name);
        return true;
      });
  SmallVector<const ast::Parameter *> order;
  for (bool isInSize : {true, false})
    for (const ast::Parameter &parameter : parameters.items)
      if (inSizes.count(parameter.name.text) == isInSize)
        order.push_back(&parameter);
  return order;
}

bool Elaborator::bindValues(const ast::Parameters &parameters, std::map<std::string, Value> &given, ScopePtr scope,
                            NameKind kind, const std::string &what, Span span) {
  bool good = true;
  for (const ast::Parameter *each : bindingOrder(parameters)) {
    const ast::Parameter &parameter = *each;
    Value value;
    if (auto it = given.find(parameter.name.text); it != given.end())
      value = it->second;
    else if (parameter.init) {
      Frame defaults{scope};
      value = evaluate(*parameter.init, defaults);
      if (kind == NameKind::Hyperparameter)
        value = computedNow(value, *parameter.init, defaults);
      value.origin = parameter.init->span;
    } else
      diags.report(Diag::missing_argument, span, bare(what), parameter.name.text);
    if (value.isInvalid()) {
      good = false;
      continue;
    }
    Span from = value.origin;
    if (auto *c = value.as<Const>(); c && kind == NameKind::Hyperparameter && c->elem != Elem::Bool) {
      c->operand = true;
      c->name = parameter.name.text;
    }
    if (parameter.type) {
      auto typed = conform(value, *parameter.type, scope, "`" + parameter.name.text + "` of " + what, from);
      if (!typed) {
        good = false;
        continue;
      }
      if (auto *array = value.as<std::shared_ptr<Series>>(); array && !(*array)->isNamed()) {
        // Kept as numbers, in the declared element type.
        auto kept = std::make_shared<Series>(**array);
        kept->elem = elemOf(*typed);
        value = Value(kept, from);
      } else
        value = *typed;
    } else if (kind == NameKind::Hyperparameter && parameter.init && !fitsDefault(value, parameter)) {
      diags.report(Diag::declared_type, from, "`" + parameter.name.text + "` of " + what,
                   ast::isa<ast::BoolExpr>(parameter.init.get()) ? "bool" : "real", describe(value))
          .note(parameter.span, "declared here");
      good = false;
      continue;
    }
    value.origin = from;
    scope->define(parameter.name.text, std::move(value), kind, parameter.name.span);
  }
  return good;
}

Value Elaborator::computedNow(const Value &value, const ast::Expr &expr, Frame &frame) {
  if (!value.as<Tensor>() || !numbersAreOperands)
    return value;
  numbersAreOperands = false;
  hostCache.clear();
  Value plain = evaluate(expr, frame);
  auto array = plain.isInvalid() ? std::nullopt : host(plain, expr.span);
  hostCache.clear();
  numbersAreOperands = true;
  if (!array)
    return value;
  if (array->shape.empty())
    return Value(Const{array->values.front(), array->elem, true, ""}, value.origin);
  auto made = std::make_shared<Series>();
  made->name = print(expr);
  made->shape.assign(array->shape.begin(), array->shape.end());
  made->values = array->values;
  made->elem = array->elem;
  return Value(made, value.origin);
}

Value Elaborator::runBody(const ast::Body &body, Frame &frame, Span span, const std::string &what) {
  if (body.value) {
    frame.resultSpan = body.value->span;
    return evaluate(*body.value, frame);
  }
  size_t errors = diags.errorCount();
  execute(*body.block, frame);
  if (frame.result)
    return *frame.result;
  if (diags.errorCount() == errors)
    diags.report(Diag::returns_nothing, body.block->span, what).help("end the block with `return …`");
  return {};
}

ScopePtr Elaborator::capture(const ScopePtr &scope) {
  auto seen = std::make_shared<Scope>(scope);
  for (Scope *at = scope.get(); at && at != globals.get(); at = at->parent.get())
    for (auto &[name, binding] : at->names)
      if (binding.kind == NameKind::Local)
        seen->names.emplace(name, binding);
  return seen;
}

Value Elaborator::callFunction(const Function &fn, const std::vector<ast::Argument> &args, Span span, Frame &frame) {
  std::string what = "`" + fn.decl->name.text + "`";
  InstantiationScope chain(diags, fn.decl->name.text, span);
  auto given = argumentsOf(fn.decl->parameters, args, frame, NameKind::Local, what, span);
  return given ? callGiven(fn, *given, span, frame) : Value();
}

/// A function with its arguments by name.
Value Elaborator::callGiven(const Function &fn, std::map<std::string, Value> &given, Span span, Frame &frame) {
  if (auto mapped = overEntries(fn, given, span, frame))
    return *mapped;
  auto scope = std::make_shared<Scope>(fn.scope);
  std::string what = "`" + fn.decl->name.text + "`";
  if (!bindValues(fn.decl->parameters, given, scope, NameKind::Local, what, span))
    return {};
  return runFunction(fn, scope, span, frame);
}

/// A function's body, with its arguments in `scope`.
Value Elaborator::runFunction(const Function &fn, ScopePtr scope, Span span, Frame &frame) {
  std::string what = "`" + fn.decl->name.text + "`";
  Frame inner{scope, frame.self, frame.site + "/" + fn.decl->name.text};
  inner.passes = frame.passes;
  inner.site += "#" + std::to_string(frame.draws++);
  if (fn.decl->backward)
    return runWithBackward(fn, inner, span, what);
  Value result = runBody(fn.decl->body, inner, span, what);
  if (fn.decl->result && !result.isInvalid()) {
    auto typed = conform(result, *fn.decl->result, scope, "the result of " + what, inner.resultSpan);
    return typed ? *typed : Value();
  }
  return result;
}

Value Elaborator::callValues(const Value &callee, const std::vector<Value> &values, Span span, Frame &frame) {
  if (auto *closure = callee.as<Closure>()) {
    if (closure->expr->parameters.size() != values.size()) {
      diags.report(Diag::closure_arity, span, describeArguments(closure->expr->parameters.size()),
                   describeArguments(values.size()));
      return {};
    }
    auto scope = std::make_shared<Scope>(closure->scope);
    for (size_t i = 0; i < values.size(); ++i)
      scope->define(closure->expr->parameters[i].text, values[i], NameKind::Local, closure->expr->parameters[i].span);
    Frame inner{scope, frame.self, frame.site};
    inner.passes = frame.passes;
    return evaluate(*closure->expr->body, inner);
  }
  if (auto *fn = callee.as<Function>())
    return callFunctionWith(*fn, values, span, frame);
  diags.report(Diag::not_callable, span, describe(callee));
  return {};
}

/// A function of the spec on values in the order of its parameters.
Value Elaborator::callFunctionWith(const Function &fn, const std::vector<Value> &values, Span span, Frame &frame) {
  const ast::FnDecl &decl = *fn.decl;
  if (values.size() > decl.parameters.items.size()) {
    diags.report(Diag::too_many_arguments, span, decl.name.text, describeArguments(decl.parameters.items.size()), values.size());
    return {};
  }
  std::map<std::string, Value> given;
  for (auto [value, parameter] : llvm::zip(values, decl.parameters.items))
    given.emplace(parameter.name.text, value);
  return callGiven(fn, given, span, frame);
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// The plan lists numbers as `adamw.lr`.
static void nameNumbers(const ast::RuleDecl &decl, Scope &hyper) {
  for (auto &[name, binding] : hyper.names)
    if (auto *c = binding.value.as<Const>())
      c->name = decl.name.text + "." + name;
}

Value Elaborator::instantiateRule(const ast::RuleDecl &decl, const std::vector<ast::Argument> &args, Span span,
                                  Frame &frame) {
  auto hyper = std::make_shared<Scope>(globals);
  std::string what = std::string("the ") + ast::spelling(decl.rule) + " `" + decl.name.text + "`";
  if (!bind(decl.parameters, args, hyper, frame, NameKind::Hyperparameter, what, span))
    return {};
  nameNumbers(decl, *hyper);
  return Value(Rule{&decl, hyper}, span);
}

Value Elaborator::adjustRule(const Rule &rule, const ast::Ident &name, const Value &value) {
  const ast::RuleDecl &decl = *rule.decl;
  std::vector<std::string> names;
  std::map<std::string, Value> given;
  for (auto &parameter : decl.parameters.items) {
    names.push_back(parameter.name.text);
    if (Binding *binding = rule.hyper->find(parameter.name.text))
      given[parameter.name.text] = binding->value;
  }
  if (!llvm::is_contained(names, name.text)) {
    auto report = diags.report(Diag::unknown_argument, name.span, decl.name.text, name.text);
    if (std::string near = nearest(name.text, names); !near.empty())
      report.help("did you mean `" + near + "`?");
    return {};
  }
  given[name.text] = value;
  auto hyper = std::make_shared<Scope>(globals);
  std::string what = std::string("the ") + ast::spelling(decl.rule) + " `" + decl.name.text + "`";
  if (!bindValues(decl.parameters, given, hyper, NameKind::Hyperparameter, what, name.span))
    return {};
  nameNumbers(decl, *hyper);
  return Value(Rule{&decl, hyper}, name.span);
}

} // namespace dyn::elab
