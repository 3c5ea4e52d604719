// The page docs/errors.md is built into dync; an entry begins with `### CODE` and ends where the next heading begins. So is
// the library, whose headers and code are shown.

#include "frontend/driver/Explain.h"

#include "frontend/AstWalk.h"
#include "frontend/Library.h"
#include "frontend/RuleKinds.h"
#include "frontend/explain/Equations.h"
#include "frontend/parse/Parser.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <iostream>
#include <sstream>

namespace dyn {
namespace {

/// `e301` and `301` as `E0301`; text that is no code stays as it is.
std::string normalized(const std::string &asked) {
  std::string digits = asked.substr(!asked.empty() && std::toupper(static_cast<unsigned char>(asked[0])) == 'E');
  bool isNumber = !digits.empty() && digits.size() <= 4 &&
                  std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isdigit(c); });
  return isNumber ? "E" + std::string(4 - digits.size(), '0') + digits : asked;
}

/// Calls `line(code, text)` for each line of each entry; code is empty outside entries.
template <typename Line> void forEachLine(Line line) {
  for (const char *entry : embeddedErrors()) {
    std::istringstream page(entry);
    std::string text, code;
    while (std::getline(page, text)) {
      if (text.starts_with("#"))
        code = text.starts_with("### ") ? text.substr(4) : "";
      else if (!code.empty())
        line(code, text);
    }
  }
}

/// `optimizer`, `function`, `model`.
const char *kindOf(const ast::Decl &decl) {
  if (auto *rule = ast::dynCast<ast::RuleDecl>(&decl))
    return ast::spelling(rule->rule);
  return ast::isa<ast::ModelDecl>(&decl) ? "model" : "function";
}

/// The header of a file, then its declarations: those that the one of its name is made of stand before it.
void printFile(const EmbeddedFile &file, const ast::Program &program, const SourceFile &source) {
  const ast::Decl &first = *program.declarations.front(), &last = *program.declarations.back();
  std::printf("%s: the %s `%s`\n\n%s\n\nIn the code:\n", file.path, kindOf(last), file.name, first.doc.c_str());
  for (const ast::DeclPtr &decl : program.declarations) {
    if (decl.get() != &first && !decl->doc.empty())
      std::printf("\n%s\n", decl->doc.c_str());
    std::printf("\n%s", explain::equations(*decl, program, source, explain::textNotation()).c_str());
  }
}

/// A name of the library: its header and equations. False if there is no such name.
bool explainName(const ExplainOptions &options) {
  for (const EmbeddedFile &file : embeddedFiles()) {
    if (options.asked != file.name)
      continue;
    SourceManager sources;
    DiagnosticEngine diags(sources);
    const SourceFile &source = sources.add(file.path, file.text);
    auto program = parse(source, diags); // the library parses: its tests run it
    if (!options.latex)
      printFile(file, *program, source);
    for (const ast::DeclPtr &decl : program->declarations)
      if (options.latex)
        std::fputs(explain::equations(*decl, *program, source, explain::latexNotation()).c_str(), stdout);
    return true;
  }
  return false;
}

int reportUnknown(const std::string &asked, const std::string &code) {
  bool isCode = code.size() == 5 && code.front() == 'E' && std::isdigit(static_cast<unsigned char>(code.back()));
  if (isCode) {
    std::cerr << "error: no message has the code `" << asked << "`\nhelp: `dync explain` lists all codes\n";
    return 1;
  }
  std::vector<std::string> known;
  for (const EmbeddedFile &file : embeddedFiles())
    known.push_back(file.name);
  std::string near = nearest(asked, known);
  std::cerr << "error: the library has no `" << asked << "`\nhelp: "
            << (near.empty() ? "`dync explain` lists the codes of messages" : "did you mean `" + near + "`?") << "\n";
  return 1;
}

} // namespace

int runExplain(const ExplainOptions &options) {
  const std::string &asked = options.asked;
  const std::string wanted = normalized(asked);
  if (explainName(options))
    return 0;
  std::string entry;
  forEachLine([&](const std::string &code, const std::string &text) {
    bool isWording = text.starts_with("> ");
    if (asked.empty() && isWording)
      std::printf("%s  %s\n", code.c_str(), text.c_str() + 2);
    // Fences are Markdown's; the signs before the lines say enough in a terminal.
    if (code == wanted && !text.starts_with("```"))
      entry += (isWording ? "error: " + text.substr(2) + " [" + code + "]" : text) + "\n";
  });
  if (asked.empty())
    return 0;
  if (entry.empty())
    return reportUnknown(asked, wanted);
  size_t first = entry.find_first_not_of('\n'), last = entry.find_last_not_of('\n');
  std::printf("%s\n", entry.substr(first, last + 1 - first).c_str());
  return 0;
}

} // namespace dyn
