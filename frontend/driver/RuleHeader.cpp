#include "frontend/driver/RuleHeader.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

namespace dyn {
namespace {

/// Of C and C++: what a field cannot be called.
constexpr llvm::StringRef keywords[] = {
    "alignas", "alignof", "asm", "auto", "bool", "break", "case", "catch", "char", "class", "const", "constexpr",
    "continue", "decltype", "default", "delete", "do", "double", "else", "enum", "explicit", "export", "extern",
    "false", "float", "for", "friend", "goto", "if", "inline", "int", "long", "mutable", "namespace", "new",
    "noexcept", "nullptr", "operator", "private", "protected", "public", "register", "restrict", "return", "short",
    "signed", "sizeof", "static", "struct", "switch", "template", "this", "throw", "true", "try", "typedef", "typeid",
    "typename", "union", "unsigned", "using", "virtual", "void", "volatile", "while",
};

std::string cName(const std::string &name) { return llvm::is_contained(keywords, name) ? name + "_" : name; }

std::string numberText(double value) {
  if (std::isnan(value))
    return "NAN";
  if (std::isinf(value))
    return value > 0 ? "HUGE_VAL" : "-HUGE_VAL";
  char text[40];
  for (int digits : {6, 15, 17}) {
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value)
      break;
  }
  return text;
}

const char *cType(plan::Element element) {
  switch (element) {
  case plan::Element::f32:
    return "float";
  case plan::Element::f64:
    return "double";
  case plan::Element::i64:
    return "int64_t";
  case plan::Element::i1:
    break;
  }
  return "unsigned char";
}

// In the texts below $p is the prefix, $P the same in capitals, $real the type of a parameter, $n and $first the number of
// parameters where it is an argument.

constexpr const char *opening = R"(/* $p.h - made by dync build --lib, for $cpu. C99 and C++. */
#ifndef $P_H
#define $P_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Hyperparameters; $P_DEFAULTS has their defaults. */
typedef struct $p_hyper {
$fields} $p_hyper;
#define $P_DEFAULTS {$defaults}

)";

constexpr const char *fixedCount = R"(/* Parameters, all leaves one after the other, row by row. */
enum { $P_COUNT = $count };

)";

constexpr const char *functions = R"(/* The state of one run of the rule, in memory of the caller's. Different states
   may be used by different threads at once. Nothing is allocated and nothing is
   global. */
typedef struct $p_state $p_state;

/* Bytes that a state takes. */
size_t $p_state_size($n);

/* Starts a state in `memory`, of any alignment, which is free again when the
   state is no longer used. States that start from the parameters read them. */
$p_state *$p_init(void *memory, $firstconst $real *params);

/* One update of the parameters in place. `hyper`: null for the defaults. */
void $p_step($p_state *state, $real *params, const $real *grads, const $p_hyper *hyper);

/* Updates made; to be put back with the arrays below when a run goes on. */
int64_t $p_steps(const $p_state *state);
void $p_set_steps($p_state *state, int64_t steps);

)";

constexpr const char *array = R"(/* $count elements of the state. */
$type *$p_$name($p_state *state);

)";

constexpr const char *closing = R"(#ifdef __cplusplus
}
#endif
#endif
)";

using Words = std::vector<std::pair<llvm::StringRef, std::string>>;

/// The text with a value in place of each `$word`; of two words that fit, the first in the list.
std::string filledIn(llvm::StringRef text, const Words &words) {
  std::string filled;
  while (true) {
    auto [before, after] = text.split('$');
    filled += before.str();
    if (before.size() == text.size())
      return filled;
    auto word = llvm::find_if(words, [&](auto &each) { return after.starts_with(each.first); });
    filled += word->second;
    text = after.drop_front(word->first.size());
  }
}

/// Fields of the struct of hyperparameters and their defaults. C has no empty struct.
std::pair<std::string, std::string> hyperparameters(const RuleCode &code) {
  std::string fields, defaults;
  for (const standalone::Hyperparameter &each : code.settable()) {
    fields += "  double " + cName(each.name) + ";\n";
    defaults += (defaults.empty() ? "" : ", ") + numberText(each.value);
  }
  return fields.empty() ? std::pair("  double none; /* it has none */\n", "0") : std::pair(fields, defaults);
}

} // namespace

std::string ruleHeader(const RuleCode &code) {
  auto [fields, defaults] = hyperparameters(code);
  Words words = {{"cpu", code.cpu},
                 {"count", std::to_string(code.count)},
                 {"defaults", defaults},
                 {"fields", fields},
                 {"first", code.fixed ? "" : "size_t n, "},
                 {"n", code.fixed ? "void" : "size_t n"},
                 {"real", code.precision == "f64" ? "double" : "float"},
                 {"P", llvm::StringRef(code.prefix).upper()},
                 {"p", code.prefix}};
  std::string text = filledIn(opening, words);
  if (code.fixed)
    text += filledIn(fixedCount, words);
  text += filledIn(functions, words);
  for (const RuleCode::State &state : code.states)
    text += filledIn(array, {{"count", code.fixed ? std::to_string(state.count) : "n"},
                         {"type", cType(state.element)},
                         {"name", state.name},
                         {"p", code.prefix}});
  return text + closing;
}

} // namespace dyn
