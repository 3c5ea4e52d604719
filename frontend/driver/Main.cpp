//===- Main.cpp - dync ----------------------------------------------------===//
#include "frontend/driver/Build.h"
#include "frontend/driver/Commands.h"
#include "frontend/driver/Explain.h"
#include "frontend/driver/Fmt.h"
#include "frontend/driver/Runner.h"
#include "frontend/repl/Repl.h"

#include <CLI/CLI.hpp>

#include <iostream>
#include <malloc.h>

using namespace dyn;

static int dispatch(int argc, char **argv) {
  CLI::App app("dync: compiles and runs training algorithms written in Dyn");
  app.require_subcommand(1);
  app.set_version_flag("--version", "dync 0.1.0");

  RunOptions run;
  bool noCache = false;
  uint64_t seed = 0;
  CLI::App *runCommand = app.add_subcommand("run", "run a train or an experiment; 0 only if every `expect` held");
  runCommand->add_option("file", run.file, "a .dyn file")->required();
  runCommand->add_option("name", run.name, "train or experiment; without it all experiments, or all trains");
  runCommand->add_option("--set", run.sets, "NAME=VALUE: a hyperparameter of the train")->allow_extra_args(false);
  auto *seedOption = runCommand->add_option("--seed", seed, "seed of the run")
                         ->check(CLI::Range(uint64_t(0), uint64_t(INT64_MAX)));
  runCommand->add_option("--out", run.out, "folder for metrics.jsonl and final.safetensors");
  runCommand->add_option("--threads", run.threads, "threads of the step; default: as many as cores")->check(CLI::Range(1, 1024));
  auto *runTarget = runCommand->add_option("--target", run.target, "where it runs: cpu, or cuda or cuda:N, a GPU; default: cpu");
  runCommand->add_flag("--quiet", run.quiet, "no progress and no summary");
  auto *interpretFlag = runCommand->add_flag("--interpret", run.interpret, "run by the plain evaluator instead of compiled code");
  runCommand->add_flag("--no-cache", noCache, "compile anew and keep nothing");
  runCommand->add_flag("--check-bounds", run.checkBounds, "check what clips promise after every step");
  runCommand->add_flag("--time", run.timings, "print milliseconds of each stage and pass, and what was read and made");
  runCommand->add_flag("--profile", run.profile, "print where the time went, kernel by kernel; with --out also profile.json")
      ->excludes(runTarget, interpretFlag);

  std::vector<std::string> checkFiles;
  CLI::App *checkCommand = app.add_subcommand("check", "check files and print the plan of each train");
  checkCommand->add_option("files", checkFiles, ".dyn files")->required();

  EmitOptions emit;
  CLI::App *emitCommand = app.add_subcommand("emit", "print a program at a stage");
  emitCommand->add_option("file", emit.file, "a .dyn file")->required();
  emitCommand->add_option("name", emit.name, "train; without it the first one");
  emitCommand->add_option("--stage", emit.stage, "dyn, nd, fused, kernels or llvm; of a GPU also gpu, nvvm or ptx")
      ->check(CLI::IsMember({"dyn", "nd", "fused", "kernels", "gpu", "nvvm", "ptx", "llvm"}));
  emitCommand->add_option("--target", emit.target, "what code is made for: cpu, sm_80 or sm_90")
      ->check(CLI::IsMember({"cpu", "sm_80", "sm_90"}));
  emitCommand->add_option("--rule", emit.rule, "one rule alone: 'adamw on [64, 32]'");

  ExplainOptions explain;
  CLI::App *explainCommand = app.add_subcommand("explain", "explain an error or a name of the library; without one, list all errors");
  explainCommand->add_option("what", explain.asked, "the code that a message ends with, as E0301; or a name, as adamw");
  explainCommand->add_flag("--latex", explain.latex, "of a name, only its equations, for LaTeX");

  repl::ReplOptions session;
  CLI::App *replCommand = app.add_subcommand("repl", "declare, compute and run interactively");
  replCommand->add_option("file", session.file, "a .dyn file to load first");
  replCommand->add_option("--threads", session.threads, "threads of a step; default: as many as cores")->check(CLI::Range(1, 1024));
  replCommand->add_flag("--no-cache", noCache, "compile anew and keep nothing");

  std::vector<std::string> fmtFiles;
  bool fmtCheck = false, fmtStdout = false;
  CLI::App *fmtCommand = app.add_subcommand("fmt", "format files in place");
  fmtCommand->add_option("files", fmtFiles, ".dyn files")->required();
  fmtCommand->add_flag("--check", fmtCheck, "write nothing; 1 if a file would change");
  fmtCommand->add_flag("--stdout", fmtStdout, "print instead of writing");

  BuildOptions build;
  CLI::App *buildCommand = app.add_subcommand("build", "make a program of a train, or a C library of a rule");
  bool library = false;
  auto *buildFile = buildCommand->add_option("file", build.file, "a .dyn file; with --lib, one that has the rule");
  auto *buildName = buildCommand->add_option("name", build.name, "train; needed where the file has several");
  buildCommand->add_option("-o", build.output, "the program; with --lib, NAME of libNAME.a and NAME.h");
  auto *buildSet = buildCommand->add_option("--set", build.sets, "NAME=VALUE: a hyperparameter of the train");
  buildSet->allow_extra_args(false);
  buildCommand->add_option("--cpu", build.cpu, "processor: native (default), x86-64-v3, znver3, …");
  auto *libraryFlag = buildCommand->add_flag("--lib", library, "a C library and a header of one rule");
  auto *ruleOption = buildCommand->add_option("--rule", build.rule, "with --lib: 'adamw', 'adamw on [64, 32] [32]'");
  ruleOption->needs(libraryFlag);
  libraryFlag->needs(ruleOption)->excludes(buildName, buildSet);
  buildCommand->add_option("--precision", build.precision, "with --lib: f32 (default) or f64")
      ->check(CLI::IsMember({"f32", "f64"}))->needs(libraryFlag);
  buildCommand->add_flag("--shared", build.shared, "with --lib: a shared library")->needs(libraryFlag);
  buildCommand->callback([&] {
    if (!library && !*buildFile)
      throw CLI::RequiredError("file");
  });
  CLI11_PARSE(app, argc, argv);
  if (*runCommand) {
    if (*seedOption)
      run.seed = seed;
    run.cache = !noCache;
    return Runner(run).run();
  }
  if (*checkCommand)
    return runCheck(checkFiles);
  if (*emitCommand)
    return runEmit(emit);
  if (*explainCommand)
    return runExplain(explain);
  if (*buildCommand)
    return library ? runBuildLibrary(build) : runBuild(build);
  if (*replCommand) {
    session.cache = !noCache;
    return repl::runRepl(session);
  }
  int status = 0;
  for (auto &file : fmtFiles)
    status = std::max(status, runFmt(file, fmtCheck, fmtStdout));
  return status;
}

int main(int argc, char **argv) {
#ifdef M_MMAP_THRESHOLD
  // The evaluator makes an array an operation. Pages that go back to the system with each would be zeroed for the next.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
  return dispatch(argc, argv);
}
