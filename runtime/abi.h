//===- abi.h - the only door between generated code and the runtime -------===//
//
// Generated code receives one pointer, a DynContext, and calls the functions
// of Functions.def. Everything here is plain C: fixed-size types, no
// ownership passes in either direction, nothing throws, nothing allocates
// between the first and the last step of a run.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_RUNTIME_ABI_H
#define DYN_RUNTIME_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Changes whenever a struct or a signature here changes; part of every cache key.
enum { DYN_ABI_VERSION = 1 };

/// The present batch of a feed: `rows[i]` for i < count are row numbers of its
/// set; rows[count .. capacity) are 0, so that gathers of absent rows stay in
/// bounds and are masked by `count`.
typedef struct DynBatch {
  const int64_t *rows;
  int64_t count;
} DynBatch;

/// What the compiled loop sees of time. All count from 0.
typedef struct DynClock {
  int64_t step;      ///< updates made so far
  int64_t total;     ///< updates planned
  int64_t epoch;     ///< whole passes made over the first feed
  int64_t rows_base; ///< first row of the chunk that a data function works on
} DynClock;

/// Why a compiled function could not go on; 0 is success.
enum DynStatus {
  DYN_OK = 0,
  DYN_NOT_FINITE = 1,   ///< a guarded value is NaN or infinite
  DYN_BAD_INDEX = 2,    ///< an index out of range
  DYN_LIMIT = 3,        ///< a `while` reached its limit
  DYN_INTERRUPTED = 4,  ///< the person asked to stop
  DYN_BROKEN_BOUND = 5, ///< a clip did not keep what it promises; said by the session, never by code
  DYN_DEVICE_FAILED = 6, ///< a kernel could not be started, or did not end
  DYN_NO_RESULT = 7,     ///< a matrix has no such decomposition: status_value is a DynMatrixFault
  DYN_BAD_DATA = 8       ///< a row of a stream is refused; said by the session, never by code
};

/// Why a matrix has no decomposition; status_bound is the pivot at fault.
enum DynMatrixFault {
  DYN_SINGULAR = 0,     ///< a pivot is 0
  DYN_NOT_POSITIVE = 1, ///< a pivot of a Cholesky decomposition is not above 0
  DYN_NOT_CONVERGED = 2 ///< the iteration for eigenvalues did not end
};

struct DynRuntime;

/// Read by generated code at fixed offsets: append only, and bump
/// DYN_ABI_VERSION.
typedef struct DynContext {
  void *const *arenas;     ///< base of each arena, numbered by the plan; 64-byte aligned
  const double *numbers;   ///< runtime operands, numbered by the plan
  const DynBatch *batches; ///< present batch of each feed
  DynClock clock;
  uint64_t seeds[4];       ///< keys of the streams init, order, data, noise
  int32_t status;          ///< a DynStatus; the loop ends when it is not DYN_OK
  int32_t status_site;     ///< which guard, index or loop: numbered by the plan
  int64_t status_value;    ///< the index, or bits of the value, that was refused
  int64_t status_bound;    ///< the size that the index had to stay under
  struct DynRuntime *runtime;
} DynContext;

/// Every compiled entry point.
typedef void (*DynEntry)(DynContext *);
/// A fused loop over [lo, hi) of its outermost dimension (or of blocks).
typedef void (*DynRange)(void *closure, int64_t lo, int64_t hi);

#define DYN_FUNCTION(NAME, RESULT, PARAMETERS, DOC) RESULT NAME PARAMETERS;
#include "runtime/Functions.def"
#undef DYN_FUNCTION

#ifdef __cplusplus
}
#endif
#endif // DYN_RUNTIME_ABI_H
