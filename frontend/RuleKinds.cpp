//===- RuleKinds.cpp - What each kind of rule sees and owes -----*- C++ -*-===//

#include "frontend/RuleKinds.h"

#include <algorithm>

using namespace dyn;

static bool contains(const std::vector<std::string> &list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

std::vector<std::string> dyn::words(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    size_t end = std::min(text.find(' '), text.size());
    if (end != 0)
      out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

bool RuleKindInfo::canRead(std::string_view name) const { return contains(reads, name) || canWrite(name); }
bool RuleKindInfo::canWrite(std::string_view name) const { return contains(writes, name); }
bool RuleKindInfo::allowsHead(std::string_view head) const { return contains(heads, head); }

static RuleKindInfo row(ast::RuleKind kind, const char *reads, const char *writes, const char *mustWrite,
                        RuleMust must, const char *heads, bool supported) {
  return {kind, words(std::string("t total epoch round metric ") + reads),
          words(writes), words(mustWrite), must, words(heads), supported};
}

const RuleKindInfo &dyn::ruleKindInfo(ast::RuleKind kind) {
  static const RuleKindInfo table[] = {
#define RULE_KIND(name, reads, writes, mustWrite, must, heads, supported)                                              \
  row(ast::RuleKind::name, reads, writes, mustWrite, RuleMust::must, heads, supported),
#include "frontend/RuleKinds.def"
  };
  return table[static_cast<size_t>(kind)];
}

std::string dyn::withArticle(std::string_view noun) {
  bool vowel = !noun.empty() && std::string_view("aeiou").find(noun.front()) != std::string_view::npos;
  return (vowel ? "an " : "a ") + std::string(noun);
}

std::string dyn::listed(const std::vector<std::string> &names, std::string_view lastWord) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i)
      out += i + 1 == names.size() ? " " + std::string(lastWord) + " " : ", ";
    out += "`" + names[i] + "`";
  }
  return out;
}
