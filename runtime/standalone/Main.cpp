//===- Main.cpp - a train as a program of its own -------------------------===//
//
// Linked by `dync build` to one compiled train. Options and exit statuses are
// those of `dync run`.
//
//===----------------------------------------------------------------------===//
#include "runtime/standalone/Run.h"

#include <CLI/CLI.hpp>

#include <csignal>
#include <cstring>
#include <unistd.h>

using namespace dyn::standalone;

namespace {

/// Filled before the handler is in place: nothing may allocate in it.
char wrongProcessor[256];

void onIllegalInstruction(int) {
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, wrongProcessor, std::strlen(wrongProcessor));
  _exit(1);
}

/// Code for another processor ends in a sentence, not in a core dump.
void explainIllegalInstructions(const std::string &cpu) {
  std::snprintf(wrongProcessor, sizeof wrongProcessor,
                "error: this program was built for the processor `%s`, and this machine is another; "
                "build it with --cpu=x86-64-v3 or --cpu=x86-64\n",
                cpu.c_str());
  std::signal(SIGILL, onIllegalInstruction);
}

std::string footer(const Manifest &manifest) {
  std::string settable, fixed;
  for (const Hyperparameter &each : manifest.hyperparameters) {
    char value[40];
    std::snprintf(value, sizeof value, "%.15g", each.value);
    (each.fixed ? fixed : settable) += "  " + each.name + " = " + value + "\n";
  }
  for (const BuiltIn &each : manifest.builtIn)
    fixed += "  " + each.name + " = " + each.text + "\n";
  std::string text;
  if (!settable.empty())
    text += "Hyperparameters for --set:\n" + settable;
  if (!fixed.empty())
    text += "Built in:\n" + fixed;
  return text;
}

} // namespace

int main(int argc, char **argv) {
  Manifest manifest = manifestFromJson(dyn_program.manifest);
  explainIllegalInstructions(manifest.cpu);
  CLI::App app("a train compiled by dync build; 0 only if it ran and every claim that it checks held");
  Options options;
  uint64_t seed = 0;
  app.add_option("--set", options.sets, "NAME=VALUE: a hyperparameter")->allow_extra_args(false);
  auto *seedOption =
      app.add_option("--seed", seed, "seed of the run")->check(CLI::Range(uint64_t(0), uint64_t(INT64_MAX)));
  app.add_option("--out", options.out, "folder for metrics.jsonl and final.safetensors");
  app.add_option("--data", options.data, "folder that stands for the spec's: data files are looked for from there");
  app.add_option("--threads", options.threads, "threads of the step; default: as many as cores")
      ->check(CLI::Range(1, 1024));
  app.add_flag("--quiet", options.quiet, "no progress and no summary");
  app.footer(footer(manifest));
  CLI11_PARSE(app, argc, argv);
  if (*seedOption)
    options.seed = seed;
  return run(dyn_program, options);
}
