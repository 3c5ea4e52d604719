//===- Loader.h - from files to the sets of a run -------------------------===//
#ifndef DYN_RUNTIME_DATA_LOADER_H
#define DYN_RUNTIME_DATA_LOADER_H

#include "runtime/Plan.h"
#include "runtime/Status.h"
#include "runtime/abi.h"

#include <functional>

namespace dyn::data {

/// Fills the field arenas of every set of source number `source`: chunk by chunk it reads the inputs into
/// their raw arenas (rows past the end are zero), sets ctx.clock.rows_base, calls `function`, checks what it
/// made (finite, classes in range) and copies each row where the set's order puts it.
Status load(const plan::Plan &plan, int64_t source, DynContext &ctx,
            const std::function<void(DynContext *)> &function);

} // namespace dyn::data
#endif // DYN_RUNTIME_DATA_LOADER_H
