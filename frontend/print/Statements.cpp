//===- Statements.cpp - Printing statements ---------------------*- C++ -*-===//

#include "frontend/print/Printer.h"

using namespace dyn;
using namespace dyn::print;
using namespace dyn::ast;

Doc AstPrinter::block(const Block &b) {
  return braces(b.statements, b.span.begin, b.span.end, b.oneLine, [&](const Stmt &s) { return statement(s); });
}

/// `name` or `name: type`
Doc AstPrinter::typed(const Ident &name, const Type *t) {
  return t ? concat({text(name.text + ": "), type(*t)}) : text(name.text);
}

/// ` as name[…]`, or nothing
Doc AstPrinter::label(const Label &l) {
  if (!l)
    return text("");
  return l.indices.empty() ? text(" as " + l.name.text)
                           : concat({text(" as " + l.name.text), exprs("[", l.indices, "]", 0)});
}

Doc AstPrinter::statement(const Stmt &s) {
  if (Doc doc = definition(s))
    return doc;
  if (Doc doc = flow(s))
    return doc;
  return outward(s);
}

Doc AstPrinter::definition(const Stmt &s) {
  if (auto *let = dynCast<LetStmt>(&s)) {
    Doc name = typed(let->name, let->type.get()), value = expr(*let->value);
    return concat({name, text(" = "), value, label(let->label)});
  }
  if (auto *draw = dynCast<DrawStmt>(&s)) {
    Doc name = typed(draw->name, draw->type.get());
    return concat({name, text(" ~ "), expr(*draw->distribution)});
  }
  if (auto *place = dynCast<PlaceStmt>(&s)) {
    Doc target = expr(*place->target);
    return concat({target, text(" = "), expr(*place->value)});
  }
  if (auto *write = dynCast<WriteStmt>(&s)) {
    Doc target = expr(*write->target);
    return concat({target, text(" <- "), expr(*write->value)});
  }
  if (auto *state = dynCast<StateStmt>(&s)) {
    Doc name = typed(state->name, state->type.get());
    return concat({text(state->axis ? state->axis.text + " state " : "state "), name,
                   text(state->drawn ? " ~ " : " = "), expr(*state->init)});
  }
  if (auto *leaf = dynCast<LeafStmt>(&s)) {
    Doc name = typed(leaf->name, leaf->type.get());
    return concat({text(leaf->frozen ? "frozen " : "param "), name, text(leaf->drawn ? " ~ " : " = "),
                   expr(*leaf->init)});
  }
  if (auto *fn = dynCast<FnStmt>(&s))
    return function(*fn->function);
  return nullptr;
}

Doc AstPrinter::ifStatement(const IfStmt &s) {
  Doc condition = expr(*s.condition), thenBlock = block(*s.thenBlock);
  std::vector<Doc> parts{text("if "), condition, text(" "), thenBlock};
  if (s.elseBlock || s.elseIf) {
    parts.push_back(text(" else "));
    parts.push_back(s.elseIf ? ifStatement(*s.elseIf) : block(*s.elseBlock));
  }
  return concat(std::move(parts));
}

Doc AstPrinter::flow(const Stmt &s) {
  if (auto *branch = dynCast<IfStmt>(&s))
    return ifStatement(*branch);
  if (auto *loop = dynCast<ForStmt>(&s)) {
    Doc range = expr(*loop->range);
    return concat({text("for " + loop->variable.text + " in "), range, text(" "), block(*loop->body)});
  }
  if (auto *loop = dynCast<WhileStmt>(&s)) {
    Doc condition = expr(*loop->condition), limit = expr(*loop->limit);
    return concat({text("while "), condition, text(" limit "), limit, text(" "), block(*loop->body)});
  }
  if (auto *loop = dynCast<RepeatStmt>(&s)) {
    Doc count = expr(*loop->count);
    return concat({text("repeat "), count, text(" "), block(*loop->body)});
  }
  if (auto *result = dynCast<ReturnStmt>(&s)) {
    Doc value = expr(*result->value);
    return concat({text("return "), value, label(result->label)});
  }
  if (auto *result = dynCast<YieldStmt>(&s))
    return concat({text("yield "), expr(*result->value)});
  return nullptr;
}

Doc AstPrinter::outward(const Stmt &s) {
  switch (s.kind) {
  case Kind::EmitStmt:
    return concat({text("emit "), namedList(cast<EmitStmt>(&s)->values)});
  case Kind::SendStmt: {
    auto &send = *cast<SendStmt>(&s);
    return concat({text("send "), send.value ? expr(*send.value) : namedList(send.values)});
  }
  case Kind::MinimizeStmt: {
    auto &minimize = *cast<MinimizeStmt>(&s);
    Doc objective = expr(*minimize.objective);
    Doc models = exprs("", minimize.models, "", 0);
    return concat({text("minimize "), objective, text(" on "), models, text(" with "), expr(*minimize.optimizer)});
  }
  case Kind::SideStmt: {
    auto &side = *cast<SideStmt>(&s);
    return concat({text(std::string(spelling(side.side)) + " "), block(*side.body)});
  }
  case Kind::RestoreStmt:
    return text("restore last checkpoint");
  case Kind::RunStmt: {
    auto &run = *cast<RunStmt>(&s);
    return concat({text((run.sweep ? "sweep " : "run ") + run.name.text + " = "), variant(run.variant)});
  }
  case Kind::ExpectStmt:
    return concat({text("expect "), expr(*cast<ExpectStmt>(&s)->value)});
  case Kind::PlotStmt: {
    auto &plot = *cast<PlotStmt>(&s);
    std::vector<Doc> parts{text("plot "), exprs("", plot.values, "", 0)};
    if (plot.over) {
      parts.push_back(text(" over "));
      parts.push_back(expr(*plot.over));
    }
    if (plot.by)
      parts.push_back(text(" by " + plot.by.text));
    return concat(std::move(parts));
  }
  case Kind::SeedStmt:
    return concat({text("seed "), seeds(cast<SeedStmt>(&s)->seeds)});
  default:
    return expr(*cast<CallStmt>(&s)->call);
  }
}

Doc AstPrinter::seeds(const Seeds &s) { return s.one ? expr(*s.one) : namedList(s.streams); }

Doc AstPrinter::variant(const Variant &v) {
  std::vector<Doc> parts{text(v.fork ? "fork " : ""), expr(*v.base)};
  if (v.fork) {
    parts.push_back(text(" at step "));
    parts.push_back(expr(*v.step));
  }
  for (const Change &change : v.changes) {
    std::vector<Element> elements;
    for (const ChangePart &part : change.parts)
      elements.push_back({part.span.begin, [&] { return changePart(part); }});
    for (const Path &path : change.removed)
      elements.push_back({path.span.begin, [&] { return text(path.text()); }});
    parts.push_back(text(change.removed.empty() ? " with " : " without "));
    parts.push_back(commas(elements));
  }
  return concat(std::move(parts));
}

Doc AstPrinter::changePart(const ChangePart &p) {
  Doc value = expr(*p.value);
  std::vector<Doc> parts{text(p.path.text() + (p.swept ? " in " : " = ")), value};
  for (const RuleOption &option : p.ruleOptions)
    parts.push_back(ruleOption(option));
  for (const SourceOption &option : p.sourceOptions)
    parts.push_back(sourceOption(option));
  return concat(std::move(parts));
}
