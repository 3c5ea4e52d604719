//===- Formula.h - numbers made of hyperparameters ------------------------===//
//
// A number of the plan that the compiler folded from hyperparameters, as it is
// made again when they change without a compiler: `1 - beta1` is "- 1 $beta1",
// each operation before its operands. A compiled formula is a list of codes
// for a stack; the evaluator below is C, since a rule's library is.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_RUNTIME_FORMULA_H
#define DYN_RUNTIME_FORMULA_H

#include <math.h>
#include <stdint.h>

enum {
  DYN_FORMULA_NUMBER,   ///< pushes `value`
  DYN_FORMULA_VARIABLE, ///< pushes variable number `variable`
#define DYN_FORMULA(NAME, SPELLING, OPERANDS, VALUE) DYN_FORMULA_##NAME,
#include "runtime/Formula.def"
#undef DYN_FORMULA
  DYN_FORMULA_COUNT
};

/// Numbers that a formula may hold at once.
enum { DYN_FORMULA_DEPTH = 32 };

typedef struct DynFormulaCode {
  int32_t code;
  int32_t variable;
  double value;
} DynFormulaCode;

/// The value of `count` codes (at least 1) that together leave one number.
static inline double dyn_formula_value(const DynFormulaCode *codes, int64_t count, const double *variables) {
  double stack[DYN_FORMULA_DEPTH];
  double *top = stack;
  for (int64_t i = 0; i < count; ++i) {
    switch (codes[i].code) {
    case DYN_FORMULA_NUMBER:
      *top++ = codes[i].value;
      break;
    case DYN_FORMULA_VARIABLE:
      *top++ = variables[codes[i].variable];
      break;
#define DYN_FORMULA(NAME, SPELLING, OPERANDS, VALUE)                                                                   \
  case DYN_FORMULA_##NAME: {                                                                                           \
    double y = top[-1], x = top[-(OPERANDS)];                                                                          \
    (void)y;                                                                                                           \
    top -= (OPERANDS)-1;                                                                                               \
    top[-1] = VALUE;                                                                                                   \
    break;                                                                                                             \
  }
#include "runtime/Formula.def"
#undef DYN_FORMULA
    }
  }
  return top[-1];
}

#ifdef __cplusplus
#include <optional>
#include <string>
#include <vector>

namespace dyn {

/// The codes of a formula; `variables`: names, whose places the codes say. Nothing when it is none or needs more than
/// DYN_FORMULA_DEPTH numbers at once.
std::optional<std::vector<DynFormulaCode>> compileFormula(const std::string &text,
                                                          const std::vector<std::string> &variables);

} // namespace dyn
#endif
#endif // DYN_RUNTIME_FORMULA_H
