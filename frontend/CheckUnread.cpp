//===- CheckUnread.cpp - Nothing is accepted and ignored --------*- C++ -*-===//

#include "frontend/NameResolver.h"

using namespace dyn;
using namespace dyn::ast;
using namespace dyn::checks;

//===----------------------------------------------------------------------===//
// Names (called when a scope ends)
//===----------------------------------------------------------------------===//

/// The noun for kinds of which each must be read; null for the others: a closure takes what its caller gives, and a run
/// is worth running for its own sake.
static const char *mustBeRead(const Symbol &symbol, const Frame &frame) {
  switch (symbol.kind) {
  case SymbolKind::Hyperparameter:
    return "the hyperparameter";
  case SymbolKind::Parameter:
    return frame.place == Place::Function || frame.place == Place::Model ? "the parameter" : nullptr;
  case SymbolKind::Local:
    return "the local";
  case SymbolKind::Param:
    return "the param";
  case SymbolKind::Frozen:
    return "the frozen array";
  case SymbolKind::Instance:
    return "the model";
  case SymbolKind::Function:
    return "the function";
  case SymbolKind::State:
    return frame.place == Place::Env ? nullptr : "the state";
  default:
    return nullptr;
  }
}

void dyn::checks::reportUnread(const Frame &frame, DiagnosticEngine &diags) {
  // In a rule that does not do what it must, what would have been used there is unread: one report is enough.
  bool isCut = frame.rule && !meetsDuty(*frame.rule);
  for (auto &symbol : frame.symbols) {
    const char *noun = mustBeRead(*symbol, frame);
    if (!noun || symbol->name.starts_with('_') || !symbol->span.isValid())
      continue;
    bool isState = symbol->kind == SymbolKind::State;
    if (isCut)
      continue;
    if (!symbol->read && isState && symbol->written)
      diags.report(Diag::written_never_read, symbol->span, symbol->name)
          .help("remove `" + symbol->name + "` and what writes it, or use it");
    else if (!symbol->read)
      diags.report(Diag::never_read, symbol->span, noun, symbol->name).help("remove `" + symbol->name + "` or use it");
    else if (isState && !symbol->written)
      diags.report(Diag::never_written, symbol->span, symbol->name)
          .help("a value that stays is a local: `" + symbol->name + " = …`");
  }
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

namespace {

class EffectChecker {
public:
  EffectChecker(const Program &program, const Library &library, DiagnosticEngine &diags)
      : world(program, library), diags(diags) {}

  void run() {
    for (const DeclPtr &decl : world.program().declarations) {
      walk(*decl, [&](const Node &node) {
        if (auto *fn = dynCast<FnStmt>(&node); fn && hasEffect(*fn->function))
          localEffects.push_back(fn->function->name.text);
        return true;
      });
      walk(*decl, [&](const Node &node) {
        if (auto *block = dynCast<Block>(&node))
          checkReached(*block);
        if (auto *call = dynCast<CallStmt>(&node))
          checkCall(*call);
        return true;
      });
      localEffects.clear();
    }
  }

private:
  static bool hasEffect(const FnDecl &fn) {
    bool found = false;
    walk(fn, [&](const Node &node) {
      found |= isa<EmitStmt>(&node) || isa<WriteStmt>(&node) || isa<SendStmt>(&node);
      return !found;
    });
    return found;
  }

  /// Only a call that does something may stand alone: `next_batch()`, and functions that emit or write.
  void checkCall(const CallStmt &stmt) {
    auto *call = dynCast<CallExpr>(stmt.call.get());
    auto *callee = call ? dynCast<NameExpr>(call->callee.get()) : nullptr;
    if (callee) {
      if (callee->name == "next_batch")
        return;
      for (const std::string &name : localEffects)
        if (name == callee->name)
          return;
      if (auto *fn = dynCast<FnDecl>(world.find(callee->name)); fn && hasEffect(*fn))
        return;
    }
    std::string text = print(*stmt.call);
    diags.report(Diag::no_effect, stmt.span).help("keep it under a name, `x = " + text + "`, or leave it out");
  }

  static const char *ending(const Stmt &stmt) {
    if (isa<ReturnStmt>(&stmt))
      return "return";
    if (isa<YieldStmt>(&stmt))
      return "yield";
    auto *condition = dynCast<IfStmt>(&stmt);
    if (!condition || !endingOf(condition->thenBlock.get()))
      return nullptr;
    return condition->elseIf ? ending(*condition->elseIf) : endingOf(condition->elseBlock.get());
  }

  static const char *endingOf(const Block *block) {
    return block && !block->statements.empty() ? ending(*block->statements.back()) : nullptr;
  }

  void checkReached(const Block &block) {
    for (size_t i = 0; i + 1 < block.statements.size(); ++i)
      if (const char *word = ending(*block.statements[i])) {
        diags.report(Diag::unreachable, block.statements[i + 1]->span, word)
            .note(block.statements[i]->span, "the block ends here")
            .help("leave the rest out");
        return;
      }
  }

  const World world;
  DiagnosticEngine &diags;
  std::vector<std::string> localEffects; ///< functions of the declaration that emit or write
};

} // namespace

void dyn::checkUnread(const Program &program, const Library &library, DiagnosticEngine &diags) {
  EffectChecker(program, library, diags).run();
}
