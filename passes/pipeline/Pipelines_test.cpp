// Whole programs: from a module of the nd stage to a run under a Session.
#include "passes/pipeline/Pipelines.h"

#include "passes/RegisterAll.h"
#include "runtime/Session.h"
#include "runtime/jit/Jit.h"

#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace dyn;

namespace {

class PipelineTest : public testing::Test {
protected:
  PipelineTest() {
    DialectRegistry registry;
    registerAllDynDialects(registry);
    registerPipelineDialects(registry);
    context.appendDialectRegistry(registry);
    context.disableMultithreading();
    plan.name = "test";
  }

  void addArena(int64_t bytes) {
    plan.arenas.push_back({"arena" + std::to_string(plan.arenas.size()), "state", bytes});
  }

  void compile(const char *text) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    auto object = compileToObject(*module, plan, Target::cpu(),
                                  [&](StringRef stage, ModuleOp) { stages.push_back(stage.str()); });
    ASSERT_TRUE(succeeded(object));
    auto loaded = Jit::load(*object);
    ASSERT_TRUE(bool(loaded)) << llvm::toString(loaded.takeError());
    jit = std::move(*loaded);
    EntryLookup lookup = [&](const std::string &name) -> Entry {
      auto entry = jit->lookup(name);
      if (entry)
        return *entry;
      llvm::consumeError(entry.takeError());
      return {};
    };
    SessionOptions options;
    options.threads = 1;
    auto made = Session::create(plan, lookup, std::move(options));
    ASSERT_TRUE(bool(made)) << made.status().message();
    session = std::move(*made);
  }
  template <typename T> T *arena(int64_t number) { return static_cast<T *>(session->context().arenas[number]); }

  MLIRContext context;
  plan::Plan plan;
  std::vector<std::string> stages;
  std::unique_ptr<Jit> jit;
  std::unique_ptr<Session> session;
};

constexpr const char *descent = R"(
  func.func @step() {
    %p = run.read arena 0 offset 0 "p" : tensor<5xf64>
    %lr = run.number 0 "lr" : tensor<f64>
    %r = nd.broadcast %lr dims [] : tensor<f64> -> tensor<5xf64>
    %d = nd.mul %p, %r : tensor<5xf64>
    %q = nd.sub %p, %d : tensor<5xf64>
    %s = nd.reduce sum %q dims [0] : tensor<5xf64> -> tensor<f64>
    run.emit %s metric 0 : tensor<f64>
    run.guard %s site 0 "sum" : tensor<f64>
    run.write %q arena 0 offset 0 "p" : tensor<5xf64>
    return
  }
  run.program @dyn_main {
    run.loop {
      run.call @step
      run.step_done
    }
  })";

TEST_F(PipelineTest, RunsAProgram) {
  addArena(40);
  plan.total = 10;
  plan.numbers.push_back({"lr", 0.5, ""});
  plan.sites.push_back({"guard", "sum", ""});
  plan.metrics.push_back({"sum", "step", {}, {}, {}});
  compile(descent);
  ASSERT_TRUE(session);
  std::fill_n(arena<double>(0), 5, 1024.0);
  Outcome outcome = session->run();
  EXPECT_EQ(outcome.status, DYN_OK) << outcome.message;
  EXPECT_EQ(outcome.step, 10);
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(arena<double>(0)[i], 1.0);
  EXPECT_EQ(stages, (std::vector<std::string>{"nd", "fused", "kernels", "llvm"}));
  EXPECT_EQ(plan.arenas.back().role, "work");
}

TEST_F(PipelineTest, StopsAtAGuardAndLeavesTheArenaAsItWas) {
  addArena(40);
  plan.total = 10;
  plan.numbers.push_back({"lr", 0.5, ""});
  plan.sites.push_back({"guard", "sum", ""});
  plan.metrics.push_back({"sum", "step", {}, {}, {}});
  compile(descent);
  ASSERT_TRUE(session);
  std::fill_n(arena<double>(0), 5, 1.0);
  arena<double>(0)[2] = std::nan("");
  Outcome outcome = session->run();
  EXPECT_EQ(outcome.status, DYN_NOT_FINITE);
  EXPECT_EQ(outcome.site, 0);
  EXPECT_EQ(outcome.step, 0);
  EXPECT_EQ(arena<double>(0)[0], 1.0);
}

TEST_F(PipelineTest, RefusesAnIndexOutOfRange) {
  addArena(80);
  addArena(24);
  addArena(24);
  plan.total = 1;
  compile(R"(
    func.func @step() {
      %x = run.read arena 0 offset 0 "x" : tensor<10xf64>
      %i = run.read arena 1 offset 0 "i" : tensor<3xi64>
      %y = nd.gather %x, %i dim 0 : (tensor<10xf64>, tensor<3xi64>) -> tensor<3xf64>
      run.write %y arena 2 offset 0 "y" : tensor<3xf64>
      return
    }
    run.program @dyn_main { run.loop { run.call @step
                                       run.step_done } })");
  ASSERT_TRUE(session);
  int64_t indices[] = {1, 17, 2};
  std::memcpy(arena<int64_t>(1), indices, sizeof indices);
  Outcome outcome = session->run();
  EXPECT_EQ(outcome.status, DYN_BAD_INDEX);
  EXPECT_EQ(session->context().status_value, 17);
  EXPECT_EQ(session->context().status_bound, 10);
  ASSERT_EQ(plan.sites.size(), 1u);
  EXPECT_EQ(plan.sites[0].kind, "index");
}

TEST_F(PipelineTest, StopsAWhileAtItsLimit) {
  addArena(16);
  plan.total = 1;
  compile(R"(
    func.func @step() {
      %x = run.read arena 0 offset 0 "x" : tensor<f64>
      %r:2 = nd.while inits(%x : tensor<f64>) limit 7 cond {
      ^bb0(%c: tensor<f64>):
        %zero = nd.constant dense<0.0> : tensor<f64>
        %go = nd.compare gt %c, %zero : (tensor<f64>, tensor<f64>) -> tensor<i1>
        nd.yield %go : tensor<i1>
      } body {
      ^bb0(%c: tensor<f64>):
        %one = nd.constant dense<1.0> : tensor<f64>
        %n = nd.sub %c, %one : tensor<f64>
        nd.yield %n : tensor<f64>
      } : tensor<f64>, tensor<i64>
      run.write %r#0 arena 0 offset 0 "x" : tensor<f64>
      run.write %r#1 arena 0 offset 1 "n" : tensor<i64>
      return
    }
    run.program @dyn_main { run.loop { run.call @step
                                       run.step_done } })");
  ASSERT_TRUE(session);
  arena<double>(0)[0] = 5;
  EXPECT_EQ(session->run().status, DYN_OK);
  EXPECT_EQ(arena<double>(0)[0], 0);
  EXPECT_EQ(arena<int64_t>(0)[1], 5);
  DynContext &runtime = session->context();
  arena<double>(0)[0] = 50;
  llvm::cantFail(jit->lookup("step"))(&runtime);
  EXPECT_EQ(runtime.status, DYN_LIMIT);
  EXPECT_EQ(runtime.status_value, 7);
}

} // namespace
