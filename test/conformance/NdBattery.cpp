// The battery of nd: finds every op by listing the dialect, and holds each against central differences, loops over
// rows, its own canonical form, and single precision.
#include "conformance/Samples.h"

#include "dialects/Nd/NdEval.h"
#include "dialects/Nd/NdOps.h"
#include "passes/batch/Batch.h"
#include "passes/differentiate/Differentiate.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "gtest/gtest.h"

#include <chrono>
#include <cmath>
#include <random>
#include <set>

using namespace mlir;
using namespace dyn;
using namespace dyn::nd;
using namespace dyn::conformance;

namespace {
using Arrays = std::vector<NdArray>;
constexpr uint64_t seeds = 12;

class NdBattery : public testing::Test {
protected:
  NdBattery() {
    context.loadDialect<NdDialect, func::FuncDialect>();
    context.disableMultithreading();
  }

  func::FuncOp parse(const std::string &text) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    return module ? module->lookupSymbol<func::FuncOp>("f") : func::FuncOp();
  }

  /// A number that depends on everything that a draw may depend on.
  static NdArray fakeDraw(const DrawRequest &request, ArrayRef<int64_t> shape) {
    std::vector<double> reals;
    std::vector<int64_t> wholes;
    for (int64_t i = 0; i < request.count; ++i) {
      uint64_t key = uint64_t(request.base + i) * 0x9E3779B97F4A7C15u + uint64_t(request.site) + request.stream;
      for (int w = 0; w < 4; ++w)
        key = (key ^ uint64_t(request.counter[w])) * 0xBF58476D1CE4E5B9u;
      wholes.push_back(int64_t(key >> 8));
      reals.push_back(double(key >> 11) * 0x1p-53);
    }
    return isFloat(request.element) ? NdArray(shape, request.element, reals)
                                    : NdArray(shape, request.element, wholes);
  }

  Arrays evaluate(func::FuncOp function, const Arrays &arguments) {
    EvalHooks hooks;
    hooks.draw = fakeDraw;
    auto results = Evaluator(hooks).evalFunction(function.getBody(), arguments);
    EXPECT_TRUE(succeeded(results));
    return succeeded(results) ? Arrays(results->begin(), results->end()) : Arrays();
  }

  void canonicalize() {
    PassManager manager(&context);
    manager.addPass(createCanonicalizerPass());
    manager.addPass(createCSEPass());
    EXPECT_TRUE(succeeded(manager.run(*module)));
  }

  static bool isReal(Type type) { return isa<FloatType>(getElementTypeOrSelf(type)); }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

/// x moved by h times direction, where it is float.
Arrays moved(const Arrays &x, const Arrays &direction, double h) {
  Arrays result = x;
  for (size_t a = 0; a < x.size(); ++a)
    if (x[a].isFloat()) {
      std::vector<double> values = x[a].floats();
      for (size_t i = 0; i < values.size(); ++i)
        values[i] += h * direction[a].floats()[i];
      result[a] = NdArray(x[a].shape(), x[a].element(), std::move(values));
    }
  return result;
}

double dot(const NdArray &x, const NdArray &y) {
  double sum = 0;
  for (int64_t i = 0; i < x.size(); ++i)
    sum += x.at(i) * y.at(i);
  return sum;
}

NdArray randomLike(const NdArray &x, std::mt19937_64 &random) {
  std::vector<double> values(x.size());
  for (double &value : values)
    value = std::normal_distribution<double>()(random);
  return NdArray(x.shape(), x.element(), std::move(values));
}

void expectEqual(const NdArray &x, const NdArray &y, double tolerance, const std::string &what) {
  ASSERT_EQ(x.shape(), y.shape()) << what;
  for (int64_t i = 0; i < x.size(); ++i) {
    if (x.at(i) == y.at(i) || (std::isnan(x.at(i)) && std::isnan(y.at(i))))
      continue;
    ASSERT_NEAR(x.at(i), y.at(i), tolerance * (1 + std::fabs(y.at(i)))) << what;
  }
}

// Central differences with h = 1e-5 err by h^2 f''' / 6 (about 1e-10 times f''', which reaches some thousands for
// powers and quotients here) and by rounding, 1e-16 / h.
constexpr double step = 1e-5, differenceTolerance = 3e-6;

//===----------------------------------------------------------------------===//
// Completeness
//===----------------------------------------------------------------------===//

TEST_F(NdBattery, everyOpHasSampleRulesAndEvaluator) {
  std::set<std::string> sampled;
  for (const Sample &sample : makeSamples(1))
    sampled.insert(sample.op);
  int listed = 0;
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    std::string op = name.getStringRef().str();
    if (name.getDialectNamespace() != "nd" || op == "nd.yield")
      continue;
    ++listed;
    EXPECT_TRUE(sampled.count(op)) << op << " has no sample";
    EXPECT_TRUE(name.hasInterface<Differentiable>()) << op << " has no derivative row";
    EXPECT_TRUE(name.hasInterface<Batchable>()) << op << " has no batching rule";
    EXPECT_TRUE(canEvaluate(name)) << op << " has no evaluator";
  }
  EXPECT_GT(listed, 50);
}

TEST_F(NdBattery, samplesVerifyAndSurvivePrinting) {
  for (uint64_t seed = 1; seed <= seeds; ++seed)
    for (const Sample &sample : makeSamples(seed))
      for (const std::string &text : {sample.text, inSinglePrecision(sample.text)}) {
        ASSERT_TRUE(parse(text));
        std::string once, twice;
        llvm::raw_string_ostream(once) << *module;
        ASSERT_TRUE(parse(once));
        llvm::raw_string_ostream(twice) << *module;
        EXPECT_EQ(once, twice);
      }
}

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

/// Arguments of @f, random directions for them, and random cotangents for its float results.
struct Point {
  Arrays arguments, directions, cotangents;
};

class Derivatives : public NdBattery {
protected:
  Point pointOf(func::FuncOp function, const Sample &sample, uint64_t seed) {
    std::mt19937_64 random(seed + 77);
    Point point{makeArguments(function, sample.ranges, seed), {}, {}};
    for (const NdArray &x : point.arguments)
      point.directions.push_back(x.isFloat() ? randomLike(x, random) : x);
    for (const NdArray &y : evaluate(function, point.arguments))
      if (y.isFloat())
        point.cotangents.push_back(randomLike(y, random));
    return point;
  }

  /// sum over float results of cotangent * result; an infinite result (an extremum of nothing) is constant
  double pairing(const Arrays &results, const Arrays &cotangents) {
    double sum = 0;
    size_t next = 0;
    for (const NdArray &y : results)
      if (y.isFloat() && next < cotangents.size())
        sum += dot(cotangents[next++], finite(y));
    return sum;
  }

  static NdArray finite(const NdArray &x) {
    std::vector<double> values = x.floats();
    for (double &value : values)
      value = std::isinf(value) ? 0 : value;
    return NdArray(x.shape(), x.element(), std::move(values));
  }

  SmallVector<Value> realsOf(ValueRange values) {
    return llvm::filter_to_vector(values, [](Value value) { return isReal(value.getType()); });
  }

  void finish(func::FuncOp function, ArrayRef<Value> more) {
    Operation *end = function.getBody().front().getTerminator();
    end->setOperands(SmallVector<Value>(more));
    function.setFunctionType(
        FunctionType::get(&context, function.getBody().getArgumentTypes(), end->getOperandTypes()));
    EXPECT_TRUE(succeeded(verify(*module)));
  }

  /// @f gets cotangent arguments and returns the gradients by its float arguments. False when nothing is to be done.
  bool makeReverse(func::FuncOp function, std::string *refused = nullptr) {
    Block &body = function.getBody().front();
    SmallVector<Value> outputs = realsOf(body.getTerminator()->getOperands()), wrt = realsOf(body.getArguments());
    SmallVector<Value> cotangents;
    for (Value output : outputs)
      cotangents.push_back(body.addArgument(output.getType(), output.getLoc()));
    OpBuilder builder(body.getTerminator());
    auto refuse = [&](Operation *op, const Twine &reason) {
      if (refused)
        *refused = reason.str();
      else
        op->emitError(reason);
    };
    auto gradients = buildVectorJacobian(builder, outputs, cotangents, wrt, refuse);
    if (failed(gradients))
      return false;
    finish(function, *gradients);
    return true;
  }

  bool makeForward(func::FuncOp function) {
    Block &body = function.getBody().front();
    SmallVector<Value> outputs = realsOf(body.getTerminator()->getOperands()), wrt = realsOf(body.getArguments());
    SmallVector<Value> tangents;
    for (Value value : wrt)
      tangents.push_back(body.addArgument(value.getType(), value.getLoc()));
    OpBuilder builder(body.getTerminator());
    auto moved = buildJacobianVector(builder, outputs, wrt, tangents,
                                     [](Operation *op, const Twine &reason) { op->emitError(reason); });
    if (failed(moved))
      return false;
    finish(function, *moved);
    return true;
  }

  static Arrays join(Arrays x, const Arrays &y) {
    x.insert(x.end(), y.begin(), y.end());
    return x;
  }
  static Arrays reals(const Arrays &x) {
    Arrays result;
    for (const NdArray &array : x)
      if (array.isFloat())
        result.push_back(array);
    return result;
  }

  /// gradients . direction
  double along(const Arrays &gradients, const Arrays &directions) {
    double sum = 0;
    Arrays floats = reals(directions);
    for (size_t i = 0; i < gradients.size(); ++i)
      sum += dot(gradients[i], floats[i]);
    return sum;
  }
};

TEST_F(Derivatives, reverseAgreesWithCentralDifferences) {
  for (uint64_t seed = 1; seed <= seeds; ++seed)
    for (const Sample &sample : makeSamples(seed)) {
      if (!sample.smooth)
        continue;
      auto function = parse(sample.text);
      Point point = pointOf(function, sample, seed);
      double up = pairing(evaluate(function, moved(point.arguments, point.directions, step)), point.cotangents);
      double down = pairing(evaluate(function, moved(point.arguments, point.directions, -step)), point.cotangents);
      ASSERT_TRUE(makeReverse(function)) << sample.text;
      for (bool simplified : {false, true}) {
        if (simplified)
          canonicalize();
        double slope = along(evaluate(function, join(point.arguments, point.cotangents)), point.directions);
        double expected = (up - down) / (2 * step);
        EXPECT_NEAR(slope, expected, differenceTolerance * (1 + std::fabs(expected))) << sample.text;
      }
    }
}

TEST_F(Derivatives, forwardAgreesWithCentralDifferences) {
  for (uint64_t seed = 1; seed <= seeds; ++seed)
    for (const Sample &sample : makeSamples(seed)) {
      if (!sample.smooth)
        continue;
      auto function = parse(sample.text);
      Point point = pointOf(function, sample, seed);
      Arrays up = reals(evaluate(function, moved(point.arguments, point.directions, step)));
      Arrays down = reals(evaluate(function, moved(point.arguments, point.directions, -step)));
      ASSERT_TRUE(makeForward(function)) << sample.text;
      Arrays tangents = evaluate(function, join(point.arguments, reals(point.directions)));
      for (size_t y = 0; y < tangents.size(); ++y) {
        std::vector<double> slopes(tangents[y].size());
        for (size_t i = 0; i < slopes.size(); ++i)
          slopes[i] = (finite(up[y]).floats()[i] - finite(down[y]).floats()[i]) / (2 * step);
        expectEqual(tangents[y], NdArray(tangents[y].shape(), Element::f64, slopes), differenceTolerance, sample.text);
      }
    }
}

TEST_F(Derivatives, reverseOfReverseAgreesWithCentralDifferences) {
  for (uint64_t seed = 1; seed <= seeds; ++seed)
    for (const Sample &sample : makeSamples(seed)) {
      if (!sample.smooth)
        continue;
      auto function = parse(sample.text);
      Point point = pointOf(function, sample, seed);
      ASSERT_TRUE(makeReverse(function)) << sample.text;
      canonicalize();
      Sample first = sample;
      first.ranges.resize(function.getNumArguments());
      Point second = pointOf(function, first, seed + 1);
      std::copy(point.arguments.begin(), point.arguments.end(), second.arguments.begin());
      double up = pairing(evaluate(function, moved(second.arguments, second.directions, step)), second.cotangents);
      double down = pairing(evaluate(function, moved(second.arguments, second.directions, -step)), second.cotangents);
      ASSERT_TRUE(makeReverse(function)) << sample.text;
      double slope = along(evaluate(function, join(second.arguments, second.cotangents)), second.directions);
      double expected = (up - down) / (2 * step);
      EXPECT_NEAR(slope, expected, 10 * differenceTolerance * (1 + std::fabs(expected))) << sample.text;
    }
}

// A loop's body reads, beside what moves, a stack that does not; both come from one op that moves. That op's derivative
// is its own, not one more inside the loop.
TEST_F(Derivatives, capturesThatDoNotMoveEndTheSweep) {
  Sample sample;
  sample.ranges = {{0.5, 1.5}, {0.5, 1.5}, {0.5, 1.5}};
  sample.text = R"(
    func.func @f(%x: tensor<f64>, %y: tensor<f64>, %z: tensor<f64>) -> (tensor<f64>) {
      %a = nd.mul %x, %z : tensor<f64>
      %p:2 = nd.scan inits(%a : tensor<f64>) xs() trip 2 {
      ^bb0(%i: tensor<i64>, %s: tensor<f64>):
        %n = nd.mul %s, %y : tensor<f64>
        %k = nd.constant dense<0.75> : tensor<f64>
        nd.yield %n, %k : tensor<f64>, tensor<f64>
      } : tensor<f64>, tensor<2xf64>
      %r = nd.scan inits(%x : tensor<f64>) xs() trip 2 {
      ^bb0(%i: tensor<i64>, %s: tensor<f64>):
        %m = nd.gather %p#1, %i dim 0 : (tensor<2xf64>, tensor<i64>) -> tensor<f64>
        %t = nd.mul %s, %p#0 : tensor<f64>
        %u = nd.mul %t, %z : tensor<f64>
        %v = nd.mul %m, %u : tensor<f64>
        nd.yield %v : tensor<f64>
      } : tensor<f64>
      return %r : tensor<f64>
    })";
  auto function = parse(sample.text);
  Point point = pointOf(function, sample, 1);
  Arrays up = evaluate(function, moved(point.arguments, point.directions, step));
  Arrays down = evaluate(function, moved(point.arguments, point.directions, -step));
  double slope = (up[0].at(0) - down[0].at(0)) / (2 * step);
  ASSERT_TRUE(makeForward(function));
  Arrays tangent = evaluate(function, join(point.arguments, reals(point.directions)));
  EXPECT_NEAR(tangent[0].at(0), slope, differenceTolerance * (1 + std::fabs(slope)));
}

TEST_F(Derivatives, flatOpsAreRefusedWithAReason) {
  for (const Sample &sample : makeSamples(1)) {
    if (sample.smooth || sample.op == "nd.stop_gradient")
      continue;
    std::string reason;
    EXPECT_FALSE(makeReverse(parse(sample.text), &reason)) << sample.text;
    EXPECT_FALSE(reason.empty());
  }
}

//===----------------------------------------------------------------------===//
// Batching, canonical forms, precision
//===----------------------------------------------------------------------===//

NdArray rowOf(const NdArray &x, int64_t row) {
  auto shape = x.shape().drop_front();
  return readStrided(x, shape, stridesOf(shape), row * sizeOf(shape));
}

TEST_F(NdBattery, batchedEqualsALoop) {
  constexpr int64_t rows = 3;
  for (uint64_t seed = 1; seed <= seeds; ++seed)
    for (const Sample &sample : makeSamples(seed)) {
      auto function = parse(sample.text);
      unsigned count = function.getNumArguments();
      for (unsigned choice = 1; choice < (1u << count); ++choice) {
        auto plain = parse(sample.text);
        OwningOpRef<ModuleOp> plainModule = std::move(module);
        auto many = parse(sample.text);
        SmallVector<int64_t> batched;
        for (unsigned a = 0; a < count; ++a)
          if (choice & (1u << a))
            batched.push_back(a);
        BatchRequest request;
        request.size = rows;
        ASSERT_TRUE(succeeded(batchFunction(many, batched, request))) << sample.text;
        ASSERT_TRUE(succeeded(verify(*module))) << sample.text;
        std::vector<Range> ranges = sample.ranges;
        Arrays arguments = makeArguments(many, ranges, seed), results = evaluate(many, arguments);
        for (int64_t row = 0; row < rows; ++row) {
          Arrays one = arguments;
          for (int64_t a : batched)
            one[a] = rowOf(arguments[a], row);
          Arrays expected = evaluate(plain, one);
          for (size_t y = 0; y < expected.size(); ++y) {
            bool has = results[y].rank() > expected[y].rank();
            // Sums may be taken in another order: a few ulp.
            expectEqual(has ? rowOf(results[y], row) : results[y], expected[y], 1e-13, sample.text);
          }
        }
      }
    }
}

TEST_F(NdBattery, canonicalFormHasTheSameValues) {
  for (uint64_t seed = 1; seed <= seeds; ++seed)
    for (const Sample &sample : makeSamples(seed)) {
      auto function = parse(sample.text);
      Arrays arguments = makeArguments(function, sample.ranges, seed), before = evaluate(function, arguments);
      canonicalize();
      Arrays after = evaluate(function, arguments);
      for (size_t y = 0; y < before.size(); ++y)
        expectEqual(after[y], before[y], 1e-13, sample.text);
    }
}

// A draw that must vary over the rows is the draw of the larger shape, also inside a loop.
TEST_F(NdBattery, drawsOfABatchAreOneLargerDraw) {
  auto function = parse(R"(
    func.func @f(%c: tensor<4xi64>, %b: tensor<i64>) -> tensor<2xf64> {
      %zero = nd.constant dense<0.0> : tensor<2xf64>
      %r = nd.scan inits(%zero : tensor<2xf64>) xs() trip 2 {
      ^bb0(%i: tensor<i64>, %s: tensor<2xf64>):
        %d = nd.draw uniform noise %c, %b site 7 : (tensor<4xi64>, tensor<i64>) -> tensor<2xf64>
        %t = nd.add %s, %d : tensor<2xf64>
        nd.yield %t : tensor<2xf64>
      } : tensor<2xf64>
      return %r : tensor<2xf64>
    })");
  BatchRequest request;
  request.size = 3;
  auto varies = [](Operation *op) { return op->walk([](DrawOp) { return WalkResult::interrupt(); }).wasInterrupted(); };
  request.varies = varies;
  ASSERT_TRUE(succeeded(batchFunction(function, {}, request)));
  ASSERT_TRUE(succeeded(verify(*module)));
  NdArray counter({4}, Element::i64, std::vector<int64_t>{5, 1, 0, 0}), base = NdArray::scalar(int64_t(10));
  Arrays results = evaluate(function, {counter, base});
  NdArray draws = fakeDraw({0, 3, 7, counter.ints().data(), 10, Element::f64, 6}, {3, 2});
  ASSERT_EQ(results[0].shape(), draws.shape());
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(results[0].at(i), 2 * draws.at(i));
}

// Inputs rounded to f32 move results by their condition number, below 100 for these ranges: 100 * 6e-8.
TEST_F(NdBattery, singlePrecisionFollowsDouble) {
  for (uint64_t seed = 1; seed <= seeds; ++seed)
    for (const Sample &sample : makeSamples(seed)) {
      if (!sample.smooth || sample.op == "nd.cast" || sample.op == "nd.draw" || sample.op == "nd.arg_reduce")
        continue;
      auto function = parse(inSinglePrecision(sample.text));
      Arrays single = makeArguments(function, sample.ranges, seed), results = evaluate(function, single);
      Arrays same;
      for (const NdArray &x : single)
        same.push_back(x.isFloat() ? NdArray(x.shape(), Element::f64, x.floats()) : x);
      Arrays expected = evaluate(parse(sample.text), same);
      for (size_t y = 0; y < expected.size(); ++y)
        expectEqual(results[y], expected[y], 6e-6, sample.text);
    }
}

//===----------------------------------------------------------------------===//
// Edges
//===----------------------------------------------------------------------===//

/// Gradient of a scalar function of one vector at given points.
class Edges : public Derivatives {
protected:
  std::vector<double> gradientAt(const std::string &body, std::vector<double> x, int order = 1) {
    int64_t n = int64_t(x.size());
    std::string t = "tensor<" + std::to_string(n) + "xf64>", text = body;
    for (size_t at; (at = text.find('$')) != std::string::npos;)
      text.replace(at, 1, t);
    auto function = parse("func.func @f(%x: " + t + ") -> " + t + " {\n" + text + "  return %r : " + t + "\n}\n");
    Arrays arguments{NdArray({n}, Element::f64, std::move(x))};
    for (int i = 0; i < order; ++i) {
      EXPECT_TRUE(makeReverse(function));
      canonicalize();
      arguments.push_back(NdArray({n}, Element::f64, std::vector<double>(n, 1.0)));
      // Only the derivative by x is followed further.
      finish(function, function.getBody().front().getTerminator()->getOperand(0));
    }
    return evaluate(function, arguments)[0].floats();
  }
};

using Numbers = std::vector<double>;
const double infinity = std::numeric_limits<double>::infinity();

TEST_F(Edges, choiceHidesWhatIsNotTaken) {
  const std::string start = "%one = nd.constant dense<1.0> : $\n%c = nd.compare lt %x, %one : ($, $) -> tensor<2xi1>\n";
  EXPECT_EQ(gradientAt(start + "%s = nd.sqrt %x : $\n%r = nd.select %c, %x, %s : (tensor<2xi1>, $, $) -> $\n", {0, 4}),
            (Numbers{1, 0.25}));
  EXPECT_EQ(gradientAt(start + "%s = nd.log %x : $\n%r = nd.select %c, %x, %s : (tensor<2xi1>, $, $) -> $\n", {0, 4}),
            (Numbers{1, 0.25}));
  EXPECT_EQ(gradientAt(start + "%l = nd.log %x : $\n%s = nd.mul %l, %l : $\n"
                               "%r = nd.select %c, %x, %s : (tensor<2xi1>, $, $) -> $\n", {0, 1}),
            (Numbers{1, 0}));
  EXPECT_EQ(gradientAt("%e = nd.exp %x : $\n%q = nd.mul %e, %x : $\n%k = nd.constant dense<5.0> : $\n"
                       "%r = nd.min %q, %k : $\n", {1000, 0}),
            (Numbers{0, 1}));
}

TEST_F(Edges, choiceKeepsSecondDerivatives) {
  // select(x < 9, x^3, 0): 6 x, and 0 at 0, where the cotangent of the inner square vanishes.
  const std::string body = "%nine = nd.constant dense<9.0> : $\n%z = nd.constant dense<0.0> : $\n"
                           "%c = nd.compare lt %x, %nine : ($, $) -> tensor<2xi1>\n%q = nd.mul %x, %x : $\n"
                           "%p = nd.mul %q, %x : $\n%r = nd.select %c, %p, %z : (tensor<2xi1>, $, $) -> $\n";
  EXPECT_EQ(gradientAt(body, {2, 0}, 2), (Numbers{12, 0}));
  EXPECT_EQ(gradientAt(body, {2, 0}, 3), (Numbers{6, 6}));
}

TEST_F(Edges, slopesAtKinks) {
  EXPECT_EQ(gradientAt("%r = nd.abs %x : $\n", {0, -3}), (Numbers{0, -1}));
  EXPECT_EQ(gradientAt("%r = nd.sqrt %x : $\n", {0, 4}), (Numbers{0, 0.25}));
  EXPECT_EQ(gradientAt("%k = nd.constant dense<2.0> : $\n%r = nd.max %x, %k : $\n", {2, 3}), (Numbers{0.5, 1}));
  EXPECT_EQ(gradientAt("%k = nd.constant dense<[2.0, 1.0]> : $\n%r = nd.pow %x, %k : $\n", {0, 0}), (Numbers{0, 1}));
  EXPECT_EQ(gradientAt("%k = nd.constant dense<[0.0, 0.5]> : $\n%r = nd.pow %x, %k : $\n", {0, 0}), (Numbers{0, 0}));
}

TEST_F(Edges, slopesOfReductions) {
  const std::string spread = "%r = nd.broadcast %s dims [] : tensor<f64> -> $\n";
  // A norm has slope 0 at 0; its sum of squares passes n times the cotangent of one.
  EXPECT_EQ(gradientAt("%q = nd.mul %x, %x : $\n%n = nd.reduce sum %q dims [0] : $ -> tensor<f64>\n"
                       "%s = nd.sqrt %n : tensor<f64>\n" + spread, {0, 0}),
            (Numbers{0, 0}));
  EXPECT_EQ(gradientAt("%s = nd.reduce max %x dims [0] : $ -> tensor<f64>\n" + spread, {1, 1}), (Numbers{1, 1}));
  EXPECT_EQ(gradientAt("%s = nd.reduce prod %x dims [0] : $ -> tensor<f64>\n" + spread, {0, 3}), (Numbers{6, 0}));
  EXPECT_EQ(gradientAt("%s = nd.reduce prod %x dims [0] : $ -> tensor<f64>\n" + spread, {0, 0}), (Numbers{0, 0}));
  EXPECT_EQ(gradientAt("%r = nd.cumulate prod %x dim 0 : $ -> $\n", {0, 5}), (Numbers{6, 0}));
  EXPECT_EQ(gradientAt("%r = nd.cumulate max %x dim 0 : $ -> $\n", {2, 2}), (Numbers{2, 0}));
}

TEST_F(NdBattery, emptyReductions) {
  const std::pair<const char *, double> rows[] = {{"sum", 0}, {"prod", 1}, {"max", -infinity}, {"min", infinity}};
  for (auto [kind, value] : rows) {
    auto function = parse("func.func @f(%x: tensor<0x2xf64>) -> tensor<2xf64> {\n  %r = nd.reduce " +
                          std::string(kind) + " %x dims [0] : tensor<0x2xf64> -> tensor<2xf64>\n"
                          "  return %r : tensor<2xf64>\n}\n");
    EXPECT_EQ(evaluate(function, {NdArray({0, 2}, Element::f64, std::vector<double>())})[0].floats(),
              (Numbers{value, value}));
  }
}

TEST_F(NdBattery, wrongIndicesAreErrors) {
  auto function = parse("func.func @f(%x: tensor<3xf64>, %i: tensor<i64>) -> tensor<f64> {\n"
                        "  %r = nd.gather %x, %i dim 0 : (tensor<3xf64>, tensor<i64>) -> tensor<f64>\n"
                        "  return %r : tensor<f64>\n}\n");
  std::string reason;
  EvalHooks hooks;
  hooks.error = [&](Operation *, const Twine &text) { reason = text.str(); };
  NdArray x({3}, Element::f64, std::vector<double>{1, 2, 3});
  EXPECT_TRUE(failed(Evaluator(hooks).evalFunction(function.getBody(), {x, NdArray::scalar(int64_t(3))})));
  EXPECT_EQ(reason, "index 3 is not in [0, 3)");
}

// A training step of a 64-32-10 network at batch 32, forward and backward: below 5 ms on an idle core.
TEST_F(Derivatives, evaluatorIsQuick) {
  auto function = parse(R"(
    func.func @f(%w: tensor<64x32xf32>, %v: tensor<32x10xf32>, %x: tensor<32x64xf32>) -> tensor<32x10xf32> {
      %0 = nd.contract %x, %w "ik", "kj" -> "ij" : (tensor<32x64xf32>, tensor<64x32xf32>) -> tensor<32x32xf32>
      %1 = nd.tanh %0 : tensor<32x32xf32>
      %2 = nd.contract %1, %v "ik", "kj" -> "ij" : (tensor<32x32xf32>, tensor<32x10xf32>) -> tensor<32x10xf32>
      return %2 : tensor<32x10xf32>
    })");
  ASSERT_TRUE(makeReverse(function));
  Arrays arguments = makeArguments(function, std::vector<Range>(4), 1);
  auto start = std::chrono::steady_clock::now();
  evaluate(function, arguments);
  std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
  RecordProperty("milliseconds", std::to_string(spent.count()));
  EXPECT_LT(spent.count(), 50) << "ten times the aim: machines that run tests are busy";
}
} // namespace
