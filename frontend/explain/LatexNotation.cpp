// Formulas as LaTeX, for an `align*` of the package amsmath.

#include "frontend/explain/Notation.h"

#include <algorithm>

namespace dyn::explain {
namespace {

/// Functions that LaTeX knows by name.
constexpr std::string_view known[] = {"exp", "log", "max", "min", "sin", "cos", "tan", "tanh", "det", "sum", "prod"};

std::string escaped(std::string_view text) {
  std::string made;
  for (char c : text) {
    if (std::string_view("_#%&{}$").find(c) != std::string_view::npos)
      made += '\\';
    made += c;
  }
  return made;
}

class LatexNotation : public Notation {
public:
  std::string variable(std::string_view name) const override {
    NameParts parts = partsOf(name);
    std::string letter = greekOf(parts.stem);
    bool isLetter = !letter.empty() || parts.stem.size() == 1;
    if (!isLetter)
      return "\\mathit{" + escaped(name) + "}";
    std::string made = letter == "epsilon" ? "\\varepsilon" : letter.empty() ? parts.stem : "\\" + letter;
    if (!parts.mark.empty())
      made = "\\" + parts.mark + "{" + made + "}";
    std::string below = parts.digits;
    for (const std::string &word : parts.rest)
      below += (below.empty() ? "" : ",") + ("\\mathrm{" + escaped(word) + "}");
    return below.empty() ? made : made + "_{" + below + "}";
  }
  std::string word(std::string_view name) const override {
    if (std::find(std::begin(known), std::end(known), name) != std::end(known))
      return "\\" + std::string(name);
    return name == "inf" ? "\\infty" : "\\operatorname{" + escaped(name) + "}";
  }
  std::string number(std::string_view text) const override {
    size_t e = text.find('e');
    if (e == std::string_view::npos || text.starts_with("0x"))
      return escaped(text);
    std::string power = "10^{" + std::string(text.substr(e + 1)) + "}";
    return text.substr(0, e) == "1" ? power : std::string(text.substr(0, e)) + " \\cdot " + power;
  }
  std::string prose(std::string_view words) const override { return "\\text{" + escaped(words) + "}"; }
  const char *sign(Sign sign) const override {
    switch (sign) {
    case Sign::Becomes: return "\\leftarrow";
    case Sign::Equals: return "=";
    case Sign::Drawn: return "\\sim";
    case Sign::MapsTo: return "\\mapsto";
    case Sign::Minus: return "-";
    case Sign::Times: return " \\cdot ";
    case Sign::Apart: return "\\, ";
    case Sign::Infinity: return "\\infty";
    case Sign::Element: return "\\in";
    case Sign::Reals: return "\\mathbb{R}";
    case Sign::By: return "\\times";
    }
    return "";
  }
  const char *relation(std::string_view spelling) const override {
    return spelling == "<=" ? "\\le" : spelling == ">=" ? "\\ge" : spelling == "!=" ? "\\ne" : spelling == "==" ? "=" : spelling.data();
  }
  std::string brackets(const std::string &inside) const override { return "\\left(" + inside + "\\right)"; }
  std::string lowered(const std::string &word, const std::string &below) const override {
    return word + "_{\\mathrm{" + escaped(below) + "}}";
  }
  Formula power(const Formula &base, const Formula &exponent) const override {
    return {"{" + within(base, Strength::Atom) + "}^{" + exponent.text + "}", Strength::Power};
  }
  bool stacksFractions() const override { return true; }
  std::string fraction(const std::string &above, const std::string &below) const override {
    return "\\frac{" + above + "}{" + below + "}";
  }
  Formula choice(std::string_view word, const std::string &condition, const Formula &yes, const Formula &no) const override {
    return {"\\begin{cases} " + yes.text + " & \\text{" + std::string(word) + " } " + condition + " \\\\ " + no.text +
                " & \\text{otherwise} \\end{cases}",
            Strength::Atom};
  }
  const char *pattern(const Shape &shape) const override { return shape.latex; }
  std::string layOut(const std::vector<Line> &lines) const override;
};

std::string LatexNotation::layOut(const std::vector<Line> &lines) const {
  std::string all = "\\begin{align*}\n";
  for (const Line &line : lines) {
    // All to the left, as in a paper's box: signs below one another would lose the depth.
    all += "& ";
    for (size_t i = 0; i < line.depth; ++i)
      all += "\\quad ";
    all += line.left;
    if (!line.sign.empty())
      all += " " + line.sign + " ";
    if (!line.conditions.empty()) {
      all += "\\begin{cases} ";
      for (size_t i = 0; i < line.right.size(); ++i)
        all += line.right[i].text + " & " + (i < line.conditions.size() ? "\\text{if } " + line.conditions[i] + " \\\\ " : "\\text{otherwise}");
      all += " \\end{cases}";
    } else if (!line.right.empty())
      all += line.right.front().text;
    if (!line.note.empty())
      all += " && \\text{" + escaped(line.note) + "}";
    all += &line == &lines.back() ? "\n" : " \\\\\n";
  }
  return all + "\\end{align*}\n";
}

} // namespace

const Notation &latexNotation() {
  static const LatexNotation notation;
  return notation;
}

} // namespace dyn::explain
