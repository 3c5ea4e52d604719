//===- CheckNamesTypes.cpp - Names in types and calls -----------*- C++ -*-===//

#include "frontend/NameResolver.h"

#include <algorithm>

using namespace dyn;
using namespace dyn::ast;
using namespace dyn::checks;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static const std::vector<std::string> &typeNames() {
  static const std::vector<std::string> names = [] {
    auto list = words("real f64 f32 f16 bf16 i64 i32 u8 bool int string class tree model data run env");
    for (size_t kind = 0; kind <= static_cast<size_t>(RuleKind::Probe); ++kind)
      list.emplace_back(spelling(static_cast<RuleKind>(kind)));
    return list;
  }();
  return names;
}

void NameResolver::typeName(const NamedType &type, bool binds) {
  auto &names = typeNames();
  if (std::find(names.begin(), names.end(), type.name.text) == names.end()) {
    auto message = diags.report(Diag::unknown_type, type.name.span, type.name.text);
    if (std::string near = nearest(type.name.text, names); !near.empty())
      message.help("write `" + near + "`");
    else if (type.name.text == "float")
      message.help("write `real`");
  }
  // `class(k)` binds the number of classes as `[k]` does a size.
  shape(type.args, binds);
}

/// In the type of a parameter a name that stands alone for a size is bound there, unless it means something already.
void NameResolver::shape(const std::vector<ExprPtr> &shape, bool binds) {
  for (auto &size : shape) {
    auto *name = dynCast<NameExpr>(size.get());
    if (!name || !binds) {
      value(size.get());
      continue;
    }
    Symbol *symbol = lookup(name->name);
    const Decl *decl = world.find(name->name);
    if (symbol || (decl && isa<ConstantDecl>(decl)))
      use(name->name, name->span);
    else
      define(Ident{name->name, name->span}, SymbolKind::Shape);
  }
}

void NameResolver::type(const Type *type, bool binds) {
  if (!type)
    return;
  if (auto *named = dynCast<NamedType>(type)) {
    typeName(*named, binds);
  } else if (auto *array = dynCast<ArrayType>(type)) {
    if (array->element)
      typeName(*array->element, binds);
    shape(array->shape, binds);
  } else if (auto *record = dynCast<RecordType>(type)) {
    for (const TypeField &field : record->fields)
      this->type(field.type.get(), binds);
  } else if (auto *fn = dynCast<FnType>(type)) {
    for (auto &parameter : fn->parameters)
      this->type(parameter.get(), binds);
    this->type(fn->result.get(), binds);
  }
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static std::string arguments(int count) {
  return std::to_string(count) + (count == 1 ? " argument" : " arguments");
}

/// `over=` and `per=` name axes, `wrt=` a parameter of the function: none of them is a value.
void NameResolver::argument(const Argument &arg) {
  if (arg.name.text == "over" || arg.name.text == "wrt")
    return;
  if (arg.name.text == "per") {
    if (auto *call = dynCast<CallExpr>(arg.value.get()))
      for (const Argument &inner : call->args)
        value(inner.value.get());
    return;
  }
  value(arg.value.get());
}

bool NameResolver::checkRepeated(const CallExpr &call) {
  std::map<std::string, Span> seen;
  for (const Argument &arg : call.args)
    if (arg.name)
      if (auto [at, isNew] = seen.emplace(arg.name.text, arg.name.span); !isNew) {
        diags.report(Diag::repeated_argument, arg.name.span, arg.name.text)
            .note(at->second, "`" + arg.name.text + "` is given here first")
            .help("leave one of them out");
        return true;
      }
  return false;
}

void NameResolver::checkBuiltin(const CallExpr &call, const Builtin &builtin) {
  int positional = 0, named = 0;
  for (const Argument &arg : call.args) {
    if (!arg.name) {
      ++positional;
      continue;
    }
    ++named;
    if (std::find(builtin.named.begin(), builtin.named.end(), arg.name.text) != builtin.named.end())
      continue;
    auto message = diags.report(Diag::unknown_argument, arg.name.span, builtin.name, arg.name.text);
    std::string near = nearest(arg.name.text, builtin.named);
    if (!near.empty())
      message.help("write `" + near + "=…`");
    else if (!builtin.named.empty())
      message.help("it has " + listed(builtin.named, "and"));
    else
      message.help("`" + std::string(builtin.name) + "` takes no named arguments");
    return;
  }
  if (builtin.most >= 0 && positional > builtin.most) {
    auto message = diags.report(Diag::too_many_arguments, call.span, builtin.name, arguments(builtin.most), positional);
    if (!builtin.named.empty())
      message.help("by name it also takes " + listed(builtin.named, "and"));
  } else if (positional + named < builtin.least || (positional == 0 && builtin.least > 0 && named == 0)) {
    diags.report(Diag::too_few_arguments, call.span, builtin.name, arguments(builtin.least), positional + named);
  }
}

void NameResolver::checkCall(const CallExpr &call, const std::string &name, const Parameters &parameters,
                             const Decl &decl) {
  size_t positional = 0;
  std::set<std::string> given;
  std::vector<std::string> known;
  for (const Parameter &p : parameters.items)
    known.push_back(p.name.text);
  Span declared = declaredName(decl)->span;
  for (const Argument &arg : call.args) {
    if (!arg.name) {
      ++positional;
      continue;
    }
    given.insert(arg.name.text);
    if (std::find(known.begin(), known.end(), arg.name.text) != known.end())
      continue;
    auto message = diags.report(Diag::unknown_argument, arg.name.span, name, arg.name.text)
                       .note(declared, "`" + name + "` is declared here");
    std::string near = nearest(arg.name.text, known);
    if (!near.empty())
      message.help("write `" + near + "=…`");
    else
      message.help(known.empty() ? "`" + name + "` takes no arguments" : "it has " + listed(known, "and"));
    return;
  }
  if (positional > known.size()) {
    diags.report(Diag::too_many_arguments, call.span, name, arguments(static_cast<int>(known.size())), positional)
        .note(declared, "`" + name + "` is declared here");
    return;
  }
  for (size_t i = 0; i < parameters.items.size(); ++i) {
    const Parameter &p = parameters.items[i];
    if (i < positional && given.count(p.name.text)) {
      diags.report(Diag::repeated_argument, call.span, p.name.text)
          .note(p.name.span, "`" + p.name.text + "` is also the argument at place " + std::to_string(i + 1))
          .help("leave one of them out");
      return;
    }
    if (i >= positional && !p.init && !given.count(p.name.text)) {
      diags.report(Diag::missing_argument, call.span, name, p.name.text)
          .note(p.name.span, "`" + p.name.text + "` has no default")
          .help("add `" + p.name.text + "=…`");
      return;
    }
  }
}

void NameResolver::call(const CallExpr &call) {
  auto *callee = dynCast<NameExpr>(call.callee.get());
  if (!callee) {
    value(call.callee.get());
    checkRepeated(call);
    for (const Argument &arg : call.args)
      argument(arg);
    return;
  }
  called(*callee);
  use(callee->name, callee->span);
  bool isOurs = lookup(callee->name) != nullptr;
  if (!checkRepeated(call) && !isOurs) {
    const Decl *decl = world.find(callee->name);
    const Parameters *parameters = decl ? callParameters(*decl) : nullptr;
    if (parameters)
      checkCall(call, callee->name, *parameters, *decl);
    else if (auto *builtin = decl ? nullptr : findBuiltin(callee->name))
      checkBuiltin(call, *builtin);
  }
  // `index(client)` names an axis.
  if (callee->name == "index" && !isOurs)
    return;
  for (const Argument &arg : call.args)
    argument(arg);
}

/// `params.net` reads the model `net` of the train.
void NameResolver::treeMember(const MemberExpr &member) {
  auto *base = dynCast<NameExpr>(member.base.get());
  if (!base || (base->name != "params" && base->name != "grads"))
    return;
  if (Symbol *instance = lookup(member.member.text); instance && instance->kind == SymbolKind::Instance)
    instance->read = true;
}

/// Members of what is known: `batch.x`, `fit.x`, `optimizer.lr`.
void NameResolver::member(const MemberExpr &member) {
  value(member.base.get());
  treeMember(member);
  auto *base = dynCast<NameExpr>(member.base.get());
  if (!base)
    return;
  Symbol *symbol = lookup(base->name);
  if (!symbol)
    return;
  std::vector<std::string> known;
  if (symbol->kind == SymbolKind::Source && symbol->fields.known) {
    for (const Ident &field : symbol->fields.items)
      known.push_back(field.text);
  } else if (symbol->kind == SymbolKind::Socket && base->name == "batch" && allFields.known) {
    known = {"size"};
    for (const Ident &field : allFields.items)
      known.push_back(field.text);
  } else {
    return;
  }
  if (std::find(known.begin(), known.end(), member.member.text) != known.end())
    return;
  auto message = diags.report(Diag::unknown_member, member.member.span, base->name, member.member.text);
  std::string near = nearest(member.member.text, known);
  message.help(near.empty() ? "it has " + listed(known, "and") : "write `" + base->name + "." + near + "`");
}
