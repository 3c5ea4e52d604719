//===- Random.cpp ---------------------------------------------------------===//
//
// Compiled without contraction into fused multiply-adds: every operation below
// is a correctly rounded IEEE one, so the bits of a draw are the same on every
// machine and at every vector width.
//
//===----------------------------------------------------------------------===//
#include "runtime/Random.h"

#include <algorithm>
#include <bit>
#include <cstring>

// Loops over many elements exist twice, for AVX2 and for every CPU, and the
// loader chooses: twice the speed, and by the above the same bits. Sanitizers
// are not ready when the loader asks.
#if defined(__x86_64__) && !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
#define DYN_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define DYN_WIDE
#endif

namespace dyn {
namespace {

constexpr uint32_t multiplier0 = 0xD2511F53, multiplier1 = 0xCD9E8D57;
constexpr uint32_t weyl0 = 0x9E3779B9, weyl1 = 0xBB67AE85;

inline void philoxRounds(uint32_t c[4], uint32_t k0, uint32_t k1) {
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = uint64_t(multiplier0) * c[0];
    uint64_t p1 = uint64_t(multiplier1) * c[2];
    uint32_t n0 = uint32_t(p1 >> 32) ^ c[1] ^ k0;
    uint32_t n2 = uint32_t(p0 >> 32) ^ c[3] ^ k1;
    c[1] = uint32_t(p1);
    c[3] = uint32_t(p0);
    c[0] = n0;
    c[2] = n2;
    k0 += weyl0;
    k1 += weyl1;
  }
}

uint64_t join(uint32_t low, uint32_t high) { return uint64_t(high) << 32 | low; }
uint32_t low32(uint64_t x) { return uint32_t(x); }
uint32_t high32(uint64_t x) { return uint32_t(x >> 32); }

/// Blocks are made in groups, so that each stage is a loop that vectorizes.
constexpr int group = 32;

/// 64 random bits for each of the two halves of `blocks` blocks from `block` on.
DYN_WIDE void randomWords(const uint32_t stepPass[2], uint64_t key, uint64_t block, int blocks, uint64_t words[2 * group]) {
  uint32_t k0 = low32(key), k1 = high32(key);
  for (int i = 0; i < blocks; ++i) {
    uint64_t b = block + uint64_t(i);
    uint32_t c[4] = {low32(b), stepPass[0], stepPass[1], high32(b)};
    philoxRounds(c, k0, k1);
    words[2 * i] = join(c[0], c[1]);
    words[2 * i + 1] = join(c[2], c[3]);
  }
}

inline double toUniform(uint64_t word) {
  // The top 52 bits become a mantissa in [1, 2); the 53rd is added apart. All
  // steps are exact, and unlike a conversion from u64 they exist as vectors.
  double high = std::bit_cast<double>((word >> 12) | 0x3FF0000000000000u) - 1.0;
  double last = std::bit_cast<double>(((word >> 11) & 1) ? 0x3CA0000000000000u : 0u); // 2^-53
  return high + last;
}

/// log x for x in (0, 1], normal: x = 2^e m with m in [sqrt 1/2, sqrt 2), and
/// log m = 2 atanh s = 2 (s + s^3/3 + s^5/5 + ...), s = (m - 1)/(m + 1), |s| < 0.1716.
inline double logarithm(double x) {
  constexpr uint64_t sqrtHalf = 0x3FE6A09E667F3BCD;
  constexpr double ln2High = 0x1.62e42fefa38p-1;   // 42 bits: e * ln2High is exact
  constexpr double ln2Low = 0x1.ef35793c7673p-45;
  uint64_t bits = std::bit_cast<uint64_t>(x) - sqrtHalf;
  // The exponent e sits in the top 12 bits, signed and in [-53, 0]: rounding
  // its biased form as a double is exact and avoids a conversion.
  int64_t field = int64_t(bits) >> 52;
  double e = std::bit_cast<double>(uint64_t(0x4338000000000000) + uint64_t(field)) - 0x1.8p52;
  double m = std::bit_cast<double>((bits & 0x000FFFFFFFFFFFFF) + sqrtHalf);
  double f = m - 1.0;
  double s = f / (m + 1.0);
  double z = s * s;
  double p = 2.0 / 23;
  p = p * z + 2.0 / 21;
  p = p * z + 2.0 / 19;
  p = p * z + 2.0 / 17;
  p = p * z + 2.0 / 15;
  p = p * z + 2.0 / 13;
  p = p * z + 2.0 / 11;
  p = p * z + 2.0 / 9;
  p = p * z + 2.0 / 7;
  p = p * z + 2.0 / 5;
  p = p * z + 2.0 / 3;
  // 2 s = f - s f exactly, which keeps the leading term free of the rounding of s.
  double tail = s * (f - p * z);
  return e * ln2High + (f - (tail - e * ln2Low));
}

/// Cosine and sine of 2 pi u, u in [0, 1): u is reduced exactly to |t| <= 1/8 of a turn from the nearest
/// quarter, then Taylor polynomials, whose rest is below 1e-17 there.
inline void turn(double u, double &cosine, double &sine) {
  constexpr double twoPiHigh = 0x1.921fb54442d18p+2, twoPiLow = 0x1.1a62633145c07p-52;
  double shifted = 4.0 * u + 0x1.8p52; // rounds to the nearest quarter
  uint64_t quarter = std::bit_cast<uint64_t>(shifted);
  double t = u - 0.25 * (shifted - 0x1.8p52);
  double x = t * twoPiHigh;
  // The part of the product that rounding lost, by Dekker's split: t has at most 53 bits, half of them each.
  double th = std::bit_cast<double>(std::bit_cast<uint64_t>(t) & 0xFFFFFFFFF8000000u), tl = t - th;
  constexpr double hh = 0x1.921fb5p+2, hl = twoPiHigh - hh;
  double lost = ((th * hh - x) + th * hl + tl * hh) + tl * hl + t * twoPiLow;
  double z = x * x;
  double s = -1.0 / 1307674368000 + z * (1.0 / 355687428096000);
  s = 1.0 / 6227020800 + z * s;
  s = -1.0 / 39916800 + z * s;
  s = 1.0 / 362880 + z * s;
  s = -1.0 / 5040 + z * s;
  s = 1.0 / 120 + z * s;
  s = -1.0 / 6 + z * s;
  double c = 1.0 / 20922789888000 - z * (1.0 / 6402373705728000);
  c = -1.0 / 87178291200 + z * c;
  c = 1.0 / 479001600 + z * c;
  c = -1.0 / 3628800 + z * c;
  c = 1.0 / 40320 + z * c;
  c = -1.0 / 720 + z * c;
  c = 1.0 / 24 + z * c;
  double half = 0.5 * z, one = 1.0 - half;
  double cosT = one + (((1.0 - one) - half) + (z * z * c - x * lost));
  double sinT = x + (x * z * s + lost * (1.0 - half));
  bool swap = quarter & 1;
  double a = swap ? sinT : cosT, b = swap ? cosT : sinT;
  uint64_t sinSign = (quarter >> 1 & 1) << 63, cosSign = ((quarter + 1) >> 1 & 1) << 63;
  cosine = std::bit_cast<double>(std::bit_cast<uint64_t>(a) ^ cosSign);
  sine = std::bit_cast<double>(std::bit_cast<uint64_t>(b) ^ sinSign);
}

DYN_WIDE void uniforms(const uint64_t words[2 * group], int blocks, double out[2 * group]) {
  for (int i = 0; i < 2 * blocks; ++i)
    out[i] = toUniform(words[i]);
}

/// Box-Muller: each block's two uniforms become two independent normals.
DYN_WIDE void normals(const uint64_t words[2 * group], int blocks, double out[2 * group]) {
  double radius[group], angle[group], cosine[group], sine[group];
  for (int i = 0; i < blocks; ++i) {
    radius[i] = toUniform(words[2 * i]);
    angle[i] = toUniform(words[2 * i + 1]);
  }
  for (int i = 0; i < blocks; ++i)
    radius[i] = __builtin_sqrt(-2.0 * logarithm(1.0 - radius[i])); // 1 - u is exact and never 0
  for (int i = 0; i < blocks; ++i)
    turn(angle[i], cosine[i], sine[i]);
  for (int i = 0; i < blocks; ++i) {
    out[2 * i] = radius[i] * cosine[i];
    out[2 * i + 1] = radius[i] * sine[i];
  }
}

DYN_WIDE void store(const double *values, float *out, int64_t count, bool belowOne) {
  constexpr float most = 0x1.fffffep-1f; // rounding must not turn [0, 1) into [0, 1]
  for (int64_t i = 0; i < count; ++i) {
    float value = float(values[i]);
    out[i] = belowOne ? std::min(value, most) : value;
  }
}

} // namespace

PhiloxCounter philox(PhiloxCounter counter, PhiloxKey key) {
  philoxRounds(counter.data(), key[0], key[1]);
  return counter;
}

uint64_t mixKeys(uint64_t key, uint64_t word) {
  // The third word sets these blocks apart from those of draws with small counters.
  PhiloxCounter out = philox({low32(word), high32(word), 0x64796e21, 0x6d69786b}, {low32(key), high32(key)});
  return join(out[0], out[1]);
}

std::array<uint64_t, 4> streamKeys(uint64_t seed) {
  std::array<uint64_t, 4> keys;
  for (uint64_t i = 0; i < 4; ++i)
    keys[i] = mixKeys(seed, i);
  return keys;
}

uint64_t hashSite(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char c : text)
    hash = (hash ^ uint8_t(c)) * 0x100000001b3;
  return mixKeys(hash, text.size());
}

void draw(Distribution distribution, DrawElement element, uint64_t streamKey, uint64_t site, const int64_t *counter,
          int64_t base, void *out, int64_t count) {
  uint64_t step = uint64_t(counter[0]), pass = uint64_t(counter[1]);
  uint64_t key = mixKeys(streamKey, site);
  if (high32(step) || high32(pass))
    key = mixKeys(key, join(high32(step), high32(pass)));
  if (counter[2] || counter[3])
    key = mixKeys(mixKeys(key, uint64_t(counter[2])), uint64_t(counter[3]));
  uint32_t stepPass[2] = {low32(step), low32(pass)};

  uint64_t words[2 * group];
  double values[2 * group];
  uint64_t position = uint64_t(base), end = position + uint64_t(count);
  while (position < end) {
    uint64_t block = position / 2;
    int64_t skip = int64_t(position % 2);
    int64_t here = std::min<int64_t>(2 * group - skip, int64_t(end - position));
    int blocks = int((skip + here + 1) / 2);
    randomWords(stepPass, key, block, blocks, words);
    if (distribution == Distribution::uniform)
      uniforms(words, blocks, values);
    else if (distribution == Distribution::normal)
      normals(words, blocks, values);
    int64_t done = int64_t(position - uint64_t(base));
    if (element == DrawElement::f32)
      store(values + skip, static_cast<float *>(out) + done, here, distribution == Distribution::uniform);
    else if (element == DrawElement::f64)
      std::memcpy(static_cast<double *>(out) + done, values + skip, size_t(here) * 8);
    else
      std::memcpy(static_cast<int64_t *>(out) + done, words + skip, size_t(here) * 8);
    position += uint64_t(here);
  }
}

namespace {

/// One pass of the network; the half that is read is folded through a 32 by 32 to 64 bit product.
constexpr int feistelRounds = 8;
inline uint64_t feistel(uint64_t x, const uint32_t *keys, int lowBits, int highBits) {
  // Halves have at most 31 bits but live in 64: then a vector multiplies them as they are.
  uint64_t lowMask = (uint64_t(1) << lowBits) - 1, highMask = (uint64_t(1) << highBits) - 1;
  uint64_t low = x & lowMask, high = x >> lowBits;
  for (int r = 0; r < feistelRounds; r += 2) {
    uint64_t p = ((low ^ keys[r]) & 0xFFFFFFFF) * multiplier0;
    high ^= ((p >> 32) ^ p) & highMask;
    uint64_t q = ((high ^ keys[r + 1]) & 0xFFFFFFFF) * multiplier1;
    low ^= ((q >> 32) ^ q) & lowMask;
  }
  return high << lowBits | low;
}

/// One pass of each value; `values` has room for count rounded up to 8.
DYN_WIDE void feistelEach(int64_t *values, int64_t count, const uint32_t *keys, int lowBits, int highBits) {
  typedef uint64_t Wide __attribute__((vector_size(32)));
  constexpr uint64_t word = 0xFFFFFFFF;
  uint64_t lowMask = (uint64_t(1) << lowBits) - 1, highMask = (uint64_t(1) << highBits) - 1;
  for (int64_t i = 0; i < count; i += 8) {
    Wide x[2], low[2], high[2]; // two at once hide the latency of the products
    std::memcpy(x, values + i, sizeof(x));
    for (int h = 0; h < 2; ++h) {
      low[h] = x[h] & lowMask;
      high[h] = x[h] >> uint64_t(lowBits);
    }
    for (int r = 0; r < feistelRounds; r += 2) {
      for (int h = 0; h < 2; ++h) {
        Wide p = ((low[h] ^ uint64_t(keys[r])) & word) * uint64_t(multiplier0);
        high[h] ^= ((p >> 32) ^ p) & highMask;
        Wide q = ((high[h] ^ uint64_t(keys[r + 1])) & word) * uint64_t(multiplier1);
        low[h] ^= ((q >> 32) ^ q) & lowMask;
      }
    }
    for (int h = 0; h < 2; ++h)
      x[h] = high[h] << uint64_t(lowBits) | low[h];
    std::memcpy(values + i, x, sizeof(x));
  }
}

} // namespace

// An unbalanced Feistel network: x = (high, low), and each round changes one
// half by a keyed function of the other, which can always be undone. Values
// that land outside [0, size) go round again; as the map is a bijection of the
// next power of two, that walk is one of [0, size).
Permutation::Permutation(uint64_t key, int64_t count) : size(count) {
  // Small domains mix poorly in eight rounds, so none has fewer than 64 values.
  int bits = std::max<int>(6, 64 - std::countl_zero(uint64_t(count - 1) | 1));
  lowBits = bits / 2;
  highBits = bits - lowBits;
  static_assert(rounds == feistelRounds);
  for (uint64_t i = 0; i < rounds / 2; ++i) {
    uint64_t pair = mixKeys(key, i);
    keys[2 * i] = low32(pair);
    keys[2 * i + 1] = high32(pair);
  }
}

int64_t Permutation::operator()(int64_t index) const {
  uint64_t x = uint64_t(index);
  do
    x = feistel(x, keys.data(), lowBits, highBits);
  while (x >= uint64_t(size));
  return int64_t(x);
}

void Permutation::fill(int64_t lo, int64_t count, int64_t *out) const {
  constexpr int64_t piece = 512;
  // Those that landed outside: their places and values, collected without branches.
  int32_t places[piece];
  int64_t values[piece] = {}; // a multiple of 8: the tail of a group is computed and ignored
  for (int64_t done = 0; done < count; done += piece) {
    int64_t *here = out + done;
    int64_t left = std::min(piece, count - done);
    for (int64_t i = 0; i < left; ++i) {
      places[i] = int32_t(i);
      values[i] = lo + done + i;
    }
    while (left > 0) {
      feistelEach(values, left, keys.data(), lowBits, highBits);
      int64_t next = 0;
      for (int64_t j = 0; j < left; ++j) {
        int32_t place = places[j];
        int64_t value = values[j];
        here[place] = value;
        places[next] = place;
        values[next] = value;
        next += value >= size;
      }
      left = next;
    }
  }
}

namespace detail {
double drawLog(double x) { return logarithm(x); }
void drawSinCos(double u, double &sine, double &cosine) { turn(u, cosine, sine); }
} // namespace detail

} // namespace dyn
