//===- Interrupt.h - Ctrl-C in a session ------------------------*- C++ -*-===//
//
// Ctrl-C is a byte in a pipe: none is lost between the moment a prompt is shown and the moment somebody waits, whichever
// thread the system gives the signal to. The gate of a run that is watched is held at once.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/StepGate.h"

namespace dyn::repl {

/// From now on Ctrl-C holds the run that is watched and ends the reading of a line, and does nothing else.
void catchInterrupts();
/// Whether there was one since the last call.
bool takeInterrupt();
/// Waits for input (true), or for a Ctrl-C, which is taken (false).
bool awaitInput(int descriptor);

/// While it lives Ctrl-C holds this gate. One at a time.
class WatchedGate {
public:
  explicit WatchedGate(StepGate &gate);
  ~WatchedGate();
  WatchedGate(const WatchedGate &) = delete;
  WatchedGate &operator=(const WatchedGate &) = delete;
};

/// From now on a crash that nothing recovers from, such as one on a thread of the compiled code, says what is lost before
/// the process ends.
void announceCrashes();

} // namespace dyn::repl
