#include "frontend/driver/Samples.h"

#include "frontend/AstWalk.h"
#include "frontend/parse/Parser.h"

#include <map>

namespace dyn {
namespace {

/// Sizes for names in shapes.
class Sizes {
public:
  explicit Sizes(const SampleSizes &series) : series(series) {}
  /// The size of a name; of an expression, its text with sizes for the names. What can be no size is refused where the
  /// declaration meets the sample, not in the sample.
  std::string of(const ast::Expr &dim) {
    if (auto *name = ast::dynCast<ast::NameExpr>(&dim))
      return sizeOf(name->name);
    if (hasFraction(dim))
      return "1";
    std::string text = print(dim), filled;
    for (size_t i = 0; i < text.size();) {
      size_t end = i;
      while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_'))
        ++end;
      bool isName = end > i && !std::isdigit(static_cast<unsigned char>(text[i]));
      end = std::max(end, i + 1);
      filled += isName ? sizeOf(text.substr(i, end - i)) : text.substr(i, end - i);
      i = end;
    }
    return filled;
  }
  void fix(const std::string &name, int value) { sizes[name] = value; }

private:
  static bool hasFraction(const ast::Expr &dim) {
    bool found = false;
    walk(dim, [&](const ast::Node &node) {
      auto *number = ast::dynCast<ast::NumberExpr>(&node);
      found |= number && !number->isInteger;
      return !found;
    });
    return found;
  }
  std::string sizeOf(const std::string &name) {
    auto [it, fresh] = sizes.try_emplace(name, series[made % series.size()]);
    made += fresh;
    return std::to_string(it->second);
  }

  const SampleSizes &series;
  std::map<std::string, int> sizes;
  size_t made = 0;
};

/// A value for a hyperparameter without a default; nothing when none can be made up.
std::optional<std::string> sampleValue(const ast::Parameter &parameter, int number) {
  auto *type = ast::dynCast<ast::NamedType>(parameter.type.get());
  std::string word = type ? type->name.text : "";
  if (word == "real")
    return "0.5";
  if (word == "int")
    return std::to_string(number);
  if (word == "string")
    return "\"sample\"";
  if (word == "bool")
    return "true";
  if (word == "schedule")
    return "constant(0.1)";
  if (word == "optimizer")
    return "sgd(0.1)";
  if (word == "clip")
    return "by_global_norm(1.0)";
  return std::nullopt;
}

/// Whole numbers of a declaration that is checked alone: all different, and no size of its data.
constexpr int sampleCounts[] = {3, 2, 4, 6};

std::optional<std::string> sampleCall(const std::string &name, const ast::Parameters &parameters) {
  std::string text = name + "(";
  bool first = true;
  size_t counts = 0;
  for (auto &parameter : parameters.items) {
    if (parameter.init)
      continue;
    auto value = sampleValue(parameter, sampleCounts[counts++ % std::size(sampleCounts)]);
    if (!value)
      return std::nullopt;
    text += (first ? "" : ", ") + parameter.name.text + "=" + *value;
    first = false;
  }
  return text + ")";
}

const char *leavesModel = "model sample_leaves()() -> real {\n"
                          "  param W: [3, 2] = 0.5\n  param b: [5] = 0.25\n"
                          "  return sum(W^2) + sum(b^2)\n}\n";

/// What only a train with data and a model of its own has: activations by name, fields of the batch, parts of it.
bool needsItsTrain(const ast::RuleDecl &rule) {
  bool needs = false;
  walk(rule, [&](const ast::Node &node) {
    if (auto *name = ast::dynCast<ast::NameExpr>(&node)) {
      needs |= name->name == "activations" || name->name == "batch";
    } else if (auto *call = ast::dynCast<ast::CallExpr>(&node)) {
      for (const ast::Argument &argument : call->args)
        needs |= argument.name.text == "per";
    }
    return !needs;
  });
  return needs;
}

std::optional<std::string> sampleRule(const ast::RuleDecl &rule) {
  if (needsItsTrain(rule))
    return std::nullopt;
  auto call = sampleCall(rule.name.text, rule.parameters);
  if (!call)
    return std::nullopt;
  std::string clauses;
  switch (rule.rule) {
  case ast::RuleKind::Optimizer:
    clauses = "  optimizer " + *call + "\n";
    if (rule.on)
      clauses += "  optimizer sgd(0.1) otherwise\n";
    break;
  case ast::RuleKind::Clip:
    clauses = "  clip " + *call + "\n  optimizer sgd(0.1)\n";
    break;
  case ast::RuleKind::Schedule:
    clauses = "  optimizer sgd(lr=" + *call + ")\n";
    break;
  case ast::RuleKind::Probe:
    clauses = "  optimizer sgd(0.1)\n  probe " + *call + " every 1 steps\n";
    break;
  default:
    return std::nullopt;
  }
  return std::string(leavesModel) + "train sample_train {\n  model sample_net = sample_leaves()\n  loss sample_net()\n" + clauses +
         "  steps 1\n}\n";
}

/// A data field of a parameter's type, as an item of a synthetic set; nothing for types that are no data.
std::optional<std::string> sampleField(const ast::Parameter &parameter, Sizes &sizes) {
  const std::string &name = parameter.name.text;
  if (auto *array = ast::dynCast<ast::ArrayType>(parameter.type.get())) {
    if (array->element && array->element->name.text != "real")
      return std::nullopt;
    std::string shape;
    for (auto &dim : array->shape)
      shape += (shape.empty() ? "" : ", ") + sizes.of(*dim);
    return "  " + name + ": [" + shape + "] ~ normal()\n";
  }
  auto *named = ast::dynCast<ast::NamedType>(parameter.type.get());
  if (named && named->name.text == "real")
    return "  " + name + ": real ~ normal()\n";
  if (named && named->name.text == "class" && named->args.size() == 1)
    return "  " + name + ": class(" + sizes.of(*named->args.front()) + ") = 1\n";
  return std::nullopt;
}

/// Sizes that the hyperparameters of a sample call say, as in `model dots(n: int)(x: [n])`.
Sizes sizesOf(const ast::Parameters &hyperparameters, const SampleSizes &series) {
  Sizes sizes(series);
  size_t counts = 0;
  for (auto &parameter : hyperparameters.items) {
    auto *number = ast::dynCast<ast::NumberExpr>(parameter.init.get());
    auto *type = ast::dynCast<ast::NamedType>(parameter.type.get());
    int sample = parameter.init ? 0 : sampleCounts[counts++ % std::size(sampleCounts)];
    if (number && number->isInteger)
      sizes.fix(parameter.name.text, std::atoi(print(*number).c_str()));
    else if (!parameter.init && type && type->name.text == "int")
      sizes.fix(parameter.name.text, sample);
  }
  return sizes;
}

/// A train whose loss calls a function or model on one synthetic example.
std::optional<std::string> sampleOnData(const std::string &instance, const std::string &callee,
                                        const ast::Parameters &inputs, Sizes sizes) {
  std::string fields, args;
  for (auto &input : inputs.items) {
    // Which of those that may be missing a call must give is known to its author alone.
    if (ast::dynCast<ast::NoneExpr>(input.init.get()))
      return std::nullopt;
    auto *type = ast::dynCast<ast::NamedType>(input.type.get());
    if (type && type->name.text == "model") {
      args += (args.empty() ? "" : ", ") + std::string("sample_net");
      continue;
    }
    auto field = input.type ? sampleField(input, sizes) : std::nullopt;
    if (!field) {
      if (input.init)
        continue;
      return std::nullopt;
    }
    fields += *field;
    args += (args.empty() ? "" : ", ") + input.name.text + "=" + input.name.text;
  }
  if (fields.empty())
    fields = "  unused_field: real ~ normal()\n";
  std::string text = leavesModel;
  text += "data sample_data = synthetic(4) {\n" + fields + "}\n";
  text += "train sample_train {\n  data sample_data batch 2\n  model sample_net = sample_leaves()\n" + instance;
  // A function may give anything, a distribution or a function too.
  std::string use = instance.empty() ? "(sample_value -> 0.0)" : "sum";
  text += "  loss sample_net() + " + use + "(" + callee + "(" + args + "))\n  optimizer sgd(0.1)\n  steps 1\n}\n";
  return text;
}

/// A train that stands on a set and reads none of it: its fields and its split are elaborated all the same.
std::optional<std::string> sampleOfData(const ast::DataDecl &data) {
  auto call = sampleCall(data.name.text, data.parameters);
  if (!call)
    return std::nullopt;
  std::string set = data.parameters.items.empty() ? data.name.text : *call;
  for (auto &part : data.split)
    if (part.name && part.name.text != "seed") {
      set += "." + part.name.text;
      break;
    }
  return std::string(leavesModel) + "train sample_train {\n  data " + set +
         " batch 1\n  model sample_net = sample_leaves()\n  loss sample_net()\n  optimizer sgd(0.1)\n  steps 1\n}\n";
}

} // namespace

std::optional<std::string> sampleTrain(const ast::Decl &decl, const SampleSizes &sizes) {
  if (auto *rule = ast::dynCast<ast::RuleDecl>(&decl))
    return sampleRule(*rule);
  if (auto *model = ast::dynCast<ast::ModelDecl>(&decl)) {
    auto call = sampleCall(model->name.text, model->hyperparameters);
    return call ? sampleOnData("  model sample_model = " + *call + "\n", "sample_model", model->inputs, sizesOf(model->hyperparameters, sizes)) : std::nullopt;
  }
  if (auto *data = ast::dynCast<ast::DataDecl>(&decl))
    return sampleOfData(*data);
  auto *fn = ast::dynCast<ast::FnDecl>(&decl);
  if (!fn || fn->parameters.items.empty())
    return std::nullopt;
  return sampleOnData("", fn->name.text, fn->parameters, sizesOf(fn->parameters, sizes));
}

std::vector<std::pair<std::string, std::string>> sampleArguments(const ast::Parameters &parameters, int number) {
  std::vector<std::pair<std::string, std::string>> arguments;
  for (auto &parameter : parameters.items)
    if (!parameter.init)
      arguments.emplace_back(parameter.name.text, sampleValue(parameter, number).value_or(""));
  return arguments;
}

std::optional<std::string> sampleForRule(const std::string &rule, const Library &library) {
  size_t on = rule.find(" on [");
  if (on == std::string::npos || rule.back() != ']')
    return std::nullopt;
  std::string name = rule.substr(0, on), rest = rule.substr(on + 4), parameters, sum;
  for (int number = 0; !rest.empty(); ++number) {
    size_t end = rest.find(']') + 1;
    std::string leaf = "W" + std::to_string(number);
    parameters += "  param " + leaf + ": " + rest.substr(0, end) + " = 0\n";
    sum += (number ? " + sum(" : "sum(") + leaf + ")";
    rest.erase(0, end);
    size_t next = rest.find('[');
    if (!rest.empty() && (next == std::string::npos || rest.find_first_not_of(", ") != next))
      return std::nullopt;
    rest.erase(0, next);
  }
  auto *decl = library.find(name.substr(0, name.find('(')));
  auto *known = decl ? ast::dynCast<ast::RuleDecl>(decl) : nullptr;
  std::string call = name + (name.back() == ')' ? "" : "()");
  bool isClip = known && known->rule == ast::RuleKind::Clip;
  std::string clauses = isClip ? "  clip " + call + "\n  optimizer sgd(0.1)\n" : "  optimizer " + call + "\n";
  // The loss only names the leaves: the rule is emitted on gradients that are given.
  return "model sample_leaves()() -> real {\n" + parameters + "  return " + sum + "\n}\n" +
         "train sample_rule {\n  model sample_net = sample_leaves()\n  loss sample_net()\n" + clauses + "  steps 1\n}\n";
}

const ast::TrainDecl *Samples::add(const std::string &text, SourceManager &sources, DiagnosticEngine &diags) {
  auto program = parse(sources.add(path, text), diags);
  if (!program)
    return nullptr;
  programs.clear();
  programs.push_back(std::move(program));
  for (auto &decl : programs.back()->declarations)
    if (auto *train = ast::dynCast<ast::TrainDecl>(decl.get()))
      return train;
  return nullptr;
}

const ast::Expr *Samples::addValue(const std::string &text, SourceManager &sources, DiagnosticEngine &diags) {
  auto program = parse(sources.add(path, "value = " + text + "\n"), diags);
  if (!program)
    return nullptr;
  values.push_back(std::move(program));
  auto *constant = ast::cast<ast::ConstantDecl>(values.back()->declarations.front().get());
  return ast::cast<ast::LetStmt>(constant->binding.get())->value.get();
}

const ast::Decl *Samples::find(std::string_view name) const {
  for (auto &program : programs)
    for (auto &decl : program->declarations)
      if (const ast::Ident *declared = ast::declaredName(*decl); declared && declared->text == name)
        return decl.get();
  return nullptr;
}

} // namespace dyn
