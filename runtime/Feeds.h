//===- Feeds.h - batches of row numbers -----------------------------------===//
#ifndef DYN_RUNTIME_FEEDS_H
#define DYN_RUNTIME_FEEDS_H

#include "runtime/Plan.h"
#include "runtime/Random.h"
#include "runtime/abi.h"

#include <cstdint>
#include <vector>

namespace dyn {

/// Where an endless stream of batches stands: rows of the present pass, and passes before.
struct FeedPosition {
  int64_t rows = 0, passes = 0;
};

/// A stream of batches of the rows of one set. Pass p of a shuffled feed visits its rows in an order that
/// depends on (key, p) alone; nothing is stored but a few batches.
class Feed {
public:
  /// `rows` of its set; `key` is of the order stream and this feed.
  Feed(const plan::Feed &plan, int64_t rows, uint64_t key);

  /// The next batch of an endless stream; passes begin anew when the rows are used up.
  void next(DynBatch &batch);
  /// Whole passes that next() has finished.
  int64_t passes() const { return finished; }
  FeedPosition position() const { return {at, finished}; }
  /// The next batch is the one that follows in the stream of this feed.
  void moveTo(FeedPosition position);

  /// One pass in plain order, for evaluation.
  void rewind();
  /// False when the rows are used up.
  bool nextInOrder(DynBatch &batch);

private:
  int64_t capacity, usable; ///< rows of a pass: without the short last batch when it is dropped
  int64_t rows;
  bool shuffle;
  uint64_t key;
  Permutation order;
  int64_t at = 0, finished = 0, orderPosition = 0;
  int64_t filledFrom = -1; ///< plain order: rows now in the buffer start here
  std::vector<int64_t> buffer;
  /// Shuffled rows of a few batches from position aheadFrom on: small batches are cheaper made together.
  int64_t aheadRows = 0, aheadFrom = 0, aheadEnd = 0;
  std::vector<int64_t> ahead;

  void fillAhead();
  void fillPlain(int64_t from, DynBatch &batch);
};

} // namespace dyn
#endif // DYN_RUNTIME_FEEDS_H
