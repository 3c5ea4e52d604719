// Formulas as people write them in a mail: Unicode, one line each.

#include "frontend/explain/Notation.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace dyn::explain {
namespace {

using Letters = std::map<std::string, const char *, std::less<>>;

/// Superscripts of single characters; what is not here stands behind `^`.
const Letters raised = {{"0", "⁰"}, {"1", "¹"}, {"2", "²"}, {"3", "³"}, {"4", "⁴"}, {"5", "⁵"}, {"6", "⁶"},
                        {"7", "⁷"}, {"8", "⁸"}, {"9", "⁹"}, {"+", "⁺"}, {"−", "⁻"}, {" ", ""},  {"i", "ⁱ"},
                        {"j", "ʲ"}, {"k", "ᵏ"}, {"m", "ᵐ"}, {"n", "ⁿ"}, {"s", "ˢ"}, {"t", "ᵗ"}};
const Letters greek = {{"alpha", "α"}, {"beta", "β"},  {"gamma", "γ"}, {"delta", "δ"}, {"epsilon", "ε"}, {"zeta", "ζ"},
                       {"eta", "η"},   {"theta", "θ"}, {"kappa", "κ"}, {"lambda", "λ"}, {"mu", "μ"},     {"nu", "ν"},
                       {"xi", "ξ"},    {"pi", "π"},    {"rho", "ρ"},   {"sigma", "σ"}, {"tau", "τ"},     {"phi", "φ"},
                       {"chi", "χ"},   {"psi", "ψ"},   {"omega", "ω"}};
const Letters words = {{"sum", "Σ"}, {"prod", "Π"}, {"inf", "∞"}};
const Letters marks = {{"hat", "\u0302"}, {"bar", "\u0304"}, {"tilde", "\u0303"}};
const Letters relations = {{"<=", "≤"}, {">=", "≥"}, {"!=", "≠"}, {"==", "="}};
const char *const lowDigits[] = {"₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉"};

size_t bytesOfCharacter(char first) {
  unsigned char c = static_cast<unsigned char>(first);
  return c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

/// Columns of a terminal: characters but for marks above others.
size_t columns(std::string_view text) {
  size_t count = 0;
  for (size_t at = 0; at < text.size(); at += bytesOfCharacter(text[at])) {
    bool isMark = text.substr(at, 2) >= std::string_view("\u0300") && text.substr(at, 2) <= std::string_view("\u0304");
    count += !isMark;
  }
  return count;
}

/// A text as superscripts; empty if a character has none.
std::string superscript(std::string_view text) {
  std::string made;
  for (size_t at = 0; at < text.size(); at += bytesOfCharacter(text[at])) {
    auto letter = raised.find(text.substr(at, bytesOfCharacter(text[at])));
    if (letter == raised.end())
      return "";
    made += letter->second;
  }
  return made;
}

class TextNotation : public Notation {
public:
  std::string variable(std::string_view name) const override {
    NameParts parts = partsOf(name);
    auto letter = greek.find(greekOf(parts.stem));
    bool isLetter = letter != greek.end() || parts.stem.size() == 1;
    // A mark stands over one letter; over a word it stays a word.
    if (!parts.mark.empty() && !isLetter)
      return std::string(name);
    std::string made = letter != greek.end() ? letter->second : parts.stem;
    if (!parts.mark.empty())
      made += marks.find(parts.mark)->second;
    for (char digit : parts.digits)
      made += lowDigits[digit - '0'];
    for (const std::string &word : parts.rest)
      made += "_" + word;
    return made;
  }
  std::string word(std::string_view name) const override {
    auto found = words.find(name);
    return found == words.end() ? std::string(name) : found->second;
  }
  std::string number(std::string_view text) const override { return std::string(text); }
  std::string prose(std::string_view words) const override { return std::string(words); }
  const char *sign(Sign sign) const override {
    switch (sign) {
    case Sign::Becomes: return "←";
    case Sign::Equals: return "=";
    case Sign::Drawn: return "~";
    case Sign::MapsTo: return "↦";
    case Sign::Minus: return "−";
    case Sign::Times: return " · ";
    case Sign::Apart: return " ";
    case Sign::Infinity: return "∞";
    case Sign::Element: return "∈";
    case Sign::Reals: return "ℝ";
    case Sign::By: return "×";
    }
    return "";
  }
  const char *relation(std::string_view spelling) const override {
    auto found = relations.find(spelling);
    return found == relations.end() ? spelling.data() : found->second;
  }
  std::string brackets(const std::string &inside) const override { return "(" + inside + ")"; }
  std::string lowered(const std::string &word, const std::string &below) const override { return word + "_" + below; }
  Formula power(const Formula &base, const Formula &exponent) const override {
    std::string high = columns(exponent.text) <= 5 ? superscript(exponent.text) : "";
    std::string below = within(base, Strength::Atom);
    return {high.empty() ? below + "^" + within(exponent, Strength::Atom) : below + high, Strength::Power};
  }
  bool stacksFractions() const override { return false; }
  std::string fraction(const std::string &above, const std::string &below) const override { return above + "/" + below; }
  Formula choice(std::string_view word, const std::string &condition, const Formula &yes, const Formula &no) const override {
    return {within(yes, Strength::Relation) + " " + std::string(word) + " " + condition + ", else " + within(no, Strength::Relation),
            Strength::Open};
  }
  const char *pattern(const Shape &shape) const override { return shape.text; }
  std::string layOut(const std::vector<Line> &lines) const override;

private:
  void addCases(const Line &line, size_t indent, std::vector<std::string> &rows) const;
};

/// Values below one another, then the conditions.
void TextNotation::addCases(const Line &line, size_t indent, std::vector<std::string> &rows) const {
  size_t widest = 0;
  for (const Formula &value : line.right)
    widest = std::max(widest, columns(value.text));
  for (size_t i = 0; i < line.right.size(); ++i) {
    const std::string &value = line.right[i].text;
    std::string gap(widest - columns(value) + 3, ' ');
    std::string condition = i < line.conditions.size() ? "if " + line.conditions[i] : "otherwise";
    if (i > 0)
      rows.emplace_back(indent, ' ');
    rows.back() += value + gap + condition;
  }
}

std::string TextNotation::layOut(const std::vector<Line> &lines) const {
  std::string all;
  size_t noteAt = 0;
  std::vector<std::vector<std::string>> blocks;
  for (const Line &line : lines) {
    std::string head = std::string(2 + 2*line.depth, ' ') + line.left;
    if (!line.sign.empty())
      head += " " + line.sign + " ";
    std::vector<std::string> rows = {head};
    if (!line.conditions.empty())
      addCases(line, columns(head), rows);
    else if (!line.right.empty())
      rows.back() += line.right.front().text;
    if (!line.note.empty())
      noteAt = std::max(noteAt, columns(rows.front()) + 3);
    blocks.push_back(std::move(rows));
  }
  for (size_t i = 0; i < lines.size(); ++i)
    for (const std::string &row : blocks[i]) {
      bool isNoted = &row == &blocks[i].front() && !lines[i].note.empty();
      all += row + (isNoted ? std::string(noteAt - columns(row), ' ') + lines[i].note : "") + "\n";
    }
  return all;
}

} // namespace

const Notation &textNotation() {
  static const TextNotation notation;
  return notation;
}

} // namespace dyn::explain
