//===- NdDraws.h - the runtime's draws for the plain evaluator ------------===//
//
// Header only: whoever includes it links dyn_runtime. With the same stream
// keys an evaluated nd.draw has the bits of a compiled one.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_DIALECTS_ND_NDDRAWS_H
#define DYN_DIALECTS_ND_NDDRAWS_H

#include "dialects/Nd/NdEval.h"
#include "runtime/Random.h"

#include <array>

namespace dyn::nd {

/// A draw hook over the keys of the four streams (dyn::streamKeys of a seed).
inline auto runtimeDraws(std::array<uint64_t, 4> keys) {
  return [keys](const DrawRequest &request, llvm::ArrayRef<int64_t> shape) {
    auto fill = [&](auto *out, DrawElement element) {
      draw(Distribution(request.distribution), element, keys[request.stream], uint64_t(request.site), request.counter,
           request.base, out, request.count);
    };
    if (request.element == Element::i64) {
      std::vector<int64_t> values(request.count);
      fill(values.data(), DrawElement::i64);
      return NdArray(shape, request.element, std::move(values));
    }
    std::vector<double> values(request.count);
    if (request.element == Element::f64) {
      fill(values.data(), DrawElement::f64);
    } else {
      std::vector<float> single(request.count);
      fill(single.data(), DrawElement::f32);
      values.assign(single.begin(), single.end());
    }
    return NdArray(shape, request.element, std::move(values));
  };
}

} // namespace dyn::nd

#endif // DYN_DIALECTS_ND_NDDRAWS_H
