//===- Declarations.cpp - Declarations of the syntax tree -------*- C++ -*-===//

#include "frontend/parse/Builder.h"

using namespace dyn;
using namespace dyn::parsing;
using namespace dyn::ast;
using P = DynParser;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

Span Builder::spanOf(Context *c) const {
  const antlr4::Token *first = c->getStart(), *last = c->getStop();
  Span span = spanOf(first);
  if (last)
    span.end = std::max(span.begin, spanOf(last).end);
  return span;
}

bool Builder::onOneLine(Span span) const { return source.text(span).find('\n') == std::string_view::npos; }

bool Builder::isBlankAbove(Span span) const {
  uint32_t line = source.lineColumn(span.begin).line;
  auto isBlank = [](std::string_view text) { return text.find_first_not_of(" \t") == std::string_view::npos; };
  return line > 1 && isBlank(source.text({source.id(), source.lineBegin(line), span.begin})) &&
         isBlank(source.line(line - 1));
}

Ident Builder::ident(P::NameContext *c) const {
  Span span = spanOf(static_cast<Context *>(c));
  return {std::string(source.text(span)), span};
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

std::unique_ptr<Program> Builder::program(P::ProgramContext *c, std::vector<Comment> comments) {
  auto result = std::make_unique<Program>();
  result->file = source.id();
  result->comments = std::move(comments);
  for (auto *one : c->declaration())
    result->declarations.push_back(item(declaration(one), one));
  attachDocs(*result);
  return result;
}

std::unique_ptr<SessionEntry> Builder::entry(P::EntryContext *c, std::vector<Comment> comments) {
  auto result = std::make_unique<SessionEntry>();
  result->declarations = std::make_unique<Program>();
  Program &declarations = *result->declarations;
  declarations.file = source.id();
  declarations.comments = std::move(comments);
  for (auto *one : c->entryItem()) {
    if (auto *declared = as<P::EnteredDeclContext>(one))
      declarations.declarations.push_back(item(declaration(declared->declaration()), one));
    else
      result->actions.push_back(action(one));
  }
  attachDocs(declarations);
  return result;
}

SessionEntry::Action Builder::action(P::EntryItemContext *c) {
  if (auto *shown = as<P::EnteredValueContext>(c))
    return {nullptr, value(shown->value())};
  if (auto *claim = as<P::EnteredExpectContext>(c)) {
    auto node = make<ExpectStmt>(c);
    node->value = value(claim->value());
    return {std::move(node), nullptr};
  }
  auto node = make<RunStmt>(c);
  if (auto *named = as<P::EnteredRunContext>(c)) {
    node->name = ident(named->name());
    node->variant = variant(named->variant());
  } else if (auto *sweep = as<P::EnteredSweepContext>(c)) {
    node->sweep = true;
    node->name = ident(sweep->name());
    node->variant = variant(sweep->variant());
  } else {
    node->variant = variant(as<P::EnteredNamelessRunContext>(c)->variant());
  }
  return {std::move(node), nullptr};
}

/// The text of a comment without `#` and one space.
static std::string_view bare(const Comment &comment) {
  std::string_view text = comment.text;
  text.remove_prefix(text.starts_with("# ") ? 2 : 1);
  return text;
}

/// Gives each declaration the comments on the lines right above it.
void Builder::attachDocs(Program &program) {
  size_t next = 0;
  for (DeclPtr &declaration : program.declarations) {
    size_t end = next;
    while (end < program.comments.size() && program.comments[end].span.begin < declaration->span.begin)
      ++end;
    uint32_t line = source.lineColumn(declaration->span.begin).line;
    size_t begin = end;
    while (begin > next && program.comments[begin - 1].ownLine &&
           source.lineColumn(program.comments[begin - 1].span.begin).line == line - (end - begin) - 1)
      --begin;
    for (size_t i = begin; i < end; ++i)
      declaration->doc += (i == begin ? "" : "\n") + std::string(bare(program.comments[i]));
    next = end;
  }
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

DeclPtr Builder::declaration(P::DeclarationContext *c) {
  if (auto *use = as<P::UseDeclContext>(c)) {
    auto node = make<UseDecl>(c);
    node->path = string(use->STRING());
    return node;
  }
  if (auto *fn = as<P::FnDeclContext>(c))
    return function(fn->function());
  if (auto *one = as<P::ModelDeclContext>(c))
    return model(one);
  if (auto *one = as<P::RuleDeclContext>(c))
    return rule(one);
  if (auto *one = as<P::DataDeclContext>(c))
    return data(one);
  if (auto *env = as<P::EnvDeclContext>(c)) {
    auto node = make<EnvDecl>(c);
    node->name = ident(env->name());
    node->parameters = parameters(env->parameters());
    node->body = block(env->block());
    return node;
  }
  if (auto *train = as<P::TrainDeclContext>(c)) {
    auto node = make<TrainDecl>(c);
    node->name = ident(train->name());
    node->parameters = parameters(train->parameters());
    node->body = clauses(train->clauses());
    return node;
  }
  if (auto *experiment = as<P::ExperimentDeclContext>(c)) {
    auto node = make<ExperimentDecl>(c);
    node->name = ident(experiment->name());
    node->parameters = parameters(experiment->parameters());
    node->body = block(experiment->block());
    return node;
  }
  auto node = make<ConstantDecl>(c);
  node->binding = binding(as<P::ConstantDeclContext>(c)->binding());
  return node;
}

std::unique_ptr<FnDecl> Builder::function(P::FunctionContext *c) {
  auto node = item(std::make_unique<FnDecl>(), c);
  node->name = ident(c->name());
  node->parameters = parameters(c->parameters());
  if (c->typeRef())
    node->result = type(c->typeRef());
  node->body = body(c->body());
  if (auto *backward = c->backward()) {
    node->backward = std::make_unique<Backward>();
    node->backward->span = spanOf(backward);
    for (auto *name : backward->name())
      node->backward->parameters.push_back(ident(name));
    node->backward->body = body(backward->body());
  }
  return node;
}

DeclPtr Builder::model(P::ModelDeclContext *c) {
  auto node = make<ModelDecl>(c);
  node->name = ident(c->name());
  auto lists = c->parameters();
  if (lists.size() == 2)
    node->hyperparameters = parameters(lists[0]);
  node->inputs = parameters(lists.back());
  if (c->typeRef())
    node->result = type(c->typeRef());
  node->body = body(c->body());
  return node;
}

RuleKind Builder::ruleKind(P::RuleKindContext *c) {
  return static_cast<RuleKind>(typeOf(c->children[0]) - P::ESTIMATOR); // the lexer has them in this order
}

DeclPtr Builder::rule(P::RuleDeclContext *c) {
  auto node = make<RuleDecl>(c);
  node->rule = ruleKind(c->ruleKind());
  node->name = ident(c->name());
  node->parameters = parameters(c->parameters());
  for (auto *head : c->ruleHead())
    ruleHead(head, *node);
  node->body = body(c->body());
  return node;
}

void Builder::ruleHead(P::RuleHeadContext *c, RuleDecl &rule) {
  bool repeated = false;
  if (auto *bounds = as<P::BoundsHeadContext>(c)) {
    repeated = rule.bounds != nullptr;
    rule.bounds = logic(bounds->logic());
  } else if (auto *per = as<P::PerHeadContext>(c)) {
    repeated = bool(rule.per);
    rule.per = ident(per->name());
  } else if (auto *over = as<P::OverHeadContext>(c)) {
    repeated = bool(rule.over);
    rule.over = ident(over->name());
  } else {
    repeated = rule.on != nullptr;
    rule.on = pattern(as<P::OnHeadContext>(c)->pattern());
  }
  if (repeated)
    diags.report(Diag::repeated_part, spanOf(c), source.text(spanOf(c->getStart())));
}

DeclPtr Builder::data(P::DataDeclContext *c) {
  auto node = make<DataDecl>(c);
  node->name = ident(c->name());
  node->parameters = parameters(c->parameters());
  node->source = value(c->value());
  if (auto *items = c->dataItems()) {
    node->hasItems = true;
    node->oneLine = onOneLine(spanOf(items));
    for (auto *one : items->dataItem()) {
      auto entry = item(std::make_unique<DataItem>(), one);
      entry->fixed = one->FIXED() != nullptr;
      entry->binding = binding(one->binding());
      node->items.push_back(std::move(entry));
    }
  }
  for (auto *tail : c->dataTail())
    dataTail(tail, *node);
  return node;
}

void Builder::dataTail(P::DataTailContext *c, DataDecl &data) {
  bool repeated = false;
  if (auto *split = as<P::SplitTailContext>(c)) {
    repeated = data.hasSplit;
    data.hasSplit = true;
    for (auto *one : split->argument())
      data.split.push_back(argument(one));
  } else {
    repeated = data.seed != nullptr;
    data.seed = arith(as<P::SeedTailContext>(c)->arith());
  }
  if (repeated)
    diags.report(Diag::repeated_part, spanOf(c), source.text(spanOf(c->getStart())));
}

Body Builder::body(P::BodyContext *c) {
  Body result;
  if (auto *valued = as<P::ValueBodyContext>(c)) {
    result.value = value(valued->value());
    Span mark = spanOf(valued->EQ()->getSymbol());
    result.ownLine = !onOneLine({source.id(), mark.begin, result.value->span.begin});
  } else {
    result.block = block(as<P::BlockBodyContext>(c)->block());
  }
  return result;
}

Parameters Builder::parameters(P::ParametersContext *c) {
  Parameters result;
  if (!c)
    return result;
  result.written = true;
  result.span = spanOf(c);
  for (auto *one : c->parameter()) {
    Parameter parameter;
    parameter.live = one->LIVE() != nullptr;
    parameter.name = ident(one->name());
    if (one->typeRef())
      parameter.type = type(one->typeRef());
    if (one->value())
      parameter.init = value(one->value());
    parameter.span = spanOf(one);
    result.items.push_back(std::move(parameter));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Patterns and types
//===----------------------------------------------------------------------===//

PatternPtr Builder::pattern(P::PatternContext *c) {
  if (auto *shaped = as<P::ShapePatternContext>(c)) {
    auto node = make<ShapePattern>(c);
    node->shape = shape(shaped->shape());
    return node;
  }
  if (auto *path = as<P::PathPatternContext>(c)) {
    auto node = make<PathPattern>(c);
    node->path = string(path->STRING());
    return node;
  }
  if (auto *module = as<P::ModulePatternContext>(c)) {
    auto node = make<ModulePattern>(c);
    node->model = ident(module->name());
    node->leaves = record(module->recordType());
    return node;
  }
  auto node = make<ReferencePattern>(c);
  node->reference = reference(as<P::NamedPatternContext>(c)->reference());
  return node;
}

TypePtr Builder::type(P::TypeRefContext *c) {
  if (auto *fn = as<P::FunctionTypeContext>(c)) {
    auto node = make<FnType>(c);
    auto types = fn->typeRef();
    for (size_t i = 0; i + 1 < types.size(); ++i)
      node->parameters.push_back(type(types[i]));
    node->result = type(types.back());
    return node;
  }
  if (auto *fields = as<P::RecordOfContext>(c))
    return record(fields->recordType());
  if (auto *reals = as<P::RealArrayContext>(c)) {
    auto node = make<ArrayType>(c);
    node->shape = shape(reals->shape());
    return node;
  }
  auto *named = as<P::NamedTypeContext>(c);
  auto element = make<NamedType>(c);
  element->name = ident(named->name());
  element->args = values(named->value());
  if (!named->shape())
    return element;
  auto node = make<ArrayType>(c);
  element->span.end = named->RPAREN() ? spanOf(named->RPAREN()->getSymbol()).end : element->name.span.end;
  node->element = std::move(element);
  node->shape = shape(named->shape());
  return node;
}

std::unique_ptr<RecordType> Builder::record(P::RecordTypeContext *c) {
  auto node = make<RecordType>(c);
  for (auto *field : c->field())
    node->fields.push_back({ident(field->name()), type(field->typeRef())});
  return node;
}

std::vector<ExprPtr> Builder::shape(P::ShapeContext *c) {
  std::vector<ExprPtr> result;
  for (auto *extent : c->arith())
    result.push_back(arith(extent));
  return result;
}
