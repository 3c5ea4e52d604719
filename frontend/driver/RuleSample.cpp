#include "frontend/driver/RuleSample.h"

#include "frontend/driver/Samples.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

namespace dyn {
namespace {

/// "64, 32": sizes of which none is 0.
bool areSizes(llvm::StringRef text) {
  return llvm::all_of(llvm::split(text, ','), [](llvm::StringRef word) {
    int64_t size = 0;
    return !word.trim().getAsInteger(10, size) && size > 0;
  });
}

/// "[64, 32] [32]" as two shapes; nothing for other texts.
std::optional<std::vector<std::string>> shapesIn(const std::string &text) {
  std::vector<std::string> shapes;
  for (size_t at = 0; at < text.size();) {
    size_t open = text.find_first_not_of(" ,", at);
    if (open == std::string::npos)
      break;
    size_t close = text.find(']', open);
    if (close == std::string::npos || text[open] != '[' || !areSizes(text.substr(open + 1, close - open - 1)))
      return std::nullopt;
    shapes.push_back(text.substr(open, close + 1 - open));
    at = close + 1;
  }
  return shapes.empty() ? std::nullopt : std::optional(shapes);
}

bool isNumber(const ast::Expr &expr) {
  auto *unary = ast::dynCast<ast::UnaryExpr>(&expr);
  return ast::isa<ast::NumberExpr>(unary && unary->op == ast::UnaryOp::Neg ? unary->operand.get() : &expr);
}

/// The value that each parameter gets: what the call says, or its default.
bool bindParameters(const ast::RuleDecl &decl, const ast::CallExpr *call, RuleRequest &request,
                    DiagnosticEngine &diags) {
  size_t positional = 0;
  std::vector<const ast::Argument *> used;
  for (auto &parameter : decl.parameters.items) {
    const ast::Expr *value = parameter.init.get();
    for (size_t i = 0; call && i < call->args.size(); ++i) {
      const ast::Argument &argument = call->args[i];
      bool named = argument.name && argument.name.text == parameter.name.text;
      if (!named && (argument.name || i != positional))
        continue;
      positional += !named;
      value = argument.value.get();
      used.push_back(&argument);
      break;
    }
    if (!value)
      continue; // elaboration says that it is missing
    auto *type = ast::dynCast<ast::NamedType>(parameter.type.get());
    bool plain = !parameter.type || (type && (type->name.text == "real" || type->name.text == "int"));
    request.parameters.push_back(
        {parameter.name.text, type ? type->name.text : "", print(*value), plain && isNumber(*value)});
  }
  for (size_t i = 0; call && i < call->args.size(); ++i)
    if (std::find(used.begin(), used.end(), &call->args[i]) == used.end()) {
      std::vector<std::string> names;
      for (auto &parameter : decl.parameters.items)
        names.push_back(parameter.name.text);
      std::string given = call->args[i].name ? call->args[i].name.text : print(*call->args[i].value);
      auto message = diags.report(Diag::unknown_argument, Span(), decl.name.text, given);
      if (std::string near = nearest(given, names); !near.empty())
        message.help("did you mean `" + near + "`?");
      return false;
    }
  return true;
}

/// Null after a report.
const ast::RuleDecl *findOptimizer(const std::string &name, const Library &library, DiagnosticEngine &diags) {
  const ast::Decl *found = library.find(name);
  auto *decl = found ? ast::dynCast<ast::RuleDecl>(found) : nullptr;
  if (decl && decl->rule == ast::RuleKind::Optimizer)
    return decl;
  auto message = diags.report(Diag::build_rule, Span(), name, "is no optimizer");
  if (auto near = nearest(name, library.names()); !found && !near.empty())
    message.help("did you mean `" + near + "`?");
  return nullptr;
}

} // namespace

std::optional<RuleRequest> readRuleRequest(const std::string &text, const Library &library, SourceManager &sources,
                                           DiagnosticEngine &diags) {
  RuleRequest request;
  size_t on = text.find(" on ");
  std::string written = text.substr(0, on);
  if (on != std::string::npos) {
    auto shapes = shapesIn(text.substr(on + 4));
    if (!shapes) {
      diags.report(Diag::build_rule_form, Span(), text);
      return std::nullopt;
    }
    request.shapes = std::move(*shapes);
  }
  Samples samples;
  DiagnosticEngine own(sources); // its places are in a text that nobody sees
  const ast::Expr *expr = samples.addValue(written, sources, own);
  if (!expr) {
    auto message = diags.report(Diag::build_rule_form, Span(), text);
    if (!own.all().empty())
      message.note(own.all().front().text);
    return std::nullopt;
  }
  auto *call = ast::dynCast<ast::CallExpr>(expr);
  auto *name = ast::dynCast<ast::NameExpr>(call ? call->callee.get() : expr);
  if (!name) {
    diags.report(Diag::build_rule_form, Span(), text);
    return std::nullopt;
  }
  request.name = name->name;
  const ast::RuleDecl *decl = findOptimizer(name->name, library, diags);
  return decl && bindParameters(*decl, call, request, diags) ? std::optional(request) : std::nullopt;
}

std::string sampleOfRule(const RuleRequest &rule, int64_t count, const std::string &precision) {
  std::vector<std::string> shapes = rule.shapes;
  if (shapes.empty())
    shapes = {"[" + std::to_string(count) + "]"};
  std::string leaves, sum, hyper, arguments;
  for (size_t i = 0; i < shapes.size(); ++i) {
    std::string leaf = "w" + std::to_string(i);
    leaves += "  param " + leaf + ": " + shapes[i] + " = 0\n";
    sum += (i ? " + sum(" : "sum(") + leaf + ")";
  }
  for (const RuleRequest::Parameter &each : rule.parameters) {
    arguments += (arguments.empty() ? "" : ", ") + each.name + "=" + (each.number ? each.name : each.value);
    if (!each.number)
      continue;
    std::string type = each.type.empty() ? "" : ": " + each.type;
    hyper += (hyper.empty() ? "(" : ", ") + each.name + type + " = " + each.value;
  }
  // The loss only names the leaves: gradients are given.
  return "model sample_leaves()() -> real {\n" + leaves + "  return " + sum + "\n}\n" +
         "train sample_rule" + hyper + (hyper.empty() ? "" : ")") + " {\n" +
         "  model sample_model = sample_leaves()\n  loss sample_model()\n" +
         "  optimizer " + rule.name + "(" + arguments + ")\n" +
         "  steps 1\n  precision " + precision + "\n}\n";
}

} // namespace dyn
