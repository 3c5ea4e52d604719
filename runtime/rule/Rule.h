//===- Rule.h - one rule over flat arrays ---------------------------------===//
//
// What `dync build --lib` compiles a rule to, and the C that runs it. A rule
// that works element by element is compiled for ranges of a few lengths, and
// a step goes over any number of elements by them; one that knows its leaves
// is compiled for all of them at once. The state lives in memory that the
// caller gives; nothing is allocated and nothing is global.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_RUNTIME_RULE_RULE_H
#define DYN_RUNTIME_RULE_RULE_H

#include "runtime/Formula.h"
#include "runtime/abi.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Bounds that `dync build --lib` keeps to: what a step holds on its stack.
enum { DYN_RULE_ARENAS = 12, DYN_RULE_NUMBERS = 128, DYN_RULE_TAIL = 64 };

enum DynRuleRole { DYN_RULE_PARAMS, DYN_RULE_GRADS, DYN_RULE_STATE, DYN_RULE_WORK };

typedef struct DynRuleArena {
  int32_t role;         ///< a DynRuleRole
  int32_t elementBytes; ///< of a state: one element for each parameter; 0: `bytes` in all
  int64_t bytes;
} DynRuleArena;

/// Code for a range of `count` elements.
typedef struct DynRuleRange {
  int64_t count;
  DynEntry init, update;
} DynRuleRange;

typedef struct DynRuleNumber {
  const DynFormulaCode *codes; ///< over the hyperparameters
  int64_t count;               ///< 0: always `value`
  double value;
} DynRuleNumber;

typedef struct DynRule {
  const DynRuleRange *ranges; ///< longest first, the last of DYN_RULE_TAIL elements; one of all: `fixed`
  int64_t rangeCount;
  int64_t fixed;        ///< parameters; 0: any number
  int64_t elementBytes; ///< of a parameter
  const DynRuleArena *arenas;
  int64_t arenaCount;
  const DynRuleNumber *numbers;
  int64_t numberCount;
  const double *defaults; ///< of the hyperparameters
} DynRule;

size_t dyn_rule_state_size(const DynRule *rule, size_t count);
void *dyn_rule_init(const DynRule *rule, void *memory, size_t count, const void *params);
void dyn_rule_step(const DynRule *rule, void *state, void *params, const void *grads, const double *hyper);
int64_t dyn_rule_steps(const void *state);
void dyn_rule_set_steps(void *state, int64_t steps);
/// State number `number` of the rule, in the order of its arenas.
void *dyn_rule_array(const DynRule *rule, void *state, int64_t number);
/// dyn_parallel_for of a library: one thread, the caller's.
void dyn_rule_for(DynContext *ctx, DynRange body, void *closure, int64_t extent, int64_t grain);

#ifdef __cplusplus
}
#endif
#endif // DYN_RUNTIME_RULE_RULE_H
