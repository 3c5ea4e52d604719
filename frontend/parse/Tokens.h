//===- Tokens.h - The newline filter ----------------------------*- C++ -*-===//
//
// Stands between lexer and parser. It decides which line ends end a statement, takes comments and broken
// tokens out, and measures nesting before a recursive parser meets it. Private to frontend/parse/.
//
//   - inside ( ) and [ ] a line end is dropped; the innermost open bracket decides, so a { } restores it;
//   - after an operator, `,` `=` `<-` `~` `->` `then` `else` `in` `and` `or` `not` it is dropped;
//   - before `else`, `then`, `backward` it is dropped;
//   - runs of line ends become one.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/parse/Parser.h"

#include "antlr4-runtime.h"

#include <deque>

namespace dyn::parsing {

using Token = antlr4::Token;
using TokenPtr = std::unique_ptr<antlr4::Token>;

/// A token whose start and stop index are byte offsets, the latter exclusive; it has no text of its own.
inline Span spanOf(const Token *token, FileId file) {
  return {file, static_cast<uint32_t>(token->getStartIndex()), static_cast<uint32_t>(token->getStopIndex())};
}

/// All tokens of a file, comments and line ends included.
struct LexedFile {
  std::vector<std::unique_ptr<antlr4::CommonToken>> tokens; ///< no comments; ends with EOF
  std::vector<ast::Comment> comments;
};

/// Reports characters that have no meaning and strings that are not closed; the former are left out, the
/// latter stay as strings.
LexedFile lex(const SourceFile &source, DiagnosticEngine &diags, size_t maxErrors);

/// The filter. With `balance` it also makes brackets match, reporting those that do not and adding or dropping
/// closing ones, so that a parser behind it sees no consequences. Without, it changes line ends only, which is
/// right for every correct file.
class StatementTokens : public antlr4::TokenSource {
public:
  StatementTokens(const LexedFile &lexed, const SourceFile &source, DiagnosticEngine &diags, bool balance);

  /// Reports nesting or chains beyond the limits; false if there were any.
  bool checkLimits(const ParseLimits &limits) const;

  TokenPtr nextToken() override;
  size_t getLine() const override { return 0; }
  size_t getCharPositionInLine() override { return 0; }
  antlr4::CharStream *getInputStream() override { return nullptr; }
  std::string getSourceName() override { return source.path(); }
  antlr4::TokenFactory<antlr4::CommonToken> *getTokenFactory() override {
    return antlr4::CommonTokenFactory::DEFAULT.get();
  }

private:
  using RawToken = antlr4::CommonToken;

  void filter(const LexedFile &lexed);
  void pass(const RawToken &token);
  void close(const RawToken &token);
  bool beginsDeclaration(const LexedFile &lexed, size_t index) const;
  bool beginsLineOfWords(const LexedFile &lexed, size_t index) const;
  void closeOpen(size_t keep, const RawToken &where, const char *why);
  void insert(size_t type, const RawToken &where);
  size_t innermostBrace() const;

  const SourceFile &source;
  DiagnosticEngine &diags;
  bool balance;
  std::deque<RawToken> passed;
  std::vector<RawToken> open; ///< open brackets, innermost last
  size_t next = 0;
};

/// A word that may also be a name.
bool isContextualWord(size_t type);
/// A word that may not.
bool isReservedWord(size_t type);
/// A token after which a line end does not end the statement.
bool continuesAfter(size_t type);
/// A token that was put in to balance brackets.
inline bool isInserted(const Token *token) {
  return token->getStartIndex() == token->getStopIndex() && token->getType() != Token::EOF;
}

} // namespace dyn::parsing
