#include "frontend/driver/Build.h"

#include "frontend/AstWalk.h"
#include "frontend/driver/Claims.h"
#include "frontend/driver/Linker.h"
#include "frontend/driver/ProgramObject.h"
#include "frontend/driver/Settable.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"

#include <cstdio>
#include <filesystem>

namespace dyn {
namespace {

class Builder {
public:
  explicit Builder(const BuildOptions &options) : options(options), work(/*useCache=*/false) {}

  int run() {
    bool built = build();
    work.report();
    return built ? 0 : 1;
  }

private:
  bool build() {
    auto target = targetFor(options.cpu, work.diags);
    const ast::TrainDecl *decl = target ? choose() : nullptr;
    auto sets = decl ? work.overrides(options.sets) : std::nullopt;
    if (!sets)
      return false;
    elab::TrainRequest request;
    request.decl = decl;
    request.arguments = std::move(*sets);
    Elaboration base = elaborateForBuild(work, work.library, request, work.diags);
    if (!base.train)
      return false;
    standalone::Manifest manifest = manifestOf(request, base, *target);
    plan::Plan plan = std::move(base.train->plan);
    findData(plan);
    if (!lowerToNd(*base.train->module, work.diags))
      return false;
    auto object = programObject(*base.train->module, plan, manifest, *target, work.diags);
    return object && linkProgram(*object, plan, decl->name.text) && tell(manifest);
  }

  /// The train of that name, or the only one.
  const ast::TrainDecl *choose() {
    const ast::Program *program = work.open(options.file);
    if (!program)
      return nullptr;
    std::vector<const ast::TrainDecl *> trains;
    std::vector<std::string> names;
    for (auto &decl : program->declarations)
      if (auto *train = ast::dynCast<ast::TrainDecl>(decl.get())) {
        names.push_back(train->name.text);
        if (options.name.empty() || options.name == train->name.text)
          trains.push_back(train);
      }
    if (trains.size() == 1)
      return trains.front();
    if (trains.empty()) {
      std::string missing = options.name.empty() ? "no train" : "no train `" + options.name + "`";
      auto message = work.diags.report(Diag::nothing_to_run, Span(), "`" + options.file + "` has " + missing);
      if (auto near = nearest(options.name, names); !near.empty() && !options.name.empty())
        message.help("did you mean `" + near + "`?");
      return nullptr;
    }
    std::string list;
    for (const std::string &name : names)
      list += (list.empty() ? "`" : ", `") + name + "`";
    work.diags.report(Diag::build_failed, Span(), "`" + options.file + "` has several trains: " + list)
        .help("a program holds one train: dync build " + options.file + " " + names.front());
    return nullptr;
  }

  /// The hyperparameters that are no numbers, as they are written where they come from.
  std::vector<standalone::BuiltIn> builtInOf(const elab::TrainRequest &request,
                                             const std::vector<standalone::Hyperparameter> &numbers) const {
    std::vector<standalone::BuiltIn> list;
    for (auto &parameter : request.decl->parameters.items) {
      const std::string &name = parameter.name.text;
      if (llvm::any_of(numbers, [&](auto &each) { return each.name == name; }))
        continue;
      std::string text = parameter.init ? ast::print(*parameter.init) : "";
      for (auto &[given, value] : request.arguments) {
        auto *flag = value.as<elab::Const>();
        auto *words = value.as<elab::Text>();
        if (given == name)
          text = words ? "\"" + words->text + "\"" : flag ? (flag->number != 0 ? "true" : "false") : elab::describe(value);
      }
      list.push_back({name, text});
    }
    return list;
  }

  standalone::Manifest manifestOf(const elab::TrainRequest &request, Elaboration &base, const Target &target) {
    std::error_code error;
    standalone::Manifest manifest;
    manifest.specFolder = std::filesystem::absolute(options.file, error).lexically_normal().parent_path().string();
    manifest.cpu = target.host.cpu;
    manifest.hyperparameters = settableOf(work, work.library, request, base);
    manifest.builtIn = builtInOf(request, manifest.hyperparameters);
    manifest.claims = claimsOf(base.train->expects, base.train->plan, manifest.hyperparameters);
    return manifest;
  }

  /// The program may be started in any folder.
  static void findData(plan::Plan &plan) {
    std::error_code error;
    for (plan::Source &source : plan.sources)
      for (plan::RawInput &input : source.inputs)
        if (!input.file.empty())
          input.file = std::filesystem::absolute(input.file, error).lexically_normal().string();
  }

  bool failed(const Status &status) {
    if (!status.isOk())
      work.diags.report(Diag::build_failed, Span(), status.message());
    return !status.isOk();
  }

  /// Whether the output would replace the spec, a file it uses, or its data.
  bool isRead(const plan::Plan &plan) const {
    auto same = [&](const std::string &path) {
      std::error_code error;
      return std::filesystem::equivalent(output, path, error);
    };
    return llvm::any_of(work.library.closure(), [&](auto &file) { return same(file.first); }) ||
           llvm::any_of(plan.sources, [&](auto &source) {
             return llvm::any_of(source.inputs, [&](auto &input) { return same(input.file); });
           });
  }

  bool linkProgram(const std::string &object, const plan::Plan &plan, const std::string &name) {
    output = options.output.empty() ? name : options.output;
    if (isRead(plan))
      return !failed(Status::error("`" + output + "` is a file that the program is made from; name another with `-o`"));
    llvm::SmallString<128> part; // a name that no file of the user's has
    if (std::error_code error = llvm::sys::fs::createUniqueFile(output + "-%%%%%%.o", part))
      return !failed(Status::error("cannot write `" + output + "`: " + error.message()));
    llvm::FileRemover remover(part);
    if (failed(writeFile(part.str().str(), object)))
      return false;
    Expected<std::string> main = runtimeLibrary("dyn_standalone"), noNpz = runtimeLibrary("dyn_no_npz"),
                          runtime = runtimeLibrary("dyn_runtime");
    for (auto *library : {&main, &noNpz, &runtime})
      if (failed(library->status()))
        return false;
    std::vector<std::string> arguments = {"-o", output, part.str().str(), *main};
    // Nothing has asked for its functions yet where it stands, so it must be taken whole to be there before the others.
    bool readsNpz = llvm::any_of(plan.sources, [](auto &source) { return source.format == "npz"; });
    if (!readsNpz)
      arguments.insert(arguments.end(), {"-Wl,--whole-archive", *noNpz, "-Wl,--no-whole-archive"});
    // What a machine without a compiler may lack goes into the program.
    arguments.push_back(*runtime);
    if (needsLapack(object))
      arguments.insert(arguments.end(), {DYN_LAPACK});
    arguments.insert(arguments.end(), {"-static-libgcc", "-l:libstdc++.a", "-l:libz.a", "-lm", "-s"});
    if (readsNpz)
      arguments.push_back("-lzip");
    return !failed(link(arguments));
  }

  bool tell(const standalone::Manifest &manifest) {
    for (const standalone::Claim &claim : manifest.claims)
      if (claim.formula.empty())
        std::fprintf(stderr, "note: the program does not check, as `dync run` does: expect %s\n", claim.text.c_str());
    std::printf("built %s for %s\n", output.c_str(), manifest.cpu.c_str());
    return true;
  }

  const BuildOptions &options;
  Workspace work;
  std::string output;
};

} // namespace

int runBuild(const BuildOptions &options) { return Builder(options).run(); }

} // namespace dyn
