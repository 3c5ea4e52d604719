//===- no_alloc.c - counts allocations inside the step loop ---------------===//
//
//   LD_PRELOAD=libno_alloc.so dync run spec.dyn
//
// prints, when the run has made 1,100 updates, how many allocations any thread
// but the metrics writer made since update 100, and from where the first came.
// DYN_NO_ALLOC_FROM and DYN_NO_ALLOC_TO choose other steps. The runtime finds
// the two dyn_no_alloc_ functions by name (runtime/AllocationHooks.h).
//
//===----------------------------------------------------------------------===//
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *old, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);

enum { SHOWN = 4 };

static atomic_int counting;
static atomic_long allocations;
static void *callers[SHOWN];
static int64_t first_step = 100, last_step = 1100;
static int reported;
// Initial-exec: a lazily made thread-local would itself allocate.
static __thread int exempt __attribute__((tls_model("initial-exec")));

static void count(void *caller) {
  if (!atomic_load_explicit(&counting, memory_order_relaxed) || exempt)
    return;
  long number = atomic_fetch_add(&allocations, 1);
  if (number < SHOWN)
    callers[number] = caller;
}

void *malloc(size_t bytes) {
  count(__builtin_return_address(0));
  return __libc_malloc(bytes);
}

void *calloc(size_t number, size_t bytes) {
  count(__builtin_return_address(0));
  return __libc_calloc(number, bytes);
}

void *realloc(void *old, size_t bytes) {
  count(__builtin_return_address(0));
  return __libc_realloc(old, bytes);
}

void *memalign(size_t alignment, size_t bytes) {
  count(__builtin_return_address(0));
  return __libc_memalign(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes) {
  count(__builtin_return_address(0));
  return __libc_memalign(alignment, bytes);
}

int posix_memalign(void **out, size_t alignment, size_t bytes) {
  count(__builtin_return_address(0));
  *out = __libc_memalign(alignment, bytes);
  return *out ? 0 : ENOMEM;
}

static int64_t number_from(const char *variable, int64_t otherwise) {
  const char *text = getenv(variable);
  return text ? strtoll(text, NULL, 10) : otherwise;
}

__attribute__((constructor)) static void read_variables(void) {
  first_step = number_from("DYN_NO_ALLOC_FROM", first_step);
  last_step = number_from("DYN_NO_ALLOC_TO", last_step);
}

static void report(void) {
  long number = atomic_load(&allocations);
  reported = 1;
  fprintf(stderr, "allocations between steps %lld and %lld: %ld\n", (long long)first_step, (long long)last_step,
          number);
  for (long i = 0; i < number && i < SHOWN; ++i) {
    Dl_info info;
    if (dladdr(callers[i], &info))
      fprintf(stderr, "  from %s + 0x%lx (%s)\n", info.dli_fname,
              (unsigned long)((char *)callers[i] - (char *)info.dli_fbase), info.dli_sname ? info.dli_sname : "?");
  }
}

/// Called by the runtime after each update.
void dyn_no_alloc_step(int64_t step) {
  if (step == first_step)
    atomic_store(&counting, 1);
  if (step == last_step && atomic_exchange(&counting, 0))
    report();
}

/// Called by the writer thread, which may allocate.
void dyn_no_alloc_exempt(void) { exempt = 1; }

__attribute__((destructor)) static void complain(void) {
  if (!reported && atomic_load(&counting))
    fprintf(stderr, "the run ended before step %lld: allocations were not counted to the end\n",
            (long long)last_step);
}
