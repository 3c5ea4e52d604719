#include "runtime/Session.h"

#include "runtime/Safetensors.h"

#include <bit>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace dyn;

namespace {

/// A program without a compiler: ten rows, batches of four, one parameter that counts rows seen.
plan::Plan countingPlan(int64_t total) {
  plan::Plan plan;
  plan.name = "count";
  plan.specFile = "count.dyn";
  plan.total = total;
  plan.seeded = true;
  plan.arenas = {{"params", "params", 8}, {"chunk", "work", 32}, {"x", "field", 80}};
  plan.params = {{"net.n", {}, plan::Element::f64, 0, 0, "sgd"}};
  plan::Source source;
  source.name = "rows";
  source.format = "synthetic";
  source.rows = 10;
  source.chunk = 4;
  source.fields = {{"x", {}, plan::Element::f64, 0}};
  source.chunkArenas = {1};
  source.function = "data";
  plan.sources = {source};
  plan.sets = {{"rows", 0, 0, 10, false, 0, {2}}};
  plan.feeds = {{"rows", 0, 4, true, false}, {"rows", 0, 8, false, false}};
  plan.events = {{"step", 2, {}}, {"epoch", 1, {}}, {"end", 1, {}}, {"at", 1, {5, 1}}, {"epoch", 2, {}}};
  plan.metrics = {{"loss", "step", {}, {}, {}}, {"seen", "epoch", {}, {}, {}}};
  plan.sites = {{"guard", "loss", "count.dyn:3:5"}, {"gather", "h[i]", "count.dyn:4:1"}};
  return plan;
}

void makeData(DynContext *ctx) {
  for (int64_t i = 0; i < 4; ++i)
    static_cast<double *>(ctx->arenas[1])[i] = double(ctx->clock.rows_base + i);
}

/// What the compiler would make of it; records when events happen.
struct Program {
  std::map<int64_t, std::vector<int64_t>> fired;
  std::function<void(DynContext *)> duringStep = [](DynContext *) {};

  void events(DynContext *ctx) {
    for (int64_t event = 0; event < 5; ++event)
      if (dyn_due(ctx, event))
        fired[event].push_back(ctx->clock.step);
  }
  void main(DynContext *ctx) {
    auto *n = static_cast<double *>(ctx->arenas[0]);
    const auto *x = static_cast<const double *>(ctx->arenas[2]);
    while (dyn_loop_next(ctx)) {
      events(ctx);
      dyn_next_batch(ctx, 0);
      const DynBatch &batch = ctx->batches[0];
      for (int64_t i = 0; i < batch.count; ++i)
        n[0] += 1 + 0 * x[batch.rows[i]];
      dyn_emit(ctx, 0, 1, n);
      duringStep(ctx);
      dyn_step_done(ctx);
    }
    events(ctx);
    dyn_emit(ctx, 1, 1, n);
  }
  EntryLookup lookup() {
    return [this](const std::string &name) -> Entry {
      if (name == "dyn_main")
        return [this](DynContext *ctx) { main(ctx); };
      if (name == "data")
        return makeData;
      return nullptr;
    };
  }
};

struct Execution {
  Program program;
  std::unique_ptr<Session> session;
  Outcome outcome;

  void go(plan::Plan plan, SessionOptions options = {}) {
    auto made = Session::create(std::move(plan), program.lookup(), std::move(options));
    ASSERT_TRUE(made) << made.status().message();
    session = std::move(*made);
    Status status = session->load();
    ASSERT_TRUE(status.isOk()) << status.message();
    outcome = session->run();
  }
};

TEST(Session, eventsHappenWhenTheyShould) {
  Execution run;
  run.go(countingPlan(7)); // three steps a pass: passes end at 3 and 6
  EXPECT_EQ(run.outcome.exitCode(), 0);
  EXPECT_EQ(run.outcome.step, 7);
  EXPECT_EQ(run.program.fired[0], (std::vector<int64_t>{0, 2, 4, 6}));
  EXPECT_EQ(run.program.fired[1], (std::vector<int64_t>{0, 3, 6}));
  EXPECT_EQ(run.program.fired[2], (std::vector<int64_t>{7}));
  EXPECT_EQ(run.program.fired[3], (std::vector<int64_t>{1, 5}));
  EXPECT_EQ(run.program.fired[4], (std::vector<int64_t>{0, 6}));
}

TEST(Session, metricsAndDataArrive) {
  Execution run;
  run.go(countingPlan(3));
  EXPECT_EQ(run.session->series().at("loss").values, (std::vector<double>{4, 8, 10}));
  EXPECT_EQ(run.session->series().at("loss").at, (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(run.session->series().at("seen").at, std::vector<int64_t>{1});
  const auto *x = static_cast<const double *>(run.session->context().arenas[2]);
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(x[i], i);
  EXPECT_EQ(*static_cast<const double *>(run.session->data(run.session->plan().params[0])), 10);
}

TEST(Session, aRunFolderHoldsMetricsAndParameters) {
  std::string folder = (std::filesystem::temp_directory_path() / ("dyn-session-" + std::to_string(getpid()))).string();
  SessionOptions options;
  options.directory = folder + "/a/b";
  Execution run;
  run.go(countingPlan(3), std::move(options));
  EXPECT_TRUE(run.outcome.output.isOk()) << run.outcome.output.message();
  auto tensors = readSafetensors(folder + "/a/b/final.safetensors");
  ASSERT_TRUE(tensors);
  double n;
  std::memcpy(&n, (*tensors)["net.n"].bytes.data(), 8);
  EXPECT_EQ(n, 10);
  EXPECT_GT(std::filesystem::file_size(folder + "/a/b/metrics.jsonl"), 100u);
  std::filesystem::remove_all(folder);
}

TEST(Session, failuresSpeakTheSpecsWords) {
  Execution run;
  run.program.duringStep = [](DynContext *ctx) {
    if (ctx->clock.step == 1) {
      dyn_fail(ctx, DYN_NOT_FINITE, 0, std::bit_cast<int64_t>(std::nan("")), 0);
      dyn_fail(ctx, DYN_BAD_INDEX, 1, 12, 10); // the first one counts
    }
  };
  run.go(countingPlan(7));
  EXPECT_EQ(run.outcome.message, "count.dyn:3:5: `loss` is nan at step 2");
  EXPECT_EQ(run.outcome.exitCode(), 1);
  EXPECT_EQ(run.outcome.site, 0);
  Execution other;
  other.program.duringStep = [](DynContext *ctx) { dyn_fail(ctx, DYN_BAD_INDEX, 1, 12, 10); };
  other.go(countingPlan(7));
  EXPECT_EQ(other.outcome.message, "count.dyn:4:1: index 12 of `h[i]` is outside 0 to 9 at step 1");
}

TEST(Session, interruptEndsAfterThePresentStep) {
  SessionOptions options;
  options.catchInterrupt = true;
  Execution run;
  run.program.duringStep = [](DynContext *ctx) {
    if (ctx->clock.step == 4)
      raise(SIGINT);
  };
  run.go(countingPlan(100), std::move(options));
  EXPECT_EQ(run.outcome.status, DYN_INTERRUPTED);
  EXPECT_EQ(run.outcome.exitCode(), 130);
  EXPECT_EQ(run.outcome.step, 5);
  EXPECT_EQ(run.outcome.message, "interrupted after step 5 of 100");
  EXPECT_EQ(run.session->series().at("loss").values.size(), 5u);
}

TEST(Session, aSecondInterruptKills) {
  auto impatient = [] {
    SessionOptions options;
    options.catchInterrupt = true;
    Execution run;
    run.program.duringStep = [](DynContext *) {
      raise(SIGINT);
      raise(SIGINT);
    };
    run.go(countingPlan(100), std::move(options));
  };
  EXPECT_EXIT(impatient(), testing::ExitedWithCode(130), "");
}

TEST(Session, anUnwritableFolderStopsTheRunBeforeItStarts) {
  SessionOptions options;
  options.directory = "/proc/nowhere";
  Execution run;
  run.go(countingPlan(3), std::move(options));
  EXPECT_EQ(run.outcome.step, 0);
  EXPECT_EQ(run.outcome.exitCode(), 1);
  EXPECT_EQ(run.outcome.output.message().find("cannot make the folder `/proc/nowhere`"), 0u);
}

TEST(Session, plansThatDoNotHoldTogetherAreRefused) {
  Program program;
  auto refuse = [&](auto change) {
    plan::Plan plan = countingPlan(3);
    change(plan);
    auto made = Session::create(std::move(plan), program.lookup(), {});
    return made ? std::string() : made.status().message();
  };
  EXPECT_NE(refuse([](plan::Plan &p) { p.sets[0].rows = 11; }), "");
  EXPECT_NE(refuse([](plan::Plan &p) { p.sets[0].fieldArenas[0] = 9; }), "");
  EXPECT_NE(refuse([](plan::Plan &p) { p.params[0].offset = 1; }), "");
  EXPECT_NE(refuse([](plan::Plan &p) { p.feeds[0].batch = 0; }), "");
  EXPECT_EQ(refuse([](plan::Plan &p) { p.feeds[0].batch = 11, p.feeds[0].drop = true; }),
            "`batch 11 drop` leaves nothing of the 10 rows of `rows`; use a smaller batch");
  EXPECT_EQ(refuse([](plan::Plan &p) { p.entry = "nothing"; }),
            "the program has no entry point `nothing`; compile it again");
}

TEST(Session, drawsDoNotDependOnThreads) {
  std::vector<std::vector<double>> drawn;
  for (int threads : {1, 2, 3}) {
    SessionOptions options;
    options.threads = threads;
    Execution run;
    std::vector<double> values(100000);
    run.program.duringStep = [&](DynContext *ctx) {
      int64_t counter[4] = {ctx->clock.step, 0, 0, 0};
      dyn_draw(ctx, 1, 1, 3, 42, counter, 3, values.data(), int64_t(values.size()));
    };
    run.go(countingPlan(2), std::move(options));
    drawn.push_back(values);
  }
  EXPECT_EQ(drawn[0], drawn[1]);
  EXPECT_EQ(drawn[0], drawn[2]);
}

TEST(Session, subnormalsAreZeroOnEveryThreadWhileCodeRuns) {
  auto tenth = [](float x) {
    volatile float least = x; // so that nothing folds
    return least * 0.1f;
  };
  constexpr float leastNormal = 1.17549435e-38f;
  SessionOptions options;
  options.threads = 3;
  Execution run;
  std::vector<float> seen(3000, 1);
  run.program.duringStep = [&](DynContext *ctx) {
    struct Piece {
      std::vector<float> &seen;
      decltype(tenth) &call;
    } piece{seen, tenth};
    dyn_parallel_for(ctx, [](void *closure, int64_t from, int64_t to) {
      auto &piece = *static_cast<Piece *>(closure);
      for (int64_t i = from; i < to; ++i)
        piece.seen[size_t(i)] = piece.call(leastNormal);
    }, &piece, int64_t(seen.size()), 1);
  };
  run.go(countingPlan(2), std::move(options));
  EXPECT_EQ(seen, std::vector<float>(3000, 0));
  EXPECT_NE(tenth(leastNormal), 0) << "and not after it";
}

TEST(Session, setsAreLoadedOnceForAllWhoShareThem) {
  auto first = std::make_unique<Execution>();
  first->go(countingPlan(7));
  SessionOptions options;
  options.sets = first->session->sets();
  Execution second;
  second.go(countingPlan(7), std::move(options));
  const DynContext &one = first->session->context(), &two = second.session->context();
  EXPECT_EQ(one.arenas[2], two.arenas[2]);
  EXPECT_NE(one.arenas[0], two.arenas[0]);
  EXPECT_EQ(second.session->sets()->blocks[2]->data(), two.arenas[2]);
  first.reset(); // the sets outlive the session that loaded them
  for (int64_t i = 0; i < 10; ++i)
    EXPECT_EQ(static_cast<const double *>(two.arenas[2])[i], double(i));
  EXPECT_EQ(second.outcome.exitCode(), 0);
}

TEST(Session, anInterruptEndsAllRunsOfItsScope) {
  {
    InterruptScope scope;
    Execution first, second;
    first.program.duringStep = [](DynContext *ctx) {
      if (ctx->clock.step == 2)
        raise(SIGINT);
    };
    first.go(countingPlan(100));
    EXPECT_TRUE(InterruptScope::isInterrupted());
    second.go(countingPlan(100));
    EXPECT_EQ(first.outcome.step, 3);
    EXPECT_EQ(second.outcome.step, 0);
    EXPECT_EQ(second.outcome.exitCode(), 130);
  }
  Execution after;
  after.go(countingPlan(5));
  EXPECT_EQ(after.outcome.exitCode(), 0);
}

} // namespace
