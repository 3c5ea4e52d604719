//===- Declarations.cpp - Printing declarations -----------------*- C++ -*-===//

#include "frontend/print/Printer.h"

#include <algorithm>

using namespace dyn;
using namespace dyn::print;
using namespace dyn::ast;

Doc AstPrinter::declaration(const Decl &d) {
  switch (d.kind) {
  case Kind::UseDecl:
    return text("use " + cast<UseDecl>(&d)->path->text);
  case Kind::FnDecl:
    return function(*cast<FnDecl>(&d));
  case Kind::ModelDecl:
    return model(*cast<ModelDecl>(&d));
  case Kind::RuleDecl:
    return rule(*cast<RuleDecl>(&d));
  case Kind::DataDecl:
    return data(*cast<DataDecl>(&d));
  case Kind::EnvDecl: {
    auto &env = *cast<EnvDecl>(&d);
    Doc list = parameters(env.parameters);
    return concat({text("env " + env.name.text), list, text(" "), block(*env.body)});
  }
  case Kind::TrainDecl: {
    auto &train = *cast<TrainDecl>(&d);
    Doc list = parameters(train.parameters);
    return concat({text("train " + train.name.text), list, text(" "), clauses(*train.body)});
  }
  case Kind::ExperimentDecl: {
    auto &experiment = *cast<ExperimentDecl>(&d);
    Doc list = parameters(experiment.parameters);
    return concat({text("experiment " + experiment.name.text), list, text(" "), block(*experiment.body)});
  }
  default:
    return statement(*cast<ConstantDecl>(&d)->binding);
  }
}

Doc AstPrinter::parameters(const Parameters &p) {
  if (!p.written)
    return text("");
  std::vector<Element> elements;
  for (const Parameter &one : p.items)
    elements.push_back({one.span.begin, [&] { return parameter(one); }});
  return list("(", elements, ")", p.span.end);
}

Doc AstPrinter::parameter(const Parameter &p) {
  Doc name = typed(p.name, p.type.get());
  return concat({text(p.live ? "live " : ""), name, p.init ? concat({text(" = "), expr(*p.init)}) : text("")});
}

/// ` = value`, the value on a line of its own if it does not fit or the source has it there; or ` { … }`.
Doc AstPrinter::body(const Body &b) {
  if (b.block)
    return concat({text(" "), block(*b.block)});
  std::vector<Doc> parts{text(" =")};
  size_t before = next;
  rightOf(parts, b.value->span.begin);
  bool ownLine = b.ownLine || next != before;
  Doc value = expr(*b.value);
  bool stays = !ownLine && isBroken(value); // it brings its own line ends
  parts.push_back(nest(2, concat({ownLine ? hardLine() : stays ? text(" ") : line(), value})));
  return stays ? concat(std::move(parts)) : group(std::move(parts));
}

Doc AstPrinter::function(const FnDecl &d) {
  std::vector<Doc> parts{text("fn " + d.name.text), parameters(d.parameters)};
  if (d.result) {
    parts.push_back(text(" -> "));
    parts.push_back(type(*d.result));
  }
  parts.push_back(body(d.body));
  if (d.backward) {
    std::string names;
    for (const Ident &name : d.backward->parameters)
      names += (names.empty() ? "" : ", ") + name.text;
    rightOf(parts, d.backward->span.begin);
    parts.push_back(nest(2, concat({hardLine(), text("backward(" + names + ")"), body(d.backward->body)})));
  }
  return concat(std::move(parts));
}

Doc AstPrinter::model(const ModelDecl &d) {
  std::vector<Doc> parts{text("model " + d.name.text), parameters(d.hyperparameters)};
  parts.push_back(parameters(d.inputs));
  if (d.result) {
    parts.push_back(text(" -> "));
    parts.push_back(type(*d.result));
  }
  parts.push_back(body(d.body));
  return concat(std::move(parts));
}

Doc AstPrinter::rule(const RuleDecl &d) {
  std::vector<Doc> parts{text(std::string(spelling(d.rule)) + " " + d.name.text), parameters(d.parameters)};
  if (d.bounds) {
    parts.push_back(text(" bounds "));
    parts.push_back(expr(*d.bounds));
  }
  if (d.per)
    parts.push_back(text(" per " + d.per.text));
  if (d.over)
    parts.push_back(text(" over " + d.over.text));
  if (d.on) {
    parts.push_back(text(" on "));
    parts.push_back(pattern(*d.on));
  }
  parts.push_back(body(d.body));
  return concat(std::move(parts));
}

Doc AstPrinter::data(const DataDecl &d) {
  std::vector<Doc> parts{text("data " + d.name.text), parameters(d.parameters), text(" = ")};
  parts.push_back(expr(*d.source));
  if (d.hasItems) {
    uint32_t end = d.span.end;
    if (d.hasSplit)
      end = std::min(end, d.split.front().span.begin);
    if (d.seed)
      end = std::min(end, d.seed->span.begin);
    parts.push_back(text(" "));
    parts.push_back(braces(d.items, d.source->span.end, end, d.oneLine, [&](const DataItem &item) {
      return concat({text(item.fixed ? "fixed " : ""), statement(*item.binding)});
    }));
  }
  if (d.hasSplit)
    parts.push_back(concat({text(" split"), arguments(d.split, d.span.end)}));
  if (d.seed) {
    parts.push_back(text(" seed "));
    parts.push_back(expr(*d.seed));
  }
  return concat(std::move(parts));
}
