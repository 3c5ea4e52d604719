// What both notations share: the shapes of functions, and what a name is made of.

#include "frontend/explain/Notation.h"

#include <algorithm>
#include <cctype>

namespace dyn::explain {

static const Shape shapes[] = {
    {"norm", 1, "‖$0‖", "\\lVert $0 \\rVert", Strength::Atom},
    {"abs", 1, "|$0|", "\\lvert $0 \\rvert", Strength::Atom},
    {"sqrt", 1, "√$[0]", "\\sqrt{$0}", Strength::Prefix},
    {"rsqrt", 1, "1/√$[0]", "\\frac{1}{\\sqrt{$0}}", Strength::Product},
    {"dot", 2, "⟨$0, $1⟩", "\\langle $0, $1 \\rangle", Strength::Atom},
    {"floor", 1, "⌊$0⌋", "\\lfloor $0 \\rfloor", Strength::Atom},
    {"ceil", 1, "⌈$0⌉", "\\lceil $0 \\rceil", Strength::Atom},
    {"zeros_like", 1, "0", "0", Strength::Atom},
    {"ones_like", 1, "1", "1", Strength::Atom},
    {"eye", 1, "I", "I", Strength::Atom},
    {"inverse", 1, "$[0]⁻¹", "{$[0]}^{-1}", Strength::Power},
    {"transpose", 1, "$[0]ᵀ", "{$[0]}^{\\top}", Strength::Power},
    {"outer", 2, "$[0] $[1]ᵀ", "$[0] {$[1]}^{\\top}", Strength::Product},
    {"normal", 0, "N(0, 1)", "\\mathcal{N}(0, 1)", Strength::Atom},
    {"normal", 2, "N($0, $[1]²)", "\\mathcal{N}(0, {$[1]}^2)", Strength::Atom},
    {"uniform", 0, "U(0, 1)", "\\mathcal{U}(0, 1)", Strength::Atom},
    {"uniform", 2, "U($0, $1)", "\\mathcal{U}($0, $1)", Strength::Atom},
    {"loss", 1, "L($0)", "L($0)", Strength::Atom},
    {"gradient", 1, "∇L($0)", "\\nabla L($0)", Strength::Prefix},
};

static const Shape derivatives[] = {
    {"grad", 2, "∇$[0]($1)", "\\nabla $[0]($1)", Strength::Prefix},
    {"hessian", 2, "∇²$[0]($1)", "\\nabla^2 $[0]($1)", Strength::Prefix},
    {"jacobian", 2, "∂$[0]($1)", "\\partial $[0]($1)", Strength::Prefix},
    {"hvp", 3, "∇²$[0]($1) $[2]", "\\nabla^2 $[0]($1)\\, $[2]", Strength::Product},
    {"jvp", 3, "∂$[0]($1) $[2]", "\\partial $[0]($1)\\, $[2]", Strength::Product},
    {"vjp", 3, "∂$[0]($1)ᵀ $[2]", "\\partial $[0]($1)^{\\top} $[2]", Strength::Product},
};

template <size_t n>
static const Shape *find(const Shape (&table)[n], std::string_view function, size_t arguments) {
  auto fits = [&](const Shape &shape) { return shape.function == function && shape.arguments == arguments; };
  const Shape *found = std::find_if(std::begin(table), std::end(table), fits);
  return found == std::end(table) ? nullptr : found;
}

const Shape *shapeOf(std::string_view function, size_t arguments) { return find(shapes, function, arguments); }
const Shape *derivativeOf(std::string_view function, size_t arguments) { return find(derivatives, function, arguments); }

Formula Notation::filled(const Shape &shape, const std::vector<Formula> &arguments) const {
  std::string made;
  for (std::string_view rest = pattern(shape); !rest.empty();) {
    size_t at = rest.find('$');
    made += rest.substr(0, at);
    if (at == std::string_view::npos)
      break;
    bool isGuarded = rest[at + 1] == '[';
    const Formula &argument = arguments[static_cast<size_t>(rest[at + (isGuarded ? 2 : 1)] - '0')];
    made += isGuarded ? within(argument, Strength::Atom) : argument.text;
    rest.remove_prefix(at + (isGuarded ? 4 : 2));
  }
  return {made, shape.strength};
}

NameParts partsOf(std::string_view name) {
  NameParts parts;
  std::vector<std::string> words;
  for (size_t begin = 0; begin <= name.size();) {
    size_t end = std::min(name.find('_', begin), name.size());
    words.emplace_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  if (words.size() > 1 && (words.back() == "hat" || words.back() == "bar" || words.back() == "tilde")) {
    parts.mark = words.back();
    words.pop_back();
  }
  parts.stem = words.front();
  size_t letters = parts.stem.size();
  while (letters > 1 && std::isdigit(static_cast<unsigned char>(parts.stem[letters - 1])))
    --letters;
  parts.digits = parts.stem.substr(letters);
  parts.stem.resize(letters);
  parts.rest.assign(words.begin() + 1, words.end());
  return parts;
}

std::string greekOf(std::string_view stem) {
  static constexpr std::string_view letters[] = {
      "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "kappa", "lambda", "mu",
      "nu",    "xi",   "pi",    "rho",   "sigma",   "tau",  "phi", "chi",   "psi",   "omega"};
  if (stem == "eps")
    return "epsilon";
  return std::find(std::begin(letters), std::end(letters), stem) == std::end(letters) ? "" : std::string(stem);
}

} // namespace dyn::explain
