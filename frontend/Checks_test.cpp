//===- Checks_test.cpp - Checks on whole files ------------------*- C++ -*-===//
//
//   test/frontend/errors/*.dyn    each line that is refused ends in  # error: CODE "full text"  (several may follow
//                                 one another); nothing else may be reported
//   stdlib/, examples/            pass every check
//   test/specs/                   pass all but checkSupported, with the library names that they wish for
//
//===----------------------------------------------------------------------===//

#include "frontend/CheckInternals.h"
#include "frontend/parse/Parser.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <filesystem>

using namespace dyn;
namespace fs = std::filesystem;

namespace {

/// What the published systems take for granted of a standard library.
const char *const wishes =
    "cross_entropy l2 dense mlp layer_norm attention he_normal lecun_normal sgd adam adamw by_global_norm linear "
    "dp_sgd krum fed_avg sharpness log_range logspace log_probs solve scatter_add diff quantile uniform_class eigh "
    "layers orthogonal orthonormal fill reversed dirichlet lstsq svdvals unit_columns project_simplex sort argsort "
    "names fit delays spearman top bottom truncated_normal inverse sylvester diagonal block "
    "categorical permutation choice expon gamma beta poisson";

/// Declarations of parsed files, and names of which nothing more is known.
class TestLibrary : public Library {
public:
  const ast::Decl *find(std::string_view name) const override {
    auto at = declarations.find(name);
    return at == declarations.end() ? nullptr : at->second;
  }
  std::vector<std::string> names() const override {
    std::vector<std::string> out;
    for (auto &[name, decl] : declarations)
      out.push_back(name);
    return out;
  }

  void add(std::unique_ptr<ast::Program> program) {
    for (auto &decl : program->declarations)
      if (const ast::Ident *name = ast::declaredName(*decl))
        declarations.emplace(name->text, decl.get());
    programs.push_back(std::move(program));
  }

private:
  std::vector<std::unique_ptr<ast::Program>> programs;
  std::map<std::string, const ast::Decl *, std::less<>> declarations;
};

std::vector<std::string> dynFiles(const std::string &folder) {
  std::vector<std::string> files;
  if (fs::exists(folder))
    for (auto &entry : fs::recursive_directory_iterator(folder))
      if (entry.path().extension() == ".dyn")
        files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

class ChecksTest : public ::testing::Test {
protected:
  SourceManager sources;
  DiagnosticEngine diags{sources};
  TestLibrary library;

  std::unique_ptr<ast::Program> parseFile(const std::string &path) {
    std::string error;
    const SourceFile *source = sources.load(path, error);
    EXPECT_TRUE(source) << error;
    return source ? parse(*source, diags) : nullptr;
  }

  void loadStandardLibrary() {
    for (const std::string &path : dynFiles("stdlib"))
      if (auto program = parseFile(path))
        library.add(std::move(program));
    EXPECT_EQ(diags.render(), "");
  }

  void loadWishes() {
    std::string text;
    for (const std::string &name : words(wishes))
      text += name + " = 0\n";
    library.add(parse(sources.add("wishes.dyn", text), diags));
    EXPECT_EQ(diags.render(), "");
  }
};

/// `line: CODE text` for each expectation that a file states.
std::vector<std::string> expected(const SourceFile &source) {
  std::vector<std::string> out;
  for (uint32_t line = 1; line <= source.lineCount(); ++line) {
    std::string_view text = source.line(line);
    for (size_t at = text.find("# error: "); at != std::string_view::npos; at = text.find("# error: ", at + 1)) {
      std::string_view rest = text.substr(at + 9);
      size_t open = rest.find('"'), next = rest.find("# error: ");
      size_t close = rest.substr(0, next).rfind('"');
      out.push_back(std::to_string(line) + ": " + std::string(rest.substr(0, 5)) + " " +
                    std::string(rest.substr(open + 1, close - open - 1)));
    }
  }
  return out;
}

std::vector<std::string> reported(const DiagnosticEngine &diags) {
  std::vector<std::string> out;
  for (const Diagnostic &d : diags.all()) {
    const SourceFile *source = diags.sources().file(d.span);
    uint32_t line = source ? source->lineColumn(d.span.begin).line : 0;
    out.push_back(std::to_string(line) + ": " + std::string(d.code()) + " " + d.text);
  }
  return out;
}

} // namespace

TEST_F(ChecksTest, ErrorsAreThoseThatTheFilesState) {
  loadStandardLibrary();
  auto files = dynFiles("test/frontend/errors");
  EXPECT_FALSE(files.empty());
  for (const std::string &path : files) {
    if (fs::path(path).filename().string() < "E0100")
      continue; // syntax
    diags.clear();
    auto program = parseFile(path);
    ASSERT_TRUE(program) << diags.render();
    check(*program, library, diags);
    auto want = expected(*sources.file(program->file)), have = reported(diags);
    std::sort(want.begin(), want.end());
    std::sort(have.begin(), have.end());
    EXPECT_EQ(want, have) << path << "\n" << diags.render();
  }
}

TEST_F(ChecksTest, LibraryAndExamplesPass) {
  loadStandardLibrary();
  for (const char *folder : {"stdlib", "examples"})
    for (const std::string &path : dynFiles(folder)) {
      diags.clear();
      if (auto program = parseFile(path))
        check(*program, library, diags);
      EXPECT_EQ(diags.render(), "") << path;
    }
}

TEST_F(ChecksTest, PublishedSystemsPass) {
  loadWishes();
  for (const std::string &path : dynFiles("test/specs")) {
    diags.clear();
    auto program = parseFile(path);
    ASSERT_TRUE(program) << diags.render();
    for (auto &decl : program->declarations)
      if (auto *use = ast::dynCast<ast::UseDecl>(decl.get()))
        library.add(parseFile((fs::path(path).parent_path() / use->path->value).string()));
    checkNames(*program, library, diags);
    checkUnread(*program, library, diags);
    checkRules(*program, diags);
    checkTrains(*program, library, diags);
    EXPECT_EQ(diags.render(), "") << path;
  }
}

// Files as they are while somebody edits them: each line in turn is missing.
TEST_F(ChecksTest, FilesWithoutOneLineAreCheckedWithoutHarm) {
  loadStandardLibrary();
  std::vector<std::string> files = dynFiles("examples"), systems = dynFiles("test/specs/rules");
  files.insert(files.end(), systems.begin(), systems.end());
  for (const std::string &path : files) {
    std::string error;
    const SourceFile *source = sources.load(path, error);
    ASSERT_TRUE(source) << error;
    for (uint32_t line = 1; line < source->lineCount(); ++line) {
      std::string text(source->text());
      uint32_t begin = source->lineBegin(line);
      text.erase(begin, source->lineBegin(line + 1) - begin);
      SourceManager edited;
      DiagnosticEngine messages(edited);
      if (auto program = parse(edited.add(path, text), messages))
        check(*program, library, messages);
      EXPECT_EQ(messages.render().find("{0}"), std::string::npos);
    }
  }
}
