//===- Trains.cpp - Printing clauses ----------------------------*- C++ -*-===//

#include "frontend/print/Printer.h"

#include <algorithm>

using namespace dyn;
using namespace dyn::print;
using namespace dyn::ast;

/// The word of a clause whose value stands in the column shared with its neighbours; empty for the others.
static std::string columnWord(const Clause &c) {
  switch (c.kind) {
  case Kind::DataClause:
    return "data";
  case Kind::ModelClause:
    return "model";
  case Kind::LossClause:
    return "loss";
  case Kind::RuleClause:
    return spelling(cast<RuleClause>(&c)->rule);
  case Kind::EvalClause:
    return "eval";
  case Kind::CheckpointClause:
    return "checkpoint";
  case Kind::SettingClause:
    return spelling(cast<SettingClause>(&c)->setting);
  case Kind::ParticipationClause:
    return "participation";
  case Kind::ClientsClause:
    return "clients";
  case Kind::SharedClause:
    return "shared";
  case Kind::FrozenClause:
    return "frozen";
  case Kind::StopClause:
    return "stop when";
  case Kind::StmtClause:
    switch (cast<StmtClause>(&c)->statement->kind) {
    case Kind::EmitStmt:
      return "emit";
    case Kind::ExpectStmt:
      return "expect";
    case Kind::SeedStmt:
      return "seed";
    default:
      return "";
    }
  default:
    return "";
  }
}

Doc AstPrinter::clauses(const ClauseBlock &b) {
  size_t width = 0;
  if (!b.oneLine)
    for (const ClausePtr &one : b.clauses)
      width = std::max(width, columnWord(*one).size());
  return braces(b.clauses, b.span.begin, b.span.end, b.oneLine, [&](const Clause &c) { return clause(c, width); });
}

Doc AstPrinter::clause(const Clause &c, size_t width) {
  std::string word = columnWord(c);
  if (!word.empty()) {
    word.resize(std::max(width, word.size()) + 1, ' ');
    return concat({text(word), clauseValue(c)});
  }
  if (auto *statement = dynCast<StmtClause>(&c))
    return this->statement(*statement->statement);
  return blockClause(c);
}

/// What stands behind the clause's word.
Doc AstPrinter::clauseValue(const Clause &c) {
  std::vector<Element> elements;
  switch (c.kind) {
  case Kind::DataClause:
    for (const Source &one : cast<DataClause>(&c)->sources)
      elements.push_back({one.span.begin, [&] { return source(one); }});
    return commas(elements);
  case Kind::ModelClause:
    for (const Instance &one : cast<ModelClause>(&c)->instances)
      elements.push_back({one.span.begin, [&] { return instance(one); }});
    return commas(elements);
  case Kind::LossClause: {
    auto &loss = *cast<LossClause>(&c);
    return concat({text(loss.name ? loss.name.text + " = " : ""), expr(*loss.value)});
  }
  case Kind::RuleClause: {
    auto &rule = *cast<RuleClause>(&c);
    std::vector<Doc> parts{text(rule.name ? rule.name.text + " = " : ""), expr(*rule.value)};
    for (const RuleOption &option : rule.options)
      parts.push_back(ruleOption(option));
    return concat(std::move(parts));
  }
  case Kind::EvalClause:
    return evalClause(*cast<EvalClause>(&c));
  case Kind::StmtClause: {
    const Stmt &statement = *cast<StmtClause>(&c)->statement;
    if (auto *emit = dynCast<EmitStmt>(&statement))
      return namedList(emit->values);
    if (auto *expect = dynCast<ExpectStmt>(&statement))
      return expr(*expect->value);
    return seeds(cast<SeedStmt>(&statement)->seeds);
  }
  default:
    return setting(c);
  }
}

Doc AstPrinter::setting(const Clause &c) {
  switch (c.kind) {
  case Kind::CheckpointClause:
    return timing(cast<CheckpointClause>(&c)->timing);
  case Kind::SettingClause:
    return expr(*cast<SettingClause>(&c)->value);
  case Kind::ParticipationClause: {
    auto &participation = *cast<ParticipationClause>(&c);
    return concat({expr(*participation.value), text(participation.poisson ? " poisson" : "")});
  }
  case Kind::ClientsClause: {
    auto &clients = *cast<ClientsClause>(&c);
    std::vector<Doc> parts{expr(*clients.value)};
    if (clients.partitioned)
      parts.push_back(text(" partition"));
    if (clients.partition) {
      parts.push_back(text(" "));
      parts.push_back(expr(*clients.partition));
    }
    if (clients.by) {
      parts.push_back(text(" by "));
      parts.push_back(expr(*clients.by));
    }
    return concat(std::move(parts));
  }
  case Kind::SharedClause:
    return expr(*cast<SharedClause>(&c)->value);
  case Kind::FrozenClause:
    return text(cast<FrozenClause>(&c)->path->text);
  default:
    return expr(*cast<StopClause>(&c)->condition);
  }
}

Doc AstPrinter::blockClause(const Clause &c) {
  switch (c.kind) {
  case Kind::PhaseClause: {
    auto &phase = *cast<PhaseClause>(&c);
    std::vector<Doc> parts{text("phase " + phase.name.text)};
    if (phase.until) {
      parts.push_back(text(" until "));
      parts.push_back(expr(*phase.until));
    }
    parts.push_back(text(phase.until ? " limit " : " for "));
    parts.push_back(expr(*phase.count));
    parts.push_back(text(std::string(" ") + clockName(phase.clock, phase.plural) + " "));
    parts.push_back(clauses(*phase.body));
    return concat(std::move(parts));
  }
  case Kind::WhenClause: {
    auto &when = *cast<WhenClause>(&c);
    Doc condition = expr(*when.condition);
    return concat({text("when "), condition, text(" "), block(*when.body)});
  }
  case Kind::AtClause: {
    auto &at = *cast<AtClause>(&c);
    Doc value = at.value ? concat({text(" "), expr(*at.value)}) : text("");
    return concat({text("at " + at.moment.text), value, text(" "), block(*at.body)});
  }
  case Kind::StepClause:
    return concat({text("step "), block(*cast<StepClause>(&c)->body)});
  default: {
    auto &branch = *cast<IfClause>(&c);
    Doc condition = expr(*branch.condition), thenClauses = clauses(*branch.thenClauses);
    std::vector<Doc> parts{text("if "), condition, text(" "), thenClauses};
    if (branch.elseClauses) {
      parts.push_back(text(" else "));
      parts.push_back(clauses(*branch.elseClauses));
    }
    return concat(std::move(parts));
  }
  }
}

Doc AstPrinter::evalClause(const EvalClause &c) {
  std::vector<Doc> parts{text(c.name ? c.name.text + " = " : ""), expr(*c.value)};
  uint32_t begin = c.value->span.end;
  for (const EvalOption &option : c.options) {
    begin = option.span.end;
    if (option.form == EvalOption::Form::Per) {
      parts.push_back(text(" per " + option.unit.text));
    } else if (option.form == EvalOption::Form::Timing) {
      parts.push_back(text(" "));
      parts.push_back(timing(option.timing));
    } else {
      parts.push_back(text(option.partition ? " partition " : " partition"));
      if (option.partition)
        parts.push_back(expr(*option.partition));
      parts.push_back(text(" by "));
      parts.push_back(expr(*option.by));
    }
  }
  parts.push_back(text(" "));
  parts.push_back(braces(c.items, begin, c.span.end, c.oneLine, [&](const EvalItem &item) {
    Doc value = expr(*item.value);
    Doc by = item.by ? concat({text(" by "), expr(*item.by)}) : text("");
    return concat({text(item.name.text + (item.each ? " = each " : " = ")), value, by});
  }));
  return concat(std::move(parts));
}

//===----------------------------------------------------------------------===//
// Parts of clauses
//===----------------------------------------------------------------------===//

Doc AstPrinter::source(const Source &s) {
  std::vector<Doc> parts{text(s.name ? s.name.text + " = " : ""), expr(*s.value)};
  for (const SourceOption &option : s.options)
    parts.push_back(sourceOption(option));
  return concat(std::move(parts));
}

Doc AstPrinter::sourceOption(const SourceOption &o) {
  switch (o.form) {
  case SourceOption::Form::All:
    return text(" all");
  case SourceOption::Form::Shuffle:
    return text(" shuffle");
  case SourceOption::Form::Drop:
    return text(" drop");
  case SourceOption::Form::Poisson:
    return text(" poisson");
  case SourceOption::Form::Batch:
    break;
  }
  std::vector<Doc> parts{text(" batch "), expr(*o.size)};
  if (o.upto) {
    parts.push_back(text(" upto "));
    parts.push_back(expr(*o.upto));
  }
  if (o.by) {
    parts.push_back(text(" by "));
    parts.push_back(expr(*o.by));
  }
  return concat(std::move(parts));
}

Doc AstPrinter::instance(const Instance &i) {
  std::vector<Doc> parts{text(i.name.text + " = "), expr(*i.value)};
  if (i.from) {
    parts.push_back(text(" from "));
    parts.push_back(expr(*i.from));
  }
  if (i.fromBlock) {
    parts.push_back(text(" "));
    parts.push_back(block(*i.fromBlock));
  }
  if (i.clients) {
    parts.push_back(text(" for clients "));
    parts.push_back(expr(*i.clients));
  }
  return concat(std::move(parts));
}

Doc AstPrinter::ruleOption(const RuleOption &o) {
  switch (o.form) {
  case RuleOption::Form::On:
    return concat({text(" on "), pattern(*o.pattern)});
  case RuleOption::Form::OnClients:
    return concat({text(" on "), expr(*o.clients), text(" clients")});
  case RuleOption::Form::Except:
    return text(" except " + o.path->text);
  case RuleOption::Form::Otherwise:
    return text(" otherwise");
  case RuleOption::Form::Per:
    return text(" per " + o.unit.text);
  case RuleOption::Form::Timing:
    break;
  }
  return concat({text(" "), timing(o.timing)});
}

Doc AstPrinter::timing(const Timing &t) {
  if (t.form == Timing::Form::At)
    return concat({text("at "), expr(*t.value)});
  Doc count = t.value ? concat({expr(*t.value), text(" ")}) : text("");
  return concat({text("every "), count, text(clockName(t.clock, t.plural))});
}
