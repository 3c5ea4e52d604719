//===- Notation.h - Formulas as text or as LaTeX ----------------*- C++ -*-===//
//
// How a formula is written. Formulas.cpp walks an expression and asks a notation for each part; what a notation does not
// change keeps the brackets of the source, so that a formula means what the code means.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dyn::explain {

/// How firmly a formula holds together. One that stands where a firmer one has to gets brackets.
enum class Strength : uint8_t { Open, Relation, Sum, Product, Prefix, Power, Atom };

struct Formula {
  std::string text;
  Strength strength = Strength::Atom;
};

/// The signs that no name or number is.
enum class Sign : uint8_t { Becomes, Equals, Drawn, MapsTo, Minus, Times, Apart, Infinity, Element, Reals, By };

/// How a function of the language is written: `$0` is its first argument, `$[0]` the same in brackets unless it is one
/// symbol.
struct Shape {
  std::string_view function;
  size_t arguments; ///< how many it has to have
  const char *text, *latex;
  Strength strength;
};
/// `‖x‖` for `norm(x)`; null for one that is written as a name and its arguments.
const Shape *shapeOf(std::string_view function, size_t arguments);
/// `∇²f(x) v` for `hvp(f)(x, v)`: `$0` is the function, then come its arguments. Null if it is no derivative.
const Shape *derivativeOf(std::string_view function, size_t arguments);

/// What a line of a paper's box says.
struct Line {
  size_t depth = 0;    ///< of blocks around it
  std::string left;    ///< what is defined, or all of the line
  std::string sign;    ///< between left and right; empty: there is no right
  std::vector<Formula> right; ///< one formula, or one for each case
  std::vector<std::string> conditions; ///< of all cases but the last; empty: it is no case
  std::string note;    ///< the comment beside it
};

class Notation {
public:
  virtual ~Notation() = default;

  /// `beta1_hat` as β̂₁.
  virtual std::string variable(std::string_view name) const = 0;
  /// The name of a function, an option, a string.
  virtual std::string word(std::string_view name) const = 0;
  virtual std::string number(std::string_view text) const = 0;
  /// Words of a sentence, such as " if ".
  virtual std::string prose(std::string_view words) const = 0;
  virtual const char *sign(Sign sign) const = 0;
  virtual const char *relation(std::string_view spelling) const = 0;
  virtual std::string brackets(const std::string &inside) const = 0;
  /// A word with what it is over: `mean` over `example`.
  virtual std::string lowered(const std::string &word, const std::string &below) const = 0;
  /// What `base^exponent` is; the exponent without its brackets.
  virtual Formula power(const Formula &base, const Formula &exponent) const = 0;
  /// Whether numerators stand above denominators, and so need no brackets.
  virtual bool stacksFractions() const = 0;
  virtual std::string fraction(const std::string &above, const std::string &below) const = 0;
  /// `yes` where the condition holds; `word` is "if" of one condition, "where" of one for each entry.
  virtual Formula choice(std::string_view word, const std::string &condition, const Formula &yes, const Formula &no) const = 0;
  virtual const char *pattern(const Shape &shape) const = 0;
  /// All lines of a box.
  virtual std::string layOut(const std::vector<Line> &lines) const = 0;

  /// A formula where one of at least this strength has to stand.
  std::string within(const Formula &formula, Strength least) const {
    return formula.strength < least ? brackets(formula.text) : formula.text;
  }
  /// A shape with its arguments.
  Formula filled(const Shape &shape, const std::vector<Formula> &arguments) const;
};

const Notation &textNotation();
const Notation &latexNotation();

/// The parts of a name: `beta1_hat` is `beta`, `1`, `hat`.
struct NameParts {
  std::string stem, digits, mark;
  std::vector<std::string> rest; ///< what else stands between underscores
};
NameParts partsOf(std::string_view name);
/// The Greek letter that a stem names, as its name in LaTeX (`epsilon` for `eps`); empty for other stems.
std::string greekOf(std::string_view stem);

} // namespace dyn::explain
