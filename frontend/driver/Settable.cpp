#include "frontend/driver/Settable.h"

#include "runtime/Formula.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/raw_ostream.h"

namespace dyn {

using standalone::Hyperparameter;

Elaboration elaborateForBuild(Workspace &work, const Library &library, const elab::TrainRequest &request,
                              DiagnosticEngine &own) {
  elab::Elaborator elaborator(work.mlirContext(), own, library, work.globals);
  auto elaborated = elab::TrainElaborator(elaborator).run(request);
  if (own.hasErrors())
    return {};
  return {std::move(elaborated), std::move(elaborator.decisions)};
}

static bool mentions(const std::string &formula, const std::string &name) {
  return (formula + " ").find("$" + name + " ") != std::string::npos;
}

namespace {

/// Names and values of all hyperparameters, as formulas take them.
struct Variables {
  std::vector<std::string> names;
  std::vector<double> values;
};

/// A train as text and as numbers: the two parts that must come out as foretold.
struct Form {
  std::string text;
  std::vector<plan::Number> numbers;
};

} // namespace

static double valueOf(const std::vector<DynFormulaCode> &codes, const Variables &variables) {
  return dyn_formula_value(codes.data(), int64_t(codes.size()), variables.values.data());
}

static Form formOf(const elab::Elaborated &train) {
  Form form;
  llvm::raw_string_ostream stream(form.text);
  // Places of the spec may differ: a value that is given has none.
  train.module.get()->print(stream, mlir::OpPrintingFlags().useLocalScope());
  plan::Plan plan = train.plan;
  form.numbers = std::move(plan.numbers);
  plan.numbers.clear();
  form.text += plan::toJson(plan);
  return form;
}

/// Whether each number is what its formula gives, bit by bit; one without a formula must not have moved.
static bool foretold(const Form &form, const Form &base, const Variables &variables) {
  auto same = [](double a, double b) { return llvm::bit_cast<uint64_t>(a) == llvm::bit_cast<uint64_t>(b); };
  if (form.text != base.text || form.numbers.size() != base.numbers.size())
    return false;
  for (auto [now, before] : llvm::zip(form.numbers, base.numbers)) {
    auto codes = compileFormula(before.formula, variables.names);
    if (!same(codes ? valueOf(*codes, variables) : before.value, now.value))
      return false;
  }
  return true;
}

/// Two other values; 0 and 1 are left for numbers that are nothing special.
static std::pair<double, double> otherValues(const Hyperparameter &each) {
  if (each.whole)
    return {each.value + 1, each.value + 2};
  return each.value == 0 ? std::pair(0.5, 0.25) : std::pair(each.value * 0.5, each.value * 0.75);
}

static elab::TrainRequest withValue(elab::TrainRequest request, const Hyperparameter &each, double value) {
  llvm::erase_if(request.arguments, [&](auto &argument) { return argument.first == each.name; });
  elab::Elem elem = each.whole ? elab::Elem::Int : elab::Elem::Real;
  request.arguments.emplace_back(each.name, elab::Value(elab::Const{value, elem, true, ""}));
  return request;
}

/// Takes away formulas that do not give their number now, and fixes what they hang on.
static void dropWrongFormulas(plan::Plan &plan, std::vector<Hyperparameter> &list, const Variables &variables) {
  for (plan::Number &number : plan.numbers) {
    auto codes = compileFormula(number.formula, variables.names);
    if (number.formula.empty() || (codes && valueOf(*codes, variables) == number.value))
      continue;
    for (Hyperparameter &each : list)
      each.fixed |= mentions(number.formula, each.name);
    number.formula.clear();
  }
}

std::vector<Hyperparameter> settableOf(Workspace &work, const Library &library, const elab::TrainRequest &request,
                                       Elaboration &base) {
  std::vector<Hyperparameter> list;
  Variables variables;
  for (auto &parameter : request.decl->parameters.items) {
    elab::Binding *binding = base.train->scope->find(parameter.name.text);
    auto *known = binding ? binding->value.as<elab::Const>() : nullptr;
    if (!known || known->elem == elab::Elem::Bool)
      continue;
    list.push_back({parameter.name.text, known->number, known->elem == elab::Elem::Int, false});
    variables.names.push_back(parameter.name.text);
    variables.values.push_back(known->number);
  }
  dropWrongFormulas(base.train->plan, list, variables);
  Form form = formOf(*base.train);
  for (auto [i, each] : llvm::enumerate(list)) {
    each.fixed |= llvm::any_of(base.decisions, [&](auto &decision) { return mentions(decision, each.name); });
    auto [one, two] = otherValues(each);
    for (double value : {one, two}) {
      if (each.fixed)
        break;
      DiagnosticEngine quiet(work.sources);
      Elaboration other = elaborateForBuild(work, library, withValue(request, each, value), quiet);
      Variables at = variables;
      at.values[i] = value;
      each.fixed = !other.train || !foretold(formOf(*other.train), form, at);
    }
  }
  return list;
}

} // namespace dyn
