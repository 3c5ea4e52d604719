/* Thirty steps of adamw on Rosenbrock's function of ten numbers, against what optax recorded. */
#include "adamw.h"
#include "recorded.h"

#include <stdio.h>
#include <stdlib.h>

enum { N = 10 };

static double loss_and_gradient(const double *x, double *g) {
  double loss = 0;
  for (int i = 0; i < N; ++i)
    g[i] = 0;
  for (int i = 0; i + 1 < N; ++i) {
    double a = x[i + 1] - x[i] * x[i], b = 1 - x[i];
    loss += 100 * a * a + b * b;
    g[i] += -400 * a * x[i] - 2 * b;
    g[i + 1] += 200 * a;
  }
  return loss;
}

/* Relative to the recorded value; sums are made in another order. */
static int near(double value, double recorded) { return fabs(value - recorded) <= 1e-11 * fabs(recorded); }

int main(void) {
  double x[N], g[N];
  for (int i = 0; i < N; ++i)
    x[i] = i % 2 == 0 ? -1.2 : 1.0;
  void *memory = malloc(adamw_state_size(N));
  if (!memory)
    return 1;
  adamw_state *state = adamw_init(memory, N, x);
  adamw_hyper hyper = ADAMW_DEFAULTS;
  if (hyper.lr != 1e-3 || hyper.beta2 != 0.999) {
    printf("defaults\n");
    return 1;
  }
  hyper.lr = recorded_lr;
  hyper.weight_decay = recorded_decay;
  for (int t = 0; t < 30; ++t) {
    double loss = loss_and_gradient(x, g);
    if (!near(loss, recorded_loss[t])) {
      printf("loss %d: %.17g, recorded %.17g\n", t, loss, recorded_loss[t]);
      return 1;
    }
    adamw_step(state, x, g, &hyper);
  }
  for (int i = 0; i < N; ++i)
    if (!near(x[i], recorded_x[i])) {
      printf("x[%d]: %.17g, recorded %.17g\n", i, x[i], recorded_x[i]);
      return 1;
    }
  if (adamw_steps(state) != 30 || adamw_v(state)[0] <= 0) {
    printf("state\n");
    return 1;
  }
  free(memory);
  return 0;
}
