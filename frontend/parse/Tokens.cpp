//===- Tokens.cpp - The newline filter --------------------------*- C++ -*-===//

#include "frontend/parse/Tokens.h"

#include "DynLexer.h"

#include <algorithm>

using namespace dyn;
using namespace dyn::parsing;
using L = DynLexer;

bool parsing::isContextualWord(size_t type) { return type >= L::MODEL && type <= L::PLOT; }
bool parsing::isReservedWord(size_t type) { return type >= L::FN && type <= L::BACKWARD; }

bool parsing::continuesAfter(size_t type) {
  switch (type) {
  case L::PLUS: case L::MINUS: case L::STAR: case L::SLASH: case L::DSLASH: case L::PERCENT: case L::MATMUL:
  case L::HAT: case L::RANGE: case L::EQEQ: case L::NE: case L::LT: case L::LE: case L::GT: case L::GE:
  case L::COMMA: case L::EQ: case L::LARROW: case L::TILDE: case L::ARROW:
  case L::THEN: case L::ELSE: case L::IN: case L::AND: case L::OR: case L::NOT:
    return true;
  default:
    return false;
  }
}

static bool continuesBefore(size_t type) { return type == L::ELSE || type == L::THEN || type == L::BACKWARD; }
static bool isWord(size_t type) { return type == L::IDENT || isContextualWord(type); }
static bool isOpening(size_t type) { return type == L::LPAREN || type == L::LBRACK || type == L::LBRACE; }
static bool isClosing(size_t type) { return type == L::RPAREN || type == L::RBRACK || type == L::RBRACE; }

static size_t closingOf(size_t opening) {
  return opening == L::LPAREN ? L::RPAREN : opening == L::LBRACK ? L::RBRACK : L::RBRACE;
}

//===----------------------------------------------------------------------===//
// Lexing
//===----------------------------------------------------------------------===//

/// Byte offset of each code point, and of the end.
static std::vector<uint32_t> byteOffsets(std::string_view text, size_t base) {
  std::vector<uint32_t> offsets;
  offsets.reserve(text.size() + 1);
  for (size_t i = 0; i < text.size(); ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0u) != 0x80u)
      offsets.push_back(static_cast<uint32_t>(base + i));
  offsets.push_back(static_cast<uint32_t>(base + text.size()));
  return offsets;
}

static std::string describeCharacter(std::string_view text) {
  auto first = static_cast<unsigned char>(text.front());
  if (first >= 0x20 && first != 0x7F)
    return "`" + std::string(text) + "`";
  static const char digits[] = "0123456789ABCDEF";
  return std::string("U+00") + digits[first >> 4] + digits[first & 15];
}

/// What someone who knows another language wanted to write.
static const char *otherSpelling(std::string_view text) {
  static const std::pair<const char *, const char *> known[] = {
      {"&", "the word is `and`"}, {"|", "the word is `or`"},
      {"!", "the word is `not`, and unequal is `!=`"}, {"'", "strings stand in double quotes"},
      {"\r", "a line ends with a line feed, or a carriage return and one"},
      {"\\", "a line goes on inside brackets and after an operator"}, {"\xE2\x86\x90", "write `<-`"},
      {"\xE2\x86\x92", "write `->`"}, {"\xE2\x88\x92", "write `-`"}, {"\xC2\xB7", "write `*`"}};
  for (auto [character, help] : known)
    if (text == character)
      return help;
  return nullptr;
}

static void reportUnknown(const SourceFile &source, DiagnosticEngine &diags, Span span) {
  std::string_view text = source.text(span);
  auto message = diags.report(Diag::unexpected_character, span, describeCharacter(text));
  if (const char *help = otherSpelling(text))
    message.help(help);
}

static ast::Comment comment(const SourceFile &source, Span span) {
  ast::Comment result{span, std::string(source.text(span)), false, false};
  while (!result.text.empty() && (result.text.back() == ' ' || result.text.back() == '\t'))
    result.text.pop_back();
  uint32_t line = source.lineColumn(span.begin).line;
  uint32_t begin = source.lineBegin(line);
  std::string_view before = source.text({source.id(), begin, span.begin});
  result.ownLine = before.find_first_not_of(" \t\xEF\xBB\xBF") == std::string_view::npos;
  result.blankBefore = result.ownLine && line > 1 &&
                       source.line(line - 1).find_first_not_of(" \t") == std::string_view::npos;
  return result;
}

/// A copy that counts in bytes and does not point at the lexer's text.
static std::unique_ptr<antlr4::CommonToken> detached(const Token &token, const std::vector<uint32_t> &offsets) {
  bool atEnd = token.getType() == Token::EOF;
  size_t last = offsets.size() - 1;
  size_t begin = atEnd ? last : std::min(token.getStartIndex(), last);
  size_t end = atEnd ? last : std::min(token.getStopIndex() + 1, last);
  std::pair<antlr4::TokenSource *, antlr4::CharStream *> nowhere(nullptr, nullptr);
  auto copy = std::make_unique<antlr4::CommonToken>(nowhere, token.getType(), token.getChannel(), offsets[begin],
                                                    offsets[end]);
  copy->setLine(token.getLine());
  copy->setCharPositionInLine(token.getCharPositionInLine());
  return copy;
}

LexedFile parsing::lex(const SourceFile &source, DiagnosticEngine &diags, size_t maxErrors) {
  std::string_view text = source.text();
  size_t base = text.starts_with("\xEF\xBB\xBF") ? 3 : 0; // a byte order mark
  text.remove_prefix(base);
  std::vector<uint32_t> offsets = byteOffsets(text, base);

  antlr4::ANTLRInputStream input{std::string(text)};
  DynLexer lexer(&input);
  lexer.removeErrorListeners();

  LexedFile result;
  size_t reported = 0;
  size_t unknownLine = 0; // of the last meaningless character: one a line is reported
  while (true) {
    TokenPtr token = lexer.nextToken();
    bool atEnd = token->getType() == Token::EOF;
    auto raw = detached(*token, offsets);
    Span span = spanOf(raw.get(), source.id());
    if (token->getType() == L::COMMENT) {
      result.comments.push_back(comment(source, span));
      continue;
    }
    if (token->getType() == L::UNKNOWN) {
      if (token->getLine() != unknownLine && reported++ < maxErrors)
        reportUnknown(source, diags, span);
      unknownLine = token->getLine();
      continue;
    }
    if (token->getType() == L::UNCLOSED_STRING) {
      if (reported++ < maxErrors)
        diags.report(Diag::unclosed_string, span);
      raw->setType(L::STRING);
    }
    result.tokens.push_back(std::move(raw));
    if (atEnd)
      return result;
  }
}

//===----------------------------------------------------------------------===//
// Line ends and brackets
//===----------------------------------------------------------------------===//

StatementTokens::StatementTokens(const LexedFile &lexed, const SourceFile &source, DiagnosticEngine &diags,
                                 bool balance)
    : source(source), diags(diags), balance(balance) {
  filter(lexed);
}

void StatementTokens::pass(const RawToken &token) {
  passed.push_back(token);
  passed.back().setTokenIndex(passed.size() - 1);
}

void StatementTokens::filter(const LexedFile &lexed) {
  const RawToken *held = nullptr; // a line end waiting for the token behind it
  for (size_t i = 0; i < lexed.tokens.size(); ++i) {
    const RawToken &token = *lexed.tokens[i];
    size_t type = token.getType();
    if (type == L::NL) {
      bool inside = !open.empty() && open.back().getType() != L::LBRACE;
      size_t previous = passed.empty() ? L::NL : passed.back().getType();
      if (!held && !inside && !continuesAfter(previous) && previous != L::NL)
        held = &token;
      continue;
    }
    if (balance && beginsDeclaration(lexed, i)) {
      closeOpen(0, token, "a new declaration begins here");
      if (!held)
        held = lexed.tokens[i - 1].get();
    } else if (balance && beginsLineOfWords(lexed, i)) {
      closeOpen(innermostBrace(), token, "a new line begins here");
      if (!held)
        held = lexed.tokens[i - 1].get();
    }
    if (type == Token::EOF && balance)
      closeOpen(0, token, "the file ends here");
    if (held && !continuesBefore(type))
      pass(*held);
    held = nullptr;
    if (isClosing(type)) {
      close(token);
      continue;
    }
    if (isOpening(type))
      open.push_back(token);
    pass(token);
  }
}

void StatementTokens::close(const RawToken &token) {
  size_t type = token.getType();
  if (!balance) {
    if (!open.empty())
      open.pop_back();
    return pass(token);
  }
  size_t match = open.size();
  while (match > 0 && closingOf(open[match - 1].getType()) != type)
    --match;
  // A round or square bracket never reaches out of its block.
  if (match > 0 && type != L::RBRACE && innermostBrace() >= match)
    match = 0;
  bool wrongKind = match == 0 && type != L::RBRACE && innermostBrace() < open.size();
  if (wrongKind) // it was meant for the innermost bracket, which it does not fit
    return closeOpen(open.size() - 1, token, "this bracket is of another kind");
  if (match == 0) {
    diags.report(Diag::unmatched_bracket, spanOf(&token, source.id()), source.text(spanOf(&token, source.id())));
    return;
  }
  closeOpen(match, token, "this comes before it is closed");
  open.pop_back();
  pass(token);
}

/// The number of open brackets up to and including the innermost `{`.
size_t StatementTokens::innermostBrace() const {
  size_t count = open.size();
  while (count > 0 && open[count - 1].getType() != L::LBRACE)
    --count;
  return count;
}

/// Closes all open brackets but the outermost `keep`; one report speaks for all.
void StatementTokens::closeOpen(size_t keep, const RawToken &where, const char *why) {
  if (open.size() <= keep)
    return;
  Span span = spanOf(&open.back(), source.id());
  diags.report(Diag::unclosed_bracket, span, source.text(span)).note(spanOf(&where, source.id()), why);
  while (open.size() > keep) {
    insert(closingOf(open.back().getType()), where);
    open.pop_back();
  }
}

void StatementTokens::insert(size_t type, const RawToken &where) {
  RawToken token(where);
  token.setType(type);
  token.setStopIndex(token.getStartIndex());
  pass(token);
}

static bool beginsLine(const LexedFile &lexed, size_t index) {
  return index > 0 && index + 1 < lexed.tokens.size() && lexed.tokens[index - 1]->getType() == L::NL;
}

/// A declaration's word and a name at the very beginning of a line, with brackets open: a bracket was forgotten.
bool StatementTokens::beginsDeclaration(const LexedFile &lexed, size_t index) const {
  const RawToken &token = *lexed.tokens[index];
  size_t type = token.getType();
  bool declares = type == L::FN || (type >= L::MODEL && type <= L::PROBE);
  return declares && !open.empty() && token.getCharPositionInLine() == 0 && beginsLine(lexed, index) &&
         isWord(lexed.tokens[index + 1]->getType());
}

/// What no value has inside ( ) or [ ] at the beginning of a line: two words, a write or a draw, or within [ ] a
/// definition. So the bracket was forgotten.
bool StatementTokens::beginsLineOfWords(const LexedFile &lexed, size_t index) const {
  size_t type = lexed.tokens[index]->getType();
  bool inside = !open.empty() && open.back().getType() != L::LBRACE;
  if (!inside || !isWord(type) || type == L::LIVE || !beginsLine(lexed, index))
    return false;
  size_t following = lexed.tokens[index + 1]->getType();
  return isWord(following) || following == L::LARROW || following == L::TILDE ||
         (following == L::EQ && open.back().getType() == L::LBRACK);
}

TokenPtr StatementTokens::nextToken() {
  const RawToken &token = passed[std::min(next, passed.size() - 1)];
  ++next;
  return std::make_unique<RawToken>(token);
}

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

namespace {
/// What one open bracket adds to the depth of the tree.
struct Level {
  size_t nested = 0;     ///< constructs open to the right: signs, `if`, closures
  size_t operations = 0; ///< operators, calls, members since the last separator
};
} // namespace

static bool nestsToTheRight(size_t type, bool prefix) {
  switch (type) {
  case L::MINUS:
    return prefix;
  case L::NOT: case L::HAT: case L::IF: case L::FOR: case L::ARROW: case L::FN:
    return true;
  default:
    return false;
  }
}

bool StatementTokens::checkLimits(const ParseLimits &limits) const {
  std::vector<Level> levels(1);
  size_t depth = 0, operations = 0; // sums over the levels
  size_t previous = L::NL;
  for (const RawToken &token : passed) {
    size_t type = token.getType();
    Level &level = levels.back();
    bool prefix = continuesAfter(previous) || isOpening(previous) || isReservedWord(previous) || previous == L::NL;
    if (type == L::NL || type == L::SEMI || type == L::COMMA) {
      depth -= level.nested;
      operations -= level.operations;
      level = Level();
    } else if (isClosing(type) && levels.size() > 1) {
      depth -= level.nested + 1;
      operations -= level.operations;
      levels.pop_back();
    } else if (nestsToTheRight(type, prefix)) {
      ++level.nested;
      ++depth;
    } else if (continuesAfter(type) || type == L::DOT || isOpening(type)) {
      ++level.operations;
      ++operations;
    }
    if (isOpening(type)) {
      levels.emplace_back();
      ++depth;
    }
    previous = type;
    Span span = spanOf(&token, source.id());
    if (depth > limits.depth) {
      diags.report(Diag::nested_too_deep, span, limits.depth).help("name a part of it");
      return false;
    }
    if (operations > limits.operations) {
      diags.report(Diag::chain_too_long, span, limits.operations).help("name a part of it");
      return false;
    }
  }
  return true;
}
