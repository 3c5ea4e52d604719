//===- Programs.h - random programs that fuse -----------------------------===//
#ifndef DYN_TEST_PASSES_LOWER_PROGRAMS_H
#define DYN_TEST_PASSES_LOWER_PROGRAMS_H

#include "conformance/Samples.h"

namespace dyn::conformance {

/// A function of some tens of ops over matrices, rows, columns and scalars, whose sizes are around vector widths and
/// block sizes: what the samples of single ops do not reach.
Sample makeProgram(uint64_t seed);

} // namespace dyn::conformance

#endif // DYN_TEST_PASSES_LOWER_PROGRAMS_H
