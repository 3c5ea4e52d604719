/* Each element of many has the bits of an element alone; what lies beside the arrays is not touched; threads with
   states of their own do not meet; a state goes on where it was put down. */
#include "flat.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 3 };

static float start(size_t i) { return (float)((int)(i * 7919 % 2003) - 1001) / 500; }
static float slope(size_t i, int t) { return (float)((int)(i * 104729 % 1009) - 504) / 300 + (float)t / 8; }

/* `count` elements from number `first` on, `shift` bytes off a line. */
static void train(float *result, size_t first, size_t count, size_t shift) {
  char *room = malloc((count + 40) * sizeof(float));
  char *slopes = malloc((count + 40) * sizeof(float));
  void *memory = malloc(flat_state_size(count) + 1);
  if (!room || !slopes || !memory)
    exit(1);
  memset(room, 0x5a, (count + 40) * sizeof(float));
  float *p = (float *)(void *)(room + shift), *g = (float *)(void *)(slopes + shift);
  for (size_t i = 0; i < count; ++i)
    p[i] = start(first + i);
  flat_state *state = flat_init((char *)memory + 1, count, p);
  for (int t = 0; t < STEPS; ++t) {
    for (size_t i = 0; i < count; ++i)
      g[i] = slope(first + i, t);
    flat_step(state, p, g, NULL);
  }
  for (size_t k = 0; k < sizeof(float) * 8; ++k)
    if (((char *)(p + count))[k] != 0x5a) {
      printf("%lu elements: what lies behind them was written\n", (unsigned long)count);
      exit(1);
    }
  memcpy(result, p, count * sizeof(float));
  free(room);
  free(slopes);
  free(memory);
}

static int same(const float *many, const float *alone, size_t count, const char *what) {
  if (memcmp(many, alone, count * sizeof(float)) == 0)
    return 1;
  printf("%lu elements, %s: other bits\n", (unsigned long)count, what);
  return 0;
}

static void *thread(void *result) {
  train(result, 0, 5000, 4);
  return NULL;
}

int main(void) {
  static const size_t counts[] = {1, 63, 64, 65, 1000, 1024, 1089, 17000, 33001};
  enum { MOST = 33001 };
  static float alone[MOST], many[MOST], other[MOST];
  for (size_t i = 0; i < MOST; ++i)
    train(&alone[i], i, 1, 0);
  train(many, 0, 0, 0);
  for (size_t k = 0; k < sizeof counts / sizeof counts[0]; ++k) {
    train(many, 0, counts[k], 0);
    train(other, 0, counts[k], 4);
    if (!same(many, alone, counts[k], "together") || !same(other, alone, counts[k], "off a line"))
      return 1;
  }
  pthread_t second;
  if (pthread_create(&second, NULL, thread, other) != 0)
    return 1;
  thread(many);
  pthread_join(second, NULL);
  return same(many, alone, 5000, "one thread") && same(other, alone, 5000, "another thread") ? 0 : 1;
}
