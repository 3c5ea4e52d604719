//===- Sweeps.cpp - `sweep s = … with NAME in …` ---------------------------===//
#include "frontend/elaborate/ExpectEvaluator.h"

#include <set>

namespace dyn::elab {

/// Members of one sweep: each has a folder and an entry in the index.
static constexpr int64_t mostMembers = 100'000;

static bool fitsSweep(const std::string &axes, int64_t members, DiagnosticEngine &diags, Span span) {
  if (members <= mostMembers)
    return true;
  diags.report(Diag::sweep_too_large, span, axes, members, mostMembers)
      .help("leave values out: `" + axes.substr(0, axes.find(',')) + " in [0.1, 0.2]`, `seed in 0..8`");
  return false;
}

/// The values that a swept part names, one by one: what stands in brackets need not fit into an array.
bool ExpectEvaluator::sweptItems(const ast::ChangePart &part, Swept &swept, Frame &frame) {
  if (auto *list = ast::dynCast<ast::ArrayExpr>(part.value.get())) {
    for (auto &element : list->elements) {
      bool isWord = part.path.text() == "precision";
      Value value = isWord ? Value() : e.evaluate(*element, frame);
      if (!isWord && (value.isInvalid() || isSketch(value)))
        return false;
      value = forTrain(value, element->span);
      value.origin = element->span;
      swept.values.push_back(value);
      swept.written.push_back(element.get());
    }
    return true;
  }
  Value value = e.evaluate(*part.value, frame);
  if (value.isInvalid() || isSketch(value))
    return false;
  swept.written.push_back(part.value.get());
  if (auto *range = value.as<Range>()) {
    if (!fitsSweep(part.path.text(), range->high - range->low, diags, part.value->span))
      return false;
    for (int64_t i = range->low; i < range->high; ++i)
      swept.values.push_back(e.integer(i, part.value->span));
  } else {
    auto array = value.as<Tensor>() || value.as<std::shared_ptr<Series>>() ? e.host(value, part.value->span) : std::nullopt;
    if (!array || array->shape.size() != 1) {
      diags.report(Diag::swept_values, part.value->span, part.path.text(), describe(value))
          .help("write `" + part.path.text() + " in [" + print(*part.value) + "]`");
      return false;
    }
    if (!fitsSweep(part.path.text(), static_cast<int64_t>(array->values.size()), diags, part.value->span))
      return false;
    for (double number : array->values)
      swept.values.push_back(Value(Const{number, array->elem, array->elem == Elem::Real, ""}, part.value->span));
  }
  swept.written.resize(swept.values.size(), part.value.get());
  return true;
}

/// Numbers are their own labels, a string its text, a rule its name where no other of the list has it; anything else is
/// labelled as the spec writes it.
bool ExpectEvaluator::labelAxis(Swept &swept) {
  bool isNumeric = llvm::all_of(swept.values, [](const Value &value) {
    auto *c = value.as<Const>();
    return c && c->elem != Elem::Bool;
  });
  std::map<std::string, int> rules;
  for (const Value &value : swept.values)
    if (auto *rule = value.as<Rule>())
      ++rules[rule->decl->name.text];
  for (auto [value, written] : llvm::zip(swept.values, swept.written)) {
    if (isNumeric) {
      swept.axis.labels.push_back(value.as<Const>()->number);
      continue;
    }
    auto *text = value.as<Text>();
    auto *rule = value.as<Rule>();
    bool alone = rule && rules[rule->decl->name.text] == 1;
    swept.axis.words.push_back(text ? text->text : alone ? rule->decl->name.text : print(*written));
  }
  std::set<std::string> labels;
  for (int64_t i = 0; i < swept.axis.size(); ++i)
    if (!labels.insert(swept.axis.label(i)).second) {
      diags.report(Diag::swept_twice, swept.part->span, swept.part->path.text(), swept.axis.label(i)).help("leave one of them out");
      return false;
    }
  return true;
}

std::optional<ExpectEvaluator::Swept> ExpectEvaluator::swept(const ast::ChangePart &part, Frame &frame) {
  Swept swept;
  swept.part = &part;
  swept.axis.name = part.path.names.back().text;
  if (!sweptItems(part, swept, frame) || !labelAxis(swept))
    return std::nullopt;
  return swept;
}

bool ExpectEvaluator::checkAxes(const ast::RunStmt &stmt, llvm::ArrayRef<Swept> swept) {
  if (swept.empty() || llvm::any_of(swept, [](const Swept &one) { return one.axis.size() == 0; })) {
    diags.report(Diag::sweep_nothing, stmt.span, stmt.name.text)
        .help("name what does: `with seed in 0..8`; `run " + stmt.name.text + " = …` trains once");
    return false;
  }
  std::set<std::string> names = {"step", "epoch"};
  for (const Swept &one : swept)
    if (!names.insert(one.axis.name).second) {
      diags.report(Diag::swept_names, one.part->path.span, one.axis.name)
          .help("an axis has the last name of what is swept: give the train a hyperparameter with a name of its own");
      return false;
    }
  std::string axes;
  int64_t members = 1;
  for (const Swept &one : swept) {
    axes += (axes.empty() ? "" : ", ") + one.axis.name;
    members *= one.axis.size(); // each at most `mostMembers`
    if (!fitsSweep(axes, members, diags, stmt.span))
      return false;
  }
  return true;
}

bool ExpectEvaluator::setMember(const Swept &swept, int64_t position, TrainRequest &member) {
  member.runName += (member.runName.back() == '/' ? "" : ",") + swept.axis.name + "=" + swept.axis.label(position);
  const Value &value = swept.values[static_cast<size_t>(position)];
  bool isSeed = swept.part->path.text() == "seed" &&
                llvm::none_of(member.decl->parameters.items, [](auto &p) { return p.name.text == "seed"; });
  if (!isSeed)
    return changePart(*swept.part, value, *swept.written[static_cast<size_t>(position)], member);
  auto seed = e.knownInt(value, value.origin, "a seed");
  if (seed && *seed < 0)
    diags.report(Diag::cannot_be, value.origin, "a seed", *seed);
  if (!seed || *seed < 0)
    return false;
  member.seed = static_cast<uint64_t>(*seed);
  return true;
}

/// A run as a member of a sweep: called `s.at(rate=0.5, seed=1)`, with the numbers that made it what it is.
static std::shared_ptr<RunResult> asMember(const RunResult &run, const RunResult &sweep, int64_t number) {
  auto member = std::make_shared<RunResult>(run);
  Series place;
  place.axes = sweep.axes;
  member->name = sweep.name + ".at(" + place.place(number) + ")";
  for (const Axis &axis : llvm::reverse(sweep.axes)) {
    if (axis.words.empty() && axis.name != "seed")
      member->hyperparameters.try_emplace(axis.name, axis.labels[static_cast<size_t>(number % axis.size())]);
    number /= axis.size();
  }
  return member;
}

Value ExpectEvaluator::sweep(const ast::RunStmt &stmt, const TrainRequest &base, llvm::ArrayRef<Swept> swept, const Runs &runs) {
  SweepRequest request;
  request.name = base.runName;
  size_t count = 1;
  for (const Swept &one : swept) {
    request.axes.push_back(one.axis);
    count *= static_cast<size_t>(one.axis.size());
  }
  for (size_t member = 0; member < count; ++member) {
    TrainRequest made = base;
    made.runName += "/";
    size_t rest = count, variant = 0;
    for (const Swept &one : swept) {
      auto size = static_cast<size_t>(one.axis.size());
      rest /= size;
      size_t position = member / rest % size;
      bool hadSeed = made.seed.has_value();
      if (!setMember(one, static_cast<int64_t>(position), made))
        return {};
      if (made.seed.has_value() == hadSeed)
        variant = variant * size + position;
    }
    request.members.push_back(std::move(made));
    request.variants.push_back(variant);
  }
  auto result = std::make_shared<RunResult>();
  result->name = stmt.name.text;
  result->axes = request.axes;
  result->members = runs.sweep(request);
  if (result->members.empty())
    return {};
  for (size_t member = 0; member < result->members.size(); ++member) {
    result->members[member] = asMember(*result->members[member], *result, static_cast<int64_t>(member));
    remember(*result->members[member], request.members[member]);
  }
  result->isSketch = llvm::any_of(result->members, [](auto &member) { return member->isSketch; });
  return Value(result, stmt.span);
}

} // namespace dyn::elab
