//===- Random.h - draws that depend on names, not on order ----------------===//
//
// Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2,
// 3", SC 2011). Element i of a draw is a function of five things only:
//
//   key      stream key (one of four, from the seed) mixed with the site
//   counter  word 0: low half of the block b = (base + i) / 2
//            word 1: step      word 2: pass      word 3: high half of b
//   half     (base + i) % 2 chooses words 0, 1 or words 2, 3 of the output
//
// What does not fit (high halves of step and pass, counter words 2 and 3) is
// mixed into the key when it is not zero. So a draw may be cut anywhere, made
// in any order or on any thread, and gives the same bits.
//
// Two words make 64 bits, `u`. Uniform is (u >> 11) 2^-53 in [0, 1); normal is
// Box-Muller over the two uniforms of a block, cosine first. Both are computed
// in f64 with polynomials of our own and rounded to f32 when asked: no bit
// depends on libm, on the machine or on the precision of the run.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_RUNTIME_RANDOM_H
#define DYN_RUNTIME_RANDOM_H

#include <array>
#include <cstdint>
#include <string_view>

namespace dyn {

/// Numbers DynContext::seeds.
enum class Stream : int32_t { init = 0, order = 1, data = 2, noise = 3 };
/// As in dyn_draw.
enum class Distribution : int32_t { uniform = 0, normal = 1, bits = 2 };
/// As in dyn_draw and dyn_emit.
enum class DrawElement : int32_t { f32 = 0, f64 = 1, i64 = 2 };

using PhiloxCounter = std::array<uint32_t, 4>;
using PhiloxKey = std::array<uint32_t, 2>;

/// Ten rounds: the published function, checked against its known answers.
PhiloxCounter philox(PhiloxCounter counter, PhiloxKey key);

/// A good 64-bit mix of two words (one Philox block); not symmetric.
uint64_t mixKeys(uint64_t key, uint64_t word);

/// The keys of the four streams of a run's seed.
std::array<uint64_t, 4> streamKeys(uint64_t seed);

/// Names a draw for ever: FNV-1a over the bytes, then mixed; the same on every platform.
uint64_t hashSite(std::string_view text);

/// Fills `out` (of `element`) with draws base … base + count - 1. `counter` has four words: step,
/// pass and two more. Bits go with i64 only, uniform and normal with f32 and f64.
void draw(Distribution distribution, DrawElement element, uint64_t streamKey, uint64_t site,
          const int64_t *counter, int64_t base, void *out, int64_t count);

/// A bijection of [0, size) chosen by a key: a shuffle without a table. An unbalanced Feistel network of
/// eight rounds over the next power of two, walked until it lands below size (fewer than two steps on average).
class Permutation {
public:
  Permutation() : Permutation(0, 1) {}
  /// size >= 1 and at most 2^62.
  Permutation(uint64_t key, int64_t size);
  /// Where position `index` of the shuffled order comes from.
  int64_t operator()(int64_t index) const;
  /// out[i] = (*this)(lo + i) for i < count.
  void fill(int64_t lo, int64_t count, int64_t *out) const;

private:
  static constexpr int rounds = 8;
  std::array<uint32_t, rounds> keys;
  int64_t size;
  int lowBits, highBits;
};

namespace detail {
/// The polynomials behind normal draws, exposed to be measured: log on (0, 1], and cosine and sine of
/// 2 pi u for u in [0, 1). Correct to about 2 ulp.
double drawLog(double x);
void drawSinCos(double u, double &sine, double &cosine);
} // namespace detail

} // namespace dyn
#endif // DYN_RUNTIME_RANDOM_H
