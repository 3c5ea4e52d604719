//===- Pieces.h - A loop by hand over a few threads -------------*- C++ -*-===//
#ifndef DYN_BENCH_PIECES_H
#define DYN_BENCH_PIECES_H

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

namespace dyn::bench {

/// Runs body(lo, hi) on `threads` pieces, the first on the caller's thread.
template <class F>
void pieces(int threads, size_t count, F body) {
  std::vector<std::thread> others;
  size_t each = (count / static_cast<size_t>(threads) + 63) & ~size_t(63);
  for (int i = 1; i < threads; ++i)
    others.emplace_back([=] { body(static_cast<size_t>(i) * each, std::min(count, static_cast<size_t>(i + 1) * each)); });
  body(0, std::min(count, each));
  for (auto &thread : others)
    thread.join();
}

} // namespace dyn::bench

#endif
