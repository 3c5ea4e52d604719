#include "runtime/StepGate.h"
#include "runtime/Session.h"

#include <cmath>
#include <gtest/gtest.h>
#include <thread>

using namespace dyn;

namespace {

/// One parameter that each step multiplies by a number of the plan, and a metric of it.
plan::Plan decayPlan(int64_t total) {
  plan::Plan plan;
  plan.name = plan.specFile = "decay";
  plan.total = total;
  plan.arenas = {{"params", "params", 8}};
  plan.params = {{"x", {}, plan::Element::f64, 0, 0, "sgd"}};
  plan.metrics = {{"x", "step", {}, {}, {}}};
  plan.numbers.push_back({"rate", 0.5, ""});
  return plan;
}

void decay(DynContext *ctx) {
  auto *x = static_cast<double *>(ctx->arenas[0]);
  *x = 1;
  while (dyn_loop_next(ctx)) {
    *x *= ctx->numbers[0];
    dyn_emit(ctx, 0, 1, x);
    dyn_step_done(ctx);
  }
}

/// A session whose loop is on a thread of its own.
class Held {
public:
  explicit Held(int64_t total) {
    SessionOptions options;
    options.threads = 1;
    options.gate = &gate;
    auto created = Session::create(decayPlan(total), [](const std::string &) { return Entry(decay); }, std::move(options));
    session = std::move(*created);
  }
  ~Held() {
    gate.stop();
    if (thread.joinable())
      thread.join();
  }
  void start() {
    thread = std::thread([this] {
      outcome = session->run();
      gate.finish();
    });
  }
  double x() const { return *static_cast<const double *>(session->data(session->plan().params[0])); }

  StepGate gate;
  std::unique_ptr<Session> session;
  Outcome outcome;
  std::thread thread;
};

} // namespace

TEST(StepGate, ALoopThatIsHeldShowsWhatItDid) {
  Held held(10);
  held.gate.holdFrom(3);
  held.start();
  ASSERT_EQ(held.gate.await(), StepGate::State::Held);
  EXPECT_EQ(held.x(), 0.125);
  EXPECT_EQ(held.session->series().at("x").values, (std::vector<double>{0.5, 0.25, 0.125}));
  held.gate.resume(5);
  ASSERT_EQ(held.gate.await(), StepGate::State::Held);
  EXPECT_EQ(held.session->series().at("x").at.back(), 4);
  held.gate.resume();
  ASSERT_EQ(held.gate.await(), StepGate::State::Finished);
  EXPECT_EQ(held.x(), std::pow(0.5, 10));
  EXPECT_EQ(held.outcome.status, DYN_OK);
}

TEST(StepGate, TheNextStepReadsNumbersThatWereSet) {
  Held held(4);
  held.gate.holdFrom(2);
  held.start();
  ASSERT_EQ(held.gate.await(), StepGate::State::Held);
  std::vector<plan::Number> numbers = held.session->plan().numbers;
  numbers[0].value = 10;
  held.session->setNumbers(numbers);
  held.gate.resume();
  ASSERT_EQ(held.gate.await(), StepGate::State::Finished);
  EXPECT_EQ(held.x(), 25);
}

TEST(StepGate, AStopEndsALoopThatIsHeld) {
  Held held(1000);
  held.gate.holdFrom(2);
  held.start();
  ASSERT_EQ(held.gate.await(), StepGate::State::Held);
  held.gate.stop();
  ASSERT_EQ(held.gate.await(), StepGate::State::Finished);
  EXPECT_EQ(held.outcome.status, DYN_INTERRUPTED);
  EXPECT_EQ(held.outcome.step, 2);
}
