//===- Formula.cpp --------------------------------------------------------===//
#include "runtime/Formula.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace dyn {
namespace {

struct Operation {
  const char *spelling;
  int operands;
  int32_t code;
};

constexpr Operation operations[] = {
#define DYN_FORMULA(NAME, SPELLING, OPERANDS, VALUE) {SPELLING, OPERANDS, DYN_FORMULA_##NAME},
#include "runtime/Formula.def"
#undef DYN_FORMULA
};

class Compiler {
public:
  Compiler(const std::string &text, const std::vector<std::string> &variables) : words(text), variables(variables) {}

  std::optional<std::vector<DynFormulaCode>> run() {
    std::string rest;
    bool whole = term(1) && !(words >> rest);
    return whole ? std::optional(std::move(codes)) : std::nullopt;
  }

private:
  /// Reads one term; `depth`: numbers on the stack once its first one is.
  bool term(int depth) {
    std::string word;
    if (!(words >> word) || depth > DYN_FORMULA_DEPTH)
      return false;
    for (const Operation &operation : operations)
      if (word == operation.spelling) {
        for (int i = 0; i < operation.operands; ++i)
          if (!term(depth + i))
            return false;
        codes.push_back({operation.code, 0, 0});
        return true;
      }
    return word[0] == '$' ? variable(word.substr(1)) : number(word);
  }
  bool variable(const std::string &name) {
    auto found = std::find(variables.begin(), variables.end(), name);
    codes.push_back({DYN_FORMULA_VARIABLE, static_cast<int32_t>(found - variables.begin()), 0});
    return found != variables.end();
  }
  bool number(const std::string &word) {
    char *end = nullptr;
    codes.push_back({DYN_FORMULA_NUMBER, 0, std::strtod(word.c_str(), &end)});
    return *end == '\0';
  }

  std::istringstream words;
  const std::vector<std::string> &variables;
  std::vector<DynFormulaCode> codes;
};

} // namespace

std::optional<std::vector<DynFormulaCode>> compileFormula(const std::string &text,
                                                          const std::vector<std::string> &variables) {
  return Compiler(text, variables).run();
}

} // namespace dyn
