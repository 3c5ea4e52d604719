//===- CompiledUpdate.h - The rules of a train alone, ready to step -*- C++ -*-===//
#ifndef DYN_BENCH_COMPILEDUPDATE_H
#define DYN_BENCH_COMPILEDUPDATE_H

#include "runtime/Session.h"
#include "runtime/jit/Jit.h"

#include <memory>
#include <string>
#include <vector>

namespace dyn::bench {

/// The update of a train whose gradients are given: what its clauses (`clip`, `optimizer`) do to vectors of the given
/// lengths, in f32. Messages go to standard error.
class CompiledUpdate {
public:
  /// `clauses` as in a train, a line each. None where they cannot be compiled.
  static std::unique_ptr<CompiledUpdate> make(const std::vector<int64_t> &leaves, const std::string &clauses, int threads);

  /// Runs `count` updates, one after the other.
  void run(int count);

  /// All parameters, all gradients, one leaf after the other.
  float *parameters() { return arena("params"); }
  float *gradients() { return arena("grads"); }
  /// The array of a state, by the end of its name (`.v`).
  float *state(const std::string &ending);
  /// Bytes of all arrays with that part in the plan: `params`, `grads`, `state`, `work`.
  int64_t bytes(const std::string &role) const;

private:
  float *arena(const std::string &role);

  plan::Plan plan;
  std::unique_ptr<Jit> jit;
  std::unique_ptr<Session> session;
  Entry step = nullptr;
  int64_t done = 0;
};

/// Numbers for `count` parameters in `leaves` pieces: of equal length, or of lengths between one and thirteen parts.
std::vector<int64_t> equalLeaves(int64_t count, int64_t leaves);
std::vector<int64_t> mixedLeaves(int64_t count, int64_t leaves);

/// Seconds of `a = b + 3 c` over `count` floats of memory of its own, the mean of `repeats`, on `threads` threads.
class Triad {
public:
  explicit Triad(int64_t count);
  double seconds(int threads, int repeats);

private:
  int64_t count;
  float *a, *b, *c;
};

double now();
double median(std::vector<double> values);
/// Memory on huge pages, touched.
float *allocate(size_t count);

} // namespace dyn::bench

#endif
