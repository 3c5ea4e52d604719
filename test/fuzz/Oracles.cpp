#include "Oracles.h"

#include "RandomProgram.h"
#include "conformance/CompiledFunction.h"
#include "dialects/Nd/NdEval.h"
#include "dialects/Nd/NdOps.h"
#include "passes/batch/Batch.h"
#include "passes/differentiate/Differentiate.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <cmath>
#include <optional>
#include <random>

using namespace mlir;
using namespace dyn;
using namespace dyn::nd;

namespace dyn::fuzz {
namespace {

using Arrays = std::vector<NdArray>;

func::FuncOp functionOf(ModuleOp module) { return module.lookupSymbol<func::FuncOp>("f"); }

std::optional<Arrays> evaluate(ModuleOp module, ArrayRef<NdArray> inputs) {
  auto results = Evaluator(conformance::runtimeDraws()).evalFunction(functionOf(module).getBody(), inputs);
  if (failed(results))
    return std::nullopt;
  return Arrays(results->begin(), results->end());
}

Arrays randomLike(ArrayRef<NdArray> arrays, uint64_t seed) {
  std::mt19937_64 random(seed);
  Arrays result;
  for (const NdArray &array : arrays) {
    std::vector<double> values(array.size());
    for (double &value : values)
      value = std::normal_distribution<double>()(random);
    result.emplace_back(array.shape(), array.element(), std::move(values));
  }
  return result;
}

Arrays moved(ArrayRef<NdArray> x, ArrayRef<NdArray> direction, double h) {
  Arrays result;
  for (auto [at, by] : llvm::zip(x, direction)) {
    std::vector<double> values = at.floats();
    for (size_t i = 0; i < values.size(); ++i)
      values[i] += h * by.floats()[i];
    result.emplace_back(at.shape(), at.element(), std::move(values));
  }
  return result;
}

double dot(ArrayRef<NdArray> x, ArrayRef<NdArray> y) {
  double sum = 0;
  for (auto [a, b] : llvm::zip(x, y))
    for (int64_t i = 0; i < a.size(); ++i)
      sum += a.at(i) * b.at(i);
  return sum;
}

std::string text(double x) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.17g", x);
  return buffer;
}

/// Where two lists of arrays differ by more than a tolerance relative to the larger of 1 and their size; empty if
/// nowhere.
std::string difference(ArrayRef<NdArray> got, ArrayRef<NdArray> want, double tolerance) {
  for (size_t j = 0; j < want.size(); ++j) {
    if (got[j].shape() != want[j].shape())
      return "result " + std::to_string(j) + " has another shape";
    for (int64_t i = 0; i < want[j].size(); ++i)
      if (double x = got[j].at(i), y = want[j].at(i); !(std::fabs(x - y) <= tolerance * (1 + std::fabs(y))))
        return "result " + std::to_string(j) + " element " + std::to_string(i) + " is " + text(x) + ", expected " +
               text(y);
  }
  return "";
}

//===----------------------------------------------------------------------===//
// The plain evaluator, canonical forms
//===----------------------------------------------------------------------===//

std::string checkEvaluates(ModuleOp module, uint64_t seed, const Toolchain &) {
  if (failed(verify(module)))
    return "does not verify";
  auto results = evaluate(module, makeInputs(functionOf(module), seed));
  if (!results)
    return "cannot be evaluated";
  for (const NdArray &result : *results)
    for (int64_t i = 0; i < result.size(); ++i)
      if (!std::isfinite(result.at(i)))
        return "a result is " + text(result.at(i));
  return "";
}

/// What the canonicalizer does, with the toolchain's patterns among its own.
bool canonicalize(ModuleOp module, const Toolchain &toolchain) {
  RewritePatternSet patterns(module.getContext());
  for (RegisteredOperationName name : module.getContext()->getRegisteredOperations())
    name.getCanonicalizationPatterns(patterns, module.getContext());
  if (toolchain.morePatterns)
    toolchain.morePatterns(patterns);
  return succeeded(applyPatternsGreedily(module, std::move(patterns))) && succeeded(verify(module));
}

std::string checkCanonical(ModuleOp module, uint64_t seed, const Toolchain &toolchain) {
  Arrays inputs = makeInputs(functionOf(module), seed);
  OwningOpRef<ModuleOp> copy = module.clone();
  if (!canonicalize(*copy, toolchain))
    return "has no canonical form";
  auto before = evaluate(module, inputs), after = evaluate(*copy, inputs);
  if (!before || !after)
    return "cannot be evaluated";
  // Folded sums may be taken in another order: some ulp, through some tens of ops.
  return difference(*after, *before, 1e-11);
}

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

/// Ends @f with other results.
void finish(func::FuncOp function, ArrayRef<Value> results) {
  Operation *end = function.getBody().front().getTerminator();
  end->setOperands(results);
  function.setFunctionType(
      FunctionType::get(function.getContext(), function.getBody().getArgumentTypes(), end->getOperandTypes()));
}

/// @f gets a cotangent argument for each result and gives the gradients by its arguments, after its results if
/// `keepResults`; an empty text on success.
std::string makeReverse(func::FuncOp function, bool keepResults) {
  Block &body = function.getBody().front();
  SmallVector<Value> outputs(body.getTerminator()->getOperands()), wrt(body.getArguments()), cotangents;
  for (Value output : outputs)
    cotangents.push_back(body.addArgument(output.getType(), output.getLoc()));
  OpBuilder builder(body.getTerminator());
  std::string refused;
  auto gradients = buildVectorJacobian(builder, outputs, cotangents, wrt, [&](Operation *op, const Twine &reason) {
    refused = (op->getName().getStringRef() + ": " + reason).str();
  });
  if (failed(gradients))
    return "has no gradient: " + refused;
  SmallVector<Value> results = keepResults ? outputs : SmallVector<Value>();
  results.append(gradients->begin(), gradients->end());
  finish(function, results);
  return succeeded(verify(function)) ? "" : "its gradient does not verify";
}

/// As above: @f gets tangents and gives those of its results. Sets `has` to false when an op has no forward rule.
std::string makeForward(func::FuncOp function, bool &has) {
  Block &body = function.getBody().front();
  SmallVector<Value> outputs(body.getTerminator()->getOperands()), wrt(body.getArguments()), tangents;
  for (Value value : wrt)
    tangents.push_back(body.addArgument(value.getType(), value.getLoc()));
  OpBuilder builder(body.getTerminator());
  auto derivatives = buildJacobianVector(builder, outputs, wrt, tangents, [&](Operation *, const Twine &) {});
  has = succeeded(derivatives);
  if (!has)
    return "";
  finish(function, *derivatives);
  return succeeded(verify(function)) ? "" : "its derivative does not verify";
}

/// A point, a direction to go from there, and a weight for each result.
struct Probe {
  Arrays at, direction, weights;
};

std::optional<Probe> probeOf(ModuleOp module, uint64_t seed) {
  Probe probe{makeInputs(functionOf(module), seed), {}, {}};
  probe.direction = randomLike(probe.at, seed + 1);
  auto results = evaluate(module, probe.at);
  if (!results)
    return std::nullopt;
  probe.weights = randomLike(*results, seed + 2);
  return probe;
}

/// The slope of the weighted sum of results along the direction; nothing where it has a kink or a step within the
/// reach of the differences: then two distances, or the two sides, give different slopes.
std::optional<double> slopeOf(ModuleOp module, const Probe &probe) {
  auto valueAt = [&](double h) {
    auto results = evaluate(module, moved(probe.at, probe.direction, h));
    return results ? dot(*results, probe.weights) : NAN;
  };
  // Errors: h^2 f''' / 6 and 1e-16 / h, both near 1e-10 for values and derivatives near 1.
  const double wide = 4e-5, close = 1e-5;
  double here = valueAt(0), up = valueAt(close), down = valueAt(-close);
  double slope = (up - down) / (2 * close), other = (valueAt(wide) - valueAt(-wide)) / (2 * wide);
  double left = (here - down) / close, right = (up - here) / close, scale = 1 + std::fabs(slope);
  if (!(std::fabs(slope - other) <= 1e-6 * scale) || !(std::fabs(left - right) <= 1e-2 * scale))
    return std::nullopt;
  return slope;
}

constexpr double slopeTolerance = 1e-5;

/// The gradients of the weighted sum of results; nothing, and why, when there are none.
std::optional<Arrays> gradientsOf(ModuleOp module, const Probe &probe, std::string &why) {
  OwningOpRef<ModuleOp> copy = module.clone();
  if (why = makeReverse(functionOf(*copy), false); !why.empty())
    return std::nullopt;
  Arrays inputs = probe.at;
  inputs.insert(inputs.end(), probe.weights.begin(), probe.weights.end());
  auto gradients = evaluate(*copy, inputs);
  if (!gradients)
    why = "its gradient cannot be evaluated";
  return gradients;
}

std::string checkReverse(ModuleOp module, uint64_t seed, const Toolchain &) {
  auto probe = probeOf(module, seed);
  if (!probe)
    return "cannot be evaluated";
  std::string why;
  auto gradients = gradientsOf(module, *probe, why);
  if (!gradients)
    return why;
  auto want = slopeOf(module, *probe);
  double slope = dot(*gradients, probe->direction);
  if (!want || std::fabs(slope - *want) <= slopeTolerance * (1 + std::fabs(*want)))
    return "";
  return "its slope is " + text(slope) + ", differences give " + text(*want);
}

std::string checkForward(ModuleOp module, uint64_t seed, const Toolchain &) {
  auto probe = probeOf(module, seed);
  if (!probe)
    return "cannot be evaluated";
  OwningOpRef<ModuleOp> copy = module.clone();
  bool has = true;
  if (std::string why = makeForward(functionOf(*copy), has); !why.empty() || !has)
    return why;
  Arrays inputs = probe->at;
  inputs.insert(inputs.end(), probe->direction.begin(), probe->direction.end());
  auto derivatives = evaluate(*copy, inputs);
  if (!derivatives)
    return "its derivative cannot be evaluated";
  std::string why;
  auto gradients = gradientsOf(module, *probe, why);
  if (!gradients)
    return why;
  double forward = dot(*derivatives, probe->weights), reverse = dot(*gradients, probe->direction);
  // The same products in another order. What is not finite is a matter of the gradient's own oracle.
  if (!std::isfinite(forward - reverse) || std::fabs(forward - reverse) <= 1e-9 * (1 + std::fabs(reverse)))
    return "";
  return "its slope is " + text(forward) + " forward, " + text(reverse) + " in reverse";
}

//===----------------------------------------------------------------------===//
// Batching
//===----------------------------------------------------------------------===//

NdArray rowOf(const NdArray &x, int64_t row) {
  auto shape = x.shape().drop_front();
  return readStrided(x, shape, stridesOf(shape), row * sizeOf(shape));
}

std::string checkBatched(ModuleOp module, uint64_t seed, const Toolchain &) {
  constexpr int64_t rows = 3;
  OwningOpRef<ModuleOp> copy = module.clone();
  func::FuncOp many = functionOf(*copy);
  unsigned count = many.getNumArguments();
  if (count == 0)
    return "";
  // Any choice of arguments but none.
  uint64_t choice = 1 + std::mt19937_64(seed)() % ((1u << count) - 1);
  SmallVector<int64_t> batched;
  for (unsigned a = 0; a < count; ++a)
    if (choice >> a & 1)
      batched.push_back(a);
  BatchRequest request;
  request.size = rows;
  if (failed(batchFunction(many, batched, request)) || failed(verify(many)))
    return "cannot be batched";
  Arrays inputs = makeInputs(many, seed);
  auto results = evaluate(*copy, inputs);
  if (!results)
    return "its batch cannot be evaluated";
  for (int64_t row = 0; row < rows; ++row) {
    Arrays one = inputs;
    for (int64_t a : batched)
      one[a] = rowOf(inputs[a], row);
    auto expected = evaluate(module, one);
    if (!expected)
      return "cannot be evaluated";
    Arrays part;
    for (auto [result, want] : llvm::zip(*results, *expected))
      part.push_back(result.rank() > want.rank() ? rowOf(result, row) : result);
    if (std::string why = difference(part, *expected, 1e-11); !why.empty())
      return "row " + std::to_string(row) + ": " + why;
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Compiled code
//===----------------------------------------------------------------------===//

std::string checkCompiled(ModuleOp module, uint64_t seed, const Toolchain &toolchain) {
  OwningOpRef<ModuleOp> copy = module.clone();
  if (std::string why = makeReverse(functionOf(*copy), true); !why.empty())
    return why;
  Arrays inputs = makeInputs(functionOf(*copy), seed);
  auto expected = evaluate(*copy, inputs);
  if (!expected)
    return "its gradient cannot be evaluated";
  std::string why;
  auto compiled = conformance::CompiledFunction::make(*copy, inputs, *expected, seed % 2, toolchain.stageHook, why);
  if (!compiled)
    return why;
  auto alone = compiled->call(1, why);
  if (!alone)
    return why;
  // Sums of other order and functions of some ulp each, through some tens of ops and their derivatives.
  if (why = difference(*alone, *expected, 1e-10); !why.empty())
    return why;
  auto shared = compiled->call(3, why);
  if (!shared)
    return why;
  return difference(*shared, *alone, 0).empty() ? "" : "bits depend on threads";
}

} // namespace

const std::vector<Oracle> &oracles() {
  static const std::vector<Oracle> all = {{"evaluates", checkEvaluates}, {"canonical", checkCanonical},
                                          {"reverse", checkReverse},     {"forward", checkForward},
                                          {"batched", checkBatched},     {"compiled", checkCompiled}};
  return all;
}

} // namespace dyn::fuzz
