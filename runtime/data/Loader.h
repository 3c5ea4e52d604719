//===- Loader.h - from files to the sets of a run -------------------------===//
#ifndef DYN_RUNTIME_DATA_LOADER_H
#define DYN_RUNTIME_DATA_LOADER_H

#include "runtime/Plan.h"
#include "runtime/Status.h"
#include "runtime/abi.h"

#include <functional>
#include <memory>

namespace dyn::data {

class SourceLoader;

/// Fills the field arenas of every set of source number `source`: chunk by chunk it reads the inputs into
/// their raw arenas (rows past the end are zero), sets ctx.clock.rows_base, calls `function`, checks what it
/// made (finite, classes in range) and copies each row where the set's order puts it.
Status load(const plan::Plan &plan, int64_t source, DynContext &ctx,
            const std::function<void(DynContext *)> &function);

/// Rows of a source without end, made when they are wanted.
class RowMaker {
public:
  /// For source number `source` of `plan`, which outlives it; `function` makes the rows.
  RowMaker(const plan::Plan &plan, int64_t source, DynContext &ctx, std::function<void(DynContext *)> function);
  ~RowMaker();
  RowMaker(RowMaker &&) noexcept;

  /// Puts rows `first`, a multiple of the source's rows, and those that follow in the place of those before, checked as
  /// load() checks. Allocates nothing unless it fails.
  Status make(int64_t first);

private:
  std::unique_ptr<std::function<void(DynContext *)>> function;
  std::unique_ptr<SourceLoader> loader;
};

} // namespace dyn::data
#endif // DYN_RUNTIME_DATA_LOADER_H
