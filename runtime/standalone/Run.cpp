//===- Run.cpp ------------------------------------------------------------===//
#include "runtime/standalone/Run.h"

#include "runtime/Ending.h"
#include "runtime/Formula.h"
#include "runtime/Session.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace dyn::standalone {
namespace {

void complain(const std::string &message) { std::fprintf(stderr, "error: %s\n", message.c_str()); }

std::string listed(const Manifest &manifest) {
  std::string list;
  for (const Hyperparameter &each : manifest.hyperparameters)
    if (!each.fixed)
      list += (list.empty() ? "`" : ", `") + each.name + "`";
  return list.empty() ? "none can be set" : "it has " + list;
}

std::optional<double> numberOf(const std::string &text) {
  char *end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  bool whole = !text.empty() && *end == '\0' && !std::isspace(static_cast<unsigned char>(text[0]));
  return whole ? std::optional(value) : std::nullopt;
}

EntryLookup lookupOf(const DynProgram &program) {
  return [&program](const std::string &name) -> Entry {
    for (int64_t i = 0; i < program.entryCount; ++i)
      if (name == program.entries[i].name)
        return program.entries[i].entry;
    return {};
  };
}

/// Claims over the last values of metrics and the settings; false when one does not hold.
class Claims {
public:
  Claims(const Manifest &manifest, Settings known, const Session &session)
      : manifest(manifest), known(std::move(known)) {
    for (auto &[name, series] : session.series())
      if (!series.values.empty()) {
        metrics.push_back({name, series.values.back()});
        this->known.names.insert(this->known.names.begin(), name); // a metric stands before a hyperparameter
        this->known.values.insert(this->known.values.begin(), series.values.back());
      }
  }

  bool check(bool quiet) const {
    bool held = true;
    for (const Claim &claim : manifest.claims) {
      if (claim.formula.empty()) {
        std::fprintf(stderr, "note: not checked here, only by `dync run`: expect %s\n", claim.text.c_str());
        continue;
      }
      auto codes = compileFormula(claim.formula, known.names);
      bool holds = codes && dyn_formula_value(codes->data(), int64_t(codes->size()), known.values.data()) != 0;
      std::string found = valuesIn(claim.formula);
      if (!holds)
        complain("expected `" + claim.text + "`" + (found.empty() ? "" : ": " + found));
      else if (!quiet)
        std::printf("  holds: %s%s\n", claim.text.c_str(), found.empty() ? "" : ("   (" + found + ")").c_str());
      held &= holds;
    }
    std::fflush(stdout);
    return held;
  }

private:
  std::string valuesIn(const std::string &formula) const {
    std::string text;
    for (auto &[name, value] : metrics) {
      if ((formula + " ").find("$" + name + " ") == std::string::npos)
        continue;
      char number[40];
      std::snprintf(number, sizeof number, "%.6g", value);
      text += (text.empty() ? "`" : ", `") + name + "` is " + number;
    }
    return text;
  }

  const Manifest &manifest;
  Settings known;
  std::vector<std::pair<std::string, double>> metrics;
};

/// Says how a run ended; its exit status but for claims.
int conclude(const Session &session, Outcome &outcome, bool quiet) {
  checkLastUpdate(session, outcome);
  if (outcome.status != DYN_OK) {
    complain(outcome.message);
    if (const plan::Leaf *leaf = outcome.status == DYN_NOT_FINITE ? notFiniteLeaf(session) : nullptr)
      std::fprintf(stderr, "note: %s\n", describeLeaf(*leaf, outcome).c_str());
  } else if (!quiet) {
    std::printf("%s\n", summary(session, outcome).c_str());
    std::fflush(stdout);
  }
  if (!outcome.output.isOk())
    complain(outcome.output.message());
  return outcome.exitCode();
}

/// The plan with everything that the options say.
Expected<plan::Plan> planFor(const DynProgram &program, const Manifest &manifest, const Settings &settings,
                             const Options &options) {
  plan::Plan plan;
  std::string why;
  if (!plan::fromJson(program.plan, plan, why))
    return Status::error("the program is damaged: " + why + "; build it again");
  apply(settings, plan);
  if (options.seed) {
    plan.seeded = true;
    plan.seed = *options.seed;
  }
  if (!options.data.empty())
    for (plan::Source &source : plan.sources)
      for (plan::RawInput &input : source.inputs)
        if (!input.file.empty())
          input.file = rerooted(input.file, manifest.specFolder, options.data);
  return plan;
}

} // namespace

Expected<Settings> settingsOf(const Manifest &manifest, const std::vector<std::string> &sets) {
  Settings settings;
  for (const Hyperparameter &each : manifest.hyperparameters) {
    settings.names.push_back(each.name);
    settings.values.push_back(each.value);
  }
  for (const std::string &set : sets) {
    size_t equals = set.find('=');
    if (equals == std::string::npos || equals == 0)
      return Status::error("`--set` takes NAME=VALUE, not `" + set + "`");
    std::string name = set.substr(0, equals), text = set.substr(equals + 1);
    auto found = std::find(settings.names.begin(), settings.names.end(), name);
    auto isBuiltIn = [&](const BuiltIn &each) { return each.name == name; };
    if (std::any_of(manifest.builtIn.begin(), manifest.builtIn.end(), isBuiltIn))
      return Status::error("`" + name + "` is built in; make another program: dync build --set " + set);
    if (found == settings.names.end())
      return Status::error("there is no hyperparameter `" + name + "`; " + listed(manifest));
    auto at = static_cast<size_t>(found - settings.names.begin());
    const Hyperparameter &each = manifest.hyperparameters[at];
    if (each.fixed)
      return Status::error("`" + name + "` is built in; make another program: dync build --set " + set);
    auto value = numberOf(text);
    if (!value || std::isnan(*value) || (each.whole && *value != std::floor(*value)))
      return Status::error("`" + name + "` takes a " + (each.whole ? "whole " : "") + "number, not `" + text + "`");
    settings.values[at] = *value;
  }
  return settings;
}

void apply(const Settings &settings, plan::Plan &plan) {
  for (plan::Number &number : plan.numbers)
    if (auto codes = compileFormula(number.formula, settings.names))
      number.value = dyn_formula_value(codes->data(), int64_t(codes->size()), settings.values.data());
}

std::string rerooted(const std::string &file, const std::string &specFolder, const std::string &root) {
  std::filesystem::path path(file), within = path.lexically_relative(specFolder);
  bool inside = !within.empty() && *within.begin() != "..";
  return (std::filesystem::path(root) / (inside ? within : path.filename())).string();
}

int run(const DynProgram &program, const Options &options) {
  Manifest manifest = manifestFromJson(program.manifest);
  Expected<Settings> settings = settingsOf(manifest, options.sets);
  if (!settings)
    return complain(settings.status().message()), 1;
  Expected<plan::Plan> plan = planFor(program, manifest, *settings, options);
  if (!plan)
    return complain(plan.status().message()), 1;
  SessionOptions session;
  session.threads = options.threads;
  session.directory = options.out;
  session.progress = !options.quiet;
  session.catchInterrupt = true;
  auto created = Session::create(std::move(*plan), lookupOf(program), std::move(session));
  if (!created)
    return complain(created.status().message()), 1;
  if (Status loaded = (*created)->load(); !loaded.isOk()) {
    complain(loaded.message());
    if (options.data.empty())
      std::fprintf(stderr, "note: `--data DIR` says where the data is now\n");
    return 1;
  }
  Outcome outcome = (*created)->run();
  int status = conclude(**created, outcome, options.quiet);
  return status == 0 && !Claims(manifest, *settings, **created).check(options.quiet) ? 1 : status;
}

} // namespace dyn::standalone
