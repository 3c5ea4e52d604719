//===- RuleKinds.h - What each kind of rule sees and owes -------*- C++ -*-===//

#pragma once

#include "frontend/Ast.h"

#include <string>
#include <string_view>
#include <vector>

namespace dyn {

/// What a rule has to do besides writing.
enum class RuleMust : uint8_t { Nothing, Return, Emit, Send };

/// A row of RuleKinds.def.
struct RuleKindInfo {
  ast::RuleKind kind;
  std::vector<std::string> reads;     ///< socket names that may only be read, those of every rule included
  std::vector<std::string> writes;    ///< socket names that may be written too
  std::vector<std::string> mustWrite; ///< one of these
  RuleMust must;
  std::vector<std::string> heads;
  bool supported; ///< by this release

  bool canRead(std::string_view name) const;
  bool canWrite(std::string_view name) const;
  bool allowsHead(std::string_view head) const;
};

const RuleKindInfo &ruleKindInfo(ast::RuleKind kind);

/// "an optimizer", "a clip".
std::string withArticle(std::string_view noun);

/// "`a`, `b` or `c`".
std::string listed(const std::vector<std::string> &names, std::string_view lastWord = "or");

/// The words of a text that single spaces part.
std::vector<std::string> words(std::string_view text);

} // namespace dyn
