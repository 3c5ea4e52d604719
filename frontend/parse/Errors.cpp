//===- Errors.cpp - Syntax errors in the words of the language --*- C++ -*-===//

#include "frontend/parse/Errors.h"

#include "DynParser.h"
#include "frontend/parse/Tokens.h"

using namespace dyn;
using namespace dyn::parsing;
using antlr4::misc::IntervalSet;
using P = DynParser;

//===----------------------------------------------------------------------===//
// What may stand here
//===----------------------------------------------------------------------===//

static bool has(const IntervalSet &set, size_t type) { return set.contains(static_cast<ssize_t>(type)); }

static bool isComparison(size_t type) {
  return type == P::EQEQ || type == P::NE || type == P::LT || type == P::LE || type == P::GT || type == P::GE;
}

static bool isOperator(size_t type) {
  switch (type) {
  case P::PLUS: case P::MINUS: case P::STAR: case P::SLASH: case P::DSLASH: case P::PERCENT: case P::MATMUL:
  case P::HAT: case P::RANGE: case P::DOT: case P::AND: case P::OR:
    return true;
  default:
    return isComparison(type);
  }
}

/// The tokens that some reading of the input could have taken where the last of them failed.
static IntervalSet expectedBy(const antlr4::NoViableAltException &error) {
  IntervalSet expected;
  antlr4::atn::ATNConfigSet *configs = error.getDeadEndConfigs();
  if (!configs)
    return expected;
  for (const auto &config : configs->configs) {
    for (auto *transition : config->state->transitions)
      if (!transition->isEpsilon())
        expected.addAll(transition->label());
  }
  return expected;
}

/// `a`, `b` or `c`
static std::string anyOf(const std::vector<std::string> &words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return text;
}

/// The marks and words of the set that are neither names, values nor operators, in grammar order.
static std::vector<std::string> literals(const IntervalSet &expected, bool value, bool name,
                                         const antlr4::dfa::Vocabulary &vocabulary) {
  std::vector<std::string> marks, words;
  bool clocks = true; // all words are clocks
  for (ssize_t type : expected.toList()) {
    auto token = static_cast<size_t>(type);
    bool bracketOfValue = token == P::LPAREN || token == P::LBRACK;
    if (type <= 0 || isOperator(token) || token == P::NL || token == P::SEMI || token == P::RBRACE || token == P::AS)
      continue;
    if ((name || value) && (token == P::IDENT || isContextualWord(token)))
      continue;
    if (value && (isReservedWord(token) || bracketOfValue || token == P::NUMBER || token == P::STRING))
      continue;
    if (name && token == P::NUMBER)
      continue;
    if (!value && bracketOfValue && has(expected, P::DOT))
      continue; // a call or an index: as unlikely as an operator
    std::string text = vocabulary.getLiteralName(token);
    if (text.size() < 3)
      text = token == P::STRING ? "a string" : "a number";
    else
      text = "`" + text.substr(1, text.size() - 2) + "`";
    (isContextualWord(token) ? words : marks).push_back(text);
    clocks &= !isContextualWord(token) || (token >= P::STEP && token <= P::SECONDS);
  }
  if (words.size() > 3)
    words = {clocks ? "a clock such as `steps`" : "an option"};
  marks.insert(marks.end(), words.begin(), words.end());
  return marks;
}

static std::string describeExpected(const IntervalSet &expected, const antlr4::dfa::Vocabulary &vocabulary) {
  if (has(expected, P::USE))
    return has(expected, P::NUMBER) ? "a declaration or a value" : "a declaration";
  // A number alone may also be a place in a parameter's path, `net.dense.0.W`.
  bool value = has(expected, P::NUMBER) && has(expected, P::LPAREN);
  bool name = has(expected, P::IDENT) && !value;
  if (has(expected, P::RETURN))
    return "a statement";
  if (name && has(expected, P::IF))
    return "a clause";
  std::vector<std::string> words;
  if (value)
    words.push_back("a value");
  else if (name && has(expected, P::FN))
    return "a type";
  else if (name && has(expected, P::LBRACK) && has(expected, P::STRING))
    return "a pattern";
  else if (name)
    words.push_back("a name");
  std::vector<std::string> rest = literals(expected, value, name, vocabulary);
  if (rest.size() > 5)
    rest.clear();
  words.insert(words.end(), rest.begin(), rest.end());
  bool ends = has(expected, P::NL) || has(expected, Token::EOF);
  if (has(expected, P::STAR) && words.empty())
    words.push_back("an operator");
  if (ends)
    words.push_back("the end of the line");
  else if (has(expected, P::RBRACE) && words.size() < 3)
    words.push_back("`}`");
  return words.empty() ? "something else" : anyOf(words);
}

//===----------------------------------------------------------------------===//
// What was found
//===----------------------------------------------------------------------===//

std::string SyntaxErrors::quoted(const Token *token) const {
  std::string text(source.text(spanOf(token, source.id())));
  constexpr size_t most = 40;
  if (codePoints(text) > most) {
    size_t cut = most;
    while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0u) == 0x80u)
      --cut;
    text = text.substr(0, cut) + "…";
  }
  return "`" + text + "`";
}

std::string SyntaxErrors::describe(const Token *token) const {
  if (token->getType() == Token::EOF)
    return "the end of the file";
  return token->getType() == P::NL ? "the end of the line" : quoted(token);
}

/// Whether an error follows from one that was reported before the parser began: it is on a line with a broken
/// token, or inside a round or square bracket that is not closed.
bool SyntaxErrors::isConsequence(const Token *found) const {
  Span span = spanOf(found, source.id());
  for (const Diagnostic &earlier : diags.all()) {
    if (earlier.span.file != source.id())
      continue;
    if (earlier.id == Diag::unexpected_character || earlier.id == Diag::unclosed_string ||
        earlier.id == Diag::unmatched_bracket) {
      if (source.lineColumn(earlier.span.begin).line == found->getLine())
        return true;
    } else if (earlier.id == Diag::unclosed_bracket && source.text(earlier.span) != "{") {
      if (earlier.span.begin < span.begin && span.begin <= earlier.notes.front().span.begin)
        return true;
    }
  }
  return false;
}

void SyntaxErrors::report(antlr4::Parser *parser, Token *found, const IntervalSet &required) {
  if (recovering)
    return;
  recovering = true;
  // Brackets that do not match were reported before the parser began; the same token is not reported twice.
  bool known = found->getTokenIndex() == lastIndex || isInserted(found) || isConsequence(found);
  lastIndex = found->getTokenIndex();
  if (known)
    return;
  IntervalSet expected = required;
  if (found->getTokenIndex() == optionalIndex)
    expected.addAll(optional);
  Span span = spanOf(found, source.id());
  if (reported++ >= maxErrors) {
    if (reported == maxErrors + 1)
      diags.report(Diag::too_many_errors, span, maxErrors);
    return;
  }
  std::string after, what = describe(found);
  Token *previous = found->getTokenIndex() > 0 ? parser->getTokenStream()->get(found->getTokenIndex() - 1) : nullptr;
  if (previous && previous->getType() != P::NL && !isInserted(previous)) {
    after = " after " + quoted(previous);
    // What continues a line is missed at the line's end, not where the block ends.
    bool blockEnds = found->getType() == P::RBRACE || found->getType() == Token::EOF;
    if (blockEnds && found->getLine() != previous->getLine() && continuesAfter(previous->getType())) {
      what = "the end of the line";
      span.begin = span.end = spanOf(previous, source.id()).end;
    }
  }
  if (found->getType() == P::NL)
    span.end = span.begin;
  auto message = diags.report(Diag::unexpected_token, span,
                              describeExpected(expected, parser->getVocabulary()), after, what);
  addHelp(parser, message, found, expected);
}

/// The word of the language that a misspelt one was meant to be.
std::string SyntaxErrors::nearWord(const Token *found, const IntervalSet &expected,
                                   const antlr4::dfa::Vocabulary &vocabulary) const {
  if (found->getType() != P::IDENT)
    return {};
  std::vector<std::string> words;
  for (ssize_t type : expected.toList()) {
    auto token = static_cast<size_t>(type);
    if (type > 0 && (isContextualWord(token) || isReservedWord(token))) {
      std::string literal = vocabulary.getLiteralName(token);
      words.push_back(literal.substr(1, literal.size() - 2));
    }
  }
  return nearest(std::string(source.text(spanOf(found, source.id()))), words);
}

/// The operator after which the line before goes on into this token's line; null if it does not.
static Token *continuation(antlr4::TokenStream *tokens, Token *found) {
  size_t first = found->getTokenIndex();
  while (first > 0 && tokens->get(first - 1)->getLine() == found->getLine())
    --first;
  if (first == 0 || first == found->getTokenIndex())
    return nullptr;
  Token *before = tokens->get(first - 1);
  return before->getType() != P::COMMA && continuesAfter(before->getType()) ? before : nullptr;
}

void SyntaxErrors::addHelp(antlr4::Parser *parser, DiagnosticBuilder &message, Token *found,
                           const IntervalSet &expected) {
  size_t type = found->getType();
  if (Token *before = continuation(parser->getTokenStream(), found))
    message.note(spanOf(before, source.id()), "the line goes on after " + quoted(before));
  else if (isComparison(type) && has(expected, P::AND))
    message.help("comparisons do not chain; join two with `and`");
  else if (type == P::EQ && has(expected, P::EQEQ))
    message.help("`==` compares; `=` defines and stands only behind a name");
  else if (isReservedWord(type) && has(expected, P::IDENT))
    message.help(quoted(found) + " is a reserved word and cannot be a name");
  else if (std::string word = nearWord(found, expected, parser->getVocabulary()); !word.empty())
    message.help("write `" + word + "`");
  else if (type == P::LBRACE && has(expected, P::NUMBER))
    message.help("a record's value is written `(name = value)`; braces are blocks and record types");
}

//===----------------------------------------------------------------------===//
// Going on
//===----------------------------------------------------------------------===//

/// Rules whose errors end with the line that they stand on.
static bool isLine(size_t rule) {
  return rule == P::RuleDeclaration || rule == P::RuleStatement || rule == P::RuleClause ||
         rule == P::RuleDataItem || rule == P::RuleEvalItem || rule == P::RuleEntryItem;
}

/// Rules that are a whole text.
static bool isTop(size_t rule) { return rule == P::RuleProgram || rule == P::RuleEntry; }

/// Rules that consist of lines.
static bool isList(size_t rule) {
  return isTop(rule) || rule == P::RuleBlock || rule == P::RuleClauses || rule == P::RuleDataItems ||
         rule == P::RuleEvalItems;
}

void SyntaxErrors::skipToLineEnd(antlr4::Parser *parser, bool top) {
  antlr4::TokenStream *tokens = parser->getTokenStream();
  size_t depth = 0;
  for (size_t type = tokens->LA(1); type != Token::EOF; type = tokens->LA(1)) {
    bool opens = type == P::LPAREN || type == P::LBRACK || type == P::LBRACE;
    bool closes = type == P::RPAREN || type == P::RBRACK || type == P::RBRACE;
    if (depth == 0 && !top && (type == P::RBRACE || type == P::SEMI || type == P::NL))
      return;
    // At the top, what is indented belonged to the declaration that went wrong.
    if (depth == 0 && top && type == P::NL && tokens->LT(2)->getCharPositionInLine() == 0)
      return;
    if (opens)
      ++depth;
    else if (closes && depth > 0)
      --depth;
    tokens->consume();
  }
}

Token *SyntaxErrors::recoverInline(antlr4::Parser *parser) { throw antlr4::InputMismatchException(parser); }

void SyntaxErrors::reportError(antlr4::Parser *parser, const antlr4::RecognitionException &error) {
  if (auto *choice = dynamic_cast<const antlr4::NoViableAltException *>(&error)) {
    IntervalSet expected = expectedBy(*choice);
    report(parser, error.getOffendingToken(), expected.isEmpty() ? error.getExpectedTokens() : expected);
    return;
  }
  report(parser, error.getOffendingToken(), error.getExpectedTokens());
}

void SyntaxErrors::recover(antlr4::Parser *parser, std::exception_ptr error) {
  size_t rule = parser->getContext()->getRuleIndex();
  if (!isLine(rule) && !isTop(rule))
    std::rethrow_exception(error);
  skipToLineEnd(parser, rule != P::RuleStatement && rule != P::RuleClause && rule != P::RuleDataItem &&
                            rule != P::RuleEvalItem);
  recovering = false;
}

void SyntaxErrors::sync(antlr4::Parser *parser) {
  size_t rule = parser->getContext()->getRuleIndex();
  const auto &atn = parser->getInterpreter<antlr4::atn::ParserATNSimulator>()->atn;
  const IntervalSet &expected = atn.nextTokens(atn.states[parser->getState()]);
  antlr4::TokenStream *tokens = parser->getTokenStream();
  if (!isList(rule)) {
    if (optionalIndex != tokens->index())
      optional.clear();
    optionalIndex = tokens->index();
    optional.addAll(expected);
    return;
  }
  auto fits = [&] { return has(expected, tokens->LA(1)); };
  if (fits() || tokens->LA(1) == Token::EOF)
    return;
  report(parser, tokens->LT(1), expected);
  bool top = isTop(rule);
  while (!fits() && tokens->LA(1) != Token::EOF) {
    size_t before = tokens->index();
    skipToLineEnd(parser, top);
    // Where a line may begin, a line end is skipped too.
    bool atEnd = tokens->LA(1) == P::NL || tokens->LA(1) == P::SEMI;
    if (!fits() && (atEnd || tokens->index() == before))
      tokens->consume();
  }
  recovering = false;
}
