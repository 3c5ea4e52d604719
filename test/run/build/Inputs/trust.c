/* Norms are those of each leaf: W of 3 by 2, then b of 5. */
#include "trust.h"

#include <stdio.h>
#include <stdlib.h>

static double norm(const double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i)
    sum += x[i] * x[i];
  return sqrt(sum);
}

int main(void) {
  double p[TRUST_COUNT], g[TRUST_COUNT], want[TRUST_COUNT];
  for (int i = 0; i < TRUST_COUNT; ++i) {
    p[i] = 1 + i;
    g[i] = i % 3 - 1.5;
  }
  for (int i = 0; i < TRUST_COUNT; ++i) {
    int first = i < 6 ? 0 : 6, count = i < 6 ? 6 : 5;
    want[i] = p[i] - 0.1 * norm(p + first, count) / (norm(g + first, count) + 1e-12) * g[i];
  }
  void *memory = malloc(trust_state_size());
  if (TRUST_COUNT != 11 || !memory)
    return 1;
  trust_state *state = trust_init(memory, p);
  trust_step(state, p, g, NULL);
  for (int i = 0; i < TRUST_COUNT; ++i)
    if (fabs(p[i] - want[i]) > 1e-14 * fabs(want[i])) {
      printf("%d: %.17g, not %.17g\n", i, p[i], want[i]);
      return 1;
    }
  free(memory);
  return 0;
}
