#include "frontend/driver/Build.h"

#include "frontend/AstWalk.h"
#include "frontend/driver/Linker.h"
#include "frontend/driver/ProgramObject.h"
#include "frontend/driver/RuleCode.h"
#include "frontend/driver/RuleHeader.h"
#include "frontend/driver/RuleSample.h"
#include "frontend/driver/Samples.h"
#include "frontend/driver/Settable.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <cstdio>
#include <deque>

namespace dyn {
namespace {

/// Lengths of the ranges that an elementwise rule is compiled for: long ones, since each costs its scalars anew, and
/// short ones, so that little is left for the copies of a tail.
constexpr int64_t rangeLengths[] = {16384, 4096, 1024, 256, DYN_RULE_TAIL};

class LibraryBuilder {
public:
  explicit LibraryBuilder(const BuildOptions &options) : options(options), work(/*useCache=*/false) {}

  int run() {
    bool built = build();
    work.report();
    return built ? 0 : 1;
  }

private:
  bool build() {
    auto target = targetFor(options.cpu, work.diags);
    if (!target || (!options.file.empty() && !work.open(options.file)))
      return false;
    auto asked = readRuleRequest(options.rule, work.library, work.sources, work.diags);
    if (!asked || !nameOutput(*asked))
      return false;
    std::vector<int64_t> counts(std::begin(rangeLengths), std::end(rangeLengths));
    if (!asked->shapes.empty())
      counts = {0}; // all leaves at once
    code.rule = asked->name;
    code.precision = options.precision;
    code.fixed = !asked->shapes.empty();
    for (int64_t count : counts)
      if (!compileRange(*asked, count, count == counts.back(), *target))
        return false;
    return write();
  }

  /// `-o DIR/NAME`: DIR/libNAME.a, DIR/NAME.h, and NAME in front of all that is declared.
  bool nameOutput(const RuleRequest &asked) {
    llvm::StringRef output = options.output.empty() ? llvm::StringRef(asked.name) : llvm::StringRef(options.output);
    code.prefix = llvm::sys::path::filename(output).str();
    folder = llvm::sys::path::parent_path(output).str();
    bool word = !code.prefix.empty() && !llvm::isDigit(code.prefix[0]) &&
                llvm::all_of(code.prefix, [](char c) { return llvm::isAlnum(c) || c == '_'; });
    if (!word)
      work.diags.report(Diag::build_failed, Span(), "`" + code.prefix + "` cannot begin the names of a C library")
          .help("`-o NAME` takes letters, digits and `_`; it makes libNAME.a and NAME.h");
    return word;
  }

  /// One length of an elementwise rule, or all leaves (`count` 0).
  bool compileRange(const RuleRequest &asked, int64_t count, bool last, const Target &target) {
    Samples &sample = samples.emplace_back();
    const ast::TrainDecl *train = sample.add(sampleOfRule(asked, count, options.precision), work.sources, work.diags);
    if (!train)
      return false;
    SampleLibrary both(work.library, sample);
    elab::TrainRequest request;
    request.decl = train;
    request.gradientsGiven = true;
    // What is wrong is said of the rule as it was asked for: nobody wrote the train around it.
    DiagnosticEngine own(work.sources);
    Elaboration base = elaborateForBuild(work, both, request, own);
    if (!base.train) {
      reportRefusal(asked, own);
      return false;
    }
    if (code.objects.empty())
      code.hyperparameters = settableOf(work, both, request, base);
    mlir::ModuleOp module = *base.train->module;
    if (asksForObjective(module))
      return refuse({"asks for the loss or its gradient elsewhere", ""});
    if (!lowerToNd(module, work.diags))
      return false;
    dropProgram(module);
    if (auto reason = whyNoLibrary(module, count))
      return refuse(*reason);
    return code.compile(module, base.train->plan, count, last, target, work.diags);
  }

  /// The first error of elaboration as one of `--rule`; places of the library's files stay, those of the sample go.
  void reportRefusal(const RuleRequest &asked, const DiagnosticEngine &own) {
    auto *rule = ast::dynCast<ast::RuleDecl>(work.library.find(asked.name));
    auto *pattern = rule ? ast::dynCast<ast::ShapePattern>(rule->on.get()) : nullptr;
    bool fitsNone = llvm::any_of(own.all(), [](auto &each) { return each.id == Diag::no_owner || each.id == Diag::owns_nothing; });
    if (pattern && fitsNone) {
      std::string sizes, example;
      for (auto &size : pattern->shape) {
        sizes += (sizes.empty() ? "" : ", ") + print(*size);
        example += example.empty() ? "64" : ", 32";
      }
      work.diags.report(Diag::build_rule, Span(), asked.name, "is for arrays [" + sizes + "], and has none of that shape")
          .help("name its leaves: `--rule '" + asked.name + " on [" + example + "]'`");
      return;
    }
    for (const Diagnostic &diagnostic : own.all()) {
      const SourceFile *file = work.sources.file(diagnostic.span);
      bool isOfSample = !file || file->path() == Samples::path;
      auto message = work.diags.report(Diag::build_rule, isOfSample ? Span() : diagnostic.span, asked.name,
                                       "is not accepted: " + diagnostic.text);
      if (!diagnostic.help.empty())
        message.help(diagnostic.help);
      return;
    }
  }

  bool refuse(const NoLibrary &reason) {
    auto message = work.diags.report(Diag::build_rule, Span(), code.rule, reason.what);
    if (!reason.help.empty())
      message.help(reason.help);
    return false;
  }

  bool failed(const Status &status) {
    if (!status.isOk())
      work.diags.report(Diag::build_failed, Span(), status.message());
    return !status.isOk();
  }

  std::string in(const std::string &file) const { return folder.empty() ? file : folder + "/" + file; }

  bool write() {
    Expected<std::string> support = runtimeLibrary("dyn_rule");
    if (failed(support.status()))
      return false;
    std::string header = in(code.prefix + ".h"), library = in("lib" + code.prefix + (options.shared ? ".so" : ".a"));
    if (failed(writeFile(header, ruleHeader(code))))
      return false;
    std::string archive = options.shared ? library + ".a" : library;
    if (failed(writeArchive(archive, *support)))
      return false;
    if (options.shared) {
      llvm::FileRemover remover(archive);
      const char *whole = "-Wl,--whole-archive", *notWhole = "-Wl,--no-whole-archive";
      if (failed(link({"-shared", "-o", library, whole, archive, notWhole, "-lm", "-s"})))
        return false;
    }
    std::printf("built %s and %s for %s\n", library.c_str(), header.c_str(), code.cpu.c_str());
    for (const standalone::Hyperparameter &each : code.hyperparameters)
      if (each.fixed)
        std::fprintf(stderr, "note: `%s` is built in: another value is another rule\n", each.name.c_str());
    return true;
  }

  /// The compiled ranges and the C that runs them.
  Status writeArchive(const std::string &path, const std::string &support) {
    auto buffer = llvm::MemoryBuffer::getFile(support);
    if (!buffer)
      return Status::error("cannot read `" + support + "`: " + buffer.getError().message());
    std::vector<llvm::NewArchiveMember> members;
    for (auto &[name, object] : code.objects)
      members.emplace_back(llvm::MemoryBufferRef(object, name));
    auto archive = llvm::object::Archive::create((*buffer)->getMemBufferRef());
    if (!archive)
      return Status::error("`" + support + "` is no archive: " + llvm::toString(archive.takeError()));
    llvm::Error error = llvm::Error::success();
    for (const llvm::object::Archive::Child &child : (*archive)->children(error))
      if (auto member = llvm::NewArchiveMember::getOldMember(child, /*Deterministic=*/true))
        members.push_back(std::move(*member));
      else
        llvm::consumeError(member.takeError());
    if (error)
      return Status::error("`" + support + "` is damaged: " + llvm::toString(std::move(error)));
    llvm::Error written = llvm::writeArchive(path, members, llvm::SymtabWritingMode::NormalSymtab,
                                             llvm::object::Archive::K_GNU, /*Deterministic=*/true, /*Thin=*/false);
    return written ? Status::error("cannot write `" + path + "`: " + llvm::toString(std::move(written))) : Status();
  }

  const BuildOptions &options;
  Workspace work;
  std::deque<Samples> samples; ///< of each range: diagnostics point into them
  RuleCode code;
  std::string folder;
};

} // namespace

int runBuildLibrary(const BuildOptions &options) { return LibraryBuilder(options).run(); }

} // namespace dyn
