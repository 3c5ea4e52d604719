#include "frontend/driver/Commands.h"

#include "frontend/Library.h"
#include "frontend/driver/Checker.h"
#include "frontend/elaborate/TrainElaborator.h"

#include "llvm/Support/raw_ostream.h"

#include <iostream>

namespace dyn {

static int checkFile(const std::string &file) {
  SourceManager sources;
  DiagnosticEngine diags(sources);
  SpecLibrary library(sources, diags);
  if (const ast::Program *program = library.open(file)) {
    auto context = makeContext();
    Checker(sources, diags, library, *context, std::make_shared<elab::Scope>(), /*isQuiet=*/false).check(*program);
  }
  if (!diags.all().empty())
    std::cerr << diags.render() << std::flush;
  return diags.hasErrors() ? 1 : 0;
}

int runCheck(const std::vector<std::string> &files) {
  int status = 0;
  for (const std::string &file : files)
    status = std::max(status, checkFile(file));
  return status;
}

bool emitStage(const elab::TrainRequest &request, const std::string &stage, mlir::MLIRContext &context,
               const Library &library, elab::ScopePtr globals, DiagnosticEngine &diags,
               const Target &target) {
  elab::Elaborator elaborator(context, diags, library, std::move(globals));
  auto elaborated = elab::TrainElaborator(elaborator).run(request);
  if (!elaborated)
    return false;
  bool printed = false;
  StageHook hook = [&](llvm::StringRef name, mlir::ModuleOp module) {
    if (name != stage || printed)
      return;
    printed = true;
    printStage(module, llvm::outs());
    llvm::outs().flush();
  };
  if (!lowerToNd(*elaborated->module, diags, hook))
    return false;
  if (printed)
    return true;
  PassErrors errors(context, diags);
  plan::Plan plan = elaborated->plan;
  return mlir::succeeded(lowerToLLVM(*elaborated->module, plan, target, hook)) && !diags.hasErrors();
}

/// The target of the options, if it goes through their stage; null after a report. Stages above nd are everybody's.
static const Target *targetWithStage(const EmitOptions &options, DiagnosticEngine &diags) {
  const Target *target = Target::find(options.target);
  if (options.stage == "dyn" || options.stage == "nd" || target->hasStage(options.stage))
    return target;
  std::string stages, others;
  for (const Phase &phase : target->phases)
    stages += ", " + phase.stage;
  for (const Target &other : Target::all())
    if (other.hasStage(options.stage))
      others += (others.empty() ? "`--target=" : " or `--target=") + other.name + "`";
  auto message = diags.report(Diag::no_stage, Span(), options.target, options.stage, "dyn, nd" + stages);
  if (!others.empty())
    message.help(others + " has it");
  return nullptr;
}

int runEmit(const EmitOptions &options) {
  SourceManager sources;
  DiagnosticEngine diags(sources);
  SpecLibrary library(sources, diags);
  Samples samples;
  auto globals = std::make_shared<elab::Scope>();
  auto finish = [&](int status) {
    if (!diags.all().empty())
      std::cerr << diags.render() << std::flush;
    return diags.hasErrors() ? 1 : status;
  };
  const Target *target = targetWithStage(options, diags);
  const ast::Program *program = target ? library.open(options.file) : nullptr;
  if (!program)
    return finish(1);
  const ast::TrainDecl *train = nullptr;
  if (!options.rule.empty()) {
    auto text = sampleForRule(options.rule, library);
    if (!text) {
      diags.report(Diag::rule_form, Span(), options.rule);
      return finish(1);
    }
    train = samples.add(*text, sources, diags);
  } else
    for (auto &decl : program->declarations)
      if (auto *candidate = ast::dynCast<ast::TrainDecl>(decl.get()))
        if (!train && (options.name.empty() || candidate->name.text == options.name))
          train = candidate;
  if (!train) {
    if (!diags.hasErrors())
      diags.report(Diag::nothing_to_run, Span(), "`" + options.file + "` has no train" + (options.name.empty() ? "" : " `" + options.name + "`"));
    return finish(1);
  }
  auto context = makeContext();
  SampleLibrary both(library, samples);
  elab::TrainRequest request;
  request.decl = train;
  request.gradientsGiven = !options.rule.empty();
  return finish(emitStage(request, options.stage, *context, both, globals, diags, *target) ? 0 : 1);
}

} // namespace dyn
