//===- Parser.cpp - From text to syntax tree --------------------*- C++ -*-===//

#include "frontend/parse/Parser.h"

#include "DynParser.h"
#include "frontend/parse/Builder.h"
#include "frontend/parse/Errors.h"
#include "frontend/parse/Tokens.h"

using namespace dyn;
using namespace dyn::parsing;
using antlr4::atn::ParserATNSimulator;
using antlr4::atn::PredictionMode;

/// Says what can be said without a lexer; false if that ends the matter.
static bool checkText(const SourceFile &source, DiagnosticEngine &diags, const ParseLimits &limits) {
  std::string_view text = source.text();
  if (text.size() > limits.bytes) {
    diags.report(Diag::file_too_large, {source.id(), 0, 0}, text.size(), limits.bytes);
    return false;
  }
  if (auto offset = findInvalidUtf8(text)) {
    auto at = static_cast<uint32_t>(*offset);
    diags.report(Diag::invalid_utf8, {source.id(), at, at + 1}).help("save the file as UTF-8");
    return false;
  }
  return true;
}

static void choose(DynParser &parser, PredictionMode mode) {
  parser.getInterpreter<ParserATNSimulator>()->setPredictionMode(mode);
}

namespace {
/// Gives up at the first error without a word.
class GiveUp : public antlr4::BailErrorStrategy {
  void reportError(antlr4::Parser *, const antlr4::RecognitionException &) override {}
};
} // namespace

/// The fast way: the weaker prediction, and no more than a look at whether it succeeds. Null if it does not.
static std::unique_ptr<ast::Program> tryFast(LexedFile &lexed, StatementTokens &filtered, const SourceFile &source,
                                             DiagnosticEngine &diags) {
  antlr4::CommonTokenStream tokens(&filtered);
  DynParser parser(&tokens);
  parser.removeErrorListeners();
  parser.setErrorHandler(std::make_shared<GiveUp>());
  choose(parser, PredictionMode::SLL);
  try {
    DynParser::ProgramContext *tree = parser.program();
    return Builder(source, diags).program(tree, std::move(lexed.comments));
  } catch (const antlr4::ParseCancellationException &) {
    return nullptr;
  }
}

/// The thorough way: brackets are balanced, prediction is complete, errors are said in words.
static std::unique_ptr<ast::Program> parseThoroughly(LexedFile &lexed, const SourceFile &source,
                                                     DiagnosticEngine &diags, const ParseLimits &limits,
                                                     size_t errorsBefore) {
  StatementTokens filtered(lexed, source, diags, /*balance=*/true);
  if (!filtered.checkLimits(limits))
    return nullptr;
  antlr4::CommonTokenStream tokens(&filtered);
  DynParser parser(&tokens);
  parser.removeErrorListeners();
  auto errors = std::make_shared<SyntaxErrors>(source, diags, limits.errors);
  parser.setErrorHandler(errors);
  choose(parser, PredictionMode::LL);
  DynParser::ProgramContext *tree = parser.program();
  bool clean = diags.errorCount() == errorsBefore && !errors->sawError();
  return clean ? Builder(source, diags).program(tree, std::move(lexed.comments)) : nullptr;
}

std::unique_ptr<ast::Program> dyn::parse(const SourceFile &source, DiagnosticEngine &diags, ParseLimits limits) {
  size_t before = diags.errorCount(), first = diags.all().size();
  if (!checkText(source, diags, limits))
    return nullptr;
  LexedFile lexed = lex(source, diags, limits.errors);
  StatementTokens filtered(lexed, source, diags, /*balance=*/false);
  if (!filtered.checkLimits(limits))
    return nullptr;
  std::unique_ptr<ast::Program> program = tryFast(lexed, filtered, source, diags);
  if (!program)
    program = parseThoroughly(lexed, source, diags, limits, before);
  diags.sortFrom(first);
  return diags.errorCount() == before ? std::move(program) : nullptr;
}
