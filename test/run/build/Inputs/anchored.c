/* x1 = x0 - lr g; x2 = x1 - lr g - pull (x1 - x0), in numbers that halves hold exactly. */
#include "anchored.h"

#include <stdlib.h>

enum { N = 70 };

int main(void) {
  double p[N], g[N];
  for (int i = 0; i < N; ++i) {
    p[i] = i;
    g[i] = 2;
  }
  void *memory = malloc(anchored_state_size(N));
  if (!memory)
    return 1;
  anchored_state *state = anchored_init(memory, N, p);
  anchored_hyper hyper = ANCHORED_DEFAULTS;
  hyper.lr = 0.25;
  if (anchored_before(state)[N - 1] != N - 1)
    return 1;
  for (int t = 0; t < 2; ++t)
    anchored_step(state, p, g, &hyper);
  for (int i = 0; i < N; ++i)
    if (p[i] != i - 0.5 - 0.5 + 0.25 || anchored_before(state)[i] != i - 0.5)
      return 1;
  free(memory);
  return 0;
}
