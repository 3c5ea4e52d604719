//===- Errors.h - Syntax errors in the words of the language ----*- C++ -*-===//
//
// Private to frontend/parse/.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/parse/Parser.h"

#include "antlr4-runtime.h"

namespace dyn::parsing {

/// Reports what was found and what may stand there, then resumes at the next line of the same block (at the top:
/// the next line that is not indented), so that one mistake gives one message and several give several.
class SyntaxErrors : public antlr4::ANTLRErrorStrategy {
public:
  SyntaxErrors(const SourceFile &source, DiagnosticEngine &diags, size_t maxErrors)
      : source(source), diags(diags), maxErrors(maxErrors) {}

  /// Whether the parser met an error, said or not.
  bool sawError() const { return lastIndex != ~size_t(0); }

  void reset(antlr4::Parser *) override { recovering = false; }
  antlr4::Token *recoverInline(antlr4::Parser *parser) override;
  void recover(antlr4::Parser *parser, std::exception_ptr error) override;
  void sync(antlr4::Parser *parser) override;
  bool inErrorRecoveryMode(antlr4::Parser *) override { return recovering; }
  void reportMatch(antlr4::Parser *) override {}
  void reportError(antlr4::Parser *parser, const antlr4::RecognitionException &error) override;

private:
  void report(antlr4::Parser *parser, antlr4::Token *found, const antlr4::misc::IntervalSet &expected);
  void addHelp(antlr4::Parser *parser, DiagnosticBuilder &message, antlr4::Token *found,
               const antlr4::misc::IntervalSet &expected);
  bool isConsequence(const antlr4::Token *found) const;
  std::string nearWord(const antlr4::Token *found, const antlr4::misc::IntervalSet &expected,
                       const antlr4::dfa::Vocabulary &vocabulary) const;
  void skipToLineEnd(antlr4::Parser *parser, bool top);
  std::string quoted(const antlr4::Token *token) const;
  std::string describe(const antlr4::Token *token) const;

  const SourceFile &source;
  DiagnosticEngine &diags;
  size_t maxErrors;
  size_t reported = 0;
  bool recovering = false;
  size_t lastIndex = ~size_t(0); ///< where the last error was; no token is reported twice
  /// What could have stood at a token besides what stands there: the options that were passed over.
  antlr4::misc::IntervalSet optional;
  size_t optionalIndex = ~size_t(0);
};

} // namespace dyn::parsing
