//===- Rule.c -------------------------------------------------------------===//
#include "runtime/rule/Rule.h"

#include <string.h>

enum { LINE = 64 };

/// In front of the arrays, which follow in the order of the arenas, each from a cache line on.
typedef struct State {
  int64_t count, steps;
} State;

static size_t roundUp(size_t bytes) { return (bytes + LINE - 1) / LINE * LINE; }

static size_t bytesOf(const DynRuleArena *arena, size_t count) {
  if (arena->role == DYN_RULE_PARAMS || arena->role == DYN_RULE_GRADS)
    return 0;
  return roundUp(arena->elementBytes ? count * (size_t)arena->elementBytes : (size_t)arena->bytes);
}

size_t dyn_rule_state_size(const DynRule *rule, size_t count) {
  size_t size = roundUp(sizeof(State)) + LINE; // one line to start at a whole one
  for (int64_t i = 0; i < rule->arenaCount; ++i)
    size += bytesOf(&rule->arenas[i], count);
  return size;
}

/// Where the arenas are; elements of params and grads as well.
typedef struct Places {
  char *base[DYN_RULE_ARENAS];
} Places;

static Places placesOf(const DynRule *rule, void *state, const void *params, const void *grads) {
  Places places;
  char *next = (char *)state + roundUp(sizeof(State));
  size_t count = (size_t)((State *)state)->count;
  for (int64_t i = 0; i < rule->arenaCount; ++i) {
    const DynRuleArena *arena = &rule->arenas[i];
    // Only a step writes parameters, and it was given a pointer that may.
    const void *given = arena->role == DYN_RULE_PARAMS ? params : grads;
    places.base[i] = (char *)(uintptr_t)given;
    if (arena->role == DYN_RULE_STATE || arena->role == DYN_RULE_WORK) {
      places.base[i] = next;
      next += bytesOf(arena, count);
    }
  }
  return places;
}

/// Bytes of one element where the arena has one for each parameter, else 0: the range has all of it.
static size_t strideOf(const DynRule *rule, int64_t i) {
  const DynRuleArena *arena = &rule->arenas[i];
  if (arena->role == DYN_RULE_PARAMS || arena->role == DYN_RULE_GRADS)
    return (size_t)rule->elementBytes;
  return (size_t)arena->elementBytes;
}

static void call(DynEntry entry, DynContext *ctx, void *const *arenas) {
  ctx->arenas = arenas;
  entry(ctx);
}

/// Fewer elements than the shortest range: on copies, so that nothing beside them is touched.
static void runTail(const DynRule *rule, DynEntry entry, DynContext *ctx, const Places *places, size_t done,
                    size_t left) {
  // double: aligned for every element.
  double copies[DYN_RULE_ARENAS][DYN_RULE_TAIL];
  void *arenas[DYN_RULE_ARENAS];
  for (int64_t i = 0; i < rule->arenaCount; ++i) {
    size_t stride = strideOf(rule, i);
    arenas[i] = places->base[i];
    if (stride == 0 || !places->base[i])
      continue;
    memset(copies[i], 0, sizeof copies[i]);
    memcpy(copies[i], places->base[i] + done * stride, left * stride);
    arenas[i] = copies[i];
  }
  call(entry, ctx, arenas);
  for (int64_t i = 0; i < rule->arenaCount; ++i)
    // Gradients are read, and so are parameters where a state starts.
    if (arenas[i] == (void *)copies[i] && rule->arenas[i].role != DYN_RULE_GRADS &&
        (rule->arenas[i].role != DYN_RULE_PARAMS || entry == rule->ranges[rule->rangeCount - 1].update))
      memcpy(places->base[i] + done * strideOf(rule, i), copies[i], left * strideOf(rule, i));
}

static void runAll(const DynRule *rule, DynContext *ctx, const Places *places, size_t count, int update) {
  size_t done = 0;
  void *arenas[DYN_RULE_ARENAS];
  for (int64_t r = 0; r < rule->rangeCount; ++r) {
    const DynRuleRange *range = &rule->ranges[r];
    for (; count - done >= (size_t)range->count; done += (size_t)range->count) {
      for (int64_t i = 0; i < rule->arenaCount; ++i)
        arenas[i] = places->base[i] ? places->base[i] + done * strideOf(rule, i) : NULL;
      call(update ? range->update : range->init, ctx, arenas);
      if (rule->fixed)
        return;
    }
  }
  const DynRuleRange *last = &rule->ranges[rule->rangeCount - 1];
  if (done < count)
    runTail(rule, update ? last->update : last->init, ctx, places, done, count - done);
}

static void fillNumbers(const DynRule *rule, const double *hyper, double *numbers) {
  for (int64_t i = 0; i < rule->numberCount; ++i) {
    const DynRuleNumber *number = &rule->numbers[i];
    numbers[i] = number->count ? dyn_formula_value(number->codes, number->count, hyper) : number->value;
  }
}

void *dyn_rule_init(const DynRule *rule, void *memory, size_t count, const void *params) {
  char *aligned = (char *)(((uintptr_t)memory + LINE - 1) / LINE * LINE);
  memset(aligned, 0, dyn_rule_state_size(rule, count) - LINE);
  State *state = (State *)aligned;
  state->count = (int64_t)count;
  double numbers[DYN_RULE_NUMBERS];
  fillNumbers(rule, rule->defaults, numbers);
  DynContext ctx;
  memset(&ctx, 0, sizeof ctx);
  ctx.numbers = numbers;
  Places places = placesOf(rule, state, params, NULL);
  runAll(rule, &ctx, &places, count, 0);
  return state;
}

void dyn_rule_step(const DynRule *rule, void *memory, void *params, const void *grads, const double *hyper) {
  State *state = memory;
  double numbers[DYN_RULE_NUMBERS];
  fillNumbers(rule, hyper ? hyper : rule->defaults, numbers);
  DynContext ctx;
  memset(&ctx, 0, sizeof ctx);
  ctx.numbers = numbers;
  ctx.clock.step = state->steps++;
  Places places = placesOf(rule, state, params, grads);
  runAll(rule, &ctx, &places, (size_t)state->count, 1);
}

int64_t dyn_rule_steps(const void *state) { return ((const State *)state)->steps; }
void dyn_rule_set_steps(void *state, int64_t steps) { ((State *)state)->steps = steps; }

void *dyn_rule_array(const DynRule *rule, void *state, int64_t number) {
  Places places = placesOf(rule, state, NULL, NULL);
  for (int64_t i = 0; i < rule->arenaCount; ++i)
    if (rule->arenas[i].role == DYN_RULE_STATE && number-- == 0)
      return places.base[i];
  return NULL;
}

void dyn_rule_for(DynContext *ctx, DynRange body, void *closure, int64_t extent, int64_t grain) {
  (void)ctx;
  (void)grain;
  body(closure, 0, extent);
}
