//===- CheckNamesScope.cpp - Defining and finding names ---------*- C++ -*-===//

#include "frontend/NameResolver.h"

#include <algorithm>

using namespace dyn;
using namespace dyn::ast;
using namespace dyn::checks;

const char *dyn::checks::describe(SymbolKind kind) {
  switch (kind) {
  case SymbolKind::Hyperparameter:
    return "a hyperparameter";
  case SymbolKind::Parameter:
    return "a parameter";
  case SymbolKind::Shape:
    return "the name of a size";
  case SymbolKind::State:
    return "a state";
  case SymbolKind::Param:
    return "a param";
  case SymbolKind::Frozen:
    return "a frozen array";
  case SymbolKind::Local:
    return "a local";
  case SymbolKind::LoopVariable:
    return "a loop variable";
  case SymbolKind::Function:
    return "a function";
  case SymbolKind::Field:
    return "a field of the data";
  case SymbolKind::Source:
    return "a data source";
  case SymbolKind::Instance:
    return "a model of the train";
  case SymbolKind::Rule:
    return "a rule of the train";
  case SymbolKind::Run:
    return "a run";
  case SymbolKind::Socket:
    return "a name that the rule's kind gives";
  case SymbolKind::Unknown:
    break;
  }
  return "a name";
}

Symbol *Frame::find(std::string_view name) const {
  for (auto &symbol : symbols)
    if (symbol->name == name)
      return symbol.get();
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Defining
//===----------------------------------------------------------------------===//

Symbol *NameResolver::add(const Ident &name, SymbolKind kind) {
  auto symbol = std::make_unique<Symbol>();
  symbol->name = name.text;
  symbol->kind = kind;
  symbol->span = name.span;
  frame->symbols.push_back(std::move(symbol));
  frame->defined.insert(frame->symbols.back().get());
  return frame->symbols.back().get();
}

void NameResolver::socket(std::string_view name, bool writable) {
  if (!frame->find(name))
    add(Ident{std::string(name), Span()}, SymbolKind::Socket)->writable = writable;
}

void NameResolver::reportHidden(const Ident &name, const Symbol &old) {
  auto message = diags.report(Diag::hidden_name, name.span, name.text, describe(old.kind));
  if (old.span.isValid())
    message.note(old.span, "`" + name.text + "` is " + describe(old.kind) + " since here");
  message.help("choose another name, such as `" + name.text + "_1`");
}

static bool isLocalLike(SymbolKind kind) { return kind == SymbolKind::Local || kind == SymbolKind::LoopVariable; }

/// A name that means something already is given again: reported unless it may be.
void NameResolver::redefines(Symbol &old, const Ident &name, SymbolKind kind, bool sameFrame) {
  if (old.kind == SymbolKind::Unknown)
    return;
  if (kind == SymbolKind::Local && outlivesBlock(old))
    return reportAssigned(old, name.span, name.text);
  if (sameFrame) {
    if (kind == SymbolKind::Local && (isLocalLike(old.kind) || old.kind == SymbolKind::Parameter))
      return;
    bool mayRecur = kind == SymbolKind::LoopVariable || kind == SymbolKind::Shape || kind == SymbolKind::Field ||
                    kind == SymbolKind::Source || kind == SymbolKind::Instance;
    if (kind == old.kind && mayRecur)
      return;
  }
  // A function beside the clauses may name its parameters like the fields it is for.
  if (old.kind != SymbolKind::Field || kind != SymbolKind::Parameter)
    reportHidden(name, old);
}

bool NameResolver::outlivesBlock(const Symbol &symbol) {
  return symbol.kind == SymbolKind::State || symbol.kind == SymbolKind::Param ||
         (symbol.kind == SymbolKind::Socket && symbol.writable);
}

/// `m = …` where `m <- …` is meant.
void NameResolver::reportAssigned(Symbol &symbol, Span at, const std::string &target) {
  auto message = diags.report(Diag::assign_state, at, symbol.name, describe(symbol.kind));
  if (symbol.span.isValid())
    message.note(symbol.span, "`" + symbol.name + "` is " + describe(symbol.kind) + " since here");
  message.help("write `" + target + " <- …`");
  symbol.written = true;
}

/// No name hides a function of its file, or one that is called beside it.
void NameResolver::checkHidden(const Ident &name, SymbolKind kind) {
  const Decl *decl = world.findOwn(name.text);
  if (decl && (isa<FnDecl>(decl) || isa<ModelDecl>(decl))) {
    diags.report(Diag::hidden_name, name.span, name.text, "the " + std::string(describe(*decl)).substr(2) + " of that name")
        .note(declaredName(*decl)->span, "`" + name.text + "` is declared here")
        .help("choose another name, such as `" + name.text + "_1`");
    return;
  }
  auto call = calls.find(name.text);
  if (call == calls.end() || kind == SymbolKind::Field)
    return;
  diags.report(Diag::hidden_name, name.span, name.text, "the function of that name")
      .note(call->second, "the function `" + name.text + "` is called here")
      .help("choose another name, such as `" + name.text + "_1`");
}

Symbol *NameResolver::define(const Ident &name, SymbolKind kind) {
  if (Symbol *old = frame->find(name.text)) {
    // A name of another branch may come again, even as something else.
    if (frame->isDefined(old))
      redefines(*old, name, kind, true);
    else if (old->kind != SymbolKind::Unknown)
      old->kind = kind;
    frame->defined.insert(old);
    return old;
  }
  if (frame->place != Place::Eval)
    for (Frame *outer = frame->parent; outer; outer = outer->parent)
      if (Symbol *old = outer->find(name.text); old && outer->isDefined(old)) {
        redefines(*old, name, kind, false);
        if (kind == SymbolKind::Local && outlivesBlock(*old))
          return old;
        break;
      }
  if (name.text != "_")
    checkHidden(name, kind);
  return add(name, kind);
}

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

Symbol *NameResolver::lookup(std::string_view name, Frame **where) const {
  for (Frame *at = frame; at; at = at->parent)
    if (Symbol *symbol = at->find(name)) {
      // What another branch defined does not hide what a scope around has.
      if (!at->isDefined(symbol) && at->parent)
        for (Frame *outer = at->parent; outer; outer = outer->parent)
          if (Symbol *other = outer->find(name); other && outer->isDefined(other)) {
            if (where)
              *where = outer;
            return other;
          }
      if (where)
        *where = at;
      return symbol;
    }
  return nullptr;
}

/// Names that the language gives by place.
static bool isContextual(std::string_view name, const Frame *frame) {
  if (name == "training")
    for (; frame; frame = frame->parent)
      if (frame->place == Place::Model || frame->place == Place::Function || frame->place == Place::Train)
        return true;
  return false;
}

bool NameResolver::isOutside(std::string_view name) const {
  return world.find(name) || findBuiltin(name) || isBuiltinConstant(name) || isLaterBuiltin(name) ||
         isContextual(name, frame) || dataSource(name);
}

/// What a probe sees of the trains of its file, by their own names.
static bool isInProbe(const Frame *frame) {
  for (; frame; frame = frame->parent)
    if (frame->rule)
      return frame->rule->rule == RuleKind::Probe || frame->rule->rule == RuleKind::Estimator;
  return false;
}

void NameResolver::use(const std::string &name, Span span) {
  Frame *where = nullptr;
  if (Symbol *symbol = lookup(name, &where)) {
    if (symbol != writing)
      symbol->read = true;
    if (where->isDefined(symbol) || symbol->kind == SymbolKind::Unknown || symbol->sent)
      return;
    if (isOutside(name) || (indexDepth > 0 && axes.count(name)))
      return;
    diags.report(Diag::maybe_undefined, span, name)
        .note(symbol->span, "`" + name + "` is defined here")
        .help("give `" + name + "` a value before, or in the other branch too");
    where->defined.insert(symbol); // once is enough
    return;
  }
  if (isOutside(name) || (frame && frame->open) || (indexDepth > 0 && axes.count(name)))
    return;
  if (isInProbe(frame) && trainNames.count(name))
    return;
  if (!isLenient)
    unknown(name, span);
}

/// Where a name that is not known yet is defined further down in the same scope.
const Ident *NameResolver::definedLater(std::string_view name) const {
  const Ident *found = nullptr;
  for (const Frame *at = frame; at && !found; at = at->parent) {
    if (!at->owner)
      continue;
    walk(*at->owner, [&](const Node &node) {
      if (node.kind == Kind::FnStmt) {
        auto &fn = *cast<FnStmt>(&node)->function;
        if (!found && fn.name.text == name)
          found = &fn.name;
        return false;
      }
      const Ident *here = nullptr;
      if (auto *let = dynCast<LetStmt>(&node))
        here = &let->name;
      else if (auto *draw = dynCast<DrawStmt>(&node))
        here = &draw->name;
      else if (auto *state = dynCast<StateStmt>(&node))
        here = &state->name;
      else if (auto *leaf = dynCast<LeafStmt>(&node))
        here = &leaf->name;
      else if (auto *run = dynCast<RunStmt>(&node))
        here = &run->name;
      if (!found && here && here->text == name)
        found = here;
      return !found;
    });
  }
  return found;
}

std::vector<std::string> NameResolver::visibleNames() const {
  std::vector<std::string> out;
  for (const Frame *at = frame; at; at = at->parent)
    for (auto &symbol : at->symbols)
      if (symbol->kind != SymbolKind::Unknown)
        out.push_back(symbol->name);
  for (std::string &name : world.names())
    out.push_back(std::move(name));
  out.insert(out.end(), builtinNames().begin(), builtinNames().end());
  if (isInProbe(frame))
    out.insert(out.end(), trainNames.begin(), trainNames.end());
  if (indexDepth > 0)
    out.insert(out.end(), axes.begin(), axes.end());
  return out;
}

void NameResolver::unknown(const std::string &name, Span span) {
  if (const Ident *later = definedLater(name)) {
    diags.report(Diag::used_before_definition, span, name)
        .note(later->span, "`" + name + "` is defined here")
        .help("move the definition of `" + name + "` up");
  } else {
    auto message = diags.report(Diag::unknown_name, span, name);
    if (std::string near = nearest(name, visibleNames()); !near.empty()) {
      Frame *where = nullptr;
      Symbol *symbol = lookup(near, &where);
      const Decl *decl = symbol ? nullptr : world.find(near);
      if (symbol && symbol->span.isValid())
        message.note(symbol->span, "`" + near + "` is " + std::string(describe(symbol->kind)));
      else if (decl && declaredName(*decl))
        message.note(declaredName(*decl)->span, "`" + near + "` is " + describe(*decl));
      message.help("write `" + near + "`");
    }
  }
  if (frame)
    add(Ident{name, span}, SymbolKind::Unknown);
}

/// Remembers functions of outside by name, so that no local of the declaration hides one that it calls; and the other
/// way round.
void NameResolver::called(const NameExpr &callee) {
  Symbol *symbol = lookup(callee.name);
  bool isFunction = findBuiltin(callee.name) != nullptr;
  if (!symbol) {
    const Decl *decl = world.find(callee.name);
    if (isFunction || (decl && isa<FnDecl>(decl)))
      calls.emplace(callee.name, callee.span);
    return;
  }
  // A local may be a function or an instance itself.
  bool hides = symbol->kind == SymbolKind::LoopVariable || symbol->kind == SymbolKind::State ||
               symbol->kind == SymbolKind::Shape;
  if (isFunction && hides && calls.emplace(callee.name, callee.span).second)
    diags.report(Diag::hidden_name, symbol->span, callee.name, "the function of that name")
        .note(callee.span, "the function `" + callee.name + "` is called here")
        .help("choose another name, such as `" + callee.name + "_1`");
}
