//===- StepGate.cpp -------------------------------------------------------===//
#include "runtime/StepGate.h"

namespace dyn {

bool StepGate::wait() {
  std::unique_lock lock(mutex);
  if (stopping)
    return false;
  now = State::Held;
  changed.notify_all();
  changed.wait(lock, [&] { return now != State::Held; });
  return !stopping;
}

void StepGate::finish() {
  std::lock_guard lock(mutex);
  now = State::Finished;
  changed.notify_all();
}

StepGate::State StepGate::await() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return now != State::Running; });
  return now;
}

StepGate::State StepGate::state() const {
  std::lock_guard lock(mutex);
  return now;
}

void StepGate::resume(int64_t until) {
  std::lock_guard lock(mutex);
  if (now != State::Held)
    return;
  holdFrom(until);
  now = State::Running;
  changed.notify_all();
}

void StepGate::stop() {
  std::lock_guard lock(mutex);
  stopping = true;
  holdFrom(0);
  if (now == State::Held)
    now = State::Running;
  changed.notify_all();
}

} // namespace dyn
