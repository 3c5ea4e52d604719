#include "frontend/repl/Commands.h"

#include "frontend/AstWalk.h"
#include "frontend/driver/Checker.h"
#include "frontend/driver/Commands.h"
#include "frontend/repl/Chart.h"
#include "frontend/repl/Show.h"
#include "frontend/repl/Terminal.h"

#include <cstdio>
#include <sstream>

namespace dyn::repl {

// clang-format off
const Commands::Row Commands::table[] = {
    {"continue", "continue [RUN] [N steps]", "goes on with a run that is paused", &Commands::resume},
    {"set", "set NAME VALUE", "changes a number of the paused run from its next step on; nothing is compiled", &Commands::set},
    {"stop", "stop [RUN]", "ends a run that is paused", &Commands::stop},
    {":pause", ":pause N", "the next run pauses after N steps, as Ctrl-C would do it", &Commands::pause},
    {":ir", ":ir dyn|nd|fused|kernels|llvm [TRAIN]", "prints a train at a stage of compilation", &Commands::ir},
    {":plan", ":plan [TRAIN]", "prints parameters, memory, kernels and schedules of a train", &Commands::plan},
    {":time", ":time", "prints milliseconds of each stage of the last entry", &Commands::time},
    {":plot", ":plot METRIC …", "draws metrics of a run, `loss` or `r.test.accuracy`", &Commands::plot},
    {":load", ":load FILE", "declares what a file declares, anew if it was loaded before", &Commands::load},
    {":list", ":list", "lists what this session has", &Commands::list},
    {":help", ":help [NAME]", "explains a command, a function, a rule", &Commands::help},
    {":quit", ":quit", "leaves; so does Ctrl-D", &Commands::quit},
};
// clang-format on

const Commands::Row *Commands::find(const std::string &name) {
  for (const Row &row : table)
    if (name == row.name)
      return &row;
  return nullptr;
}

std::vector<std::string> Commands::names() {
  std::vector<std::string> list;
  for (const Row &row : table)
    list.push_back(row.name);
  return list;
}

static std::vector<std::string> wordsOf(const std::string &text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;)
    words.push_back(word);
  return words;
}

bool Commands::isCommand(const std::string &text) {
  std::vector<std::string> words = wordsOf(text);
  if (words.empty())
    return false;
  if (words.front().front() == ':')
    return true;
  if (!find(words.front()))
    return false;
  // A value or a definition of that name goes on with a mark.
  return words.size() == 1 ? words.front() != "set"
                           : std::isalnum(static_cast<unsigned char>(words[1].front())) || words[1].front() == '_';
}

bool Commands::run(const std::string &text) {
  Words words = wordsOf(text);
  const Row *row = find(words.front());
  if (row)
    return (this->*row->run)(words);
  auto report = repl.work.diags.report(Diag::unknown_command, Span(), words.front());
  if (std::string near = nearest(words.front(), names()); !near.empty())
    report.help("did you mean `" + near + "`?");
  else
    report.help("`:help` lists all");
  return false;
}

bool Commands::badForm(const Row &row) {
  repl.work.diags.report(Diag::command_form, Span(), row.name, row.form);
  return false;
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

static std::optional<int64_t> wholeNumber(const std::string &text) {
  if (text.empty() || text.size() > 15 || text.find_first_not_of("0123456789_") != std::string::npos)
    return std::nullopt;
  std::string digits = text;
  std::erase(digits, '_');
  return digits.empty() ? std::nullopt : std::optional<int64_t>(std::stoll(digits));
}

bool Commands::resume(const Words &words) {
  std::string name;
  std::optional<int64_t> steps;
  for (size_t i = 1; i < words.size(); ++i) {
    auto number = wholeNumber(words[i]);
    bool isCount = number && *number > 0 && !steps;
    bool isUnit = steps && i + 1 == words.size() && (words[i] == "steps" || words[i] == "step");
    bool isName = !number && i == 1;
    if (isCount)
      steps = number;
    else if (!isUnit && isName)
      name = words[i];
    else if (!isUnit)
      return badForm(*find("continue"));
  }
  return repl.runs.resume(name, steps);
}

bool Commands::set(const Words &words) {
  if (words.size() < 3)
    return badForm(*find("set"));
  std::string value;
  for (size_t i = 2; i < words.size(); ++i)
    value += (i == 2 ? "" : " ") + words[i];
  return repl.runs.set(words[1], value, repl.nextName());
}

bool Commands::stop(const Words &words) {
  return words.size() > 2 ? badForm(*find("stop")) : repl.runs.stop(words.size() == 2 ? words[1] : "");
}

bool Commands::pause(const Words &words) {
  auto steps = words.size() == 2 ? wholeNumber(words[1]) : std::nullopt;
  if (!steps)
    return badForm(*find(":pause"));
  repl.runs.holdNext(*steps);
  return true;
}

static bool isNumberOverTime(const elab::Series &series) { return series.axes.size() == 1 && series.shape.empty(); }

bool Commands::plot(const Words &words) {
  if (words.size() < 2)
    return badForm(*find(":plot"));
  for (size_t i = 1; i < words.size(); ++i) {
    size_t dot = words[i].find('.');
    LiveRun *run = dot == std::string::npos ? nullptr : repl.runs.findQuietly(words[i].substr(0, dot));
    std::string metric = run ? words[i].substr(dot + 1) : words[i];
    if (!run && !(run = repl.runs.find("")))
      return false;
    auto result = run->result();
    auto it = result->series.find(metric);
    if (it == result->series.end() || !isNumberOverTime(*it->second)) {
      std::vector<std::string> known;
      for (auto &[name, series] : result->series)
        if (isNumberOverTime(*series))
          known.push_back(name);
      auto report = repl.work.diags.report(Diag::not_plotted, Span(), words[i]);
      if (std::string near = nearest(metric, known); !near.empty())
        report.help("did you mean `" + near + "`?");
      return false;
    }
    std::string title = run->name + "." + metric + " over " + it->second->axes.back().name;
    std::fputs(chart(title, it->second->axes.back().labels, it->second->values, terminalWidth(), 10).c_str(), stdout);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Looking into the compiler
//===----------------------------------------------------------------------===//

/// The train of that name; for an empty name that of the present run, or the only one declared. Null after a report.
const ast::TrainDecl *Commands::trainOf(const std::string &name) {
  DiagnosticEngine &diags = repl.work.diags;
  if (!name.empty()) {
    if (auto *train = ast::dynCast<ast::TrainDecl>(repl.definitions.find(name)))
      return train;
    auto report = diags.report(Diag::nothing_to_run, Span(), "there is no train `" + name + "`");
    if (std::string near = nearest(name, repl.definitions.own()); !near.empty())
      report.help("did you mean `" + near + "`?");
    return nullptr;
  }
  if (LiveRun *run = repl.runs.findQuietly(""))
    return run->request.decl;
  const ast::TrainDecl *last = nullptr;
  for (const std::string &one : repl.definitions.own())
    if (auto *train = ast::dynCast<ast::TrainDecl>(repl.definitions.find(one)))
      last = train;
  if (!last)
    diags.report(Diag::nothing_to_run, Span(), "this session has no train").help("`:load FILE` declares those of a file");
  return last;
}

bool Commands::ir(const Words &words) {
  static const std::vector<std::string> stages = {"dyn", "nd", "fused", "kernels", "llvm"};
  if (words.size() < 2 || words.size() > 3 || std::find(stages.begin(), stages.end(), words[1]) == stages.end())
    return badForm(*find(":ir"));
  const ast::TrainDecl *train = trainOf(words.size() == 3 ? words[2] : "");
  if (!train)
    return false;
  elab::TrainRequest request;
  request.decl = train;
  return emitStage(request, words[1], repl.work.mlirContext(), repl.definitions, repl.work.globals, repl.work.diags);
}

bool Commands::plan(const Words &words) {
  if (words.size() > 2)
    return badForm(*find(":plan"));
  const ast::TrainDecl *train = trainOf(words.size() == 2 ? words[1] : "");
  if (!train)
    return false;
  Checker checker(repl.work.sources, repl.work.diags, repl.definitions, repl.work.mlirContext(), repl.work.globals,
                  /*isQuiet=*/false);
  checker.check(*train);
  return !repl.work.diags.hasErrors();
}

bool Commands::time(const Words &words) {
  if (words.size() > 1)
    return badForm(*find(":time"));
  double sum = 0;
  for (const Timing &stage : repl.timings)
    sum += stage.milliseconds;
  std::printf("%s%8.2f ms  in all\n", describe(repl.timings).c_str(), sum);
  return true;
}

//===----------------------------------------------------------------------===//
// The session
//===----------------------------------------------------------------------===//

bool Commands::load(const Words &words) {
  if (words.size() != 2)
    return badForm(*find(":load"));
  std::string path = words[1];
  if (path.size() > 1 && path.front() == '"' && path.back() == '"')
    path = path.substr(1, path.size() - 2);
  return repl.load(path);
}

bool Commands::list(const Words &words) {
  if (words.size() > 1)
    return badForm(*find(":list"));
  for (const std::string &name : repl.definitions.own())
    std::printf("%s\n", signature(*repl.definitions.find(name), repl.work.sources).c_str());
  for (auto &[name, binding] : repl.work.globals->names)
    if (!repl.runs.findQuietly(name))
      std::printf("%s = %s\n", name.c_str(), show(binding.value, repl.work.sources, name.size() + 3).c_str());
  for (const std::string &name : repl.runs.all()) {
    LiveRun &run = *repl.runs.findQuietly(name);
    std::printf("run %s = %s: %s after step %lld of %lld\n", name.c_str(), run.variant.c_str(),
                run.isOver() ? "over" : "paused", static_cast<long long>(run.step()), static_cast<long long>(run.total()));
  }
  return true;
}

/// The row of Builtins.def that a function has; empty: it has none.
static std::string builtinHelp(const std::string &name) {
  static const std::pair<const char *, const char *> rows[] = {
#define BUILTIN(name, least, most, named, doc) {#name, doc},
#include "frontend/Builtins.def"
  };
  for (auto &[known, doc] : rows)
    if (name == known)
      return doc;
  return "";
}

bool Commands::helpOnName(const std::string &name) {
  if (const ast::Decl *decl = repl.definitions.find(name)) {
    std::printf("%s\n%s%s", signature(*decl, repl.work.sources).c_str(), decl->doc.c_str(), decl->doc.empty() ? "" : "\n");
    return true;
  }
  if (std::string doc = builtinHelp(name); !doc.empty()) {
    std::printf("%s: %s\n", name.c_str(), doc.c_str());
    return true;
  }
  std::vector<std::string> known = repl.definitions.names();
  for (const std::string &command : names())
    known.push_back(command);
  auto report = repl.work.diags.report(Diag::no_topic, Span(), name);
  if (std::string near = nearest(name, known); !near.empty())
    report.help("did you mean `" + near + "`?");
  return false;
}

bool Commands::help(const Words &words) {
  if (words.size() > 2)
    return badForm(*find(":help"));
  if (words.size() == 2) {
    const Row *row = find(words[1]) ? find(words[1]) : find(":" + words[1]);
    if (!row)
      return helpOnName(words[1]);
    std::printf("%s\n  %s\n", row->form, row->help);
    return true;
  }
  std::printf("Declarations, values, `run NAME = TRAIN(…)`, `expect CLAIM`, and:\n");
  for (const Row &row : table)
    std::printf("  %-40s %s\n", row.form, row.help);
  std::printf("Ctrl-C pauses a run. An entry goes on while it is not complete; two empty lines give it up.\n");
  return true;
}

bool Commands::quit(const Words &words) {
  if (words.size() > 1)
    return badForm(*find(":quit"));
  repl.over = true;
  return true;
}

} // namespace dyn::repl
