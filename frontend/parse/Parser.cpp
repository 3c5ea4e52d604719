//===- Parser.cpp - From text to syntax tree --------------------*- C++ -*-===//

#include "frontend/parse/Parser.h"

#include "DynLexer.h"
#include "DynParser.h"
#include "frontend/parse/Builder.h"
#include "frontend/parse/Errors.h"
#include "frontend/parse/Tokens.h"

#include <functional>
#include <type_traits>

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

/// The start rules, with what the builder makes of their trees: of whole ones only.
static auto program(DynParser &parser, Builder builder, LexedFile &lexed, const std::function<bool()> &isClean) {
  auto *tree = parser.program();
  return isClean() ? builder.program(tree, std::move(lexed.comments)) : nullptr;
}
static auto entry(DynParser &parser, Builder builder, LexedFile &lexed, const std::function<bool()> &isClean) {
  auto *tree = parser.entry();
  return isClean() ? builder.entry(tree, std::move(lexed.comments)) : nullptr;
}

/// What a start rule makes.
template <class Rule>
using Made = std::invoke_result_t<Rule, DynParser &, Builder, LexedFile &, const std::function<bool()> &>;

/// The fast way: the weaker prediction, and no more than a look at whether it succeeds. Null if it does not.
template <class Rule>
static auto tryFast(Rule rule, LexedFile &lexed, StatementTokens &filtered, const SourceFile &source,
                    DiagnosticEngine &diags) -> Made<Rule> {
  antlr4::CommonTokenStream tokens(&filtered);
  DynParser parser(&tokens);
  parser.removeErrorListeners();
  parser.setErrorHandler(std::make_shared<GiveUp>());
  choose(parser, PredictionMode::SLL);
  try {
    return rule(parser, Builder(source, diags), lexed, [] { return true; });
  } catch (const antlr4::ParseCancellationException &) {
    return nullptr;
  }
}

/// The thorough way: brackets are balanced, prediction is complete, errors are said in words.
template <class Rule>
static auto parseThoroughly(Rule rule, LexedFile &lexed, const SourceFile &source, DiagnosticEngine &diags,
                            const ParseLimits &limits, size_t errorsBefore)
    -> Made<Rule> {
  StatementTokens filtered(lexed, source, diags, /*balance=*/true);
  if (!filtered.checkLimits(limits))
    return nullptr;
  antlr4::CommonTokenStream tokens(&filtered);
  DynParser parser(&tokens);
  parser.removeErrorListeners();
  auto errors = std::make_shared<SyntaxErrors>(source, diags, limits.errors);
  parser.setErrorHandler(errors);
  choose(parser, PredictionMode::LL);
  auto isClean = [&] { return diags.errorCount() == errorsBefore && !errors->sawError(); };
  auto result = rule(parser, Builder(source, diags), lexed, isClean);
  return isClean() ? std::move(result) : nullptr;
}

template <class Rule>
static auto parseAs(Rule rule, const SourceFile &source, DiagnosticEngine &diags, const ParseLimits &limits)
    -> Made<Rule> {
  size_t before = diags.errorCount(), first = diags.all().size();
  if (!checkText(source, diags, limits))
    return nullptr;
  LexedFile lexed = lex(source, diags, limits.errors);
  StatementTokens filtered(lexed, source, diags, /*balance=*/false);
  if (!filtered.checkLimits(limits))
    return nullptr;
  auto result = tryFast(rule, lexed, filtered, source, diags);
  if (!result)
    result = parseThoroughly(rule, lexed, source, diags, limits, before);
  diags.sortFrom(first);
  return diags.errorCount() == before ? std::move(result) : nullptr;
}

std::unique_ptr<ast::Program> dyn::parse(const SourceFile &source, DiagnosticEngine &diags, ParseLimits limits) {
  return parseAs(program, source, diags, limits);
}

std::unique_ptr<SessionEntry> dyn::parseEntry(const SourceFile &source, DiagnosticEngine &diags, ParseLimits limits) {
  return parseAs(entry, source, diags, limits);
}

//===----------------------------------------------------------------------===//
// Entries that go on
//===----------------------------------------------------------------------===//

namespace {
/// Gives up at the first error and remembers whether it was the end of the text that came too early.
class AtTheEnd : public antlr4::BailErrorStrategy {
public:
  bool endedEarly = false;

  void recover(antlr4::Parser *parser, std::exception_ptr error) override {
    try {
      std::rethrow_exception(error);
    } catch (const antlr4::RecognitionException &where) {
      note(parser, where);
    }
    throw antlr4::ParseCancellationException();
  }
  antlr4::Token *recoverInline(antlr4::Parser *parser) override {
    note(parser, antlr4::InputMismatchException(parser));
    throw antlr4::ParseCancellationException();
  }

private:
  /// A line end before the end of the text counts where a word at the head of the next line would take it back.
  void note(antlr4::Parser *parser, const antlr4::RecognitionException &where) {
    antlr4::Token *found = where.getOffendingToken();
    antlr4::TokenStream *tokens = parser->getTokenStream();
    if (found->getType() == antlr4::Token::EOF) {
      endedEarly = true;
    } else if (found->getType() == DynParser::NL && found->getTokenIndex() + 2 == tokens->size()) {
      antlr4::misc::IntervalSet expected = where.getExpectedTokens();
      endedEarly = expected.contains(static_cast<ssize_t>(DynParser::THEN)) ||
                   expected.contains(static_cast<ssize_t>(DynParser::ELSE));
    }
  }
};
} // namespace

bool dyn::isIncomplete(std::string_view text) {
  SourceManager sources;
  DiagnosticEngine diags(sources);
  const SourceFile &source = sources.add("entry", std::string(text) + "\n");
  ParseLimits limits;
  if (!checkText(source, diags, limits))
    return false;
  LexedFile lexed = lex(source, diags, limits.errors);
  StatementTokens filtered(lexed, source, diags, /*balance=*/false);
  if (diags.hasErrors() || !filtered.checkLimits(limits))
    return false;
  antlr4::CommonTokenStream tokens(&filtered);
  tokens.fill();
  DynParser parser(&tokens);
  parser.removeErrorListeners();
  auto strategy = std::make_shared<AtTheEnd>();
  parser.setErrorHandler(strategy);
  choose(parser, PredictionMode::LL);
  try {
    parser.entry();
    return false;
  } catch (const antlr4::ParseCancellationException &) {
    return strategy->endedEarly;
  }
}

std::vector<std::string> dyn::keywords() {
  std::vector<std::string> words;
  antlr4::ANTLRInputStream nothing;
  DynLexer lexer(&nothing);
  const antlr4::dfa::Vocabulary &vocabulary = lexer.getVocabulary();
  for (size_t type = 1; type <= vocabulary.getMaxTokenType(); ++type)
    if (isContextualWord(type) || isReservedWord(type)) {
      std::string literal(vocabulary.getLiteralName(type));
      words.push_back(literal.substr(1, literal.size() - 2));
    }
  return words;
}
