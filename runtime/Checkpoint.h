//===- Checkpoint.h - a run between two steps -----------------------------===//
//
// All that the steps to come depend on, so that a run which begins at the checkpoint of another has the bits of one
// that was never interrupted: parameters, states of rules and models, the clock, where the data stand, and the keys of
// the draws.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_RUNTIME_CHECKPOINT_H
#define DYN_RUNTIME_CHECKPOINT_H

#include "runtime/Feeds.h"
#include "runtime/Plan.h"
#include "runtime/Status.h"
#include "runtime/abi.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

struct DynRuntime;

namespace dyn {

struct Checkpoint {
  /// A parameter or a state with its bytes.
  struct Array {
    plan::Leaf leaf;
    std::vector<char> bytes;
  };
  /// A feed by what it reads; positions of another one mean nothing.
  struct Place {
    plan::Feed feed;
    std::string set;
    int64_t examples = 0;
    FeedPosition position;
  };

  DynClock clock = {};
  int64_t previousEpoch = -1; ///< of the update before; -1: there was none
  std::array<uint64_t, 4> seeds = {};
  std::vector<Array> arrays;
  std::vector<Place> feeds;

  /// The run as it is between two steps.
  static Checkpoint of(const DynRuntime &runtime);
  /// Why a run of `plan` cannot begin here, from "`" on: an array that is not there, or has another shape; a length that
  /// is over before. Empty: it can.
  std::string mismatch(const plan::Plan &plan) const;
  /// Puts a run that made its initial values where this one was. Draws keep the keys of this one unless the plan has a
  /// seed of its own; a feed of other data, or in other batches, stands at its beginning.
  void restore(DynRuntime &runtime) const;
};

/// Whether memory is enough for the checkpoints that a run is to keep.
Status checkpointsFit(const DynRuntime &runtime);
/// Parameters as they are served and states of models, as runs leave them in a file.
Status writeArrays(const DynRuntime &runtime, const std::string &file);
/// First element of a parameter or state.
char *memoryOf(const DynRuntime &runtime, const plan::Leaf &leaf);

} // namespace dyn
#endif // DYN_RUNTIME_CHECKPOINT_H
