//===- Subnormals.h - numbers next to zero count as zero --------*- C++ -*-===//
#ifndef DYN_RUNTIME_SUBNORMALS_H
#define DYN_RUNTIME_SUBNORMALS_H

#include <cstdint>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace dyn {

/// While it lives, this thread's results below the least normal number (1.2e-38 of f32, 2.2e-308 of f64) are 0, and so
/// are operands. Processors compute with them a hundred times slower, and training meets them everywhere: the mean of
/// the gradients of a unit that died falls by a factor a step. XLA and TensorFlow do the same, torch on request.
class FlushSubnormals {
public:
  FlushSubnormals() : before(read()) { write(before | flush); }
  ~FlushSubnormals() { write(before); }
  FlushSubnormals(const FlushSubnormals &) = delete;
  FlushSubnormals &operator=(const FlushSubnormals &) = delete;

private:
#if defined(__SSE2__)
  using Word = uint32_t;
  static constexpr Word flush = 0x8040; // flush-to-zero, denormals-are-zero
  static Word read() { return _mm_getcsr(); }
  static void write(Word word) { _mm_setcsr(word); }
#elif defined(__aarch64__)
  using Word = uint64_t;
  static constexpr Word flush = Word(1) << 24; // FPCR.FZ
  static Word read() {
    Word word;
    asm volatile("mrs %0, fpcr" : "=r"(word));
    return word;
  }
  static void write(Word word) { asm volatile("msr fpcr, %0" : : "r"(word)); }
#else
  using Word = uint32_t;
  static constexpr Word flush = 0;
  static Word read() { return 0; }
  static void write(Word) {}
#endif

  Word before;
};

} // namespace dyn
#endif // DYN_RUNTIME_SUBNORMALS_H
