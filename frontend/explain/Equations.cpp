#include "frontend/explain/Equations.h"

#include "frontend/AstWalk.h"
#include "frontend/explain/Formulas.h"

#include <set>

using namespace dyn::ast;

namespace dyn::explain {
namespace {

/// A name that a rule is given, its letter in papers, and what it is.
struct Given {
  const char *name, *letter, *meaning;
  bool isTree; ///< all arrays together
};
const Given given[] = {
    {"param", "p", "an array of parameters", false}, {"params", "p", "all parameters", true},
    {"grad", "g", "the gradient of an array", false}, {"grads", "g", "the gradient of all parameters", true},
    {"update", "u", "what the last step added to an array", false},
    {"updates", "u", "what the last step added to all parameters", true},
};

/// Names that a declaration binds or reads.
struct Names {
  std::set<std::string, std::less<>> bound, read;
};

void bind(const Parameters &parameters, Names &names) {
  for (const Parameter &parameter : parameters.items)
    names.bound.insert(parameter.name.text);
}

Names namesOf(const Decl &decl) {
  Names names;
  std::set<const Node *> functions; // `grad(f)` is no gradient that the rule is given
  walk(decl, [&](const Node &node) {
    if (auto *call = dynCast<CallExpr>(&node)) {
      auto *function = dynCast<NameExpr>(call->callee.get());
      if (function && function->name == "grad")
        functions.insert(function);
    } else if (auto *name = dynCast<NameExpr>(&node)) {
      if (!functions.contains(name))
        names.read.insert(name->name);
    } else if (auto *let = dynCast<LetStmt>(&node))
      names.bound.insert(let->name.text);
    else if (auto *draw = dynCast<DrawStmt>(&node))
      names.bound.insert(draw->name.text);
    else if (auto *state = dynCast<StateStmt>(&node))
      names.bound.insert(state->name.text);
    else if (auto *loop = dynCast<ForStmt>(&node))
      names.bound.insert(loop->variable.text);
    else if (auto *closure = dynCast<ClosureExpr>(&node))
      for (const Ident &parameter : closure->parameters)
        names.bound.insert(parameter.text);
    return true;
  });
  if (auto *rule = dynCast<RuleDecl>(&decl))
    bind(rule->parameters, names);
  return names;
}

/// The letters of what a rule is given: lower case, and capitals for whole trees where it has both. A letter that the
/// rule uses itself is not taken: then the name stays.
std::map<std::string, std::string, std::less<>> lettersOf(const Names &names) {
  bool forms[2] = {false, false};
  for (const Given &one : given)
    forms[one.isTree] |= names.read.contains(one.name);
  std::map<std::string, std::string, std::less<>> letters;
  for (const Given &one : given) {
    std::string letter = one.letter;
    if (one.isTree && forms[false])
      letter[0] = static_cast<char>(letter[0] - 'a' + 'A');
    if (names.read.contains(one.name) && !names.bound.contains(letter))
      letters[one.name] = letter;
  }
  return letters;
}

class Box {
public:
  Box(const Decl &decl, const Program &program, const SourceFile &source, const Notation &notation)
      : decl(decl), program(program), source(source), notation(notation), names(namesOf(decl)),
        formulas(notation, lettersOf(names)) {}

  std::string made() {
    if (auto *rule = dynCast<RuleDecl>(&decl))
      this->rule(*rule);
    else if (auto *fn = dynCast<FnDecl>(&decl))
      function(*fn, 0);
    else if (auto *model = dynCast<ModelDecl>(&decl))
      this->model(*model);
    return notation.layOut(lines);
  }

private:
  Line &add(size_t depth, std::string left) { return lines.emplace_back(Line{depth, std::move(left), "", {}, {}, ""}); }
  void say(size_t depth, std::string_view words) { add(depth, notation.prose(words)); }

  /// `left = value`, where a choice is one line a case.
  Line &equation(size_t depth, std::string left, Sign sign, const Expr &value) {
    Line &line = add(depth, std::move(left));
    line.sign = notation.sign(sign);
    choices(line, value);
    return line;
  }

  /// A value, or the values of a choice with their conditions.
  void choices(Line &line, const Expr &value) {
    const Expr *rest = &withoutBrackets(value);
    while (auto *choice = dynCast<ConditionalExpr>(rest)) {
      line.right.push_back(formulas.inside(*choice->thenValue));
      line.conditions.push_back(formulas.inside(*choice->condition).text);
      rest = &withoutBrackets(*choice->elseValue);
    }
    line.right.push_back(formulas.of(*rest));
  }

  std::string parameters(const Parameters &list) const {
    std::string text;
    for (const Parameter &parameter : list.items) {
      text += (text.empty() ? "" : ", ") + formulas.variable(parameter.name.text);
      auto *array = dynCast<ArrayType>(parameter.type.get());
      if (array)
        text += std::string(" ") + notation.sign(Sign::Element) + " " + formulas.type(*array);
      if (parameter.init)
        text += " = " + formulas.of(*parameter.init).text;
    }
    return text;
  }

  //===--------------------------------------------------------------------===//
  // Declarations
  //===--------------------------------------------------------------------===//

  void rule(const RuleDecl &rule) {
    if (!rule.parameters.items.empty())
      add(0, notation.prose("with ") + parameters(rule.parameters));
    if (rule.body.value) {
      equation(0, notation.word(rule.name.text) + notation.brackets(formulas.variable("t")), Sign::Equals, *rule.body.value);
    } else {
      starts(*rule.body.block);
      bool isSchedule = rule.rule == RuleKind::Schedule;
      say(0, isSchedule ? "at step t:" : rule.rule == RuleKind::Probe ? "when it runs:" : "at each step t = 1, 2, …:");
      block(*rule.body.block, 1, true);
    }
    if (rule.bounds)
      add(0, notation.prose("so that ") + formulas.of(*rule.bounds).text);
    legend(rule);
  }

  /// The states at the top of a rule.
  void starts(const Block &body) {
    bool isFirst = true;
    for (const StmtPtr &stmt : body.statements) {
      auto *state = dynCast<StateStmt>(stmt.get());
      if (!state)
        continue;
      if (std::exchange(isFirst, false))
        say(0, "at the start:");
      this->state(*state, 1);
    }
  }

  /// What the letters are.
  void legend(const RuleDecl &rule) {
    std::string text;
    auto explain = [&](const std::string &letter, const std::string &meaning) {
      text += (text.empty() ? notation.prose("where ") : notation.prose(", ")) + letter + notation.prose(" is " + meaning);
    };
    std::string sizes;
    if (auto *shape = dynCast<ShapePattern>(rule.on.get()))
      for (const ExprPtr &size : shape->shape)
        sizes += (sizes.empty() ? "" : " by ") + print(*size);
    for (const Given &one : given)
      if (names.read.contains(one.name))
        explain(formulas.variable(one.name),
                one.name == std::string_view("param") && !sizes.empty() ? "an array of " + sizes + " parameters" : one.meaning);
    if (names.read.contains("loss") || names.read.contains("gradient"))
      explain("L", "the objective on the batch");
    if (names.read.contains("total"))
      explain(formulas.variable("total"), "the number of steps");
    if (!text.empty())
      add(0, text);
  }

  void function(const FnDecl &fn, size_t depth) {
    std::string head = notation.word(fn.name.text) + notation.brackets(parameters(fn.parameters));
    body(head, fn.body, depth);
    if (!fn.backward)
      return;
    std::string directions;
    for (const Ident &name : fn.backward->parameters)
      directions += (directions.empty() ? "" : ", ") + formulas.variable(name.text);
    body(notation.word("backward") + notation.brackets(directions), fn.backward->body, depth);
  }

  void model(const ModelDecl &model) {
    if (!model.hyperparameters.items.empty())
      add(0, notation.prose("with ") + parameters(model.hyperparameters));
    body(notation.word(model.name.text) + notation.brackets(parameters(model.inputs)), model.body, 0);
  }

  void body(const std::string &head, const Body &body, size_t depth) {
    if (body.value) {
      equation(depth, head, Sign::Equals, *body.value);
      return;
    }
    add(depth, head + ":");
    block(*body.block, depth + 1, false);
  }

  //===--------------------------------------------------------------------===//
  // Statements
  //===--------------------------------------------------------------------===//

  /// `withoutStates`: they stand elsewhere.
  void block(const Block &block, size_t depth, bool withoutStates) {
    for (const StmtPtr &stmt : block.statements)
      if (!withoutStates || !isa<StateStmt>(stmt.get()))
        statement(*stmt, depth);
  }

  void statement(const Stmt &stmt, size_t depth) {
    size_t before = lines.size();
    if (!definition(stmt, depth) && !flow(stmt, depth))
      say(depth, source.text(stmt.span));
    if (lines.size() > before && lines[before].note.empty())
      lines[before].note = commentBeside(stmt);
  }

  bool definition(const Stmt &stmt, size_t depth) {
    if (auto *let = dynCast<LetStmt>(&stmt))
      equation(depth, formulas.variable(let->name.text), Sign::Equals, *let->value);
    else if (auto *draw = dynCast<DrawStmt>(&stmt))
      equation(depth, formulas.variable(draw->name.text), Sign::Drawn, *draw->distribution);
    else if (auto *place = dynCast<PlaceStmt>(&stmt))
      equation(depth, formulas.of(*place->target).text, Sign::Equals, *place->value);
    else if (auto *write = dynCast<WriteStmt>(&stmt))
      equation(depth, formulas.of(*write->target).text, Sign::Becomes, *write->value);
    else if (auto *state = dynCast<StateStmt>(&stmt))
      this->state(*state, depth);
    else if (auto *leaf = dynCast<LeafStmt>(&stmt)) {
      std::string left = std::string(leaf->frozen ? notation.prose("frozen ") : "") + formulas.variable(leaf->name.text);
      if (leaf->type)
        left += std::string(" ") + notation.sign(Sign::Element) + " " + formulas.type(*leaf->type);
      equation(depth, left, leaf->drawn ? Sign::Drawn : Sign::Equals, *leaf->init);
    } else if (auto *emit = dynCast<EmitStmt>(&stmt)) {
      for (const Named &value : emit->values)
        equation(depth, notation.prose("emit ") + formulas.variable(value.name.text), Sign::Equals, *value.value);
    } else
      return false;
    return true;
  }

  void state(const StateStmt &state, size_t depth) {
    std::string left = formulas.variable(state.name.text);
    Line &line = equation(depth, left, state.drawn ? Sign::Drawn : Sign::Equals, *state.init);
    line.note = commentBeside(state);
    if (state.axis && line.note.empty())
      line.note = "one for each " + std::string(state.axis.text == "leaf" ? "array" : state.axis.text);
  }

  bool flow(const Stmt &stmt, size_t depth) {
    if (auto *choice = dynCast<IfStmt>(&stmt))
      branches(*choice, depth, "if ");
    else if (auto *loop = dynCast<ForStmt>(&stmt)) {
      add(depth, notation.prose("for ") + formulas.variable(loop->variable.text) + " " + notation.sign(Sign::Element) + " " +
                     formulas.of(*loop->range).text + ":");
      block(*loop->body, depth + 1, false);
    } else if (auto *loop = dynCast<WhileStmt>(&stmt)) {
      add(depth, notation.prose("while ") + formulas.inside(*loop->condition).text + notation.prose(", at most ") +
                     formulas.of(*loop->limit).text + notation.prose(" times:"));
      block(*loop->body, depth + 1, false);
    } else if (auto *repeat = dynCast<RepeatStmt>(&stmt)) {
      add(depth, formulas.of(*repeat->count).text + notation.prose(" times:"));
      block(*repeat->body, depth + 1, false);
    } else if (auto *result = dynCast<ReturnStmt>(&stmt))
      choices(add(depth, notation.prose("return ")), *result->value);
    else if (auto *part = dynCast<YieldStmt>(&stmt))
      add(depth, notation.prose("yield ") + formulas.inside(*part->value).text);
    else if (auto *inner = dynCast<FnStmt>(&stmt))
      function(*inner->function, depth);
    else
      return false;
    return true;
  }

  void branches(const IfStmt &choice, size_t depth, std::string_view word) {
    add(depth, notation.prose(word) + formulas.inside(*choice.condition).text + ":");
    block(*choice.thenBlock, depth + 1, false);
    if (choice.elseIf)
      branches(*choice.elseIf, depth, "else if ");
    if (!choice.elseBlock)
      return;
    say(depth, "else:");
    block(*choice.elseBlock, depth + 1, false);
  }

  /// The comment on the line where a statement begins.
  std::string commentBeside(const Stmt &stmt) const {
    uint32_t line = source.lineColumn(stmt.span.begin).line;
    for (const Comment &comment : program.comments)
      if (!comment.ownLine && source.lineColumn(comment.span.begin).line == line)
        return comment.text.substr(comment.text.find_first_not_of("# "));
    return "";
  }

  const Decl &decl;
  const Program &program;
  const SourceFile &source;
  const Notation &notation;
  Names names;
  Formulas formulas;
  std::vector<Line> lines;
};

} // namespace

std::string equations(const Decl &decl, const Program &program, const SourceFile &source, const Notation &notation) {
  return Box(decl, program, source, notation).made();
}

} // namespace dyn::explain
